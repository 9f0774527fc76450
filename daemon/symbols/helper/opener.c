// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "file-open.h"
#include "symbols/open-message.h"

/**
 * struct opener_state - the state of the process
 * @reader: socket to the reader
 * @folders: directories for files of recordings
 * @file: the file that OPEN_FILE or OPEN_JIT_NAMES opened; -1: none. Only the next such request
 * closes it, because close() may block
 */
struct opener_state {
	int reader;
	struct file_folders folders;
	int file;
	struct open_request request;
	struct open_reply reply;
};

static bool request_is_valid(const struct open_request *r, size_t size)
{
	return size == sizeof(*r) && r->type >= OPEN_FILE && r->type < OPEN_TYPES &&
	       r->id_size <= BUILD_ID_MAX && memchr(r->path, '\0', sizeof(r->path)) &&
	       memchr(r->link, '\0', sizeof(r->link));
}

static struct file_request request_get_file(const struct opener_state *o)
{
	const struct open_request *r = &o->request;

	return (struct file_request){
		.path = r->path,
		.inode = r->inode,
		.pid = r->pid,
		.has_id = r->has_id,
		.live = r->live,
		.folders = &o->folders,
	};
}

static int descriptor_send(int socket, int fd)
{
	/* Send one byte with the descriptor, because a message must not be empty. */
	return fd < 0 ? -EBADF : symbol_message_send(socket, "", 1, fd, MSG_DONTWAIT);
}

/* Open the file of a process, keep it open, and reply with the values that identify it. */
static int file_open_and_keep(struct opener_state *o)
{
	const struct file_request file = request_get_file(o);
	struct stat st;

	o->reply.candidate = o->request.candidate;
	o->file = o->request.type == OPEN_FILE ? file_open_mapped(&file) :
						 file_open_jit_names(file.pid, &o->reply.candidate);
	if (o->file < 0)
		return o->file;
	if (fstat(o->file, &st) < 0)
		return -EIO;
	o->reply.dev = st.st_dev;
	o->reply.ino = st.st_ino;
	o->reply.size = st.st_size;
	o->reply.mtime_s = st.st_mtim.tv_sec;
	o->reply.mtime_ns = st.st_mtim.tv_nsec;
	o->reply.ctime_s = st.st_ctim.tv_sec;
	o->reply.ctime_ns = st.st_ctim.tv_nsec;
	return 0;
}

/* Open debug information that belongs to a file, and pass it to the reader. */
static int attachment_pass(struct opener_state *o)
{
	const struct open_request *request = &o->request;
	const struct file_request file = request_get_file(o);
	struct symbol_file_content known = { .build_id_size = request->id_size };
	int fd, r;

	o->reply.candidate = request->candidate;
	memcpy(known.build_id, request->id, sizeof(known.build_id));
	memcpy(known.link, request->link, sizeof(known.link));
	fd = request->type == OPEN_DEBUG ?
		     file_open_debug(&file, &known, &o->reply.candidate) :
		     file_open_shared_debug(&file, request->id, request->id_size);
	if (fd < 0)
		return fd;
	r = descriptor_send(o->reader, fd);
	close(fd);
	return r;
}

static int request_run(struct opener_state *o)
{
	switch (o->request.type) {
	case OPEN_PASS:
		return descriptor_send(o->reader, o->file);
	case OPEN_DEBUG:
	case OPEN_ALT:
		return attachment_pass(o);
	default:
		if (o->file >= 0)
			close(o->file);
		return file_open_and_keep(o);
	}
}

void opener_serve(int link, int reader, const struct file_folders *folders)
{
	static struct opener_state o = { .file = -1 };
	ssize_t n;

	o.reader = reader;
	o.folders = *folders;
	while ((n = recv(link, &o.request, sizeof(o.request), MSG_TRUNC)) > 0) {
		if (!request_is_valid(&o.request, (size_t)n))
			_exit(EX_PROTOCOL);
		o.reply = (struct open_reply){ .serial = o.request.serial };
		o.reply.error = request_run(&o);
		if (symbol_message_send(link, &o.reply, sizeof(o.reply), -1, 0) < 0)
			_exit(EX_IOERR);
	}
	_exit(n ? EX_IOERR : 0);
}
