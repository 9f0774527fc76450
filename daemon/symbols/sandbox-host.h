/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the compiler makes of the sandbox. */
#ifndef SPEPROF_SANDBOX_HOST_H
#define SPEPROF_SANDBOX_HOST_H

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

#endif
