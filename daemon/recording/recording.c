// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open a recording, detect its format, and read it by offset. The file is read and not mapped. If
 * another process truncates the file, reads end early, but an access to a mapping would raise
 * SIGBUS.
 */
#include "util/array.h"
#include "util/cpu-list.h"
#include "window-queue.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Minimum number of bytes that recording_peek() reads if the range does not follow the range of the
 * last call.
 */
#define PEEK_AFTER_SKIP_MIN 4096U

/* Maximum size of the copy of a pipe, so that an endless pipe does not fill the disk. */
#define SPOOL_MAX (16ULL << 30)

static void error_format(struct recording_error *error, u64 offset, const char *format, va_list ap)
{
	error->offset = offset;
	vsnprintf(error->text, sizeof(error->text), format, ap);
}

int recording_set_error(struct recording_error *ret_error, int error, u64 offset,
			const char *format, ...)
{
	va_list ap;

	if (!ret_error)
		return error;
	va_start(ap, format);
	error_format(ret_error, offset, format, ap);
	va_end(ap);
	return error;
}

void recording_set_damage(struct recording *recording, u64 offset, const char *format, ...)
{
	va_list ap;

	pthread_mutex_lock(&recording->lock);
	if (!recording->damaged) {
		recording->damaged = true;
		va_start(ap, format);
		error_format(&recording->damage, offset, format, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&recording->lock);
}

size_t recording_read(struct recording *recording, u64 offset, u8 *buf, size_t len)
{
	size_t done = 0;
	ssize_t r;

	while (done < len) {
		r = pread(recording->fd, buf + done, len - done, (off_t)(offset + done));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			recording_set_damage(recording, offset + done, "cannot be read: %s",
					     strerror(errno));
			break;
		}
		if (!r)
			break;
		done += (size_t)r;
	}
	return done;
}

/*
 * Fill the buffer from @offset on. A caller that has skipped bytes, such as those of a window,
 * usually needs only few bytes here, so read less for it.
 */
static void peek_fill(struct recording *recording, u64 offset, size_t len, bool skips)
{
	size_t want = skips ? PEEK_AFTER_SKIP_MIN : RECORDING_PEEK_MAX;

	want = len > want ? len : want;
	recording->peek_offset = offset;
	recording->peek_len = recording_read(recording, offset, recording->peek, want);
	recording->peek_ends = recording->peek_len < want;
}

const u8 *recording_peek(struct recording *recording, u64 offset, size_t len, size_t *ret_len)
{
	bool skips = offset < recording->peek_offset ||
		     offset - recording->peek_offset > recording->peek_len;
	size_t skip;

	if (skips || (len > recording->peek_len - (offset - recording->peek_offset) &&
		      !recording->peek_ends))
		peek_fill(recording, offset, len, skips);
	skip = (size_t)(offset - recording->peek_offset);
	*ret_len = len < recording->peek_len - skip ? len : recording->peek_len - skip;
	return recording->peek + skip;
}

static int write_all(int fd, const u8 *buf, size_t len)
{
	ssize_t r;

	while (len) {
		r = write(fd, buf, len);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		buf += r;
		len -= (size_t)r;
	}
	return 0;
}

/*
 * Copy a pipe to an unnamed temporary file, because a replay reads the recording several times
 * (tasks before windows). The recording may be larger than the memory of the machine.
 */
static int spool_pipe(int pipe, int *ret_fd, struct recording_error *ret_error)
{
	const char *dir = getenv("TMPDIR");
	static u8 buf[64 << 10];
	u64 total = 0;
	ssize_t n;
	int fd, r = 0;

	if (!dir || !*dir)
		dir = "/var/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return recording_set_error(ret_error, -errno, RECORDING_NO_OFFSET,
					   "cannot create a temporary file in %s for a copy of the "
					   "pipe: %m",
					   dir);
	while (!r && total < SPOOL_MAX && (n = read(pipe, buf, sizeof(buf)))) {
		if (n < 0 && errno != EINTR)
			r = -errno;
		if (n < 0)
			continue;
		r = write_all(fd, buf, (size_t)n);
		total += (u64)n;
	}
	if (!r && total >= SPOOL_MAX)
		r = -EFBIG;
	if (r < 0) {
		close(fd);
		return recording_set_error(ret_error, r, total, "cannot copy the pipe to %s: %s",
					   dir, strerror(-r));
	}
	*ret_fd = fd;
	return 0;
}

/* Get a descriptor for pread(). @fd becomes @ret_fd or is closed, also on failure. */
static int make_seekable_fd(int fd, int *ret_fd, struct recording_error *ret_error)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0) {
		r = recording_set_error(ret_error, -errno, RECORDING_NO_OFFSET, "%m");
	} else if (S_ISREG(st.st_mode)) {
		*ret_fd = fd;
		return 0;
	} else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		r = spool_pipe(fd, ret_fd, ret_error);
	} else if (S_ISDIR(st.st_mode)) {
		r = recording_set_error(
			ret_error, -EISDIR, RECORDING_NO_OFFSET,
			"a directory, not a file; after perf record --threads, name "
			"one of the data files in it");
	} else {
		r = recording_set_error(ret_error, -EBADMSG, RECORDING_NO_OFFSET,
					"a terminal or device, not a file or a pipe");
	}
	close(fd);
	return r;
}

static int open_path(const char *path, int *ret_fd, struct recording_error *ret_error)
{
	int fd;

	/* Do not set O_NONBLOCK: a FIFO that has no writer yet would seem empty. */
	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) :
				 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return recording_set_error(ret_error, -errno, RECORDING_NO_OFFSET, "%m");
	return make_seekable_fd(fd, ret_fd, ret_error);
}

/*
 * Return true if the bytes are text. Text has no control characters except white space, but every
 * SPE record has other control characters.
 */
static bool is_text(const u8 *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (buf[i] == 0x7f || (buf[i] < ' ' && !(buf[i] >= '\t' && buf[i] <= '\r')))
			return false;
	return true;
}

static int detect_format(struct recording *recording, struct recording_error *ret_error)
{
	static const u8 elf[4] = { 0x7f, 'E', 'L', 'F' };
	size_t len;
	const u8 *buf = recording_peek(recording, 0, 4096, &len);

	if (recording->damaged)
		return recording_set_error(ret_error, -EIO, 0, "%s", recording->damage.text);
	if (!len)
		return recording_set_error(
			ret_error, -ENODATA, 0,
			"the file is empty: it should hold SPE records or a perf.data");
	if (len >= 8 && perfdata_has_magic(buf)) {
		recording->format = RECORDING_PERF;
		return 0;
	}
	if (len >= 8 && native_has_magic(buf)) {
		recording->format = RECORDING_NATIVE;
		return 0;
	}
	if (len >= 8 && !memcmp(buf, "PERFFILE", 8))
		return recording_set_error(
			ret_error, -EBADMSG, 0,
			"perf.data of perf before 3.9 (magic PERFFILE, should be PERFILE2), "
			"which has no AUX data");
	if (len >= sizeof(elf) && !memcmp(buf, elf, sizeof(elf)))
		return recording_set_error(ret_error, -EBADMSG, 0,
					   "an ELF file, not an SPE recording: should be SPE "
					   "records or a perf.data");
	if (is_text(buf, len))
		return recording_set_error(ret_error, -EBADMSG, 0,
					   "text, not an SPE recording: should be SPE records or a "
					   "perf.data");
	recording->format = RECORDING_RAW;
	return 0;
}

int recording_open(const char *path, struct recording **ret_recording,
		   struct recording_error *ret_error)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct stat st;
	int r = -ENOMEM;

	if (!recording)
		goto no_memory;
	pthread_mutex_init(&recording->lock, NULL);
	recording->fd = -1;
	recording->peek_offset = UINT64_MAX;
	recording->peek = malloc(RECORDING_PEEK_MAX);
	if (!recording->peek)
		goto no_memory;
	r = open_path(path, &recording->fd, ret_error);
	if (r < 0)
		goto fail;
	if (fstat(recording->fd, &st) == 0)
		recording->size = (u64)st.st_size;
	r = detect_format(recording, ret_error);
	if (r < 0)
		goto fail;
	recording->reader.recording = recording;
	recording->reader.size = recording->size < RECORDING_CHUNK_SIZE ? (size_t)recording->size :
									  RECORDING_CHUNK_SIZE;
	recording->reader.buf = malloc(recording->reader.size);
	r = -ENOMEM;
	if (!recording->reader.buf)
		goto no_memory;
	*ret_recording = recording;
	return 0;

no_memory:
	recording_set_error(ret_error, r, RECORDING_NO_OFFSET, "%s", strerror(-r));
fail:
	recording_free(recording);
	return r;
}

enum recording_format recording_get_format(const struct recording *recording)
{
	return recording->format;
}

u64 recording_get_size(const struct recording *recording)
{
	return recording->size;
}

/*
 * Replay raw records. A raw recording has no magic and no length, so only its records show that it
 * is a recording.
 */
static void raw_replay(struct recording *recording)
{
	const struct source_window like = {
		.tid = -1,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = BACKEND_UNKNOWN,
	};
	struct spe_ledger ledger;

	window_reader_emit(&recording->reader, 0, recording->size, &like, &ledger);
	if (!ledger.records)
		recording_set_damage(
			recording, 0,
			"no SPE record in %llu bytes, of which %llu are neither a record "
			"nor zero: not a recording, or only a part of a record",
			(unsigned long long)recording->size, (unsigned long long)ledger.suspect);
	else if (ledger.suspect > ledger.decoded)
		recording_set_damage(
			recording, 0,
			"%llu bytes parse as no SPE record and %llu do: damaged, or not "
			"a recording",
			(unsigned long long)ledger.suspect, (unsigned long long)ledger.decoded);
}

bool recording_begin_windows(struct recording *recording)
{
	const struct recording_threads *threads = recording->threads;

	if (threads->begin)
		recording->begin_error = threads->begin(threads->ctx);
	if (recording->begin_error < 0)
		return false;
	if (threads->count > 1 && recording->format != RECORDING_RAW)
		recording->queue = window_queue_new(recording, threads->sinks, threads->count);
	return true;
}

int recording_replay_threads(struct recording *recording, const struct recording_threads *threads,
			     struct recording_error *ret_error)
{
	recording->damaged = false;
	recording->without_spe = false;
	recording->begin_error = 0;
	recording->facts = (struct recording_facts){ 0 };
	recording->threads = threads;
	recording->reader.sink = threads->sinks;
	if (recording->format == RECORDING_PERF)
		perfdata_replay(recording, threads->sinks);
	else if (recording->format == RECORDING_NATIVE)
		native_replay(recording, threads->sinks);
	else if (recording_begin_windows(recording))
		raw_replay(recording);
	recording->queue = window_queue_drain_and_free(recording->queue);
	if (recording->begin_error < 0)
		return recording_set_error(ret_error, recording->begin_error, RECORDING_NO_OFFSET,
					   "%s", strerror(-recording->begin_error));
	/*
	 * If the file is damaged and has no SPE data, report the damage, because it may be the
	 * cause.
	 */
	if (!recording->damaged && !recording->without_spe)
		return 0;
	if (ret_error)
		*ret_error = recording->damaged ? recording->damage : recording->no_spe_reason;
	return recording->damaged ? -EBADMSG : -ENOMSG;
}

void recording_take_functions(struct recording *recording, struct symtab *ret_functions)
{
	*ret_functions = recording->functions;
	recording->functions = (struct symtab){ 0 };
}

void recording_facts_add_node(struct recording_facts *facts, u32 node, const char *cpus)
{
	struct cpu_list list;

	if (node >= UINT8_MAX || cpu_list_parse(cpus, &list) < 0)
		return;
	for (u32 cpu = 0; cpu < RECORDING_CPUS; cpu++)
		if (cpu_list_has(&list, cpu))
			facts->cpu_node[cpu] = (u8)(node + 1);
}

bool recording_facts_add_memory(struct recording_facts *facts, u32 node, u64 start, u64 end)
{
	u32 at = ARRAY_COUNT_LEADING(facts->ranges, i, facts->memory[i].end <= start);
	struct node_range *range = &facts->memory[at];

	if (node >= NODES_MAX || start >= end || facts->ranges == RECORDING_RANGES_MAX ||
	    (at < facts->ranges && range->start < end))
		return false;
	/* Blocks of a node are listed by address, so most of them continue the last range. */
	if (at && range[-1].node == node && range[-1].end == start) {
		range[-1].end = end;
		return true;
	}
	memmove(range + 1, range, (facts->ranges - at) * sizeof(*range));
	*range = (struct node_range){ start, end, (u8)node };
	facts->ranges++;
	return true;
}

const struct recording_facts *recording_get_facts(const struct recording *recording)
{
	return &recording->facts;
}

int recording_replay(struct recording *recording, const struct source_sink *sink,
		     struct recording_error *ret_error)
{
	const struct recording_threads threads = { .sinks = sink, .count = 1 };

	return recording_replay_threads(recording, &threads, ret_error);
}

struct recording *recording_free(struct recording *recording)
{
	if (!recording)
		return NULL;
	if (recording->fd >= 0)
		close(recording->fd);
	pthread_mutex_destroy(&recording->lock);
	free(recording->reader.buf);
	free(recording->peek);
	symtab_clear(&recording->functions);
	free(recording);
	return NULL;
}
