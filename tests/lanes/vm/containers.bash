# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Provide functions for jobs with containers that run known programs. Jobs source /ci/containers.bash and
# daemon.bash. A job appends to names, kinds, programs, functions and cgroups, one entry for each container.
names=() kinds=() programs=() functions=() cgroups=()

# Percentage points by which a container's share of the samples may differ from its share of CPU
# time. A busy host stops the guest's CPUs. The guest counts this time as CPU time of the running
# task, but the time has no samples.
SHARE_BOUND=15
# Minimum percentage of a container's samples in its program.
PROGRAM_LEAST=80
# Minimum number of records of all containers together for a comparison of shares.
RECORDS_LEAST=2000

# step WHAT: print the start of a step
step() {
	echo "-- $SECONDS s: $*"
}

# image_tree ROOT: write busybox and the two programs
image_tree() {
	local one
	mkdir -p "$1"/{bin,demo,dev,etc,proc,run,sys,tmp,usr,var}
	cp /bin/busybox "$1/bin"
	for one in sh mkdir sleep; do ln -s busybox "$1/bin/$one"; done
	cp /ci/demo/chase /ci/demo/stream "$1/demo"
	echo root:x:0:0::/:/bin/sh >"$1/etc/passwd"
	echo ID=tiny >"$1/etc/os-release"
}

usage() {
	awk '$1 == "usage_usec" { print $2 }' "$1/cpu.stat"
}

# freeze 0|1: freeze or thaw the containers. While they are frozen, readers of the profile and the symbol helper
# have CPUs.
freeze() {
	local one
	for one in "${cgroups[@]}"; do echo "$1" >"$one/cgroup.freeze"; done
	for one in "${cgroups[@]}"; do
		until grep -q "^frozen $1$" "$one/cgroup.events"; do
			[[ -e $one ]] || fail "$one was removed"
			sleep 0.1
		done
	done
}

# kind NAME: print the runtime of a container, from /run/containers.json of the bus
kind() {
	jq -r --arg name "$1" '.data[1][] | select(.name.data == $name) | .runtime.data' /run/containers.json
}

# at_work CGROUP PROGRAM: return true if PROGRAM has its second thread, which it starts when its
# memory is prepared
at_work() {
	local pid
	while read -r pid; do
		! grep -qxF "$2" "/proc/$pid/comm" ||
			(($(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l) < 2)) || return 0
	done < <(find "$1" -name cgroup.procs -exec cat {} +) 2>/dev/null
	return 1
}

# known: return true if the daemon lists all containers
known() {
	local name
	manager GetContainers suu samples 0 1000 >/run/containers.json
	for name in "${names[@]}"; do
		[[ $(kind "$name") ]] || return 1
	done
}

# settled: wait until all containers are at work, freeze them, and wait until the daemon lists them.
# compare() reports a container that is not listed.
settled() {
	local i left=3000
	for i in "${!cgroups[@]}"; do
		until at_work "${cgroups[i]}" "${programs[i]}"; do
			[[ -e ${cgroups[i]} ]] || fail "${names[i]} was removed"
			((left--)) || fail "${names[i]}: ${programs[i]} has no second thread in ${cgroups[i]}"
			sleep 0.2
		done
	done
	freeze 1
	for _ in {1..3000}; do
		! known || break
		sleep 0.5
	done
}

# compare SECONDS: after at least SECONDS, compare each container's share of the samples with its
# share of CPU time. Check the program and the function with the most samples in each container.
compare() {
	local i got=() true=() before=() sum_got=0 sum_true=0 share truth own leads
	# Freeze all containers before reading their CPU times. Reading takes long while they run,
	# and the times would belong to different moments.
	freeze 1
	manager Reset >/dev/null
	for i in "${!cgroups[@]}"; do before[i]=$(usage "${cgroups[i]}"); done
	freeze 0
	sleep "$1"
	until_records "$RECORDS_LEAST"
	freeze 1
	for i in "${!cgroups[@]}"; do true[i]=$(($(usage "${cgroups[i]}") - before[i])); done
	# Wait, because the daemon is still counting the last windows.
	sleep 2
	view process /run/all
	view function /run/named
	manager GetContainers suu samples 0 1000 >/run/containers.json
	ledger /run/all 20
	for i in "${!cgroups[@]}"; do
		[[ $(kind "${names[i]}") == "${kinds[i]}" ]] ||
			fail "${names[i]} is no ${kinds[i]}: $(kind "${names[i]}"), $(head -n 12 /run/all.rows)"
		got[i]=$(samples /run/all "${names[i]}")
		((sum_got += got[i])) || true
		((sum_true += true[i])) || true
	done
	((sum_got > 500)) || fail "too few samples: $(head -n 12 /run/all.rows)"
	for i in "${!cgroups[@]}"; do
		share=$((1000 * got[i] / sum_got)) truth=$((1000 * true[i] / sum_true))
		own=$(samples /run/all "${names[i]}" "${programs[i]}")
		leads=$(samples /run/named "${names[i]}" "${programs[i]}" "${functions[i]}")
		echo "${names[i]}: $share per mille of the samples, $truth of the CPU time; ${programs[i]} has $own of ${got[i]}, ${functions[i]} $leads"
		((share - truth <= 10 * SHARE_BOUND && truth - share <= 10 * SHARE_BOUND)) ||
			fail "${names[i]}: the shares differ by more than $SHARE_BOUND points: $(head -n 12 /run/all.rows)"
		((100 * own >= PROGRAM_LEAST * got[i])) ||
			fail "${names[i]}: $(grep -F "${names[i]}" /run/all.rows | head)"
		((leads > 0 && 100 * leads >= PROGRAM_LEAST * $(samples_user /run/named "${names[i]}"))) ||
			fail "${names[i]}: ${functions[i]} does not lead: $(grep -F "${names[i]}" /run/named.rows | head)"
	done
	freeze 0
}
