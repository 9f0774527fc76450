// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the link between the symbol helper and its caller: what the helper is not permitted to do,
 * which replies are rejected, and how the helper ends.
 */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/helper-link.h"
#include "symbols/symbols.h"

#define WAIT 60000

static char folder[] = "/tmp/test-symbol-helper-XXXXXX";
static const char *hostile;

__attribute__((noinline, used)) static int look_here(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

__attribute__((noinline, used)) static int look_there(int n)
{
	__asm__ volatile("" : "+r"(n) : : "memory");
	return n + 1;
}

static struct attributor *make_own_attributor(const void *function, u32 *ret_index,
					      struct attribute_location *ret_location)
{
	const struct attributor_config config = { .live = true };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	*ret_index = attributor_find_process(a, getpid());
	assert_true(
		attributor_locate_pc(a, *ret_index, (u64)(uintptr_t)function, false, ret_location));
	return a;
}

static bool resolve_name(struct symbols_cache *s, s32 pid,
			 const struct attribute_location *location, char *name, size_t size)
{
	if (symbols_get_function(s, pid, location, true, name, size))
		return true;
	symbols_wait_configured(s);
	return symbols_get_function(s, pid, location, true, name, size);
}

/* a line in /proc/PID/status of both helpers, and one in that of the helper that reads files */
#define ANY    "\nState:"
#define READER "\nSeccomp:\t2\n"

/* Find a child of this process with @line in its status. Return: its PID; 0 if there is none. */
static pid_t find_helper_pid(const char *line, char *ret_status, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	assert_non_null(proc);
	while (!found && (entry = readdir(proc))) {
		char path[300], parent[32];
		FILE *f;
		size_t n;

		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		n = fread(ret_status, 1, size - 1, f);
		ret_status[n] = '\0';
		fclose(f);
		snprintf(parent, sizeof(parent), "\nPPid:\t%d\n", getpid());
		if (strstr(ret_status, parent) && strstr(ret_status, line) &&
		    !strstr(ret_status, "\nState:\tZ"))
			found = atoi(entry->d_name);
	}
	closedir(proc);
	return found;
}

static void assert_status_has_line(const char *status, const char *line)
{
	if (!strstr(status, line))
		fail_msg("no \"%s\" in the helper's status:\n%s", line + 1, status);
}

/* Check in /proc/PID/status which privileges the helper dropped. */
static void test_helper_drops_privileges(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT, .idle = true };
	struct attribute_location location;
	char status[4096], name[64], path[64], limits[4096] = "";
	struct attributor *a;
	struct symbols_cache *s;
	pid_t pid;
	u32 index;
	FILE *f;

	(void)state;
	assert_int_equal(look_here(1) + look_there(1), 3);
	a = make_own_attributor(look_here, &index, &location);
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_true(resolve_name(s, getpid(), &location, name, sizeof(name)));
	assert_string_equal(name, "look_here");
	pid = find_helper_pid(READER, status, sizeof(status));
	assert_true(pid > 0);
	assert_status_has_line(status, "\nCapInh:\t0000000000000000\n");
	assert_status_has_line(status, "\nCapPrm:\t0000000000000000\n");
	assert_status_has_line(status, "\nCapEff:\t0000000000000000\n");
	assert_status_has_line(status, "\nCapAmb:\t0000000000000000\n");
	assert_status_has_line(status, "\nNoNewPrivs:\t1\n");
	assert_status_has_line(status, "\nSeccomp:\t2\n");
	assert_status_has_line(status, "\nThreads:\t1\n");
	snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(limits, 1, sizeof(limits) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(limits, "Max open files            64                   64"));
	assert_non_null(strstr(limits, "Max file size             0                    0"));
	assert_non_null(strstr(limits, "Max processes             0                    0"));
	symbols_free(s);
	attributor_free(a);
	/* The helper ends when its caller ends. */
	assert_int_equal(find_helper_pid(ANY, status, sizeof(status)), 0);
}

/* The helper reads the symbols of the kernel from a descriptor. */
static void test_kernel_symbols_from_descriptor(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	struct attribute_location location;
	unsigned long long address = 0;
	char type = 0, name[128];
	struct attributor *a;
	struct symbols_cache *s;
	u32 index;
	FILE *f = fopen("/proc/kallsyms", "re");

	(void)state;
	while (f && type != 'T' && fscanf(f, "%llx %c %*[^\n]", &address, &type) == 2)
		;
	if (f)
		fclose(f);
	if (!address)
		skip();
	a = make_own_attributor(look_here, &index, &location);
	assert_true(attributor_locate_pc(a, index, address, true, &location));
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_true(resolve_name(s, getpid(), &location, name, sizeof(name)));
	assert_true(*name && *name != '[');
	symbols_free(s);
	attributor_free(a);
}

/* If a helper is killed between two requests, the next request still gets its reply. */
static void test_killed_helper_is_replaced(void **state)
{
	siginfo_t dead;
	const struct symbols_config config = { .wait_ms = WAIT };
	struct symbols_stats stats;
	struct attribute_location here, there;
	struct attributor *a, *b;
	char status[4096], name[64];
	struct symbols_cache *s;
	pid_t pid;
	u32 index;

	(void)state;
	a = make_own_attributor(look_here, &index, &here);
	b = make_own_attributor(look_there, &index, &there);
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_true(resolve_name(s, getpid(), &here, name, sizeof(name)));
	pid = find_helper_pid(READER, status, sizeof(status));
	assert_true(pid > 0);
	kill(pid, SIGKILL);
	/* The helper is dead and not reaped: the caller reaps it. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &dead, WEXITED | WNOWAIT), 0);
	assert_true(resolve_name(s, getpid(), &there, name, sizeof(name)));
	assert_string_equal(name, "look_there");
	symbols_get_stats(s, &stats);
	assert_int_equal(stats.failures, 1);
	assert_int_equal(stats.quarantined, 0);
	assert_int_equal(stats.pending, 0);
	assert_string_equal(stats.reason, "");
	symbols_free(s);
	attributor_free(a);
	attributor_free(b);
}

/* Make a link to the hostile helper, named after its mode. */
static void make_hostile_path(const char *mode, char *path, size_t size)
{
	char bytes[65536];
	int from = open(hostile, O_RDONLY | O_CLOEXEC), to;
	ssize_t n;

	snprintf(path, size, "%s/%s", folder, mode);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	close(from);
	close(to);
}

/* A helper that misbehaves is killed, and a malformed reply is detected at once. */
static void test_hostile_link(void **state)
{
	static const struct {
		const char *mode;
		int ready;
		int open;
		int find;
	} rows[] = {
		{ "honest", 0, 0, 0 },	      { "mute", -ETIMEDOUT, 0, 0 },
		{ "gone", -EPIPE, 0, 0 },     { "old", -EPERM, 0, 0 },
		{ "unlocked", -EPERM, 0, 0 }, { "crash", 0, -EPIPE, 0 },
		{ "hang", 0, -ETIMEDOUT, 0 }, { "serial", 0, -EBADMSG, 0 },
		{ "short", 0, -EBADMSG, 0 },  { "long", 0, -EBADMSG, 0 },
		{ "slash", 0, -EBADMSG, 0 },  { "elsewhere", 0, 0, -EBADMSG },
		{ "text", 0, 0, -EBADMSG },   { "find-crash", 0, 0, -EPIPE },
	};
	static struct helper_link link;
	union {
		struct symbol_request request;
		u64 space[8];
	} find = { .space = { 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct symbol_request request = { .type = SYMBOL_OPEN, .subtype = SYMBOL_ELF };
		const struct symbol_reply *reply;
		char path[128];
		int r;

		test_row("%s", rows[i].mode);
		make_hostile_path(rows[i].mode, path, sizeof(path));
		helper_link_init(&link, path, false);
		/* A helper that does not reply is killed after the time limit. */
		link.call_ms = strcmp(rows[i].mode, "mute") ? WAIT : 50;
		r = helper_link_start(&link);
		if (!strcmp(rows[i].mode, "hang"))
			link.call_ms = 50;
		assert_row(r == rows[i].ready);
		assert_row(!*link.reason == !r);
		if (!r)
			assert_row(helper_link_call_reader(&link, &request, STDIN_FILENO, &reply) ==
				   rows[i].open);
		find.request = (struct symbol_request){ .type = SYMBOL_FIND, .count = 2 };
		find.request.address[0] = 0x1000;
		find.request.address[1] = 0x2000;
		if (!r && !rows[i].open)
			assert_row(helper_link_call_reader(&link, &find.request, -1, &reply) ==
				   rows[i].find);
		if (rows[i].ready || rows[i].open || rows[i].find) {
			assert_row(link.failures == 1 && link.reader.fd < 0 &&
				   link.reader.pid < 0 && link.opener.fd < 0 &&
				   link.opener.pid < 0);
			/* If the helper could not start, it is not restarted at once. */
			assert_row(!link.backoff_ms == !rows[i].ready);
		}
		helper_link_deinit(&link);
		unlink(path);
	}
}

/* Test the same for the helper that opens files. */
static void test_hostile_opener(void **state)
{
	static const struct {
		const char *mode;
		int open;
	} rows[] = {
		{ "open-honest", 0 },	     { "open-crash", -EPIPE },
		{ "open-hang", -ETIMEDOUT }, { "open-serial", -EBADMSG },
		{ "open-short", -EBADMSG },
	};
	static struct helper_link link;
	static struct open_request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct open_reply reply;
		char path[128];

		test_row("%s", rows[i].mode);
		make_hostile_path(rows[i].mode, path, sizeof(path));
		helper_link_init(&link, path, false);
		link.open_ms = rows[i].open == -ETIMEDOUT ? 50 : WAIT;
		assert_row(!helper_link_start(&link));
		/*
		 * The file does not exist, and the helper reports that in all modes except the
		 * hanging one.
		 */
		request = (struct open_request){ .type = OPEN_PASS, .path = "/hangs" };
		assert_row(helper_link_call_opener(&link, &request, &reply) == rows[i].open);
		assert_row(link.failures == !!rows[i].open);
		assert_row(!rows[i].open == (link.opener.fd >= 0 && link.reader.fd >= 0));
		helper_link_deinit(&link);
		unlink(path);
	}
}

/*
 * If a helper exits before the next file is opened, the exit must not be attributed to that file.
 */
static void test_exit_is_not_blamed_on_next_file(void **state)
{
	static struct helper_link link;
	char path[128];
	siginfo_t dead;

	(void)state;
	make_hostile_path("honest", path, sizeof(path));
	helper_link_init(&link, path, false);
	assert_int_equal(helper_link_start(&link), 0);
	assert_false(helper_link_stop_unusable(&link));
	assert_true(link.reader.fd >= 0);
	kill(link.opener.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)link.opener.pid, &dead, WEXITED | WNOWAIT), 0);
	assert_true(helper_link_stop_unusable(&link));
	assert_true(link.reader.fd < 0 && link.failures == 1);
	assert_int_equal(helper_link_start(&link), 0);
	helper_link_deinit(&link);
	unlink(path);
}

/* Start a process of another user, which sleeps. */
static pid_t start_child_of_user(uid_t uid)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (setresuid(uid, uid, uid) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	return pid;
}

/*
 * Opening a file of one user hangs. Names in the file of another user still arrive, and
 * symbols_free() does not wait.
 */
static void test_hanging_open_delays_one_user(void **state)
{
	char helper[128], hangs[128], works[128], name[64];
	const struct symbols_config config = { .helper = helper, .open_ms = 10 * WAIT };
	struct attribute_location hanging = { .binary = hangs, .offset = 0x1000 };
	struct attribute_location working = { .binary = works, .offset = 0x1000 };
	struct symbols_stats stats;
	struct symbols_cache *s;
	pid_t pid[2];

	(void)state;
	if (geteuid())
		skip();
	make_hostile_path("open-hang", helper, sizeof(helper));
	make_hostile_path("hangs", hangs, sizeof(hangs));
	make_hostile_path("works", works, sizeof(works));
	pid[0] = start_child_of_user(4242);
	pid[1] = start_child_of_user(4243);
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_false(symbols_get_function(s, pid[0], &hanging, true, name, sizeof(name)));
	while (!symbols_get_function(s, pid[1], &working, true, name, sizeof(name)))
		symbols_wait(s, 10);
	assert_string_equal(name, "lies");
	/* More requests of the first user wait behind the hanging one. */
	hanging.offset = 0x2000;
	assert_false(symbols_get_function(s, pid[0], &hanging, true, name, sizeof(name)));
	symbols_get_stats(s, &stats);
	assert_int_equal(stats.failures, 0);
	assert_true(stats.pending > 0);
	symbols_free(s);
	for (int i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	unlink(helper);
	unlink(hangs);
	unlink(works);
}

/* A helper that hangs in a file is replaced, and the mapping gets no names. */
static void test_hanging_helper_is_replaced(void **state)
{
	char helper[128], hangs[128], name[64];
	const struct symbols_config config = { .helper = helper, .open_ms = 50 };
	struct attribute_location hanging = { .binary = hangs, .offset = 0x1000 };
	struct symbols_stats stats;
	struct symbols_cache *s;

	(void)state;
	make_hostile_path("open-hang", helper, sizeof(helper));
	make_hostile_path("hangs", hangs, sizeof(hangs));
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_false(symbols_get_function(s, getpid(), &hanging, true, name, sizeof(name)));
	symbols_wait(s, WAIT);
	symbols_get_stats(s, &stats);
	assert_int_equal(stats.failures, 1);
	assert_int_equal(stats.quarantined, 1);
	assert_int_equal(stats.pending, 0);
	symbols_free(s);
	unlink(helper);
	unlink(hangs);
}

/* A file that kills a helper is not read a second time. */
static void test_crashing_file_is_read_once(void **state)
{
	char path[128], name[64];
	struct symbols_config config = { .helper = path, .wait_ms = WAIT };
	struct symbols_stats stats;
	struct attribute_location location;
	struct attributor *a;
	struct symbols_cache *s;
	u32 index;

	(void)state;
	make_hostile_path("find-crash", path, sizeof(path));
	a = make_own_attributor(look_here, &index, &location);
	assert_int_equal(symbols_new(&config, &s), 0);
	for (int i = 0; i < 3; i++) {
		assert_false(resolve_name(s, getpid(), &location, name, sizeof(name)));
		assert_non_null(strstr(name, "test-helper-link+0x"));
		symbols_get_stats(s, &stats);
		assert_int_equal(stats.failures, 1);
		assert_int_equal(stats.quarantined, 1);
	}
	symbols_free(s);
	attributor_free(a);
	unlink(path);
}

/* If no helper can be started, one log line reports it, and no request waits. */
static void test_missing_helper_is_logged_once(void **state)
{
	const struct symbols_config config = { .helper = "/nonexistent/helper", .wait_ms = WAIT };
	struct symbols_stats stats;
	struct attribute_location location;
	struct attributor *a;
	struct symbols_cache *s;
	char name[64];
	u32 index;

	(void)state;
	a = make_own_attributor(look_here, &index, &location);
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_false(resolve_name(s, getpid(), &location, name, sizeof(name)));
	assert_non_null(strstr(name, "test-helper-link+0x"));
	symbols_get_stats(s, &stats);
	assert_string_equal(stats.reason,
			    "/nonexistent/helper cannot be executed: No such file or directory");
	symbols_free(s);
	attributor_free(a);
}

/*
 * Join many groups if permitted, so that the status becomes longer than a page. Return: the number
 * of former groups, which are written to @before.
 */
static int join_groups(gid_t *before, int capacity)
{
	gid_t groups[1000];
	int count = getgroups(capacity, before);

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		groups[i] = (gid_t)(1000000 + i);
	return count < 0 || setgroups(ARRAY_SIZE(groups), groups) < 0 ? -1 : count;
}

/*
 * Generated code gets its names from the perf map: of several lines for one address the last one
 * counts, and invalid lines are ignored.
 */
static void test_perf_map(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	static const struct {
		u64 pc;
		const char *name;
	} rows[] = {
		{ 0x10000, "first" },	      { 0x1000f, "first" }, { 0x10010, NULL },
		{ 0x20000, "moved here" },    { 0x20008, "later" }, { 0x2000c, "moved here" },
		{ 0x30000, "LFunction;::x" }, { 0x40000, NULL },    { 0x50000, NULL },
		{ 0x60000, "\\x1b[2Jname" },  { 0x70000, NULL },    { ~0ULL - 1, "top" },
	};
	char path[64], link[96], name[128], status[4096];
	gid_t before[64];
	int count = join_groups(before, ARRAY_SIZE(before));
	struct symbols_cache *s;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("10000 10 first\n20000 100 gone\n20000 10 moved here\n20008 4 later\n", f);
	fputs("0x30000 0x8 LFunction;::x\n40000 0 empty\nzz 10 none\n50000\n50000 \n", f);
	fputs("50000 fffffffffffffffff too long\n60000 8 \033[2Jname\nfffffffffffffffe ff top\n",
	      f);
	fprintf(f, "70000 10 %05000d\n", 7);
	fputs("10010 10 without an end", f);
	fclose(f);
	assert_int_equal(symbols_new(&config, &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct attribute_location location = {
			.binary = i & 1 ? "[anon:jit]" : "[anon]", .offset = 5, .pc = rows[i].pc
		};

		test_row("0x%llx", (unsigned long long)rows[i].pc);
		assert_row(resolve_name(s, getpid(), &location, name, sizeof(name)) ==
			   !!rows[i].name);
		if (rows[i].name)
			assert_string_equal(name, rows[i].name);
		/* Exited processes and recordings have no perf map. */
		assert_row(!resolve_name(s, 0, &location, name, sizeof(name)));
	}
	symbols_free(s);
	/* A symbolic link could lead to a file that the user must not read. */
	snprintf(link, sizeof(link), "%s/elsewhere", folder);
	assert_int_equal(rename(path, link), 0);
	assert_int_equal(symlink(link, path), 0);
	assert_int_equal(symbols_new(&config, &s), 0);
	{
		const struct attribute_location location = { .binary = "[anon]", .pc = 0x10000 };

		assert_false(resolve_name(s, getpid(), &location, name, sizeof(name)));
	}
	symbols_free(s);
	unlink(path);
	unlink(link);
	if (count >= 0)
		assert_int_equal(setgroups((size_t)count, before), 0);
	assert_int_equal(find_helper_pid(ANY, status, sizeof(status)), 0);
}

/* A file with the right name that another user owns is not used as the perf map of the process. */
static void test_perf_map_owner(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	const struct attribute_location location = { .binary = "[anon]", .pc = 0x10000 };
	char path[64], name[64];
	struct symbols_cache *s;
	FILE *f;

	(void)state;
	if (geteuid())
		skip();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("10000 10 first\n", f);
	fclose(f);
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_false(resolve_name(s, getpid(), &location, name, sizeof(name)));
	symbols_free(s);
	unlink(path);
}

/* Append a record of a jitdump; @bytes may be NULL if @size is 0. */
static void write_jit_record(FILE *f, u32 type, u64 time, const void *bytes, size_t size)
{
	const struct {
		u32 type, size;
		u64 time;
	} head = { type, (u32)(sizeof(head) + size), time };

	fwrite(&head, sizeof(head), 1, f);
	if (size)
		fwrite(bytes, size, 1, f);
}

/* Append JIT_CODE_LOAD with a name, and 4 bytes of code. */
static void write_jit_load(FILE *f, u64 time, u64 address, u64 size, u64 index, const char *name)
{
	struct {
		u32 pid, tid;
		u64 mapping, address, size, index;
		char name[64];
	} load = { 1, 1, address, address, size, index, "" };

	assert_true(strlen(name) < sizeof(load.name));
	strcpy(load.name, name);
	write_jit_record(f, 0, time, &load,
			 sizeof(load) - sizeof(load.name) + strlen(name) + 1 + 4);
}

static void write_jit_move(FILE *f, u64 time, u64 from, u64 to, u64 size, u64 index)
{
	const struct {
		u32 pid, tid;
		u64 mapping, from, to, size, index;
	} move = { 1, 1, to, from, to, size, index };

	write_jit_record(f, 1, time, &move, sizeof(move));
}

/* Begin a jitdump; @magic: in the byte order of the file. */
static FILE *create_jit_dump(const char *path, u32 magic, u32 version)
{
	const struct {
		u32 magic, version, size, machine, reserved, pid;
		u64 time, flags, more;
	} header = { .magic = magic, .version = version, .size = sizeof(header), .pid = 1 };
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fwrite(&header, sizeof(header), 1, f);
	return f;
}

#define JIT_MAGIC	  0x4a695444
#define JIT_MAGIC_SWAPPED 0x4454694a

static void write_jit_functions(const char *path)
{
	const u8 lines[40] = { 0 };
	FILE *f = create_jit_dump(path, JIT_MAGIC, 1);

	write_jit_record(f, 2, 1, lines, sizeof(lines));
	write_jit_load(f, 2, 0x10000, 0x10, 1, "first");
	write_jit_load(f, 9, 0x20000, 0x100, 2, "latest");
	write_jit_load(f, 3, 0x20000, 0x100, 3, "replaced");
	write_jit_load(f, 4, 0x30000, 0x10, 4, "moved");
	write_jit_move(f, 5, 0x30000, 0x40000, 0x10, 4);
	write_jit_move(f, 6, 0x30000, 0x10008, 8, 4);
	/* The index is used again after the move. */
	write_jit_load(f, 8, 0x50000, 0x10, 4, "new");
	write_jit_move(f, 8, 0x50000, 0x60000, 0x10, 99);
	write_jit_load(f, 8, ~0ULL - 1, 0xff, 5, "top");
	write_jit_load(f, 8, 0x70000, 0, 6, "empty");
	write_jit_load(f, 8, 0x70000, 8, 6, "\033[2Jname");
	write_jit_record(f, 7, 9, lines, 3);
	write_jit_record(f, 0, 9, lines, 20);
	/* A name without an end */
	write_jit_record(f, 0, 9, (const u64[]){ 0, 0x80000, 0x80000, 8, 7, ~0ULL }, 48);
	write_jit_record(f, 3, 10, NULL, 0);
	write_jit_load(f, 11, 0x90000, 0x10, 8, "after the end");
	fclose(f);
}

/* Check the name of compiled code in this process; NULL: none. */
static void check_jit_name(struct symbols_cache *s, u64 pc, const char *expected)
{
	const struct attribute_location location = { .binary = "[anon:jit]", .pc = pc };
	char name[128];

	test_row("0x%llx", (unsigned long long)pc);
	assert_row(resolve_name(s, getpid(), &location, name, sizeof(name)) == !!expected);
	if (expected)
		assert_string_equal(name, expected);
}

/* The entry of a jitdump with the latest time is valid, also after a move. */
static void test_jit_dump(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	static const struct {
		u64 pc;
		const char *name;
	} rows[] = {
		{ 0x10000, "first" }, { 0x10007, "first" },	   { 0x10008, "moved" },
		{ 0x10010, NULL },    { 0x20000, "latest" },	   { 0x200ff, "latest" },
		{ 0x30000, "moved" }, { 0x4000f, "moved" },	   { 0x50000, "new" },
		{ 0x60000, NULL },    { 0x70000, "\\x1b[2Jname" }, { 0x80000, NULL },
		{ 0x90000, NULL },    { ~0ULL - 1, "top" },
	};
	char path[64], moved[128];
	struct symbols_cache *s;
	void *mapping;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	write_jit_functions(path);
	assert_int_equal(symbols_new(&config, &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_jit_name(s, rows[i].pc, rows[i].name);
	symbols_free(s);
	/* perf's agents write the file to another directory, and map it. */
	snprintf(moved, sizeof(moved), "%s/jit-%d.dump", folder, getpid());
	write_jit_functions(moved);
	unlink(path);
	assert_int_equal(symbols_new(&config, &s), 0);
	check_jit_name(s, 0x10000, NULL);
	symbols_free(s);
	fd = open(moved, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	mapping = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(mapping != MAP_FAILED);
	assert_int_equal(symbols_new(&config, &s), 0);
	check_jit_name(s, 0x10000, "first");
	symbols_free(s);
	/* A symbolic link could lead to a file that the user must not read. */
	assert_int_equal(munmap(mapping, 4096), 0);
	assert_int_equal(symlink(moved, path), 0);
	assert_int_equal(symbols_new(&config, &s), 0);
	check_jit_name(s, 0x10000, NULL);
	symbols_free(s);
	close(fd);
	unlink(path);
	unlink(moved);
}

/* Check the name and the reason with a file of these bytes, with and without a perf map. */
static void check_refused_dump(const char *path, const char *map, const char *reason)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	struct symbols_stats stats;
	struct symbols_cache *s;

	for (int has_map = 0; has_map < 2; has_map++) {
		FILE *f = has_map ? fopen(map, "we") : NULL;

		if (f) {
			fputs("10000 10 mapped\n", f);
			fclose(f);
		}
		assert_int_equal(symbols_new(&config, &s), 0);
		check_jit_name(s, 0x10000, has_map ? "mapped" : NULL);
		symbols_get_stats(s, &stats);
		if (!strstr(stats.reason, reason))
			fail_msg("%s: \"%s\", should be \"%s\"", path, stats.reason, reason);
		symbols_free(s);
	}
	unlink(path);
	unlink(map);
}

/* A jitdump that cannot be read is refused with a reason, and the perf map is used. */
static void test_jit_dump_refused(void **state)
{
	char path[64], map[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	fclose(create_jit_dump(path, JIT_MAGIC_SWAPPED, 1));
	check_refused_dump(path, map, "byte order of another machine");
	fclose(create_jit_dump(path, JIT_MAGIC, 2));
	check_refused_dump(path, map, "version should be 1");
	fclose(create_jit_dump(path, JIT_MAGIC, 1));
	assert_int_equal(truncate(path, 8), 0);
	check_refused_dump(path, map, "header is invalid");
	if (geteuid())
		return;
	write_jit_functions(path);
	assert_int_equal(chown(path, 12345, 12345), 0);
	check_refused_dump(path, map, "");
}

static void copy_self(const char *path)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	close(from);
	close(to);
}

/*
 * A binary in a container is opened by its path in the container. Symbolic links in that path
 * cannot lead outside of the container.
 */
static void test_binary_in_other_root(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	struct attribute_location location, within, other;
	char root[96], path[128], name[64], status[4096];
	struct attributor *a;
	struct symbols_cache *s;
	struct stat st;
	int gate[2];
	pid_t child;
	bool found;
	u32 index;

	(void)state;
	if (geteuid())
		skip();
	a = make_own_attributor(look_here, &index, &location);
	snprintf(root, sizeof(root), "%s/root", folder);
	assert_int_equal(mkdir(root, 0755), 0);
	snprintf(path, sizeof(path), "%s/program", root);
	copy_self(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		char byte = 0;

		if (chroot(root) || chdir("/") || write(gate[1], &byte, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(gate[0], status, 1), 1);
	within = (struct attribute_location){ .binary = "/program",
					      .inode = st.st_ino,
					      .offset = location.offset };
	assert_int_equal(symbols_new(&config, &s), 0);
	found = resolve_name(s, child, &within, name, sizeof(name));
	if (!found)
		kill(child, SIGKILL);
	assert_true(found);
	assert_string_equal(name, "look_here");
	/* Another file is at that path now. */
	other = within;
	other.inode++;
	found = resolve_name(s, child, &other, name, sizeof(name));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(found);
	/*
	 * The process has exited, so its root directory does not exist. Names that were read stay
	 * known.
	 */
	assert_true(resolve_name(s, 0, &within, name, sizeof(name)));
	symbols_free(s);
	attributor_free(a);
	unlink(path);
	rmdir(root);
	close(gate[0]);
	close(gate[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helper_drops_privileges),
		cmocka_unit_test(test_killed_helper_is_replaced),
		cmocka_unit_test(test_hostile_link),
		cmocka_unit_test(test_crashing_file_is_read_once),
		cmocka_unit_test(test_hostile_opener),
		cmocka_unit_test(test_exit_is_not_blamed_on_next_file),
		cmocka_unit_test(test_hanging_open_delays_one_user),
		cmocka_unit_test(test_hanging_helper_is_replaced),
		cmocka_unit_test(test_kernel_symbols_from_descriptor),
		cmocka_unit_test(test_missing_helper_is_logged_once),
		cmocka_unit_test(test_perf_map),
		cmocka_unit_test(test_perf_map_owner),
		cmocka_unit_test(test_jit_dump),
		cmocka_unit_test(test_jit_dump_refused),
		cmocka_unit_test(test_binary_in_other_root),
	};
	int r;

	hostile = argc > 1 ? argv[1] : "";
	if (!mkdtemp(folder))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return r;
}
