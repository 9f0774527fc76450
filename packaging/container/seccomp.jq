# SPDX-License-Identifier: LGPL-2.1-or-later
# A container engine's default seccomp profile, in which perf_event_open and bpf are for who has
# CAP_PERFMON and CAP_BPF, and not for CAP_SYS_ADMIN alone: Podman's profile is so, and Docker's
# before 23. Nothing else is changed.
#
#   jq -f /usr/share/speprof/seccomp.jq /usr/share/containers/seccomp.json >seccomp.json
#   podman run --security-opt seccomp=seccomp.json ...
{perf_event_open: "CAP_PERFMON", bpf: "CAP_BPF"} as $needs
| .syscalls |= (map(.names -= ($needs | keys) | select(.names != []))
	+ ($needs | to_entries
		| map({names: [.key], action: "SCMP_ACT_ALLOW", includes: {caps: [.value]}})))
