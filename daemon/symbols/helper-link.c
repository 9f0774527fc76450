// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper-link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debug-files.h"
#include "util/time.h"

#define HELPER "speprof-symbols"
/*
 * descriptors that a helper inherits: the socket to this process, and the socket to the other
 * helper
 */
#define HELPER_FDS   2
#define HELPER_FD    3 /* number of the first inherited descriptor in the helper */
#define CALL_MS	     60000 /* timeout of the reader, long because its nice value delays it */
#define OPEN_MS	     10000 /* timeout of the opener: shorter, because it reads no file */
#define AGE_MAX_MS   300000 /* age at which helpers are killed, to free their memory */
#define BACKOFF_MS   100 /* delay after the first start that failed */
#define BACKOFF_MAX  60000
#define REAP_TRIES   20
#define REAP_WAIT_US 1000

static u64 get_now_ms(void)
{
	return time_now_ns() / 1000000;
}

/*
 * Find the helper program in the directory of this program, as in a build tree, or in libexecdir.
 */
static void find_helper_program(struct helper_link *link)
{
	const char *override = secure_getenv("SPEPROF_SYMBOLS");
	char *path = link->path, *slash;
	ssize_t n;

	if (override) {
		snprintf(link->path, sizeof(link->path), "%s", override);
		return;
	}
	n = readlink("/proc/self/exe", link->path, sizeof(link->path) - sizeof(HELPER));
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		memcpy(slash + 1, HELPER, sizeof(HELPER));
		if (!access(path, X_OK))
			return;
	}
	snprintf(link->path, sizeof(link->path), "%s", SPEPROF_LIBEXECDIR "/" HELPER);
}

void helper_link_init(struct helper_link *link, const char *path, bool idle)
{
	*link = (struct helper_link){
		.idle = idle,
		.call_ms = CALL_MS,
		.open_ms = OPEN_MS,
		.stop = -1,
		.reader = { .fd = -1, .pid = -1 },
		.opener = { .fd = -1, .pid = -1 },
	};
	if (path)
		snprintf(link->path, sizeof(link->path), "%s", path);
	else
		find_helper_program(link);
}

/*
 * Add a helper that is blocked in the kernel to the table. The helper exits when the file system
 * answers.
 */
static void stuck_helper_add(struct helper_link *link, pid_t pid)
{
	u32 oldest = 0;

	for (u32 i = 0; i < STUCK_HELPERS; i++) {
		if (!link->stuck[i].pid) {
			oldest = i;
			break;
		}
		if (link->stuck[i].generation < link->stuck[oldest].generation)
			oldest = i;
	}
	link->stuck[oldest] = (struct stuck_helper){ pid, link->generation, link->owner };
}

u32 helper_link_count_stuck(struct helper_link *link, u64 owner)
{
	u32 count = 0;

	for (u32 i = 0; i < STUCK_HELPERS; i++) {
		struct stuck_helper *stuck = &link->stuck[i];

		if (stuck->pid && waitpid(stuck->pid, NULL, WNOHANG) != 0)
			stuck->pid = 0;
		count += stuck->pid && stuck->owner == owner;
	}
	return count;
}

static void process_kill(struct helper_process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	process->fd = -1;
	if (process->pid >= 0)
		kill(process->pid, SIGKILL);
}

/*
 * Reap a killed helper. A helper that hangs in a file system cannot exit, so stop waiting after
 * about 3 s.
 */
static void process_reap(struct helper_link *link, struct helper_process *process)
{
	for (u32 n = 0; process->pid >= 0 && n < REAP_TRIES; n++) {
		if (waitpid(process->pid, NULL, WNOHANG) != 0)
			process->pid = -1;
		else
			usleep(REAP_WAIT_US << (n < 8 ? n : 8));
	}
	if (process->pid >= 0)
		stuck_helper_add(link, process->pid);
	process->pid = -1;
}

void helper_link_stop(struct helper_link *link)
{
	process_kill(&link->reader);
	process_kill(&link->opener);
	process_reap(link, &link->reader);
	process_reap(link, &link->opener);
}

void helper_link_deinit(struct helper_link *link)
{
	helper_link_stop(link);
	/* Reap the killed helpers that have exited since; the returned count is not needed. */
	helper_link_count_stuck(link, 0);
}

/*
 * Return true if a helper runs. A helper sends nothing without a request, so a readable socket
 * means that the helper has exited or failed.
 */
static bool process_is_running(const struct helper_process *process)
{
	struct pollfd fd = { .fd = process->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 0;
}

bool helper_link_stop_unusable(struct helper_link *link)
{
	bool failed;

	if (link->reader.fd < 0)
		return false;
	failed = !process_is_running(&link->reader) || !process_is_running(&link->opener);
	if (failed || get_now_ms() - link->started_ms >= AGE_MAX_MS)
		helper_link_stop(link);
	link->failures += failed;
	return failed;
}

/* Kill both helpers after a call that failed; returns @error. */
static int stop_after_failure(struct helper_link *link, int error)
{
	helper_link_stop(link);
	link->failures++;
	return error;
}

/* Maximum number of arguments of a helper, with the NULL after the last one */
#define ARGUMENTS_MAX 8

/*
 * Start a helper without the environment, signal dispositions and descriptors of this process. The
 * opener gets the directories in which it searches files. A string that is passed to the helper is
 * not changed, although posix_spawn() has no const for it.
 */
static int process_spawn(struct helper_link *link, char *mode, const int fds[static HELPER_FDS],
			 pid_t *ret_pid)
{
	char name[] = HELPER, idle[] = "--idle", symfs[] = "--symfs", debug_dir[] = "--debug-dir";
	char *argv[ARGUMENTS_MAX] = { name, mode };
	char *environment[] = { NULL, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all, empty;
	int count = 2, r;

	if (link->idle)
		argv[count++] = idle;
	if (link->folders.symfs) {
		argv[count++] = symfs;
		argv[count++] = (char *)link->folders.symfs;
	}
	if (link->folders.debug_dir) {
		argv[count++] = debug_dir;
		argv[count++] = (char *)link->folders.debug_dir;
	}
	if (SANITIZED)
		environment[0] = "ASAN_OPTIONS=detect_leaks=0";
	sigfillset(&all);
	sigemptyset(&empty);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < HELPER_FDS; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], HELPER_FD + i);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &empty);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(ret_pid, link->path, &actions, &attr, argv, environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		*ret_pid = -1;
	return -r;
}

/* Receive a packet; returns its size, at most @size bytes, or a negative errno. */
static ssize_t packet_receive(struct helper_link *link, int fd, void *buf, size_t size, u32 ms)
{
	u64 deadline = get_now_ms() + ms, now;
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = link->stop, .events = POLLIN },
	};
	ssize_t n;

	do {
		now = get_now_ms();
		n = poll(fds, ARRAY_SIZE(fds), now < deadline ? (int)(deadline - now) : 0);
	} while (n < 0 && errno == EINTR);
	if (n <= 0 || !fds[0].revents)
		return n ? -EPIPE : -ETIMEDOUT;
	/* recv() has no buffer for ancillary data, so that a helper cannot pass a descriptor. */
	n = recv(fd, buf, size, MSG_TRUNC | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return -EPIPE;
	return (size_t)n > size ? -EBADMSG : n;
}

static int hello_receive(struct helper_link *link, int fd)
{
	struct symbol_hello hello;
	ssize_t n = packet_receive(link, fd, &hello, sizeof(hello), link->call_ms);

	if (n < 0) {
		snprintf(link->reason, sizeof(link->reason), "%s exited before it was ready",
			 HELPER);
		return (int)n;
	}
	if (n == sizeof(hello) && hello.version == SYMBOL_VERSION) {
		*link->reason = '\0';
		return 0;
	}
	if (n == sizeof(hello) && !hello.version)
		snprintf(link->reason, sizeof(link->reason),
			 "the sandbox of %s cannot be set up: %s", HELPER,
			 strerror((int)hello.error));
	else
		snprintf(link->reason, sizeof(link->reason),
			 "%s has another version than this program: %.120s", HELPER, link->path);
	return -EPERM;
}

/* Socket pairs: this process and the reader; this process and the opener; opener and reader. */
enum { READER, OPENER, BETWEEN, PAIRS };

static void socket_pairs_close(int pair[PAIRS][2])
{
	for (u32 i = 0; i < PAIRS; i++)
		for (u32 k = 0; k < 2; k++)
			if (pair[i][k] >= 0)
				close(pair[i][k]);
}

/* Move @fd above the helpers' descriptors, so that dup2() in the child replaces no other socket. */
static int descriptor_move_above_helpers(int *fd)
{
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, HELPER_FD + HELPER_FDS);

	if (moved < 0)
		return -errno;
	close(*fd);
	*fd = moved;
	return 0;
}

static int socket_pairs_create(int pair[PAIRS][2])
{
	int r = 0;

	memset(pair, 0xff, PAIRS * sizeof(*pair));
	for (u32 i = 0; !r && i < PAIRS; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair[i]) < 0)
			r = -errno;
		if (!r)
			r = descriptor_move_above_helpers(&pair[i][0]);
		if (!r)
			r = descriptor_move_above_helpers(&pair[i][1]);
	}
	return r;
}

static int helpers_spawn(struct helper_link *link, int pair[PAIRS][2])
{
	const int reader[HELPER_FDS] = { pair[READER][1], pair[BETWEEN][0] };
	const int opener[HELPER_FDS] = { pair[OPENER][1], pair[BETWEEN][1] };
	char read[] = "--read", code[] = "--read-code", open[] = "--open";
	int r = process_spawn(link, link->code ? code : read, reader, &link->reader.pid);

	if (!r)
		r = process_spawn(link, open, opener, &link->opener.pid);
	if (r < 0) {
		snprintf(link->reason, sizeof(link->reason), "%.128s cannot be executed: %s",
			 link->path, strerror(-r));
		return r;
	}
	link->reader.fd = pair[READER][0];
	link->opener.fd = pair[OPENER][0];
	pair[READER][0] = -1;
	pair[OPENER][0] = -1;
	return 0;
}

/* Delay the next start; the delay doubles with each successive failure. Returns @error. */
static int delay_after_failed_start(struct helper_link *link, int error)
{
	link->backoff_ms = link->backoff_ms ? link->backoff_ms * 2 : BACKOFF_MS;
	if (link->backoff_ms > BACKOFF_MAX)
		link->backoff_ms = BACKOFF_MAX;
	link->not_before_ms = get_now_ms() + link->backoff_ms;
	return stop_after_failure(link, error);
}

int helper_link_start(struct helper_link *link)
{
	int pair[PAIRS][2], r;

	if (link->reader.fd >= 0)
		return 0;
	if (link->not_before_ms > get_now_ms())
		return -EAGAIN;
	link->generation++;
	r = socket_pairs_create(pair);
	if (r < 0)
		snprintf(link->reason, sizeof(link->reason), "cannot create sockets for %s: %s",
			 HELPER, strerror(-r));
	else
		r = helpers_spawn(link, pair);
	socket_pairs_close(pair);
	if (!r)
		r = hello_receive(link, link->reader.fd);
	if (!r)
		r = hello_receive(link, link->opener.fd);
	if (r < 0)
		return delay_after_failed_start(link, r);
	link->backoff_ms = 0;
	link->started_ms = get_now_ms();
	return 0;
}

int helper_link_call_reader(struct helper_link *link, struct symbol_request *request, int fd,
			    const struct symbol_reply **ret_reply)
{
	const struct symbol_reply *reply = (const void *)link->reply;
	size_t size = sizeof(*request) + request->count * sizeof(*request->address);
	ssize_t n;
	int r;

	if (link->reader.fd < 0)
		return -EPIPE;
	request->serial = ++link->serial;
	r = symbol_message_send(link->reader.fd, request, size, fd, MSG_DONTWAIT);
	if (r < 0)
		return stop_after_failure(link, -EPIPE);
	n = packet_receive(link, link->reader.fd, link->reply, sizeof(link->reply), link->call_ms);
	if (n < 0)
		return stop_after_failure(link, (int)n);
	if (symbol_reply_check(request, reply, (size_t)n) < 0)
		return stop_after_failure(link, -EBADMSG);
	/*
	 * If the error of a file equals an error that callers take for a failure of the helper,
	 * return -EIO instead.
	 */
	if (reply->error < 0)
		return helper_error_is_fatal(reply->error) ? -EIO : reply->error;
	*ret_reply = reply;
	return 0;
}

int helper_link_call_opener(struct helper_link *link, struct open_request *request,
			    struct open_reply *ret_reply)
{
	struct open_reply reply;
	ssize_t n;

	if (link->opener.fd < 0)
		return -EPIPE;
	request->serial = ++link->serial;
	if (symbol_message_send(link->opener.fd, request, sizeof(*request), -1, MSG_DONTWAIT) < 0)
		return stop_after_failure(link, -EPIPE);
	n = packet_receive(link, link->opener.fd, &reply, sizeof(reply), link->open_ms);
	if (n < 0)
		return stop_after_failure(link, (int)n);
	if (n != sizeof(reply) || reply.serial != request->serial || reply.error > 0)
		return stop_after_failure(link, -EBADMSG);
	if (reply.error < 0)
		return helper_error_is_fatal(reply.error) ? -EIO : reply.error;
	*ret_reply = reply;
	return 0;
}

int helper_link_download(struct helper_link *link, enum download_kind kind, const u8 *id, u8 size)
{
	const struct file_download *download = link->folders.download;

	return download && size ? download->fetch(kind, id, size, link->stop) : -ENOENT;
}

/* Return whether a file has the build id of a location, or the location has none. */
static bool file_has_build_id(const struct symbol_file_content *known,
			      const struct attribute_location *location)
{
	return !location->build_id_size ||
	       (known->build_id_size == location->build_id_size &&
		!memcmp(known->build_id, location->build_id, known->build_id_size));
}

/*
 * Open a file in slot 0 of the reader: the file of @fd, or, if @fd is -1, the file that the opener
 * has opened. Return -ESTALE if it has another build id than @location.
 */
static int read_and_check_file(struct helper_link *link, const struct attribute_location *location,
			       int fd, struct symbol_file_content *ret_content)
{
	struct symbol_request request = { .type = SYMBOL_OPEN, .from_opener = fd < 0 };
	const struct symbol_file_content *known;
	const struct symbol_reply *reply;
	int r = helper_link_call_reader(link, &request, fd, &reply);

	if (r < 0)
		return r;
	known = symbol_reply_get_content(reply);
	if (!file_has_build_id(known, location))
		return -ESTALE;
	*ret_content = *known;
	return 0;
}

/* Open the file of a location by the path in @request. */
static int open_file_by_path(struct helper_link *link, const struct attribute_location *location,
			     struct open_request *request, struct symbol_file_content *ret_content)
{
	struct open_reply opened;
	int r;

	request->type = OPEN_FILE;
	r = helper_link_call_opener(link, request, &opened);
	if (r < 0)
		return r;
	request->type = OPEN_PASS;
	r = helper_link_call_opener(link, request, &opened);
	if (r < 0)
		return r;
	return read_and_check_file(link, location, -1, ret_content);
}

/* Open the file of a location in a directory, or download it. */
static int open_or_download_file(struct helper_link *link,
				 const struct attribute_location *location,
				 struct open_request *request,
				 struct symbol_file_content *ret_content)
{
	int r = open_file_by_path(link, location, request, ret_content), fd;

	if (!r || helper_error_is_fatal(r))
		return r;
	fd = helper_link_download(link, DOWNLOAD_PROGRAM, location->build_id,
				  location->build_id_size);
	if (fd < 0)
		return r;
	r = read_and_check_file(link, location, fd, ret_content);
	if (r < 0)
		link->folders.download->refuse(DOWNLOAD_PROGRAM, location->build_id,
					       location->build_id_size, fd);
	close(fd);
	return r;
}

int helper_link_open_file(struct helper_link *link, const struct attribute_location *location,
			  struct symbol_file_content *ret_content)
{
	struct open_request request = { .has_id = location->build_id_size > 0,
					.inode = location->build_id_size ? 0 : location->inode };
	int r;

	if (strlen(location->binary) >= sizeof(request.path))
		return -ENAMETOOLONG;
	strcpy(request.path, location->binary);
	r = open_or_download_file(link, location, &request, ret_content);
	return r < 0 ? r : debug_files_attach(link, &request, 0, ret_content);
}

void helper_link_explain_error(const struct helper_link *link,
			       const struct attribute_location *location, int error,
			       char *ret_reason, size_t size)
{
	if (*link->reason)
		snprintf(ret_reason, size, "%s", link->reason);
	else if (error == -ESTALE)
		snprintf(ret_reason, size, "%.120s has another build id than the recording",
			 location->binary);
	else if (error == -ENOENT && *location->binary == '[')
		snprintf(ret_reason, size, "%.120s is not a file; only code in files can be read",
			 location->binary);
	else if (error == -ENOENT && !location->build_id_size && !link->folders.symfs)
		snprintf(
			ret_reason, size,
			"%.60s was counted without a build id, so it cannot be recognised: link it "
			"with -Wl,--build-id, or annotate a recording with --symfs DIR",
			location->binary);
	else
		snprintf(ret_reason, size, "%.120s: %s", location->binary, strerror(-error));
}
