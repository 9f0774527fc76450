// SPDX-License-Identifier: LGPL-2.1-or-later
/* A symbol helper that misbehaves in the way that its file name selects */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/open-message.h"

#define LINK 3

static union {
	struct symbol_request request;
	u64 align[SYMBOL_MESSAGE_MAX / sizeof(u64)];
} in;

static struct {
	struct symbol_reply reply;
	union {
		struct symbol_file_content object;
		struct symbol_name name[2];
		struct symbol_line line[2];
		char text[4096];
	};
} out;

static void send_reply(size_t size)
{
	if (send(LINK, &out, size, MSG_NOSIGNAL) < 0)
		exit(1);
}

/* Write a correct reply to SYMBOL_FIND, which each mode then damages. Return: its size. */
static size_t write_find_reply(void)
{
	out.reply.done = in.request.count;
	out.reply.count = 1;
	out.reply.text = 6;
	out.name[0] = (struct symbol_name){ .start = in.request.address[0],
					    .size = UINT32_MAX,
					    .text = 1 };
	memcpy(&out.name[1], "\0lies", 6);
	return sizeof(out.reply) + sizeof(out.name[0]) + 6;
}

static void serve_requests(const char *mode)
{
	size_t size = sizeof(out.reply) + sizeof(out.object);

	memset(&out, 0, sizeof(out));
	out.reply.type = in.request.type;
	out.reply.serial = in.request.serial;
	if (!strcmp(mode, "crash"))
		abort();
	if (!strcmp(mode, "hang"))
		pause();
	if (in.request.type == SYMBOL_FIND)
		size = write_find_reply();
	if (!strcmp(mode, "serial"))
		out.reply.serial++;
	if (!strcmp(mode, "short"))
		size = 3;
	if (!strcmp(mode, "long"))
		size += 8;
	if (!strcmp(mode, "slash") && in.request.type == SYMBOL_OPEN)
		strcpy(out.object.link, "../etc/shadow");
	if (!strcmp(mode, "elsewhere"))
		out.name[0].start++;
	if (!strcmp(mode, "text"))
		out.name[0].text = 6;
	if (!strcmp(mode, "find-crash") && in.request.type == SYMBOL_FIND)
		abort();
	send_reply(size);
}

static bool mode_equals(const char *mode, const char *what)
{
	return !strncmp(mode, what, strlen(what));
}

/*
 * Act as the helper that opens files: reply without passing a file, because the hostile other
 * helper reads no file.
 */
static void open_files(const char *mode)
{
	static struct open_request request;
	struct open_reply reply;
	struct stat st;

	while (recv(LINK, &request, sizeof(request), 0) > 0) {
		reply = (struct open_reply){ .serial = request.serial };
		if (mode_equals(mode, "open-crash"))
			abort();
		/* Simulate a file system that does not answer for this file. */
		if (mode_equals(mode, "open-hang") && strstr(request.path, "/hangs"))
			pause();
		if (mode_equals(mode, "open-serial"))
			reply.serial++;
		if (request.type == OPEN_DEBUG || request.type == OPEN_ALT ||
		    (request.type == OPEN_FILE && stat(request.path, &st) < 0))
			reply.error = -2;
		else if (request.type == OPEN_FILE)
			reply.ino = st.st_ino;
		if (send(LINK, &reply, mode_equals(mode, "open-short") ? 3 : sizeof(reply),
			 MSG_NOSIGNAL) < 0)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	struct symbol_hello hello = { .version = SYMBOL_VERSION };
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *mode;

	path[n > 0 ? n : 0] = '\0';
	mode = strrchr(path, '/') + 1;
	if (!strcmp(mode, "mute"))
		pause();
	if (!strcmp(mode, "gone"))
		return 1;
	if (!strcmp(mode, "old"))
		hello.version = 77;
	if (!strcmp(mode, "unlocked"))
		hello = (struct symbol_hello){ .error = 38 };
	if (send(LINK, &hello, sizeof(hello), MSG_NOSIGNAL) < 0)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "--open")) {
		open_files(mode);
		return 0;
	}
	while (recv(LINK, &in, sizeof(in), 0) > 0)
		serve_requests(mode);
	return 0;
}
