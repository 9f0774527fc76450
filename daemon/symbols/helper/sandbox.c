// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sandbox.h"
#include "symbols/symbol-message.h"

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

#define MEMORY_MAX  (384ULL << 20) /* private memory, bytes: tables, and the memory of libdw */
#define ADDRESS_MAX (16ULL << 30) /* address space, bytes, including mapped files */
#define CPU_MAX_S   900
#define FILES_MAX   64

/* If memory is short, the kernel must kill the helper and not the program that started it. */
static void raise_own_oom_score(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "we");

	if (!f)
		return;
	fputs("1000", f);
	fclose(f);
}

void sandbox_lower_priority(void)
{
	/*
	 * A nice value of 10 gives about a tenth of the CPU share of other processes. With a
	 * smaller share, the resolution of names would take minutes on a busy CPU.
	 */
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

		/* The shadow memory of AddressSanitizer exceeds the limits. */
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

static int descriptors_close_above(int last)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -errno;
	for (int fd = 0; fd <= 2; fd++)
		if (!(SANITIZED && fd == 2) && dup2(null, fd) < 0)
			return -errno;
	return close_range((u32)last + 1, UINT32_MAX, 0) < 0 ? -errno : 0;
}

/*
 * Drop all capabilities except those in the bit mask @retained; the process may lack some of these.
 */
static int capabilities_drop(u64 retained)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/*
	 * Ignore a failure, which a process without CAP_SETPCAP gets: with PR_SET_NO_NEW_PRIVS the
	 * process cannot gain a capability anyway.
	 */
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
			.effective = data[i].permitted & (u32)(retained >> 32 * i),
			.permitted = data[i].permitted & (u32)(retained >> 32 * i),
		};
	if (syscall(SYS_capset, &header, data) < 0)
		return -errno;
	/*
	 * Forbid other processes of the user to attach to this one, and to read its files in /proc.
	 */
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

/* Deny all paths by Landlock, in addition to the system call filter. Old kernels lack it. */
static void paths_deny(void)
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

/* System calls for memory, for reading files, and for receiving requests and sending replies. */
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

/* Further system calls of the runtime of AddressSanitizer. */
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
 * Allow a call that maps memory, but kill the process if the memory would be executable. The
 * process has one thread, so KILL_THREAD suffices. SCMP_ACT_KILL_PROCESS needs seccomp(), which the
 * filter of the systemd unit may deny.
 */
static int allow_non_executable_mapping(scmp_filter_ctx filter, int call)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
				 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

	return r ? r :
		   seccomp_rule_add(filter, SCMP_ACT_KILL_THREAD, call, 1,
				    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
}

static int add_allowed_calls(scmp_filter_ctx filter)
{
	int r = calls_allow(filter, allowed, ARRAY_SIZE(allowed));

	if (SANITIZED)
		return r ? r :
			   calls_allow(filter, allowed_sanitizers, ARRAY_SIZE(allowed_sanitizers));
	if (!r)
		r = allow_non_executable_mapping(filter, SCMP_SYS(mmap));
	return r ? r : allow_non_executable_mapping(filter, SCMP_SYS(mprotect));
}

/*
 * Install the filter. All other calls fail with EPERM and do not kill the process, because
 * libraries try some calls that they do not need.
 */
static int install_call_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r;

	if (!filter)
		return -ENOMEM;
	r = add_allowed_calls(filter);
	/*
	 * fstat() of the C library is newfstatat() with an empty path and no other flag. The kernel
	 * ignores the upper half of the argument.
	 */
	if (!r)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				     SCMP_A3(SCMP_CMP_MASKED_EQ, UINT32_MAX, AT_EMPTY_PATH));
	if (!r)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

int sandbox_enter_reader(int last)
{
	int r;

	raise_own_oom_score();
	r = descriptors_close_above(last);
	if (!r)
		r = capabilities_drop(0);
	if (r)
		return r;
	paths_deny();
	r = limits_set();
	return r ? r : install_call_filter();
}

int sandbox_enter_opener(int last)
{
	const u64 files = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH |
			  1ULL << CAP_CHECKPOINT_RESTORE;
	int r;

	raise_own_oom_score();
	r = descriptors_close_above(last);
	if (!r)
		r = capabilities_drop(files);
	return r ? r : limits_set();
}
