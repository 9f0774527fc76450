# SPDX-License-Identifier: LGPL-2.1-or-later
# The thin front of Meson (userspace) and Kbuild (modules). Try: make help

BUILD ?= build
SECONDS_OF_DEMO ?= 10

all: $(BUILD)/build.ninja ## build the daemon and the command (run "make deps" once before)
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) >$(BUILD).log 2>&1 && rm -f $(BUILD).log || { cat $(BUILD).log; exit 1; }

help: ## print this
	@echo "speprof: targets of make"
	@sed -n 's/^\([a-z_-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

deps: ## install what building and testing needs (root)
	@scripts/deps build run test vm deb fleet

run: ## profile this machine for ten seconds; FILE=x.perf.data shows a recording instead
	@scripts/deps build run
	@[ -x $(BUILD)/tools/speprof ] || echo "Building, which takes less than a minute the first time."
	@$(MAKE) -s --no-print-directory all >$(BUILD)-run.log 2>&1 && rm -f $(BUILD)-run.log || \
		{ tail -n 40 $(BUILD)-run.log; exit 1; }
ifdef FILE
	@$(BUILD)/tools/speprof report -i '$(FILE)'
else
	@$(BUILD)/tools/speprof demo --seconds $(SECONDS_OF_DEMO)
endif

check: ## install what is missing and run every lane of tests (root)
	@scripts/deps build run test vm deb fleet
	@tests/check --build $(BUILD)

check-kasan: ## the VM jobs under KASAN, lockdep and kmemleak; builds that kernel once (root)
	@scripts/deps build run test vm
	@tests/kunit/run --build $(BUILD) 6.12-uml-debug
	@tests/vm/selftest
	@tests/vm/check --build $(BUILD) 6.12-kasan

check-fleet: all ## the exporter with Prometheus, VictoriaMetrics and go tool pprof; a hundred machines (root)
	@scripts/deps build run test fleet
	@tests/exporter/fleet $(BUILD)

check-packages: all ## the packages on 6.1 and for arm64, and the container image on both, by hand: an hour (root)
	@scripts/deps build run test vm deb
	@tests/packages/check --build $(BUILD) --kernel 6.1 --reload
	@tests/packages/image --build $(BUILD)
	@tests/packages/image --build $(BUILD) --arch arm64
	@tests/packages/cross --build $(BUILD)

check-containers: ## the daemon in VMs with real containers and hostile loads, by hand: half an hour (root)
	@scripts/deps build run test vm
	@tests/vm/check --build $(BUILD) --containers
	@tests/vm/check-arm64 --build $(BUILD) arm64-perf-6.12 arm64-daemon arm64-daemon-6.1

kunit: ## the KUnit suites on User-Mode Linux 6.1 and 6.12; builds those kernels once (root)
	@scripts/deps build vm
	@tests/kunit/run --build $(BUILD) 6.1-uml 6.12-uml 6.12-uml-debug

mutate: ## flip each condition of the model; a test must fail for each
	@scripts/deps build
	@tests/mutate/run

check-fast: all ## the unit lanes only, on what is built
	@meson test -C $(BUILD) --print-errorlogs

modules: ## build speprof.ko and speprof_emu.ko for the running kernel
	@scripts/build-modules -o $(BUILD)/modules --running

modules_install: modules ## install them for the running kernel (root)
	@install -D -m 644 -t /lib/modules/$$(uname -r)/extra $(BUILD)/modules/running/*.ko
	@depmod

bench: all ## measure; prints ratios
	@meson test -C $(BUILD) --benchmark --verbose --num-processes 1 2>&1 | grep -vE "^(ninja|\[|Full log|$$)"

deb: ## build the Debian packages into build/deb, and check them with lintian (root, for deb's own needs)
	@scripts/deps build deb
	@scripts/build-deb -o $(BUILD)/deb
	@lintian --allow-root --fail-on error,warning $(BUILD)/deb/*.changes
	@ls $(BUILD)/deb/*.deb

soak: all ## memory is flat over 10^9 records of 10^6 PCs, 10^5 processes, 10^4 containers; takes minutes
	@chrt -i 0 $(BUILD)/tests/bench/soak

install: all ## install, honouring DESTDIR
	@meson install -C $(BUILD)

clean: ## remove what was built
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-fuzz $(BUILD)-arm64 $(BUILD)-arm64.ini

.PHONY: deb check-fleet check-packages check-containers modules_install all help deps run check check-kasan check-fast kunit mutate modules bench soak install clean
