// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source-text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/escape.h"

/* Maximum size of a source file that is read. */
#define FILE_BYTES_MAX (16U << 20)

/*
 * Read a regular file; with @shared, only one that all users may read. The path is from debug data,
 * so it may name a device or a FIFO.
 */
static char *file_read(const char *path, bool shared)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = NULL;
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_BYTES_MAX &&
	    (!shared || st.st_mode & S_IROTH))
		text = malloc((size_t)st.st_size + 1);
	if (text)
		n = read(fd, text, (size_t)st.st_size);
	close(fd);
	if (text)
		text[n > 0 ? n : 0] = '\0';
	return text;
}

void source_text_get_line(struct source_text *source, const char *path, u32 line, char *to,
			  size_t size)
{
	const char *at;

	to[0] = '\0';
	if (strcmp(path, source->path) != 0) {
		source_text_deinit(source);
		snprintf(source->path, sizeof(source->path), "%s", path);
		source->text = file_read(path, source->shared);
	}
	at = source->text;
	for (; at && line > 1; line--) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return;
	at += strspn(at, " \t");
	escape_text(to, size, at, strcspn(at, "\r\n"));
}

void source_text_deinit(struct source_text *source)
{
	free(source->text);
	*source = (struct source_text){ .shared = source->shared };
}
