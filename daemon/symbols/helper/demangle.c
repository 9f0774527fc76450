// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demangle.h"

#include <libiberty/demangle.h>

struct target {
	char *to;
	size_t size;
	size_t len;
};

/* What does not fit is dropped: a short name may stand for one of gigabytes. */
static void take(const char *text, size_t len, void *ctx)
{
	struct target *t = ctx;
	size_t room = t->size - 1 - t->len;

	if (len > room)
		len = room;
	memcpy(t->to + t->len, text, len);
	t->len += len;
}

size_t demangle(const char *name, char *to, size_t size)
{
	struct target target = { .to = to, .size = size };
	bool done = false;

	/* Rust first: its older names are valid ones of C++, with a hash in the end. */
	if (!strncmp(name, "_R", 2) || !strncmp(name, "_ZN", 3))
		done = rust_demangle_callback(name, DMGL_NO_OPTS, take, &target);
	if (!done && !strncmp(name, "_Z", 2)) {
		target.len = 0;
		done = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take, &target);
	}
	if (!done || !target.len) {
		target.len = 0;
		take(name, strlen(name), &target);
	}
	to[target.len] = '\0';
	return target.len;
}
