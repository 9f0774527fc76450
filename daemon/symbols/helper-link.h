/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Start two helper processes, and send them requests. The opener opens files; the reader reads
 * them. If a helper exits, misses its deadline or sends an invalid reply, both helpers are killed.
 * Only one thread may use a link. A call blocks until the reply or the deadline.
 */
#ifndef SPEPROF_HELPER_LINK_H
#define SPEPROF_HELPER_LINK_H

#include <sys/types.h>

#include "attribution/attributor.h"
#include "open-message.h"
#include "symbol-folders.h"
#include "symbol-message.h"

#define SYMBOL_REASON 192
#define STUCK_HELPERS 16

/**
 * struct helper_process - a helper: the socket to it, and its PID; both are -1 if it does not run
 */
struct helper_process {
	int fd;
	pid_t pid;
};

/**
 * struct stuck_helper - a killed helper that has not exited, because it waits in the kernel for a
 * file system
 * @pid: 0 if the entry is free
 * @generation: value of &helper_link.generation when it ran
 * @owner: owner of the files that the helper read
 */
struct stuck_helper {
	pid_t pid;
	u32 generation;
	u64 owner;
};

/**
 * struct helper_link - a pair of helpers
 * @idle: run the helpers with a nice value of 10
 * @code: the reader can disassemble (SYMBOL_CODE); set it before the first start
 * @folders: where the opener searches files of recordings; set it before the first start
 * @call_ms: timeout for a reply of the reader, ms
 * @open_ms: timeout for a reply of the opener, ms
 * @stop: a descriptor that aborts calls when it becomes readable; -1 for none
 * @reader, @opener: the helpers; either both run or none
 * @stuck: killed helpers that have not exited; if the table is full, the oldest is removed from it
 * @owner: owner of the files that are read now (job_find_owner()); set by the caller
 * @serial: number of the last request, which its reply must repeat
 * @generation: counts pairs of helpers, from 1. A new pair has none of the files open that an
 * earlier pair had opened
 * @started_ms: when the pair was started
 * @not_before_ms: when the next pair may be started, after a start that failed
 * @backoff_ms: delay after the last start that failed; doubled by each further failure; 0 after a
 * success
 * @failures: number of pairs that failed
 * @path: path of the helper program
 * @reason: a sentence that explains why the helpers cannot be started; "" if they can
 * @reply: the last reply of the reader
 */
struct helper_link {
	bool idle;
	bool code;
	struct symbol_folders folders;
	u32 call_ms;
	u32 open_ms;
	int stop;
	struct helper_process reader;
	struct helper_process opener;
	struct stuck_helper stuck[STUCK_HELPERS];
	u64 owner;
	u32 serial;
	u32 generation;
	u64 started_ms;
	u64 not_before_ms;
	u32 backoff_ms;
	u64 failures;
	char path[PATH_MAX];
	char reason[SYMBOL_REASON];
	u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];
};

/**
 * helper_link_init() - initialize a link without starting helpers
 * @path: path of the helper program. If NULL, the path is the value of the environment variable
 * SPEPROF_SYMBOLS. If that is unset, the program is searched in the directory of this program, then
 * in libexecdir
 * @idle: true: run the helpers with a nice value of 10
 */
void helper_link_init(struct helper_link *link, const char *path, bool idle);

/**
 * helper_link_deinit() - kill the helpers; a helper that hangs exits when its file system answers
 */
void helper_link_deinit(struct helper_link *link);

/**
 * helper_link_start() - start both helpers, unless they run
 *
 * It waits until they have entered their sandboxes.
 *
 * Return: 0; -EAGAIN if the delay after the last failed start has not elapsed; another negative
 * errno if the helpers cannot be started, with @link->reason set.
 */
int helper_link_start(struct helper_link *link);

/**
 * helper_link_stop_unusable() - kill both helpers if one of them has exited or failed, or if they
 * have run for AGE_MAX_MS
 *
 * Call it before the first request for a file; otherwise an earlier exit of a helper would be
 * attributed to that file. helper_link_start() starts new helpers.
 *
 * Return: true if a helper had exited or failed.
 */
bool helper_link_stop_unusable(struct helper_link *link);

/** helper_link_count_stuck() - return the number of killed helpers that hang in files of @owner */
u32 helper_link_count_stuck(struct helper_link *link, u64 owner);

/**
 * helper_link_call_opener() - send a request to the opener and wait for the reply
 * @request: the request; its serial is set
 * @ret_reply: the reply, if 0 is returned
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the opener exited, missed the deadline or sent an
 * invalid reply, and both helpers were killed; another negative errno if the file cannot be opened.
 */
int helper_link_call_opener(struct helper_link *link, struct open_request *request,
			    struct open_reply *ret_reply);

/**
 * helper_link_call_reader() - send a request to the reader and wait for the reply
 * @request: the request; its serial is set
 * @fd: descriptor to pass with the request, which the caller still closes; -1 for none
 * @ret_reply: the reply, which symbol_reply_check() accepted; valid until the next call of
 * this function
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the reader exited, missed the deadline or sent an
 * invalid reply, and both helpers were killed; another negative errno if the file is invalid.
 */
int helper_link_call_reader(struct helper_link *link, struct symbol_request *request, int fd,
			    const struct symbol_reply **ret_reply);

/**
 * helper_link_download() - download a file by its build id, if &symbol_folders.download is set
 * @kind: what to download
 * @id, @size: the build id; @size is 0 if it is unknown
 *
 * It blocks until the file is complete, or until @link->stop becomes readable.
 *
 * Return: a descriptor, which the caller closes; -ENOENT if there is no such file; another negative
 * errno.
 */
int helper_link_download(struct helper_link *link, enum download_kind kind, const u8 *id, u8 size);

/**
 * helper_link_open_file() - open the file of a location in slot 0 of the reader
 * @location: its path and build id. A file without a build id is only opened below
 *	&symbol_folders.symfs. If no directory has a file with the build id, it is downloaded.
 *	Separate debug files are attached
 * @ret_content: the content of the file
 *
 * Return: 0; -ESTALE if the file has another build id; another negative errno as for
 * helper_link_call_opener() and helper_link_call_reader().
 */
int helper_link_open_file(struct helper_link *link, const struct attribute_location *location,
			  struct symbol_file_content *ret_content);

/**
 * helper_link_explain_error() - write the reason why a file was not read
 * @location: the file
 * @error: the negative errno of helper_link_start() or of a call
 * @ret_reason: receives the reason, at most @size bytes with the NUL
 */
void helper_link_explain_error(const struct helper_link *link,
			       const struct attribute_location *location, int error,
			       char *ret_reason, size_t size);

/** helper_link_stop() - kill both helpers, if they run */
void helper_link_stop(struct helper_link *link);

/** helper_error_is_fatal() - return true if a call that returned @error has killed the helpers */
static inline bool helper_error_is_fatal(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT || error == -EBADMSG;
}

#endif
