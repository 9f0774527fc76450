// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run a command on the first CPUs that this process may use, and print its elapsed seconds and its
 * largest resident set in KiB. The kernel counts the memory of the process that starts a command as
 * the command's own. This process is small, so that it does not matter.
 * usage: run-command CPUS COMMAND [ARGUMENT...]
 *
 * The command's output is discarded. The exit status is 1 if the command fails.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void use_first_cpus(int count)
{
	cpu_set_t all, first;

	CPU_ZERO(&first);
	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		exit(EXIT_FAILURE);
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) < count; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &first);
	if (sched_setaffinity(0, sizeof(first), &first) < 0)
		exit(EXIT_FAILURE);
}

static void run_command(char **command)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	execvp(command[0], command);
	_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct timespec began, ended;
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 3 || atoi(argv[1]) < 1)
		return EXIT_FAILURE;
	use_first_cpus(atoi(argv[1]));
	clock_gettime(CLOCK_MONOTONIC, &began);
	pid = fork();
	if (!pid)
		run_command(argv + 2);
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status) {
		fprintf(stderr, "run-command: %s failed\n", argv[2]);
		return EXIT_FAILURE;
	}
	clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("%.6f %ld\n",
	       (double)(ended.tv_sec - began.tv_sec) +
		       1e-9 * (double)(ended.tv_nsec - began.tv_nsec),
	       usage.ru_maxrss);
	return EXIT_SUCCESS;
}
