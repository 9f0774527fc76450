/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints in /sys/kernel/tracing/events/speprof, which are not part of the ABI. Each tracepoint
 * is hit on the CPU that it reports, unless that CPU is offline.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM speprof

#if !defined(SPEPROF_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPEPROF_TRACE_H

#include <linux/tracepoint.h>

#include <linux/speprof.h>

#define show_ring_state(state)                             \
	__print_symbolic(state,                            \
			 { SPEPROF_RING_IDLE, "idle" },      \
			 { SPEPROF_RING_OFFLINE, "offline" }, \
			 { SPEPROF_RING_ARMED, "armed" },     \
			 { SPEPROF_RING_HANDLING, "handling" }, \
			 { SPEPROF_RING_FULL, "full" },       \
			 { SPEPROF_RING_FAULTED, "faulted" }, \
			 { SPEPROF_RING_THROTTLED, "throttled" }, \
			 { SPEPROF_RING_HANDOVER, "handover" }, \
			 { SPEPROF_RING_PARKED, "parked" })

#define show_syndrome(class)                                      \
	__print_symbolic(class,                                   \
			 { SPEPROF_SYNDROME_NONE, "none" },         \
			 { SPEPROF_SYNDROME_FULL, "full" },         \
			 { SPEPROF_SYNDROME_NOT_ALLOWED, "not-allowed" }, \
			 { SPEPROF_SYNDROME_FAULT, "fault" },       \
			 { SPEPROF_SYNDROME_EXTERNAL_SYNC, "external-sync" }, \
			 { SPEPROF_SYNDROME_EXTERNAL_ASYNC, "external-async" }, \
			 { SPEPROF_SYNDROME_GPC, "gpc" },           \
			 { SPEPROF_SYNDROME_IMPDEF, "impdef" },     \
			 { SPEPROF_SYNDROME_UNKNOWN, "unknown" })

#define show_action(action)                                     \
	__print_symbolic(action,                                \
			 { SPEPROF_ACTION_CONTINUE, "continue" }, \
			 { SPEPROF_ACTION_DROP_TAIL, "drop-tail" }, \
			 { SPEPROF_ACTION_DROP_WINDOW, "drop-window" }, \
			 { SPEPROF_ACTION_STOP_CPU, "stop-cpu" }, \
			 { SPEPROF_ACTION_STOP_SESSION, "stop-session" })

#define show_throttle(cause)                                           \
	__print_symbolic(cause,                                        \
			 { SPEPROF_THROTTLE_INTERRUPTS, "interrupts" }, \
			 { SPEPROF_THROTTLE_BYTES, "bytes" })

/* A window was armed: the SPU may write these bytes of the ring. */
TRACE_EVENT(speprof_arm,
	TP_PROTO(unsigned int cpu, u64 start, u64 limit, u32 generation),
	TP_ARGS(cpu, start, limit, generation),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u32, generation)
		__field(u64, start)
		__field(u64, limit)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->generation = generation;
		__entry->start = start;
		__entry->limit = limit;
	),
	TP_printk("cpu=%u generation=%u start=%llu bytes=%llu", __entry->cpu,
		  __entry->generation, __entry->start, __entry->limit - __entry->start)
);

/* A window was closed and its header written. It is published next. */
TRACE_EVENT(speprof_window,
	TP_PROTO(unsigned int cpu, u64 position, u64 bytes, u32 flags, u64 armed_ns, u64 blind_ns),
	TP_ARGS(cpu, position, bytes, flags, armed_ns, blind_ns),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u32, flags)
		__field(u64, position)
		__field(u64, bytes)
		__field(u64, armed_ns)
		__field(u64, blind_ns)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->flags = flags;
		__entry->position = position;
		__entry->bytes = bytes;
		__entry->armed_ns = armed_ns;
		__entry->blind_ns = blind_ns;
	),
	TP_printk("cpu=%u position=%llu bytes=%llu flags=%#x armed_ns=%llu blind_ns=%llu",
		  __entry->cpu, __entry->position, __entry->bytes, __entry->flags,
		  __entry->armed_ns, __entry->blind_ns)
);

/* A buffer management event other than buffer full alone, and the action that follows. */
TRACE_EVENT(speprof_syndrome,
	TP_PROTO(unsigned int cpu, u64 pmbsr, u64 offset, u32 syndrome, u32 action),
	TP_ARGS(cpu, pmbsr, offset, syndrome, action),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u32, syndrome)
		__field(u32, action)
		__field(u64, pmbsr)
		__field(u64, offset)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->syndrome = syndrome;
		__entry->action = action;
		__entry->pmbsr = pmbsr;
		__entry->offset = offset;
	),
	TP_printk("cpu=%u pmbsr=%#llx offset=%lld syndrome=%s action=%s", __entry->cpu,
		  __entry->pmbsr, (s64)__entry->offset, show_syndrome(__entry->syndrome),
		  show_action(__entry->action))
);

/* A ring changed its state. The intermediate state HANDLING is not reported. */
TRACE_EVENT(speprof_state,
	TP_PROTO(unsigned int cpu, u32 from, u32 to),
	TP_ARGS(cpu, from, to),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("cpu=%u from=%s to=%s", __entry->cpu, show_ring_state(__entry->from),
		  show_ring_state(__entry->to))
);

/* A throttled ring samples again. ns: time in THROTTLED. */
TRACE_EVENT(speprof_throttle,
	TP_PROTO(unsigned int cpu, u64 ns, u32 cause),
	TP_ARGS(cpu, ns, cause),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u32, cause)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->cause = cause;
		__entry->ns = ns;
	),
	TP_printk("cpu=%u ns=%llu cause=%s", __entry->cpu, __entry->ns,
		  show_throttle(__entry->cause))
);

/*
 * A ring stopped because its reader made no progress. ns: time without progress. bytes: unread
 * bytes.
 */
TRACE_EVENT(speprof_unread,
	TP_PROTO(unsigned int cpu, u64 ns, u64 bytes),
	TP_ARGS(cpu, ns, bytes),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u64, ns)
		__field(u64, bytes)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->ns = ns;
		__entry->bytes = bytes;
	),
	TP_printk("cpu=%u ns=%llu bytes=%llu", __entry->cpu, __entry->ns, __entry->bytes)
);

/*
 * A task of a session's cgroups was scheduled in. new: whether the SPU had the registers of another
 * ring, or none.
 */
TRACE_EVENT(speprof_handover,
	TP_PROTO(unsigned int cpu, bool new),
	TP_ARGS(cpu, new),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(bool, new)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->new = new;
	),
	TP_printk("cpu=%u new=%d", __entry->cpu, __entry->new)
);

/* A snapshot from start to end; bytes before oldest were overwritten. */
TRACE_EVENT(speprof_snapshot,
	TP_PROTO(unsigned int cpu, u64 oldest, u64 start, u64 end),
	TP_ARGS(cpu, oldest, start, end),
	TP_STRUCT__entry(
		__field(u32, cpu)
		__field(u64, oldest)
		__field(u64, start)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->oldest = oldest;
		__entry->start = start;
		__entry->end = end;
	),
	TP_printk("cpu=%u oldest=%llu start=%llu end=%llu", __entry->cpu, __entry->oldest,
		  __entry->start, __entry->end)
);

#endif

/* Kbuild adds this path by CFLAGS_kmod/stats.o. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
