/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests of /dev/speprof in a virtual machine: what these programs share. They use no part of the
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
 * struct ktest - one test, run in a process of its own
 * @name: unique
 * @run: returns if it passes, ends by check() if it does not
 * @on_request: runs only if it is named: it needs an SPU other than the default one
 * @hardware: it needs speprof_trap.ko
 * @peer: it is about the kernel's own driver, /dev/speprof need not be there
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

/* End the test unless @condition holds, and print the remaining arguments. */
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

/** struct ktally - counters of what was read from a ring */
struct ktally {
	uint64_t windows;
	uint64_t skips;
	uint64_t skip_bytes;
	uint64_t header_bytes;
	uint64_t data_bytes;
	uint64_t counted;	/* records by the headers; decoded ones if hardware has no count */
	uint64_t armed_ns;
	uint64_t blind_ns;
	uint64_t blind_by[SPEPROF_BLINDS];
	uint64_t parked_ns;
	uint64_t end_ns;	/* of the last window */
	uint32_t flags;		/* of all windows, together */
	uint32_t generation;	/* of the last window */
	uint64_t interval;	/* of the last window */
	uint64_t suspect_windows;
	struct spe_ledger ledger;
	uint64_t of_tid;	/* samples with the context @tid */
	uint64_t user;		/* samples at EL0 */
	uint64_t sources[64];	/* samples with a Data Source packet, by bits 5:0 */
	uint64_t sourceless;	/* samples without one */
	uint32_t tid;
	uint8_t *seen;		/* KTEST_TIDS bytes by TID: 1 if it has a sample; or NULL */
	uint64_t next_seq;
	bool gaps;		/* the session was stopped, or the CPU offline, meanwhile */
};

/* PIDs are below this. */
#define KTEST_TIDS (4U << 20)

/* Ten thousand samples a second with the emulated SPU's defaults. */
#define KTEST_INTERVAL 100000

int kdevice_open(void);

/** kcpu_info() - query the abilities of @cpu and its SPU */
struct speprof_cpu_info kcpu_info(unsigned int cpu);

/**
 * kinterval() - return the true mean interval of @sampling on @cpu's SPU (D17.3.4), in operations
 */
uint64_t kinterval(unsigned int cpu, const struct speprof_sampling *sampling);

/** kops_per_ns() - return the operations of a CPU in a nanosecond; 0 on real hardware: unknown */
double kops_per_ns(void);

/**
 * kbackend() - return SPEPROF_BACKEND_* of CPU 0: that of speprof_emu, or hardware with the trap
 */
uint32_t kbackend(void);

/**
 * kcounts() - return whether windows contain their number of records, which hardware does not know
 */
bool kcounts(void);

/** kcpus() - return the number of online CPUs, at most 64 */
unsigned int kcpus(void);

/** ksession_config() - return a configuration: 1 MiB rings, every CPU, all rights, 20 ms */
struct speprof_session_config ksession_config(void);

/** ksampling() - return all that the emulated SPU supports, at KTEST_INTERVAL */
struct speprof_sampling ksampling(void);

/** ksession_new() - create a session of @config with ksampling(); a failure ends the test */
int ksession_new(const struct speprof_session_config *config);

void kring_open(int session, unsigned int cpu, struct kring *ret_ring);
void kring_close(struct kring *ring);

struct speprof_ring_stats kring_stats(const struct kring *ring);

/** kring_read() - check every header, decode, count, and advance the tail */
void kring_read(struct kring *ring, struct ktally *tally);

/** kwindows_walk() - the same for @size bytes of a stream of whole windows */
void kwindows_walk(const uint8_t *bytes, uint64_t size, unsigned int cpu, struct ktally *tally);

/** kring_event() - return the next event, or NULL */
const struct speprof_event *kring_event(struct kring *ring);

/**
 * ktally_close() - check that @tally and the module's counters of an idle, completely read ring
 * agree
 */
void ktally_close(const struct kring *ring, const struct ktally *tally);

/** kburn() - start a child that spins on @cpu until it is killed; return its PID */
pid_t kburn(unsigned int cpu);

/**
 * kstir() - start a child that runs much code of the kernel, while a spinning one has a few
 * instructions: the model derives an operation from its PC
 */
pid_t kstir(unsigned int cpu);
void kburn_end(pid_t pid);

void ksleep_ms(unsigned int ms);
uint64_t know_ns(void);

/** kfile_write() - write @text at once; return false with errno */
bool kfile_write(const char *path, const char *text);

/** kcpu_online() - bring the CPU online or offline; return whether that is possible */
bool kcpu_online(unsigned int cpu, bool on);

/**
 * kinject_rule() - set a rule of core/model/inject.h for @cpu's SPU; return false with errno if it
 * is refused
 */
bool kinject_rule(unsigned int cpu, const char *rule);

/** kinject() - make @cpu's next write end with this syndrome */
void kinject(unsigned int cpu, unsigned int ec, unsigned int mss);

/** kparameter() - set a parameter of speprof.ko; ktest restores it after the test */
void kparameter(const char *name, unsigned long value);

/** kwait_state() - wait until @ring is in @state, for at most @ms */
bool kwait_state(const struct kring *ring, uint32_t state, unsigned int ms);

#endif
