/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PMUs "arm_spe_*" of a stock kernel, as sysfs describes them: one for each
 * kind of core, each with the CPUs that it serves and the places of its settings.
 */
#ifndef SPEPROF_PERF_PMU_H
#define SPEPROF_PERF_PMU_H

#include <linux/perf_event.h>

#include "source.h"
#include "util/cpu-list.h"

#define PERF_PMU_MAX 8

/* The settings of format/ that are used. */
enum perf_pmu_setting {
	PERF_PMU_TS_ENABLE,
	PERF_PMU_PA_ENABLE,
	PERF_PMU_JITTER,
	PERF_PMU_LOAD_FILTER,
	PERF_PMU_STORE_FILTER,
	PERF_PMU_BRANCH_FILTER,
	PERF_PMU_EVENT_FILTER,
	PERF_PMU_MIN_LATENCY,
	PERF_PMU_INV_EVENT_FILTER,	/* Linux 6.3 */
	PERF_PMU_INV_DATA_SRC_FILTER,	/* Linux 6.19 */
	PERF_PMU_SETTINGS,
};

/** struct perf_pmu_field - bits @shift to @shift + @width - 1 of config@word; @width 0: not there */
struct perf_pmu_field {
	u8 word;
	u8 shift;
	u8 width;
};

/**
 * union perf_pmu_attr - an attribute with what later kernels have behind the one of this build
 * @words: config3 and config4 are the last two
 */
union perf_pmu_attr {
	struct perf_event_attr attr;
	u64 words[18];
};

/**
 * struct perf_pmu - of one kind of core
 * @type: of perf_event_attr
 * @cpus: that it serves, online or not
 * @interval_min: caps/min_interval, in operations
 * @ernd: caps/ernd: jitter does not move the mean interval (D17.3.4.3)
 * @unit: &enum sample_unit: what intervals count, by caps/arch_inst
 */
struct perf_pmu {
	u32 type;
	bool ernd;
	u8 unit;
	u64 interval_min;
	struct cpu_list cpus;
	struct perf_pmu_field fields[PERF_PMU_SETTINGS];
};

/**
 * perf_pmu_list() - the SPE PMUs in @devices, /sys/bus/event_source/devices
 * @ret_pmus: room for PERF_PMU_MAX
 *
 * Return: how many; 0 if the kernel drives no SPU; what cannot be read in one
 * of them is a negative errno.
 */
int perf_pmu_list(const char *devices, struct perf_pmu *ret_pmus);

/**
 * perf_pmu_set() - @value to its place in @attr, whose size becomes what it needs
 *
 * Return: 0; -EOPNOTSUPP if it is not there or does not fit.
 */
int perf_pmu_set(const struct perf_pmu *pmu, enum perf_pmu_setting setting, u64 value,
		 union perf_pmu_attr *attr);

/** perf_pmu_filters() - SOURCE_FILTERS_* that it has places for */
u8 perf_pmu_filters(const struct perf_pmu *pmu);

#endif
