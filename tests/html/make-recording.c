// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Make a recording for tests of HTML reports: five programs in containers, with functions of known
 * behaviour, shared cache lines and physical addresses, on four CPUs in ten seconds.
 *
 * usage: make-recording [--hostile] FOLDER FILE
 *
 * FOLDER receives the programs' binaries, which are copies of this program with other build IDs: the
 * names of its functions are found in them. With --hostile there is one more program. Its names try
 * to leave the text of a page.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/recorder.h"
#include "tasks/task-event.h"
#include "util/hash.h"

#define CPUS	   4
#define WINDOWS	   100 /* for each CPU */
#define RECORDS	   160 /* in a window of a full load */
#define WINDOW_NS  100000000ULL
#define INTERVAL   4096
#define FIRST_PID  1000
#define BASE	   0x400000ULL
#define STRIDE	   0x100000ULL
#define CODE_BYTES 64
#define KERNEL_AT  0xffff800080010000ULL

/* Functions without instructions, of CODE_BYTES each, with the names below. */
#define CODE(name)                                                                         \
	"\t.type \"" name "\", %function\n\"" name "\":\n\t.skip 64\n\t.size \"" name \
	"\", 64\n"
#define RTL_NAME "right\xe2\x80\xaeto-left"
#define A_64	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A_512	 A_64 A_64 A_64 A_64 A_64 A_64 A_64 A_64
#define A_4096	 A_512 A_512 A_512 A_512 A_512 A_512 A_512 A_512

__asm__("\t.text\n\t.balign 64\nworkload_code:\n"
	CODE("ngx_http_parse_header_line") CODE("ngx_http_process_request") CODE("ngx_palloc")
	CODE("aes_gcm_encrypt_block") CODE("sha256_block_data_order")
	CODE("hash_search_with_hash_value") CODE("ExecHashJoin") CODE("heap_getnextslot")
	CODE("LWLockAcquire") CODE("tuplesort_performsort") CODE("memcpy_aligned")
	CODE("dictFind") CODE("lookupKeyReadWithFlags") CODE("siphash_nocase") CODE("je_arena_malloc")
	CODE("decode_postings") CODE("score_documents") CODE("heap_sift_down") CODE("counter_increment")
	CODE("kex_input_init") CODE("<script>alert(1)</script>") CODE("</style><b>bold") CODE(RTL_NAME)
	CODE("<img src=x onerror=alert(2)>") CODE(A_4096));

extern const char workload_code[];
extern const char __ehdr_start[];

enum served { L1 = 0x0, L2 = 0x8, PEER = 0x9, SYSTEM = 0xb, REMOTE = 0xd, DRAM = 0xe };

/**
 * struct workload - a function of a program
 * @binary: name of the binary in FOLDER; NULL: the kernel
 * @function: number of the function in workload_code
 * @weight: share of the program's samples, in percent
 * @loads, @stores, @branches: of 100 samples; the others are other operations
 * @dram, @l2: of 100 loads, those that DRAM and the second level cache served
 * @mispredicted: of 100 branches
 * @shared: all threads use one cache line; 1: each its own bytes; 2: the same bytes
 */
struct workload {
	const char *binary;
	u32 function;
	u32 weight;
	u32 loads, stores, branches;
	u32 dram, l2;
	u32 mispredicted;
	u32 shared;
};

#define WORKLOADS 8

/**
 * struct sampled_program - one program in a container
 * @cgroup: path of its cgroup
 * @comm: name of its processes
 * @binary: its executable
 * @share: share of the samples, in percent
 * @workload: its functions; a weight of 0 ends them
 */
static const struct sampled_program {
	const char *cgroup;
	const char *comm;
	const char *binary;
	u32 share;
	struct workload workload[WORKLOADS];
} programs[] = {
	{ "/lxc/shop-db",
	  "postgres",
	  "postgres",
	  41,
	  { { "postgres", 5, 34, 62, 12, 18, 31, 20, 4, 0 },
	    { "postgres", 6, 22, 48, 14, 26, 12, 22, 7, 0 },
	    { "postgres", 7, 16, 55, 10, 22, 9, 30, 3, 0 },
	    { "postgres", 8, 9, 40, 40, 12, 1, 6, 2, 2 },
	    { "postgres", 9, 7, 44, 22, 30, 2, 14, 11, 0 },
	    { "libc.so.6", 10, 8, 50, 46, 2, 17, 18, 1, 0 },
	    { NULL, 0, 4, 40, 20, 30, 6, 12, 5, 0 } } },
	{ "/lxc/search",
	  "searchd",
	  "searchd",
	  24,
	  { { "searchd", 15, 38, 58, 4, 20, 3, 16, 9, 0 },
	    { "searchd", 16, 30, 42, 8, 16, 5, 22, 3, 0 },
	    { "searchd", 17, 14, 46, 20, 28, 1, 10, 14, 0 },
	    { "searchd", 18, 14, 34, 60, 2, 1, 4, 1, 1 },
	    { "libc.so.6", 10, 4, 50, 46, 2, 10, 22, 1, 0 } } },
	{ "/lxc/shop-web",
	  "nginx",
	  "nginx",
	  19,
	  { { "nginx", 0, 30, 38, 12, 34, 1, 8, 6, 0 },
	    { "nginx", 1, 14, 40, 18, 28, 3, 12, 5, 0 },
	    { "nginx", 2, 7, 44, 30, 16, 2, 14, 2, 0 },
	    { "libcrypto.so.3", 3, 27, 30, 16, 4, 0, 4, 1, 0 },
	    { "libcrypto.so.3", 4, 14, 24, 8, 6, 0, 3, 1, 0 },
	    { NULL, 0, 8, 42, 18, 28, 4, 14, 4, 0 } } },
	{ "/lxc/cache",
	  "redis-server",
	  "redis-server",
	  13,
	  { { "redis-server", 11, 46, 60, 6, 20, 44, 16, 5, 0 },
	    { "redis-server", 12, 18, 48, 12, 24, 16, 20, 5, 0 },
	    { "redis-server", 13, 14, 18, 6, 8, 1, 4, 1, 0 },
	    { "redis-server", 14, 14, 46, 30, 16, 8, 20, 4, 0 },
	    { NULL, 0, 8, 40, 24, 26, 5, 12, 4, 0 } } },
	{ "/system.slice/sshd.service",
	  "sshd",
	  "sshd",
	  3,
	  { { "sshd", 19, 70, 40, 20, 24, 2, 10, 4, 0 },
	    { NULL, 0, 30, 40, 20, 24, 4, 10, 4, 0 } } },
	{ "/lxc/<b>bold<!--",
	  "<i>name</i>",
	  "</script><script>alert(3)</script>",
	  8,
	  { { "</script><script>alert(3)</script>", 20, 30, 50, 20, 20, 5, 10, 4, 0 },
	    { "</script><script>alert(3)</script>", 21, 25, 50, 20, 20, 5, 10, 4, 0 },
	    { "</script><script>alert(3)</script>", 22, 20, 50, 20, 20, 5, 10, 4, 0 },
	    { "</script><script>alert(3)</script>", 23, 15, 50, 20, 20, 5, 10, 4, 0 },
	    { "</script><script>alert(3)</script>", 24, 10, 50, 20, 20, 5, 10, 4, 0 } } },
};

#define HONEST	 (ARRAY_SIZE(programs) - 1)
#define BINARIES 16

static u64 random_state = 1;

/* Return a number below @below; always the same sequence. */
static u32 draw_below(u32 below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)((random_state >> 33) % below);
}

static bool draw_chance(u32 percent)
{
	return draw_below(100) < percent;
}

/* ---- Binaries: copies of this program with different build IDs --------------------- */

struct copied_binary {
	const char *name;
	char path[512];
	u8 build_id[20];
};

static struct copied_binary binaries[BINARIES];
static u32 binary_count;
static u8 own_build_id[20];

static int find_build_id_note(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u8 *at = (const u8 *)info->dlpi_addr + header->p_vaddr;
		const u8 *end = at + header->p_memsz;

		while (header->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;

			at += sizeof(*note);
			if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz == 20) {
				memcpy(own_build_id, at + ((note->n_namesz + 3) & ~3U), 20);
				return 1;
			}
			at += ((note->n_namesz + 3) & ~3U) + ((note->n_descsz + 3) & ~3U);
		}
	}
	/* The first object is this program. */
	return -1;
}

static void exit_with_error(const char *what)
{
	fprintf(stderr, "make-recording: %s: %s\n", what, strerror(errno));
	exit(1);
}

static u8 *read_own_file(size_t *ret_size)
{
	FILE *in = fopen("/proc/self/exe", "re");
	struct stat st;
	u8 *bytes;

	if (!in || fstat(fileno(in), &st) < 0)
		exit_with_error("/proc/self/exe");
	bytes = malloc((size_t)st.st_size);
	if (!bytes || fread(bytes, 1, (size_t)st.st_size, in) != (size_t)st.st_size)
		exit_with_error("/proc/self/exe");
	fclose(in);
	*ret_size = (size_t)st.st_size;
	return bytes;
}

/* Make names with slashes valid as file names. */
static void make_path(const char *folder, const char *name, char *to, size_t size)
{
	size_t start = (size_t)snprintf(to, size, "%s/", folder);

	snprintf(to + start, size - start, "%s", name);
	for (char *c = to + start; *c; c++)
		*c = *c == '/' ? '_' : *c;
}

static const struct copied_binary *get_copied_binary(const char *folder, const char *name)
{
	struct copied_binary *b = binaries;
	u64 hash = hash_string(name);
	size_t size;
	u8 *bytes, *id;
	FILE *out;

	for (; b < binaries + binary_count; b++)
		if (strcmp(b->name, name) == 0)
			return b;
	binary_count++;
	b->name = name;
	make_path(folder, name, b->path, sizeof(b->path));
	memcpy(b->build_id, own_build_id, sizeof(b->build_id));
	memcpy(b->build_id, &hash, sizeof(hash));
	bytes = read_own_file(&size);
	id = memmem(bytes, size, own_build_id, sizeof(own_build_id));
	if (!id)
		exit_with_error("no build ID in the file");
	memcpy(id, b->build_id, sizeof(b->build_id));
	out = fopen(b->path, "we");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		exit_with_error(b->path);
	free(bytes);
	return b;
}

/* ---- Samples ---------------------------------------------------------------------- */

static u32 get_code_offset(u32 function)
{
	return (u32)(workload_code - __ehdr_start) + function * CODE_BYTES;
}

static u64 draw_sample_pc(const char *folder, const struct workload *w)
{
	const struct copied_binary *b;

	if (!w->binary)
		return KERNEL_AT + 4 * draw_below(8);
	b = get_copied_binary(folder, w->binary);
	return BASE + (u64)(b - binaries) * STRIDE + get_code_offset(w->function) +
	       4 * draw_below(CODE_BYTES / 4);
}

static u64 get_level_events(enum served source)
{
	u64 events = 1ULL << SPE_EVENT_RETIRED | 1ULL << SPE_EVENT_L1D_ACCESS |
		     1ULL << SPE_EVENT_TLB_ACCESS;

	if (source != L1)
		events |= 1ULL << SPE_EVENT_L1D_REFILL;
	if (source == DRAM || source == REMOTE)
		events |= 1ULL << SPE_EVENT_LLC_ACCESS | 1ULL << SPE_EVENT_LLC_MISS;
	if (source == REMOTE)
		events |= 1ULL << SPE_EVENT_REMOTE_ACCESS;
	return events;
}

static u16 draw_level_latency(enum served source)
{
	static const u16 least[] = { [L1] = 5,	     [L2] = 13,	      [PEER] = 60,
				     [SYSTEM] = 48, [REMOTE] = 260, [DRAM] = 150 };
	u32 base = least[source];

	return (u16)(base + draw_below(base) / 2 + (draw_below(16) ? 0 : draw_below(4 * base)));
}

static enum served draw_access_source(const struct workload *w, u32 phase)
{
	/* In the middle of the recording, DRAM is busier. */
	u32 dram = w->dram + (phase >= 40 && phase < 60 ? w->dram / 2 : 0);

	if (w->shared && draw_chance(55))
		return PEER;
	if (draw_chance(dram))
		return draw_below(12) ? DRAM : REMOTE;
	if (draw_chance(w->l2))
		return draw_below(5) ? L2 : SYSTEM;
	return L1;
}

static u64 draw_access_address(const struct workload *w, u32 cpu, u64 pid)
{
	if (w->shared == 1)
		return 0x7f0000002000ULL + 8 * cpu;
	if (w->shared == 2)
		return 0x7f0000005040ULL;
	return 0x7f1000000000ULL + pid * 0x1000000 + ((u64)draw_below(64) * draw_below(64)) * 4096 +
	       64 * draw_below(64);
}

static void make_access(struct spe_sample *s, const struct workload *w, bool store, u32 cpu, u32 phase,
			u64 pid)
{
	enum served source = draw_access_source(w, phase);
	u64 va = draw_access_address(w, cpu, pid);

	s->op_class = SPE_OP_LOAD_STORE;
	s->op_subclass = store ? SPE_OP_LDST : 0;
	s->present |= SPE_HAS_ADDRESS(SPE_ADDRESS_VA) | SPE_HAS_ADDRESS(SPE_ADDRESS_PA) |
		      SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION);
	s->address[SPE_ADDRESS_VA] = va;
	s->address[SPE_ADDRESS_PA] = SPE_ADDRESS_NS | (va & 0xffffffffULL) | 0x800000000ULL;
	s->events = get_level_events(source);
	if (!store) {
		s->present |= SPE_HAS_SOURCE;
		s->source = source;
		s->source_size = 1;
	} else if (source == PEER) {
		s->events |= 1ULL << SPE_EVENT_DATA_SNOOPED;
	}
	s->counter[SPE_COUNTER_TOTAL] = draw_level_latency(source);
	s->counter[SPE_COUNTER_TRANSLATION] = (u16)(draw_below(9) ? 1 : 20 + draw_below(60));
}

static void make_other_operation(struct spe_sample *s, const struct workload *w, bool branch)
{
	s->events = 1ULL << SPE_EVENT_RETIRED;
	s->op_class = branch ? SPE_OP_BRANCH : SPE_OP_OTHER;
	s->counter[SPE_COUNTER_TOTAL] = (u16)(2 + draw_below(branch ? 8 : 4));
	if (branch && draw_chance(w->mispredicted))
		s->events |= 1ULL << SPE_EVENT_MISPREDICTED;
}

static const struct workload *draw_workload(const struct sampled_program *p)
{
	u32 at = draw_below(100);
	const struct workload *w = p->workload;

	for (; at >= w->weight; w++)
		at -= w->weight;
	return w;
}

static u32 draw_program(u32 count)
{
	u32 total = 0, at;

	for (u32 i = 0; i < count; i++)
		total += programs[i].share;
	at = draw_below(total);
	for (u32 i = 0; i < count; i++) {
		if (at < programs[i].share)
			return i;
		at -= programs[i].share;
	}
	return 0;
}

static int make_record(const char *folder, u32 count, u32 cpu, u32 phase, u64 time, u8 *to)
{
	u32 program = draw_program(count), kind = draw_below(100);
	const struct workload *w = draw_workload(&programs[program]);
	u64 pid = FIRST_PID + program;
	struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) | SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) |
			   SPE_HAS_CONTEXT(0) | SPE_HAS_TIMESTAMP,
		.events_size = 4,
		.timestamp = time,
		/* Each CPU runs another thread of the process. */
		.context = { (u32)(pid + 100 * cpu) },
	};

	s.address[SPE_ADDRESS_PC] = draw_sample_pc(folder, w) & SPE_ADDRESS_BITS;
	if (!w->binary)
		s.address[SPE_ADDRESS_PC] |= 1ULL << 61;
	if (kind < w->loads + w->stores)
		make_access(&s, w, kind >= w->loads, cpu, phase, pid);
	else
		make_other_operation(&s, w, kind < w->loads + w->stores + w->branches);
	s.counter[SPE_COUNTER_ISSUE] =
		(u16)(1 + draw_below(4) + (draw_below(20) ? 0 : draw_below(120)));
	return spe_record_encode(&s, to, SPE_MAX_RECORD);
}

static void put_windows(const struct source_sink *sink, const char *folder, u32 count)
{
	static u8 bytes[RECORDS * 64];
	struct source_window window = {
		.data = bytes,
		.midr = 0x410fd400,
		.tid = -1,
		.interval = INTERVAL,
		.unit = UNIT_MICRO_OPS,
		.pmsver = 3,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = BACKEND_EMULATED,
		.clock = { .mult = 1, .shift = 0 },
	};

	for (u32 i = 0; i < WINDOWS * CPUS; i++) {
		u32 phase = i / CPUS, cpu = i % CPUS;
		/* The load changes: less at the start, and a pause near the end. */
		u32 records = phase < 15 ? RECORDS / 2 : phase >= 80 && phase < 86 ? RECORDS / 5 : RECORDS;
		u64 start = 1 + phase * WINDOW_NS;

		window.cpu = cpu;
		window.start_ns = start;
		window.end_ns = start + WINDOW_NS;
		window.blind_ns = phase == 60 ? WINDOW_NS / 3 : WINDOW_NS / 400;
		window.blind_by[SOURCE_BLIND_HANDLING] = WINDOW_NS / 400;
		window.blind_by[SOURCE_BLIND_FULL] = window.blind_ns - WINDOW_NS / 400;
		window.armed_ns = WINDOW_NS - window.blind_ns;
		window.lost_bytes = phase == 60 ? 8192 : 0;
		window.len = 0;
		for (u32 k = 0; k < records; k++) {
			int n = make_record(folder, count, cpu, phase,
					    start + WINDOW_NS / records * k, bytes + window.len);

			if (n < 0) {
				errno = -n;
				exit_with_error("a record");
			}
			window.len += (size_t)n;
		}
		sink->window(sink->ctx, &window);
	}
}

static void put_tasks(const struct source_sink *sink, const char *folder, u32 count)
{
	/* The executables have the lowest addresses: that is how a recording shows which one runs. */
	for (u32 i = 0; i < count; i++)
		get_copied_binary(folder, programs[i].binary);
	for (u32 i = 0; i < count; i++) {
		const struct sampled_program *p = &programs[i];
		s32 pid = FIRST_PID + (s32)i;
		struct task_event event = {
			.type = TASK_COMM, .name = p->comm, .time_ns = 1, .pid = pid, .tid = pid
		};

		sink->task(sink->ctx, &event);
		sink->task(sink->ctx, &(struct task_event){ .type = TASK_CGROUP, .name = p->cgroup,
							    .time_ns = 1, .pid = pid,
							    .tid = pid, .cgroup = i + 1 });
		for (s32 cpu = 1; cpu < CPUS; cpu++)
			sink->task(sink->ctx, &(struct task_event){
						      .type = TASK_FORK, .time_ns = 1,
						      .pid = pid, .parent_pid = pid,
						      .tid = pid + 100 * cpu });
		for (const struct workload *w = p->workload; w->weight; w++) {
			const struct copied_binary *b;

			if (!w->binary)
				continue;
			b = get_copied_binary(folder, w->binary);
			event.type = TASK_MMAP;
			event.name = b->path;
			event.start = BASE + (u64)(b - binaries) * STRIDE;
			event.size = STRIDE;
			event.build_id = b->build_id;
			event.build_id_size = sizeof(b->build_id);
			sink->task(sink->ctx, &event);
		}
	}
}

int main(int argc, char **argv)
{
	const struct recorder_config config = {
		.format = RECORDER_NATIVE,
		.backend = BACKEND_EMULATED,
		.cpus = CPUS,
		.command = "make-recording",
	};
	bool hostile = argc == 4 && strcmp(argv[1], "--hostile") == 0;
	u32 count = hostile ? ARRAY_SIZE(programs) : HONEST;
	struct recorder *recorder;
	struct source_sink sink;
	int fd, r;

	if (argc != 3 && !hostile) {
		fprintf(stderr, "usage: make-recording [--hostile] FOLDER FILE\n");
		return 2;
	}
	argv += hostile;
	if (dl_iterate_phdr(find_build_id_note, NULL) != 1)
		exit_with_error("this program has no build ID");
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		exit_with_error(argv[2]);
	r = recorder_new(fd, &config, &recorder);
	if (r >= 0) {
		sink = recorder_make_sink(recorder);
		put_tasks(&sink, argv[1], count);
		put_windows(&sink, argv[1], count);
		r = recorder_finish(recorder);
		recorder_free(recorder);
	}
	errno = -r;
	if (r < 0)
		exit_with_error(argv[2]);
	return 0;
}
