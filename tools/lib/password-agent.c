// SPDX-License-Identifier: LGPL-2.1-or-later
#include "password-agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT_PROGRAM "pkttyagent"

/*
 * Milliseconds within which the agent must have registered. If it has not, no password is
 * requested.
 */
#define AGENT_READY_MS 5000

static _Noreturn void run_agent(pid_t parent, int notify)
{
	char option[32];

	/* The agent must end with this process, even if this process is killed. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(1);
	snprintf(option, sizeof(option), "--notify-fd=%d", notify);
	/* The caller prints polkit's answer, and errors of the agent would only repeat it. */
	if (!freopen("/dev/null", "w", stderr))
		_exit(1);
	execlp(AGENT_PROGRAM, AGENT_PROGRAM, option, "--fallback", NULL);
	_exit(127);
}

pid_t password_agent_start(void)
{
	pid_t parent = getpid(), agent;
	struct pollfd ready = { .events = POLLIN };
	int fds[2];

	if (geteuid() == 0 || !isatty(STDIN_FILENO) || pipe(fds) < 0)
		return 0;
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	agent = fork();
	if (agent == 0)
		run_agent(parent, fds[1]);
	close(fds[1]);
	ready.fd = fds[0];
	/* The agent writes a byte after it has registered; end of file means that it failed. */
	while (agent > 0 && poll(&ready, 1, AGENT_READY_MS) < 0 && errno == EINTR)
		;
	close(fds[0]);
	return agent > 0 ? agent : 0;
}

void password_agent_stop(pid_t agent)
{
	if (agent <= 0)
		return;
	/* After SIGTERM the agent restores the terminal's settings. */
	kill(agent, SIGTERM);
	kill(agent, SIGCONT);
	while (waitpid(agent, NULL, 0) < 0 && errno == EINTR)
		;
}
