// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof-symbols: finds names of functions and source lines for speprofd and speprof. It runs as
 * two processes: the opener opens files, with the privileges of the program that started it; the
 * reader, in a sandbox without privileges, parses them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sysexits.h>
#include <unistd.h>

#include "disassembler.h"
#include "reader-file.h"
#include "opener.h"
#include "sandbox.h"
#include "speprof-version.h"
#include "symbols/symbol-folders.h"

#define LINK_FD	   3
#define PEER_FD	   4 /* socket between opener and reader */
#define CPU_CALL_S 10 /* CPU time of a request in seconds; after that SIGPROF kills the process */

/* The state of the reader: the file in each slot, and buffers for a request and its reply */
struct reader_state {
	struct reader_file object[SYMBOL_SLOTS];
	struct reply_builder builder;
	u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];
	union {
		struct symbol_request request;
		u64 bytes[SYMBOL_MESSAGE_MAX / sizeof(u64)];
	};
};

/*
 * Receive a packet and its descriptor, which is -1 if there is none. Returns 0 if the peer has
 * closed the socket.
 */
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

/* Receive the descriptor that the opener has passed on; -1 if there is none. */
static int receive_opened_file(void)
{
	char byte;
	int fd;

	return packet_receive(PEER_FD, &byte, sizeof(byte), MSG_DONTWAIT, &fd) > 0 ? fd : -1;
}

static void send_or_exit(const void *bytes, size_t size)
{
	if (symbol_message_send(LINK_FD, bytes, size, -1, 0) < 0)
		_exit(EX_IOERR);
}

static void send_content_reply(struct reader_state *reader, int error,
			       const struct symbol_file_content *known)
{
	struct symbol_reply *reply = (void *)reader->reply;

	*reply = (struct symbol_reply){
		.type = reader->request.type,
		.serial = reader->request.serial,
		.error = error,
	};
	if (!error)
		memcpy(reply + 1, known, sizeof(*known));
	send_or_exit(reply, sizeof(*reply) + (error ? 0 : sizeof(*known)));
}

static void request_serve(struct reader_state *reader, int fd)
{
	const struct symbol_request *request = &reader->request;
	struct reader_file *object = &reader->object[request->slot];
	struct symbol_file_content known = { 0 };
	int r;

	if ((request->type == SYMBOL_OPEN || request->type == SYMBOL_ATTACH) && fd < 0) {
		send_content_reply(reader, -EBADF, NULL);
		return;
	}
	if (request->type == SYMBOL_OPEN || request->type == SYMBOL_ATTACH) {
		r = request->type == SYMBOL_OPEN ?
			    reader_file_open(object, request->subtype, fd, &known) :
			    reader_file_attach(object, request->subtype, fd, &known);
		send_content_reply(reader, r, &known);
		return;
	}
	if (object->fd < 0) {
		send_content_reply(reader, -ENOENT, NULL);
		return;
	}
	if (request->type == SYMBOL_FIND)
		reader_file_add_functions(object, request->address, request->count,
					  &reader->builder);
	else if (request->type == SYMBOL_LINES)
		reader_file_add_lines(object, request->address, request->count, &reader->builder);
	else if (request->type == SYMBOL_LINKAGE)
		reader_file_add_linkage(object, request->address, request->count, &reader->builder);
	else if (request->type == SYMBOL_FRAMES)
		reader_file_add_frames(object, request->address, request->count, &reader->builder);
	else
		reader_file_add_instructions(object, request->address[0], request->address[1],
					     &reader->builder);
	if (!reader->builder.done) {
		send_content_reply(reader, -ENODATA, NULL);
		return;
	}
	send_or_exit(reader->reply, reply_builder_finish(&reader->builder, request, reader->reply));
}

static void __attribute__((noreturn)) reader_serve(struct reader_state *reader)
{
	const struct itimerval call = { .it_value.tv_sec = CPU_CALL_S }, none = { 0 };
	struct symbol_hello hello = { .version = SYMBOL_VERSION };

	send_or_exit(&hello, sizeof(hello));
	for (;;) {
		int fd;
		ssize_t n = packet_receive(LINK_FD, reader->bytes, sizeof(reader->bytes), 0, &fd);

		if (n <= 0)
			_exit(n ? EX_IOERR : 0);
		if (symbol_request_check(&reader->request, (size_t)n, fd >= 0) < 0)
			_exit(EX_PROTOCOL);
		if (reader->request.from_opener)
			fd = receive_opened_file();
		setitimer(ITIMER_PROF, &call, NULL);
		request_serve(reader, fd);
		setitimer(ITIMER_PROF, &none, NULL);
	}
}

static bool fd_is_packet_socket(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) >= 0 && type == SOCK_SEQPACKET;
}

/* Report that the sandbox cannot be entered, and exit. */
static void __attribute__((noreturn)) exit_with_start_error(int error)
{
	struct symbol_hello hello = { .version = 0, .error = (u32)-error };

	send_or_exit(&hello, sizeof(hello));
	_exit(EX_NOPERM);
}

/* Open a directory that the caller has named; a helper without it must not start. */
static int folder_open(const char *path)
{
	int fd = FOLDER_NONE;

	if (path)
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (path && fd < 0)
		exit_with_start_error(-errno);
	return fd;
}

static void __attribute__((noreturn)) run_opener(const struct symbol_folders *named)
{
	struct symbol_hello hello = { .version = SYMBOL_VERSION };
	struct file_folders folders;
	int r = sandbox_enter_opener(PEER_FD);

	if (r < 0)
		exit_with_start_error(r);
	folders.symfs = folder_open(named->symfs);
	folders.debug_dir = folder_open(named->debug_dir);
	send_or_exit(&hello, sizeof(hello));
	opener_serve(LINK_FD, PEER_FD, &folders);
}

static void __attribute__((noreturn)) run_reader(void)
{
	struct reader_state *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		exit_with_start_error(-ENOMEM);
	for (u32 i = 0; i < SYMBOL_SLOTS; i++)
		reader->object[i] = (struct reader_file){ .fd = -1, .debug_fd = -1, .alt_fd = -1 };
	r = sandbox_enter_reader(PEER_FD);
	if (r < 0)
		exit_with_start_error(r);
	reader_serve(reader);
}

int main(int argc, char **argv)
{
	struct symbol_folders folders = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("speprof-symbols " SPEPROF_VERSION);
		return 0;
	}
	if (argc < 2 || !fd_is_packet_socket(LINK_FD) || !fd_is_packet_socket(PEER_FD)) {
		fputs("speprof-symbols: not for use by hand: speprofd and speprof start it to open "
		      "and read files\n",
		      stderr);
		return EX_USAGE;
	}
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--idle"))
			sandbox_lower_priority();
		else if (!strcmp(argv[i], "--symfs") && i + 1 < argc)
			folders.symfs = argv[++i];
		else if (!strcmp(argv[i], "--debug-dir") && i + 1 < argc)
			folders.debug_dir = argv[++i];
	}
	if (!strcmp(argv[1], "--open"))
		run_opener(&folders);
	if (!strcmp(argv[1], "--read-code"))
		disassembler_load_libraries();
	run_reader();
}
