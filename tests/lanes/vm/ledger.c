// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print the module's own counters of the sessions that another process has open, to compare them
 * with the counters of that process.
 *
 * usage: ledger PID [each]. It prints KEY VALUE lines, with sums over all CPUs. With "each" it
 * prints a line for each session: bytes, records, enabled and blind ns.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/speprof.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPUS	 64
#define SESSIONS 16 /* maximum number of sessions, one for each of Workers= */

/* List the descriptors of sessions that @pid has open. Return: their number. */
static unsigned int list_descriptors(int pid, int fds[static SESSIONS])
{
	char path[64], link[64];
	struct dirent *entry;
	unsigned int count = 0;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && count < SESSIONS && (entry = readdir(d))) {
		n = readlinkat(dirfd(d), entry->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (!strcmp(link, "anon_inode:[speprof-session]"))
			fds[count++] = atoi(entry->d_name);
	}
	if (d)
		closedir(d);
	return count;
}

/* Duplicate the session descriptors of @pid. Return: their number. */
static unsigned int duplicate_sessions(int pid, int sessions[static SESSIONS])
{
	int fds[SESSIONS], process = (int)syscall(SYS_pidfd_open, pid, 0);
	unsigned int count = process < 0 ? 0 : list_descriptors(pid, fds), copies = 0;

	for (unsigned int i = 0; i < count; i++) {
		sessions[copies] = (int)syscall(SYS_pidfd_getfd, process, fds[i], 0);
		if (sessions[copies] >= 0)
			copies++;
	}
	if (process >= 0)
		close(process);
	return copies;
}

static unsigned long long enabled_ns(const struct speprof_ring_stats *s)
{
	return s->state_ns[SPEPROF_RING_ARMED] + s->state_ns[SPEPROF_RING_HANDLING] +
	       s->state_ns[SPEPROF_RING_FULL] + s->state_ns[SPEPROF_RING_FAULTED] +
	       s->state_ns[SPEPROF_RING_THROTTLED] + s->state_ns[SPEPROF_RING_HANDOVER];
}

static void add_stats(struct speprof_ring_stats *sum, const struct speprof_ring_stats *s)
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

/* Open the rings of @session, and add them to the @n present ones. Return: the new number. */
static unsigned int open_rings(int session, int rings[static CPUS], unsigned int n)
{
	for (unsigned int cpu = 0; cpu < CPUS && n < CPUS; cpu++) {
		struct speprof_ring_open open = { .size = sizeof(open), .cpu = cpu };
		int ring = ioctl(session, SPEPROF_RING_OPEN, &open);

		if (ring >= 0)
			rings[n++] = ring;
	}
	return n;
}

static void print_stats(const struct speprof_ring_stats *sum)
{
	printf("head %llu\ntail %llu\nbytes %llu\nwindows %llu\nrecords %llu\n",
	       (unsigned long long)sum->head, (unsigned long long)sum->tail,
	       (unsigned long long)sum->data_bytes, (unsigned long long)sum->windows,
	       (unsigned long long)sum->records);
	printf("full %llu\nbad_tails %llu\nenabled_ns %llu\nblind_ns %llu\n",
	       (unsigned long long)sum->resumes, (unsigned long long)sum->bad_tails,
	       enabled_ns(sum),
	       enabled_ns(sum) - (unsigned long long)sum->state_ns[SPEPROF_RING_ARMED]);
	printf("blind_full_ns %llu\nblind_fault_ns %llu\nblind_throttle_ns %llu\n"
	       "blind_handling_ns %llu\n",
	       (unsigned long long)sum->state_ns[SPEPROF_RING_FULL],
	       (unsigned long long)sum->state_ns[SPEPROF_RING_FAULTED],
	       (unsigned long long)sum->state_ns[SPEPROF_RING_THROTTLED],
	       (unsigned long long)sum->state_ns[SPEPROF_RING_HANDLING]);
}

/* Add up the counters of @n rings. Return: false if one of them cannot be read. */
static bool read_rings(const int *rings, unsigned int n, struct speprof_ring_stats *ret_sum)
{
	*ret_sum = (struct speprof_ring_stats){ 0 };
	for (unsigned int i = 0; i < n; i++) {
		struct speprof_ring_stats s = { .size = sizeof(s) };

		if (ioctl(rings[i], SPEPROF_RING_STATS, &s) < 0) {
			fprintf(stderr, "ledger: ring %u: %s\n", i, strerror(errno));
			return false;
		}
		add_stats(ret_sum, &s);
	}
	return true;
}

static int print_each(const int *sessions, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct speprof_ring_stats sum;
		int rings[CPUS];
		unsigned int n = open_rings(sessions[i], rings, 0);

		if (!read_rings(rings, n, &sum))
			return 1;
		printf("%llu %llu %llu %llu\n", (unsigned long long)sum.data_bytes,
		       (unsigned long long)sum.records, enabled_ns(&sum),
		       enabled_ns(&sum) - (unsigned long long)sum.state_ns[SPEPROF_RING_ARMED]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool each = argc == 3 && !strcmp(argv[2], "each");
	int pid = argc == 2 || each ? atoi(argv[1]) : -1;
	int sessions[SESSIONS], rings[CPUS];
	unsigned int count = pid > 0 ? duplicate_sessions(pid, sessions) : 0, n = 0;
	struct speprof_ring_stats sum;

	if (!count) {
		fprintf(stderr, "ledger: no session of process %s\n", argc > 1 ? argv[1] : "?");
		return 1;
	}
	if (each)
		return print_each(sessions, count);
	for (unsigned int i = 0; i < count; i++)
		n = open_rings(sessions[i], rings, n);
	printf("sessions %u\nrings %u\n", count, n);
	if (!read_rings(rings, n, &sum))
		return 1;
	print_stats(&sum);
	return 0;
}
