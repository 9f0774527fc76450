// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes a perf.data that perf 6.1 and later can read: one event of arm_spe_0, and one AUX buffer
 * for each CPU. The SPE metadata has version 1 if all cores have the same MIDR_EL1, because perf
 * before 6.13 reads no other version; otherwise it has version 2. The header and the first records
 * are written again at the end, when their content is known.
 */
#include "recorder-internal.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perfdata.h"
#include "speprof-version.h"
#include "tasks/task-event.h"
#include "util/array.h"

/* Size of struct perf_file_header of a perf.data file. */
#define FILE_HEADER_SIZE 104
#define ATTR_SIZE	 PERF_ATTR_SIZE_VER7
#define PMU_TYPE	 11
#define EVENT_ID	 1
#define AUX_SPE		 4 /* enum auxtrace_type of tools/perf/util/auxtrace.h */
#define CONFIG_TS	 SPE_BIT(0) /* ts_enable of arm_spe_pmu */
#define CONFIG_JITTER	 SPE_BIT(16)

/*
 * The sample_type that perf record sets for arm_spe events. perf mem and perf c2c require
 * PERF_SAMPLE_DATA_SRC.
 */
#define SAMPLE_TYPE                                                              \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR)

/* The features that are written. A value is the number of the feature's bit in the header. */
enum perfdata_feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUID = 9,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_NUMA_TOPOLOGY = 14, /* perf c2c refuses a file without it */
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_AUXTRACE = 18,
};

static const u8 features[] = { FEATURE_BUILD_ID,      FEATURE_HOSTNAME,	    FEATURE_OSRELEASE,
			       FEATURE_VERSION,	      FEATURE_ARCH,	    FEATURE_NRCPUS,
			       FEATURE_CPUID,	      FEATURE_CMDLINE,	    FEATURE_EVENT_DESC,
			       FEATURE_NUMA_TOPOLOGY, FEATURE_PMU_MAPPINGS, FEATURE_AUXTRACE };

struct file_section {
	u64 offset;
	u64 size;
};

struct file_trailer {
	u32 pid;
	u32 tid;
	u64 time;
	u32 cpu;
	u32 reserved;
	u64 id;
};

static struct file_trailer make_trailer(s32 pid, s32 tid, u64 time_ns, s32 cpu)
{
	return (struct file_trailer){
		.pid = (u32)pid,
		.tid = (u32)tid,
		.time = time_ns,
		.cpu = (u32)cpu,
		.id = EVENT_ID,
	};
}

static struct perf_event_attr make_attr(const struct recorder *recorder)
{
	u32 interval = recorder->first.interval;
	struct perf_event_attr attr = {
		.type = PMU_TYPE,
		.size = ATTR_SIZE,
		.config = CONFIG_TS,
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.inherit = 1,
		.mmap = 1,
		.comm = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_guest = 1,
		.mmap2 = 1,
		.comm_exec = 1,
	};

	/*
	 * Compute the period from the mean interval (D17.3.4): arm_spe_pmu writes period / 256 to
	 * PMSIRR_EL1.INTERVAL, and jitter adds 128 to the mean.
	 */
	attr.sample_period = interval & ~0xffU ? interval & ~0xffU : 256;
	if ((interval & 0xff) == 128)
		attr.config |= CONFIG_JITTER;
	return attr;
}

static void write_header(struct recorder *recorder, u64 data_end)
{
	const u64 data = FILE_HEADER_SIZE + 8 + ATTR_SIZE + 16;
	struct {
		char magic[8];
		u64 size;
		u64 attr_size;
		struct file_section attrs;
		struct file_section data;
		struct file_section types;
		u64 features[4];
	} header = {
		.magic = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.size = FILE_HEADER_SIZE,
		.attr_size = ATTR_SIZE + 16,
		.attrs = { FILE_HEADER_SIZE + 8, ATTR_SIZE + 16 },
		.data = { data, data_end > data ? data_end - data : 0 },
	};
	const struct file_section ids = { FILE_HEADER_SIZE, 8 };
	const struct perf_event_attr attr = make_attr(recorder);
	const u64 id = EVENT_ID;

	for (size_t i = 0; i < ARRAY_SIZE(features) && data_end; i++)
		header.features[0] |= SPE_BIT(features[i]);
	recorder_write(recorder, &header, sizeof(header));
	recorder_write(recorder, &id, sizeof(id));
	recorder_write(recorder, &attr, ATTR_SIZE);
	recorder_write(recorder, &ids, sizeof(ids));
}

static void write_record(struct recorder *recorder, u32 type, u16 misc, const void *body,
			 size_t len)
{
	const struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (u16)(sizeof(header) + len),
	};

	recorder_write(recorder, &header, sizeof(header));
	recorder_write(recorder, body, len);
}

static void write_metadata_v1(struct recorder *recorder)
{
	const struct {
		u32 type, reserved;
		u64 pmu, per_cpu;
	} info = { .type = AUX_SPE, .pmu = PMU_TYPE, .per_cpu = 1 };

	write_record(recorder, PERFDATA_AUXTRACE_INFO, 0, &info, sizeof(info));
}

/*
 * Returns the number of CPUs that had a window. @ret_differ: true if these CPUs have different
 * values of MIDR_EL1.
 */
static u32 count_cores(const struct recorder *recorder, bool *ret_differ)
{
	u32 n = 0;

	*ret_differ = false;
	for (u32 i = 0; i < recorder->core_count; i++) {
		n += recorder->cores[i].has_window;
		*ret_differ |= recorder->cores[i].has_window &&
			       recorder->cores[i].midr != recorder->first.midr;
	}
	return n;
}

/* SPE metadata of version 2, in words of 8 bytes. */
#define V2_HEADER_WORDS 4 /* version, size of the header, PMU, number of CPUs */
#define V2_MAGIC	0x1010101010101010ULL
#define V2_CPU_WORDS	6 /* magic, CPU, number of parameters, MIDR_EL1, PMU, minimum interval */

/*
 * Returns the number of CPUs in the metadata record. The number is limited, because a record has
 * less than 64 KiB.
 */
static u32 get_metadata_cpus_max(const struct recorder *recorder)
{
	const u32 max = (UINT16_MAX - 16 - 8 * V2_HEADER_WORDS) / (8 * V2_CPU_WORDS);

	return recorder->config.cpus < max ? recorder->config.cpus : max;
}

static void write_metadata_v2(struct recorder *recorder, u32 cpus)
{
	const u64 type = AUX_SPE, header[V2_HEADER_WORDS] = { 2, V2_HEADER_WORDS, PMU_TYPE, cpus };
	const struct perf_event_header record = {
		.type = PERFDATA_AUXTRACE_INFO,
		.size = (u16)(16 + 8 * V2_HEADER_WORDS + 8 * V2_CPU_WORDS * cpus),
	};

	recorder_write(recorder, &record, sizeof(record));
	recorder_write(recorder, &type, sizeof(type));
	recorder_write(recorder, header, sizeof(header));
	for (u32 i = 0; cpus; i++) {
		const u64 words[V2_CPU_WORDS] = { V2_MAGIC, i, 3, recorder->cores[i].midr,
						  PMU_TYPE, 0 };

		if (!recorder->cores[i].has_window)
			continue;
		recorder_write(recorder, words, sizeof(words));
		cpus--;
	}
}

/* Fill the file up to @end with a record that perf ignores. */
static void write_filler(struct recorder *recorder, u64 end)
{
	const struct perf_event_header record = {
		.type = PERFDATA_FINISHED_INIT,
		.size = (u16)(end - recorder->pos),
	};

	if (recorder->pos == end)
		return;
	recorder_write(recorder, &record, sizeof(record));
	while (recorder->pos < end && !recorder->error)
		recorder_write(recorder, "\0\0\0\0\0\0\0", 8);
}

/*
 * Write the records with clock parameters and SPE metadata. The total size of these records does
 * not depend on their content, so they can be written again at the end.
 *
 * perf divides by the multiplier even if it is 0. If the clock is unknown, write the multiplier 1
 * and clear cap_user_time_zero, so that perf does not use the parameters.
 */
static void write_metadata(struct recorder *recorder)
{
	const struct timestamp_clock *clock = &recorder->first.clock;
	const struct {
		u64 shift, mult, zero, cycles, mask;
		u8 cap_zero, cap_short, reserved[6];
	} conv = {
		.shift = clock->shift,
		.mult = clock->mult ? clock->mult : 1,
		.zero = clock->zero,
		.mask = UINT64_MAX,
		.cap_zero = clock->mult != 0,
	};
	u32 cores, cpus = get_metadata_cpus_max(recorder);
	bool differ;
	u64 end;

	write_record(recorder, PERFDATA_TIME_CONV, 0, &conv, sizeof(conv));
	end = recorder->pos + 16 + 8 * V2_HEADER_WORDS + 8ULL * V2_CPU_WORDS * cpus;
	cores = count_cores(recorder, &differ);
	if (differ)
		write_metadata_v2(recorder, cores < cpus ? cores : cpus);
	else
		write_metadata_v1(recorder);
	write_filler(recorder, end);
}

void perfdata_write_begin(struct recorder *recorder)
{
	write_header(recorder, 0);
	write_metadata(recorder);
}

static struct recorder_core *find_or_add_core(struct recorder *recorder, u32 cpu)
{
	struct recorder_core *cores;
	u32 count = cpu + 1;

	if (cpu < recorder->core_count)
		return &recorder->cores[cpu];
	cores = cpu < PERFDATA_MAX_CPUS ? realloc(recorder->cores, count * sizeof(*cores)) : NULL;
	if (!cores) {
		recorder_fail(recorder, cpu < PERFDATA_MAX_CPUS ? -ENOMEM : -ERANGE);
		return NULL;
	}
	memset(cores + recorder->core_count, 0, (count - recorder->core_count) * sizeof(*cores));
	recorder->cores = cores;
	recorder->core_count = count;
	return &cores[cpu];
}

static void index_add(struct recorder *recorder)
{
	struct recorder_index_entry *index =
		array_reserve(recorder->index, &recorder->index_capacity, recorder->index_count + 1,
			      sizeof(*index), UINT32_MAX);

	if (!index) {
		recorder_fail(recorder, -ENOMEM);
		return;
	}
	recorder->index = index;
	index[recorder->index_count++] =
		(struct recorder_index_entry){ recorder->pos, PERFDATA_AUXTRACE_SIZE };
}

static void write_itrace_start(struct recorder *recorder, const struct source_window *window)
{
	const struct {
		u32 pid, tid;
		struct file_trailer trailer;
	} body = { UINT32_MAX, UINT32_MAX,
		   make_trailer(-1, -1, window->start_ns, (s32)window->cpu) };

	write_record(recorder, PERF_RECORD_ITRACE_START, 0, &body, sizeof(body));
}

static u64 window_to_aux_flags(const struct source_window *window)
{
	return (window->flags & (WINDOW_TRUNCATED | WINDOW_FAULTED) ? PERF_AUX_FLAG_TRUNCATED : 0) |
	       (window->flags & WINDOW_GAPS ? PERF_AUX_FLAG_PARTIAL : 0) |
	       (window->flags & WINDOW_COLLIDED ? PERF_AUX_FLAG_COLLISION : 0);
}

static void write_aux(struct recorder *recorder, const struct source_window *window, u64 offset,
		      u64 size, u64 flags)
{
	const struct {
		u64 offset, size, flags;
		struct file_trailer trailer;
	} body = { offset, size, flags, make_trailer(-1, -1, window->end_ns, (s32)window->cpu) };

	write_record(recorder, PERF_RECORD_AUX, 0, &body, sizeof(body));
}

static void write_auxtrace(struct recorder *recorder, const struct source_window *window,
			   u64 offset, u64 size)
{
	const struct {
		u64 size, offset, reference;
		u32 index, tid, cpu, reserved;
	} trace = { .size = size,
		    .offset = offset,
		    .index = window->cpu,
		    .tid = UINT32_MAX,
		    .cpu = window->cpu };

	index_add(recorder);
	write_record(recorder, PERFDATA_AUXTRACE, 0, &trace, sizeof(trace));
	recorder_write(recorder, window->data, window->len);
	recorder_pad(recorder, 8);
}

/*
 * Write an empty AUX record with the flag TRUNCATED, which perf reports as lost AUX data. The
 * record stands for data that a perf.data cannot represent: a suspect window, lost bytes, or a CPU
 * that a fault has stopped. A stopped CPU is reported once.
 */
static void write_aux_loss(struct recorder *recorder, struct recorder_core *core,
			   const struct source_window *window)
{
	bool stopped = window->blind_by[SOURCE_BLIND_FAULT] && !core->stopped;

	if (!window->len && !window->lost_bytes && !stopped)
		return;
	write_aux(recorder, window, core->aux_size, 0, PERF_AUX_FLAG_TRUNCATED);
	core->stopped |= stopped || window->flags & WINDOW_FAULTED;
}

void perfdata_write_window(struct recorder *recorder, const struct source_window *window)
{
	bool suspect = window->flags & WINDOW_SUSPECT;
	u64 padded = ((u64)window->len + 7) & ~7ULL;
	struct recorder_core *core = find_or_add_core(recorder, window->cpu);

	if (suspect)
		recorder->omitted += window->len;
	if (!core)
		return;
	if (suspect || !window->len) {
		write_aux_loss(recorder, core, window);
		return;
	}
	if (!recorder->has_first) {
		recorder->first = *window;
		recorder->has_first = true;
	}
	if (!core->has_window) {
		core->has_window = true;
		core->midr = window->midr;
		write_itrace_start(recorder, window);
	}
	write_aux(recorder, window, core->aux_size, window->len, window_to_aux_flags(window));
	core->stopped = window->flags & WINDOW_FAULTED;
	write_auxtrace(recorder, window, core->aux_size, padded);
	core->aux_size += padded;
}

/*
 * A string as records contain it: NUL-terminated, padded to a multiple of 8 bytes, and truncated to
 * PATH_MAX - 1 bytes.
 */
struct padded_string {
	char text[PATH_MAX + 8];
	size_t size;
};

static void padded_string_set(struct padded_string *field, const char *text)
{
	size_t len = strnlen(text, PATH_MAX - 1);

	memset(field->text, 0, sizeof(field->text));
	memcpy(field->text, text, len);
	field->size = (len + 8) & ~(size_t)7;
}

static void write_named_record(struct recorder *recorder, u32 type, u16 misc, const void *body,
			       size_t len, const struct task_event *event, const char *name)
{
	const struct file_trailer trailer =
		make_trailer(event->pid, event->tid, event->time_ns, -1);
	struct perf_event_header header = { .type = type, .misc = misc };
	struct padded_string field;

	padded_string_set(&field, name);
	header.size = (u16)(sizeof(header) + len + field.size + sizeof(trailer));
	recorder_write(recorder, &header, sizeof(header));
	recorder_write(recorder, body, len);
	recorder_write(recorder, field.text, field.size);
	recorder_write(recorder, &trailer, sizeof(trailer));
}

static void write_mapping(struct recorder *recorder, const struct task_event *event)
{
	struct {
		u32 pid, tid;
		u64 start, size, offset;
		u32 major, minor;
		u64 inode, generation;
		u32 protection, flags;
	} body = {
		.pid = (u32)event->pid,
		.tid = (u32)event->tid,
		.start = event->start,
		.size = event->size,
		.offset = event->offset,
		.major = event->device >> 20,
		.minor = event->device & 0xfffff,
		.inode = event->inode,
		.protection = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};
	bool kernel = event->pid < 0;

	/* "//anon" is perf's name for anonymous memory. */
	write_named_record(recorder, kernel ? PERF_RECORD_MMAP : PERF_RECORD_MMAP2,
			   kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &body,
			   kernel ? 32 : sizeof(body), event,
			   *event->name ? event->name : "//anon");
}

static void write_fork_exit(struct recorder *recorder, const struct task_event *event)
{
	bool fork = event->type == TASK_FORK;
	const struct {
		u32 pid, parent_pid, tid, parent_tid;
		u64 time;
		struct file_trailer trailer;
	} body = {
		.pid = (u32)event->pid,
		.parent_pid = (u32)event->parent_pid,
		.tid = (u32)event->tid,
		.parent_tid = (u32)event->parent_pid,
		.time = event->time_ns,
		.trailer = make_trailer(event->pid, event->tid, event->time_ns, -1),
	};

	write_record(recorder, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0, &body, sizeof(body));
}

static void write_lost_events(struct recorder *recorder, const struct task_event *event)
{
	const struct {
		u64 id, lost;
		struct file_trailer trailer;
	} body = { EVENT_ID, event->size, make_trailer(-1, -1, event->time_ns, -1) };

	write_record(recorder, PERF_RECORD_LOST, 0, &body, sizeof(body));
}

/*
 * Write a record that a task is switched in. If its TID is unknown, write a record that an unknown
 * task is switched out.
 */
static void write_switch(struct recorder *recorder, const struct task_event *event)
{
	const struct {
		s32 other_pid, other_tid;
		struct file_trailer trailer;
	} body = { -1, -1, make_trailer(event->tid, event->tid, event->time_ns, (s32)event->cpu) };

	write_record(recorder, PERF_RECORD_SWITCH_CPU_WIDE,
		     event->tid < 0 ? PERF_RECORD_MISC_SWITCH_OUT : 0, &body, sizeof(body));
}

void perfdata_write_task(struct recorder *recorder, const struct task_event *event)
{
	const u32 ids[2] = { (u32)event->pid, (u32)event->tid };

	switch (event->type) {
	case TASK_COMM:
		write_named_record(recorder, PERF_RECORD_COMM,
				   event->exec ? PERF_RECORD_MISC_COMM_EXEC : 0, ids, sizeof(ids),
				   event, event->name);
		break;
	case TASK_FORK:
	case TASK_EXIT:
		write_fork_exit(recorder, event);
		break;
	case TASK_MMAP:
		write_mapping(recorder, event);
		recorder_add_build_id(recorder, event);
		break;
	case TASK_CGROUP:
		write_named_record(recorder, PERF_RECORD_CGROUP, 0, &event->cgroup,
				   sizeof(event->cgroup), event, event->name);
		break;
	case TASK_SWITCH:
		write_switch(recorder, event);
		break;
	case TASK_LOST:
	case TASK_LOST_MAPS:
		write_lost_events(recorder, event);
		break;
	default:
		break;
	}
}

/*
 * Write a feature that is a string: first the size of the padded string, a multiple of 64 bytes,
 * then the padded string.
 */
static void write_string(struct recorder *recorder, const char *text)
{
	char padded[1024] = { 0 };
	u32 len = (u32)strnlen(text, sizeof(padded) - 64), size = (len + 64) & ~63U;

	memcpy(padded, text, len);
	recorder_write(recorder, &size, sizeof(size));
	recorder_write(recorder, padded, size);
}

static void write_u32(struct recorder *recorder, u32 value)
{
	recorder_write(recorder, &value, sizeof(value));
}

static const char *get_backend_suffix(const struct recorder *recorder)
{
	return recorder->config.backend == BACKEND_EMULATED ? " (emulated SPU)" : "";
}

static void write_event_desc(struct recorder *recorder)
{
	const struct perf_event_attr attr = make_attr(recorder);
	const u64 id = EVENT_ID;

	write_u32(recorder, 1);
	write_u32(recorder, ATTR_SIZE);
	recorder_write(recorder, &attr, ATTR_SIZE);
	write_u32(recorder, 1);
	write_string(recorder, recorder->config.backend == BACKEND_EMULATED ?
				       "arm_spe_0/emulated-by-speprof/" :
				       "arm_spe_0//");
	recorder_write(recorder, &id, sizeof(id));
}

static void write_cmdline(struct recorder *recorder)
{
	write_u32(recorder, 2);
	write_string(recorder, recorder->command);
	write_string(recorder, recorder->config.backend == BACKEND_EMULATED ?
				       "# EMULATED SPU: task, PC and time are real, the rest is "
				       "modelled" :
				       "# by speprof");
}

bool recorder_read_node(u32 node, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *f;
	size_t len;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/%s", node, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	len = fread(text, 1, size - 1, f);
	fclose(f);
	text[len] = 0;
	return true;
}

/*
 * Return the value of a field in kB from a line such as "Node 0 MemTotal: 16384 kB"; 0 if the field
 * is missing.
 */
static u64 parse_node_memory(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

/*
 * Write the number of nodes. Then write for each node its number, its total and free memory in kB,
 * and its CPUs.
 */
static void write_numa_topology(struct recorder *recorder)
{
	char cpus[NODE_CPUS_SIZE], memory[4096];
	u32 count = 0;
	u64 kb;

	for (u32 node = 0; node < KERNEL_NODES_MAX; node++)
		count += recorder_read_node(node, "cpulist", cpus, sizeof(cpus));
	write_u32(recorder, count);
	for (u32 node = 0; node < KERNEL_NODES_MAX && count; node++) {
		if (!recorder_read_node(node, "cpulist", cpus, sizeof(cpus)))
			continue;
		count--;
		cpus[strcspn(cpus, "\n")] = 0;
		if (!recorder_read_node(node, "meminfo", memory, sizeof(memory)))
			memory[0] = 0;
		write_u32(recorder, node);
		kb = parse_node_memory(memory, "MemTotal:");
		recorder_write(recorder, &kb, sizeof(kb));
		kb = parse_node_memory(memory, "MemFree:");
		recorder_write(recorder, &kb, sizeof(kb));
		write_string(recorder, cpus);
	}
}

static void write_feature(struct recorder *recorder, enum perfdata_feature feature)
{
	struct utsname host = { 0 };
	char text[128];

	uname(&host);
	switch (feature) {
	case FEATURE_BUILD_ID:
		recorder_write_build_ids(recorder);
		break;
	case FEATURE_HOSTNAME:
		snprintf(text, sizeof(text), "%s%s", host.nodename, get_backend_suffix(recorder));
		write_string(recorder, text);
		break;
	case FEATURE_OSRELEASE:
		write_string(recorder, host.release);
		break;
	case FEATURE_VERSION:
		snprintf(text, sizeof(text), "speprof %s%s", SPEPROF_VERSION,
			 get_backend_suffix(recorder));
		write_string(recorder, text);
		break;
	case FEATURE_ARCH:
		write_string(recorder, host.machine);
		break;
	case FEATURE_NRCPUS:
		write_u32(recorder, (u32)sysconf(_SC_NPROCESSORS_CONF));
		write_u32(recorder, (u32)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case FEATURE_CPUID:
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)recorder->first.midr);
		write_string(recorder, text);
		break;
	case FEATURE_CMDLINE:
		write_cmdline(recorder);
		break;
	case FEATURE_EVENT_DESC:
		write_event_desc(recorder);
		break;
	case FEATURE_NUMA_TOPOLOGY:
		write_numa_topology(recorder);
		break;
	case FEATURE_PMU_MAPPINGS:
		write_u32(recorder, 1);
		write_u32(recorder, PMU_TYPE);
		write_string(recorder, "arm_spe_0");
		break;
	case FEATURE_AUXTRACE: {
		const u64 count = recorder->index_count;

		recorder_write(recorder, &count, sizeof(count));
		recorder_write(recorder, recorder->index, count * sizeof(*recorder->index));
		break;
	}
	}
}

void perfdata_write_end(struct recorder *recorder)
{
	struct file_section table[ARRAY_SIZE(features)] = { 0 };
	u64 data_end = recorder->pos;

	recorder_write(recorder, table, sizeof(table));
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		table[i].offset = recorder->pos;
		write_feature(recorder, features[i]);
		table[i].size = recorder->pos - table[i].offset;
	}
	if (fseeko(recorder->file, (off_t)data_end, SEEK_SET) < 0)
		recorder_fail(recorder, -errno);
	recorder_write(recorder, table, sizeof(table));
	if (fseeko(recorder->file, 0, SEEK_SET) < 0)
		recorder_fail(recorder, -errno);
	write_header(recorder, data_end);
	write_metadata(recorder);
}
