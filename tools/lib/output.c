// SPDX-License-Identifier: LGPL-2.1-or-later
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

/*
 * Names of temporary files for the signal handler, which has no argument. No command writes more
 * than two files.
 */
static const char *volatile unfinished[2];

/*
 * Raise the signal again, which ends the process because SA_RESETHAND has restored the default
 * action.
 */
static void remove_files_and_raise(int sig)
{
	for (size_t i = 0; i < ARRAY_SIZE(unfinished); i++)
		if (unfinished[i])
			unlink(unfinished[i]);
	raise(sig);
}

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/*
 * Register @temporary_path, so that a signal that ends the process removes the file. Handlers of
 * signals that are ignored, or that "speprof record" handles, are not changed.
 */
static void register_unfinished(const char *temporary_path)
{
	const struct sigaction action = { .sa_handler = remove_files_and_raise,
					  .sa_flags = SA_RESETHAND | SA_NODEFER };
	struct sigaction old;

	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &action, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(unfinished); i++) {
		if (unfinished[i])
			continue;
		unfinished[i] = temporary_path;
		return;
	}
}

/*
 * Create and register @temporary_path. Return its descriptor, or a negative errno of mkostemp().
 * Signals are blocked meanwhile: a signal between the two steps would end the process without
 * removing the file.
 */
static int create_temporary_file(char *temporary_path)
{
	sigset_t set, old;
	int fd, error;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	fd = mkostemp(temporary_path, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		register_unfinished(temporary_path);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return fd < 0 ? -error : fd;
}

static void unregister_unfinished(const char *temporary_path)
{
	for (size_t i = 0; i < ARRAY_SIZE(unfinished); i++)
		if (unfinished[i] == temporary_path)
			unfinished[i] = NULL;
}

static void output_clear(struct output_file *output)
{
	if (output->temporary_path)
		unregister_unfinished(output->temporary_path);
	free(output->temporary_path);
	free(output->path);
	*output = OUTPUT_NONE;
}

/* Set @mode, reduced by the umask, because mkostemp() creates files of mode 0600. */
static int set_file_mode(int fd, mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, mode & ~mask) < 0 ? -errno : 0;
}

static int open_temporary(const char *path, bool exists, mode_t mode,
			  struct output_file *ret_output)
{
	/* Replace the target of a symbolic link, and not the link. */
	char *name = exists ? realpath(path, NULL) : strdup(path), *temporary_path = NULL;
	int fd;

	if (!name)
		return -errno;
	if (asprintf(&temporary_path, "%s.XXXXXX", name) < 0) {
		free(name);
		return -ENOMEM;
	}
	fd = create_temporary_file(temporary_path);
	if (fd < 0) {
		free(temporary_path);
		free(name);
		return fd;
	}
	*ret_output =
		(struct output_file){ .fd = fd, .temporary_path = temporary_path, .path = name };
	return set_file_mode(fd, mode);
}

static bool is_standard_output(const char *path)
{
	return strcmp(path, "-") == 0;
}

int output_open(const char *path, mode_t mode, struct output_file *ret_output)
{
	struct output_file o = OUTPUT_NONE;
	struct stat st;
	bool exists;
	int r = 0;

	if (is_standard_output(path)) {
		ret_output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return ret_output->fd < 0 ? -errno : 0;
	}
	exists = stat(path, &st) == 0;
	if (!exists && errno != ENOENT)
		return -errno;
	if (exists && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (exists && !S_ISREG(st.st_mode)) {
		o.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (o.fd < 0)
			return -errno;
	} else {
		r = open_temporary(path, exists, mode, &o);
	}
	if (r < 0) {
		output_drop(&o);
		return r;
	}
	*ret_output = o;
	return 0;
}

int output_check(const char *path)
{
	struct output_file o = OUTPUT_NONE;
	struct stat st;
	int r;

	if (is_standard_output(path))
		return fcntl(STDOUT_FILENO, F_GETFD) < 0 ? -errno : 0;
	/*
	 * Do not open a pipe for a check: open() would wait for a reader, and close() would be the
	 * end of file for that reader.
	 */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return access(path, W_OK) < 0 ? -errno : 0;
	r = output_open(path, 0600, &o);
	output_drop(&o);
	return r;
}

/* Copy data without sendfile(), which refuses terminals and append-only files with EINVAL. */
static ssize_t copy_chunk(int to, int from, off_t *at)
{
	char bytes[4096];
	ssize_t n = pread(from, bytes, sizeof(bytes), *at);

	if (n > 0)
		n = write(to, bytes, (size_t)n);
	if (n > 0)
		*at += n;
	return n;
}

static int copy_file(int to, int from)
{
	bool by_hand = false;
	ssize_t n = 1;
	off_t at = 0;

	while (n > 0) {
		if (!by_hand)
			n = sendfile(to, from, &at, 1 << 20);
		by_hand |= n < 0 && errno == EINVAL;
		if (by_hand)
			n = copy_chunk(to, from, &at);
	}
	return n < 0 ? -errno : 0;
}

int output_commit(struct output_file *output)
{
	int r = 0;

	if (output->fd >= 0 && close(output->fd) < 0)
		r = -errno;
	output->fd = -1;
	if (r == 0 && output->temporary_path && rename(output->temporary_path, output->path) < 0)
		r = -errno;
	if (r < 0)
		output_drop(output);
	else
		output_clear(output);
	return r;
}

void output_keep_temporary(struct output_file *output)
{
	if (output->fd >= 0)
		close(output->fd);
	output_clear(output);
}

void output_drop(struct output_file *output)
{
	if (output->fd >= 0)
		close(output->fd);
	if (output->temporary_path)
		unlink(output->temporary_path);
	output_clear(output);
}

int output_write_from_fd(const char *path, mode_t mode, int from)
{
	struct output_file output = OUTPUT_NONE;
	int r = output_open(path, mode, &output);

	if (r >= 0)
		r = copy_file(output.fd, from);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	return r;
}
