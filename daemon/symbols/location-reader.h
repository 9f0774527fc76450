/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sends locations of a file to the sandboxed reader, in requests of limited size.
 * location_reader_run() blocks; it starts two helper processes, and stops them before it returns.
 * Only commands use it; the daemon does not.
 */
#ifndef SPEPROF_LOCATION_READER_H
#define SPEPROF_LOCATION_READER_H

#include "attribution/attributor.h"
#include "symbol-folders.h"
#include "symbol-message.h"

/**
 * struct location_request - what to request
 * @file: path and build id of the file; a file with another build id is not read
 * @folders: where the file is searched
 * @type: SYMBOL_LINKAGE or SYMBOL_FRAMES
 * @offset, @count: offsets in the file, in ascending order without duplicates
 * @add: called for each reply, which is valid until it returns; returns 0 or a negative errno
 * @ctx: first argument of @add
 */
struct location_request {
	const struct attribute_location *file;
	const struct symbol_folders *folders;
	u32 type;
	const u64 *offset;
	u32 count;
	int (*add)(void *ctx, const struct symbol_reply *reply);
	void *ctx;
};

/**
 * location_reader_run() - open the file, and request all locations
 * @request: the request
 * @ret_content: the content of the file
 * @ret_reason: receives a sentence that explains why the file was not read, at most @size bytes with
 *	the NUL; unchanged if it was read
 *
 * Return: 0; a negative errno if the file was not read; an error of &location_request.add.
 */
int location_reader_run(const struct location_request *request,
			struct symbol_file_content *ret_content, char *ret_reason, size_t size);

#endif
