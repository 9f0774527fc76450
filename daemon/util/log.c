// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "escape.h"

/* Maximum number of fields of a message. */
#define FIELDS_MAX 16

static int max_level = LOG_INFO;
static enum log_target target = LOG_TARGET_AUTO;

static const char *const levels[] = {
	[LOG_EMERG] = "emerg", [LOG_ALERT] = "alert",	  [LOG_CRIT] = "crit",
	[LOG_ERR] = "err",     [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info",   [LOG_DEBUG] = "debug",
};

const char *log_level_name(int level)
{
	return levels[level];
}

int log_level_parse(const char *name)
{
	for (int i = 0; i < (int)ARRAY_SIZE(levels); i++)
		if (!strcmp(levels[i], name))
			return i;
	return -EINVAL;
}

void log_init(void)
{
	const char *name = getenv("SYSTEMD_LOG_LEVEL");
	int level = name ? log_level_parse(name) : -EINVAL;

	if (level >= 0)
		log_set_level(level);
}

void log_set_target(enum log_target to)
{
	target = to;
}

enum log_target log_get_target(void)
{
	return target;
}

void log_set_level(int level)
{
	max_level = level;
}

int log_get_level(void)
{
	return max_level;
}

/*
 * Return true if standard error is still the stream that the service manager connected to the
 * journal.
 */
static bool is_stderr_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

static void iovec_add(struct iovec *to, int *n, char *text)
{
	if (*n < FIELDS_MAX)
		to[(*n)++] = (struct iovec){ .iov_base = text, .iov_len = strlen(text) };
}

static bool send_to_journal(int level, const char *id, const char *const *fields, char *message)
{
	char priority[16], message_id[64], name[] = "SYSLOG_IDENTIFIER=speprofd";
	struct iovec iov[FIELDS_MAX];
	int n = 0;

	snprintf(priority, sizeof(priority), "PRIORITY=%d", level);
	iovec_add(iov, &n, message);
	iovec_add(iov, &n, priority);
	iovec_add(iov, &n, name);
	if (id) {
		snprintf(message_id, sizeof(message_id), "MESSAGE_ID=%s", id);
		iovec_add(iov, &n, message_id);
	}
	for (; fields && *fields; fields++)
		iovec_add(iov, &n, (char *)*fields);
	return sd_journal_sendv(iov, n) >= 0;
}

void log_write(int level, const char *id, const char *const *fields, const char *format, ...)
{
	char text[1024] = "MESSAGE=", raw[1024];
	size_t skip = strlen(text);
	bool journal;
	va_list ap;

	if (level > max_level || target == LOG_TARGET_NULL)
		return;
	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	/* Escape line breaks and terminal controls: callers of the bus choose parts of the text. */
	escape_string(text + skip, sizeof(text) - skip, raw);
	journal =
		target == LOG_TARGET_JOURNAL || (target == LOG_TARGET_AUTO && is_stderr_journal());
	if (!journal || !send_to_journal(level, id, fields, text))
		fprintf(stderr, "speprofd: %s\n", text + skip);
}
