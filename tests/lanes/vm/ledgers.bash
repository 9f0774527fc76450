# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Compare the module's counters with the daemon's. Jobs source /ci/ledgers.bash, and also need
# /ci/ledger. The jobs define the functions manager and fail.

# This file has the counters of sessions that the daemon has closed, one line for each.
: >/run/module.ended

pid() {
	systemctl show -P MainPID speprofd.service
}

# side KEY FILE...: print the sum of KEY
side() {
	local key=$1
	shift
	awk -v key="$key" '$1 == key { sum += $2 } END { printf "%.0f\n", sum }' "$@"
}

# Read the daemon's counters while sampling is stopped, when all windows are drained.
ledgers() {
	manager Stop >/dev/null
	/ci/ledger "$(pid)" >/run/module
	manager GetView ssu container samples 1 |
		jq -r '.data[0] | map_values(.data) | to_entries[] | "\(.key) \(.value)"' >/run/daemon
	manager Start >/dev/null
}

# lacks WHAT KEY MODULE DAEMON LEAST MOST: print both counters, and check that MODULE exceeds DAEMON by LEAST to
# MOST
lacks() {
	local difference=$(($3 - $4))
	printf '%-12s %-18s module %15s  daemon %15s\n' "$1" "$2" "$3" "$4"
	((difference >= $5 && difference <= $6)) || fail "$1: $2: $difference are in one ledger alone"
}

# compare WHAT SLACK: compare the counters. Up to SLACK ms of enabled time may be in windows without records
compare() {
	local what=$1 slack=$(($2 * 1000000)) key away
	ledgers
	lacks "$what" bytes "$(side bytes /run/module /run/module.ended)" "$(side bytes /run/daemon)" 0 0
	lacks "$what" records "$(side records /run/module /run/module.ended)" "$(side written /run/daemon)" 0 0
	# While the module was unloaded only the daemon could count this time.
	away=$(side blind_restart_ns /run/daemon)
	for key in blind_ns enabled_ns; do
		lacks "$what" $key $(($(side $key /run/module /run/module.ended) + away)) \
			"$(side $key /run/daemon)" 0 $slack
	done
	# Compare the blind time of each cause. Rounding is less than a nanosecond for each window.
	for key in blind_full_ns blind_fault_ns blind_throttle_ns blind_handling_ns; do
		lacks "$what" $key "$(side $key /run/module /run/module.ended)" "$(side $key /run/daemon)" -100000 $slack
	done
	(($(side blind_unknown_ns /run/daemon) == 0)) || fail "$what: blind without a cause"
	(($(awk '/^blind_/ && $1 != "blind_ns" { sum += $2 } END { printf "%.0f", sum }' /run/daemon) == \
		$(side blind_ns /run/daemon))) || fail "$what: causes do not come to the blind time"
	(($(side bytes /run/daemon) == $(side decoded /run/daemon) + $(side padding /run/daemon) + \
		$(side suspect /run/daemon))) || fail "$what: bytes"
	(($(side lost /run/daemon) == 0 && $(side bad_tails /run/module /run/module.ended) == 0)) ||
		fail "$what: lost"
	(($(side records /run/daemon) == $(side written /run/daemon))) || fail "$what: records"
}
