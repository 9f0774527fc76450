// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The threads that resolve addresses; each has two helper processes: the opener opens files, and
 * the reader, which is sandboxed, reads them.
 */
#include "symbols-internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attribution/procfs.h"
#include "debug-files.h"
#include "util/hash.h"

/* time without a job after which helpers are killed to free memory, in ms */
#define IDLE_MS 30000
/* time for which a file is rejected after a helper failed on it, in ms */
#define QUARANTINE_MS 3600000
/* number of hanging helpers of an owner from which on the owner's files are rejected */
#define STUCK_MAX 2
#define VDSO_MAX  0x10000

/* Returns a hash of the loaded modules, which determine the symbols of the kernel. */
static u64 hash_loaded_modules(void)
{
	int fd = open("/proc/modules", O_RDONLY | O_CLOEXEC);
	u64 h = HASH_START;
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return 0;
	/*
	 * Hash only the name and the size in each line, because use counts and states change all
	 * the time.
	 */
	for (u32 field = 0; (n = read(fd, buf, sizeof(buf))) > 0;)
		for (ssize_t i = 0; i < n; i++) {
			field = buf[i] == '\n' ? 0 : field + (buf[i] == ' ');
			if (field < 2)
				h = hash_add_byte(h, (u8)buf[i]);
		}
	close(fd);
	return h;
}

/* Prepare a request to the opener for the file of a job. */
static struct open_request *request_prepare(struct resolver_thread *resolver,
					    const struct resolve_job *job, u32 type)
{
	struct open_request *r = &resolver->open;

	memset(r, 0, sizeof(*r));
	r->type = type;
	r->pid = job->key.pid;
	r->inode = job->key.inode;
	r->live = job->key.live;
	r->has_id = job->build_id_size > 0;
	/* If the path is too long for the kernel, leave it empty: an empty path opens no file. */
	if (strlen(job->path) < sizeof(r->path))
		strcpy(r->path, job->path);
	return r;
}

static bool store_if_vdso(void *ctx, const struct procfs_map *map)
{
	if (!strcmp(map->path, "[vdso]"))
		*(struct procfs_map *)ctx = *map;
	return true;
}

int vdso_copy_to_memfd(void)
{
	struct procfs_map map = { 0 };
	int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC), fd, r;
	struct procfs_maps_cost cost;

	if (self < 0)
		return -errno;
	r = procfs_read_maps(self, 0, store_if_vdso, &map, &cost);
	close(self);
	if (r < 0 || !map.start || map.end - map.start > VDSO_MAX)
		return r < 0 ? r : -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, (const void *)(uintptr_t)map.start, map.end - map.start) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

/*
 * Open the kernel's symbols or the vDSO. This thread opens them without the opener, because both
 * files belong to the kernel, and access to them cannot hang.
 */
static int open_kernel_file(struct symbols_cache *s, const struct resolve_job *job,
			    struct name_file_key *ret_key)
{
	if (job->key.kind == MAPPING_VDSO)
		return vdso_copy_to_memfd();
	/*
	 * The key depends on the set of modules and on the epoch, so a change of either creates a
	 * new entry in the cache.
	 */
	ret_key->kind = SYMBOL_KALLSYMS;
	ret_key->ino = hash_loaded_modules();
	pthread_mutex_lock(&s->lock);
	s->kernel_epoch += job->missed;
	ret_key->size = (off_t)s->kernel_epoch;
	pthread_mutex_unlock(&s->lock);
	return open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

static u32 job_get_symbol_kind(const struct resolve_job *job)
{
	return job->key.kind == MAPPING_KERNEL ? SYMBOL_KALLSYMS :
	       job->key.kind == MAPPING_JIT    ? SYMBOL_JIT_NAMES :
	       job->key.kind == MAPPING_DATA   ? SYMBOL_DATA :
						 SYMBOL_ELF;
}

/*
 * Open the file with the symbols. The descriptor of a process's file stays in the opener, and
 * @ret_fd is -1, because even close() of such a descriptor may hang. @candidate: of a MAPPING_JIT,
 * the first candidate to try; set to the one after the opened file.
 */
static int job_open_file(struct resolver_thread *resolver, const struct resolve_job *job,
			 u32 *candidate, struct name_file_key *ret_key, int *ret_fd)
{
	bool jit = job->key.kind == MAPPING_JIT;
	struct open_request *request;
	struct open_reply reply;
	int r;

	*ret_key = (struct name_file_key){ .kind = job_get_symbol_kind(job) };
	*ret_fd = -1;
	if (job->key.kind == MAPPING_KERNEL || job->key.kind == MAPPING_VDSO) {
		*ret_fd = open_kernel_file(resolver->symbols, job, ret_key);
		return *ret_fd < 0 ? -ENOENT : 0;
	}
	request = request_prepare(resolver, job, jit ? OPEN_JIT_NAMES : OPEN_FILE);
	request->candidate = *candidate;
	r = helper_link_call_opener(&resolver->link, request, &reply);
	if (r < 0)
		return r;
	*candidate = reply.candidate;
	ret_key->dev = reply.dev;
	ret_key->ino = reply.ino;
	ret_key->size = reply.size;
	ret_key->mtime = (struct timespec){ reply.mtime_s, reply.mtime_ns };
	ret_key->ctime = (struct timespec){ reply.ctime_s, reply.ctime_ns };
	return 0;
}

/* Download the file of a job, which no directory has. */
static int job_download_file(struct resolver_thread *resolver, const struct resolve_job *job,
			     struct name_file_key *ret_key, int *ret_fd)
{
	struct stat st;
	int fd = -ENOENT;

	if (!job->key.live && (job->key.kind == MAPPING_FILE || job->key.kind == MAPPING_DATA))
		fd = helper_link_download(&resolver->link, DOWNLOAD_PROGRAM, job->build_id,
					  job->build_id_size);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EIO;
	}
	*ret_key = (struct name_file_key){
		.kind = job_get_symbol_kind(job),
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim,
	};
	*ret_fd = fd;
	return 0;
}

/* Start the helpers if they do not run, and store the reason if that fails. */
static int resolver_start_helpers(struct resolver_thread *resolver)
{
	struct symbols_cache *s = resolver->symbols;
	int r = helper_link_start(&resolver->link);

	pthread_mutex_lock(&s->lock);
	snprintf(s->reason, sizeof(s->reason), "%s", resolver->link.reason);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* Return true if the running reader has the file open in this slot. */
static bool slot_has_file(const struct resolver_thread *resolver, const struct helper_slot *slot,
			  struct name_file_ref ref)
{
	return slot->generation == resolver->link.generation && slot->file.index == ref.index &&
	       slot->file.generation == ref.generation;
}

/* Returns the slot with the file; if no slot has it, the least recently used slot. */
static struct helper_slot *slot_choose(struct resolver_thread *resolver, struct name_file_ref ref)
{
	struct helper_slot *oldest = &resolver->slot[0];

	for (u32 i = 0; i < SYMBOL_SLOTS; i++) {
		struct helper_slot *slot = &resolver->slot[i];

		if (slot_has_file(resolver, slot, ref)) {
			oldest = slot;
			break;
		}
		if (slot->last_used < oldest->last_used)
			oldest = slot;
	}
	oldest->last_used = ++resolver->slot_clock;
	return oldest;
}

/*
 * Open a file in @slot of the reader: the file of @fd, or, if @fd is -1, the file that the opener
 * has just opened.
 */
static int slot_send_file(struct resolver_thread *resolver, const struct resolve_job *job, u32 slot,
			  u32 kind, int fd, const struct symbol_reply **ret_reply)
{
	struct symbol_request request = {
		.type = SYMBOL_OPEN, .slot = slot, .subtype = kind, .from_opener = fd < 0
	};
	struct open_reply passed;
	int r = 0;

	if (fd < 0)
		r = helper_link_call_opener(&resolver->link,
					    request_prepare(resolver, job, OPEN_PASS), &passed);
	return r < 0 ? r : helper_link_call_reader(&resolver->link, &request, fd, ret_reply);
}

/*
 * Open the file of a job in a slot of the reader, unless it is open there already. Store in the
 * cache which tables the file contains.
 */
static int slot_open_file(struct resolver_thread *resolver, const struct resolve_job *job,
			  struct name_file_ref ref, u32 kind, int fd, u32 *ret_slot)
{
	struct symbols_cache *s = resolver->symbols;
	struct helper_slot *slot = slot_choose(resolver, ref);
	const struct symbol_reply *reply;
	struct name_file *f;
	int r;

	*ret_slot = (u32)(slot - resolver->slot);
	if (slot_has_file(resolver, slot, ref))
		return 0;
	slot->generation = 0;
	r = slot_send_file(resolver, job, *ret_slot, kind, fd, &reply);
	if (helper_error_is_fatal(r))
		return r;
	pthread_mutex_lock(&s->lock);
	f = name_cache_get_file(&s->cache, ref);
	if (f) {
		f->described = true;
		f->unreadable = r < 0;
		if (!r)
			f->known = *symbol_reply_get_content(reply);
	}
	pthread_mutex_unlock(&s->lock);
	if (!r)
		*slot = (struct helper_slot){ .file = ref,
					      .generation = resolver->link.generation,
					      .last_used = slot->last_used };
	return r;
}

/*
 * Remove the addresses that are in the cache from @count sorted addresses; returns the number of
 * addresses that remain.
 */
static u32 remove_cached_addresses(struct symbols_cache *s, struct name_file_ref ref, u64 *address,
				   u32 count, bool lines)
{
	const struct name_file *f;
	u32 remaining = 0;

	pthread_mutex_lock(&s->lock);
	f = name_cache_get_file(&s->cache, ref);
	for (u32 i = 0; f && i < count; i++)
		if (lines ? !name_file_find_line(f, address[i]) :
			    !name_file_find_range(f, address[i]))
			address[remaining++] = address[i];
	pthread_mutex_unlock(&s->lock);
	return remaining;
}

/*
 * Query the reader for @count sorted addresses, in several requests, and add its replies to the
 * cache.
 */
static int query_addresses(struct resolver_thread *resolver, struct name_file_ref ref, u32 slot,
			   u32 type, const u64 *address, u32 count)
{
	struct symbol_request *request = (void *)resolver->request;
	struct symbols_cache *s = resolver->symbols;
	u32 done = 0;

	while (done < count) {
		const struct symbol_reply *reply;
		struct name_file *f;
		int r;

		*request = (struct symbol_request){
			.type = type,
			.slot = slot,
			.count = count - done < SYMBOL_ADDRESSES ? count - done : SYMBOL_ADDRESSES,
		};
		memcpy(request->address, address + done, request->count * sizeof(*address));
		r = helper_link_call_reader(&resolver->link, request, -1, &reply);
		if (r < 0)
			return r;
		pthread_mutex_lock(&s->lock);
		f = name_cache_get_file(&s->cache, ref);
		if (f)
			name_cache_add_reply(&s->cache, f, request, reply);
		/* Stop if the file was evicted, or has reached its limit. */
		if (!f || f->full || s->quit)
			count = 0;
		pthread_mutex_unlock(&s->lock);
		done += reply->done;
	}
	return 0;
}

/* Attach separate debug information to the file in a slot, unless that was tried before. */
static int slot_attach_debug_once(struct resolver_thread *resolver, const struct resolve_job *job,
				  struct name_file_ref ref, u32 slot)
{
	struct symbols_cache *s = resolver->symbols;
	struct symbol_file_content known = { .has = 0 };
	const struct name_file *f;
	int r;

	if (resolver->slot[slot].attached ||
	    (job->key.kind != MAPPING_FILE && job->key.kind != MAPPING_DATA))
		return 0;
	pthread_mutex_lock(&s->lock);
	f = name_cache_get_file(&s->cache, ref);
	if (f)
		known = f->known;
	pthread_mutex_unlock(&s->lock);
	r = debug_files_attach(&resolver->link, request_prepare(resolver, job, OPEN_DEBUG), slot,
			       &known);
	resolver->slot[slot].attached = true;
	return r;
}

/* Return true if the build id of @f, which may be NULL, differs from the known one of the mapping. */
static bool file_has_other_id(const struct name_file *f, const struct resolve_job *job)
{
	return f && job->build_id_size &&
	       (f->known.build_id_size != job->build_id_size ||
		memcmp(f->known.build_id, job->build_id, job->build_id_size) != 0);
}

/* Return true if a file has another build id than the one that the mapping must have. */
static bool job_found_other_file(struct symbols_cache *s, const struct resolve_job *job,
				 struct name_file_ref ref)
{
	bool other;

	pthread_mutex_lock(&s->lock);
	other = file_has_other_id(name_cache_get_file(&s->cache, ref), job);
	pthread_mutex_unlock(&s->lock);
	return other;
}

/*
 * Resolve the addresses of a set that are not in the cache; @type is SYMBOL_FIND or SYMBOL_LINES.
 */
static int resolve_addresses(struct resolver_thread *resolver, const struct resolve_job *job,
			     struct name_file_ref ref, int fd, const struct address_set *set,
			     u32 type)
{
	u32 count, slot;
	u64 *address = address_set_get_sorted(set, &count);
	int r = 0;

	if (!address)
		return 0;
	count = remove_cached_addresses(resolver->symbols, ref, address, count,
					type == SYMBOL_LINES);
	if (count)
		r = slot_open_file(resolver, job, ref, job_get_symbol_kind(job), fd, &slot);
	/* The names of another file would not be used. */
	if (job_found_other_file(resolver->symbols, job, ref))
		count = 0;
	if (count && !r)
		r = slot_attach_debug_once(resolver, job, ref, slot);
	if (count && !r)
		r = query_addresses(resolver, ref, slot, type, address, count);
	free(address);
	return r;
}

/*
 * Resolve all addresses of a job. The file is opened even if there are none, to get its build id.
 */
static int job_resolve(struct resolver_thread *resolver, const struct resolve_job *job,
		       struct name_file_ref ref, int fd)
{
	struct symbols_cache *s = resolver->symbols;
	bool described = true;
	const struct name_file *f;
	u32 slot;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	f = name_cache_get_file(&s->cache, ref);
	if (f)
		described = f->described;
	pthread_mutex_unlock(&s->lock);
	if (!described && job->key.kind == MAPPING_FILE)
		r = slot_open_file(resolver, job, ref, SYMBOL_ELF, fd, &slot);
	if (!r)
		r = resolve_addresses(resolver, job, ref, fd, &job->names, SYMBOL_FIND);
	if (!r)
		r = resolve_addresses(resolver, job, ref, fd, &job->lines, SYMBOL_LINES);
	return r;
}

/* Put a file into quarantine because a helper failed on it. */
static void file_quarantine(struct symbols_cache *s, struct name_file_ref ref)
{
	struct name_file *f;

	pthread_mutex_lock(&s->lock);
	s->failures++;
	f = name_cache_get_file(&s->cache, ref);
	if (f && !s->quit) {
		f->unreadable = true;
		f->rejected_ms = symbols_now_ms();
		s->quarantined++;
	}
	pthread_mutex_unlock(&s->lock);
}

/*
 * Store the file of the mapping. If the file and the mapping have different build ids, the mapping
 * gets no file, so that no wrong names are shown.
 *
 * Locking: the caller holds @s->lock.
 */
static void job_store_file(struct symbols_cache *s, const struct resolve_job *job,
			   struct name_file_ref ref)
{
	struct symbol_mapping *m = &s->mapping[job->mapping];
	const struct name_file *f = name_cache_get_file(&s->cache, ref);

	if (m->stamp != job->stamp)
		return;
	if (file_has_other_id(f, job))
		ref = (struct name_file_ref){ 0 };
	m->checked_ms = symbols_now_ms();
	if (m->file.index == ref.index && m->file.generation == ref.generation)
		return;
	m->previous = m->file;
	m->file = ref;
}

/*
 * Finish a job if its file cannot be opened, for instance because the process has exited. The cache
 * may already have the file.
 */
static void job_finish_without_file(struct symbols_cache *s, const struct resolve_job *job)
{
	struct symbol_mapping *m = &s->mapping[job->mapping];
	struct name_file_ref ref = { 0 };

	pthread_mutex_lock(&s->lock);
	if (job->key.kind == MAPPING_FILE && job->key.live) {
		ref = m->stamp == job->stamp ? m->file : ref;
		if (!name_cache_get_file(&s->cache, ref))
			ref = name_cache_find_by_mapping(&s->cache, job->key.path, job->key.device,
							 job->key.inode);
	}
	job_store_file(s, job, ref);
	pthread_mutex_unlock(&s->lock);
}

/* Put a mapping into quarantine because a helper failed before the file was identified. */
static void mapping_quarantine(struct symbols_cache *s, const struct resolve_job *job)
{
	struct symbol_mapping *m = &s->mapping[job->mapping];

	pthread_mutex_lock(&s->lock);
	s->failures++;
	if (m->stamp == job->stamp && !s->quit) {
		m->rejected_ms = symbols_now_ms();
		s->quarantined++;
	}
	pthread_mutex_unlock(&s->lock);
}

static bool is_in_quarantine(u64 since_ms)
{
	return since_ms && symbols_now_ms() - since_ms <= QUARANTINE_MS;
}

/*
 * Return true if the mapping is in quarantine, or if too many helpers hang in files of the job's
 * owner.
 */
static bool job_is_rejected(struct resolver_thread *resolver, const struct resolve_job *job)
{
	struct symbols_cache *s = resolver->symbols;
	const struct symbol_mapping *m = &s->mapping[job->mapping];
	bool rejected;

	if (helper_link_count_stuck(&resolver->link, resolver->link.owner) >= STUCK_MAX)
		return true;
	pthread_mutex_lock(&s->lock);
	rejected = m->stamp == job->stamp && is_in_quarantine(m->rejected_ms);
	pthread_mutex_unlock(&s->lock);
	return rejected;
}

/* Find or create the file of @key in the cache. Returns true if it is in quarantine. */
static bool find_or_add_file(struct symbols_cache *s, const struct resolve_job *job,
			     const struct name_file_key *key, struct name_file_ref *ret_ref)
{
	struct name_file *f;
	bool rejected;

	pthread_mutex_lock(&s->lock);
	*ret_ref = name_cache_find_or_add(&s->cache, key);
	f = name_cache_get_file(&s->cache, *ret_ref);
	if (job->key.kind == MAPPING_FILE && job->key.live && job->key.inode) {
		f->path = job->key.path;
		f->device = job->key.device;
	}
	rejected = is_in_quarantine(f->rejected_ms);
	if (f->rejected_ms && !rejected) {
		f->rejected_ms = 0;
		f->described = false;
	}
	pthread_mutex_unlock(&s->lock);
	return rejected;
}

/*
 * Ensure that helpers run. Helpers that exited since the last job are replaced; their exit is not
 * attributed to this job.
 */
static int job_start_helpers(struct resolver_thread *resolver)
{
	if (helper_link_stop_unusable(&resolver->link)) {
		pthread_mutex_lock(&resolver->symbols->lock);
		resolver->symbols->failures++;
		pthread_mutex_unlock(&resolver->symbols->lock);
	}
	return resolver_start_helpers(resolver);
}

/*
 * Resolve the addresses of a job in the opened file with @key, and set @ret_ref to the file in the
 * cache. @fd: as for slot_send_file().
 */
static int job_read_file(struct resolver_thread *resolver, const struct resolve_job *job,
			 const struct name_file_key *key, int fd, struct name_file_ref *ret_ref)
{
	struct symbols_cache *s = resolver->symbols;
	int r = 0;

	if (!find_or_add_file(s, job, key, ret_ref))
		r = job_resolve(resolver, job, *ret_ref, fd);
	if (helper_error_is_fatal(r))
		file_quarantine(s, *ret_ref);
	return r;
}

/*
 * Download the file of a job, and resolve its addresses in this file. Returns -ENOENT if it cannot
 * be downloaded; then @ret_ref is unchanged.
 */
static int job_read_downloaded_file(struct resolver_thread *resolver, const struct resolve_job *job,
				    struct name_file_ref *ret_ref)
{
	struct symbols_cache *s = resolver->symbols;
	struct name_file_key key;
	int fd, r;

	if (job_download_file(resolver, job, &key, &fd) < 0)
		return -ENOENT;
	r = job_read_file(resolver, job, &key, fd, ret_ref);
	if (r < 0 || job_found_other_file(s, job, *ret_ref))
		resolver->link.folders.download->refuse(DOWNLOAD_PROGRAM, job->build_id,
							job->build_id_size, fd);
	close(fd);
	return r;
}

/* Store why a file with the names of compiled code was refused; @error: a negative errno, or 0. */
static void store_jit_reason(struct symbols_cache *s, const struct resolve_job *job, int error)
{
	pthread_mutex_lock(&s->lock);
	if (error)
		snprintf(s->jit_reason, sizeof(s->jit_reason),
			 "the jitdump of process %d was refused: %s", job->key.pid,
			 error == -ENOEXEC	   ? "it has the byte order of another machine" :
			 error == -EPROTONOSUPPORT ? "its version should be 1" :
						     "its header is invalid");
	else
		*s->jit_reason = '\0';
	pthread_mutex_unlock(&s->lock);
}

/*
 * Resolve the addresses of a job in the first readable file with names of compiled code. @ret_ref:
 * the file in the cache; unchanged if there is none.
 */
static int job_read_jit_names(struct resolver_thread *resolver, const struct resolve_job *job,
			      struct name_file_ref *ret_ref)
{
	struct symbols_cache *s = resolver->symbols;
	struct name_file_key key;
	u32 candidate = 0, tried;
	int fd, r;

	do {
		tried = candidate;
		r = job_open_file(resolver, job, &candidate, &key, &fd);
		if (helper_error_is_fatal(r))
			mapping_quarantine(s, job);
		if (r < 0)
			return r;
		r = job_read_file(resolver, job, &key, fd, ret_ref);
		if (!r && !tried)
			store_jit_reason(s, job, 0);
		else if (r < 0 && !helper_error_is_fatal(r))
			store_jit_reason(s, job, r);
		/* The number must increase, so that the loop ends even if the opener is compromised. */
	} while (r < 0 && !helper_error_is_fatal(r) && candidate > tried);
	return r;
}

/*
 * Resolve the addresses of a job in its file, or, if no directory has this file, in the downloaded
 * one. @ret_ref: the file in the cache; unchanged if there is none.
 */
static int job_find_and_read_file(struct resolver_thread *resolver, const struct resolve_job *job,
				  struct name_file_ref *ret_ref)
{
	struct name_file_key key;
	int fd, r, downloaded;
	u32 candidate = 0;

	if (job->key.kind == MAPPING_JIT)
		return job_read_jit_names(resolver, job, ret_ref);
	r = job_open_file(resolver, job, &candidate, &key, &fd);
	if (helper_error_is_fatal(r)) {
		mapping_quarantine(resolver->symbols, job);
		return r;
	}
	if (!r) {
		r = job_read_file(resolver, job, &key, fd, ret_ref);
		if (fd >= 0)
			close(fd);
		if (helper_error_is_fatal(r) ||
		    !job_found_other_file(resolver->symbols, job, *ret_ref))
			return r;
	}
	downloaded = job_read_downloaded_file(resolver, job, ret_ref);
	return downloaded == -ENOENT ? r : downloaded;
}

/* Run a job; returns true if a helper failed on it. */
static bool job_run(struct resolver_thread *resolver, const struct resolve_job *job)
{
	struct symbols_cache *s = resolver->symbols;
	struct name_file_ref ref = { 0 };
	int r = 0;

	if (!job_is_rejected(resolver, job) && job_start_helpers(resolver) == 0)
		r = job_find_and_read_file(resolver, job, &ref);
	if (!ref.generation) {
		job_finish_without_file(s, job);
		return helper_error_is_fatal(r);
	}
	pthread_mutex_lock(&s->lock);
	job_store_file(s, job, ref);
	pthread_mutex_unlock(&s->lock);
	return helper_error_is_fatal(r);
}

/*
 * Move the first incoming job to the queue of its owner.
 *
 * Locking: the caller holds @s->lock, which is released while /proc is read.
 */
static void assign_incoming_job(struct symbols_cache *s)
{
	struct resolve_job *job = s->incoming;
	u64 owner;

	s->incoming = job->next;
	if (!s->incoming)
		s->incoming_last = NULL;
	pthread_mutex_unlock(&s->lock);
	owner = job->key.live ? job_find_owner(job->key.pid) : 0;
	pthread_mutex_lock(&s->lock);
	job_queues_push(&s->queues, owner, symbols_now_ms(), job);
	pthread_cond_broadcast(&s->changed);
}

/*
 * Wait until a job may be ready: for a change, or until @until_ms unless that is 0. At the time
 * @idle_ms, stop the helpers.
 *
 * Locking: the caller holds @s->lock, which is released meanwhile.
 */
static void resolver_wait(struct resolver_thread *resolver, u64 idle_ms, u64 until_ms)
{
	struct symbols_cache *s = resolver->symbols;

	if (resolver->link.reader.fd >= 0 && (!until_ms || idle_ms < until_ms))
		until_ms = idle_ms;
	if (!until_ms) {
		pthread_cond_wait(&s->changed, &s->lock);
		return;
	}
	if (symbols_wait_until(s, until_ms) || resolver->link.reader.fd < 0 ||
	    symbols_now_ms() < idle_ms)
		return;
	pthread_mutex_unlock(&s->lock);
	helper_link_stop(&resolver->link);
	pthread_mutex_lock(&s->lock);
}

/*
 * Wait for the next job; NULL if the thread must exit.
 *
 * Locking: the caller holds @s->lock, which is released meanwhile.
 */
static struct resolve_job *wait_for_job(struct resolver_thread *resolver,
					struct job_queue **ret_queue)
{
	struct symbols_cache *s = resolver->symbols;
	u64 idle_ms = symbols_now_ms() + IDLE_MS, until_ms;
	struct resolve_job *job;

	while (!s->quit) {
		if (s->incoming) {
			assign_incoming_job(s);
			continue;
		}
		job = job_queues_pop(&s->queues, symbols_now_ms(), resolver != &s->resolver[0],
				     ret_queue, &until_ms);
		if (!job) {
			resolver_wait(resolver, idle_ms, until_ms);
			continue;
		}
		/* Addresses that are requested from now on belong to another job. */
		if (s->mapping[job->mapping].job == job)
			s->mapping[job->mapping].job = NULL;
		resolver->link.owner = (*ret_queue)->owner;
		return job;
	}
	return NULL;
}

void *resolver_run(void *arg)
{
	struct resolver_thread *resolver = arg;
	struct symbols_cache *s = resolver->symbols;
	struct job_queue *queue;
	struct resolve_job *job;

	pthread_mutex_lock(&s->lock);
	while ((job = wait_for_job(resolver, &queue))) {
		u32 count = address_set_count(&job->names) + address_set_count(&job->lines);
		u64 start_ms = symbols_now_ms(), now_ms;
		bool failed;

		pthread_mutex_unlock(&s->lock);
		failed = job_run(resolver, job);
		job_free(job);
		pthread_mutex_lock(&s->lock);
		now_ms = symbols_now_ms();
		job_queue_finish(queue, now_ms, now_ms - start_ms, failed);
		if (failed && !s->quit)
			symbols_start_resolvers(s);
		s->pending -= count;
		s->jobs--;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
