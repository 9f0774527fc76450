// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbol-link.h"
#include "sandbox-host.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER	     "speprof-symbols"
#define HELPER_FD    3
#define CALL_MS	     60000 /* it may have to wait for a CPU all that time, being idle's */
#define BACKOFF_MS   100
#define BACKOFF_TOP  60000
#define REAP_TRIES   20
#define REAP_WAIT_US 1000

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

/* Beside this program, as in a build tree, or where it is installed. */
static void find_helper(struct symbol_link *link)
{
	const char *named = secure_getenv("SPEPROF_SYMBOLS");
	char *path = link->path, *slash;
	ssize_t n;

	if (named) {
		snprintf(link->path, sizeof(link->path), "%s", named);
		return;
	}
	n = readlink("/proc/self/exe", link->path, sizeof(link->path) - sizeof(HELPER));
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		memcpy(slash + 1, HELPER, sizeof(HELPER));
		if (!access(path, X_OK))
			return;
	}
	snprintf(link->path, sizeof(link->path), "%s", SPEPROF_LIBEXECDIR "/" HELPER);
}

void symbol_link_init(struct symbol_link *link, const char *path, bool idle)
{
	*link = (struct symbol_link){
		.idle = idle, .call_ms = CALL_MS, .stop = -1, .fd = -1, .pid = -1, .gone = -1
	};
	if (path)
		snprintf(link->path, sizeof(link->path), "%s", path);
	else
		find_helper(link);
}

/* One that waits for a file system that does not answer cannot end yet, and is not waited for. */
static void reap(struct symbol_link *link)
{
	if (link->pid < 0)
		return;
	kill(link->pid, SIGKILL);
	for (u32 n = 0; n < REAP_TRIES; n++) {
		if (waitpid(link->pid, NULL, WNOHANG) != 0) {
			link->pid = -1;
			return;
		}
		usleep(REAP_WAIT_US << (n < 8 ? n : 8));
	}
	if (link->gone >= 0)
		waitpid(link->gone, NULL, WNOHANG);
	link->gone = link->pid;
	link->pid = -1;
}

void symbol_link_end(struct symbol_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	reap(link);
}

void symbol_link_deinit(struct symbol_link *link)
{
	symbol_link_end(link);
	if (link->gone >= 0)
		waitpid(link->gone, NULL, WNOHANG);
}

/* What it did was its last: the next one comes later each time. */
static int link_failed(struct symbol_link *link, int error)
{
	symbol_link_end(link);
	link->failures++;
	link->backoff_ms = link->backoff_ms ? link->backoff_ms * 2 : BACKOFF_MS;
	if (link->backoff_ms > BACKOFF_TOP)
		link->backoff_ms = BACKOFF_TOP;
	link->not_before_ms = now_ms() + link->backoff_ms;
	return error;
}

/* Without this one's environment, signals and descriptors. */
static int spawn(struct symbol_link *link, int socket)
{
	char name[] = HELPER, idle[] = "--idle";
	char *const argv[] = { name, link->idle ? idle : NULL, NULL };
	char *none[] = { NULL, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all, empty;
	int r;

	if (SANITIZED)
		none[0] = "ASAN_OPTIONS=detect_leaks=0";
	sigfillset(&all);
	sigemptyset(&empty);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, socket, HELPER_FD);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &empty);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(&link->pid, link->path, &actions, &attr, argv, none);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		link->pid = -1;
	return -r;
}

/* A packet of at most @size bytes. */
static ssize_t receive(struct symbol_link *link, void *buf, size_t size, u32 ms)
{
	u64 end = now_ms() + ms, now;
	struct pollfd fds[] = {
		{ .fd = link->fd, .events = POLLIN },
		{ .fd = link->stop, .events = POLLIN },
	};
	ssize_t n;

	do {
		now = now_ms();
		n = poll(fds, ARRAY_SIZE(fds), now < end ? (int)(end - now) : 0);
	} while (n < 0 && errno == EINTR);
	if (n <= 0 || !fds[0].revents)
		return n ? -EPIPE : -ETIMEDOUT;
	/* Descriptors are not received: there is no room for one. */
	n = recv(link->fd, buf, size, MSG_TRUNC | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return -EPIPE;
	return (size_t)n > size ? -EBADMSG : n;
}

static int hello_receive(struct symbol_link *link)
{
	struct symbol_hello hello;
	ssize_t n = receive(link, &hello, sizeof(hello), link->call_ms);

	if (n < 0) {
		snprintf(link->reason, sizeof(link->reason), "%s ends before it begins", HELPER);
		return (int)n;
	}
	if (n == sizeof(hello) && hello.version == SYMBOL_VERSION) {
		*link->reason = '\0';
		return 0;
	}
	if (n == sizeof(hello) && !hello.version)
		snprintf(link->reason, sizeof(link->reason), "%s cannot be locked up here: %s",
			 HELPER, strerror((int)hello.error));
	else
		snprintf(link->reason, sizeof(link->reason), "%s is of another version: %.120s",
			 HELPER, link->path);
	return -EPERM;
}

int symbol_link_ready(struct symbol_link *link)
{
	int pair[2], r;

	if (link->fd >= 0)
		return 0;
	if (link->not_before_ms > now_ms())
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* dup2() of a descriptor to itself would leave it closed on exec. */
	if (pair[1] == HELPER_FD) {
		int other = fcntl(pair[1], F_DUPFD_CLOEXEC, HELPER_FD + 1);

		close(pair[1]);
		pair[1] = other;
	}
	link->fd = pair[0];
	link->life++;
	r = pair[1] < 0 ? -errno : spawn(link, pair[1]);
	if (pair[1] >= 0)
		close(pair[1]);
	if (r < 0)
		snprintf(link->reason, sizeof(link->reason), "%.128s cannot be run: %s", link->path,
			 strerror(-r));
	else
		r = hello_receive(link);
	return r < 0 ? link_failed(link, r) : 0;
}

static int request_send(const struct symbol_link *link, const struct symbol_request *request,
			int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec iov = {
		/* sendmsg() does not write to it. */
		.iov_base = (void *)(uintptr_t)request,
		.iov_len = sizeof(*request) + request->count * sizeof(*request->address),
	};
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(link->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -EPIPE : 0;
}

int symbol_link_call(struct symbol_link *link, struct symbol_request *request, int fd,
		     const struct symbol_reply **ret_reply)
{
	const struct symbol_reply *reply = (const void *)link->reply;
	ssize_t n;
	int r;

	if (link->fd < 0)
		return -EPIPE;
	request->serial = ++link->serial;
	r = request_send(link, request, fd);
	if (r < 0)
		return link_failed(link, r);
	n = receive(link, link->reply, sizeof(link->reply), link->call_ms);
	if (n < 0)
		return link_failed(link, (int)n);
	if (symbol_reply_check(request, reply, (size_t)n) < 0)
		return link_failed(link, -EBADMSG);
	link->backoff_ms = 0;
	/* Errors of its own are its end; those of files are another kind. */
	if (reply->error)
		return symbol_link_died(reply->error) ? -EIO : reply->error;
	*ret_reply = reply;
	return 0;
}
