/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "demo-truth.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static u64 nanoseconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

int truth_process(pid_t pid, u64 *ret_ns)
{
	clockid_t clock;
	int r = clock_getcpuclockid(pid, &clock);

	if (r)
		return -r;
	*ret_ns = nanoseconds(clock);
	return 0;
}

int truth_machine(struct truth_machine *ret_machine)
{
	/* user nice system idle iowait irq softirq steal, in ticks of USER_HZ */
	unsigned long long t[8];
	u64 now = nanoseconds(CLOCK_MONOTONIC), cpus = 0;
	u64 tick = 1000000000 / (u64)sysconf(_SC_CLK_TCK);
	FILE *stat = fopen("/proc/stat", "re");
	char line[512];
	int fields = 0;

	if (!stat)
		return -errno;
	if (fgets(line, sizeof(line), stat))
		fields = sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1],
				&t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
	while (fields == 8 && fgets(line, sizeof(line), stat) && !strncmp(line, "cpu", 3))
		cpus++;
	fclose(stat);
	if (fields != 8 || !cpus)
		return -EBADMSG;
	*ret_machine = (struct truth_machine){
		.awake_ns = now * cpus - (t[3] + t[4]) * tick,
		.stolen_ns = t[7] * tick,
		.worked_ns = (t[0] + t[1] + t[2] + t[5] + t[6]) * tick,
	};
	return 0;
}

u64 truth_busy(const struct truth_machine *from, const struct truth_machine *to)
{
	u64 most = to->awake_ns - from->awake_ns, stolen = to->stolen_ns - from->stolen_ns;
	u64 least = stolen < most ? most - stolen : 0, worked = to->worked_ns - from->worked_ns;

	return worked < least ? least : worked > most ? most : worked;
}
