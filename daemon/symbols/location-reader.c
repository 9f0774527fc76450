// SPDX-License-Identifier: LGPL-2.1-or-later
#include "location-reader.h"

#include <errno.h>
#include <stdlib.h>

#include "helper-link.h"

/**
 * struct location_reader - the helpers, and the file that the reader has opened in slot 0
 * @link: the helpers
 * @request: a request with up to SYMBOL_ADDRESSES addresses
 */
struct location_reader {
	struct helper_link link;
	union {
		struct symbol_request request;
		u64 bytes[sizeof(struct symbol_request) / sizeof(u64) + SYMBOL_ADDRESSES];
	};
};

static int request_all(struct location_reader *reader, const struct location_request *request)
{
	const struct symbol_reply *reply;
	u32 done = 0, some;
	int r = 0;

	while (done < request->count && r == 0) {
		some = request->count - done;
		some = some < SYMBOL_ADDRESSES ? some : SYMBOL_ADDRESSES;
		reader->request = (struct symbol_request){ .type = request->type, .count = some };
		memcpy(reader->request.address, request->offset + done,
		       some * sizeof(*request->offset));
		r = helper_link_call_reader(&reader->link, &reader->request, -1, &reply);
		if (r == 0) {
			done += reply->done;
			r = request->add(request->ctx, reply);
		}
	}
	return r;
}

int location_reader_run(const struct location_request *request,
			struct symbol_file_content *ret_content, char *ret_reason, size_t size)
{
	struct location_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	helper_link_init(&reader->link, NULL, false);
	reader->link.folders = *request->folders;
	r = helper_link_start(&reader->link);
	if (r == 0)
		r = helper_link_open_file(&reader->link, request->file, ret_content);
	if (r == 0)
		r = request_all(reader, request);
	if (r < 0)
		helper_link_explain_error(&reader->link, request->file, r, ret_reason, size);
	helper_link_deinit(&reader->link);
	free(reader);
	return r;
}
