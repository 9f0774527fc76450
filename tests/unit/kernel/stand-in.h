/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of the kernel a ring uses, for the module's own files in a program of one thread: a
 * clock that is played, timers and irq_work that are noted and run by nobody, and a lock before
 * which a test may do what another CPU would.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include <linux/types.h>

#include "env.h"

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
#define smp_wmb()		 __atomic_thread_fence(__ATOMIC_RELEASE)

#define GFP_KERNEL_ACCOUNT 0
#define ERR_PTR(e)	   ((void *)(intptr_t)(e))

#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define DEFINE_PER_CPU(type, name) __typeof__(type) name
#define this_cpu_ptr(p)		   (p)

typedef s64 ktime_t;
typedef unsigned int __poll_t;

struct cpumask;
struct module;
struct page;
struct mm_struct;

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

#define HRTIMER_MODE_REL_PINNED_HARD 0

/* @after: 0: it is not started */
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 after;
};

struct irq_work {
	void (*run)(struct irq_work *work);
	unsigned int queued;
};

/* The time of day is what the test says. */
extern u64 stand_in_now;

/* Run before tail_lock is taken, as another CPU might: once, then no more. */
extern void (*stand_in_elsewhere)(void);

/* How many WARNs there were. */
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

static inline int cpu_to_node(unsigned int cpu)
{
	(void)cpu;
	return 0;
}

static inline void *kzalloc(size_t size, int flags)
{
	(void)flags;
	return calloc(1, size);
}

static inline void *kmalloc_node(size_t size, int flags, int node)
{
	(void)node;
	return kzalloc(size, flags);
}

static inline void kfree(void *memory)
{
	free(memory);
}

/* ---- Locks, timers, work ------------------------------------------------------ */

#define mutex_init(m)		    ((m)->held = false)
#define mutex_trylock(m)	    (!(m)->held && ((m)->held = true))
#define mutex_lock_interruptible(m) ((m)->held = true, 0)
#define mutex_unlock(m)		    ((m)->held = false)
#define raw_spin_lock_init(l)	    ((l)->held = false)
#define init_waitqueue_head(w)	    ((w)->woken_for = 0)

#define wake_up_interruptible_poll(w, events)  ((w)->woken_for = (events))
#define wait_event_interruptible(w, condition) ((condition) ? 0 : -EINTR)

#define raw_spin_lock_irqsave(l, flags)                       \
	do {                                                  \
		void (*elsewhere)(void) = stand_in_elsewhere; \
		stand_in_elsewhere = NULL;                    \
		if (elsewhere)                                \
			elsewhere();                          \
		(flags) = 0;                                  \
		(l)->held = true;                             \
	} while (0)
#define raw_spin_unlock_irqrestore(l, flags) ((void)(flags), (l)->held = false)

#define hrtimer_init(t, clock, mode)  ((t)->after = 0)
#define hrtimer_start(t, ktime, mode) ((t)->after = (u64)(ktime))
#define hrtimer_forward_now(t, ktime) ((t)->after = (u64)(ktime))
#define hrtimer_active(t)	      (!!(t)->after)
#define hrtimer_try_to_cancel(t)      ((t)->after = 0)
#define hrtimer_cancel(t)	      hrtimer_try_to_cancel(t)

#define init_irq_work(w, fn) (*(w) = (struct irq_work){ .run = (fn) })
#define irq_work_queue(w)    ((w)->queued++)
#define irq_work_sync(w)     ((void)(w))

/* ---- One CPU ------------------------------------------------------------------ */

typedef struct {
	unsigned int calls;
} call_single_data_t;
typedef void (*smp_call_func_t)(void *arg);

#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define per_cpu(name, cpu)	    (*((void)(cpu), &(name)))
#define per_cpu_ptr(p, cpu)	    ((void)(cpu), (p))

#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define for_each_online_cpu(cpu)   for_each_possible_cpu(cpu)

#define INIT_CSD(csd, fn, arg)			 ((void)(fn), (csd)->calls = 0)
#define smp_call_function_single_async(cpu, csd) ((void)(cpu), (csd)->calls++)
#define on_each_cpu(fn, arg, wait)		 (fn)(arg)
#define synchronize_rcu()

#define IRQ_WORK_INIT_HARD(fn) ((struct irq_work){ .run = (fn) })

#define swap(a, b)                        \
	do {                              \
		__typeof__(a) old_ = (a); \
		(a) = (b);                \
		(b) = old_;               \
	} while (0)

struct task_struct;
extern struct task_struct *stand_in_current;
#define current stand_in_current

#define hlist_for_each_entry(entry, head, member)    \
	for (struct hlist_node *at_ = (head)->first; \
	     at_ && ((entry) = container_of(at_, __typeof__(*(entry)), member)); at_ = at_->next)

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
