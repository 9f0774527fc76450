# SPDX-License-Identifier: LGPL-2.1-or-later
# Change the default seccomp profile of a container engine so that CAP_PERFMON permits
# perf_event_open and CAP_BPF permits bpf. Podman and Docker before 23 require CAP_SYS_ADMIN for
# both. Nothing else is changed.
#
#   jq -f /usr/share/speprof/seccomp.jq /usr/share/containers/seccomp.json >seccomp.json
#   podman run --security-opt seccomp=seccomp.json ...
{perf_event_open: "CAP_PERFMON", bpf: "CAP_BPF"} as $needs
| .syscalls |= (map(.names -= ($needs | keys) | select(.names != []))
	+ ($needs | to_entries
		| map({names: [.key], action: "SCMP_ACT_ALLOW", includes: {caps: [.value]}})))
