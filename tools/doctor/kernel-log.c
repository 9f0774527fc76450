// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read and search the kernel's log. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/klog.h>
#include <unistd.h>

#include "doctor.h"
#include "lib/text.h"

/* Each read() of /dev/kmsg returns one record, which is not longer than this (printk). */
#define LOG_RECORD 8192
#define LOG_MAX	   (64U << 20)

/* commands of syslog(2), which only the kernel's include/linux/syslog.h defines */
#define SYSLOG_READ_ALL	   3
#define SYSLOG_SIZE_BUFFER 10

static int log_grow(struct kernel_log *log, size_t *capacity)
{
	size_t wanted = *capacity ? *capacity * 2 : 1 << 18;
	char *text;

	if (log->size + LOG_RECORD < *capacity)
		return 0;
	text = wanted > LOG_MAX ? NULL : realloc(log->text, wanted);
	if (!text)
		return -ENOMEM;
	log->text = text;
	*capacity = wanted;
	return 0;
}

static int log_read_records(int fd, struct kernel_log *log)
{
	size_t capacity = 0;

	while (log_grow(log, &capacity) >= 0) {
		ssize_t n = read(fd, log->text + log->size, LOG_RECORD);

		/* Records were overwritten meanwhile, so continue with the next one. */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return 0;
		log->size += n;
	}
	return -ENOMEM;
}

/*
 * Read the log by syslog(2), which works with CAP_SYSLOG in containers, where /dev/kmsg is missing.
 */
static int log_read_syslog(struct kernel_log *log)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0);

	if (size < 0)
		return -errno;
	log->text = malloc(size);
	if (!log->text)
		return -ENOMEM;
	size = klogctl(SYSLOG_READ_ALL, log->text, size);
	if (size < 0)
		return -errno;
	log->size = size;
	return 0;
}

void log_read(const struct examined_machine *machine, struct kernel_log *ret_log)
{
	struct kernel_log log = { 0 };
	char path[PATH_MAX];
	int fd;

	machine_join_path(machine, path, "/dev/kmsg");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		log.error = log_read_records(fd, &log);
	else
		log.error = *machine->root ? -errno : log_read_syslog(&log);
	if (fd >= 0)
		close(fd);
	if (log.error < 0) {
		free(log.text);
		log.text = NULL;
		log.size = 0;
	}
	/* The first record of every kernel is its banner. */
	log.complete = log.size && memmem(log.text, log.size, "Linux version ", 14);
	*ret_log = log;
}

/* Copy the text of a record: of "6,1,0,-;text", or of "<6>[    0.0] text" from syslog(2). */
static void log_copy_line(const struct kernel_log *log, const char *at, char *ret_line, size_t size)
{
	const char *start = at, *end = memchr(at, '\n', log->text + log->size - at), *head;

	while (start > log->text && start[-1] != '\n')
		start--;
	if (!end)
		end = log->text + log->size;
	head = memchr(start, *start == '<' ? ']' : ';', end - start);
	if (head && head < at)
		start = head + 1;
	while (start < at && *start == ' ')
		start++;
	snprintf(ret_line, size, "%.*s", (int)(end - start), start);
	text_clean(ret_line);
}

int log_find(const struct kernel_log *log, const char *const *words, char *ret_line, size_t size)
{
	const char *last = NULL;

	if (!log->text)
		return log->error ? log->error : -ENOENT;
	for (; *words; words++) {
		const char *at = log->text, *end = log->text + log->size;

		while ((at = memmem(at, end - at, *words, strlen(*words)))) {
			if (at > last)
				last = at;
			at++;
		}
	}
	if (last && ret_line)
		log_copy_line(log, last, ret_line, size);
	return last ? 1 : log->complete ? 0 : -ENODATA;
}

const char *log_get_error_text(int r)
{
	switch (r) {
	case -EPERM:
	case -EACCES:
		return "only root may read the kernel's log";
	case -ENODATA:
		return "the kernel's log no longer goes back to the boot";
	default:
		return "the kernel's log is not readable here";
	}
}
