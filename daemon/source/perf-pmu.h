/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PMUs "arm_spe_*" of the kernel's driver, as sysfs describes them. There is one PMU for each
 * kind of core. For each PMU, sysfs lists its CPUs, and the positions of its settings in
 * perf_event_attr.
 */
#ifndef SPEPROF_PERF_PMU_H
#define SPEPROF_PERF_PMU_H

#include <linux/perf_event.h>

#include "source.h"
#include "util/cpu-list.h"

/* Maximum number of PMUs arm_spe_N of a machine. */
#define PERF_PMU_MAX 8

/* The settings in format/ that speprof uses. */
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
	PERF_PMU_SIMD_FILTER,		/* this and the mask settings: FEAT_SPE_EFT, Linux 6.18 */
	PERF_PMU_FLOAT_FILTER,
	PERF_PMU_LOAD_FILTER_MASK,
	PERF_PMU_STORE_FILTER_MASK,
	PERF_PMU_BRANCH_FILTER_MASK,
	PERF_PMU_SIMD_FILTER_MASK,
	PERF_PMU_FLOAT_FILTER_MASK,
	PERF_PMU_INV_DATA_SRC_FILTER,	/* Linux 6.19 */
	PERF_PMU_SETTINGS,
};

/**
 * struct perf_pmu_field - the position of a setting in perf_event_attr
 * @word: 0: config, 1: config1, ...
 * @shift: the lowest bit of the setting
 * @width: number of bits; 0: this kernel does not have the setting
 */
struct perf_pmu_field {
	u8 word;
	u8 shift;
	u8 width;
};

/**
 * union perf_pmu_attr - an attribute with space for fields of kernels that are newer than the
 * headers of the build
 * @attr: the attribute of the headers
 * @words: the whole attribute; config3 and config4 are the last two words
 */
union perf_pmu_attr {
	struct perf_event_attr attr;
	u64 words[18];
};

/**
 * struct perf_pmu - the PMU of one kind of core
 * @type: perf_event_attr.type
 * @ernd: caps/ernd: jitter does not change the mean interval (D17.3.4.3)
 * @unit: the unit of intervals, from caps/arch_inst, &enum sample_unit
 * @refused: filters that the driver refused although format/ has them, SOURCE_FILTERS_*; 0 at first
 * @interval_min: caps/min_interval, in operations; 0: unknown
 * @events: caps/event_filter (Linux 6.18): the events that the driver accepts as a filter; 0:
 *	unknown
 * @cpus: the CPUs of the PMU, online or not
 * @fields: the positions of the settings, indexed by &enum perf_pmu_setting
 */
struct perf_pmu {
	u32 type;
	bool ernd;
	u8 unit;
	u8 refused;
	u64 interval_min;
	u64 events;
	struct cpu_list cpus;
	struct perf_pmu_field fields[PERF_PMU_SETTINGS];
};

/**
 * perf_pmu_read_all() - read the SPE PMUs of the kernel
 * @devices: path of /sys/bus/event_source/devices
 * @ret_pmus: array of PERF_PMU_MAX entries
 *
 * Return: the number of PMUs; 0 if the kernel drives no SPU; a negative errno if one of them
 * cannot be read.
 */
int perf_pmu_read_all(const char *devices, struct perf_pmu *ret_pmus);

/**
 * perf_pmu_set_attr() - set a setting in an attribute
 * @pmu: the PMU
 * @setting: the setting
 * @value: its value; 0 changes nothing and always succeeds
 * @attr: the attribute; its size grows to include the setting
 *
 * Return: 0; -EOPNOTSUPP if the PMU does not have the setting, or the value is too large.
 */
int perf_pmu_set_attr(const struct perf_pmu *pmu, enum perf_pmu_setting setting, u64 value,
		      union perf_pmu_attr *attr);

/**
 * perf_pmu_get_filters() - return the SOURCE_FILTERS_* that the driver lists in format/ and has not
 * refused
 */
u8 perf_pmu_get_filters(const struct perf_pmu *pmu);

#endif
