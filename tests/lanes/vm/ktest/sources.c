// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the filter of loads by data source, on SPUs with FEAT_SPE_FDS. The tests run only on
 * request, because the default SPU does not have this feature.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kcgroup.h"
#include "ktest.h"

/* PMSIDR_EL1.FDS */
#define FDS (1U << 7)

/* The data source of most loads in the model: the L1 cache of the core */
#define NEAR 0

static bool cpu_has_source_filter(unsigned int cpu)
{
	struct speprof_cpu_info info = { .size = sizeof(info), .cpu = cpu };
	int device = kdevice_open();

	check(!ioctl(device, SPEPROF_CPU_INFO, &info), "%s", strerror(errno));
	close(device);
	return info.pmsidr & FDS;
}

/* Set the filter @sources_not for a session, and read its ring. */
static void set_source_filter(int session, struct kring *ring, struct ktally *tally,
			      uint64_t sources_not)
{
	struct speprof_sampling sampling = kmake_sampling();

	sampling.sources_not = sources_not;
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), "%s", strerror(errno));
	/* All samples from before the change are published. */
	kring_read_windows(ring, tally);
}

static void read_records(struct kring *ring, struct ktally *tally, uint64_t more)
{
	uint64_t end = kclock_ns() + 30000000000ULL, want = tally->ledger.records + more;

	while (tally->ledger.records < want) {
		check(kclock_ns() < end, "%llu records are missing",
		      (unsigned long long)(want - tally->ledger.records));
		ksleep_ms(10);
		kring_read_windows(ring, tally);
	}
}

/* Check that the samples since @before have some of the sources in @wanted, and no others. */
static void check_sources(const struct ktally *tally, const struct ktally *before, uint64_t wanted)
{
	uint64_t some = 0;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t more = tally->sources[i] - before->sources[i];

		check(wanted >> i & 1 || !more, "%llu of source %u", (unsigned long long)more, i);
		some += more;
	}
	check(!wanted || some);
	check(tally->sourceless > before->sourceless);
}

static void sources_are_filtered(void)
{
	static const uint64_t settings[] = { ~(1ULL << NEAR), 1ULL << NEAR, ~0ULL, 0,
					     0xffffffff00000000, ~(1ULL << NEAR) };
	struct speprof_session_config config = kmake_session_config();
	unsigned int cpu = kcount_cpus() - 1, i;
	struct ktally tally = { 0 }, before;
	struct speprof_tune tune = { .size = sizeof(tune), .cpu = cpu,
				     .interval = KTEST_INTERVAL * 2 };
	int session = ksession_new(&config);
	pid_t child = kstart_in_kernel(cpu);
	struct kring ring;

	check(cpu_has_source_filter(cpu));
	kring_open(session, cpu, &ring);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	read_records(&ring, &tally, 1000);
	/* The checks below need such samples. */
	check(tally.sources[NEAR] && tally.sourceless);
	check_sources(&tally, &(struct ktally){ 0 }, ~0ULL);
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		set_source_filter(session, &ring, &tally, settings[i]);
		before = tally;
		read_records(&ring, &tally, 500);
		check_sources(&tally, &before, ~settings[i]);
	}
	/* The filter stays the same when the interval changes, and over CPU hotplug. */
	check(!ioctl(session, SPEPROF_SESSION_TUNE, &tune));
	read_records(&ring, &tally, 200);
	if (cpu && kcpu_set_online(cpu, false)) {
		tally.gaps = true;
		check(kcpu_set_online(cpu, true));
		kchild_end(child);
		child = kstart_in_kernel(cpu);
		read_records(&ring, &tally, 500);
	}
	check_sources(&tally, &before, 1ULL << NEAR);
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&ring, &tally);
	ktally_check(&ring, &tally);
	kchild_end(child);
	kring_close(&ring);
	close(session);
}

/*
 * Each session on an SPU has its own filter. A session without one does not get the filter of the
 * other.
 */
static void sessions_have_own_source_filters(void)
{
	static const uint64_t settings[] = { ~(1ULL << NEAR), 1ULL << NEAR, 0 };
	static const char *const names[] = { "a", "b", "c" };
	uint8_t *groups = kwork_get_groups();
	struct kcgroup cgroups[3];
	struct ktally before[3];
	struct kview views[3];
	unsigned int i;

	check(cpu_has_source_filter(0));
	for (i = 0; i < 3; i++) {
		kcgroup_make(&cgroups[i], names[i]);
		/*
		 * Sleep and fork, so that samples are at many addresses of the kernel: the model
		 * derives the data source of an operation from its PC.
		 */
		kwork_start(&cgroups[i], 0, KWORK_SLEEP, (uint8_t)(1 << i));
		kwork_start(&cgroups[i], 0, KWORK_FORK, (uint8_t)(1 << i));
	}
	for (i = 0; i < 3; i++) {
		kview_begin(&views[i], &cgroups[i], 0,
			    SPEPROF_SAMPLE_USER | SPEPROF_SAMPLE_KERNEL, KTEST_INTERVAL);
		set_source_filter(views[i].session, &views[i].ring, &views[i].tally, settings[i]);
		before[i] = views[i].tally;
	}
	for (i = 0; i < 3; i++)
		read_records(&views[i].ring, &views[i].tally, 500);
	for (i = 0; i < 3; i++) {
		struct speprof_ring_stats stats = kring_read_stats(&views[i].ring);

		check(stats.handovers > 10);
		check_sources(&views[i].tally, &before[i], ~settings[i]);
	}
	check(views[2].tally.sources[NEAR] > before[2].sources[NEAR]);
	for (i = 0; i < 3; i++) {
		kview_end(&views[i], groups, (uint8_t)(1 << i));
		kcgroup_remove(&cgroups[i]);
	}
}

/*
 * One CPU without FEAT_SPE_FDS suffices to refuse the filter for a session. A session of the other
 * CPUs may use it.
 */
static void sources_need_every_cpu(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	uint8_t mask[8] = { 0 };
	unsigned int cpu, without = 0;
	int session = ksession_new(&config);

	for (cpu = 0; cpu < kcount_cpus(); cpu++) {
		mask[cpu / 8] |= (uint8_t)(cpu_has_source_filter(cpu) << cpu % 8);
		without += !cpu_has_source_filter(cpu);
	}
	check(without && without < kcount_cpus());
	sampling.sources_not = 1;
	check_errno(ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), EOPNOTSUPP);
	close(session);
	config.cpus = (uintptr_t)mask;
	config.cpus_size = sizeof(mask);
	session = ksession_new(&config);
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), "%s", strerror(errno));
	close(session);
}

/* The SPU has FEAT_SPE_FDS, but the driver is not permitted to access the register. */
static void sources_are_hidden(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < kcount_cpus(); cpu++)
		check(!cpu_has_source_filter(cpu));
}

const struct ktest ktests_sources[] = {
	{ "sources-are-filtered", sources_are_filtered, .on_request = true },
	{ "sources-are-of-a-session", sessions_have_own_source_filters, .on_request = true },
	{ "sources-are-hidden", sources_are_hidden, .on_request = true },
	{ "sources-need-every-cpu", sources_need_every_cpu, .on_request = true },
	{ 0 },
};
