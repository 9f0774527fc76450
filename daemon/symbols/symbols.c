// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbols-internal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "util/escape.h"
#include "util/hash.h"

#define BUDGET	    (16ULL << 20)
#define FILES_MAX   1024
#define MAPPED	    8192 /* a power of two */
#define WAYS	    8
#define PENDING_MAX (1U << 19)
#define RECHECK_MS  10000 /* before it is looked which file a mapping is now */
#define KERNEL_MS   60000 /* before modules are looked at again */
#define SHORT_ID    6 /* bytes of a build id that are shown */

u64 symbols_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	/* Never 0, which is never. */
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000 + 1;
}

/* Mappings */

static bool same_mapped(const struct mapped_key *a, const struct mapped_key *b)
{
	return a->path == b->path && a->inode == b->inode && a->device == b->device &&
	       a->id == b->id && a->process == b->process && a->pid == b->pid && a->kind == b->kind &&
	       a->live == b->live;
}

static u64 key_hash(const struct mapped_key *k)
{
	u64 h = (k->path ^ k->id ^ k->process) +
		(k->inode ^ (u64)k->device << 40) * 0x9e3779b97f4a7c15ULL +
		((u64)(u32)k->pid << 8 | k->kind) * 0xff51afd7ed558ccdULL;

	return (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
}

/* The entry of @key; where its set is full, what was used the longest ago and has no job goes. */
static struct mapped *mapped_get(struct symbols *s, const struct mapped_key *key)
{
	struct mapped *set = &s->mapped[(key_hash(key) >> 20 & (MAPPED / WAYS - 1)) * WAYS];
	struct mapped *room = NULL;

	for (u32 i = 0; i < WAYS; i++) {
		struct mapped *m = &set[i];

		if (m->in_use && same_mapped(&m->key, key)) {
			m->used = ++s->clock;
			return m;
		}
		if (!m->job && (!room || m->used < room->used))
			room = m;
	}
	if (!room)
		return NULL;
	*room = (struct mapped){
		.key = *key, .stamp = room->stamp + 1, .used = ++s->clock, .in_use = true
	};
	return room;
}

/* Memory in which a runtime puts what it compiled: perf names it alike. */
static bool is_made(const char *binary)
{
	static const char *const names[] = {
		"[anon",  "//anon", "/dev/zero", "/anon_hugepage", "/memfd:doublemapper",
		"[heap]", "[stack]"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(binary, names[i], strlen(names[i])))
			return true;
	return false;
}

static u64 id_hash(const u8 *id, u8 size)
{
	return size ? hash_bytes(id, size) | 1 : 0;
}

static enum mapped_kind binary_kind(const char *binary)
{
	if (!strcmp(binary, "[kernel]"))
		return MAPPED_KERNEL;
	if (!strcmp(binary, "[vdso]"))
		return MAPPED_VDSO;
	return is_made(binary) ? MAPPED_JIT : MAPPED_FILE;
}

/* Places come by binary: what it is stays known, with its name, as the pointer may be another's. */
static void binary_look(struct symbols *s, const char *binary)
{
	size_t size = strlen(binary) + 1;

	if (s->last_path_hash && !strcmp(s->last_path, binary))
		return;
	if (size > sizeof(s->last_path))
		s->last_path[0] = '\0';
	else
		memcpy(s->last_path, binary, size);
	s->last_path_hash = path_hash(binary);
	s->last_kind = (u8)binary_kind(binary);
}

/* Whether @location may have a name at all, and in which mapping, at which address. */
static bool place_key(struct symbols *s, s32 pid, const struct attribute_location *location,
		      bool live, struct mapped_key *ret_key, u64 *ret_address)
{
	binary_look(s, location->binary);
	*ret_key = (struct mapped_key){ .live = live, .kind = s->last_kind };
	*ret_address = location->offset;
	switch (s->last_kind) {
	case MAPPED_KERNEL:
	case MAPPED_VDSO:
		return live;
	case MAPPED_JIT:
		ret_key->pid = pid;
		ret_key->process = location->process;
		*ret_address = location->pc;
		return live && pid > 0;
	default:
		break;
	}
	ret_key->path = s->last_path_hash;
	ret_key->inode = location->inode;
	ret_key->device = location->device;
	ret_key->id = id_hash(location->build_id, location->build_id_size);
	ret_key->pid = live ? pid : 0;
	return location->binary[0] == '/' && (live || location->build_id_size);
}

/* Jobs */

void job_free(struct job *job)
{
	address_set_clear(&job->names);
	address_set_clear(&job->lines);
	free(job);
}

static bool lane_start(struct symbol_lane *lane)
{
	sigset_t all, old;
	int r;

	if (lane->started)
		return true;
	/* Signals are for those who wait for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&lane->thread, NULL, resolver_run, lane);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	lane->started = !r;
	return lane->started;
}

bool symbols_start_lanes(struct symbols *s)
{
	bool started = lane_start(&s->lane[0]);

	for (u32 i = 1; i < SYMBOL_LANES && (s->jobs >= i || s->failures); i++)
		lane_start(&s->lane[i]);
	return started;
}

static struct job *job_get(struct symbols *s, struct mapped *m,
			   const struct attribute_location *location)
{
	size_t len = strlen(location->binary) + 1;
	struct job *job = m->job;

	if (job || !symbols_start_lanes(s))
		return job;
	job = calloc(1, sizeof(*job) + len);
	if (!job)
		return NULL;
	job->key = m->key;
	job->mapped = (u32)(m - s->mapped);
	job->stamp = m->stamp;
	job->missed = m->missed;
	memcpy(job->path, location->binary, len);
	if (location->build_id_size && location->build_id_size <= BUILD_ID_MAX) {
		memcpy(job->build_id, location->build_id, location->build_id_size);
		job->build_id_size = location->build_id_size;
	}
	m->job = job;
	m->missed = false;
	if (s->last)
		s->last->next = job;
	else
		s->first = job;
	s->last = job;
	s->jobs++;
	pthread_cond_broadcast(&s->changed);
	return job;
}

/* Have @address looked up; ATTRIBUTE_AT_END: only which file it is. */
static void ask(struct symbols *s, struct mapped *m, const struct attribute_location *location,
		const u64 *address, bool lines)
{
	struct job *job = job_get(s, m, location);

	if (!job || !address || s->pending >= PENDING_MAX)
		return;
	if (address_set_add(lines ? &job->lines : &job->names, *address))
		s->pending++;
}

/* Answers */

static bool is_stale(const struct mapped *m)
{
	u64 age = symbols_now_ms() - m->checked_ms;

	if (!m->key.live || m->key.kind == MAPPED_VDSO)
		return false;
	return age > (m->key.kind == MAPPED_KERNEL ? KERNEL_MS : RECHECK_MS);
}

static const struct name_range *known_range(struct symbols *s, struct name_ref ref, u64 address,
					    const struct name_file **ret_file)
{
	struct name_file *f = name_cache_file(&s->cache, ref);

	*ret_file = f;
	return f ? name_file_range(f, address) : NULL;
}

/* The range of @location; what is not known is asked for. */
static const struct name_range *range_find(struct symbols *s, s32 pid,
					   const struct attribute_location *location, bool live,
					   const struct name_file **ret_file)
{
	const struct name_range *range = NULL;
	const struct name_file *before;
	struct mapped_key key;
	struct mapped *m;
	u64 address;

	*ret_file = NULL;
	if (!place_key(s, pid, location, live, &key, &address))
		return NULL;
	m = mapped_get(s, &key);
	if (!m)
		return NULL;
	if (m->checked_ms)
		range = known_range(s, m->file, address, ret_file);
	if (range) {
		m->missed |= !range->text;
		if (is_stale(m))
			ask(s, m, location, NULL, false);
		return range;
	}
	/* Neither of a file that has none, nor of what is no file: until it is looked again. */
	if (m->checked_ms && !is_stale(m) &&
	    (*ret_file ? (*ret_file)->nameless || (*ret_file)->full : !m->file.generation))
		return NULL;
	ask(s, m, location, &address, false);
	range = known_range(s, m->before, address, &before);
	if (range)
		*ret_file = before;
	return range;
}

bool symbols_key(struct symbols *s, s32 pid, const struct attribute_location *location, bool live,
		 u64 *ret_key)
{
	const struct name_file *file;
	const struct name_range *range;

	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	range = range_find(s, pid, location, live, &file);
	if (range && range->text)
		*ret_key = (u64)(file - s->cache.file) << 32 | range->text;
	pthread_mutex_unlock(&s->lock);
	return range && range->text;
}

bool symbols_address_is_public(const struct attribute_location *location, bool live)
{
	return !live || strcmp(location->binary, "[kernel]") != 0;
}

/* "binary+0xoffset", and whose offset that is: the offset is kept whole, the name is cut. */
static void name_offset(const struct attribute_location *location, bool live, char *name,
			size_t size)
{
	static const char deleted[] = " (deleted)";
	const char *base = strrchr(location->binary, '/');
	char tail[24 + 4 + 2 * SHORT_ID];
	size_t len, n;

	if (!symbols_address_is_public(location, live)) {
		snprintf(name, size, "%s", location->binary);
		return;
	}
	base = base && base[1] ? base + 1 : location->binary;
	len = strlen(base);
	n = strlen(deleted);
	if (len > n && !strcmp(base + len - n, deleted))
		len -= n;
	n = (size_t)snprintf(tail, sizeof(tail), "+0x%" PRIx64, location->offset);
	/* Of a recording: it is to be looked up where that build is, with addr2line or debuginfod. */
	if (!live && location->build_id_size) {
		n += (size_t)snprintf(tail + n, sizeof(tail) - n, " [");
		for (u8 i = 0; i < location->build_id_size && i < SHORT_ID; i++)
			n += (size_t)snprintf(tail + n, sizeof(tail) - n, "%02x",
					      location->build_id[i]);
		n += (size_t)snprintf(tail + n, sizeof(tail) - n, "]");
	}
	if (size <= n + 1) {
		snprintf(name, size, "%s", tail + 1);
		return;
	}
	len = escape_text(name, size - n, base, len);
	memcpy(name + len, tail, n + 1);
}

bool symbols_function(struct symbols *s, s32 pid, const struct attribute_location *location,
		      bool live, char *name, size_t size)
{
	const struct name_range *range;
	const struct name_file *file;
	bool found = false;

	if (!size)
		return false;
	if (s) {
		pthread_mutex_lock(&s->lock);
		range = range_find(s, pid, location, live, &file);
		found = range && range->text;
		if (found)
			escape_string(name, size, file->text + range->text);
		pthread_mutex_unlock(&s->lock);
	}
	if (!found)
		name_offset(location, live, name, size);
	return found;
}

void symbols_name_unmapped(u64 pc, bool live, char *name, size_t size)
{
	if (live)
		snprintf(name, size, "[unknown]");
	else
		snprintf(name, size, "0x%" PRIx64, pc);
}

/* Each name by itself: what parts them stays a newline. */
static void inlines_copy(const char *from, char *to, size_t size)
{
	size_t len = 0;

	while (*from && len + 2 < size) {
		size_t n = strcspn(from, "\n");

		if (len)
			to[len++] = '\n';
		len += escape_text(to + len, size - len, from, n);
		from += n + (from[n] == '\n');
	}
	to[len] = '\0';
}

/* The line at @location; what is not known is asked for. */
static const struct name_line *line_find(struct symbols *s, s32 pid,
					 const struct attribute_location *location, bool live,
					 const struct name_file **ret_file)
{
	const struct name_line *line = NULL;
	const struct name_file *file = NULL;
	struct mapped_key key;
	struct mapped *m;
	u64 address;

	if (!place_key(s, pid, location, live, &key, &address))
		return NULL;
	m = mapped_get(s, &key);
	if (!m)
		return NULL;
	if (m->checked_ms)
		file = name_cache_file(&s->cache, m->file);
	if (file)
		line = name_file_line(file, address);
	if (!line && (!m->checked_ms || is_stale(m) || (file && !file->nameless && !file->full)))
		ask(s, m, location, &address, true);
	*ret_file = file;
	return line && line->line ? line : NULL;
}

bool symbols_line(struct symbols *s, s32 pid, const struct attribute_location *location, bool live,
		  u64 *ret_key)
{
	const struct name_line *line;
	const struct name_file *file;

	*ret_key = 0;
	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	line = line_find(s, pid, location, live, &file);
	if (line)
		*ret_key = (u64)line->file << 32 | line->line;
	pthread_mutex_unlock(&s->lock);
	return line;
}

bool symbols_source(struct symbols *s, s32 pid, const struct attribute_location *location,
		    bool live, struct symbol_source *ret_source)
{
	const struct name_line *line;
	const struct name_file *file;

	*ret_source = (struct symbol_source){ .line = 0 };
	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	line = line_find(s, pid, location, live, &file);
	if (line) {
		escape_string(ret_source->file, sizeof(ret_source->file), file->text + line->file);
		inlines_copy(file->text + line->inlines, ret_source->inlines,
			     sizeof(ret_source->inlines));
		ret_source->line = line->line;
	}
	pthread_mutex_unlock(&s->lock);
	return line;
}

static void settle(struct symbols *s, u32 ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (s->jobs && pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
		;
}

bool symbols_wait_default(struct symbols *s)
{
	bool waits;

	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	waits = s->config.wait_ms && s->jobs;
	if (waits)
		settle(s, s->config.wait_ms);
	pthread_mutex_unlock(&s->lock);
	return waits;
}

void symbols_wait(struct symbols *s, u32 ms)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	settle(s, ms);
	pthread_mutex_unlock(&s->lock);
}

u8 symbols_build_id(struct symbols *s, s32 pid, const struct attribute_location *location,
		    u8 *ret_id)
{
	const struct name_file *file = NULL;
	struct mapped_key key;
	struct mapped *m = NULL;
	u64 address;
	u8 size = 0;

	pthread_mutex_lock(&s->lock);
	if (place_key(s, pid, location, true, &key, &address) && key.kind == MAPPED_FILE)
		m = mapped_get(s, &key);
	if (m && !m->checked_ms) {
		u32 stamp = m->stamp;

		ask(s, m, location, NULL, false);
		settle(s, s->config.wait_ms);
		if (m->stamp != stamp)
			m = NULL;
	}
	if (m)
		file = name_cache_file(&s->cache, m->file);
	if (file) {
		size = file->known.build_id_size;
		memcpy(ret_id, file->known.build_id, size);
	}
	pthread_mutex_unlock(&s->lock);
	return size;
}

void symbols_stats(struct symbols *s, struct symbols_stats *ret_stats)
{
	pthread_mutex_lock(&s->lock);
	*ret_stats = (struct symbols_stats){
		.pending = s->pending,
		.evicted = s->cache.evicted,
		.failures = s->failures,
		.poisoned = s->poisoned,
		.memory = sizeof(*s) + MAPPED * sizeof(*s->mapped) + s->cache.memory,
	};
	static_assert(sizeof(ret_stats->reason) == sizeof(s->reason), "of one size");
	memcpy(ret_stats->reason, s->reason, sizeof(s->reason));
	pthread_mutex_unlock(&s->lock);
}

/* Life */

int symbols_new(const struct symbols_config *config, struct symbols **ret_symbols)
{
	struct symbols *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int r;

	if (!s)
		return -ENOMEM;
	if (config)
		s->config = *config;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	s->mapped = calloc(MAPPED, sizeof(*s->mapped));
	s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = s->stop < 0 ? -errno : s->mapped ? 0 : -ENOMEM;
	for (u32 i = 0; i < SYMBOL_LANES; i++) {
		s->lane[i].symbols = s;
		helper_link_init(&s->lane[i].link, s->config.helper, s->config.idle);
		s->lane[i].link.stop = s->stop;
		if (s->config.open_ms)
			s->lane[i].link.open_ms = s->config.open_ms;
	}
	s->config.helper = NULL;
	if (!r)
		r = name_cache_init(&s->cache, FILES_MAX,
				    s->config.budget ? s->config.budget : BUDGET);
	if (r < 0) {
		symbols_free(s);
		return r;
	}
	*ret_symbols = s;
	return 0;
}

/* Calls end at once; nothing else that a lane does can take long. */
static void lanes_end(struct symbols *s)
{
	const u64 one = 1;

	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (s->stop >= 0 && write(s->stop, &one, sizeof(one)) < 0)
		return;
	for (u32 i = 0; i < SYMBOL_LANES; i++) {
		if (s->lane[i].started)
			pthread_join(s->lane[i].thread, NULL);
		helper_link_deinit(&s->lane[i].link);
	}
}

struct symbols *symbols_free(struct symbols *s)
{
	struct job *job;

	if (!s)
		return NULL;
	lanes_end(s);
	while ((job = s->first)) {
		s->first = job->next;
		job_free(job);
	}
	while ((job = job_queues_drop(&s->queues)))
		job_free(job);
	if (s->stop >= 0)
		close(s->stop);
	name_cache_deinit(&s->cache);
	free(s->mapped);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return NULL;
}
