/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters: one expression language for configuration, bus and command line, e.g.
 *
 *	op == load && latency.total > 200 && container == "web"
 *
 * Documentation/reference/filters.md has fields and grammar. What the SPU can do of an
 * expression, it is asked to do; the whole of it is evaluated here again.
 */
#ifndef SPEPROF_FILTER_H
#define SPEPROF_FILTER_H

#include "attribution/attributor.h"
#include "codec/data-source.h"
#include "codec/record.h"
#include "source/source.h"

/* Comparisons, flags and operators in one expression. */
#define FILTER_NODES 128
#define FILTER_DEPTH 32

struct filter;

/**
 * struct filter_error - what is wrong with an expression
 * @column: of the first character that is wrong, from 1
 * @text: what is wrong and what would be right
 */
struct filter_error {
	u32 column;
	char text[192];
};

/**
 * struct filter_subject - what an expression is evaluated on
 * @origin: what served it, where it is a load or store
 * @process, @container: NULL where it is unattributed
 */
struct filter_subject {
	const struct spe_sample *sample;
	struct spe_origin origin;
	u32 cpu;
	const struct attribute_process *process;
	const struct attribute_container *container;
};

/**
 * filter_new() - parse @text
 *
 * Return: 0; -EINVAL, then @ret_error says where and why; -ENOMEM.
 */
int filter_new(const char *text, struct filter **ret_filter, struct filter_error *ret_error);
struct filter *filter_free(struct filter *filter);

/**
 * filter_match() - whether the sample is wanted
 *
 * A comparison with something that the record does not hold is false, != too.
 */
bool filter_match(const struct filter *filter, const struct filter_subject *subject);

/**
 * filter_compares_addresses() - whether it names pc, target, address or address.physical
 *
 * Then counts tell whoever chose it where memory lies, a bit with each expression.
 */
bool filter_compares_addresses(const struct filter *filter);

/** filter_text() - the expression as it was given; the filter's */
const char *filter_text(const struct filter *filter);

/* Encodings of the Data Source packet that the cores of one machine have. */
#define FILTER_CORES 4

/**
 * struct filter_cores - whose Data Source packets a filter is for
 * @unknown: of some core nobody knows what its values mean
 */
struct filter_cores {
	const struct spe_data_sources *encodings[FILTER_CORES];
	u32 count;
	bool unknown;
};

/** filter_cores_add() - the core that @midr names, MIDR_EL1, to @cores; 0 is an unknown one */
void filter_cores_add(struct filter_cores *cores, u64 midr);

/**
 * struct filter_part - of what must all hold ("&&" at the top)
 * @text: its first character in filter_text(), @len bytes
 * @hardware: an SPU that filters as every one does leaves out what it does not want
 * @inverted: one with FEAT_SPEv1p2 does; not with @hardware
 * @sources: one with FEAT_SPE_FDS leaves out loads that it does not want
 */
struct filter_part {
	const char *text;
	u32 len;
	bool hardware;
	bool inverted;
	bool sources;
};

/**
 * filter_parts() - at most @room of them; returns how many. FILTER_NODES is enough room
 * @cores: as for filter_hardware()
 */
u32 filter_parts(const struct filter *filter, const struct filter_cores *cores,
		 struct filter_part *ret_parts, u32 room);

/**
 * struct filter_lists - whom to count, beside an expression; NULL-terminated arrays, NULL for none
 * @containers: patterns, as in a shell's file names: one of them must match
 * @excluded: patterns, none of which may
 * @cgroups: paths of cgroups: one of them it must be in, or below
 */
struct filter_lists {
	char *const *containers;
	char *const *excluded;
	char *const *cgroups;
};

/**
 * filter_compose() - an expression that says all of @lists, and @expression
 * @expression: NULL or "" for everything; must parse
 * @ret_text: allocated; "" for everything
 *
 * Return: 0; -ENOMEM.
 */
int filter_compose(const struct filter_lists *lists, const char *expression, char **ret_text);

/**
 * filter_hardware() - have the SPU leave out what the expression never wants
 * @cores: all that the SPUs are of; NULL if that is not known: then levels are the daemon's
 * @config: its filter_* are set; they let through every record that matches
 *
 * Return: a static sentence that says which parts every SPU does; "" for none. Of events that must
 * not be there, and of data sources, it says nothing.
 */
const char *filter_hardware(const struct filter *filter, const struct filter_cores *cores,
			    struct source_config *config);

#endif
