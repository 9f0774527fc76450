/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between supported kernels in the namespaces of exported symbols. */
#ifndef SPEPROF_COMPAT_NAMESPACE_H
#define SPEPROF_COMPAT_NAMESPACE_H

#include "speprof-probes.h"

/*
 * SPE_NAMESPACE() - convert a word to the form in which this kernel's macros expect symbol
 * namespaces
 */
#if SPEPROF_HAVE_NAMESPACE_STRING
#define SPE_NAMESPACE(ns) #ns
#else
#define SPE_NAMESPACE(ns) ns
#endif

#endif
