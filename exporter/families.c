// SPDX-License-Identifier: LGPL-2.1-or-later
#include "families.h"

#include <stddef.h>

const struct series_family series_families[FAMILY_COUNT] = {
	[FAMILY_DAEMON_UP] = {
		.name = "speprof_daemon_up",
		.unit = "",
		.help = "1 if speprofd answered the last query of the exporter, else 0.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SPE_AVAILABLE] = {
		.name = "speprof_spe_available",
		.unit = "",
		.help = "1 if this machine has SPE: a hardware SPU was sampled, or a driver has "
			"one. Else 0, also with an emulated SPU.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_BUILD] = {
		.name = "speprof_daemon_info",
		.unit = "",
		.help = "Always 1; the labels are the version of speprofd and the source that it "
			"samples.",
		.labels = "version; source",
		.type = SERIES_GAUGE,
	},
	[FAMILY_CPUS] = {
		.name = "speprof_cpus",
		.unit = "",
		.help = "CPUs that speprofd samples.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_CPUS_STOPPED] = {
		.name = "speprof_cpus_stopped",
		.unit = "",
		.help = "CPUs that speprofd should sample and does not: after a fault, or because "
			"another program has the SPU.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_INTERVAL] = {
		.name = "speprof_sampling_interval_seconds",
		.unit = "seconds",
		.help = "Mean time between two samples of a busy CPU, at the interval in force.",
		.type = SERIES_GAUGE,
	},
	[FAMILY_RECORDS] = {
		.name = "speprof_records",
		.unit = "",
		.help = "Records that speprofd decoded.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_WRITTEN] = {
		.name = "speprof_records_written",
		.unit = "",
		.help = "Records that the SPUs wrote, by their own count; absent for SPUs that do "
			"not count.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_FILTERED] = {
		.name = "speprof_records_filtered",
		.unit = "",
		.help = "Records that the filter of speprofd rejected.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_BYTES] = {
		.name = "speprof_record_bytes",
		.unit = "bytes",
		.help = "Bytes of records: all that the SPUs wrote, by what became of them, and "
			"bytes that were lost.",
		.labels = "ledger: decoded, padding, suspect, dropped, lost",
		.type = SERIES_COUNTER,
	},
	[FAMILY_ENABLED] = {
		.name = "speprof_enabled_seconds",
		.unit = "seconds",
		.help = "Time for which sampling was enabled, summed over CPUs.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_BLIND] = {
		.name = "speprof_blind_seconds",
		.unit = "seconds",
		.help = "The part of speprof_enabled_seconds in which no SPU was armed, by cause.",
		.labels = "cause: unknown, full, handling, throttle, handover, fault, restart, "
			"hotplug",
		.type = SERIES_COUNTER,
	},
	[FAMILY_UNATTRIBUTED] = {
		.name = "speprof_samples_unattributed",
		.unit = "",
		.help = "Samples whose process is not known.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_EVICTED] = {
		.name = "speprof_samples_evicted",
		.unit = "",
		.help = "Samples in entries that were evicted from a full table.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_EVICTIONS] = {
		.name = "speprof_evictions",
		.unit = "",
		.help = "Entries that were evicted from a full table, or did not fit into it.",
		.labels = "table: threads, processes, containers, containers_full, mappings",
		.type = SERIES_COUNTER,
	},
	[FAMILY_EVENTS_LOST] = {
		.name = "speprof_task_events_lost",
		.unit = "",
		.help = "Events of tasks that the kernel dropped because its buffer was full.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_MAPPINGS_LOST] = {
		.name = "speprof_mapping_events_lost",
		.unit = "",
		.help = "Events of executable mappings that the kernel dropped because its buffer "
			"was full.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_LOOKUPS_UNANSWERED] = {
		.name = "speprof_lookups_unanswered",
		.unit = "",
		.help = "Reads of /proc that were refused or not answered in time.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_FAULTS] = {
		.name = "speprof_faults",
		.unit = "",
		.help = "Buffer management events of SPUs other than a full buffer.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_HELD_BACK] = {
		.name = "speprof_held_back",
		.unit = "",
		.help = "Times that the module stopped an SPU: it sampled too fast, or its records "
			"were not read.",
		.labels = "cause: rate, unread",
		.type = SERIES_COUNTER,
	},
	[FAMILY_DAEMON_CPU] = {
		.name = "speprof_daemon_cpu_seconds",
		.unit = "seconds",
		.help = "CPU time of speprofd.",
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
		.help = "Operations that the samples stand for: each sample counts the interval at "
			"which it was taken.",
		.labels = "operation: unknown, micro_operations, instructions",
		.type = SERIES_COUNTER,
	},
	[FAMILY_ACCESSES] = {
		.name = "speprof_accesses",
		.unit = "",
		.help = "Loads and stores that the samples stand for, by what served them.",
		.labels = "source: the levels of [JSON](json.md)",
		.type = SERIES_COUNTER,
	},
	[FAMILY_REMOTE] = {
		.name = "speprof_accesses_remote",
		.unit = "",
		.help = "Loads and stores that the samples stand for and that accessed another "
			"chip.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_BRANCHES] = {
		.name = "speprof_branches",
		.unit = "",
		.help = "Branches that the samples stand for.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_MISPREDICTED] = {
		.name = "speprof_branches_mispredicted",
		.unit = "",
		.help = "Mispredicted branches that the samples stand for.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_LATENCY] = {
		.name = "speprof_latency_cycles",
		.unit = "cycles",
		.help = "Latency of the operations that the samples stand for, by kind.",
		.labels = "kind: total, issue, translation",
		.type = SERIES_HISTOGRAM,
	},
	[FAMILY_CONTAINER_SAMPLES] = {
		.name = "speprof_container_samples",
		.unit = "",
		.help = "Samples of a container.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_OPERATIONS] = {
		.name = "speprof_container_operations",
		.unit = "",
		.help = "Operations that the samples of a container stand for.",
		.labels = "operation: unknown, micro_operations, instructions",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_ACCESSES] = {
		.name = "speprof_container_accesses",
		.unit = "",
		.help = "Loads and stores that the samples of a container stand for, by what "
			"served them.",
		.labels = "source: the levels of [JSON](json.md)",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_REMOTE] = {
		.name = "speprof_container_accesses_remote",
		.unit = "",
		.help = "Loads and stores that the samples of a container stand for and that "
			"accessed another chip.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_BRANCHES] = {
		.name = "speprof_container_branches",
		.unit = "",
		.help = "Branches that the samples of a container stand for.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_MISPREDICTED] = {
		.name = "speprof_container_branches_mispredicted",
		.unit = "",
		.help = "Mispredicted branches that the samples of a container stand for.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_CONTAINER_LATENCY] = {
		.name = "speprof_container_latency_cycles",
		.unit = "cycles",
		.help = "Latency of the operations that the samples of a container stand for, by "
			"kind.",
		.labels = "kind: total, issue, translation",
		.type = SERIES_HISTOGRAM,
	},
	[FAMILY_SELF_CPU] = {
		.name = "speprof_exporter_cpu_seconds",
		.unit = "seconds",
		.help = "CPU time of the exporter.",
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
		.help = "Series of containers: those that are exported, and those that MaxSeries= "
			"leaves no space for.",
		.labels = "state: exported, dropped",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SELF_CONTAINERS] = {
		.name = "speprof_exporter_containers",
		.unit = "",
		.help = "Containers: those with series of their own, and those that are summed into "
			"\"other\".",
		.labels = "state: exported, other",
		.type = SERIES_GAUGE,
	},
	[FAMILY_SELF_SCRAPES] = {
		.name = "speprof_exporter_requests",
		.unit = "",
		.help = "HTTP requests that the exporter answered with metrics, or refused.",
		.labels = "state: answered, refused",
		.type = SERIES_COUNTER,
	},
	[FAMILY_SELF_QUERY_ERRORS] = {
		.name = "speprof_exporter_feed_errors",
		.unit = "",
		.help = "Queries that speprofd did not answer, or not with metrics.",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_SENT] = {
		.name = "speprof_exporter_push_sent",
		.unit = "",
		.help = "Requests that a receiver accepted.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_RETRIED] = {
		.name = "speprof_exporter_push_retried",
		.unit = "",
		.help = "Failed attempts to send a request that the exporter retries.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_DROPPED] = {
		.name = "speprof_exporter_push_dropped",
		.unit = "",
		.help = "Requests that the exporter dropped: a receiver refused them, or the queue "
			"was full.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_REJECTED] = {
		.name = "speprof_exporter_push_rejected_points",
		.unit = "",
		.help = "Data points that a receiver rejected of requests that it accepted.",
		.labels = "destination: otlp",
		.type = SERIES_COUNTER,
	},
	[FAMILY_PUSH_QUEUED] = {
		.name = "speprof_exporter_push_queued_bytes",
		.unit = "bytes",
		.help = "Bytes of requests that wait to be sent.",
		.labels = "destination: remote_write, otlp, profiles",
		.type = SERIES_GAUGE,
	},
};
