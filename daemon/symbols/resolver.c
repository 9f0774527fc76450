// SPDX-License-Identifier: LGPL-2.1-or-later
/* The threads that have one helper open files, and another read them. */
#include "symbols-internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/hash.h"
#include "vdso.h"

#define IDLE_MS	    30000 /* before helpers without work are ended, with what they hold */
#define POISONED_MS 3600000 /* before a file that ended a helper is tried again */
#define STUCK_MOST  2 /* helpers that hang in an owner's files, before these are left alone */

static bool wait_until(struct symbols *s, u64 until_ms)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ms / 1000),
		.tv_nsec = (long)(until_ms % 1000) * 1000000,
	};

	return pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT;
}

/* Which names the kernel has depends on its modules. */
static u64 modules_hash(void)
{
	int fd = open("/proc/modules", O_RDONLY | O_CLOEXEC);
	u64 h = HASH_START;
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return 0;
	/* Of each line the name and the size; use counts and states change all the time. */
	for (u32 field = 0; (n = read(fd, buf, sizeof(buf))) > 0;)
		for (ssize_t i = 0; i < n; i++) {
			field = buf[i] == '\n' ? 0 : field + (buf[i] == ' ');
			if (field < 2)
				h = hash_add_byte(h, (u8)buf[i]);
		}
	close(fd);
	return h;
}

static struct open_request *open_request(struct symbol_lane *l, const struct job *job, u32 type)
{
	struct open_request *r = &l->open;

	memset(r, 0, sizeof(*r));
	r->type = type;
	r->pid = job->key.pid;
	r->inode = job->key.inode;
	r->live = job->key.live;
	r->has_id = job->build_id_size > 0;
	/* A longer path leads to no file, and the empty one neither. */
	if (strlen(job->path) < sizeof(r->path))
		strcpy(r->path, job->path);
	return r;
}

/* Open the kernel's names or this process's vDSO, which cannot hang. */
static int own_open(struct symbols *s, const struct job *job, struct name_key *ret_key)
{
	if (job->key.kind == MAPPED_VDSO)
		return vdso_open();
	ret_key->kind = SYMBOL_KALLSYMS;
	ret_key->ino = modules_hash();
	pthread_mutex_lock(&s->lock);
	s->kernel_epoch += job->missed;
	ret_key->size = (off_t)s->kernel_epoch;
	pthread_mutex_unlock(&s->lock);
	return open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

/*
 * Open what has the names. The opener keeps the descriptor of a process's file, and @ret_fd is -1:
 * even close() of such a descriptor may hang.
 */
static int job_open(struct symbol_lane *l, const struct job *job, struct name_key *ret_key,
		    int *ret_fd)
{
	bool jit = job->key.kind == MAPPED_JIT;
	struct open_reply reply;
	int r;

	*ret_key = (struct name_key){ .kind = jit ? SYMBOL_PERF_MAP : SYMBOL_ELF };
	*ret_fd = -1;
	if (job->key.kind == MAPPED_KERNEL || job->key.kind == MAPPED_VDSO) {
		*ret_fd = own_open(l->symbols, job, ret_key);
		return *ret_fd < 0 ? -ENOENT : 0;
	}
	r = helper_link_open(&l->link, open_request(l, job, jit ? OPEN_PERF_MAP : OPEN_FILE),
			     &reply);
	if (r < 0)
		return r;
	ret_key->dev = reply.dev;
	ret_key->ino = reply.ino;
	ret_key->size = reply.size;
	ret_key->mtime = (struct timespec){ reply.mtime_s, reply.mtime_ns };
	ret_key->ctime = (struct timespec){ reply.ctime_s, reply.ctime_ns };
	return 0;
}

/* Helpers, if they may be started again; a reason why there are none is kept. */
static int helper_ready(struct symbol_lane *l)
{
	struct symbols *s = l->symbols;
	int r = helper_link_ready(&l->link);

	pthread_mutex_lock(&s->lock);
	snprintf(s->reason, sizeof(s->reason), "%s", l->link.reason);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* With descriptor @fd, or where that is -1 with what the opener handed over. */
static int call(struct symbol_lane *l, u32 type, u32 slot, u32 what, int fd,
		const struct symbol_reply **ret_reply)
{
	struct symbol_request request = {
		.type = type, .slot = slot, .what = what, .handed = fd < 0
	};

	return helper_link_call(&l->link, &request, fd, ret_reply);
}

static int attach(struct symbol_lane *l, u32 slot, u32 part, struct symbol_object *known)
{
	const struct symbol_reply *reply;
	int r = call(l, SYMBOL_ATTACH, slot, part, -1, &reply);

	if (!r)
		*known = *symbol_reply_object(reply);
	return r;
}

/* Another place of separate debug information; @next is where to go on. */
static int attach_next(struct symbol_lane *l, const struct job *job, u32 slot, u32 *next,
		       struct symbol_object *known)
{
	struct open_request *request = open_request(l, job, OPEN_DEBUG);
	struct open_reply reply;
	int r;

	request->next = *next;
	request->id_size = known->build_id_size;
	memcpy(request->id, known->build_id, sizeof(request->id));
	memcpy(request->link, known->link, sizeof(request->link));
	r = helper_link_open(&l->link, request, &reply);
	if (r < 0) {
		*next = UINT32_MAX;
		return r;
	}
	/* Each place once, whatever the opener says. */
	*next = reply.next > *next ? reply.next : UINT32_MAX;
	return attach(l, slot, SYMBOL_DEBUG, known);
}

static int attach_alt(struct symbol_lane *l, const struct job *job, u32 slot,
		      struct symbol_object *known)
{
	struct open_request *request = open_request(l, job, OPEN_ALT);
	struct open_reply reply;
	int r;

	request->id_size = known->alt_size;
	memcpy(request->id, known->alt, sizeof(request->id));
	r = helper_link_open(&l->link, request, &reply);
	return r < 0 ? r : attach(l, slot, SYMBOL_ALT, known);
}

/* Separate debug information, where the file itself has not all. */
static int attach_debug(struct symbol_lane *l, const struct job *job, u32 slot,
			struct symbol_object *known)
{
	const u32 all = SYMBOL_HAS_NAMES | SYMBOL_HAS_LINES;
	u32 next = 0;
	int r = -ENOENT;

	while (r && next != UINT32_MAX && (known->has & all) != all) {
		r = attach_next(l, job, slot, &next, known);
		if (helper_link_died(r))
			return r;
	}
	if (known->alt_size)
		r = attach_alt(l, job, slot, known);
	return helper_link_died(r) ? r : 0;
}

static struct helper_slot *slot_find(struct symbol_lane *l, struct name_ref ref)
{
	struct helper_slot *oldest = &l->slot[0];

	for (u32 i = 0; i < SYMBOL_SLOTS; i++) {
		struct helper_slot *slot = &l->slot[i];

		if (slot->life == l->link.life && slot->file.index == ref.index &&
		    slot->file.generation == ref.generation) {
			oldest = slot;
			break;
		}
		if (slot->used < oldest->used)
			oldest = slot;
	}
	oldest->used = ++l->slot_clock;
	return oldest;
}

static bool slot_has(const struct symbol_lane *l, const struct helper_slot *slot,
		     struct name_ref ref)
{
	return slot->life == l->link.life && slot->file.index == ref.index &&
	       slot->file.generation == ref.generation;
}

/* What the opener keeps, or @fd, into a slot of the reader. */
static int slot_fill(struct symbol_lane *l, const struct job *job, u32 slot, u32 kind, int fd,
		     const struct symbol_reply **ret_reply)
{
	struct open_reply handed;
	int r = fd < 0 ? helper_link_open(&l->link, open_request(l, job, OPEN_HAND), &handed) : 0;

	return r < 0 ? r : call(l, SYMBOL_OPEN, slot, kind, fd, ret_reply);
}

/* The file in a slot of the helper: 0, or why not; then nothing of it can be asked. */
static int slot_open(struct symbol_lane *l, const struct job *job, struct name_ref ref, u32 kind,
		     int fd, u32 *ret_slot)
{
	struct symbols *s = l->symbols;
	struct helper_slot *slot = slot_find(l, ref);
	const struct symbol_reply *reply;
	struct name_file *f;
	int r;

	*ret_slot = (u32)(slot - l->slot);
	if (slot_has(l, slot, ref))
		return 0;
	slot->life = 0;
	r = slot_fill(l, job, *ret_slot, kind, fd, &reply);
	if (helper_link_died(r))
		return r;
	pthread_mutex_lock(&s->lock);
	f = name_cache_file(&s->cache, ref);
	if (f) {
		f->opened = true;
		f->nameless = r < 0;
		if (!r)
			f->known = *symbol_reply_object(reply);
	}
	pthread_mutex_unlock(&s->lock);
	if (!r)
		*slot = (struct helper_slot){ .file = ref,
					      .life = l->link.life,
					      .used = slot->used };
	return r;
}

/* Of @count sorted addresses those that are not known; returns how many. */
static u32 unknown_only(struct symbols *s, struct name_ref ref, u64 *address, u32 count, bool lines)
{
	const struct name_file *f;
	u32 kept = 0;

	pthread_mutex_lock(&s->lock);
	f = name_cache_file(&s->cache, ref);
	for (u32 i = 0; f && i < count; i++)
		if (lines ? !name_file_line(f, address[i]) : !name_file_range(f, address[i]))
			address[kept++] = address[i];
	pthread_mutex_unlock(&s->lock);
	return kept;
}

/* Ask for all of @address, a request at a time. */
static int find_all(struct symbol_lane *l, struct name_ref ref, u32 slot, u32 type,
		    const u64 *address, u32 count)
{
	struct symbol_request *request = (void *)l->request;
	struct symbols *s = l->symbols;
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
		r = helper_link_call(&l->link, request, -1, &reply);
		if (r < 0)
			return r;
		pthread_mutex_lock(&s->lock);
		f = name_cache_file(&s->cache, ref);
		if (f)
			name_cache_add(&s->cache, f, request, reply);
		if (!f || f->full || s->quit)
			count = 0;
		pthread_mutex_unlock(&s->lock);
		done += reply->done;
	}
	return 0;
}

static u32 job_kind(const struct job *job)
{
	return job->key.kind == MAPPED_KERNEL ? SYMBOL_KALLSYMS :
	       job->key.kind == MAPPED_JIT    ? SYMBOL_PERF_MAP :
						SYMBOL_ELF;
}

/* Separate debug information of the file in @slot, once. */
static int slot_attach(struct symbol_lane *l, const struct job *job, struct name_ref ref, u32 slot)
{
	struct symbols *s = l->symbols;
	struct symbol_object known = { .has = 0 };
	const struct name_file *f;
	int r;

	if (l->slot[slot].attached || job->key.kind != MAPPED_FILE)
		return 0;
	pthread_mutex_lock(&s->lock);
	f = name_cache_file(&s->cache, ref);
	if (f)
		known = f->known;
	pthread_mutex_unlock(&s->lock);
	r = attach_debug(l, job, slot, &known);
	l->slot[slot].attached = true;
	return r;
}

/* What of @set is not known yet, of one kind. */
static int find_set(struct symbol_lane *l, const struct job *job, struct name_ref ref, int fd,
		    const struct address_set *set, u32 type)
{
	u32 count, slot;
	u64 *address = address_set_list(set, &count);
	int r = 0;

	if (!address)
		return 0;
	count = unknown_only(l->symbols, ref, address, count, type == SYMBOL_LINES);
	if (count)
		r = slot_open(l, job, ref, job_kind(job), fd, &slot);
	if (count && !r)
		r = slot_attach(l, job, ref, slot);
	if (count && !r)
		r = find_all(l, ref, slot, type, address, count);
	free(address);
	return r;
}

/* All that is asked of a file; also which build it is. */
static int job_find(struct symbol_lane *l, const struct job *job, struct name_ref ref, int fd)
{
	struct symbols *s = l->symbols;
	bool opened = true;
	const struct name_file *f;
	u32 slot;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	f = name_cache_file(&s->cache, ref);
	if (f)
		opened = f->opened;
	pthread_mutex_unlock(&s->lock);
	if (!opened && job->key.kind == MAPPED_FILE)
		r = slot_open(l, job, ref, SYMBOL_ELF, fd, &slot);
	if (!r)
		r = find_set(l, job, ref, fd, &job->names, SYMBOL_FIND);
	if (!r)
		r = find_set(l, job, ref, fd, &job->lines, SYMBOL_LINES);
	return r;
}

/* A helper ended over this file: it is refused for a while. */
static void file_refuse(struct symbols *s, struct name_ref ref)
{
	struct name_file *f;

	pthread_mutex_lock(&s->lock);
	s->failures++;
	f = name_cache_file(&s->cache, ref);
	if (f && !s->quit) {
		f->nameless = true;
		f->struck_ms = symbols_now_ms();
		s->poisoned++;
	}
	pthread_mutex_unlock(&s->lock);
}

/* What the mapping's file turned out to be; of another build than was recorded, it is none. */
static void job_done(struct symbols *s, const struct job *job, struct name_ref ref)
{
	struct mapped *m = &s->mapped[job->mapped];
	const struct name_file *f = name_cache_file(&s->cache, ref);

	if (m->stamp != job->stamp)
		return;
	if (f && job->build_id_size &&
	    (f->known.build_id_size != job->build_id_size ||
	     memcmp(f->known.build_id, job->build_id, job->build_id_size) != 0))
		ref = (struct name_ref){ 0 };
	m->checked_ms = symbols_now_ms();
	if (m->file.index == ref.index && m->file.generation == ref.generation)
		return;
	m->before = m->file;
	m->file = ref;
}

/* The file is not to be opened any more: that of a process that is gone may be known. */
static void job_gone(struct symbols *s, const struct job *job)
{
	struct mapped *m = &s->mapped[job->mapped];
	struct name_ref ref = { 0 };

	pthread_mutex_lock(&s->lock);
	if (job->key.kind == MAPPED_FILE && job->key.live) {
		ref = m->stamp == job->stamp ? m->file : ref;
		if (!name_cache_file(&s->cache, ref))
			ref = name_cache_path(&s->cache, job->key.path, job->key.device,
					      job->key.inode);
	}
	job_done(s, job, ref);
	pthread_mutex_unlock(&s->lock);
}

/* A helper ended before it was known which file it is: the mapping is refused for a while. */
static void mapping_refuse(struct symbols *s, const struct job *job)
{
	struct mapped *m = &s->mapped[job->mapped];

	pthread_mutex_lock(&s->lock);
	s->failures++;
	if (m->stamp == job->stamp && !s->quit) {
		m->refused_ms = symbols_now_ms();
		s->poisoned++;
	}
	pthread_mutex_unlock(&s->lock);
}

static bool is_refused(u64 since_ms)
{
	return since_ms && symbols_now_ms() - since_ms <= POISONED_MS;
}

/* Whether @job is refused before it begins. */
static bool job_refused(struct symbol_lane *l, const struct job *job)
{
	struct symbols *s = l->symbols;
	const struct mapped *m = &s->mapped[job->mapped];
	bool refused;

	if (helper_link_stuck(&l->link, l->link.owner) >= STUCK_MOST)
		return true;
	pthread_mutex_lock(&s->lock);
	refused = m->stamp == job->stamp && is_refused(m->refused_ms);
	pthread_mutex_unlock(&s->lock);
	return refused;
}

/* The file of @key, and whether it is refused. */
static bool file_begin(struct symbols *s, const struct job *job, const struct name_key *key,
		       struct name_ref *ret_ref)
{
	struct name_file *f;
	bool refused;

	pthread_mutex_lock(&s->lock);
	*ret_ref = name_cache_get(&s->cache, key);
	f = name_cache_file(&s->cache, *ret_ref);
	if (job->key.kind == MAPPED_FILE && job->key.live && job->key.inode) {
		f->path = job->key.path;
		f->device = job->key.device;
	}
	refused = is_refused(f->struck_ms);
	if (f->struck_ms && !refused) {
		f->struck_ms = 0;
		f->opened = false;
	}
	pthread_mutex_unlock(&s->lock);
	return refused;
}

/* Start helpers if need be. A helper that died before is not blamed on this job. */
static int job_helper(struct symbol_lane *l)
{
	if (helper_link_renew(&l->link)) {
		pthread_mutex_lock(&l->symbols->lock);
		l->symbols->failures++;
		pthread_mutex_unlock(&l->symbols->lock);
	}
	return helper_ready(l);
}

/* Return: whether a helper ended over it. */
static bool job_run(struct symbol_lane *l, const struct job *job)
{
	struct symbols *s = l->symbols;
	struct name_key key;
	struct name_ref ref;
	int fd, r;

	if (job_refused(l, job) || job_helper(l) < 0) {
		job_gone(s, job);
		return false;
	}
	r = job_open(l, job, &key, &fd);
	if (r < 0) {
		if (helper_link_died(r))
			mapping_refuse(s, job);
		job_gone(s, job);
		return helper_link_died(r);
	}
	if (!file_begin(s, job, &key, &ref))
		r = job_find(l, job, ref, fd);
	if (helper_link_died(r))
		file_refuse(s, ref);
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&s->lock);
	job_done(s, job, ref);
	pthread_mutex_unlock(&s->lock);
	return helper_link_died(r);
}

/* The first job that came goes to the queue of its owner. */
static void job_sort(struct symbols *s)
{
	struct job *job = s->first;
	u64 owner;

	s->first = job->next;
	if (!s->first)
		s->last = NULL;
	pthread_mutex_unlock(&s->lock);
	owner = job->key.live ? job_owner(job->key.pid) : 0;
	pthread_mutex_lock(&s->lock);
	job_queues_push(&s->queues, owner, symbols_now_ms(), job);
	pthread_cond_broadcast(&s->changed);
}

/* Until there may be a job; helpers without work for long are ended. */
static void lane_wait(struct symbol_lane *l, u64 idle_ms, u64 until_ms)
{
	struct symbols *s = l->symbols;

	if (l->link.reader.fd >= 0 && (!until_ms || idle_ms < until_ms))
		until_ms = idle_ms;
	if (!until_ms) {
		pthread_cond_wait(&s->changed, &s->lock);
		return;
	}
	if (!wait_until(s, until_ms) || l->link.reader.fd < 0 || symbols_now_ms() < idle_ms)
		return;
	pthread_mutex_unlock(&s->lock);
	helper_link_end(&l->link);
	pthread_mutex_lock(&s->lock);
}

/* The next job, or NULL at the end. */
static struct job *job_next(struct symbol_lane *l, struct job_queue **ret_queue)
{
	struct symbols *s = l->symbols;
	u64 idle_ms = symbols_now_ms() + IDLE_MS, until_ms;
	struct job *job;

	while (!s->quit) {
		if (s->first) {
			job_sort(s);
			continue;
		}
		job = job_queues_pick(&s->queues, symbols_now_ms(), l != &s->lane[0], ret_queue,
				      &until_ms);
		if (!job) {
			lane_wait(l, idle_ms, until_ms);
			continue;
		}
		/* What is asked of it from now on is another job. */
		if (s->mapped[job->mapped].job == job)
			s->mapped[job->mapped].job = NULL;
		l->link.owner = (*ret_queue)->owner;
		return job;
	}
	return NULL;
}

void *resolver_run(void *arg)
{
	struct symbol_lane *l = arg;
	struct symbols *s = l->symbols;
	struct job_queue *queue;
	struct job *job;

	pthread_mutex_lock(&s->lock);
	while ((job = job_next(l, &queue))) {
		u32 count = job->names.count + job->names.zero + job->lines.count + job->lines.zero;
		u64 begun_ms = symbols_now_ms(), now_ms;
		bool failed;

		pthread_mutex_unlock(&s->lock);
		failed = job_run(l, job);
		job_free(job);
		pthread_mutex_lock(&s->lock);
		now_ms = symbols_now_ms();
		job_queue_done(queue, now_ms, now_ms - begun_ms, failed);
		if (failed && !s->quit)
			symbols_start_lanes(s);
		s->pending -= count;
		s->jobs--;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
