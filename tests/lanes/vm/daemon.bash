# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Provide functions for jobs that run the daemon with its unit. Jobs source /ci/daemon.bash.

fail() {
	echo "FAIL: $*"
	exit 1
}

# Address of the daemon's bus, if that is not the machine's.
bus_address=

manager() {
	busctl ${bus_address:+--address="$bus_address"} --json=short --timeout=600 call org.speprof1 /org/speprof1 org.speprof1.Manager "$@"
}

property() {
	busctl ${bus_address:+--address="$bus_address"} get-property org.speprof1 /org/speprof1 org.speprof1.Manager "$1" | cut -d'"' -f2
}

# Make systemd and the bus read files that were handed in after their start.
daemon_prepare() {
	if compgen -G '/ci/modules/*.ko' >/dev/null; then
		install -D -t "/lib/modules/$(uname -r)/extra" /ci/modules/*.ko
		depmod
	fi
	id speprofd >/dev/null 2>&1 || systemd-sysusers
	# shellcheck disable=SC2119
	drop_in
	systemctl reload dbus.service
	udevadm control --reload
}

# daemon SETTING...: start the daemon with only these settings. Overhead=no, because the time of a guest does
# not measure the cost of sampling.
daemon() {
	printf '%s\n' "[Sampling]" Overhead=no "$@" >/etc/speprof/speprofd.conf
	systemctl restart speprofd.service ||
		fail "speprofd.service does not start with $*: $(journalctl -q -u speprofd -n 3 -o cat)"
}

# drop_in LINE...: add lines to the unit's [Service] section. The clock of a guest advances while its host runs
# other programs, so the usual watchdog of a minute could expire there.
# shellcheck disable=SC2120 # the jobs pass lines
drop_in() {
	mkdir -p /run/systemd/system/speprofd.service.d
	printf '%s\n' "[Service]" WatchdogSec=20min "$@" >/run/systemd/system/speprofd.service.d/test.conf
	systemctl daemon-reload
}

# view GROUP FILE: write a view of the daemon to FILE, and its rows to FILE.rows: samples, container, process,
# function, binary
view() {
	# A helper process resolves names of functions, and only for views of functions. A query for
	# one row suffices to request all names, and a guest needs seconds to print a thousand rows.
	if [[ $1 == function ]]; then
		for _ in {1..3000}; do
			manager GetView ssu function samples 1 >"$2"
			[[ $(figure "$2" names_pending) != 0 ]] || break
			sleep 0.2
		done
	fi
	manager GetView ssu "$1" samples 1000 >"$2"
	jq -r '.data[1][] | [.samples, .container, .process, .function, .binary] | map(.data // "") | @tsv' \
		"$2" >"$2.rows"
}

# until_samples LEAST GROUP FILE CONTAINER [PROCESS]: repeat the view until it has that many samples
until_samples() {
	local least=$1
	shift
	for _ in {1..3000}; do
		view "$1" "$2"
		(($(samples "${@:2}") < least)) || return 0
		sleep 0.5
	done
	fail "fewer than $least samples of ${*:3}: $(head -n 5 "$2.rows")"
}

# until_records LEAST: wait for records, because a busy host gives the guest little CPU time
until_records() {
	local records=0
	until ((records >= $1)); do
		sleep 1
		records=$(manager GetView ssu container samples 1 | jq '.data[0].records.data')
	done
}

# samples FILE CONTAINER [PROCESS [FUNCTION]]: print the samples in the rows of a view
samples() {
	awk -F'\t' -v container="$2" -v process="${3-}" -v name="${4-}" '
		$2 == container && (process == "" || $3 == process) && (name == "" || $4 == name) {
			n += $1
		}
		END { print n + 0 }' "$1.rows"
}

# samples_user FILE CONTAINER: print the samples outside of the kernel
samples_user() {
	awk -F'\t' -v container="$2" '$2 == container && $5 != "[kernel]" { n += $1 }
		END { print n + 0 }' "$1.rows"
}

# figure FILE NAME: print a field of the view's header
figure() {
	jq -r --arg name "$2" '.data[0][$name].data' "$1"
}

# ledger FILE PERMILLE: check that bytes add up, that nothing is lost, and that at most that share of samples is
# unattributed
ledger() {
	jq -c '.data[0] | map_values(.data)
		| {records, bytes, suspect, lost, unattributed, evicted, memory, task_events_lost}' "$1"
	jq -e --argjson most "$2" '.data[0] | map_values(.data)
		| .records > 0 and .suspect == 0 and .lost == 0
		  and .bytes == .decoded + .padding + .suspect
		  and 1000 * .unattributed <= $most * .records' "$1" >/dev/null ||
		fail "the ledgers do not add up, or too much is unattributed"
}

resident() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$(systemctl show -P MainPID speprofd.service)/status"
}
