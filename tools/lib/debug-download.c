// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-download.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "attribution/maps.h"
#include "message.h"

#define URLS "DEBUGINFOD_URLS"
/*
 * Defaults of two environment variables of libdebuginfod: the time in seconds for which a server may
 * send less than 100 KiB/s, and the number of retries. Those of the library, 90 s and 2, would let
 * the user wait for 270 s.
 */
#define TIMEOUT_DEFAULT "30"
#define RETRIES_DEFAULT "0"

/* The interface of libdebuginfod.so.1, which its symbol version ELFUTILS_0.178 keeps. */
struct debuginfod_client;
typedef int find_function(struct debuginfod_client *client, const unsigned char *id, int size,
			  char **ret_path);

/** struct debuginfod_library - functions of the library; @begin is NULL if it is not loaded */
struct debuginfod_library {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	void (*watch)(struct debuginfod_client *client,
		      int (*progress)(struct debuginfod_client *client, long done, long total));
	find_function *find[DOWNLOAD_KINDS];
};

/*
 * Files that are remembered as refused or missing, so that each is counted and downloaded once,
 * although several jobs of the symbol threads may need it. Further files are not remembered.
 */
#define GIVEN_UP_MAX 1024

/** struct given_up_file - a file that was refused or not downloaded, by its build id */
struct given_up_file {
	u8 kind;
	u8 size;
	u8 id[BUILD_ID_MAX];
};

/**
 * struct downloader - the state of all downloads of this process
 * @lock: protects everything but @progress; held while a file is downloaded
 * @progress_lock: protects @progress
 * @progress: where downloads are shown; NULL: nowhere
 * @client: of the library; NULL before the first download
 * @stop: descriptor that stops the download in progress; -1: none
 * @error: errno of the failure after which nothing is downloaded; 0: none
 * @unloadable: whether the library cannot be loaded
 * @missing: number of files that were not downloaded after a failure
 * @refused: number of files that were refused
 * @refused_path: path of the first of them
 * @given_up, @given_up_count: the missing and refused files
 */
struct downloader {
	pthread_mutex_t lock;
	pthread_mutex_t progress_lock;
	struct progress *progress;
	struct debuginfod_library library;
	struct debuginfod_client *client;
	int stop;
	int error;
	bool unloadable;
	u32 missing;
	u32 refused;
	char refused_path[PATH_MAX];
	struct given_up_file given_up[GIVEN_UP_MAX];
	u32 given_up_count;
};

static struct downloader downloader = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.progress_lock = PTHREAD_MUTEX_INITIALIZER,
};

static bool load_library(struct debuginfod_library *library)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
	library->end = (__typeof__(library->end))dlsym(handle, "debuginfod_end");
	library->watch = (__typeof__(library->watch))dlsym(handle, "debuginfod_set_progressfn");
	library->find[DOWNLOAD_PROGRAM] =
		(find_function *)dlsym(handle, "debuginfod_find_executable");
	library->find[DOWNLOAD_DEBUG] = (find_function *)dlsym(handle, "debuginfod_find_debuginfo");
	library->begin = (__typeof__(library->begin))dlsym(handle, "debuginfod_begin");
	return library->begin && library->end && library->watch &&
	       library->find[DOWNLOAD_PROGRAM] && library->find[DOWNLOAD_DEBUG];
}

static void show_progress(const char *what, u64 done, u64 total)
{
	pthread_mutex_lock(&downloader.progress_lock);
	if (downloader.progress)
		progress_set(downloader.progress, what, done, total);
	pthread_mutex_unlock(&downloader.progress_lock);
}

/* Show the progress of a download; return 1 to stop it. The library calls this at least once a second. */
static int watch_download(struct debuginfod_client *client, long done, long total)
{
	struct pollfd stop = { .fd = downloader.stop, .events = POLLIN };

	(void)client;
	show_progress("downloading debug files", done > 0 ? (u64)done : 0,
		      total > 0 ? (u64)total : 0);
	return poll(&stop, 1, 0) > 0;
}

/* Load the library and connect to it, unless that was done before. Return false if it is missing. */
static bool prepare_client(struct downloader *d)
{
	if (d->client)
		return true;
	d->unloadable = d->unloadable || !load_library(&d->library);
	if (!d->unloadable)
		d->client = d->library.begin();
	if (d->client)
		d->library.watch(d->client, watch_download);
	return d->client;
}

static struct given_up_file make_given_up(enum download_kind kind, const u8 *id, u8 size)
{
	struct given_up_file file = { .kind = (u8)kind, .size = size };

	memcpy(file.id, id, size < sizeof(file.id) ? size : sizeof(file.id));
	return file;
}

static bool is_given_up(const struct downloader *d, const struct given_up_file *file)
{
	for (u32 i = 0; i < d->given_up_count; i++)
		if (!memcmp(&d->given_up[i], file, sizeof(*file)))
			return true;
	return false;
}

/* Count a file in @counter, unless it was counted before. Return whether it is counted now. */
static bool give_up(struct downloader *d, const struct given_up_file *file, u32 *counter)
{
	if (is_given_up(d, file))
		return false;
	if (d->given_up_count < GIVEN_UP_MAX)
		d->given_up[d->given_up_count++] = *file;
	++*counter;
	return true;
}

/* Download a file; the caller holds @d->lock. */
static int download_file(struct downloader *d, enum download_kind kind, const u8 *id, u8 size,
			 int stop)
{
	const struct given_up_file file = make_given_up(kind, id, size);
	struct pollfd stopped = { .fd = stop, .events = POLLIN };
	int fd;

	if (is_given_up(d, &file))
		return -ENOENT;
	if (d->error || !prepare_client(d)) {
		give_up(d, &file, &d->missing);
		return -ENOENT;
	}
	d->stop = stop;
	fd = d->library.find[kind](d->client, id, size, NULL);
	if (fd >= 0 || fd == -ENOENT || poll(&stopped, 1, 0) > 0)
		return fd;
	d->error = -fd;
	give_up(d, &file, &d->missing);
	return fd;
}

static int fetch_file(enum download_kind kind, const u8 *id, u8 size, int stop)
{
	struct progress own;
	bool shown;
	int fd;

	pthread_mutex_lock(&downloader.lock);
	pthread_mutex_lock(&downloader.progress_lock);
	shown = downloader.progress;
	pthread_mutex_unlock(&downloader.progress_lock);
	if (!shown) {
		progress_begin(&own, stderr);
		debug_download_show_in(&own);
	}
	fd = download_file(&downloader, kind, id, size, stop);
	if (!shown) {
		debug_download_show_in(NULL);
		progress_end(&own);
	}
	show_progress("reading symbols", 0, 0);
	pthread_mutex_unlock(&downloader.lock);
	return fd;
}

static void refuse_file(enum download_kind kind, const u8 *id, u8 size, int fd)
{
	const struct given_up_file file = make_given_up(kind, id, size);
	char self[32], path[PATH_MAX];
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	unlink(path);
	pthread_mutex_lock(&downloader.lock);
	if (give_up(&downloader, &file, &downloader.refused) && downloader.refused == 1)
		memcpy(downloader.refused_path, path, sizeof(path));
	pthread_mutex_unlock(&downloader.lock);
}

int debug_download_use_servers(const char *verb, const char *urls)
{
	static const char *const schemes[] = { "http://", "https://", "file://" };
	const char *url = urls + strspn(urls, " ");
	bool valid = *url;

	for (; *url && valid; url += strcspn(url, " "), url += strspn(url, " ")) {
		valid = false;
		for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
			valid |= !strncmp(url, schemes[i], strlen(schemes[i]));
	}
	if (!valid)
		return message_fail(STATUS_USAGE,
				    "%s: --debuginfod \"%s\": should be the URLs of debuginfod "
				    "servers, separated by blanks, such as "
				    "https://debuginfod.example.org",
				    verb, urls);
	return setenv(URLS, urls, 1) ?
		       message_fail(STATUS_FAILED, "%s: %s", verb, strerror(errno)) :
		       0;
}

const struct file_download *debug_download_get(void)
{
	static const struct file_download download = { fetch_file, refuse_file };
	const char *urls = secure_getenv(URLS);

	if (!urls || !urls[strspn(urls, " ")])
		return NULL;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_DEFAULT, 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", RETRIES_DEFAULT, 0);
	return &download;
}

void debug_download_show_in(struct progress *progress)
{
	pthread_mutex_lock(&downloader.progress_lock);
	downloader.progress = progress;
	pthread_mutex_unlock(&downloader.progress_lock);
}

/* Print one message about files that were not downloaded. */
static void print_failure(const struct downloader *d)
{
	if (d->unloadable)
		message_print(
			"debuginfod: the library libdebuginfod.so.1 is missing, and so are the "
			"names of %u file%s: install the package libdebuginfod1, or "
			"elfutils-debuginfod-client",
			d->missing, d->missing == 1 ? "" : "s");
	else
		message_print("debuginfod: %s: %s; the names of %u file%s are missing",
			      getenv(URLS),
			      d->error == ETIME ? "no answer in time, see DEBUGINFOD_TIMEOUT" :
			      d->error		? strerror(d->error) :
						  strerror(ENOMEM),
			      d->missing, d->missing == 1 ? "" : "s");
}

void debug_download_finish(void)
{
	struct downloader *d = &downloader;

	if (d->missing)
		print_failure(d);
	if (d->refused)
		message_print(
			"debuginfod: %s: %u downloaded file%s with damage or another build ID, "
			"refused and removed: %s%s",
			getenv(URLS), d->refused, d->refused == 1 ? "" : "s", d->refused_path,
			d->refused == 1 ? "" : " and others");
	if (d->client)
		d->library.end(d->client);
	d->client = NULL;
}
