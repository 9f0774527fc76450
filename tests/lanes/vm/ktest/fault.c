// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Inject management events into the emulated SPU, and test what the driver does and what userspace
 * reads.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ktest.h"
#include "policy/syndrome.h"

#define FSC_EXTERNAL_WALK 0x15

/* A value of PMBSR and its expected effect */
struct fault_case {
	const char *name;
	uint8_t ec;
	uint8_t mss;
	uint32_t syndrome;
	uint32_t action;
	/* flags that at least one window must have; 0: a window need not be published */
	uint32_t flags;
	uint32_t state; /* expected state of the ring afterwards */
};

static const struct fault_case cases[] = {
	{ "translation", SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION | 3, SPEPROF_SYNDROME_FAULT,
	  SPEPROF_ACTION_STOP_CPU, SPEPROF_WINDOW_FAULTED, SPEPROF_RING_FAULTED },
	{ "permission, stage 2", SPE_PMBSR_EC_STAGE2, SPE_FSC_PERMISSION, SPEPROF_SYNDROME_FAULT,
	  SPEPROF_ACTION_STOP_CPU, SPEPROF_WINDOW_FAULTED, SPEPROF_RING_FAULTED },
	{ "alignment", SPE_PMBSR_EC_STAGE1, SPE_FSC_ALIGNMENT, SPEPROF_SYNDROME_FAULT,
	  SPEPROF_ACTION_STOP_CPU, SPEPROF_WINDOW_FAULTED, SPEPROF_RING_FAULTED },
	{ "external abort, synchronous", SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_SYNC,
	  SPEPROF_SYNDROME_EXTERNAL_SYNC, SPEPROF_ACTION_CONTINUE, SPEPROF_WINDOW_FAULTED,
	  SPEPROF_RING_ARMED },
	{ "external abort, asynchronous", SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_ASYNC,
	  SPEPROF_SYNDROME_EXTERNAL_ASYNC, SPEPROF_ACTION_DROP_WINDOW,
	  SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT | SPEPROF_WINDOW_TRUNCATED,
	  SPEPROF_RING_ARMED },
	{ "granule protection", SPE_PMBSR_EC_GPC, 0, SPEPROF_SYNDROME_GPC, SPEPROF_ACTION_STOP_CPU,
	  SPEPROF_WINDOW_FAULTED, SPEPROF_RING_FAULTED },
	{ "not allowed", SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_NOT_ALLOWED,
	  SPEPROF_SYNDROME_NOT_ALLOWED, SPEPROF_ACTION_STOP_CPU,
	  SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_TRUNCATED, SPEPROF_RING_FAULTED },
	{ "implementation defined", SPE_PMBSR_EC_IMPDEF, 0, SPEPROF_SYNDROME_IMPDEF,
	  SPEPROF_ACTION_STOP_CPU, SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT,
	  SPEPROF_RING_FAULTED },
	{ "external abort on a walk, stage 2", SPE_PMBSR_EC_STAGE2, FSC_EXTERNAL_WALK,
	  SPEPROF_SYNDROME_EXTERNAL_SYNC, SPEPROF_ACTION_CONTINUE, SPEPROF_WINDOW_FAULTED,
	  SPEPROF_RING_ARMED },
	{ "granule protection, asynchronous", SPE_PMBSR_EC_GPC, SPE_FSC_EXTERNAL_ASYNC,
	  SPEPROF_SYNDROME_GPC, SPEPROF_ACTION_STOP_CPU,
	  SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT, SPEPROF_RING_FAULTED },
	{ "a reserved BSC", SPE_PMBSR_EC_BUFFER, 2, SPEPROF_SYNDROME_UNKNOWN, SPEPROF_ACTION_STOP_CPU,
	  SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT, SPEPROF_RING_FAULTED },
	{ "a reserved EC", 0x2a, 0, SPEPROF_SYNDROME_UNKNOWN, SPEPROF_ACTION_STOP_CPU,
	  SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT, SPEPROF_RING_FAULTED },
};

static const struct speprof_event *wait_for_syndrome(struct kring *ring)
{
	unsigned int i;

	for (i = 0; i < 500; i++) {
		const struct speprof_event *event = kring_next_event(ring);

		if (event && event->type == SPEPROF_EVENT_SYNDROME)
			return event;
		if (!event)
			ksleep_ms(2);
	}
	return NULL;
}

/* Wait until the first window has a record. The SPU writes it into memory that is mapped here. */
static void wait_for_record(const struct kring *ring)
{
	uint64_t align = kcpu_query_info(ring->cpu).record_align;
	const uint8_t *record = ring->data + (sizeof(struct speprof_window) + align - 1) / align * align;

	for (unsigned int i = 0; i < 5000; i++) {
		for (unsigned int n = 0; n < 64; n++)
			if (((const volatile uint8_t *)record)[n])
				return;
		ksleep_ms(2);
	}
	check(0, "no record");
}

/*
 * Return whether the SPU reports this fault: by PMBIDR.EA it may ignore External aborts of its
 * writes, or raise SErrors (RJFYNW).
 */
static bool is_reported(const struct fault_case *c)
{
	struct speprof_cpu_info info = kcpu_query_info(0);

	return (c->mss != SPE_FSC_EXTERNAL_SYNC && c->mss != SPE_FSC_EXTERNAL_ASYNC) ||
	       !SPE_FIELD_GET(SPE_PMBIDR_EA, info.pmbidr);
}

static void case_run(const struct fault_case *c)
{
	struct speprof_session_config config = kmake_session_config();
	struct ktally tally = { .gaps = true };
	const struct speprof_event *event;
	struct pollfd poll_fd = { .events = POLLIN };
	uint32_t truncated = 0;
	struct kring ring;
	int session;
	pid_t child;

	/* Disable the timer, so that only the fault closes the window, which contains records. */
	config.max_latency_ms = 0;
	config.watermark = 512 << 10;
	session = ksession_new(&config);
	kring_open(session, 0, &ring);
	child = kstart_spinning(0);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	wait_for_record(&ring);
	kinject_fault(0, c->ec, c->mss);
	event = wait_for_syndrome(&ring);
	check(event, "%s: no event", c->name);
	check(event->syndrome == c->syndrome, "%s: %u", c->name, event->syndrome);
	/* The SPU may truncate a record at any fault: then the flag must be set. */
	if (event->arg0 & SPE_PMBSR_DL)
		truncated = SPEPROF_WINDOW_TRUNCATED;
	check(event->action == (truncated && c->action < SPEPROF_ACTION_DROP_TAIL ?
					SPEPROF_ACTION_DROP_TAIL :
					c->action), "%s: %u", c->name, event->action);
	check(event->arg0 & SPE_PMBSR_S && SPE_FIELD_GET(SPE_PMBSR_EC, event->arg0) == c->ec);
	check(kwait_state(&ring, c->state), "%s: %u", c->name, ring.control->state);
	kring_read_windows(&ring, &tally);
	check((tally.flags & c->flags) == c->flags, "%s: flags %#x", c->name, tally.flags);
	check((tally.flags & truncated) == truncated, "%s: flags %#x", c->name, tally.flags);
	check((bool)tally.suspect_windows == (bool)(c->flags & SPEPROF_WINDOW_SUSPECT), "%s: %llu",
	      c->name, (unsigned long long)tally.suspect_windows);
	check(event->position == ring.tail || c->state == SPEPROF_RING_ARMED);

	poll_fd.fd = ring.fd;
	check(poll(&poll_fd, 1, 0) >= 0);
	check(!!(poll_fd.revents & POLLERR) == (c->state == SPEPROF_RING_FAULTED), "%s", c->name);

	/* Sampling continues after STOP and START. */
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check(kwait_state(&ring, SPEPROF_RING_ARMED), "%s", c->name);
	ksleep_ms(20);
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&ring, &tally);
	ktally_check(&ring, &tally);
	kchild_end(child);
	kring_close(&ring);
	close(session);
}

static void syndromes_are_acted_on(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (is_reported(&cases[i]))
			case_run(&cases[i]);
}

static struct spe_syndrome_verdict get_verdict(unsigned int ec, unsigned int code)
{
	return spe_syndrome_interpret(SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, ec) | code);
}

static bool is_tested_by_a_case(struct spe_syndrome_verdict verdict)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spe_syndrome_verdict tried = get_verdict(cases[i].ec, cases[i].mss);

		if (tried.class == verdict.class && tried.action == verdict.action &&
		    tried.suspect == verdict.suspect)
			return true;
	}
	return false;
}

/* Check that cases[] has a fault for each row of the table in core/policy/syndrome.c. */
static void cases_are_those_of_the_table(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spe_syndrome_verdict verdict = get_verdict(cases[i].ec, cases[i].mss);

		check(verdict.class == cases[i].syndrome, "%s", cases[i].name);
		check((bool)(cases[i].flags & SPEPROF_WINDOW_SUSPECT) == verdict.suspect, "%s",
		      cases[i].name);
	}
	for (i = 0; i < 64 * 64; i++) {
		struct spe_syndrome_verdict verdict = get_verdict(i >> 6, i & 63);

		/* A full buffer causes no event, and all other tests cover it. */
		check(verdict.class == SPE_SYNDROME_FULL || is_tested_by_a_case(verdict),
		      "EC %#zx, code %#zx", i >> 6, i & 63);
	}
}

/* Repeated faults before the first record stop the CPU, so that the driver does not loop. */
static void faults_without_records_stop_the_cpu(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	struct ktally tally = { 0 };
	const struct speprof_event *event, *last = NULL;
	struct kring ring;
	unsigned int i, barren = 0;
	bool written = false;
	int session;
	pid_t child;

	/* The time between two samples suffices to request the next fault, so disable the timer. */
	config.max_latency_ms = 0;
	session = ksession_new(&config);
	sampling.interval = 50000000;
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling));
	kring_open(session, 0, &ring);
	child = kstart_spinning(0);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	for (i = 0; i < 2000 && ring.control->state != SPEPROF_RING_FAULTED; i++) {
		/* Inject an abort on a table walk, which every SPU reports. */
		kinject_fault(0, SPE_PMBSR_EC_STAGE1, FSC_EXTERNAL_WALK);
		ksleep_ms(2);
	}
	check(kwait_state(&ring, SPEPROF_RING_FAULTED));
	ksleep_ms(5);
	while ((event = kring_next_event(&ring))) {
		if (event->type != SPEPROF_EVENT_SYNDROME)
			continue;
		last = event;
		/* On a busy machine a record may be written before the next fault is requested. */
		barren = event->arg1 ? 0 : barren + 1;
		written |= !!event->arg1;
	}
	check(barren == 8, "%u", barren);
	check(last->action == SPEPROF_ACTION_STOP_CPU && !last->arg1);
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&ring, &tally);
	check(written || !tally.windows);
	ktally_check(&ring, &tally);
	kchild_end(child);
}

/* Make random writes abort, fill the buffer or collide, and check that all counters add up. */
static void fault_rates_keep_the_counters(void)
{
	static const char *const rules[] = { "abort-sync 1%", "abort-async 0.5%", "fill 5%",
					     "collide 10%" };
	struct speprof_session_config config = kmake_session_config();
	struct ktally tally = { 0 };
	struct kring ring;
	int session;
	pid_t child;
	size_t i;

	session = ksession_new(&config);
	kring_open(session, 0, &ring);
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		check(kinject_rule(0, rules[i]), "%s: %s", rules[i], strerror(errno));
	child = kstart_spinning(0);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	for (i = 0; i < 100 && !(tally.flags & SPEPROF_WINDOW_SUSPECT); i++) {
		ksleep_ms(20);
		kring_read_windows(&ring, &tally);
		while (kring_next_event(&ring))
			;
	}
	check(kinject_rule(0, "off"), "%s", strerror(errno));
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&ring, &tally);
	check(tally.flags & SPEPROF_WINDOW_COLLIDED && tally.flags & SPEPROF_WINDOW_FAULTED,
	      "flags %#x", tally.flags);
	check(tally.suspect_windows && tally.windows > tally.suspect_windows);
	ktally_check(&ring, &tally);
	kchild_end(child);
	kring_close(&ring);
	close(session);
}

static void wrong_rules_are_refused(void)
{
	static const char *const wrong[] = { " ",	  "nothing",	  "fill 0%",
					     "fill 101%", "fill 5",	  "fill 5% 6%",
					     "off next",  "0x40:0",	  "0x24:65536",
					     "0x24:",	  "fill 0.00001%" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		check(!kinject_rule(0, wrong[i]) && errno == EINVAL, "\"%s\"", wrong[i]);
	check(kinject_rule(0, "fill next") && kinject_rule(0, "off"));
}

const struct ktest ktests_fault[] = {
	{ "fault-rates-keep-the-counters", fault_rates_keep_the_counters },
	{ "wrong-rules-are-refused", wrong_rules_are_refused },
	{ "cases-are-those-of-the-table", cases_are_those_of_the_table },
	{ "syndromes-are-acted-on", syndromes_are_acted_on },
	{ "barren-faults-stop-the-cpu", faults_without_records_stop_the_cpu },
	{ 0 },
};
