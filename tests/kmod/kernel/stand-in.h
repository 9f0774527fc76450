/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel that the module uses, so that its own files can run in a program with one
 * thread. The test sets the clock, CPUs are indices, timers and irq_work are recorded and never
 * run, and before it takes a lock a test may simulate what another CPU or task does.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include <linux/types.h>

#include "codec/env.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE  (1UL << PAGE_SHIFT)

#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC  1000000000L
#define USEC_PER_SEC  1000000L

#define U64_MAX	       UINT64_MAX
#define BIT(n)	       (1UL << (n))
#define ALIGN(x, to)   (((x) + (to)-1) & ~((__typeof__(x))(to)-1))
#define min(a, b)      ((a) < (b) ? (a) : (b))
#define max(a, b)      ((a) > (b) ? (a) : (b))
#define min3(a, b, c)  min((__typeof__(a))min(a, b), c)
#define min_t(t, a, b) min((t)(a), (t)(b))
#define max_t(t, a, b) max((t)(a), (t)(b))

#define DIV_ROUND_UP_ULL(n, d) (((n) + (d)-1) / (d))
#define container_of(p, t, m)  ((t *)((char *)(p)-offsetof(t, m)))

#define WARN_ON(condition)	stand_in_warn(!!(condition), #condition)
#define WARN_ON_ONCE(condition) WARN_ON(condition)

#define READ_ONCE(x)		 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, to)	 (*(volatile __typeof__(x) *)&(x) = (to))
#define smp_load_acquire(p)	 __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, to) __atomic_store_n(p, to, __ATOMIC_RELEASE)
#define smp_mb()		 __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb()		 __atomic_thread_fence(__ATOMIC_RELEASE)
#define mb()			 __atomic_thread_fence(__ATOMIC_SEQ_CST)

#define GFP_KERNEL	   0
#define GFP_KERNEL_ACCOUNT 0
#define ERR_PTR(e)	   ((void *)(intptr_t)(e))
#define PTR_ERR(p)	   ((long)(intptr_t)(p))
#define IS_ERR(p)	   ((uintptr_t)(p) >= (uintptr_t)-4095)
#define PTR_ERR_OR_ZERO(p) (IS_ERR(p) ? PTR_ERR(p) : 0)

#define struct_size(p, member, count) (sizeof(*(p)) + (count) * sizeof((p)->member[0]))

#define __init
#define __exit
#define IS_ENABLED(option) 1

/* functions that insmod and rmmod call */
int stand_in_module_init(void);
void stand_in_module_exit(void);
#define module_init(fn)                \
	int stand_in_module_init(void) \
	{                              \
		return fn();           \
	}
#define module_exit(fn)                 \
	void stand_in_module_exit(void) \
	{                               \
		fn();                   \
	}
#define MODULE_DESCRIPTION(text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_VERSION(text)
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)

typedef s64 ktime_t;
typedef unsigned int __poll_t;

struct module;
struct page;
struct mm_struct;

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

struct hlist_node {
	struct hlist_node *next;
	struct hlist_node **link;
};

struct hlist_head {
	struct hlist_node *first;
};

struct mutex {
	bool held;
};

typedef struct {
	bool held;
} raw_spinlock_t;

typedef struct {
	__poll_t woken_for;
} wait_queue_head_t;

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };

enum hrtimer_mode { HRTIMER_MODE_REL_PINNED_HARD };

/* @after: time after which it expires; 0 if it is not started */
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 after;
};

struct irq_work {
	void (*run)(struct irq_work *work);
	unsigned int queued;
};

/* the present time, which the test sets */
extern u64 stand_in_now;

/* Called once before tail_lock is taken, to simulate another CPU. */
extern void (*stand_in_elsewhere)(void);

/* Called once after cpus_read_unlock(), to bring a CPU online or offline. */
extern void (*stand_in_unlocked)(void);

static inline void stand_in_run_once(void (**hook)(void))
{
	void (*run)(void) = *hook;

	*hook = NULL;
	if (run)
		run();
}

/* Called whenever the memory of a ring is allocated, unless NULL. */
extern void (*stand_in_allocating)(void);

/* The number of WARNs. */
extern unsigned int stand_in_warnings;

static inline bool stand_in_warn(bool warn, const char *what)
{
	(void)what;
	stand_in_warnings += warn;
	return warn;
}

static inline u64 ktime_get_ns(void)
{
	return stand_in_now;
}

static inline ktime_t ns_to_ktime(u64 ns)
{
	return (ktime_t)ns;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline unsigned int fls64(u64 value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/*
 * mask of the nodes for which memory was allocated, and the number of allocations for no particular
 * node
 */
extern u64 stand_in_nodes;
extern unsigned int stand_in_anywhere;

/* Each CPU is on a separate NUMA node. */
static inline int cpu_to_node(unsigned int cpu)
{
	return (int)cpu;
}

static inline void *kzalloc(size_t size, int flags)
{
	(void)flags;
	stand_in_anywhere++;
	return calloc(1, size);
}

static inline void *kzalloc_node(size_t size, int flags, int node)
{
	(void)flags;
	stand_in_nodes |= 1ULL << node;
	return calloc(1, size);
}

#define kmalloc_node kzalloc_node

static inline void *kcalloc(size_t count, size_t size, int flags)
{
	return kzalloc(count * size, flags);
}

static inline void kfree(void *memory)
{
	free(memory);
}

/* ---- Locks, timers, work ------------------------------------------------------ */

#define DEFINE_MUTEX(name)	    struct mutex name
#define mutex_lock(m)		    (WARN_ON((m)->held), (m)->held = true)
#define lockdep_assert_held(m)	    ((void)WARN_ON(!(m)->held))
#define lockdep_assert_irqs_disabled() ((void)0)
#define mutex_init(m)		    ((m)->held = false)
#define mutex_trylock(m)	    (!(m)->held && ((m)->held = true))
#define mutex_lock_interruptible(m) ((m)->held = true, 0)
#define mutex_unlock(m)		    ((m)->held = false)
#define raw_spin_lock_init(l)	    ((l)->held = false)
#define init_waitqueue_head(w)	    ((w)->woken_for = 0)

#define wake_up_interruptible_poll(w, events)  ((w)->woken_for = (events))
#define wait_event_interruptible(w, condition) ((condition) ? 0 : -EINTR)

#define raw_spin_lock_irqsave(l, flags)                       \
	do {                                             \
		stand_in_run_once(&stand_in_elsewhere);  \
		(flags) = 0;                             \
		(l)->held = true;                        \
	} while (0)
#define raw_spin_unlock_irqrestore(l, flags) ((void)(flags), (l)->held = false)

#define hrtimer_setup(t, fn, clock, mode) ((t)->function = (fn), (t)->after = 0)
#define hrtimer_start(t, ktime, mode) ((t)->after = (u64)(ktime))
#define hrtimer_forward_now(t, ktime) ((t)->after = (u64)(ktime))
#define hrtimer_active(t)	      (!!(t)->after)
#define hrtimer_try_to_cancel(t)      ((t)->after = 0)
#define hrtimer_cancel(t)	      hrtimer_try_to_cancel(t)

#define init_irq_work(w, fn) (*(w) = (struct irq_work){ .run = (fn) })
#define irq_work_queue(w)    ((w)->queued++)
#define irq_work_sync(w)     ((void)(w))

/* ---- CPUs --------------------------------------------------------------------- */

#define STAND_IN_CPUS_MAX 8

/* number of CPUs, initially 1; mask of the online CPUs; and the CPU that runs the code */
extern unsigned int stand_in_cpus;
extern u64 stand_in_online;
extern unsigned int stand_in_cpu;

/* number of interrupts that each CPU got from smp_call_function_single() */
extern u64 stand_in_calls[STAND_IN_CPUS_MAX];

typedef void (*smp_call_func_t)(void *arg);

/* @calls: number of calls; the test itself calls @run. */
typedef struct {
	unsigned int calls;
	smp_call_func_t run;
} call_single_data_t;

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name[STAND_IN_CPUS_MAX]
#define DECLARE_PER_CPU(type, name) extern DEFINE_PER_CPU(type, name)
#define per_cpu(name, cpu)	    ((name)[cpu])
#define per_cpu_ptr(p, cpu)	    (&(*(p))[cpu])
#define this_cpu_ptr(p)		    per_cpu_ptr(p, stand_in_cpu)

#define nr_cpu_ids		   stand_in_cpus
#define cpu_online(cpu)		   (!!(stand_in_online & 1ULL << (cpu)))
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_online_cpu(cpu) \
	for_each_possible_cpu(cpu) if (cpu_online(cpu))
#define cpus_read_lock()
#define cpus_read_unlock() stand_in_run_once(&stand_in_unlocked)
#define array_index_nospec(index, size) (index)

struct cpumask {
	u64 bits;
};

#define cpumask_empty(mask)	    (!(mask)->bits)
#define cpumask_weight(mask)	    ((unsigned int)__builtin_popcountll((mask)->bits))
#define cpumask_test_cpu(cpu, mask) (!!((mask)->bits & 1ULL << (cpu)))
#define cpumask_set_cpu(cpu, mask)  ((mask)->bits |= 1ULL << (cpu))

#define INIT_CSD(csd, fn, arg)			 ((csd)->run = (fn), (csd)->calls = 0)
#define smp_call_function_single_async(cpu, csd) ((void)(cpu), (csd)->calls++)
#define on_each_cpu(fn, arg, wait)		 (fn)(arg)
#define synchronize_rcu()

static inline int smp_call_function_single(unsigned int cpu, smp_call_func_t fn, void *arg, int wait)
{
	unsigned int here = stand_in_cpu;

	(void)wait;
	if (!cpu_online(cpu))
		return -ENXIO;
	stand_in_calls[cpu]++;
	stand_in_cpu = cpu;
	fn(arg);
	stand_in_cpu = here;
	return 0;
}

#define IRQ_WORK_INIT_HARD(fn) ((struct irq_work){ .run = (fn) })

#define swap(a, b)                        \
	do {                              \
		__typeof__(a) old_ = (a); \
		(a) = (b);                \
		(b) = old_;               \
	} while (0)

/*
 * struct task_struct - @group: number of the task's cgroup; @next_thread: the next thread of its
 * process, starting at the leader
 */
struct task_struct {
	unsigned int group;
	unsigned int cpu;
	int on_rq;
	struct task_struct *next_thread;
};

extern struct task_struct *stand_in_current;
#define current stand_in_current

#define task_cpu(task)		       ((task)->cpu)
#define for_each_thread(leader, thread) \
	for ((thread) = (leader); (thread); (thread) = (thread)->next_thread)
#define rcu_read_lock()
#define rcu_read_unlock()

#define hlist_for_each_entry(entry, head, member)    \
	for (struct hlist_node *at_ = (head)->first; \
	     at_ && ((entry) = container_of(at_, __typeof__(*(entry)), member)); at_ = at_->next)

#define hlist_empty(head) (!(head)->first)

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->link = &head->first;
	if (node->next)
		node->next->link = &node->next;
	head->first = node;
}

static inline void hlist_del_init(struct hlist_node *node)
{
	*node->link = node->next;
	if (node->next)
		node->next->link = node->link;
	*node = (struct hlist_node){ 0 };
}

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }
#define list_for_each_entry(entry, head, member)                              \
	for ((entry) = container_of((head)->next, __typeof__(*(entry)), member); \
	     &(entry)->member != (head);                                       \
	     (entry) = container_of((entry)->member.next, __typeof__(*(entry)), member))

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	*entry = (struct list_head){ .next = head->next, .prev = head };
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

/* ---- Counters ------------------------------------------------------------------- */

typedef struct {
	s64 value;
} atomic64_t;
typedef atomic64_t atomic_long_t;

#define atomic64_read(a)	      ((a)->value)
#define atomic_long_sub(n, a)	      ((a)->value -= (n))
#define atomic_long_add_return(n, a) ((a)->value += (n))

static inline bool atomic64_try_cmpxchg(atomic64_t *atomic, s64 *old, s64 next)
{
	return __atomic_compare_exchange_n(&atomic->value, old, next, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

struct kref {
	unsigned int count;
};

#define kref_init(k)	     ((k)->count = 1)
#define kref_get(k)	     ((k)->count++)
#define kref_put(k, release) (--(k)->count ? 0 : ((release)(k), 1))

/* ---- The caller ------------------------------------------------------------------ */

#define CAP_IPC_LOCK 14

struct user_struct {
	atomic_long_t locked_vm;
};

/**
 * struct stand_in_caller - the task that calls the module
 * @user: the user to which locked memory is charged
 * @memlock: RLIMIT_MEMLOCK in bytes
 * @ipc_lock: whether it has CAP_IPC_LOCK
 * @perfmon: whether it has CAP_PERFMON
 * @killed: whether a fatal signal is pending
 */
struct stand_in_caller {
	struct user_struct user;
	u64 memlock;
	bool ipc_lock;
	bool perfmon;
	bool killed;
};

extern struct stand_in_caller stand_in_caller;

#define current_user()		   (&stand_in_caller.user)
#define get_uid(user)		   (user)
#define free_uid(user)		   ((void)(user))
#define rlimit(which)		   (stand_in_caller.memlock)
#define capable(capability)	   (stand_in_caller.ipc_lock)
#define perfmon_capable()	   (stand_in_caller.perfmon)
#define fatal_signal_pending(task) (stand_in_caller.killed)

/* ---- Files -------------------------------------------------------------------- */

#define IOCB_NOWAIT 1
#define ERESTARTSYS 512

struct file {
	unsigned int f_flags;
};

struct kiocb {
	struct file *ki_filp;
	unsigned int ki_flags;
};

typedef struct {
	bool waits;
} poll_table;

struct iov_iter {
	u8 *to;
	size_t count;
};

struct vm_area_struct {
	unsigned long vm_pgoff;
};

#define poll_wait(file, queue, table) ((void)(table))
#define iov_iter_count(iter)	      ((iter)->count)

static inline size_t copy_to_iter(const void *from, size_t size, struct iov_iter *iter)
{
	memcpy(iter->to, from, size);
	iter->to += size;
	iter->count -= size;
	return size;
}

#endif
