// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demangle.h"

#include <libiberty/demangle.h>

struct demangle_buffer {
	char *text;
	size_t size;
	size_t len;
};

/* Append the part of @text that fits: a short mangled name may expand to gigabytes. */
static void text_append(const char *text, size_t len, void *ctx)
{
	struct demangle_buffer *t = ctx;
	size_t available = t->size - 1 - t->len;

	if (len > available)
		len = available;
	memcpy(t->text + t->len, text, len);
	t->len += len;
}

size_t demangle(const char *name, char *ret_text, size_t size)
{
	struct demangle_buffer target = { .text = ret_text, .size = size };
	bool done = false;

	/* Try Rust first: its legacy names are also valid C++ names, with a hash at the end. */
	if (!strncmp(name, "_R", 2) || !strncmp(name, "_ZN", 3))
		done = rust_demangle_callback(name, DMGL_NO_OPTS, text_append, &target);
	if (!done && !strncmp(name, "_Z", 2)) {
		target.len = 0;
		done = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, text_append, &target);
	}
	if (!done || !target.len) {
		target.len = 0;
		text_append(name, strlen(name), &target);
	}
	ret_text[target.len] = '\0';
	return target.len;
}
