// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof-symbols: names functions and source lines for speprofd and speprof. One process of it
 * opens files, with the rights of who started it. Another reads them, where it can do no harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sysexits.h>
#include <unistd.h>

#include "object.h"
#include "opener.h"
#include "sandbox.h"
#include "speprof-version.h"

#define LINK_FD	   3
#define HAND_FD	   4 /* between the one that opens and the one that reads */
#define CPU_CALL_S 10 /* of one request: SIGPROF ends the process */

struct helper {
	struct object object[SYMBOL_SLOTS];
	struct reply_builder builder;
	u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];
	union {
		struct symbol_request request;
		u64 bytes[SYMBOL_MESSAGE_MAX / sizeof(u64)];
	};
};

/* One packet, and the descriptor that came with it, or -1; 0 at the end. */
static ssize_t packet_receive(int socket, void *bytes, size_t size, int flags, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = bytes, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | flags);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	*ret_fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : n;
}

/* The descriptor that the opener has handed over; -1 if there is none. */
static int handed_receive(void)
{
	char byte;
	int fd;

	return packet_receive(HAND_FD, &byte, sizeof(byte), MSG_DONTWAIT, &fd) > 0 ? fd : -1;
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

static void reply_builder_request(struct helper *h, int fd)
{
	const struct symbol_request *request = &h->request;
	struct object *object = &h->object[request->slot];
	struct symbol_object known = { 0 };
	int r;

	if ((request->type == SYMBOL_OPEN || request->type == SYMBOL_ATTACH) && fd < 0) {
		reply_object(h, -EBADF, NULL);
		return;
	}
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
		object_find(object, request->address, request->count, &h->builder);
	else
		object_lines(object, request->address, request->count, &h->builder);
	send_bytes(h->reply, reply_builder_finish(&h->builder, request, h->reply));
}

static void __attribute__((noreturn)) serve(struct helper *h)
{
	const struct itimerval call = { .it_value.tv_sec = CPU_CALL_S }, none = { 0 };
	struct symbol_hello hello = { .version = SYMBOL_VERSION };

	send_bytes(&hello, sizeof(hello));
	for (;;) {
		int fd;
		ssize_t n = packet_receive(LINK_FD, h->bytes, sizeof(h->bytes), 0, &fd);

		if (n <= 0)
			_exit(n ? EX_IOERR : 0);
		if (symbol_request_check(&h->request, (size_t)n, fd >= 0) < 0)
			_exit(EX_PROTOCOL);
		if (h->request.handed)
			fd = handed_receive();
		setitimer(ITIMER_PROF, &call, NULL);
		reply_builder_request(h, fd);
		setitimer(ITIMER_PROF, &none, NULL);
	}
}

static bool is_link(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) >= 0 && type == SOCK_SEQPACKET;
}

static void __attribute__((noreturn)) refuse(int error)
{
	struct symbol_hello hello = { .version = 0, .error = (u32)-error };

	send_bytes(&hello, sizeof(hello));
	_exit(EX_NOPERM);
}

static void __attribute__((noreturn)) open_files(void)
{
	struct symbol_hello hello = { .version = SYMBOL_VERSION };
	int r = sandbox_enter_opener(HAND_FD);

	if (r < 0)
		refuse(r);
	send_bytes(&hello, sizeof(hello));
	opener_serve(LINK_FD, HAND_FD);
}

static void __attribute__((noreturn)) read_files(void)
{
	struct helper *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		refuse(-ENOMEM);
	for (u32 i = 0; i < SYMBOL_SLOTS; i++)
		h->object[i] = (struct object){ .fd = -1, .debug_fd = -1, .alt_fd = -1 };
	r = sandbox_enter(HAND_FD);
	if (r < 0)
		refuse(r);
	serve(h);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("speprof-symbols " SPEPROF_VERSION);
		return 0;
	}
	if (argc < 2 || !is_link(LINK_FD) || !is_link(HAND_FD)) {
		fputs("speprof-symbols: is started by speprofd and speprof, to open and read "
		      "files\n",
		      stderr);
		return EX_USAGE;
	}
	if (argc == 3 && !strcmp(argv[2], "--idle"))
		sandbox_yield();
	if (!strcmp(argv[1], "--open"))
		open_files();
	read_files();
}
