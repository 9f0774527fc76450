// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sandbox.h"
#include "symbols/sandbox-host.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY_MAX  (384ULL << 20) /* written to: tables, and libdw's own */
#define ADDRESS_MAX (16ULL << 30) /* with files that are mapped */
#define CPU_MAX_S   900
#define FILES_MAX   64

/* Where memory is short the kernel ends the helper, and not the process that it serves. */
static void memory_yield(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "we");

	if (!f)
		return;
	fputs("1000", f);
	fclose(f);
}

void sandbox_yield(void)
{
	/* A tenth of what others have, each. Less, and names hardly come on a busy machine. */
	if (setpriority(PRIO_PROCESS, 0, 10) < 0)
		return;
}

static int limits_set(void)
{
	static const struct {
		int what;
		rlim_t limit;
	} limits[] = {
		{ RLIMIT_CORE, 0 },	      { RLIMIT_CPU, CPU_MAX_S },
		{ RLIMIT_DATA, MEMORY_MAX },  { RLIMIT_AS, ADDRESS_MAX },
		{ RLIMIT_FSIZE, 0 },	      { RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_NOFILE, FILES_MAX }, { RLIMIT_NPROC, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit limit;

		/* Shadow memory is larger than any program. */
		if (SANITIZED && (limits[i].what == RLIMIT_AS || limits[i].what == RLIMIT_DATA))
			continue;
		if (getrlimit((__rlimit_resource_t)limits[i].what, &limit) < 0)
			return -errno;
		if (limit.rlim_max > limits[i].limit)
			limit.rlim_max = limits[i].limit;
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit((__rlimit_resource_t)limits[i].what, &limit) < 0)
			return -errno;
	}
	return 0;
}

static int descriptors_close(int last)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -errno;
	for (int fd = 0; fd <= 2; fd++)
		if (!(SANITIZED && fd == 2) && dup2(null, fd) < 0)
			return -errno;
	return close_range((u32)last + 1, UINT32_MAX, 0) < 0 ? -errno : 0;
}

/* All but those in @keep, by number, of which it keeps what it has. */
static int capabilities_drop(u64 keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* Without CAP_SETPCAP the set stays: nothing can be executed to get of it. */
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (u32 i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = data[i].permitted & (u32)(keep >> 32 * i),
			.permitted = data[i].permitted & (u32)(keep >> 32 * i),
		};
	if (syscall(SYS_capset, &header, data) < 0)
		return -errno;
	/* Nobody of the same user looks into it, or into whom it could name. */
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

/* A second lock behind the filter's: no path of any file system. Kernels may be without it. */
static void files_forbid(void)
{
	const struct landlock_ruleset_attr all = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1,
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (fd < 0)
		return;
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0) {
		close(fd);
		return;
	}
	close(fd);
}

/* What reading memory, receiving descriptors and answering takes. */
static const int allowed[] = {
	SCMP_SYS(brk),		SCMP_SYS(clock_gettime),
	SCMP_SYS(close),	SCMP_SYS(exit),
	SCMP_SYS(exit_group),	SCMP_SYS(fstat),
	SCMP_SYS(futex),	SCMP_SYS(getrandom),
	SCMP_SYS(lseek),	SCMP_SYS(madvise),
	SCMP_SYS(mremap),	SCMP_SYS(munmap),
	SCMP_SYS(pread64),	SCMP_SYS(read),
	SCMP_SYS(recvmsg),	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sendmsg),
	SCMP_SYS(setitimer),	SCMP_SYS(sysinfo),
};

/* The runtime of a sanitizer needs these besides. */
static const int allowed_sanitizers[] = {
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(mmap),
	SCMP_SYS(mprotect),
	SCMP_SYS(prctl),
	SCMP_SYS(readlinkat),
	SCMP_SYS(write),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(tgkill),
};

static int calls_allow(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return r;
}

/*
 * Memory that may be executed ends the process, of which this is the only thread.
 * SCMP_ACT_KILL_PROCESS is refused where seccomp() is, as by the filter of the unit.
 */
static int memory_allow(scmp_filter_ctx filter, int call)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
				 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

	return r ? r :
		   seccomp_rule_add(filter, SCMP_ACT_KILL_THREAD, call, 1,
				    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
}

static int calls_add(scmp_filter_ctx filter)
{
	int r = calls_allow(filter, allowed, ARRAY_SIZE(allowed));

	if (SANITIZED)
		return r ? r :
			   calls_allow(filter, allowed_sanitizers, ARRAY_SIZE(allowed_sanitizers));
	if (!r)
		r = memory_allow(filter, SCMP_SYS(mmap));
	return r ? r : memory_allow(filter, SCMP_SYS(mprotect));
}

/* Not the end for other calls: libraries look for files and facts, and do without. */
static int calls_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r;

	if (!filter)
		return -ENOMEM;
	r = calls_add(filter);
	/* fstat() of the C library: of a descriptor, by an empty path. */
	if (!r)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				     SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
	if (!r)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

int sandbox_enter(int last)
{
	int r;

	memory_yield();
	r = descriptors_close(last);
	if (!r)
		r = capabilities_drop(0);
	if (r)
		return r;
	files_forbid();
	r = limits_set();
	return r ? r : calls_filter();
}

int sandbox_enter_opener(int last)
{
	const u64 files = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH |
			  1ULL << CAP_CHECKPOINT_RESTORE;
	int r;

	memory_yield();
	r = descriptors_close(last);
	if (!r)
		r = capabilities_drop(files);
	return r ? r : limits_set();
}
