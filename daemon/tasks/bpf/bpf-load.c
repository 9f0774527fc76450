// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bpf-load.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

#include "task-bpf.h"

static int print_nothing(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	(void)format;
	(void)ap;
	return 0;
}

void bpf_load_silence_libbpf(void)
{
	libbpf_set_print(print_nothing);
}

void bpf_load_explain_failure(int error, const char *step, char *ret_reason)
{
	if (error == ENOSYS)
		snprintf(ret_reason, TASK_BPF_REASON,
			 "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
	else if (error == EPERM)
		snprintf(ret_reason, TASK_BPF_REASON,
			 "this process may not use BPF: it lacks CAP_BPF or CAP_PERFMON, or a "
			 "security policy forbids it");
	else if (access(BPF_KERNEL_TYPES, R_OK) < 0)
		snprintf(ret_reason, TASK_BPF_REASON,
			 "this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	else
		snprintf(ret_reason, TASK_BPF_REASON,
			 "the BPF programs do not %s on this kernel: %s", step, strerror(error));
}
