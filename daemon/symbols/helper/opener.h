/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implement the opener, which opens files and passes their descriptors to the reader. */
#ifndef SPEPROF_OPENER_H
#define SPEPROF_OPENER_H

#include "file-open.h"

/**
 * opener_serve() - serve requests (open-message.h) until the peer closes the socket, then exit
 * @link: socket with the requests
 * @reader: socket to the reader, to which descriptors are passed
 * @folders: directories for files of recordings
 */
void __attribute__((noreturn))
opener_serve(int link, int reader, const struct file_folders *folders);

#endif
