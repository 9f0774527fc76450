/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the separate debug files of a file that the reader has open, and attach them to it. */
#ifndef SPEPROF_DEBUG_FILES_H
#define SPEPROF_DEBUG_FILES_H

#include "helper-link.h"

/**
 * debug_files_attach() - attach separate debug files, until names and lines are complete
 * @link: running helpers
 * @request: the file, as for OPEN_FILE; its other fields are overwritten
 * @slot: the slot of the reader with the file, of which no name was read yet
 * @known: the content of the file; updated
 *
 * Debug files of a recording that no directory has are downloaded (helper_link_download()). This
 * blocks until the replies, or until the downloads end.
 *
 * Return: 0, even if there is no debug file; an error for which helper_error_is_fatal() is true.
 */
int debug_files_attach(struct helper_link *link, struct open_request *request, u32 slot,
		       struct symbol_file_content *known);

#endif
