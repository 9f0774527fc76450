// SPDX-License-Identifier: LGPL-2.1-or-later
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

/*
 * Print a sentence, with control characters replaced: it may contain names of files and containers,
 * which any user can choose.
 */
static void message_vprint(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	text_clean(text);
	fflush(stdout);
	fprintf(stderr, "speprof: %s\n", text);
	free(text);
}

void message_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_vprint(format, args);
	va_end(args);
}

static const char *get_printed_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

int message_print_recording_error(const char *path, int r, const struct recording_error *error)
{
	const char *name = get_printed_name(path);

	switch (r) {
	case -ENOENT:
		return message_fail(STATUS_NO_FILE, "%s: no such file", name);
	case -ENODATA:
		return message_fail(STATUS_EMPTY, "%s: empty; a recording has at least one record",
				    name);
	case -ENOMSG:
	case -EBADMSG:
		if (error->offset == RECORDING_NO_OFFSET)
			return message_fail(STATUS_NO_RECORDING, "%s: %s", name, error->text);
		return message_fail(STATUS_NO_RECORDING, "%s: offset 0x%llx: %s", name,
				    (unsigned long long)error->offset, error->text);
	case -ENOMEM:
		return message_fail(STATUS_FAILED, "%s: out of memory", name);
	default:
		return message_fail(STATUS_UNREADABLE, "%s: cannot be read: %s", name,
				    strerror(-r));
	}
}

int message_print_replay_error(const char *path, int r, const struct recording_error *error)
{
	if (r != -EBADMSG)
		return message_print_recording_error(path, r, error);
	if (error->offset == RECORDING_NO_OFFSET)
		return message_fail(STATUS_DAMAGED, "%s: damaged: %s; shown is what was readable",
				    get_printed_name(path), error->text);
	return message_fail(STATUS_DAMAGED,
			    "%s: damaged at offset 0x%llx: %s; shown is what was readable",
			    get_printed_name(path), (unsigned long long)error->offset, error->text);
}

int message_finish_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE || status != STATUS_OK)
		return status;
	return message_fail(STATUS_FAILED, "standard output: %s", strerror(errno));
}
