// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sandbox.h"
#include "sandbox-host.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY_MAX  (384ULL << 20) /* written to: tables, and libdw's own */
#define ADDRESS_MAX (16ULL << 30) /* with files that are mapped */
#define CPU_MAX_S   900
#define FILES_MAX   64

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

static int descriptors_close(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -errno;
	for (int fd = 0; fd <= 2; fd++)
		if (!(SANITIZED && fd == 2) && dup2(null, fd) < 0)
			return -errno;
	if (keep > 3 && close_range(3, (u32)keep - 1, 0) < 0)
		return -errno;
	return close_range((u32)keep + 1, UINT32_MAX, 0) < 0 ? -errno : 0;
}

static int capabilities_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* Without CAP_SETPCAP the set stays: nothing can be executed to get of it. */
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, none) < 0)
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
	SYS_brk,	  SYS_clock_gettime, SYS_close,	    SYS_exit,
	SYS_exit_group,	  SYS_fstat,	     SYS_futex,	    SYS_getrandom,
	SYS_lseek,	  SYS_madvise,	     SYS_mremap,    SYS_munmap,
	SYS_pread64,	  SYS_read,	     SYS_recvmsg,   SYS_rt_sigprocmask,
	SYS_rt_sigreturn, SYS_sendmsg,	     SYS_setitimer, SYS_sysinfo,
};

/* Their runtime's, and no project's business to keep it from. */
static const int allowed_sanitizers[] = {
	SYS_getpid,
	SYS_gettid,
	SYS_mmap,
	SYS_mprotect,
	SYS_prctl,
	SYS_readlinkat,
	SYS_write,
	SYS_rt_sigaction,
	SYS_sched_yield,
	SYS_sigaltstack,
	SYS_sched_getaffinity,
	SYS_tgkill,
};

#define FILTER_MAX 128

struct program {
	struct sock_filter code[FILTER_MAX];
	u16 len;
};

static void emit(struct program *p, struct sock_filter instruction)
{
	if (p->len < FILTER_MAX)
		p->code[p->len] = instruction;
	p->len++;
}

static void emit_return(struct program *p, u32 action)
{
	emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void emit_load(struct program *p, size_t offset)
{
	emit(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (u32)offset));
}

/* @action for the system call @nr. */
static void emit_call(struct program *p, int nr, u32 action)
{
	emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)nr, 0, 1));
	emit_return(p, action);
}

/* @nr may have no bit of @bits in its argument @arg, of which the lower half counts. */
static void emit_without(struct program *p, int nr, u32 arg, u32 bits)
{
	emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)nr, 0, 4));
	emit_load(p, offsetof(struct seccomp_data, args) + arg * sizeof(u64));
	emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
	emit_return(p, SECCOMP_RET_KILL_PROCESS);
	emit_return(p, SECCOMP_RET_ALLOW);
}

static int calls_filter(void)
{
	struct program p = { .len = 0 };
	struct sock_fprog program;

	emit_load(&p, offsetof(struct seccomp_data, arch));
	emit(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCH, 1, 0));
	emit_return(&p, SECCOMP_RET_KILL_PROCESS);
	emit_load(&p, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		emit_call(&p, allowed[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; SANITIZED && i < ARRAY_SIZE(allowed_sanitizers); i++)
		emit_call(&p, allowed_sanitizers[i], SECCOMP_RET_ALLOW);
	emit_without(&p, SYS_mmap, 2, PROT_EXEC);
	emit_without(&p, SYS_mprotect, 2, PROT_EXEC);
	/* fstat() of the C library: of a descriptor, by an empty path. */
	emit_call(&p, SYS_newfstatat, SECCOMP_RET_ALLOW);
	/* Not the end: libraries ask for files and facts, and do without. */
	emit_return(&p, SECCOMP_RET_ERRNO | EPERM);
	if (p.len > FILTER_MAX)
		return -E2BIG;
	program = (struct sock_fprog){ .len = p.len, .filter = p.code };
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return -errno;
	return 0;
}

int sandbox_enter(int keep)
{
	int r = descriptors_close(keep);

	if (!r)
		r = capabilities_drop();
	if (r)
		return r;
	files_forbid();
	r = limits_set();
	return r ? r : calls_filter();
}
