# SPDX-License-Identifier: LGPL-2.1-or-later
# Front end of Meson (userspace) and Kbuild (modules). Run "make help" for the targets.

BUILD ?= build
SECONDS_OF_DEMO ?= 10

all: $(BUILD)/build.ninja ## build the daemon and the command (run "make deps" once before)
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) >$(BUILD).log 2>&1 && rm -f $(BUILD).log || { cat $(BUILD).log; exit 1; }

help: ## print this
	@echo "speprof: targets of make"
	@sed -n 's/^\([a-z_-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

deps: ## install the packages that the build and the tests need (root)
	@scripts/deps build check all

run: ## profile this machine for ten seconds; FILE=x.perf.data shows a recording instead
	@scripts/deps build
	@[ -x $(BUILD)/tools/speprof ] || echo "Building. The first time, this takes some minutes."
	@$(MAKE) -s --no-print-directory all >$(BUILD)-run.log 2>&1 && rm -f $(BUILD)-run.log || \
		{ tail -n 40 $(BUILD)-run.log; exit 1; }
ifdef FILE
	@$(BUILD)/tools/speprof report -i '$(FILE)'
else
	@$(BUILD)/demo/speprof-demo --seconds $(SECONDS_OF_DEMO) -o $(BUILD)/demo.data
endif

check: ## install missing packages and run the quick lanes of tests: 15 to 40 minutes (root)
	@scripts/deps build check
	@tests/check --build $(BUILD)

check-changed: ## run the quick lanes, and those that test the changes since BASE=COMMIT (root)
	@test -n "$(BASE)" || { echo "make check-changed: BASE is missing: BASE=COMMIT" >&2; exit 2; }
	@scripts/deps build check all
	@tests/check --build $(BUILD) --changed "$(BASE)"

check-all: ## run every lane, for hours; a second run resumes after the lanes that passed (root)
	@scripts/deps build check all
	@tests/check --build $(BUILD) --all

check-fresh: ## run both commands of the README on a minimal Debian 12 and a minimal Debian 13 (root)
	@scripts/deps build check
	@tests/check --build $(BUILD) --lane fresh-12 --lane fresh-13

check-lane: ## run the lanes LANE="NAME..."; without LANE, list all (root)
	@test -z "$(LANE)" || scripts/deps build check all
	@tests/check --build $(BUILD) $(if $(LANE),$(addprefix --lane ,$(LANE)),--list)

modules: ## build speprof.ko and speprof_emu.ko for the running kernel
	@scripts/build-modules -o $(BUILD)/modules --running

modules_install: modules ## install them for the running kernel (root)
	@install -D -m 644 -t /lib/modules/$$(uname -r)/extra $(BUILD)/modules/running/*.ko
	@depmod

bench: all ## measure speed and memory; ends with a table of measurements and bars
	@meson test -C $(BUILD) --benchmark --verbose --num-processes 1 2>&1 | grep -vE "^(ninja|\[|Full log|$$)"
	@tests/bench/bars $(BUILD)

deb: ## build the Debian packages into build/deb, and check them with lintian (root, to install packages)
	@scripts/deps build deb
	@scripts/build-deb -o $(BUILD)/deb
	@lintian --allow-root --fail-on error,warning $(BUILD)/deb/*.changes
	@ls $(BUILD)/deb/*.deb

rpm: ## build the RPM packages into build/rpm; RPMFLAGS="--without exporter" omits one
	@scripts/build-rpm -o $(BUILD)/rpm $(RPMFLAGS)
	@ls $(BUILD)/rpm/*.rpm

tarball: ## build a tarball with its own loader and libraries into build/tarball, to run without an installation
	@scripts/build-tarball -o $(BUILD)/tarball

soak: all ## check that memory does not grow over 10^9 records of 10^6 PCs; takes minutes
	@chrt -i 0 $(BUILD)/tests/bench/soak

install: all ## install, honouring DESTDIR
	@meson install -C $(BUILD)

clean: ## remove the results of builds
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-debian13 $(BUILD)-fuzz $(BUILD)-arm64 $(BUILD)-arm64.ini

.PHONY: all bench check check-all check-changed check-fresh check-lane clean deb deps help install modules \
	modules_install rpm run soak tarball
