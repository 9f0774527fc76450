// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-files.h"

#include <unistd.h>

/*
 * Attach a file to the file in slot @slot of the reader, and update @known. @fd: the file; -1: the
 * file that the opener has passed to the reader.
 */
static int attach_file(struct helper_link *link, u32 slot, u32 subtype, int fd,
		       struct symbol_file_content *known)
{
	struct symbol_request request = {
		.type = SYMBOL_ATTACH, .slot = slot, .subtype = subtype, .from_opener = fd < 0
	};
	const struct symbol_reply *reply;
	int r = helper_link_call_reader(link, &request, fd, &reply);

	if (!r)
		*known = *symbol_reply_get_content(reply);
	return r;
}

/* Download a debug file of a recording, and attach it to the file in slot @slot of the reader. */
static int attach_downloaded_file(struct helper_link *link, const struct open_request *file,
				  u32 slot, u32 subtype, struct symbol_file_content *known)
{
	u8 size = subtype == SYMBOL_ALT ? known->alt_size : known->build_id_size;
	u8 id[BUILD_ID_MAX];
	int fd = -ENOENT, r;

	memcpy(id, subtype == SYMBOL_ALT ? known->alt : known->build_id, sizeof(id));
	if (!file->live)
		fd = helper_link_download(link, DOWNLOAD_DEBUG, id, size);
	if (fd < 0)
		return -ENOENT;
	r = attach_file(link, slot, subtype, fd, known);
	if (r < 0)
		link->folders.download->refuse(DOWNLOAD_DEBUG, id, size, fd);
	close(fd);
	return r;
}

/*
 * Attach the next existing candidate for separate debug information. @candidate: number of the
 * first candidate to try; set to the number for the next call, or to UINT32_MAX after the last
 * candidate.
 */
static int attach_next_candidate(struct helper_link *link, struct open_request *request, u32 slot,
				 u32 *candidate, struct symbol_file_content *known)
{
	struct open_reply reply;
	int r;

	request->type = OPEN_DEBUG;
	request->candidate = *candidate;
	request->id_size = known->build_id_size;
	memcpy(request->id, known->build_id, sizeof(request->id));
	memcpy(request->link, known->link, sizeof(request->link));
	r = helper_link_call_opener(link, request, &reply);
	if (r < 0) {
		*candidate = UINT32_MAX;
		return r;
	}
	/* The number must increase, so that the loop ends even if the opener is compromised. */
	*candidate = reply.candidate > *candidate ? reply.candidate : UINT32_MAX;
	return attach_file(link, slot, SYMBOL_DEBUG, -1, known);
}

/* Attach the file with debug information that several files share (dwz). */
static int attach_shared_file(struct helper_link *link, struct open_request *request, u32 slot,
			      struct symbol_file_content *known)
{
	struct open_reply reply;
	int r;

	request->type = OPEN_ALT;
	request->id_size = known->alt_size;
	memcpy(request->id, known->alt, sizeof(request->id));
	memset(request->link, 0, sizeof(request->link));
	r = helper_link_call_opener(link, request, &reply);
	if (!r)
		return attach_file(link, slot, SYMBOL_ALT, -1, known);
	return helper_error_is_fatal(r) ?
		       r :
		       attach_downloaded_file(link, request, slot, SYMBOL_ALT, known);
}

int debug_files_attach(struct helper_link *link, struct open_request *request, u32 slot,
		       struct symbol_file_content *known)
{
	const u32 all = SYMBOL_HAS_NAMES | SYMBOL_HAS_LINES;
	u32 candidate = 0;
	int r = -ENOENT;

	while (r && candidate != UINT32_MAX && (known->has & all) != all) {
		r = attach_next_candidate(link, request, slot, &candidate, known);
		if (helper_error_is_fatal(r))
			return r;
	}
	if (r && (known->has & all) != all)
		r = attach_downloaded_file(link, request, slot, SYMBOL_DEBUG, known);
	if (helper_error_is_fatal(r))
		return r;
	if (known->alt_size)
		r = attach_shared_file(link, request, slot, known);
	return helper_error_is_fatal(r) ? r : 0;
}
