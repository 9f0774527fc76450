// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The module's own ledgers of a session that another process has open: the other side of
 * what that process counts.
 *
 * usage: ledger PID: prints KEY VALUE lines, sums over CPUs
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/speprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPUS 64

/* A copy of its descriptor of a session, or -1. */
static int session_of(int pid)
{
	char path[64], link[64];
	struct dirent *entry;
	int process, fd = -1;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	while (d && process >= 0 && fd < 0 && (entry = readdir(d))) {
		n = readlinkat(dirfd(d), entry->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (!strcmp(link, "anon_inode:[speprof-session]"))
			fd = (int)syscall(SYS_pidfd_getfd, process, atoi(entry->d_name), 0);
	}
	if (d)
		closedir(d);
	if (process >= 0)
		close(process);
	return fd;
}

static unsigned long long enabled(const struct speprof_ring_stats *s)
{
	return s->state_ns[SPEPROF_RING_ARMED] + s->state_ns[SPEPROF_RING_HANDLING] +
	       s->state_ns[SPEPROF_RING_FULL] + s->state_ns[SPEPROF_RING_FAULTED] +
	       s->state_ns[SPEPROF_RING_THROTTLED] + s->state_ns[SPEPROF_RING_HANDOVER];
}

static void add(struct speprof_ring_stats *sum, const struct speprof_ring_stats *s)
{
	sum->head += s->head;
	sum->tail += s->tail;
	sum->data_bytes += s->data_bytes;
	sum->windows += s->windows;
	sum->records += s->records;
	sum->resumes += s->resumes;
	sum->bad_tails += s->bad_tails;
	for (unsigned int i = 0; i < SPEPROF_RING_STATES; i++)
		sum->state_ns[i] += s->state_ns[i];
}

int main(int argc, char **argv)
{
	int session = argc == 2 ? session_of(atoi(argv[1])) : -1;
	struct speprof_ring_stats sum = { 0 };
	unsigned int rings = 0;

	if (session < 0) {
		fprintf(stderr, "ledger: no session of process %s\n", argc == 2 ? argv[1] : "?");
		return 1;
	}
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		struct speprof_ring_open open = { .size = sizeof(open), .cpu = cpu };
		struct speprof_ring_stats s = { .size = sizeof(s) };
		int ring = ioctl(session, SPEPROF_RING_OPEN, &open);

		if (ring < 0)
			continue;
		if (ioctl(ring, SPEPROF_RING_STATS, &s) < 0) {
			fprintf(stderr, "ledger: CPU %u: %s\n", cpu, strerror(errno));
			return 1;
		}
		add(&sum, &s);
		rings++;
		close(ring);
	}
	printf("rings %u\nhead %llu\ntail %llu\nbytes %llu\nwindows %llu\nrecords %llu\n", rings,
	       (unsigned long long)sum.head, (unsigned long long)sum.tail,
	       (unsigned long long)sum.data_bytes, (unsigned long long)sum.windows,
	       (unsigned long long)sum.records);
	printf("full %llu\nbad_tails %llu\nenabled_ns %llu\nblind_ns %llu\n",
	       (unsigned long long)sum.resumes, (unsigned long long)sum.bad_tails, enabled(&sum),
	       enabled(&sum) - (unsigned long long)sum.state_ns[SPEPROF_RING_ARMED]);
	printf("blind_full_ns %llu\nblind_fault_ns %llu\nblind_throttle_ns %llu\n"
	       "blind_handling_ns %llu\n",
	       (unsigned long long)sum.state_ns[SPEPROF_RING_FULL],
	       (unsigned long long)sum.state_ns[SPEPROF_RING_FAULTED],
	       (unsigned long long)sum.state_ns[SPEPROF_RING_THROTTLED],
	       (unsigned long long)sum.state_ns[SPEPROF_RING_HANDLING]);
	return 0;
}
