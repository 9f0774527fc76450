// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fuzz the parser of /proc/PID/cgroup: container names are bounded, printable and stable. */
#include "fuzz.h"

#include "attribution/container.h"
#include "util/escape.h"

static void check_text(const char *text, size_t size)
{
	char again[512];
	size_t len = strnlen(text, size);

	fuzz_assert(len < size);
	for (size_t i = 0; i < len; i++)
		fuzz_assert((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
	/* Escaping the result once more does not change it. */
	fuzz_assert(escape_text(again, sizeof(again), text, len) == len);
	fuzz_assert(!memcmp(again, text, len));
}

static void check_path(const char *path, size_t len)
{
	struct container_match m, inside;

	if (!container_identify(path, len, &m))
		return;
	fuzz_assert(m.length > 0 && m.length <= len);
	fuzz_assert(*m.entry.name && *m.entry.runtime && *m.entry.path);
	check_text(m.entry.name, sizeof(m.entry.name));
	check_text(m.entry.path, sizeof(m.entry.path));
	fuzz_assert(strnlen(m.uid, sizeof(m.uid)) < sizeof(m.uid));
	fuzz_assert(strspn(m.id, "0123456789abcdef") == strnlen(m.id, sizeof(m.id)));
	/* The container's own cgroup has a name, too, unless it is marked as removed. */
	if (path[m.length - 1] == ')')
		return;
	fuzz_assert(container_identify(path, m.length, &inside));
	/*
	 * The path up to the container's own cgroup must identify the same container, because the
	 * checkpoint stores only this part of the path.
	 */
	fuzz_assert(inside.length == m.length);
	fuzz_assert(!strcmp(inside.entry.name, m.entry.name));
	fuzz_assert(!strcmp(inside.entry.runtime, m.entry.runtime));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *path;
	size_t len;

	check_path(text, size);
	if (!container_choose_cgroup(text, size, &path, &len))
		return 0;
	fuzz_assert(path >= text && path <= text + size && len <= (size_t)(text + size - path));
	fuzz_assert(!memchr(path, '\n', len));
	check_path(path, len);
	return 0;
}
