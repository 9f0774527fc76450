// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the hardware backend with the SPUs that speprof_trap.ko emulates: the driver's counters
 * equal those of the SPU, registers are lost with power and restored, and spurious interrupts are
 * ignored.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ktest.h"
#include "codec/registers.h"

/* Counters of a CPU in speprof_trap.ko, from its parameter stats */
struct spu_counters {
	unsigned long long written;
	unsigned long long bytes;
	unsigned long long cut;
	unsigned long long sleeps;
};

static struct spu_counters read_spu_counters(unsigned int cpu)
{
	FILE *file = fopen("/sys/module/speprof_trap/parameters/stats", "re");
	struct spu_counters truth = { 0 };
	bool found = false;
	char line[512];

	check(file, "%s", strerror(errno));
	while (!found && fgets(line, sizeof(line), file))
		found = strtoul(line, NULL, 10) == cpu;
	check(found);
	check(sscanf(strstr(line, "written="), "written=%llu bytes=%llu cut=%llu", &truth.written,
		     &truth.bytes, &truth.cut) == 3);
	check(sscanf(strstr(line, "sleeps="), "sleeps=%llu", &truth.sleeps) == 1);
	fclose(file);
	return truth;
}

static void trap_set_parameter(const char *name, unsigned int cpu)
{
	char path[80], text[16];

	snprintf(path, sizeof(path), "/sys/module/speprof_trap/parameters/%s", name);
	snprintf(text, sizeof(text), "%u", cpu);
	check(kfile_write(path, text), "%s: %s", path, strerror(errno));
}

/* A session on one CPU, and the SPU's counters at its start */
struct compared_session {
	int session;
	pid_t child;
	struct kring ring;
	struct ktally tally;
	struct spu_counters before;
};

static void compared_session_begin(struct compared_session *stage, unsigned int cpu)
{
	struct speprof_session_config config = kmake_session_config();

	*stage = (struct compared_session){ .before = read_spu_counters(cpu) };
	stage->session = ksession_new(&config);
	stage->child = kstart_spinning(cpu);
	kring_open(stage->session, cpu, &stage->ring);
	check(!ioctl(stage->session, SPEPROF_SESSION_START, 0));
}

static void compared_session_read(struct compared_session *stage, unsigned int ms)
{
	uint64_t end = kclock_ns() + ms * 1000000ULL;

	while (kclock_ns() < end) {
		kring_read_windows(&stage->ring, &stage->tally);
		ksleep_ms(5);
	}
}

/* Check the counters of bytes and records, from the SPU to the decoder. */
static void compared_session_end(struct compared_session *stage)
{
	struct spu_counters after;

	check(!ioctl(stage->session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&stage->ring, &stage->tally);
	ktally_check(&stage->ring, &stage->tally);
	after = read_spu_counters(stage->ring.cpu);
	check(stage->tally.data_bytes ==
	      after.bytes + after.cut - stage->before.bytes - stage->before.cut);
	check(stage->tally.ledger.records == after.written - stage->before.written,
	      "%llu, not %llu", (unsigned long long)stage->tally.ledger.records,
	      after.written - stage->before.written);
	check(!stage->tally.ledger.suspect);
	kchild_end(stage->child);
	kring_close(&stage->ring);
	close(stage->session);
}

static void ledgers_agree_with_the_spu(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < kcount_cpus(); cpu++) {
		struct compared_session stage;

		compared_session_begin(&stage, cpu);
		while (stage.tally.ledger.records < 500)
			compared_session_read(&stage, 50);
		compared_session_end(&stage);
	}
}

/*
 * After an SPU loses power, its registers have arbitrary values. The driver restores them, so the
 * window continues and nothing is lost.
 */
static void power_is_lost_and_restored(void)
{
	struct compared_session stage;
	unsigned int i;

	compared_session_begin(&stage, 0);
	for (i = 0; i < 30; i++) {
		uint64_t records;

		trap_set_parameter("sleep", 0);
		records = stage.tally.ledger.records;
		while (stage.tally.ledger.records < records + 20)
			compared_session_read(&stage, 10);
	}
	check(read_spu_counters(0).sleeps - stage.before.sleeps == 30);
	check(!(stage.tally.flags & ~(uint32_t)(SPEPROF_WINDOW_PARTIAL | SPEPROF_WINDOW_CAUSES)),
	      "%#x", stage.tally.flags);
	compared_session_end(&stage);
}

/* Test that PMSDSFR_EL1 is also restored after the SPU has lost power. */
static void sources_survive_power_loss(void)
{
	struct speprof_sampling sampling = kmake_sampling();
	struct ktally before;
	struct compared_session stage;
	unsigned int i;

	compared_session_begin(&stage, 0);
	kchild_end(stage.child);
	stage.child = kstart_in_kernel(0);
	sampling.sources_not = ~0ULL;
	check(!ioctl(stage.session, SPEPROF_SESSION_SAMPLE, &sampling), "%s", strerror(errno));
	kring_read_windows(&stage.ring, &stage.tally);
	before = stage.tally;
	for (i = 0; i < 10; i++) {
		uint64_t records = stage.tally.ledger.records;

		trap_set_parameter("sleep", 0);
		while (stage.tally.ledger.records < records + 20)
			compared_session_read(&stage, 10);
	}
	check(read_spu_counters(0).sleeps - stage.before.sleeps == 10);
	check(!memcmp(stage.tally.sources, before.sources, sizeof(before.sources)));
	check(stage.tally.sourceless >= before.sourceless + 200);
	compared_session_end(&stage);
}

static unsigned long long count_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	unsigned long long sum = 0;
	char line[512];

	check(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':');

		if (!at || !strstr(line, "speprof"))
			continue;
		for (at++;;) {
			char *end;
			unsigned long long n = strtoull(at, &end, 10);

			if (end == at || *end != ' ')
				break;
			sum += n;
			at = end;
		}
	}
	fclose(file);
	return sum;
}

/* PMBSR.S is 0, so the interrupt is spurious, and must not close a window. */
static void spurious_interrupts_are_ignored(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_ring_stats stats;
	struct kring ring;
	unsigned long long before;
	unsigned int i;
	int session;

	config.max_latency_ms = 0;
	config.watermark = 512 << 10;
	session = ksession_new(&config);
	kring_open(session, 0, &ring);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	before = count_interrupts();
	for (i = 0; i < 100; i++)
		trap_set_parameter("spurious", 0);
	for (i = 0; i < 100 && count_interrupts() < before + 90; i++)
		ksleep_ms(10);
	check(count_interrupts() >= before + 90, "%llu", count_interrupts() - before);
	stats = kring_read_stats(&ring);
	check(!stats.windows && !stats.interrupts && stats.state == SPEPROF_RING_ARMED);
	kring_close(&ring);
	close(session);
	/* Do the same without a session. */
	for (i = 0; i < 10; i++)
		trap_set_parameter("spurious", 0);
}

/*
 * Test that each CPU has the limits of its own SPU. The parameter of speprof_trap.ko is
 * "1:align=8,1:max_size=8".
 */
static void cpus_have_limits_of_own_spu(void)
{
	const struct speprof_cpu_info info[2] = { kcpu_query_info(0), kcpu_query_info(1) };

	check(info[1].record_align == 256 && info[1].record_max == 256);
	check(info[0].record_align != 256 && info[0].record_max != 256);
	ledgers_agree_with_the_spu();
}

/*
 * Write the raw records of CPU 0 to a file, which is compared with the records of the kernel's
 * arm_spe_pmu driver. The SPU samples a synthetic program.
 */
static void write_raw_records(void)
{
	struct speprof_session_config config = kmake_session_config();
	FILE *out = fopen("/run/ci-out/ours.spe", "we");
	const struct speprof_cpu_info info = kcpu_query_info(0);
	/* The maximum size of a record with its alignment gives the minimum number of records. */
	uint64_t max_size = info.record_max > info.record_align ? info.record_max : info.record_align;
	uint64_t records = 0;
	struct kring ring;
	int session;

	check(out, "%s", strerror(errno));
	session = ksession_new(&config);
	kring_open(session, 0, &ring);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	while (records < 20000) {
		uint64_t head = __atomic_load_n(&ring.control->head, __ATOMIC_ACQUIRE);

		while (ring.tail != head) {
			const uint8_t *at = ring.data + (ring.tail & (ring.open.data_bytes - 1));
			const struct speprof_window *window = (const void *)at;

			if (window->kind == SPEPROF_WINDOW_RECORDS) {
				check(fwrite(at + window->data_offset, window->data_size, 1, out) == 1);
				records += window->data_size / max_size;
			}
			ring.tail += window->span;
		}
		__atomic_store_n(&ring.control->tail, ring.tail, __ATOMIC_RELEASE);
		ksleep_ms(5);
	}
	check(!fclose(out));
	kring_close(&ring);
	close(session);
}

/* Return whether all pages mapped at @address are on @node, by /proc/self/numa_maps. */
static bool address_is_on_numa_node(const void *address, unsigned int node)
{
	FILE *file = fopen("/proc/self/numa_maps", "re");
	char line[512], start[32], wanted[16];
	const char *found = NULL;

	check(file, "%s", strerror(errno));
	snprintf(start, sizeof(start), "%08lx ", (unsigned long)address);
	snprintf(wanted, sizeof(wanted), " N%u=", node);
	while (!found && fgets(line, sizeof(line), file))
		if (!strncmp(line, start, strlen(start)))
			found = line;
	fclose(file);
	check(found, "%s", start);
	found = strstr(line, " N");
	return found && !strncmp(found, wanted, strlen(wanted)) && !strstr(found + 1, " N");
}

static unsigned int read_node_of_cpu(unsigned int cpu)
{
	char path[80];
	unsigned int node;

	for (node = 0; node < 64; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpu%u", node, cpu);
		if (!access(path, F_OK))
			return node;
	}
	check(0, "CPU %u has no node", cpu);
	return 0;
}

/*
 * On a machine with two nodes, the SPU's memory and the control pages are on the node of the CPU.
 */
static void rings_are_on_node_of_cpu(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);
	unsigned int cpu, nodes = 0;

	for (cpu = 0; cpu < kcount_cpus(); cpu++) {
		unsigned int node = read_node_of_cpu(cpu);
		struct kring ring;

		kring_open(session, cpu, &ring);
		check(address_is_on_numa_node(ring.data, node) &&
			      address_is_on_numa_node(ring.events, node) &&
			      address_is_on_numa_node(ring.control, node),
		      "CPU %u, node %u", cpu, node);
		nodes |= 1U << node;
		kring_close(&ring);
	}
	check(nodes == 3, "this is for machines of two nodes");
	close(session);
}

/* Leave a session running when this program ends, to test the shutdown of the system. */
static void session_is_left_running(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);

	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	if (fork())
		return;
	setsid();
	alarm(0);
	for (;;)
		pause();
}

const struct ktest ktests_hardware[] = {
	{ "ledgers-agree-with-the-spu", ledgers_agree_with_the_spu, .hardware = true },
	{ "power-is-lost-and-restored", power_is_lost_and_restored, .hardware = true },
	{ "sources-survive-power-loss", sources_survive_power_loss, .on_request = true,
	  .hardware = true },
	{ "spurious-interrupts-are-ignored", spurious_interrupts_are_ignored, .hardware = true },
	{ "cpus-may-differ", cpus_have_limits_of_own_spu, .on_request = true },
	{ "rings-are-of-their-node", rings_are_on_node_of_cpu, .on_request = true },
	{ "record-raw", write_raw_records, .on_request = true },
	{ "left-running", session_is_left_running, .on_request = true },
	{ 0 },
};
