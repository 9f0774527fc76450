// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbols-internal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/escape.h"
#include "util/hash.h"
#include "util/time.h"

#define BUDGET	    (16ULL << 20) /* default memory limit of the cache, bytes */
#define FILES_MAX   1024 /* capacity of &symbols_cache.cache, in files */
#define MAPPINGS    8192 /* entries of &symbols_cache.mapping, a power of two */
#define WAYS	    8 /* entries of a set of &symbols_cache.mapping */
#define PENDING_MAX (1U << 19) /* maximum of &symbols_cache.pending, the addresses of all jobs */
#define RECHECK_MS  10000 /* interval of checks for a changed file */
#define KERNEL_MS   60000 /* interval of checks for loaded or unloaded modules */
#define SHORT_ID    6 /* bytes of a build id that are shown */

static_assert((MAPPINGS / WAYS & (MAPPINGS / WAYS - 1)) == 0, "a hash selects a set by a mask");

u64 symbols_now_ms(void)
{
	/* Add 1, because 0 means "never" in every field with such a time. */
	return time_clock_ns(CLOCK_MONOTONIC_COARSE) / 1000000 + 1;
}

bool symbols_wait_until(struct symbols_cache *s, u64 until_ms)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ms / 1000),
		.tv_nsec = (long)(until_ms % 1000) * 1000000,
	};

	return pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT;
}

/* ---- Mappings ---- */

static bool symbol_mapping_key_equals(const struct symbol_mapping_key *a,
				      const struct symbol_mapping_key *b)
{
	return a->path == b->path && a->inode == b->inode && a->device == b->device &&
	       a->build_id == b->build_id && a->process == b->process && a->pid == b->pid &&
	       a->kind == b->kind && a->live == b->live;
}

static u64 hash_mapping_key(const struct symbol_mapping_key *k)
{
	u64 h = (k->path ^ k->build_id ^ k->process) +
		(k->inode ^ (u64)k->device << 40) * 0x9e3779b97f4a7c15ULL +
		((u64)(u32)k->pid << 8 | k->kind) * 0xff51afd7ed558ccdULL;

	return (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
}

/*
 * Find or create the entry of @key. In a full set, replace the least recently used entry without a
 * queued job, because a job refers to its entry. Returns NULL if all entries have a queued job.
 */
static struct symbol_mapping *mapping_find_or_add(struct symbols_cache *s,
						  const struct symbol_mapping_key *key)
{
	u64 set = hash_mapping_key(key) >> 20 & (MAPPINGS / WAYS - 1);
	struct symbol_mapping *oldest = NULL;

	for (u32 i = 0; i < WAYS; i++) {
		struct symbol_mapping *m = &s->mapping[set * WAYS + i];

		if (m->in_use && symbol_mapping_key_equals(&m->key, key)) {
			m->last_used = ++s->clock;
			return m;
		}
		if (!m->job && (!oldest || m->last_used < oldest->last_used))
			oldest = m;
	}
	if (!oldest)
		return NULL;
	*oldest = (struct symbol_mapping){
		.key = *key, .stamp = oldest->stamp + 1, .last_used = ++s->clock, .in_use = true
	};
	return oldest;
}

/*
 * Return true if runtimes write compiled code to mappings with this name; perf recognizes the same
 * names.
 */
static bool is_jit_memory(const char *binary)
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

static u64 hash_build_id(const u8 *id, u8 size)
{
	return size ? hash_bytes(id, size) | 1 : 0;
}

static enum symbol_mapping_kind get_binary_kind(const char *binary)
{
	if (!strcmp(binary, "[kernel]"))
		return MAPPING_KERNEL;
	if (!strcmp(binary, "[vdso]"))
		return MAPPING_VDSO;
	return is_jit_memory(binary) ? MAPPING_JIT : MAPPING_FILE;
}

/*
 * Set last_path, last_path_hash and last_kind for a binary. Most queries are for the same binary as
 * the previous query. Compare the text, because the pointer may have been reused for another
 * binary.
 */
static void store_last_binary(struct symbols_cache *s, const char *binary)
{
	size_t size = strlen(binary) + 1;

	if (s->last_path_hash && !strcmp(s->last_path, binary))
		return;
	if (size > sizeof(s->last_path))
		s->last_path[0] = '\0';
	else
		memcpy(s->last_path, binary, size);
	s->last_path_hash = hash_path_nonzero(binary);
	s->last_kind = (u8)get_binary_kind(binary);
}

/*
 * Get the mapping of a location, and the address for its symbols. Returns false if the location
 * cannot have symbols. An example is a file without a build id in a recording: on this machine, its
 * path may lead to another file. A directory with the files of the recorded machine may be given.
 */
static bool location_get_key(struct symbols_cache *s, s32 pid,
			     const struct attribute_location *location, bool live,
			     struct symbol_mapping_key *ret_key, u64 *ret_address)
{
	store_last_binary(s, location->binary);
	*ret_key = (struct symbol_mapping_key){ .live = live, .kind = s->last_kind };
	*ret_address = location->offset;
	switch (s->last_kind) {
	case MAPPING_KERNEL:
	case MAPPING_VDSO:
		return live;
	case MAPPING_JIT:
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
	ret_key->build_id = hash_build_id(location->build_id, location->build_id_size);
	ret_key->pid = live ? pid : 0;
	return location->binary[0] == '/' &&
	       (live || location->build_id_size || s->config.folders.symfs);
}

/* ---- Jobs ---- */

void job_free(struct resolve_job *job)
{
	address_set_clear(&job->names);
	address_set_clear(&job->lines);
	free(job);
}

static bool resolver_start_thread(struct resolver_thread *resolver)
{
	sigset_t all, old;

	if (resolver->started)
		return true;
	/* Block all signals in the new thread: the main thread handles them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	resolver->started = !pthread_create(&resolver->thread, NULL, resolver_run, resolver);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return resolver->started;
}

bool symbols_start_resolvers(struct symbols_cache *s)
{
	bool started = resolver_start_thread(&s->resolver[0]);

	for (u32 i = 1; i < RESOLVERS && (s->jobs >= i || s->failures); i++)
		resolver_start_thread(&s->resolver[i]);
	return started;
}

/* Find or create the queued job of a mapping; NULL if memory or a thread cannot be allocated. */
static struct resolve_job *job_find_or_add(struct symbols_cache *s, struct symbol_mapping *m,
					   const struct attribute_location *location)
{
	size_t len = strlen(location->binary) + 1;
	struct resolve_job *job = m->job;

	if (job || !symbols_start_resolvers(s))
		return job;
	job = calloc(1, sizeof(*job) + len);
	if (!job)
		return NULL;
	job->key = m->key;
	job->mapping = (u32)(m - s->mapping);
	job->stamp = m->stamp;
	job->missed = m->missed;
	memcpy(job->path, location->binary, len);
	if (location->build_id_size && location->build_id_size <= BUILD_ID_MAX) {
		memcpy(job->build_id, location->build_id, location->build_id_size);
		job->build_id_size = location->build_id_size;
	}
	m->job = job;
	m->missed = false;
	if (s->incoming_last)
		s->incoming_last->next = job;
	else
		s->incoming = job;
	s->incoming_last = job;
	s->jobs++;
	pthread_cond_broadcast(&s->changed);
	return job;
}

/*
 * Request the function, or with @lines the source line, of @address. If @address is NULL, request
 * only a check of the mapped file. The request is dropped if too many addresses are pending.
 */
static void mapping_request_symbol(struct symbols_cache *s, struct symbol_mapping *m,
				   const struct attribute_location *location, const u64 *address,
				   bool lines)
{
	struct resolve_job *job = job_find_or_add(s, m, location);

	if (!job || !address || s->pending >= PENDING_MAX)
		return;
	if (address_set_add(lines ? &job->lines : &job->names, *address))
		s->pending++;
}

/* ---- Queries ---- */

/*
 * Return true if the mapped file has to be checked again. The files of a recording and the vDSO do
 * not change.
 */
static bool mapping_is_stale(const struct symbol_mapping *m)
{
	u64 age = symbols_now_ms() - m->checked_ms;

	if (!m->key.live || m->key.kind == MAPPING_VDSO)
		return false;
	return age > (m->key.kind == MAPPING_KERNEL ? KERNEL_MS : RECHECK_MS);
}

static const struct name_range *find_cached_range(struct symbols_cache *s, struct name_file_ref ref,
						  u64 address, const struct name_file **ret_file)
{
	struct name_file *f = name_cache_get_file(&s->cache, ref);

	*ret_file = f;
	return f ? name_file_find_range(f, address) : NULL;
}

/* Get the range of @address in the mapping with @key from the cache, or request it. */
static const struct name_range *find_or_request_key(struct symbols_cache *s,
						    const struct symbol_mapping_key *key,
						    const struct attribute_location *location,
						    u64 address, const struct name_file **ret_file)
{
	const struct name_range *range = NULL;
	const struct name_file *previous;
	struct symbol_mapping *m = mapping_find_or_add(s, key);

	*ret_file = NULL;
	if (!m)
		return NULL;
	if (m->checked_ms)
		range = find_cached_range(s, m->file, address, ret_file);
	if (range) {
		m->missed |= !range->text;
		if (mapping_is_stale(m))
			mapping_request_symbol(s, m, location, NULL, false);
		return range;
	}
	/* Request nothing that cannot be found, until the next check of the mapping. */
	if (m->checked_ms && !mapping_is_stale(m) &&
	    (*ret_file ? (*ret_file)->unreadable || (*ret_file)->full : !m->file.generation))
		return NULL;
	mapping_request_symbol(s, m, location, &address, false);
	range = find_cached_range(s, m->previous, address, &previous);
	if (range)
		*ret_file = previous;
	return range;
}

/* Get the range of the code at @location from the cache, or request it. */
static const struct name_range *find_or_request_range(struct symbols_cache *s, s32 pid,
						      const struct attribute_location *location,
						      bool live, const struct name_file **ret_file)
{
	struct symbol_mapping_key key;
	u64 address;

	*ret_file = NULL;
	return location_get_key(s, pid, location, live, &key, &address) ?
		       find_or_request_key(s, &key, location, address, ret_file) :
		       NULL;
}

/* Returns the function of a recorded kernel at @location, and its start; NULL if it is unknown. */
static const char *find_recorded_function(const struct symbols_cache *s,
					  const struct attribute_location *location, bool live,
					  u64 *ret_start)
{
	u64 size;

	if (live || !s->config.kernel || get_binary_kind(location->binary) != MAPPING_KERNEL)
		return NULL;
	return symtab_find_range(s->config.kernel, location->offset, ret_start, &size);
}

bool symbols_get_function_key(struct symbols_cache *s, s32 pid,
			      const struct attribute_location *location, bool live, u64 *ret_key)
{
	const struct name_file *file;
	const struct name_range *range;

	if (!s)
		return false;
	if (find_recorded_function(s, location, live, ret_key))
		return true;
	pthread_mutex_lock(&s->lock);
	range = find_or_request_range(s, pid, location, live, &file);
	if (range && range->text)
		*ret_key = (u64)(file - s->cache.file) << 32 | range->text;
	pthread_mutex_unlock(&s->lock);
	return range && range->text;
}

bool symbols_address_is_public(const struct attribute_location *location, bool live)
{
	return !live || strcmp(location->binary, "[kernel]") != 0;
}

/*
 * Write "binary+0xoffset"; for a recording also the first bytes of the build id, with which the
 * location can be resolved on another machine (addr2line, debuginfod). The name is truncated, not
 * the offset.
 */
static void format_binary_offset(const struct attribute_location *location, bool live, char *name,
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

bool symbols_get_function(struct symbols_cache *s, s32 pid,
			  const struct attribute_location *location, bool live, char *name,
			  size_t size)
{
	const struct name_range *range;
	const struct name_file *file;
	const char *recorded = NULL;
	bool found = false;
	u64 start;

	if (!size)
		return false;
	if (s)
		recorded = find_recorded_function(s, location, live, &start);
	if (recorded) {
		escape_string(name, size, recorded);
		return true;
	}
	if (s) {
		pthread_mutex_lock(&s->lock);
		range = find_or_request_range(s, pid, location, live, &file);
		found = range && range->text;
		if (found)
			escape_string(name, size, file->text + range->text);
		pthread_mutex_unlock(&s->lock);
	}
	if (!found)
		format_binary_offset(location, live, name, size);
	return found;
}

void symbols_name_unmapped(u64 pc, bool live, char *name, size_t size)
{
	if (live)
		snprintf(name, size, "[unknown]");
	else
		snprintf(name, size, "0x%" PRIx64, pc);
}

/* Escape each name, but not the newlines between the names. */
static void copy_escaped_inlines(const char *from, char *to, size_t size)
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

/* Get the line of @location from the cache, or request it. */
static const struct name_line *find_or_request_line(struct symbols_cache *s, s32 pid,
						    const struct attribute_location *location,
						    bool live, const struct name_file **ret_file)
{
	const struct name_line *line = NULL;
	const struct name_file *file = NULL;
	struct symbol_mapping_key key;
	struct symbol_mapping *m;
	u64 address;

	if (!location_get_key(s, pid, location, live, &key, &address))
		return NULL;
	m = mapping_find_or_add(s, &key);
	if (!m)
		return NULL;
	if (m->checked_ms)
		file = name_cache_get_file(&s->cache, m->file);
	if (file)
		line = name_file_find_line(file, address);
	if (!line &&
	    (!m->checked_ms || mapping_is_stale(m) || (file && !file->unreadable && !file->full)))
		mapping_request_symbol(s, m, location, &address, true);
	*ret_file = file;
	return line && line->line ? line : NULL;
}

bool symbols_get_line_key(struct symbols_cache *s, s32 pid,
			  const struct attribute_location *location, bool live, u64 *ret_key)
{
	const struct name_line *line;
	const struct name_file *file;

	*ret_key = 0;
	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	line = find_or_request_line(s, pid, location, live, &file);
	if (line)
		*ret_key = (u64)line->file << 32 | line->line;
	pthread_mutex_unlock(&s->lock);
	return line;
}

bool symbols_get_source_line(struct symbols_cache *s, s32 pid,
			     const struct attribute_location *location, bool live,
			     struct source_line *ret_source)
{
	const struct name_line *line;
	const struct name_file *file;

	*ret_source = (struct source_line){ .line = 0 };
	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	line = find_or_request_line(s, pid, location, live, &file);
	if (line) {
		escape_string(ret_source->file, sizeof(ret_source->file), file->text + line->file);
		copy_escaped_inlines(file->text + line->inlines, ret_source->inlines,
				     sizeof(ret_source->inlines));
		ret_source->line = line->line;
	}
	pthread_mutex_unlock(&s->lock);
	return line;
}

/* Get a name of data; @flags: SYMBOL_ACCESS if @location is that of an instruction, else 0. */
static bool get_data_name(struct symbols_cache *s, const struct attribute_location *location,
			  u64 flags, struct data_name *ret_name)
{
	const struct name_range *range = NULL;
	const struct name_file *file;
	struct symbol_mapping_key key;
	const char *text;
	size_t length;
	u64 address;

	*ret_name = (struct data_name){ .type = "[no debug data]", .field = "[no debug data]" };
	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	if (location_get_key(s, 0, location, false, &key, &address) && key.kind == MAPPING_FILE) {
		key.kind = MAPPING_DATA;
		range = find_or_request_key(s, &key, location, address | flags, &file);
	}
	if (range && range->text) {
		text = file->text + range->text;
		length = strcspn(text, "\n");
		escape_text(ret_name->type, sizeof(ret_name->type), text, length);
		escape_string(ret_name->field, sizeof(ret_name->field),
			      text[length] ? text + length + 1 : text);
	}
	pthread_mutex_unlock(&s->lock);
	return range;
}

bool symbols_get_data(struct symbols_cache *s, const struct attribute_location *location,
		      struct data_name *ret_name)
{
	return get_data_name(s, location, 0, ret_name);
}

bool symbols_get_accessed_data(struct symbols_cache *s, const struct attribute_location *location,
			       struct data_name *ret_name)
{
	return get_data_name(s, location, SYMBOL_ACCESS, ret_name);
}

static void wait_for_jobs(struct symbols_cache *s, u32 ms)
{
	u64 until_ms = symbols_now_ms() + ms;

	while (s->jobs && symbols_wait_until(s, until_ms))
		;
}

bool symbols_wait_configured(struct symbols_cache *s)
{
	bool waits;

	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	/*
	 * Return true even if no job is left: a job that ended meanwhile may have resolved the
	 * caller's locations.
	 */
	waits = s->config.wait_ms;
	if (waits && s->jobs)
		wait_for_jobs(s, s->config.wait_ms);
	pthread_mutex_unlock(&s->lock);
	return waits;
}

void symbols_wait(struct symbols_cache *s, u32 ms)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	wait_for_jobs(s, ms);
	pthread_mutex_unlock(&s->lock);
}

u8 symbols_get_build_id(struct symbols_cache *s, s32 pid, const struct attribute_location *location,
			u8 *ret_id)
{
	const struct name_file *file = NULL;
	struct symbol_mapping_key key;
	struct symbol_mapping *m = NULL;
	u64 address;
	u8 size = 0;

	pthread_mutex_lock(&s->lock);
	if (location_get_key(s, pid, location, true, &key, &address) && key.kind == MAPPING_FILE)
		m = mapping_find_or_add(s, &key);
	if (m && !m->checked_ms) {
		u32 stamp = m->stamp;

		mapping_request_symbol(s, m, location, NULL, false);
		wait_for_jobs(s, s->config.wait_ms);
		/* Other threads may have reused the entry while the lock was released. */
		if (m->stamp != stamp)
			m = NULL;
	}
	if (m)
		file = name_cache_get_file(&s->cache, m->file);
	if (file) {
		size = file->known.build_id_size;
		memcpy(ret_id, file->known.build_id, size);
	}
	pthread_mutex_unlock(&s->lock);
	return size;
}

void symbols_get_stats(struct symbols_cache *s, struct symbols_stats *ret_stats)
{
	pthread_mutex_lock(&s->lock);
	*ret_stats = (struct symbols_stats){
		.pending = s->pending,
		.evicted = s->cache.evicted,
		.failures = s->failures,
		.quarantined = s->quarantined,
		.memory = sizeof(*s) + MAPPINGS * sizeof(*s->mapping) + s->cache.memory,
	};
	static_assert(sizeof(ret_stats->reason) == sizeof(s->reason), "reasons are copied whole");
	memcpy(ret_stats->reason, *s->reason ? s->reason : s->jit_reason, sizeof(s->reason));
	pthread_mutex_unlock(&s->lock);
}

/* ---- Creation and destruction ---- */

int symbols_new(const struct symbols_config *config, struct symbols_cache **ret_symbols)
{
	struct symbols_cache *s = calloc(1, sizeof(*s));
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
	s->mapping = calloc(MAPPINGS, sizeof(*s->mapping));
	s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = s->stop < 0 ? -errno : s->mapping ? 0 : -ENOMEM;
	for (u32 i = 0; i < RESOLVERS; i++) {
		struct helper_link *link = &s->resolver[i].link;

		s->resolver[i].symbols = s;
		helper_link_init(link, s->config.helper, s->config.idle);
		link->stop = s->stop;
		link->folders = s->config.folders;
		if (s->config.open_ms)
			link->open_ms = s->config.open_ms;
	}
	/* Clear the pointer, because the caller may free the string now. */
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

/* Stop the threads. The eventfd aborts their helper calls; nothing else that they do can block. */
static void resolvers_stop(struct symbols_cache *s)
{
	const u64 one = 1;

	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (s->stop >= 0 && write(s->stop, &one, sizeof(one)) < 0)
		return;
	for (u32 i = 0; i < RESOLVERS; i++) {
		if (s->resolver[i].started)
			pthread_join(s->resolver[i].thread, NULL);
		helper_link_deinit(&s->resolver[i].link);
	}
}

struct symbols_cache *symbols_free(struct symbols_cache *s)
{
	struct resolve_job *job;

	if (!s)
		return NULL;
	resolvers_stop(s);
	while ((job = s->incoming)) {
		s->incoming = job->next;
		job_free(job);
	}
	while ((job = job_queues_pop_any(&s->queues)))
		job_free(job);
	if (s->stop >= 0)
		close(s->stop);
	name_cache_deinit(&s->cache);
	free(s->mapping);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return NULL;
}
