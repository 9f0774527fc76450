// SPDX-License-Identifier: LGPL-2.1-or-later
#include "child-process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Start a program. Search also in /sbin, which contains modprobe but is not in the PATH of every
 * user.
 */
static int child_spawn(pid_t *ret_pid, const posix_spawn_file_actions_t *actions, char **argv)
{
	char path[64];
	int error = posix_spawnp(ret_pid, argv[0], actions, NULL, argv, environ);

	if (error != ENOENT)
		return -error;
	snprintf(path, sizeof(path), "/sbin/%s", argv[0]);
	return -posix_spawn(ret_pid, path, actions, NULL, argv, environ);
}

static int wait_for_exit(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int child_run_and_wait(char **argv)
{
	pid_t pid;
	int r = child_spawn(&pid, NULL, argv);

	return r < 0 ? r : wait_for_exit(pid);
}

/* Start @argv with its standard output written to @output, and its standard error discarded. */
static int spawn_with_output(pid_t *ret_pid, int output, char **argv)
{
	posix_spawn_file_actions_t actions;
	int r = -posix_spawn_file_actions_init(&actions);

	if (r < 0)
		return r;
	r = -posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!r)
		r = -posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
						      O_WRONLY, 0);
	if (!r)
		r = child_spawn(ret_pid, &actions, argv);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

int child_start_with_output(char **argv, struct spawned_process *ret_program)
{
	struct spawned_process program;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	program.output = fdopen(fds[0], "re");
	if (!program.output) {
		r = -errno;
		close(fds[0]);
		close(fds[1]);
		return r;
	}
	r = spawn_with_output(&program.pid, fds[1], argv);
	close(fds[1]);
	if (r < 0)
		fclose(program.output);
	else
		*ret_program = program;
	return r;
}

int child_finish(struct spawned_process *program)
{
	fclose(program->output);
	return wait_for_exit(program->pid);
}
