// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbol-message.h"

#include <sys/socket.h>

static_assert(sizeof(struct symbol_request) % sizeof(u64) == 0,
	      "the addresses that follow are aligned");
static_assert(sizeof(struct symbol_reply) % sizeof(u64) == 0,
	      "the entries that follow are aligned");
static_assert(sizeof(struct symbol_request) + SYMBOL_ADDRESSES * sizeof(u64) <= SYMBOL_MESSAGE_MAX,
	      "the largest request fits in a packet");
static_assert(sizeof(struct symbol_reply) + SYMBOL_ADDRESSES * sizeof(struct symbol_line) + 1 +
			      SYMBOL_FILE_MAX + 1 + SYMBOL_INLINES_MAX + 1 <=
		      SYMBOL_MESSAGE_MAX,
	      "the entries of the largest request, and the longest texts of one entry, fit");
static_assert(sizeof(struct symbol_reply) + SYMBOL_ADDRESSES * sizeof(struct symbol_linkage) + 1 +
			      SYMBOL_NAME_MAX + 1 <=
		      SYMBOL_MESSAGE_MAX,
	      "the entries of the largest request, and the longest name, fit");

static_assert(sizeof(struct symbol_reply) + SYMBOL_ADDRESSES * sizeof(struct symbol_frame) + 1 +
			      SYMBOL_FRAMES_MAX * (SYMBOL_NAME_MAX + 1) <=
		      SYMBOL_MESSAGE_MAX,
	      "the entries of the largest reply, and the longest names of one address, fit");

int symbol_message_send(int socket, const void *bytes, size_t size, int fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec iov = {
		/* The cast is safe: sendmsg() does not modify the packet. */
		.iov_base = (void *)(uintptr_t)bytes,
		.iov_len = size,
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
	return sendmsg(socket, &msg, MSG_NOSIGNAL | flags) < 0 ? -errno : 0;
}

static bool is_ascending(const u64 *address, u32 count)
{
	for (u32 i = 1; i < count; i++)
		if (address[i - 1] >= address[i])
			return false;
	return true;
}

int symbol_request_check(const struct symbol_request *request, size_t size, bool has_fd)
{
	bool with_file;
	u32 subtypes;

	if (size < sizeof(*request) || request->slot >= SYMBOL_SLOTS || request->from_opener > 1 ||
	    request->type < SYMBOL_OPEN || request->type > SYMBOL_FRAMES)
		return -EBADMSG;
	with_file = request->type == SYMBOL_OPEN || request->type == SYMBOL_ATTACH;
	subtypes = request->type == SYMBOL_OPEN ? SYMBOL_KINDS : SYMBOL_ATTACHMENTS;
	if (has_fd + request->from_opener != with_file)
		return -EBADMSG;
	if (with_file)
		return request->count || size != sizeof(*request) || request->subtype >= subtypes ?
			       -EBADMSG :
			       0;
	if (!request->count || request->count > SYMBOL_ADDRESSES || request->subtype ||
	    size - sizeof(*request) != request->count * sizeof(u64) ||
	    (request->type == SYMBOL_CODE && request->count != 2))
		return -EBADMSG;
	return is_ascending(request->address, request->count) ? 0 : -EBADMSG;
}

const char *symbol_reply_get_text(const struct symbol_reply *reply)
{
	return (const char *)(reply + 1) + reply->count * symbol_entry_get_size(reply->type);
}

/*
 * Return true if the string at an offset has at most @max bytes. The caller has checked that the
 * text ends with a NUL.
 */
static bool text_is_valid(const struct symbol_reply *reply, u32 offset, size_t max)
{
	return offset < reply->text && strlen(symbol_reply_get_text(reply) + offset) <= max;
}

/*
 * Check that entries are sorted and do not overlap, and that each of the first &symbol_reply.done
 * addresses lies in one.
 */
static int names_check(const struct symbol_request *request, const struct symbol_reply *reply)
{
	const struct symbol_name *name = symbol_reply_get_names(reply);
	u32 at = 0;

	for (u32 i = 0; i < reply->count; i++) {
		u64 address;

		if (!name[i].size || name[i].size - 1 > UINT64_MAX - name[i].start ||
		    name[i].reserved || !text_is_valid(reply, name[i].text, SYMBOL_NAME_MAX) ||
		    at == reply->done)
			return -EBADMSG;
		address = request->address[at];
		if (address < name[i].start || address - name[i].start >= name[i].size)
			return -EBADMSG;
		while (at < reply->done && request->address[at] - name[i].start < name[i].size)
			at++;
		if (i && (name[i].start <= name[i - 1].start ||
			  name[i].start - name[i - 1].start < name[i - 1].size))
			return -EBADMSG;
	}
	return at == reply->done ? 0 : -EBADMSG;
}

/* Check that instructions follow each other without a gap, and do not exceed the range. */
static int code_check(const struct symbol_request *request, const struct symbol_reply *reply)
{
	const struct symbol_name *code = symbol_reply_get_names(reply);
	u64 at = request->address[0], end = request->address[1];

	if (!reply->count)
		return -EBADMSG;
	for (u32 i = 0; i < reply->count; i++) {
		if (code[i].start != at || !code[i].size || code[i].size > end - at ||
		    code[i].reserved || !text_is_valid(reply, code[i].text, SYMBOL_NAME_MAX))
			return -EBADMSG;
		at += code[i].size;
	}
	return (at == end) == (reply->done == 2) ? 0 : -EBADMSG;
}

static int lines_check(const struct symbol_request *request, const struct symbol_reply *reply)
{
	const struct symbol_line *line = symbol_reply_get_lines(reply);

	if (reply->count != reply->done)
		return -EBADMSG;
	for (u32 i = 0; i < reply->count; i++)
		if (line[i].address != request->address[i] || line[i].reserved ||
		    !text_is_valid(reply, line[i].file, SYMBOL_FILE_MAX) ||
		    !text_is_valid(reply, line[i].inlines, SYMBOL_INLINES_MAX))
			return -EBADMSG;
	return 0;
}

static int linkage_check(const struct symbol_request *request, const struct symbol_reply *reply)
{
	const struct symbol_linkage *entry = symbol_reply_get_linkage(reply);

	if (reply->count != reply->done)
		return -EBADMSG;
	for (u32 i = 0; i < reply->count; i++)
		if (entry[i].offset != request->address[i] ||
		    entry[i].function > entry[i].address ||
		    !text_is_valid(reply, entry[i].text, SYMBOL_NAME_MAX))
			return -EBADMSG;
	return 0;
}

/*
 * Check that each of the first &symbol_reply.done addresses has one entry or more, with depths that
 * count from 0.
 */
static int frames_check(const struct symbol_request *request, const struct symbol_reply *reply)
{
	const struct symbol_frame *entry = symbol_reply_get_frames(reply);
	u32 at = 0, depth = 0;

	for (u32 i = 0; i < reply->count; i++) {
		depth = i && entry[i].depth ? depth + 1 : 0;
		at += i && !depth;
		if (at >= reply->done || entry[i].address != request->address[at] ||
		    entry[i].depth != depth || depth >= SYMBOL_FRAMES_MAX ||
		    entry[i].entry > !depth ||
		    !text_is_valid(reply, entry[i].name, SYMBOL_NAME_MAX))
			return -EBADMSG;
	}
	return reply->count && at + 1 == reply->done ? 0 : -EBADMSG;
}

static int content_check(const struct symbol_reply *reply, size_t size)
{
	const struct symbol_file_content *object = symbol_reply_get_content(reply);

	if (size != sizeof(*object) || reply->done || reply->count || reply->text ||
	    object->build_id_size > BUILD_ID_MAX || object->alt_size > BUILD_ID_MAX ||
	    object->has & ~(SYMBOL_HAS_NAMES | SYMBOL_HAS_LINES) ||
	    !memchr(object->link, '\0', sizeof(object->link)) || strchr(object->link, '/') ||
	    !strcmp(object->link, ".."))
		return -EBADMSG;
	return 0;
}

int symbol_reply_check(const struct symbol_request *request, const struct symbol_reply *reply,
		       size_t size)
{
	size_t entries;

	if (size < sizeof(*reply) || reply->type != request->type ||
	    reply->serial != request->serial || reply->error > 0)
		return -EBADMSG;
	size -= sizeof(*reply);
	if (reply->error)
		return size || reply->done || reply->count || reply->text ? -EBADMSG : 0;
	if (request->type == SYMBOL_OPEN || request->type == SYMBOL_ATTACH)
		return content_check(reply, size);
	if (!reply->done || reply->done > request->count ||
	    reply->count > (reply->type == SYMBOL_CODE || reply->type == SYMBOL_FRAMES ?
				    SYMBOL_ADDRESSES :
				    reply->done))
		return -EBADMSG;
	entries = reply->count * symbol_entry_get_size(reply->type);
	if (entries > size || size - entries != reply->text || !reply->text ||
	    symbol_reply_get_text(reply)[0] || symbol_reply_get_text(reply)[reply->text - 1])
		return -EBADMSG;
	if (request->type == SYMBOL_CODE)
		return code_check(request, reply);
	if (request->type == SYMBOL_LINKAGE)
		return linkage_check(request, reply);
	if (request->type == SYMBOL_FRAMES)
		return frames_check(request, reply);
	return request->type == SYMBOL_FIND ? names_check(request, reply) :
					      lines_check(request, reply);
}
