// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-pmu.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const setting_names[PERF_PMU_SETTINGS] = {
	[PERF_PMU_TS_ENABLE] = "ts_enable",
	[PERF_PMU_PA_ENABLE] = "pa_enable",
	[PERF_PMU_JITTER] = "jitter",
	[PERF_PMU_LOAD_FILTER] = "load_filter",
	[PERF_PMU_STORE_FILTER] = "store_filter",
	[PERF_PMU_BRANCH_FILTER] = "branch_filter",
	[PERF_PMU_EVENT_FILTER] = "event_filter",
	[PERF_PMU_MIN_LATENCY] = "min_latency",
	[PERF_PMU_INV_EVENT_FILTER] = "inv_event_filter",
	[PERF_PMU_SIMD_FILTER] = "simd_filter",
	[PERF_PMU_FLOAT_FILTER] = "float_filter",
	[PERF_PMU_LOAD_FILTER_MASK] = "load_filter_mask",
	[PERF_PMU_STORE_FILTER_MASK] = "store_filter_mask",
	[PERF_PMU_BRANCH_FILTER_MASK] = "branch_filter_mask",
	[PERF_PMU_SIMD_FILTER_MASK] = "simd_filter_mask",
	[PERF_PMU_FLOAT_FILTER_MASK] = "float_filter_mask",
	[PERF_PMU_INV_DATA_SRC_FILTER] = "inv_data_src_filter",
};

/* Index of config, config1, ... in &perf_pmu_attr.words. */
static const u8 config_words[] = {
	offsetof(struct perf_event_attr, config) / sizeof(u64),
	offsetof(struct perf_event_attr, config1) / sizeof(u64),
	offsetof(struct perf_event_attr, config2) / sizeof(u64),
	16, /* PERF_ATTR_SIZE_VER8 */
	17, /* PERF_ATTR_SIZE_VER9 */
};

static int read_line(int folder, const char *file, char *text, size_t size)
{
	ssize_t n;
	int fd;

	fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int read_number(int folder, const char *file, u64 *ret_number)
{
	char text[32], *end;
	u64 number;
	int r;

	r = read_line(folder, file, text, sizeof(text));
	if (r < 0)
		return r;
	number = strtoull(text, &end, 0);
	if (end == text || *end)
		return -EBADMSG;
	*ret_number = number;
	return 0;
}

/*
 * Parse a field such as "config:1" or "config2:0-11". The caller has checked that @text starts with
 * "config".
 */
static int parse_field(const char *text, struct perf_pmu_field *ret_field)
{
	unsigned int word = 0, low, high;

	text += strlen("config");
	if (*text >= '1' && *text <= '9')
		word = (unsigned int)(*text++ - '0');
	if (*text++ != ':')
		return -EBADMSG;
	switch (sscanf(text, "%u-%u", &low, &high)) {
	case 1:
		high = low;
		break;
	case 2:
		break;
	default:
		return -EBADMSG;
	}
	if (word >= ARRAY_SIZE(config_words) || low > high || high > 63)
		return -EBADMSG;
	*ret_field = (struct perf_pmu_field){
		.word = (u8)word,
		.shift = (u8)low,
		.width = (u8)(high - low + 1),
	};
	return 0;
}

/* If this kernel does not have a setting, its width is 0, and perf_pmu_set_attr() fails. */
static int read_fields(int folder, struct perf_pmu *pmu)
{
	char file[64], text[64] = "";
	int r;

	for (int i = 0; i < PERF_PMU_SETTINGS; i++) {
		snprintf(file, sizeof(file), "format/%s", setting_names[i]);
		r = read_line(folder, file, text, sizeof(text));
		if (r == -ENOENT)
			continue;
		if (r >= 0 && strncmp(text, "config", strlen("config")) != 0)
			r = -EBADMSG;
		if (r >= 0)
			r = parse_field(text, &pmu->fields[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_pmu(int folder, struct perf_pmu *ret_pmu)
{
	struct perf_pmu pmu = { 0 };
	char cpus[4096];
	u64 type = 0, cap;
	int r;

	r = read_number(folder, "type", &type);
	if (r >= 0 && type > UINT32_MAX)
		r = -EBADMSG;
	if (r >= 0)
		r = read_line(folder, "cpumask", cpus, sizeof(cpus));
	if (r >= 0)
		r = cpu_list_parse(cpus, &pmu.cpus);
	if (r >= 0)
		r = read_fields(folder, &pmu);
	if (r >= 0 && read_number(folder, "caps/min_interval", &pmu.interval_min) < 0)
		pmu.interval_min = 0;
	if (r >= 0 && read_number(folder, "caps/event_filter", &pmu.events) < 0)
		pmu.events = 0;
	if (r >= 0 && read_number(folder, "caps/ernd", &cap) >= 0)
		pmu.ernd = cap;
	if (r >= 0 && read_number(folder, "caps/arch_inst", &cap) >= 0)
		pmu.unit = cap ? UNIT_INSTRUCTIONS : UNIT_MICRO_OPS;
	if (r < 0)
		return r;
	pmu.type = (u32)type;
	*ret_pmu = pmu;
	return 0;
}

int perf_pmu_read_all(const char *devices, struct perf_pmu *ret_pmus)
{
	const struct dirent *entry;
	int count = 0, r = 0, folder;
	DIR *dir;

	dir = opendir(devices);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (r >= 0 && count < PERF_PMU_MAX && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "arm_spe_", strlen("arm_spe_")) != 0)
			continue;
		folder = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = folder < 0 ? -errno : read_pmu(folder, &ret_pmus[count]);
		if (folder >= 0)
			close(folder);
		count += r >= 0;
	}
	closedir(dir);
	return r < 0 ? r : count;
}

int perf_pmu_set_attr(const struct perf_pmu *pmu, enum perf_pmu_setting setting, u64 value,
		      union perf_pmu_attr *attr)
{
	const struct perf_pmu_field field = pmu->fields[setting];
	u32 end = (config_words[field.word] + 1U) * (u32)sizeof(u64);

	if (!value)
		return 0;
	if (!field.width || (field.width < 64 && value >> field.width))
		return -EOPNOTSUPP;
	attr->words[config_words[field.word]] |= value << field.shift;
	if (attr->attr.size < end)
		attr->attr.size = end;
	return 0;
}

u8 perf_pmu_get_filters(const struct perf_pmu *pmu)
{
	static const struct {
		enum perf_pmu_setting setting;
		u8 filters;
	} fields[] = {
		{ PERF_PMU_LOAD_FILTER, SOURCE_FILTERS_TYPES },
		{ PERF_PMU_MIN_LATENCY, SOURCE_FILTERS_LATENCY },
		{ PERF_PMU_EVENT_FILTER, SOURCE_FILTERS_EVENTS },
		{ PERF_PMU_INV_EVENT_FILTER, SOURCE_FILTERS_EVENTS_NOT },
		{ PERF_PMU_INV_DATA_SRC_FILTER, SOURCE_FILTERS_SOURCES },
		/* The driver shows all settings of FEAT_SPE_EFT or none. */
		{ PERF_PMU_SIMD_FILTER_MASK, SOURCE_FILTERS_MASKED },
	};
	u8 filters = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (pmu->fields[fields[i].setting].width)
			filters |= fields[i].filters;
	return filters & (u8)~pmu->refused;
}
