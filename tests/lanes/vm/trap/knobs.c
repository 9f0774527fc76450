// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse settings of the SPU: each choice that the architecture permits, and registers with values
 * that no SPU should have.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/printk.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "trap.h"

static const struct {
	const char *name;
	size_t offset;
} knobs[] = {
#define KNOB(field) { #field, offsetof(struct spe_spu_config, field) }
	KNOB(pmsver),	  KNOB(interval),    KNOB(max_size),  KNOB(align),
	KNOB(count_size), KNOB(events_size), KNOB(source_size), KNOB(layout),
	KNOB(zero_filter), KNOB(misaligned), KNOB(fault_dl),  KNOB(incomplete),
	KNOB(abort),	  KNOB(write_granule), KNOB(in_flight),
#undef KNOB
};

static int set_knob(const char *name, u64 value, struct trap_cpu *cpu,
		    struct spe_spu_config *config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++) {
		if (strcmp(knobs[i].name, name))
			continue;
		*((u8 *)config + knobs[i].offset) = (u8)value;
		return value > U8_MAX ? -EINVAL : 0;
	}
	if (!strcmp(name, "features"))
		config->features = value;
	else if (!strcmp(name, "events"))
		config->sampled_events = value;
	else if (!strcmp(name, "va_tag"))
		config->va_tag = value;
	else if (!strcmp(name, "hidden"))
		cpu->hidden = value;
	else if (!strcmp(name, "no_context"))
		cpu->no_context = value;
	else if (!strcmp(name, "pmsidr"))
		cpu->pmsidr = value;
	else if (!strcmp(name, "pmbidr"))
		cpu->pmbidr = value;
	else
		return -EINVAL;
	return 0;
}

static int parse_knob(char *text, unsigned int number, struct trap_cpu *cpu,
		      struct spe_spu_config *config)
{
	char *colon = strchr(text, ':'), *equals = strchr(text, '=');
	unsigned int only = number;
	u64 value;

	if (colon) {
		*colon = '\0';
		if (kstrtouint(text, 0, &only))
			return -EINVAL;
		text = colon + 1;
	}
	if (!equals || equals < text)
		return -EINVAL;
	*equals = '\0';
	if (kstrtou64(equals + 1, 0, &value))
		return -EINVAL;
	return only == number ? set_knob(text, value, cpu, config) : 0;
}

int trap_knobs_apply(const char *text, unsigned int number, struct trap_cpu *cpu,
		     struct spe_spu_config *config)
{
	while (*text) {
		size_t length = strcspn(text, ",");
		char knob[48];

		if (length >= sizeof(knob))
			length = sizeof(knob) - 1;
		memcpy(knob, text, length);
		knob[length] = '\0';
		if (parse_knob(knob, number, cpu, config)) {
			pr_err("knobs: at '%s': not [CPU:]NAME=VALUE with a knob's name\n", text);
			return -EINVAL;
		}
		text += length;
		text += *text == ',';
	}
	return 0;
}
