// SPDX-License-Identifier: LGPL-2.1-or-later
/* The thread that opens files and has the helper read them. */
#include "symbols-internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place-open.h"
#include "vdso.h"

#define IDLE_MS	    30000 /* before a helper without work is let go, with what it holds */
#define POISONED_MS 3600000 /* before a file that ended two helpers is read again */
#define STRIKES	    2

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
	u64 h = 0xcbf29ce484222325ULL;
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return 0;
	/* Of each line the name and the size; use counts and states change all the time. */
	for (u32 field = 0; (n = read(fd, buf, sizeof(buf))) > 0;)
		for (ssize_t i = 0; i < n; i++) {
			field = buf[i] == '\n' ? 0 : field + (buf[i] == ' ');
			if (field < 2)
				h = (h ^ (u8)buf[i]) * 0x100000001b3ULL;
		}
	close(fd);
	return h;
}

static struct place_file job_file(const struct job *job)
{
	return (struct place_file){
		.path = job->path,
		.inode = job->key.inode,
		.pid = job->key.pid,
		.has_id = job->build_id_size,
		.live = job->key.live,
	};
}

/* A descriptor of what has the names, and what tells it from others. */
static int job_open(struct symbols *s, const struct job *job, struct name_key *ret_key)
{
	const struct place_file file = job_file(job);
	struct stat st;
	int fd;

	*ret_key = (struct name_key){ .kind = SYMBOL_ELF };
	switch (job->key.kind) {
	case MAPPED_KERNEL:
		fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
		s->kernel_epoch += job->missed;
		*ret_key = (struct name_key){
			.kind = SYMBOL_KALLSYMS,
			.ino = modules_hash(),
			.size = (off_t)s->kernel_epoch,
		};
		return fd < 0 ? -errno : fd;
	case MAPPED_VDSO:
		return vdso_open();
	case MAPPED_JIT:
		fd = place_open_perf_map(job->key.pid);
		ret_key->kind = SYMBOL_PERF_MAP;
		break;
	default:
		fd = place_open(&file);
		break;
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EIO;
	}
	ret_key->dev = st.st_dev;
	ret_key->ino = st.st_ino;
	ret_key->size = st.st_size;
	ret_key->mtime = st.st_mtim;
	ret_key->ctime = st.st_ctim;
	return fd;
}

/* A helper, if need be when one may be started again; a reason why there is none is kept. */
static int helper_ready(struct symbols *s)
{
	int r = symbol_link_ready(&s->link);

	while (r == -EAGAIN && !*s->link.reason) {
		bool quit;

		pthread_mutex_lock(&s->lock);
		while (!s->quit && !wait_until(s, s->link.not_before_ms))
			;
		quit = s->quit;
		pthread_mutex_unlock(&s->lock);
		if (quit)
			return -ECANCELED;
		r = symbol_link_ready(&s->link);
	}
	pthread_mutex_lock(&s->lock);
	memcpy(s->reason, s->link.reason, sizeof(s->reason));
	pthread_mutex_unlock(&s->lock);
	return r;
}

static int call(struct symbols *s, u32 type, u32 slot, u32 what, int fd,
		const struct symbol_reply **ret_reply)
{
	struct symbol_request request = { .type = type, .slot = slot, .what = what };

	return symbol_link_call(&s->link, &request, fd, ret_reply);
}

static int attach(struct symbols *s, u32 slot, u32 part, int fd, struct symbol_object *known)
{
	const struct symbol_reply *reply;
	int r = call(s, SYMBOL_ATTACH, slot, part, fd, &reply);

	close(fd);
	if (!r)
		*known = *symbol_reply_object(reply);
	return r;
}

/* Separate debug information, where the file itself has not all. */
static int attach_debug(struct symbols *s, const struct job *job, u32 slot,
			struct symbol_object *known)
{
	const struct place_file file = job_file(job);
	const u32 all = SYMBOL_HAS_NAMES | SYMBOL_HAS_LINES;
	u32 next = 0;
	int fd, r = -ENOENT;

	while (r && (known->has & all) != all &&
	       (fd = place_open_debug(&file, known, &next)) >= 0) {
		r = attach(s, slot, SYMBOL_DEBUG, fd, known);
		if (symbol_link_died(r))
			return r;
	}
	if (known->alt_size) {
		fd = place_open_alt(&file, known->alt, known->alt_size);
		r = fd < 0 ? fd : attach(s, slot, SYMBOL_ALT, fd, known);
	}
	return symbol_link_died(r) ? r : 0;
}

static struct helper_slot *slot_find(struct symbols *s, struct name_ref ref)
{
	struct helper_slot *oldest = &s->slot[0];

	for (u32 i = 0; i < SYMBOL_SLOTS; i++) {
		struct helper_slot *slot = &s->slot[i];

		if (slot->life == s->link.life && slot->file.index == ref.index &&
		    slot->file.generation == ref.generation) {
			oldest = slot;
			break;
		}
		if (slot->used < oldest->used)
			oldest = slot;
	}
	oldest->used = ++s->slot_clock;
	return oldest;
}

/* The file in a slot of the helper: 0, or why not; then nothing of it can be asked. */
static int slot_open(struct symbols *s, struct name_ref ref, u32 kind, int fd, u32 *ret_slot)
{
	const struct symbol_reply *reply;
	struct helper_slot *slot;
	struct name_file *f;
	int r = helper_ready(s);

	if (r < 0)
		return r;
	slot = slot_find(s, ref);
	*ret_slot = (u32)(slot - s->slot);
	if (slot->life == s->link.life && slot->file.index == ref.index &&
	    slot->file.generation == ref.generation)
		return 0;
	slot->life = 0;
	r = call(s, SYMBOL_OPEN, *ret_slot, kind, fd, &reply);
	if (symbol_link_died(r))
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
					      .life = s->link.life,
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
static int find_all(struct symbols *s, struct name_ref ref, u32 slot, u32 type, const u64 *address,
		    u32 count)
{
	struct symbol_request *request = (void *)s->request;
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
		r = symbol_link_call(&s->link, request, -1, &reply);
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

/* What of @set is not known yet, of one kind. */
static int find_set(struct symbols *s, const struct job *job, struct name_ref ref, int fd,
		    const struct address_set *set, u32 type)
{
	u32 count, slot;
	u64 *address = address_set_list(set, &count);
	struct symbol_object known = { .has = 0 };
	const struct name_file *f;
	int r = 0;

	if (!address)
		return 0;
	count = unknown_only(s, ref, address, count, type == SYMBOL_LINES);
	if (!count)
		goto out;
	r = slot_open(s, ref,
		      job->key.kind == MAPPED_KERNEL ? SYMBOL_KALLSYMS :
		      job->key.kind == MAPPED_JIT    ? SYMBOL_PERF_MAP :
						       SYMBOL_ELF,
		      fd, &slot);
	if (r < 0)
		goto out;
	if (!s->slot[slot].attached && job->key.kind == MAPPED_FILE) {
		pthread_mutex_lock(&s->lock);
		f = name_cache_file(&s->cache, ref);
		if (f)
			known = f->known;
		pthread_mutex_unlock(&s->lock);
		r = attach_debug(s, job, slot, &known);
		s->slot[slot].attached = true;
	}
	if (!r)
		r = find_all(s, ref, slot, type, address, count);
out:
	free(address);
	return r;
}

/* All that is asked of a file; also which build it is. */
static int job_find(struct symbols *s, const struct job *job, struct name_ref ref, int fd)
{
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
		r = slot_open(s, ref, SYMBOL_ELF, fd, &slot);
	if (!r)
		r = find_set(s, job, ref, fd, &job->names, SYMBOL_FIND);
	if (!r)
		r = find_set(s, job, ref, fd, &job->lines, SYMBOL_LINES);
	return r;
}

/* A helper ended over this file: once may be anything, twice is the file. */
static bool strike(struct symbols *s, struct name_ref ref)
{
	struct name_file *f;
	bool again = false;

	pthread_mutex_lock(&s->lock);
	s->failures++;
	f = name_cache_file(&s->cache, ref);
	if (f && ++f->strikes < STRIKES) {
		again = !s->quit;
	} else if (f) {
		f->nameless = true;
		f->struck_ms = symbols_now_ms();
		s->poisoned++;
	}
	pthread_mutex_unlock(&s->lock);
	return again;
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
			ref = name_cache_path(&s->cache, job->key.path, job->key.inode);
	}
	job_done(s, job, ref);
	pthread_mutex_unlock(&s->lock);
}

static void job_run(struct symbols *s, const struct job *job)
{
	bool poisoned = false;
	struct name_file *f;
	struct name_key key;
	struct name_ref ref;
	int fd = job_open(s, job, &key), r;

	if (fd < 0) {
		job_gone(s, job);
		return;
	}
	pthread_mutex_lock(&s->lock);
	ref = name_cache_get(&s->cache, &key);
	f = name_cache_file(&s->cache, ref);
	if (job->key.kind == MAPPED_FILE && job->key.live && job->key.inode)
		f->path = job->key.path;
	if (f->struck_ms && symbols_now_ms() - f->struck_ms > POISONED_MS) {
		f->strikes = 0;
		f->struck_ms = 0;
		f->opened = false;
	}
	poisoned = f->struck_ms;
	pthread_mutex_unlock(&s->lock);
	do
		r = poisoned ? 0 : job_find(s, job, ref, fd);
	while (symbol_link_died(r) && strike(s, ref));
	close(fd);
	pthread_mutex_lock(&s->lock);
	job_done(s, job, ref);
	pthread_mutex_unlock(&s->lock);
}

/* The next job, or NULL at the end. */
static struct job *job_next(struct symbols *s)
{
	struct job *job;

	while (!s->quit && !s->first) {
		if (s->link.fd < 0) {
			pthread_cond_wait(&s->changed, &s->lock);
		} else if (wait_until(s, symbols_now_ms() + IDLE_MS) && !s->first) {
			pthread_mutex_unlock(&s->lock);
			symbol_link_end(&s->link);
			pthread_mutex_lock(&s->lock);
		}
	}
	if (s->quit)
		return NULL;
	job = s->first;
	s->first = job->next;
	if (!s->first)
		s->last = NULL;
	/* What is asked of it from now on is another job. */
	if (s->mapped[job->mapped].job == job)
		s->mapped[job->mapped].job = NULL;
	s->busy = true;
	return job;
}

void *resolve_run(void *arg)
{
	struct symbols *s = arg;
	struct job *job;

	pthread_mutex_lock(&s->lock);
	while ((job = job_next(s))) {
		u32 count = job->names.count + job->names.zero + job->lines.count + job->lines.zero;

		pthread_mutex_unlock(&s->lock);
		job_run(s, job);
		job_free(job);
		pthread_mutex_lock(&s->lock);
		s->pending -= count;
		s->busy = false;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
