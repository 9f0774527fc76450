/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPEPROF_BPF_LOAD_H
#define SPEPROF_BPF_LOAD_H

#include "codec/env.h"

/* Path of the description of the kernel's types (CONFIG_DEBUG_INFO_BTF). */
#define BPF_KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/**
 * bpf_load_silence_libbpf() - suppress the messages of libbpf; failures are reported by
 * bpf_load_explain_failure()
 */
void bpf_load_silence_libbpf(void);

/**
 * bpf_load_explain_failure() - explain a failure of BPF
 * @error: positive errno
 * @step: the step that failed: "open", "load", "map" or "attach"
 * @ret_reason: buffer of TASK_BPF_REASON bytes for the sentence
 */
void bpf_load_explain_failure(int error, const char *step, char *ret_reason);

#endif
