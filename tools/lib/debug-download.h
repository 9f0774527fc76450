/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downloads programs and debug files by their build id from debuginfod servers, into the cache that
 * all clients of debuginfod share. The servers are those of the environment variable
 * DEBUGINFOD_URLS. The library libdebuginfod is loaded by the first download.
 */
#ifndef SPEPROF_DEBUG_DOWNLOAD_H
#define SPEPROF_DEBUG_DOWNLOAD_H

#include "progress.h"
#include "symbols/symbol-folders.h"

/**
 * debug_download_use_servers() - use other servers than those of the environment
 * @verb: name of the verb, for the error
 * @urls: http, https or file URLs, separated by blanks
 *
 * Return: 0; STATUS_USAGE after printing an error; STATUS_FAILED without memory. Call it before
 * threads are started, because it sets an environment variable.
 */
int debug_download_use_servers(const char *verb, const char *urls);

/**
 * debug_download_get() - return the functions that download files; NULL if there are no servers
 *
 * After a server has failed or answered too slowly, nothing more is downloaded. Without a setting of
 * DEBUGINFOD_TIMEOUT, too slow is less than 100 KiB/s for 30 s. Call it before threads are started,
 * because it sets environment variables.
 */
const struct file_download *debug_download_get(void);

/**
 * debug_download_show_in() - show downloads in a line on the terminal
 * @progress: the operation that waits for names; NULL: each download has a line of its own
 */
void debug_download_show_in(struct progress *progress);

/** debug_download_finish() - print what could not be downloaded or was refused, and free memory */
void debug_download_finish(void);

#endif
