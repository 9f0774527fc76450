/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "demo-stage.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/message.h"

/* The daemon's rules of names know this one: what is below it is a container. */
#define CGROUP_PARENT "speprof-demo"

#define READY_MS 20000
#define END_MS	 5000

/* The bus's own configuration, so that no file of the system decides. */
static const char bus_config[] =
	"<busconfig><type>session</type><listen>%s</listen><auth>EXTERNAL</auth>"
	"<policy context=\"default\"><allow own=\"*\"/><allow send_destination=\"*\"/>"
	"<allow receive_sender=\"*\"/></policy></busconfig>\n";

/* All but the command's own name, and the folder it is in. */
static int find_build(struct stage *stage)
{
	char path[STAGE_PATH];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		return say_fail(STATUS_FAILED, "demo: /proc/self/exe: %s", strerror(errno));
	path[n] = '\0';
	snprintf(stage->build, sizeof(stage->build), "%s", dirname(dirname(path)));
	return STATUS_OK;
}

static int catch_signals(struct stage *stage)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGQUIT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	stage->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (stage->signals < 0)
		return say_fail(STATUS_FAILED, "demo: signalfd: %s", strerror(errno));
	return STATUS_OK;
}

/* Wait for @fd, -1 for none; 1: readable or closed, 0: time is up, -EINTR: a signal. */
static int stage_poll(struct stage *stage, int fd, int ms)
{
	struct pollfd fds[] = {
		{ .fd = stage->signals, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	int r = poll(fds, ARRAY_SIZE(fds), ms);

	if (r < 0)
		return -errno;
	if (fds[0].revents && read(stage->signals, &info, sizeof(info)) == sizeof(info)) {
		stage->signal = (int)info.ssi_signo;
		return -EINTR;
	}
	return fds[1].revents != 0;
}

u64 stage_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

bool stage_sleep(struct stage *stage, u64 until_ns)
{
	u64 now = stage_now();
	int ms = until_ns > now ? (int)((until_ns - now + 999999) / 1000000) : 0;

	return stage_poll(stage, -1, ms) != -EINTR;
}

/* Where cgroups of version 2 are, on their own or beside version 1. */
static bool find_cgroups(char *ret_path)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	bool found = false;

	while (mounts && !found && (entry = getmntent(mounts))) {
		found = !strcmp(entry->mnt_type, "cgroup2") && strlen(entry->mnt_dir) < 128;
		if (found)
			strcpy(ret_path, entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

static void cgroups_up(struct stage *stage)
{
	char mount[128];

	if (!find_cgroups(mount)) {
		puts("The programs get no cgroups of their own: version 2 is not mounted here.");
		return;
	}
	snprintf(stage->cgroup, sizeof(stage->cgroup), "%s/" CGROUP_PARENT, mount);
	if (mkdir(stage->cgroup, 0755) == 0 || errno == EEXIST)
		return;
	printf("The programs get no cgroups of their own: %s: %s.\n", stage->cgroup,
	       strerror(errno));
	stage->cgroup[0] = '\0';
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), r = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n != (ssize_t)strlen(text))
		r = n < 0 ? -errno : -EIO;
	close(fd);
	return r;
}

static int bus_up(struct stage *stage)
{
	char config[STAGE_PATH + 16], option[STAGE_PATH + 32],
		text[sizeof(bus_config) + STAGE_PATH];
	const char *argv[] = { "dbus-daemon",	    option, "--nofork", "--nopidfile",
			       "--print-address=1", NULL };
	const char *parent = getenv("TMPDIR");
	struct stage_process *bus;
	int r;

	/* A socket's path is short (unix(7)). */
	if (!parent || !*parent || strlen(parent) > 64)
		parent = "/tmp";
	snprintf(stage->directory, sizeof(stage->directory), "%s/speprof-demo.XXXXXX", parent);
	if (!mkdtemp(stage->directory)) {
		stage->directory[0] = '\0';
		return say_fail(STATUS_FAILED, "demo: no directory in %s: %s", parent,
				strerror(errno));
	}
	snprintf(stage->address, sizeof(stage->address), "unix:path=%.200s/bus", stage->directory);
	snprintf(config, sizeof(config), "%s/bus.conf", stage->directory);
	snprintf(text, sizeof(text), bus_config, stage->address);
	snprintf(option, sizeof(option), "--config-file=%s", config);
	r = write_file(config, text);
	if (r < 0)
		return say_fail(STATUS_FAILED, "demo: %s: %s", config, strerror(-r));
	/* It complains of limits that it may not raise; how it ends is said here. */
	return stage_start(stage, NULL, argv, STAGE_READY | STAGE_QUIET, &bus);
}

int stage_up(struct stage *stage)
{
	int status;

	*stage = (struct stage){ .signals = -1 };
	status = find_build(stage);
	if (!status)
		status = catch_signals(stage);
	if (!status)
		status = bus_up(stage);
	if (!status)
		cgroups_up(stage);
	return status;
}

/* Into a cgroup of its own; where that may not be, it stays where this process is. */
static void cgroup_enter(struct stage *stage, struct stage_process *process)
{
	char procs[STAGE_PATH + 16], pid[16];
	int r = 0;

	snprintf(process->cgroup, sizeof(process->cgroup), "%.200s/demo-%.32s", stage->cgroup,
		 process->name);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", process->cgroup);
	snprintf(pid, sizeof(pid), "%d", process->pid);
	/* One that a run left which was killed is empty, and as good. */
	if (mkdir(process->cgroup, 0755) < 0 && errno != EEXIST)
		r = -errno;
	if (!r)
		r = write_file(procs, pid);
	if (!r)
		return;
	printf("%s gets no cgroup of its own: %s: %s.\n", process->name, process->cgroup,
	       strerror(-r));
	rmdir(process->cgroup);
	process->cgroup[0] = '\0';
}

__attribute__((noreturn)) static void child_run(int out, const char *path, const char *const argv[],
						u32 flags, pid_t parent)
{
	sigset_t none;

	/* Whatever becomes of this command, nothing of the stage outlives it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* ^C is for the command, which ends its children in order. */
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	if (flags & STAGE_QUIET)
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	execvp(path, (char *const *)argv);
	_exit(127);
}

static int wait_ready(struct stage *stage, struct stage_process *process)
{
	char line[256];
	int r = stage_poll(stage, process->out, READY_MS), status = 0;

	if (r == -EINTR)
		return STATUS_FAILED;
	if (r > 0 && read(process->out, line, sizeof(line)) > 0)
		return STATUS_OK;
	if (r <= 0)
		return say_fail(STATUS_FAILED, "demo: %s is not ready after %d s", process->name,
				READY_MS / 1000);
	while (!stage_ended(process, &status))
		usleep(1000);
	if (status == 127)
		return say_fail(STATUS_FAILED, "demo: %s could not be executed: is it %s?",
				process->name, strchr(process->name, '-') ? "installed" : "built");
	return say_fail(STATUS_FAILED, "demo: %s ended with status %d", process->name, status);
}

int stage_start(struct stage *stage, const char *program, const char *const argv[], u32 flags,
		struct stage_process **ret_process)
{
	struct stage_process *process = &stage->process[stage->processes];
	char path[STAGE_PATH * 2];
	int out[2] = { -1, -1 };
	pid_t parent = getpid();

	snprintf(path, sizeof(path), program ? "%s/%s" : "%.0s%s", stage->build,
		 program ? program : argv[0]);
	if (program && access(path, X_OK) < 0)
		return say_fail(STATUS_FAILED, "demo: %s: %s; it runs from a build tree only", path,
				strerror(errno));
	*process = (struct stage_process){ .name = argv[0], .out = -1 };
	if (flags & STAGE_READY && pipe2(out, O_CLOEXEC) < 0)
		return say_fail(STATUS_FAILED, "demo: pipe: %s", strerror(errno));
	fflush(NULL);
	stage->processes++;
	process->pid = fork();
	if (process->pid == 0)
		child_run(out[1], path, argv, flags, parent);
	if (flags & STAGE_READY)
		close(out[1]);
	process->out = out[0];
	if (process->pid < 0)
		return say_fail(STATUS_FAILED, "demo: fork: %s", strerror(errno));
	if (flags & STAGE_CGROUP && stage->cgroup[0])
		cgroup_enter(stage, process);
	*ret_process = process;
	return flags & STAGE_READY ? wait_ready(stage, process) : STATUS_OK;
}

bool stage_ended(struct stage_process *process, int *ret_status)
{
	int status;

	if (process->pid <= 0 || waitpid(process->pid, &status, WNOHANG) != process->pid)
		return false;
	process->pid = 0;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

static void process_end(struct stage_process *process)
{
	int status;

	if (process->pid > 0) {
		kill(process->pid, SIGTERM);
		for (int ms = 0; ms < END_MS && !stage_ended(process, &status); ms += 5)
			usleep(5000);
	}
	if (process->pid > 0) {
		kill(process->pid, SIGKILL);
		waitpid(process->pid, &status, 0);
		process->pid = 0;
	}
	if (process->out >= 0)
		close(process->out);
	if (process->cgroup[0])
		rmdir(process->cgroup);
}

static void directory_remove(struct stage *stage)
{
	static const char *const files[] = { "bus", "bus.conf" };
	char path[STAGE_PATH + 16];

	if (!stage->directory[0])
		return;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", stage->directory, files[i]);
		unlink(path);
	}
	rmdir(stage->directory);
}

void stage_down(struct stage *stage)
{
	sigset_t mask;

	/* In reverse: the bus was there first. */
	while (stage->processes)
		process_end(&stage->process[--stage->processes]);
	if (stage->cgroup[0])
		rmdir(stage->cgroup);
	directory_remove(stage);
	if (stage->signals >= 0)
		close(stage->signals);
	if (!stage->signal)
		return;
	/* Who waits for this process should see what ended it. */
	fflush(NULL);
	sigemptyset(&mask);
	sigaddset(&mask, stage->signal);
	signal(stage->signal, SIG_DFL);
	raise(stage->signal);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}
