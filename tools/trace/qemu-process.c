// SPDX-License-Identifier: LGPL-2.1-or-later
#include "qemu-process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child-process.h"

#define PIPE_BYTES_START 4096
#define PIPE_BYTES_FULL	 (1U << 20)
/* Number of the descriptor by which QEMU opens its log; the emulated program does not use it. */
#define LOG_FD 200

/* Maximum number of QEMU's own arguments; those of the program follow. */
#define ARGUMENTS_MAX 12

/* Debian's package qemu-user-static, and the name of the same program elsewhere. */
static const char *const names[] = { "qemu-aarch64-static", "qemu-aarch64" };

int qemu_check_program(const char *path)
{
	Elf64_Ehdr head = { .e_machine = 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, &head, sizeof(head));
	n = n < 0 ? -errno : n;
	close(fd);
	if (n < 0)
		return (int)n;
	return n == sizeof(head) && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
			       head.e_ident[EI_CLASS] == ELFCLASS64 &&
			       head.e_ident[EI_DATA] == ELFDATA2LSB &&
			       head.e_machine == EM_AARCH64 ?
		       0 :
		       -ENOEXEC;
}

/* Find the option of the installed QEMU that makes each translation block one instruction. */
static int qemu_find_option(const char *name, const char **ret_option)
{
	char *argv[] = { (char *)name, (char *)"-help", NULL };
	const char *option = "-singlestep";
	struct spawned_process program;
	char line[256];
	int r = child_start_with_output(argv, &program);

	if (r < 0)
		return r;
	while (fgets(line, sizeof(line), program.output))
		if (strstr(line, "-one-insn-per-tb"))
			option = "-one-insn-per-tb";
	r = child_finish(&program);
	if (r == 0 || r == -EIO)
		*ret_option = option;
	return r == -EIO ? 0 : r;
}

/*
 * Make fork() fail in the program. A child would write to the same log, and would continue after
 * QEMU was killed.
 */
static int forks_deny(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!filter)
		return -ENOMEM;
	r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			     SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
	/* -EDOM: this architecture has only clone(), so this rule is not needed. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fork), 0);
	if (r == 0 || r == -EDOM)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(vfork), 0);
	if (r == -EDOM)
		r = 0;
	/*
	 * The flags of clone3() are in memory, which a filter cannot read. After ENOSYS, the C
	 * library calls clone().
	 */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

static void __attribute__((noreturn))
exec_qemu(const char *name, const char *option, char **argv, int log, pid_t parent)
{
	const char *args[ARGUMENTS_MAX] = { name,	   option, "-cpu",
					    "neoverse-n1", "-d",   "in_asm,exec,cpu,nochain,page",
					    "-D" };
	char path[32], **all;
	size_t count = 0, fixed = 7;

	while (argv[count])
		count++;
	all = calloc(count + ARGUMENTS_MAX, sizeof(*all));
	log = fcntl(log, F_DUPFD, LOG_FD);
	if (!all || log < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    forks_deny() < 0)
		_exit(127);
	/* execvp() does not reset an ignored signal, and SIGINT must end the program. */
	signal(SIGINT, SIG_DFL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", log);
	args[fixed++] = path;
	memcpy(all, args, fixed * sizeof(*all));
	memcpy(all + fixed, argv, count * sizeof(*all));
	execvp(name, all);
	_exit(127);
}

int qemu_start(char **argv, struct qemu_process *ret_process)
{
	const char *option = NULL, *name = NULL;
	pid_t parent = getpid(), pid;
	int fds[2], r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(names) && r == -ENOENT; i++) {
		name = names[i];
		r = qemu_find_option(name, &option);
	}
	if (r < 0)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	/* If the pipe cannot be made smaller, the only effect is that QEMU runs further ahead. */
	fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES_START);
	pid = fork();
	if (pid == 0)
		exec_qemu(name, option, argv, fds[1], parent);
	r = -errno;
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return r;
	}
	*ret_process = (struct qemu_process){ .pid = pid, .log = fds[0] };
	return 0;
}

void qemu_enlarge_pipe(const struct qemu_process *process)
{
	fcntl(process->log, F_SETPIPE_SZ, PIPE_BYTES_FULL);
}

void qemu_kill(const struct qemu_process *process)
{
	kill(process->pid, SIGKILL);
}

int qemu_finish(struct qemu_process *process)
{
	int status = 0;

	close(process->log);
	while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	*process = (struct qemu_process){ .log = -1 };
	return status;
}
