/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters: one expression language for configuration, D-Bus and command line, such as
 *
 *	op == load && latency.total > 200 && container == "web"
 *
 * Documentation/reference/filters.md describes fields and grammar. The SPU evaluates the parts
 * of an expression that it supports. The daemon always evaluates the complete expression.
 */
#ifndef SPEPROF_FILTER_H
#define SPEPROF_FILTER_H

#include "attribution/attributor.h"
#include "codec/data-source.h"
#include "codec/record.h"
#include "source/source.h"

/*
 * An expression has fewer than FILTER_NODES comparisons, flags and operators, and at most
 * FILTER_DEPTH nested levels.
 */
#define FILTER_NODES 128
#define FILTER_DEPTH 32

struct filter;

/**
 * struct filter_error - an error in an expression
 * @column: column of the first wrong character, from 1
 * @text: what is wrong, and what is accepted at this column
 */
struct filter_error {
	u32 column;
	char text[192];
};

/**
 * struct filter_subject - the sample that an expression is evaluated for
 * @sample: the decoded record
 * @origin: which cache or memory served a load or store
 * @cpu: number of the CPU that took the sample
 * @process, @container: NULL if the sample is unattributed
 */
struct filter_subject {
	const struct spe_sample *sample;
	struct spe_origin origin;
	u32 cpu;
	const struct attribute_process *process;
	const struct attribute_container *container;
};

/**
 * filter_new() - parse an expression
 * @text: the expression, NUL-terminated
 * @ret_filter: the filter; free it with filter_free()
 * @ret_error: the error and its column; set if -EINVAL is returned
 *
 * Return: 0; -EINVAL if the expression is invalid; -ENOMEM if memory cannot be allocated.
 */
int filter_new(const char *text, struct filter **ret_filter, struct filter_error *ret_error);

/** filter_free() - free @filter, which may be NULL; always returns NULL */
struct filter *filter_free(struct filter *filter);

/**
 * filter_match() - return true if a sample satisfies the expression
 * @filter: the expression; not modified, so several threads may evaluate it at once
 * @subject: the sample
 *
 * A comparison with a field that the record lacks is false, also with the operator !=.
 */
bool filter_match(const struct filter *filter, const struct filter_subject *subject);

/**
 * filter_compares_addresses() - return true if the expression uses pc, target, address or
 * address.physical
 *
 * The counts of such a filter reveal memory addresses to its author, one bit per expression.
 */
bool filter_compares_addresses(const struct filter *filter);

/* Entries of &filter_cores.encodings: different Data Source encodings of the cores of a machine. */
#define FILTER_CORES 4

/**
 * struct filter_cores - the data sources that the cores of a source report, and the filters of
 * their SPUs
 * @encodings: tables of data sources, @count of them
 * @count: number of @encodings
 * @unknown: the encoding of at least one core is unknown
 * @any: there is at least one core
 * @events: the events for which the SPUs of all cores have a filter, as PMSEVFR_EL1; valid if @any
 */
struct filter_cores {
	const struct spe_data_sources *encodings[FILTER_CORES];
	u32 count;
	bool unknown;
	bool any;
	u64 events;
};

/**
 * filter_cores_add() - add a core to the cores that a filter is evaluated for
 * @cores: all zeros before the first call
 * @cpu: a CPU of the source; an unknown MIDR_EL1 sets @cores->unknown
 */
void filter_cores_add(struct filter_cores *cores, const struct source_cpu *cpu);

/**
 * struct filter_part - an operand of the expression's top-level "&&"
 * @text: first character of the operand, in a copy of the text that is valid until filter_free()
 * @len: length of the operand, bytes
 * @hardware: true if every SPU can evaluate it
 * @inverted: true if an SPU with FEAT_SPEv1p2 can evaluate it, with PMSNEVFR_EL1; false if
 * @hardware is true
 * @sources: true if an SPU with FEAT_SPE_FDS can evaluate it for loads, with PMSDSFR_EL1
 * @masked: true if an SPU with FEAT_SPE_EFT can evaluate it, with the mask bits of PMSFCR_EL1;
 * false if @hardware is true
 */
struct filter_part {
	const char *text;
	u32 len;
	bool hardware;
	bool inverted;
	bool sources;
	bool masked;
};

/**
 * filter_split() - split an expression into the operands of its top-level "&&"
 * @filter: the expression
 * @cores: as for filter_offload()
 * @ret_parts: receives the operands in the order of the text
 * @capacity: number of elements of @ret_parts; FILTER_NODES always suffices
 *
 * Return: the number of operands in @ret_parts.
 */
u32 filter_split(const struct filter *filter, const struct filter_cores *cores,
		 struct filter_part *ret_parts, u32 capacity);

/**
 * struct filter_lists - the containers to count, in addition to an expression
 *
 * All lists are NULL-terminated; a list of NULL is empty.
 * @containers: shell patterns; one of them must match the container's name
 * @excluded: shell patterns; none of them may match
 * @cgroups: cgroup paths; the container must be in or below one of them
 */
struct filter_lists {
	char *const *containers;
	char *const *excluded;
	char *const *cgroups;
};

/**
 * filter_compose() - build one expression from lists and an expression
 * @lists: the containers to count
 * @expression: a valid expression; NULL or "": everything
 * @ret_text: the expression, which the caller frees; "": everything
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int filter_compose(const struct filter_lists *lists, const char *expression, char **ret_text);

/**
 * filter_offload() - set the SPU's filters to reject samples that the expression never accepts
 * @filter: the expression
 * @cores: all cores with an SPU; NULL if unknown: the SPU then does not filter by level, and by
 *	events only if every SPU can
 * @config: zeroed by the caller; the filter_* members are set so that every matching record passes
 *
 * Return: a static text such as "types and latency" that names the filters of every SPU; "" for
 * none. Filters of absent events, of data sources and by mask bits are not named, because not every
 * SPU has them.
 */
const char *filter_offload(const struct filter *filter, const struct filter_cores *cores,
			   struct source_config *config);

#endif
