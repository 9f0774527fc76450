/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPEPROF_BPF_LOAD_H
#define SPEPROF_BPF_LOAD_H

#include "codec/env.h"

/* Where the kernel describes its types (CONFIG_DEBUG_INFO_BTF). */
#define BPF_KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/** bpf_quiet() - libbpf's own messages go nowhere: what failed is said in one sentence */
void bpf_quiet(void);

/**
 * bpf_reason() - why BPF does not work here, into TASK_BPF_REASON bytes at @ret_reason
 * @error: positive errno of what failed
 * @what: "load" or "attach"
 */
void bpf_reason(int error, const char *what, char *ret_reason);

#endif
