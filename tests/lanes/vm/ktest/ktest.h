/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Common functions of the tests of /dev/speprof in a virtual machine. They use no part of the
 * daemon, only the ABI and the record codec.
 */
#ifndef KTEST_H
#define KTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include <linux/speprof.h>

#include "codec/record.h"

/**
 * struct ktest - one test, which runs in a process of its own
 * @name: unique name
 * @run: the test; returns if it passes, and ends the process by check() if it does not
 * @on_request: whether it runs only if its name is an argument, because it needs an SPU that
 * differs from the default
 * @hardware: whether it needs speprof_trap.ko
 * @peer: whether it tests the kernel's arm_spe_pmu driver, so that /dev/speprof need not exist
 */
struct ktest {
	const char *name;
	void (*run)(void);
	bool on_request;
	bool hardware;
	bool peer;
};

extern const struct ktest ktests_abi[];
extern const struct ktest ktests_ring[];
extern const struct ktest ktests_flight[];
extern const struct ktest ktests_limit[];
extern const struct ktest ktests_windows_cost[];
extern const struct ktest ktests_fault[];
extern const struct ktest ktests_stress[];
extern const struct ktest ktests_cgroup[];
extern const struct ktest ktests_cgroup_stress[];
extern const struct ktest ktests_cost[];
extern const struct ktest ktests_hardware[];
extern const struct ktest ktests_sources[];

/* End the test unless @condition is true, and print the remaining arguments. */
#define check(condition, ...)                                                             \
	do {                                                                              \
		if (!(condition)) {                                                       \
			fprintf(stderr, "%s:%d: %s", __FILE__, __LINE__, #condition);     \
			fprintf(stderr, " " __VA_ARGS__);                                 \
			fprintf(stderr, "\n");                                            \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

/* End the test unless @call fails with @error. */
#define check_errno(call, error)                                                          \
	do {                                                                              \
		errno = 0;                                                                \
		long check_got = (long)(call);                                            \
		check(check_got < 0 && errno == (error), "gave %ld, errno %d (%s), not %d", check_got, \
		      errno, strerror(errno), error);                                     \
	} while (0)

/** struct kring - a mapped ring */
struct kring {
	int fd;
	unsigned int cpu;
	struct speprof_ring_open open;
	struct speprof_control *control;
	const struct speprof_event *events;
	const uint8_t *data;
	uint64_t tail;
	uint64_t event_tail;
};

/** struct ktally - counters of the windows and records that were read from a ring */
struct ktally {
	uint64_t windows;
	uint64_t skips;
	uint64_t skip_bytes;
	uint64_t header_bytes;
	uint64_t data_bytes;
	/*
	 * number of records by the headers of windows; if hardware does not count them, of decoded
	 * records
	 */
	uint64_t counted;
	uint64_t armed_ns;
	uint64_t blind_ns;
	uint64_t blind_by[SPEPROF_BLINDS];
	uint64_t parked_ns;
	uint64_t end_ns;	/* end of the last window */
	uint32_t flags;		/* flags of all windows, combined */
	uint32_t generation;	/* generation of the last window */
	uint64_t interval;	/* interval of the last window */
	uint64_t suspect_windows;
	struct spe_ledger ledger;
	uint64_t of_tid;	/* number of samples with the context @tid */
	uint64_t user;		/* number of samples at EL0 */
	uint64_t sources[64];	/* number of samples with a Data Source packet, by bits 5:0 */
	uint64_t sourceless;	/* number of samples without a Data Source packet */
	uint32_t tid;
	/* KTEST_TIDS bytes, by TID: 1 if it has a sample; NULL: not recorded */
	uint8_t *seen;
	uint64_t next_seq;
	bool gaps;		/* whether the session was stopped, or the CPU offline */
};

/* All PIDs must be below this number. */
#define KTEST_TIDS (4U << 20)

/* An interval that causes ten thousand samples a second with the defaults of the emulated SPU */
#define KTEST_INTERVAL 100000

int kdevice_open(void);

/** kcpu_query_info() - query the properties of @cpu and its SPU */
struct speprof_cpu_info kcpu_query_info(unsigned int cpu);

/**
 * kget_interval() - return the actual mean interval of @sampling on @cpu's SPU (D17.3.4), in
 * operations
 */
uint64_t kget_interval(unsigned int cpu, const struct speprof_sampling *sampling);

/**
 * kget_ops_per_ns() - return the number of operations that a CPU executes in a nanosecond; 0:
 * unknown, on real hardware
 */
double kget_ops_per_ns(void);

/**
 * kget_backend() - return SPEPROF_BACKEND_* of CPU 0: emulated with speprof_emu.ko, hardware with
 * speprof_trap.ko
 */
uint32_t kget_backend(void);

/**
 * kwindows_have_counts() - return whether windows contain their number of records, which hardware
 * does not count
 */
bool kwindows_have_counts(void);

/** kcount_cpus() - return the number of online CPUs, at most 64 */
unsigned int kcount_cpus(void);

/**
 * kmake_session_config() - return a configuration: rings of 1 MiB, all CPUs, all permissions,
 * latency of 20 ms
 */
struct speprof_session_config kmake_session_config(void);

/**
 * kmake_sampling() - return settings for all samples that the emulated SPU supports, at
 * KTEST_INTERVAL
 */
struct speprof_sampling kmake_sampling(void);

/** ksession_new() - create a session of @config with kmake_sampling(); failure ends the test */
int ksession_new(const struct speprof_session_config *config);

void kring_open(int session, unsigned int cpu, struct kring *ret_ring);
void kring_close(struct kring *ring);

struct speprof_ring_stats kring_read_stats(const struct kring *ring);

/**
 * kring_read_windows() - read all windows: check each header, decode, count, and advance the tail
 */
void kring_read_windows(struct kring *ring, struct ktally *tally);

/** kwindows_check() - check, decode and count @size bytes of complete windows of a stream */
void kwindows_check(const uint8_t *bytes, uint64_t size, unsigned int cpu, struct ktally *tally);

/** kring_next_event() - return the next event, or NULL */
const struct speprof_event *kring_next_event(struct kring *ring);

/**
 * ktally_check() - check that @tally agrees with the module's counters
 *
 * The ring must be idle and completely read.
 */
void ktally_check(const struct kring *ring, const struct ktally *tally);

/** kstart_spinning() - start a child that spins on @cpu until it is killed; return its PID */
pid_t kstart_spinning(unsigned int cpu);

/**
 * kstart_in_kernel() - start a child that executes much code of the kernel
 *
 * The model derives an operation from its PC, and a child that only spins executes only a few
 * instructions.
 */
pid_t kstart_in_kernel(unsigned int cpu);
void kchild_end(pid_t pid);

void ksleep_ms(unsigned int ms);
uint64_t kclock_ns(void);

/** kfile_write() - write @text by one write(2); return false and set errno on failure */
bool kfile_write(const char *path, const char *text);

/** kcpu_set_online() - bring @cpu online or offline; return whether that is possible */
bool kcpu_set_online(unsigned int cpu, bool on);

/**
 * kinject_rule() - set a rule of core/model/inject.h for @cpu's SPU; return false and set errno if
 * it is refused
 */
bool kinject_rule(unsigned int cpu, const char *rule);

/** kinject_fault() - make the next write of @cpu's SPU end with this syndrome */
void kinject_fault(unsigned int cpu, unsigned int ec, unsigned int mss);

/** kset_parameter() - set a parameter of speprof.ko, which ktest restores after the test */
void kset_parameter(const char *name, unsigned long value);

/** kwait_state() - wait until @ring is in @state, and return false after a minute */
bool kwait_state(const struct kring *ring, uint32_t state);

#endif
