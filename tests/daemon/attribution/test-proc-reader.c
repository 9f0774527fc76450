// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test threads that read a simulated /proc in the background. Files that block are FIFOs without a
 * writer, and a directory of logs blocks in readdir(). Neither attribution nor statistics may wait
 * for these files.
 */
#include "test.h"

#include "attribution/attributor-internal.h"
#include "profile/profile-internal.h"
#include "tasks/task-event.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define USER	7
#define OTHER	8
#define FIRST	100 /* a PID */
#define CODE	0x400000
#define ENTRIES 16

/* Settings and results of the wrapped functions of the C library */
static struct {
	pthread_t worker; /* the thread that attributes samples */
	int gate; /* a descriptor from which readdir() first reads a byte; -1: it does not wait */
	u32 no_memory; /* number of replies for which memory allocation fails */
	bool listed_by_worker;
	sem_t maps_opened; /* counts the calls that open maps */
	u64 ahead_ns; /* added to all clocks */
} fake = { .gate = -1 };

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
int __real_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...);
int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);

struct dirent *__wrap_readdir64(DIR *dir)
{
	char byte;

	if (pthread_equal(pthread_self(), fake.worker))
		fake.listed_by_worker = true;
	else if (fake.gate >= 0 && read(fake.gate, &byte, 1) < 0)
		return NULL;
	return __real_readdir64(dir);
}

void *__wrap_malloc(size_t size)
{
	u32 remaining = __atomic_load_n(&fake.no_memory, __ATOMIC_RELAXED);

	if (size == sizeof(struct proc_answer) && remaining) {
		__atomic_store_n(&fake.no_memory, remaining - 1, __ATOMIC_RELAXED);
		return NULL;
	}
	return __real_malloc(size);
}

int __wrap_openat64(int dir, const char *path, int flags, ...)
{
	if (!strcmp(path, "maps"))
		sem_post(&fake.maps_opened);
	/* The attributor creates no file, so there is no mode. */
	return __real_openat64(dir, path, flags);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int r = __real_clock_gettime(clock, ret_time);

	ret_time->tv_sec += (time_t)__atomic_load_n(&fake.ahead_ns, __ATOMIC_RELAXED) / 1000000000;
	return r;
}

/**
 * struct fixture - an attributor with a simulated /proc
 * @root: directory of the simulated /proc
 * @pids: its processes
 */
struct fixture {
	char root[40];
	char log[48];
	s32 pids[ENTRIES];
	u32 count;
	struct attributor *attributor;
	struct profile *profile;
};

static void format_path(const struct fixture *f, char *path, size_t size, s32 pid, const char *file)
{
	snprintf(path, size, "%s/%d%s%s", f->root, pid, *file ? "/" : "", file);
}

static void write_file(const struct fixture *f, s32 pid, const char *file, const char *text)
{
	char path[96];
	FILE *to;

	format_path(f, path, sizeof(path), pid, file);
	to = fopen(path, "we");
	assert_non_null(to);
	assert_true(fputs(text, to) >= 0);
	assert_int_equal(fclose(to), 0);
}

static void write_stat(const struct fixture *f, s32 pid, const char *comm)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 2 3 4 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 777 1000 10 99 4096 8192 12288 "
		 "0\n",
		 pid, comm);
	write_file(f, pid, "stat", text);
}

/* Add a process of @uid with one mapping at CODE. */
static void add_process(struct fixture *f, s32 pid, u32 uid)
{
	char path[96], text[128];

	format_path(f, path, sizeof(path), pid, "");
	assert_int_equal(mkdir(path, 0755), 0);
	f->pids[f->count++] = pid;
	snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nUid:\t%u\t0\t0\t0\n", pid, uid);
	write_file(f, pid, "status", text);
	write_stat(f, pid, "before");
	write_file(f, pid, "cgroup", "0::/lxc/web\n");
	write_file(f, pid, "maps", "400000-401000 r-xp 0 fe:01 7 /bin/program\n");
}

/* Make the open of @file of @pid block until release_reader(). */
static void make_blocking_file(const struct fixture *f, s32 pid, const char *file)
{
	char path[96], held[96];

	format_path(f, path, sizeof(path), pid, file);
	format_path(f, held, sizeof(held), pid, "held");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(link(path, held), 0);
}

/* Wait until the blocking file is opened for reading, and write @text to its reader. */
static void release_reader(const struct fixture *f, s32 pid, const char *text)
{
	char path[96];
	int fd;

	format_path(f, path, sizeof(path), pid, "held");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Replace the blocking file by a regular file, which the next open() finds. */
static void unblock_file(const struct fixture *f, s32 pid, const char *file, const char *text)
{
	char path[96];

	format_path(f, path, sizeof(path), pid, file);
	assert_int_equal(unlink(path), 0);
	write_file(f, pid, file, text);
}

/*
 * Release the reader of the blocking file, after the file was replaced. A reader that opens it next must
 * not find the blocking file, for which there is no writer any more.
 */
static void replace_blocking_file(const struct fixture *f, s32 pid, const char *file,
				  const char *text)
{
	char path[96];
	int fd;

	format_path(f, path, sizeof(path), pid, "held");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	unblock_file(f, pid, file, text);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	struct attributor_config config = { .live = true, .background = true };
	const struct profile_config cells = { .cell_bytes = 1 << 20 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/test-proc-reader-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	config.proc = f->root;
	snprintf(f->log, sizeof(f->log), "%s/log", f->root);
	config.log = f->log;
	fake.worker = pthread_self();
	assert_int_equal(sem_init(&fake.maps_opened, 0, 0), 0);
	assert_int_equal(attributor_new(&config, &f->attributor), 0);
	assert_int_equal(profile_new(&cells, f->attributor, &f->profile), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = { "status",	      "stat",	  "cgroup", "maps", "held",
					     "task/101/maps", "task/101", "task",   "" };
	struct fixture *f = *state;
	char path[96];

	profile_free(f->profile);
	/* Freeing the attributor must not block, even if its threads are blocked. */
	attributor_free(f->attributor);
	for (u32 i = 0; i < f->count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
			format_path(f, path, sizeof(path), f->pids[i], files[k]);
			remove(path);
		}
	}
	assert_int_equal(rmdir(f->root), 0);
	free(f);
	return 0;
}

/* Wait for the next replies and apply them. */
static void apply_replies(struct fixture *f)
{
	struct pollfd fd = { .fd = attributor_get_answers_fd(f->attributor), .events = POLLIN };

	assert_int_equal(poll(&fd, 1, -1), 1);
	attributor_apply_answers(f->attributor);
}

static u32 wait_for_process(struct fixture *f, s32 pid)
{
	u32 index;

	while ((index = attributor_find_process(f->attributor, pid)) == ATTRIBUTE_PENDING)
		apply_replies(f);
	return index;
}

static bool is_mapped(struct fixture *f, u32 index, u64 pc)
{
	return maps_find(&f->attributor->process[index].maps, pc);
}

static void wait_for_maps(struct fixture *f, u32 index)
{
	while (!is_mapped(f, index, CODE))
		apply_replies(f);
}

static void test_reply_is_applied(void **state)
{
	struct fixture *f = *state;
	const struct attribute_process *p;
	struct attribute_location location;
	u32 index;

	add_process(f, FIRST, USER);
	assert_int_equal(attributor_find_process(f->attributor, FIRST), ATTRIBUTE_PENDING);
	index = wait_for_process(f, FIRST);
	p = attributor_get_process(f->attributor, index);
	assert_int_equal(p->pid, FIRST);
	assert_string_equal(p->comm, "before");
	assert_string_equal(attributor_get_container(f->attributor, p->container)->name, "web");
	wait_for_maps(f, index);
	assert_true(attributor_locate_pc(f->attributor, index, CODE + 8, false, &location));
	assert_string_equal(location.binary, "/bin/program");
	/* The reply "no such process" counts, too. */
	assert_int_equal(wait_for_process(f, FIRST + 1), ATTRIBUTE_NONE);
}

/*
 * If one user has more processes with unreadable mappings than there are threads, one thread waits
 * for them, and the mappings of other users are read. Nothing else waits, not even the end of the
 * attributor.
 */
static void test_hung_maps(void **state)
{
	struct fixture *f = *state;
	struct attribute_location location;
	u32 index[PROC_MAP_READERS + 2], other;

	for (u32 i = 0; i < ARRAY_SIZE(index); i++) {
		add_process(f, FIRST + (s32)i, USER);
		make_blocking_file(f, FIRST + (s32)i, "maps");
		index[i] = wait_for_process(f, FIRST + (s32)i);
		assert_int_not_equal(index[i], ATTRIBUTE_NONE);
	}
	add_process(f, FIRST + 50, OTHER);
	other = wait_for_process(f, FIRST + 50);
	wait_for_maps(f, other);
	/* A view requests the mappings again; the pending query serves both requests. */
	for (u32 i = 0; i < ARRAY_SIZE(index); i++) {
		f->attributor->process[index[i]].maps_read_ms = 0;
		assert_false(attributor_locate_pc(f->attributor, index[i], CODE, false, &location));
	}
	release_reader(f, FIRST, "400000-401000 r-xp 0 fe:01 7 /bin/slow\n");
	wait_for_maps(f, index[0]);
	assert_true(attributor_locate_pc(f->attributor, index[0], CODE, false, &location));
	assert_string_equal(location.binary, "/bin/slow");
}

/*
 * A read that takes longer than PROC_MAP_BLOCKED_NS counts as blocked. So more owners that block
 * reads than PROC_MAP_READERS do not stop the reads of others.
 */
static void test_blocked_reads_are_replaced(void **state)
{
	struct fixture *f = *state;
	const u32 owners = 2 * PROC_MAP_READERS + 1;

	for (u32 i = 0; i < owners; i++) {
		add_process(f, FIRST + (s32)i, USER + i);
		make_blocking_file(f, FIRST + (s32)i, "maps");
		assert_int_not_equal(wait_for_process(f, FIRST + (s32)i), ATTRIBUTE_NONE);
		/* The first reads run at once, and each further one when others count as blocked. */
		if (i % PROC_MAP_READERS == PROC_MAP_READERS - 1) {
			for (u32 k = 0; k < PROC_MAP_READERS; k++)
				sem_wait(&fake.maps_opened);
			__atomic_add_fetch(&fake.ahead_ns, PROC_MAP_BLOCKED_NS, __ATOMIC_RELAXED);
		}
	}
	add_process(f, FIRST + 50, USER + owners);
	wait_for_maps(f, wait_for_process(f, FIRST + 50));
}

/* The user of all blocked reads is one owner: a further thread does not read for that user. */
static void test_blocked_read_is_the_only_one_of_owner(void **state)
{
	struct fixture *f = *state;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "maps");
	assert_int_not_equal(wait_for_process(f, FIRST), ATTRIBUTE_NONE);
	sem_wait(&fake.maps_opened);
	__atomic_add_fetch(&fake.ahead_ns, PROC_MAP_BLOCKED_NS, __ATOMIC_RELAXED);
	add_process(f, FIRST + 1, USER);
	assert_int_not_equal(wait_for_process(f, FIRST + 1), ATTRIBUTE_NONE);
	/* The query of another user is behind it in the queue, and overtakes it. */
	add_process(f, FIRST + 2, OTHER);
	wait_for_maps(f, wait_for_process(f, FIRST + 2));
	sem_wait(&fake.maps_opened);
	assert_int_equal(sem_trywait(&fake.maps_opened), -1);
}

/* Count @count loads of @tid in all of @profiles. */
static void count_loads_in_profiles(struct profile *const *profiles, u32 profile_count, s32 tid,
				    u32 count)
{
	const struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP,
		.address = { CODE },
		.op_class = SPE_OP_LOAD_STORE,
		.events = 1 << 1,
		.events_size = 2,
	};
	u8 record[128];
	int n = spe_record_encode(&s, record, sizeof(record));
	const struct source_window window = {
		.data = record, .len = (size_t)n, .tid = tid, .interval = 100, .written = 1
	};

	assert_true(n > 0);
	for (u32 i = 0; i < count; i++)
		profiles_add_window(profiles, profile_count, &window);
}

static void count_samples(struct fixture *f, s32 tid, u32 count)
{
	count_loads_in_profiles(&f->profile, 1, tid, count);
}

static const struct view_header *get_attributed_view(struct fixture *f)
{
	profile_flush(f->profile);
	return profile_get_header(f->profile);
}

#define STATUS "Name:\tx\nTgid:\t100\nUid:\t7\t7\t7\t7\n"

/* Wait until @records samples were counted, while the answers of /proc arrive. */
static void wait_for_records(struct fixture *f, u64 records)
{
	while (get_attributed_view(f)->records < records)
		apply_replies(f);
	assert_int_equal(get_attributed_view(f)->records, records);
}

/*
 * Before the reply a sample is in no statistics. After the reply it is in the statistics of the
 * process.
 */
static void test_samples_wait_for_process(void **state)
{
	struct fixture *f = *state;
	struct profile_counters sum;
	u32 index;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "status");
	count_samples(f, FIRST, 3);
	assert_int_equal(get_attributed_view(f)->records, 0);
	assert_int_equal(get_attributed_view(f)->written, 0);
	assert_int_equal(get_attributed_view(f)->unattributed, 0);
	/* A sample of a known process does not wait for that sample. */
	count_samples(f, 0, 1);
	assert_int_equal(get_attributed_view(f)->records, 1);
	/* The mappings are read afterwards, which opens the file once more. */
	replace_blocking_file(f, FIRST, "status", STATUS);
	index = wait_for_process(f, FIRST);
	/* When the process is known, its samples wait for its mappings. */
	wait_for_records(f, 4);
	assert_int_equal(get_attributed_view(f)->written, 4);
	assert_int_equal(get_attributed_view(f)->unattributed, 0);
	assert_int_equal(get_attributed_view(f)->weight[UNIT_UNKNOWN], 400);
	assert_true(profile_sum_process_counters(f->profile, index, &sum));
	assert_int_equal(sum.samples, 3);
}

static void assert_counted(struct profile *profile, u64 records, u64 filtered, u64 unattributed)
{
	const struct view_header *h;

	profile_flush(profile);
	h = profile_get_header(profile);
	assert_int_equal(h->records, records);
	assert_int_equal(h->filtered, filtered);
	assert_int_equal(h->unattributed, unattributed);
}

/*
 * Several profiles count the same windows. A waiting sample is counted once in each profile, with
 * the filter that the profile had when the sample arrived.
 */
static void test_waiting_sample_keeps_filter(void **state)
{
	struct fixture *f = *state;
	struct profile_config config = { 0 };
	struct profile *profiles[3] = { f->profile };
	struct filter *loads, *stores;
	struct filter_error error;

	assert_int_equal(filter_new("op == load", &loads, &error), 0);
	assert_int_equal(filter_new("op == store", &stores, &error), 0);
	config.filter = loads;
	assert_int_equal(profile_new(&config, f->attributor, &profiles[1]), 0);
	assert_int_equal(profile_new(&config, f->attributor, &profiles[2]), 0);
	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "status");
	count_loads_in_profiles(profiles, 3, FIRST, 3);
	for (u32 i = 0; i < 3; i++)
		assert_counted(profiles[i], 0, 0, 0);
	/*
	 * The new filter applies to later samples. Waiting samples are counted now, in this profile
	 * alone.
	 */
	profile_set_filter(profiles[2], stores);
	assert_counted(profiles[2], 3, 0, 3);
	count_loads_in_profiles(profiles, 3, FIRST, 1);
	assert_counted(profiles[1], 0, 0, 0);
	replace_blocking_file(f, FIRST, "status", STATUS);
	wait_for_process(f, FIRST);
	wait_for_records(f, 4);
	assert_counted(profiles[0], 4, 0, 0);
	assert_counted(profiles[1], 4, 0, 0);
	assert_counted(profiles[2], 3, 1, 3);
	profile_free(profiles[2]);
	profile_free(profiles[1]);
	filter_free(stores);
	filter_free(loads);
}

/*
 * If there is no reply, samples are unattributed after the deadline, which the test sets to the
 * present time.
 */
static void test_deadline_without_reply(void **state)
{
	struct fixture *f = *state;
	struct attributor_stats stats;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "status");
	count_samples(f, FIRST, WAITING_SAMPLES_MAX + 5);
	/* The remaining samples fit into the queue. */
	assert_int_equal(get_attributed_view(f)->records, 5);
	assert_int_equal(get_attributed_view(f)->unattributed, 5);
	f->attributor->sample_wait_ms = 0;
	assert_int_equal(get_attributed_view(f)->unattributed, WAITING_SAMPLES_MAX + 5);
	assert_int_equal(get_attributed_view(f)->records, WAITING_SAMPLES_MAX + 5);
	attributor_get_stats(f->attributor, &stats);
	assert_int_equal(stats.unanswered, 1);
	assert_int_equal(stats.lookups, 1);
	/* Waiting samples are also counted as unattributed when a session ends or is saved. */
	f->attributor->sample_wait_ms = UINT32_MAX;
	add_process(f, FIRST + 1, USER);
	count_samples(f, FIRST + 1, 2);
	profile_finish_waiting_samples(f->profile);
	assert_int_equal(get_attributed_view(f)->records, WAITING_SAMPLES_MAX + 7);
}

static void assert_one_row(struct fixture *f, enum view_group group, const char *process,
			   const char *binary, u64 samples)
{
	struct view view;

	assert_int_equal(
		profile_create_view(f->profile, NULL, true, group, VIEW_SORT_SAMPLES, 0, &view), 0);
	assert_int_equal(view.count, 1);
	assert_string_equal(view.rows[0].process, process);
	assert_string_equal(view.rows[0].binary, binary);
	assert_int_equal(view.rows[0].samples, samples);
	view_clear(&view);
}

/*
 * A sample waits until the mappings of its process are known. So its program is one row, by the
 * path of the executable, and not also by the name that is known earlier.
 */
static void test_samples_wait_for_mappings(void **state)
{
	struct fixture *f = *state;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "maps");
	count_samples(f, FIRST, 3);
	wait_for_process(f, FIRST);
	count_samples(f, FIRST, 2);
	assert_int_equal(get_attributed_view(f)->records, 0);
	assert_int_equal(get_attributed_view(f)->written, 0);
	assert_int_equal(f->profile->waiting_mapped, 5);
	release_reader(f, FIRST, "400000-401000 r-xp 0 fe:01 7 /bin/slow\n");
	wait_for_records(f, 5);
	assert_int_equal(get_attributed_view(f)->written, 5);
	assert_int_equal(f->profile->waiting_mapped, 0);
	count_samples(f, FIRST, 1);
	assert_one_row(f, VIEW_PROGRAM, "slow", "", 6);
	assert_one_row(f, VIEW_FUNCTION, "slow", "/bin/slow", 6);
}

/* After the deadline a sample is counted for the name of the process, as unmapped. */
static void test_mapping_deadline(void **state)
{
	struct fixture *f = *state;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "maps");
	count_samples(f, FIRST, 1);
	wait_for_process(f, FIRST);
	/* Samples that wait for a mapping leave half of the queue to those that wait for a task. */
	count_samples(f, FIRST, WAITING_MAPPED_MAX + 9);
	assert_int_equal(get_attributed_view(f)->records, 10);
	for (u32 i = 0; i < f->profile->waiting_count; i++)
		f->profile->waiting[i].until_ns = 1;
	assert_int_equal(get_attributed_view(f)->records, WAITING_MAPPED_MAX + 10);
	assert_one_row(f, VIEW_BINARY, "", "[unmapped]", WAITING_MAPPED_MAX + 10);
	assert_one_row(f, VIEW_PROGRAM, "before", "", WAITING_MAPPED_MAX + 10);
}

/* A PC in no known mapping makes the daemon read the mappings again, at most every 200 ms. */
static void test_mapping_is_read_again(void **state)
{
	struct fixture *f = *state;
	u32 index;

	add_process(f, FIRST, USER);
	unblock_file(f, FIRST, "maps", "500000-501000 r-xp 0 fe:01 7 /bin/program\n");
	index = wait_for_process(f, FIRST);
	while (!is_mapped(f, index, 0x500000))
		apply_replies(f);
	/* The process maps more code, which no event reports. */
	unblock_file(f, FIRST, "maps",
		     "400000-401000 r-xp 0 fe:01 8 /lib/late.so\n"
		     "500000-501000 r-xp 0 fe:01 7 /bin/program\n");
	f->attributor->process[index].maps_read_ms = coarse_now_ms();
	count_samples(f, FIRST, 1);
	assert_int_equal(get_attributed_view(f)->records, 0);
	assert_false(f->attributor->process[index].query_pending);
	f->attributor->process[index].maps_read_ms -= MAPS_MISS_MS;
	wait_for_records(f, 1);
	assert_one_row(f, VIEW_BINARY, "", "/lib/late.so", 1);
	/* If a read does not find the mapping, it is not repeated. */
	profile_reset(f->profile);
	unblock_file(f, FIRST, "maps", "500000-501000 r-xp 0 fe:01 7 /bin/program\n");
	f->attributor->process[index].maps_read_ms -= MAPS_MISS_MS;
	process_compare_with_proc(f->attributor, index, true);
	while (is_mapped(f, index, CODE))
		apply_replies(f);
	f->attributor->process[index].maps_read_ms -= MAPS_MISS_MS;
	count_samples(f, FIRST, 1);
	wait_for_records(f, 1);
	assert_one_row(f, VIEW_BINARY, "", "[unmapped]", 1);
}

static void send_event(struct fixture *f, struct task_event e)
{
	e.time_ns = 1000;
	attributor_apply_event(f->attributor, &e);
}

/* Events reported a task and its container. Its samples wait only for its mappings. */
static void test_reported_task_waits_for_mappings(void **state)
{
	struct fixture *f = *state;
	struct profile_counters sum;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "cgroup");
	send_event(f, (struct task_event){ .type = TASK_SEEDED,
					   .name = "",
					   .size = TASK_REPORTS_MAPS | TASK_REPORTS_CGROUPS });
	send_event(f, (struct task_event){
			      .type = TASK_CGROUP, .cgroup = 1ULL << 62, .name = "/lxc/web" });
	send_event(f, (struct task_event){ .type = TASK_SEED,
					   .pid = FIRST,
					   .tid = FIRST,
					   .cgroup = 1ULL << 62,
					   .start_ns = 7770000000,
					   .name = "reported" });
	count_samples(f, FIRST, 3);
	assert_int_equal(get_attributed_view(f)->records, 0);
	assert_int_equal(f->profile->waiting_mapped, 3);
	replace_blocking_file(f, FIRST, "cgroup", "0::/lxc/web\n");
	/*
	 * In a cgroup namespace /proc shows another container, so the process gets another entry.
	 */
	while (!is_mapped(f, wait_for_process(f, FIRST), CODE))
		apply_replies(f);
	wait_for_records(f, 3);
	assert_true(profile_sum_process_counters(f->profile, wait_for_process(f, FIRST), &sum));
	assert_int_equal(sum.samples, 3);
}

/*
 * A child may be in another container than its parent, so its samples wait as long as the queue has
 * space.
 */
static void test_child_container_differs(void **state)
{
	struct fixture *f = *state;
	u32 parent;

	add_process(f, FIRST, USER);
	add_process(f, FIRST + 1, USER);
	make_blocking_file(f, FIRST + 1, "status");
	parent = wait_for_process(f, FIRST);
	send_event(f, (struct task_event){
			      .type = TASK_SEEDED, .name = "", .size = TASK_REPORTS_MAPS });
	attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_FORK,
								    .time_ns = UINT64_MAX - 1,
								    .pid = FIRST + 1,
								    .tid = FIRST + 1,
								    .parent_pid = FIRST,
								    .name = "child" });
	count_samples(f, FIRST + 1, WAITING_SAMPLES_MAX + 5);
	assert_int_equal(get_attributed_view(f)->records, 5);
	assert_int_equal(get_attributed_view(f)->unattributed, 0);
	assert_int_not_equal(attributor_guess_process(f->attributor, FIRST + 1), parent);
	profile_finish_waiting_samples(f->profile);
	assert_int_equal(get_attributed_view(f)->records, WAITING_SAMPLES_MAX + 5);
	assert_int_equal(get_attributed_view(f)->unattributed, 0);
}

/*
 * The process executed another program after the query, so the reply belongs to the former program.
 */
static void test_reply_of_former_program(void **state)
{
	struct fixture *f = *state;
	const struct task_event exec = { .type = TASK_COMM,
					 .time_ns = UINT64_MAX - 1,
					 .pid = FIRST,
					 .tid = FIRST,
					 .name = "after",
					 .exec = true };
	u32 index;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "cgroup");
	assert_int_equal(attributor_find_process(f->attributor, FIRST), ATTRIBUTE_PENDING);
	release_reader(f, FIRST, "0::/lxc/before\n");
	attributor_apply_event(f->attributor, &exec);
	write_stat(f, FIRST, "after");
	unblock_file(f, FIRST, "cgroup", "0::/lxc/after\n");
	index = wait_for_process(f, FIRST);
	assert_string_equal(attributor_get_process(f->attributor, index)->comm, "after");
	assert_true(f->attributor->stats.lookups == 1);
}

/* A mapping that an event reports while the maps are read is not lost. */
static void test_mapping_during_read_is_kept(void **state)
{
	struct fixture *f = *state;
	const struct task_event map = { .type = TASK_MMAP,
					.time_ns = UINT64_MAX - 1,
					.pid = FIRST,
					.tid = FIRST,
					.start = 0x900000,
					.size = 0x1000,
					.name = "/lib/new" };
	u32 index;

	add_process(f, FIRST, USER);
	make_blocking_file(f, FIRST, "maps");
	index = wait_for_process(f, FIRST);
	attributor_apply_event(f->attributor, &map);
	release_reader(f, FIRST, "400000-401000 r-xp 0 fe:01 7 /bin/program\n");
	wait_for_maps(f, index);
	assert_true(is_mapped(f, index, 0x900000));
}

/* A process has more mappings than a reply holds: several replies deliver each mapping once. */
static void test_many_mappings_need_several_replies(void **state)
{
	const u32 count = 3000;
	struct fixture *f = *state;
	char *text = malloc(count * 80UL), *at = text;
	const struct maps *maps;
	u32 index;

	add_process(f, FIRST, USER);
	for (u32 i = 0; i < count; i++)
		at += sprintf(at, "%x-%x r-xp 0 fe:01 %u /lib/%024u.so\n", (2 * i + 1) << 12,
			      (2 * i + 2) << 12, i + 1, i);
	write_file(f, FIRST, "maps", text);
	free(text);
	index = wait_for_process(f, FIRST);
	maps = &f->attributor->process[index].maps;
	while (maps->count < count)
		apply_replies(f);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(maps->entry[i].start, (2 * i + 1) << 12);
	while (f->attributor->process[index].query_pending)
		apply_replies(f);
	assert_int_equal(maps->count, count);
	assert_int_equal(f->attributor->store.dropped, 0);
}

static void make_directory(const struct fixture *f, s32 pid, const char *name)
{
	char path[96];

	format_path(f, path, sizeof(path), pid, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/*
 * perf reports the exit of a leader as the exit of its process, although another thread continues
 * it.
 */
static void test_thread_outlives_leader(void **state)
{
	struct fixture *f = *state;
	u32 index, after;

	add_process(f, FIRST, USER);
	make_directory(f, FIRST, "task");
	make_directory(f, FIRST, "task/101");
	write_file(f, FIRST, "task/101/maps", "400000-401000 r-xp 0 fe:01 7 /bin/thread\n");
	add_process(f, FIRST + 1, USER);
	write_file(f, FIRST + 1, "status", "Name:\tx\nTgid:\t100\nUid:\t7\t7\t7\t7\n");
	index = wait_for_process(f, FIRST);
	wait_for_maps(f, index);
	/* The whole process exits: late samples still belong to its entry. */
	attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_EXIT,
								    .time_ns = UINT64_MAX - 1,
								    .pid = FIRST,
								    .tid = FIRST,
								    .last = true });
	assert_int_equal(wait_for_process(f, FIRST), index);
	/* Only the leader exits. */
	write_file(f, FIRST, "maps", "");
	write_file(f, FIRST, "stat",
		   "100 (before) Z 1 2 3 4 -1 0 1 2 3 4 5 6 7 8 20 0 2 0 777 0 10 99 0 0 0 0\n");
	after = wait_for_process(f, FIRST + 1);
	assert_int_not_equal(after, index);
	assert_int_equal(attributor_get_process(f->attributor, after)->pid, FIRST);
	assert_int_equal(f->attributor->process[after].state, PROCESS_LIVING);
	wait_for_maps(f, after);
	assert_int_equal(wait_for_process(f, FIRST + 1), after);
}

/* The periodic refresh reads in the background, too. */
static void test_refresh_reads_in_background(void **state)
{
	struct fixture *f = *state;
	u32 index;

	add_process(f, FIRST, USER);
	index = wait_for_process(f, FIRST);
	wait_for_maps(f, index);
	write_stat(f, FIRST, "renamed");
	make_blocking_file(f, FIRST, "cgroup");
	attributor_refresh(f->attributor);
	attributor_refresh(f->attributor);
	assert_string_equal(attributor_get_process(f->attributor, index)->comm, "before");
	release_reader(f, FIRST, "0::/lxc/web\n");
	while (f->attributor->process[index].query_pending)
		apply_replies(f);
	assert_string_equal(attributor_get_process(f->attributor, index)->comm, "renamed");
	assert_int_equal(attributor_find_process(f->attributor, FIRST), index);
}

#define POD_UID	     "0b1cf0ac-7d33-4d3e-8c8d-9e9b6e8f0a11"
#define CONTAINER_ID "4f0c9d3b2a1e4f0c9d3b2a1e4f0c9d3b2a1e4f0c9d3b2a1e4f0c9d3b2a1e4f0c"

static const char *const log_paths[] = { "log/pods/shop_web-7_" POD_UID, "log/pods", "log" };

static const char *get_container_name(struct fixture *f, u32 index)
{
	u32 container = attributor_get_process(f->attributor, index)->container;

	return attributor_get_container(f->attributor, container)->name;
}

/*
 * If the file system with the logs of Kubernetes hangs, the container gets its name later, and
 * nothing waits for it.
 */
static void test_hung_logs(void **state)
{
	struct fixture *f = *state;
	char path[160];
	int gate[2];
	u32 index;

	for (u32 i = ARRAY_SIZE(log_paths); i--;) {
		snprintf(path, sizeof(path), "%s/%s", f->root, log_paths[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	fake.gate = gate[0];
	add_process(f, FIRST, USER);
	write_file(f, FIRST, "cgroup", "0::/kubepods/besteffort/pod" POD_UID "/" CONTAINER_ID "\n");
	index = wait_for_process(f, FIRST);
	assert_string_equal(get_container_name(f, index), "pod0b1cf0ac/4f0c9d3b2a1e");
	wait_for_maps(f, index);
	add_process(f, FIRST + 1, OTHER);
	wait_for_maps(f, wait_for_process(f, FIRST + 1));
	/* Only one query for the name is pending, even if it is due several times. */
	for (u32 i = 0; i < 10; i++)
		containers_refresh_names(f->attributor);
	assert_false(fake.listed_by_worker);
	close(gate[1]);
	while (strcmp(get_container_name(f, index), "shop/web-7/4f0c9d3b2a1e") != 0)
		apply_replies(f);
	assert_int_equal(f->attributor->containers_unnamed, 1);
	fake.gate = -1;
	close(gate[0]);
	for (u32 i = 0; i < ARRAY_SIZE(log_paths); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->root, log_paths[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

/*
 * Check that a query fails if the allocation of its reply fails, and that the failure is counted.
 */
static void test_failed_reply_allocation(void **state)
{
	struct fixture *f = *state;
	struct attributor_stats stats;

	add_process(f, FIRST, USER);
	__atomic_store_n(&fake.no_memory, 1, __ATOMIC_RELAXED);
	assert_int_equal(wait_for_process(f, FIRST), ATTRIBUTE_NONE);
	assert_int_equal(fake.no_memory, 0);
	attributor_get_stats(f->attributor, &stats);
	assert_int_equal(stats.unanswered, 1);
}

static void test_read_budget(void **state)
{
	struct proc_read_budget b = { 0 };
	const u64 second = 1000000000, start = 5 * second;

	(void)state;
	assert_int_equal(proc_read_budget_get_delay(&b, start), 0);
	/*
	 * A single read may exceed the budget. The next read waits until the budget is balanced
	 * again.
	 */
	proc_read_budget_charge(&b, PROC_BYTES_BURST + 2 * PROC_BYTES_PER_SECOND);
	assert_in_range(proc_read_budget_get_delay(&b, start), 2 * second, 2 * second + 1000);
	assert_in_range(proc_read_budget_get_delay(&b, start + second), second, second + 1000);
	assert_int_equal(proc_read_budget_get_delay(&b, start + 2 * second + 1000), 0);
	/* The burst is limited, for any length of the pause before it. */
	assert_int_equal(proc_read_budget_get_delay(&b, start + 1000000 * second), 0);
	proc_read_budget_charge(&b, PROC_BYTES_BURST);
	assert_int_not_equal(proc_read_budget_get_delay(&b, start + 1000000 * second), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reply_is_applied, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hung_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_blocked_reads_are_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_blocked_read_is_the_only_one_of_owner, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samples_wait_for_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waiting_sample_keeps_filter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deadline_without_reply, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_wait_for_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping_is_read_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reported_task_waits_for_mappings, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_child_container_differs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reply_of_former_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping_during_read_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_mappings_need_several_replies, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_thread_outlives_leader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refresh_reads_in_background, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hung_logs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed_reply_allocation, setup, teardown),
		cmocka_unit_test(test_read_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
