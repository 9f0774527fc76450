// SPDX-License-Identifier: LGPL-2.1-or-later
#include "families.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const struct series_family series_families[FAMILY_COUNT] = {
	[FAMILY_DAEMON_UP] = {
		.name = "speprof_daemon_up",
		.unit = "",
		.help = "1 if speprofd, the profiling daemon, answered the exporter's last query; "
			"else 0.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SPE_AVAILABLE] = {
		.name = "speprof_spe_available",
		.unit = "",
		.help = "1 if the CPUs of this machine have the Arm Statistical Profiling "
			"Extension (SPE): speprofd samples it, or a driver found it. Else 0, also "
			"if speprofd emulates it.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_BUILD] = {
		.name = "speprof_daemon_info",
		.unit = "",
		.help = "Always 1. The labels are the version of speprofd, and where it gets "
			"samples from: module (speprof.ko), perf or emulated.",
		.labels = "version; source",
		.type = SERIES_GAUGE,
	},
	[FAMILY_CPUS] = {
		.name = "speprof_cpus",
		.unit = "",
		.help = "CPUs that speprofd samples now.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_CPUS_STOPPED] = {
		.name = "speprof_cpus_stopped",
		.unit = "",
		.help = "CPUs that speprofd should sample but does not, because their sampling "
			"unit (SPU) reported a fault, or another program uses it.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_INTERVAL] = {
		.name = "speprof_sampling_interval_seconds",
		.unit = "seconds",
		.help = "Mean time between two samples of a busy CPU. speprofd lengthens it if "
			"sampling costs more CPU time than Overhead= permits.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_RECORDS] = {
		.name = "speprof_records",
		.unit = "",
		.help = "Sample records that speprofd read and decoded; one for each sampled "
			"operation.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_WRITTEN] = {
		.name = "speprof_records_written",
		.unit = "",
		.help = "Sample records that the sampling units (SPUs) of the CPUs wrote to "
			"memory, by their own count. Absent if the units do not count.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_FILTERED] = {
		.name = "speprof_records_filtered",
		.unit = "",
		.help = "Decoded sample records that speprofd did not count, because they do not "
			"match the filter of its configuration.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_BYTES] = {
		.name = "speprof_record_bytes",
		.unit = "bytes",
		.help = "Bytes of sample records, by outcome. decoded, padding and suspect (not "
			"decodable) add up to all bytes that speprofd read; lost bytes are not "
			"included.",
		.labels = "ledger: decoded, padding, suspect, lost",
		.type = SERIES_COUNTER,
	},
	[FAMILY_ENABLED] = {
		.name = "speprof_enabled_seconds",
		.unit = "seconds",
		.help = "Time in which sampling was enabled, summed over all CPUs: grows by 1 in "
			"each second for each sampled CPU.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_BLIND] = {
		.name = "speprof_blind_seconds",
		.unit = "seconds",
		.help = "The part of speprof_enabled_seconds in which a CPU took no samples, "
			"summed over all CPUs, by cause.",
		.labels = "cause: unknown, full, handling, throttle, handover, fault, restart, "
			"hotplug",
		.type = SERIES_COUNTER,
	},
	[FAMILY_UNHANDLED] = {
		.name = "speprof_unhandled_seconds",
		.unit = "seconds",
		.help = "Upper bound of the time in which a sampling unit (SPU) had stopped because "
			"its buffer was full or a fault occurred, and the kernel did not handle its "
			"interrupt yet, summed over all CPUs. This time is in "
			"speprof_enabled_seconds, but not in speprof_blind_seconds. 0 without "
			"speprof.ko.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_UNATTRIBUTED] = {
		.name = "speprof_samples_unattributed",
		.unit = "",
		.help = "Samples without a known process. They are counted for the machine, "
			"but for no container.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_EVICTED] = {
		.name = "speprof_samples_evicted",
		.unit = "",
		.help = "Samples that a profile cannot show by function, because the full table "
			"of cells evicted their cell. Their container still counts them.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_EVICTIONS] = {
		.name = "speprof_evictions",
		.unit = "",
		.help = "Entries that speprofd dropped from a table because it was full, or did "
			"not add to it. Increase MemoryBudget= if it keeps growing.",
		.labels = "table: threads, processes, containers, containers_full, mappings",
		.type = SERIES_COUNTER,
	},
	[FAMILY_EVENTS_LOST] = {
		.name = "speprof_task_events_lost",
		.unit = "",
		.help = "Forks, execs, exits and moves between cgroups that the kernel did not "
			"report, because the buffer for these events was full. speprofd then "
			"lists all tasks again.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_MAPPINGS_LOST] = {
		.name = "speprof_mapping_events_lost",
		.unit = "",
		.help = "New executable memory mappings that the kernel did not report, because "
			"the buffer for these events was full. speprofd then reads them from "
			"/proc.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_LOOKUPS_UNANSWERED] = {
		.name = "speprof_lookups_unanswered",
		.unit = "",
		.help = "Reads of a process in /proc that the kernel refused or did not finish in "
			"time. Functions of such a process may have no names.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_FAULTS] = {
		.name = "speprof_faults",
		.unit = "",
		.help = "Times that a sampling unit (SPU) stopped because of an error, such as a "
			"fault on access to its buffer.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_HELD_BACK] = {
		.name = "speprof_held_back",
		.unit = "",
		.help = "Times that speprof.ko stopped a sampling unit (SPU), because it exceeded "
			"its limit of interrupts or bytes (rate), or because no program read its "
			"records for a minute (unread).",
		.labels = "cause: rate, unread",
		.type = SERIES_COUNTER,
	},
	[FAMILY_DAEMON_CPU] = {
		.name = "speprof_daemon_cpu_seconds",
		.unit = "seconds",
		.help = "CPU time that speprofd used since it started, in user and kernel mode.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_DAEMON_MEMORY] = {
		.name = "speprof_daemon_memory_bytes",
		.unit = "bytes",
		.help = "Resident memory of speprofd.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_OPERATIONS] = {
		.name = "speprof_operations",
		.unit = "",
		.help = "Estimated number of operations that the CPUs executed: each sample adds "
			"the sampling interval, in operations, at which it was taken.",
		.labels = "operation: unknown, micro_operations, instructions",
		.type = SERIES_COUNTER,
	},
	[FAMILY_ACCESSES] = {
		.name = "speprof_accesses",
		.unit = "",
		.help = "Estimated number of loads and stores that the CPUs executed, by the "
			"cache or memory that served them.",
		.labels = "source: the levels of [JSON](json.md)",
		.type = SERIES_COUNTER,
	},
	[FAMILY_REMOTE] = {
		.name = "speprof_accesses_remote",
		.unit = "",
		.help = "Estimated number of loads and stores that accessed memory or caches of "
			"another chip (socket).",
		.type = SERIES_COUNTER,
	},
	[FAMILY_FALSE_SHARING] = {
		.name = "speprof_accesses_false_sharing",
		.unit = "",
		.help = "Estimated number of loads and stores that missed the first level cache "
			"and used a cache line with false sharing: threads on several CPUs use "
			"and write different offsets of it.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_BRANCHES] = {
		.name = "speprof_branches",
		.unit = "",
		.help = "Estimated number of branches that the CPUs executed.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_MISPREDICTED] = {
		.name = "speprof_branches_mispredicted",
		.unit = "",
		.help = "Estimated number of branches that the CPUs executed and had predicted "
			"wrongly.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_LATENCY] = {
		.name = "speprof_latency_cycles",
		.unit = "cycles",
		.help = "Latency in CPU cycles of the estimated operations: total, until the "
			"operation was issued, and of address translation.",
		.labels = "kind: total, issue, translation",
		.type = SERIES_HISTOGRAM,
	},
	[FAMILY_CONTAINER_SAMPLES] = {
		.name = "speprof_container_samples",
		.unit = "",
		.help = "Samples taken while a process of the container ran.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_OPERATIONS] = {
		.name = "speprof_container_operations",
		.unit = "",
		.help = "Estimated number of operations that processes of the container executed: "
			"each of its samples adds the sampling interval, in operations, at which "
			"it was taken.",
		.labels = "operation: unknown, micro_operations, instructions",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_ACCESSES] = {
		.name = "speprof_container_accesses",
		.unit = "",
		.help = "Estimated number of loads and stores that processes of the container "
			"executed, by the cache or memory that served them.",
		.labels = "source: the levels of [JSON](json.md)",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_REMOTE] = {
		.name = "speprof_container_accesses_remote",
		.unit = "",
		.help = "Estimated number of loads and stores of the container that accessed "
			"memory or caches of another chip (socket).",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_BRANCHES] = {
		.name = "speprof_container_branches",
		.unit = "",
		.help = "Estimated number of branches that processes of the container executed.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_MISPREDICTED] = {
		.name = "speprof_container_branches_mispredicted",
		.unit = "",
		.help = "Estimated number of branches that processes of the container executed "
			"and the CPU had predicted wrongly.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_LATENCY] = {
		.name = "speprof_container_latency_cycles",
		.unit = "cycles",
		.help = "Latency in CPU cycles of the container's estimated operations: total, "
			"until the operation was issued, and of address translation.",
		.labels = "kind: total, issue, translation",
		.type = SERIES_HISTOGRAM,
	},
	[FAMILY_SELF_CPU] = {
		.name = "speprof_exporter_cpu_seconds",
		.unit = "seconds",
		.help = "CPU time that the exporter used since it started, in user and kernel "
			"mode.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_SELF_MEMORY] = {
		.name = "speprof_exporter_memory_bytes",
		.unit = "bytes",
		.help = "Resident memory of the exporter.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SELF_SERIES] = {
		.name = "speprof_exporter_container_series",
		.unit = "",
		.help = "Time series of containers: series that the exporter exports, and series "
			"that it drops because MaxSeries= is reached.",
		.labels = "state: exported, dropped",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SELF_CONTAINERS] = {
		.name = "speprof_exporter_containers",
		.unit = "",
		.help = "Containers with separate time series (exported), and containers that are "
			"summed up in the container \"other\" because MaxSeries= is reached.",
		.labels = "state: exported, other",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SELF_SCRAPES] = {
		.name = "speprof_exporter_requests",
		.unit = "",
		.help = "HTTP requests to the exporter, which it answered with metrics, or "
			"refused, such as for a wrong token.",
		.labels = "state: answered, refused",
		.type = SERIES_COUNTER,
	},
	[FAMILY_SELF_QUERY_ERRORS] = {
		.name = "speprof_exporter_feed_errors",
		.unit = "",
		.help = "Queries of the exporter that speprofd did not answer, or answered with "
			"data that the exporter could not read.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_SENT] = {
		.name = "speprof_exporter_push_sent",
		.unit = "",
		.help = "Requests with metrics or profiles that the exporter sent to a receiver "
			"and the receiver accepted.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_RETRIED] = {
		.name = "speprof_exporter_push_retried",
		.unit = "",
		.help = "Attempts to send a request to a receiver that failed and that the "
			"exporter repeats.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_DROPPED] = {
		.name = "speprof_exporter_push_dropped",
		.unit = "",
		.help = "Requests that no receiver got, because the receiver refused them, or "
			"because the exporter's queue was full.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_REJECTED] = {
		.name = "speprof_exporter_push_rejected_points",
		.unit = "",
		.help = "Data points that the receiver rejected from requests that it otherwise "
			"accepted.",
		.labels = "destination: otlp",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_QUEUED] = {
		.name = "speprof_exporter_push_queued_bytes",
		.unit = "bytes",
		.help = "Bytes of requests that wait in the exporter's queue until they are sent.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_GAUGE,
	},
};

#define EVERY	 "speprof_"
#define MODELLED "speprof_emulated_"

/* Bytes of a name and of a sentence, including the words that precede them for emulated data. */
#define NAME_SIZE 96
#define HELP_SIZE 512

const struct series_family *family_get_emulated(enum family_id id)
{
	static struct series_family families[FAMILY_COUNT];
	static char names[FAMILY_COUNT][NAME_SIZE], helps[FAMILY_COUNT][HELP_SIZE];
	const struct series_family *family = &series_families[id];

	if (id <= FAMILY_SPE_AVAILABLE || id >= FAMILY_SELF_CPU)
		return family;
	if (!families[id].name) {
		snprintf(names[id], NAME_SIZE, MODELLED "%s", family->name + strlen(EVERY));
		snprintf(helps[id], HELP_SIZE, "Modelled by an emulated SPU, not measured: %s",
			 family->help);
		families[id] = *family;
		families[id].name = names[id];
		families[id].help = helps[id];
	}
	return &families[id];
}
