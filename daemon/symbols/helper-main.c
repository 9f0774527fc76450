// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof-symbols: names functions and source lines for speprofd and speprof, which hand
 * it open files. It reads them where it can do no harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "object.h"
#include "sandbox.h"
#include "speprof-version.h"

#define LINK_FD	   3
#define CPU_CALL_S 10 /* of one request: SIGPROF ends the process */
#define CPU_LIFE_S 300 /* after this it asks for another in its place, between two requests */

struct helper {
	struct object object[SYMBOL_SLOTS];
	struct answer answer;
	u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];
	union {
		struct symbol_request request;
		u64 bytes[SYMBOL_MESSAGE_MAX / sizeof(u64)];
	};
};

/* One packet, and the descriptor that came with it, or -1; 0 at the end. */
static ssize_t request_receive(struct helper *h, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = h->bytes, .iov_len = sizeof(h->bytes) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(LINK_FD, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	*ret_fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : n;
}

static void send_bytes(void *bytes, size_t size)
{
	struct iovec iov = { .iov_base = bytes, .iov_len = size };
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (sendmsg(LINK_FD, &msg, MSG_NOSIGNAL) != (ssize_t)size)
		_exit(EX_IOERR);
}

static void reply_object(struct helper *h, int error, const struct symbol_object *known)
{
	struct symbol_reply *reply = (void *)h->reply;

	*reply = (struct symbol_reply){
		.type = h->request.type,
		.serial = h->request.serial,
		.error = error,
	};
	if (!error)
		memcpy(reply + 1, known, sizeof(*known));
	send_bytes(reply, sizeof(*reply) + (error ? 0 : sizeof(*known)));
}

static void answer_request(struct helper *h, int fd)
{
	const struct symbol_request *request = &h->request;
	struct object *object = &h->object[request->slot];
	struct symbol_object known = { 0 };
	int r;

	if (request->type == SYMBOL_OPEN || request->type == SYMBOL_ATTACH) {
		r = request->type == SYMBOL_OPEN ? object_open(object, request->what, fd, &known) :
						   object_attach(object, request->what, fd, &known);
		reply_object(h, r, &known);
		return;
	}
	if (object->fd < 0) {
		reply_object(h, -ENOENT, NULL);
		return;
	}
	if (request->type == SYMBOL_FIND)
		object_find(object, request->address, request->count, &h->answer);
	else
		object_lines(object, request->address, request->count, &h->answer);
	send_bytes(h->reply, answer_finish(&h->answer, request, h->reply));
}

static void __attribute__((noreturn)) serve(struct helper *h)
{
	const struct itimerval call = { .it_value.tv_sec = CPU_CALL_S }, none = { 0 };
	struct symbol_hello hello = { .version = SYMBOL_VERSION };
	struct timespec used;

	send_bytes(&hello, sizeof(hello));
	for (;;) {
		int fd;
		ssize_t n = request_receive(h, &fd);

		if (n <= 0)
			_exit(n ? EX_IOERR : 0);
		if (symbol_request_check(&h->request, (size_t)n, fd >= 0) < 0)
			_exit(EX_PROTOCOL);
		setitimer(ITIMER_PROF, &call, NULL);
		answer_request(h, fd);
		setitimer(ITIMER_PROF, &none, NULL);
		if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) && used.tv_sec >= CPU_LIFE_S)
			_exit(0);
	}
}

int main(int argc, char **argv)
{
	struct helper *h;
	int type, r;
	socklen_t size = sizeof(type);

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("speprof-symbols " SPEPROF_VERSION);
		return 0;
	}
	if (getsockopt(LINK_FD, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_SEQPACKET) {
		fputs("speprof-symbols: is started by speprofd and speprof, to read what they "
		      "open\n",
		      stderr);
		return EX_USAGE;
	}
	h = calloc(1, sizeof(*h));
	if (!h)
		return EX_OSERR;
	for (u32 i = 0; i < SYMBOL_SLOTS; i++)
		h->object[i] = (struct object){ .fd = -1, .debug_fd = -1, .alt_fd = -1 };
	if (argc == 2 && !strcmp(argv[1], "--idle"))
		sandbox_yield();
	r = sandbox_enter(LINK_FD);
	if (r < 0) {
		struct symbol_hello hello = { .version = 0, .error = (u32)-r };

		send_bytes(&hello, sizeof(hello));
		return EX_NOPERM;
	}
	serve(h);
}
