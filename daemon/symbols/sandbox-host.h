/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the machine and the compiler make of the sandbox; nothing else asks either. */
#ifndef SPEPROF_SANDBOX_HOST_H
#define SPEPROF_SANDBOX_HOST_H

#include <linux/audit.h>

/* Whether the runtime of AddressSanitizer is there, which needs more than the program does. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#else
#error "which AUDIT_ARCH_ is this?"
#endif

#endif
