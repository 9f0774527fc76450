// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write pprof's format. The field numbers are those of tests/exporter/schema/profile.proto, which
 * protoc checks. Addresses are offsets in their file, which are equal on all machines. In the
 * running kernel and outside of files the address is written as 0, and a location represents a
 * whole function.
 */
#include "pprof-internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "attribution/attributor.h"
#include "attribution/maps.h"
#include "attribution/pods.h"
#include "symbols/symbol-message.h"
#include "util/escape.h"
#include "util/hash.h"
#include "util/protobuf.h"

/*
 * Number of uncompressed bytes that are collected before they are compressed; one message may
 * exceed it
 */
#define PPROF_CHUNK (16U << 10)
#define PPROF_SIZE  (2 * PPROF_CHUNK)
/*
 * Maximum wait for names, in ms. Rings are not drained during the wait; the ring of a busy CPU has
 * space for four times this duration.
 */
#define NAMES_MS 1000

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

static const char *const value_names[PPROF_VALUES][2] = {
	[PPROF_SAMPLES] = { "samples", "count" },
	[PPROF_TOTAL] = { "total_latency", "cycles" },
	[PPROF_ISSUE] = { "issue_latency", "cycles" },
	[PPROF_TRANSLATION] = { "translation_latency", "cycles" },
	[PPROF_L1_MISSES] = { "l1_misses", "count" },
	[PPROF_L2_MISSES] = { "l2_misses", "count" },
	[PPROF_LLC_MISSES] = { "llc_misses", "count" },
};

/*
 * The types of values. Sums in the two units are two types. All profiles have both, because pprof
 * merges only profiles with the same types. Samples with an unknown unit may have either.
 */
static const struct {
	u8 unit;
	const char *name;
} weights[] = {
	{ UNIT_INSTRUCTIONS, "instructions" },
	{ UNIT_MICRO_OPS, "micro_operations" },
};

/* Size of a function name in bytes: each byte may be escaped */
#define NAME_SIZE (4 * SYMBOL_NAME_MAX + 1)
/* Size of the key of a mapping: a path of PATH_MAX bytes and the other fields */
#define MAPPING_SIZE 4400

/* Maximum number of names for one entry, and memory of a name without its text */
#define NAMES_MAX  16
#define NAME_BYTES 40
/*
 * Maximum bytes of the texts of one entry: a mapping's key and path, a function's name and path,
 * other keys, labels
 */
#define TEXTS_MAX (MAPPING_SIZE + NAME_SIZE + 3072)

/* A growing hash table that maps texts to numbers. */
struct names {
	struct name {
		char *text;
		u64 id;
	} * slots;
	u32 room;
	u32 count;
};

/**
 * struct writer - the state of writing a profile
 * @proto: bytes that are not compressed yet
 * @z, @fd: compressor, and the file that receives its output
 * @texts: total length of all names, bytes
 * @others: sums as in @pprof, plus the samples of entries for which there was no space for a name
 */
struct writer {
	struct protobuf proto;
	z_stream z;
	int fd;
	u64 texts;
	struct pprof_entry others[UNITS];
	struct names strings;
	struct names mappings; /* key: see mapping_key() */
	struct names functions; /* key: mapping, and number of the name */
	struct names locations; /* key: mapping and address */
	struct pprof *pprof;
	struct symbols *symbols;
	struct pprof_hide fold;
	int error;
};

static void names_deinit(struct names *names)
{
	for (u32 i = 0; i < names->room; i++)
		free(names->slots[i].text);
	free(names->slots);
}

static struct name *names_slot(const struct names *names, const char *text)
{
	u32 i = (u32)hash_string(text) & (names->room - 1);

	while (names->slots[i].text && strcmp(names->slots[i].text, text))
		i = (i + 1) & (names->room - 1);
	return &names->slots[i];
}

static bool names_contain(const struct names *names, const char *text)
{
	return names->room && names_slot(names, text)->text;
}

static int names_grow(struct names *names)
{
	struct names next = { .room = names->room ? 2 * names->room : 1024, .count = names->count };

	next.slots = calloc(next.room, sizeof(*next.slots));
	if (!next.slots)
		return -ENOMEM;
	for (u32 i = 0; i < names->room; i++)
		if (names->slots[i].text)
			*names_slot(&next, names->slots[i].text) = names->slots[i];
	free(names->slots);
	*names = next;
	return 0;
}

/*
 * Return the number of @text, from 1 on; 0 if memory cannot be allocated. @ret_new: true if @text
 * was added.
 */
static u64 names_get(struct writer *w, struct names *names, const char *text, bool *ret_new)
{
	struct name *slot;

	*ret_new = false;
	if (names->count >= names->room / 2 && names_grow(names) < 0) {
		w->error = -ENOMEM;
		return 0;
	}
	slot = names_slot(names, text);
	if (slot->text)
		return slot->id;
	slot->text = strdup(text);
	if (!slot->text) {
		w->error = -ENOMEM;
		return 0;
	}
	w->texts += strlen(text) + NAME_BYTES;
	slot->id = ++names->count;
	*ret_new = true;
	return slot->id;
}

/*
 * Return the index of @text in the table of strings, in which the empty string, number 1, has index
 * 0.
 */
static u64 string_index(struct writer *w, const char *text)
{
	u64 id;
	bool new;

	id = names_get(w, &w->strings, text, &new);
	return id ? id - 1 : 0;
}

static void add_type(struct writer *w, u32 field, const char *name, const char *unit)
{
	u64 n = string_index(w, name), u = string_index(w, unit);

	protobuf_open(&w->proto, field);
	protobuf_varint(&w->proto, TYPE_NAME, n);
	protobuf_varint(&w->proto, TYPE_UNIT, u);
	protobuf_close(&w->proto);
}

static void build_id_text(struct writer *w, const struct attribute_location *place, s32 pid,
			  char *to)
{
	u8 id[BUILD_ID_MAX];
	u8 n = place->build_id_size;

	*to = 0;
	if (n && n <= sizeof(id))
		memcpy(id, place->build_id, n);
	else
		n = w->pprof->live && pid > 0 && *place->binary == '/' ?
			    symbols_build_id(w->symbols, pid, place, id) :
			    0;
	for (u8 i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", id[i]);
}

/*
 * Write a key that distinguishes binaries with equal paths, which are common in containers. The key
 * is the build ID if known. Otherwise it consists of the path, of device and inode if known
 * (recordings have neither), and of the container. Code that a process generated belongs to that
 * process.
 */
static void mapping_key(const struct writer *w, const struct pprof_entry *e,
			const struct attribute_location *place, const char *build, char *key,
			size_t size)
{
	u64 of = 0;

	if (*place->binary == '/' && !*build)
		of = (u64)e->container << 32 | e->container_generation;
	else if (w->pprof->live && !e->kernel && *place->binary == '[' &&
		 strncmp(place->binary, "[vdso", 5) != 0)
		of = (u64)e->process << 32 | e->generation;
	snprintf(key, size, "%" PRIu32 " %" PRIu64 " %" PRIx64 " %s %s", place->device,
		 place->inode, of, build, place->binary);
}

static u64 add_mapping(struct writer *w, const struct pprof_entry *e,
		       const struct attribute_location *place, s32 pid)
{
	char key[MAPPING_SIZE], path[1024], build[2 * BUILD_ID_MAX + 1];
	u64 id, name, build_id;
	bool new;

	build_id_text(w, place, pid, build);
	mapping_key(w, e, place, build, key, sizeof(key));
	id = names_get(w, &w->mappings, key, &new);
	if (!new)
		return id;
	escape_string(path, sizeof(path), place->binary);
	name = string_index(w, *path ? path : "[anonymous]");
	build_id = string_index(w, build);
	protobuf_open(&w->proto, PROFILE_MAPPING);
	protobuf_varint(&w->proto, MAPPING_ID, id);
	protobuf_varint(&w->proto, MAPPING_FILENAME, name);
	protobuf_varint(&w->proto, MAPPING_BUILD_ID, build_id);
	protobuf_varint(&w->proto, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_close(&w->proto);
	return id;
}

/*
 * Add a function. @text: number of its name. The number identifies the name, because different
 * names may have any prefix in common.
 */
static u64 add_function(struct writer *w, u64 mapping, u64 text, const char *binary)
{
	char key[64], path[1024];
	u64 id, file;
	bool new;

	snprintf(key, sizeof(key), "%" PRIu64 " %" PRIu64, mapping, text);
	id = names_get(w, &w->functions, key, &new);
	if (!new)
		return id;
	escape_string(path, sizeof(path), binary);
	file = string_index(w, path);
	protobuf_open(&w->proto, PROFILE_FUNCTION);
	protobuf_varint(&w->proto, FUNCTION_ID, id);
	protobuf_varint(&w->proto, FUNCTION_NAME, text);
	protobuf_varint(&w->proto, FUNCTION_SYSTEM_NAME, text);
	protobuf_varint(&w->proto, FUNCTION_FILENAME, file);
	protobuf_close(&w->proto);
	return id;
}

/* Return the bytes of a table of names, including its copy while it grows. */
static u64 names_bytes(const struct names *names)
{
	u64 bytes = (u64)names->room * sizeof(*names->slots);

	return names->count + NAMES_MAX >= names->room / 2 ? 3 * bytes : bytes;
}

/* Return true if everything that one entry may add is within the limit. */
static bool names_fit(const struct writer *w)
{
	u64 bytes = w->texts + TEXTS_MAX + names_bytes(&w->strings) + names_bytes(&w->mappings) +
		    names_bytes(&w->functions) + names_bytes(&w->locations);

	return !w->pprof->room.names || bytes <= w->pprof->room.names;
}

static bool is_overflow(const struct writer *w, const struct pprof_entry *e)
{
	return e == &w->others[e->unit];
}

/* Name of the location, process and container of samples that did not fit into the table */
#define OTHERS "[other]"

/*
 * Name the location as in reports: all locations without a binary have one name, and locations that
 * did not fit are marked.
 */
static void name_location(struct writer *w, const struct pprof_entry *e,
			  const struct attribute_location *place, s32 pid, char *name, size_t size)
{
	if (is_overflow(w, e))
		snprintf(name, size, OTHERS);
	else if (place)
		symbols_function(w->symbols, pid, place, w->pprof->live, name, size);
	else
		symbols_name_unmapped(e->pc, w->pprof->live, name, size);
}

/*
 * Return true if the address may be written. In the running kernel, and outside of mappings, a
 * location represents its function.
 */
static bool address_is_public(const struct writer *w, const struct attribute_location *place)
{
	return place ? symbols_address_is_public(place, w->pprof->live) : !w->pprof->live;
}

/*
 * Write a location, unless one with the same key was written. @key: identifies the location; @text:
 * number of the function's name. Return the number of the location.
 */
static u64 write_location(struct writer *w, const char *key, u64 mapping, u64 address, u64 text,
			  const char *binary)
{
	u64 id, function;
	bool new;

	id = names_get(w, &w->locations, key, &new);
	if (!new)
		return id;
	function = add_function(w, mapping, text, binary);
	protobuf_open(&w->proto, PROFILE_LOCATION);
	protobuf_varint(&w->proto, LOCATION_ID, id);
	if (mapping)
		protobuf_varint(&w->proto, LOCATION_MAPPING, mapping);
	protobuf_varint(&w->proto, LOCATION_ADDRESS, address);
	protobuf_open(&w->proto, LOCATION_LINE);
	protobuf_varint(&w->proto, LINE_FUNCTION, function);
	protobuf_close(&w->proto);
	protobuf_close(&w->proto);
	return id;
}

static u64 add_location(struct writer *w, const struct pprof_entry *e, bool known,
			const struct attribute_process *process)
{
	s32 pid = process ? process->pid : 0;
	struct attribute_location place;
	u64 mapping = 0, address = e->pc, text = 0;
	char key[96], name[NAME_SIZE];
	bool placed, public;

	placed = known &&
		 attributor_locate(w->pprof->attributor, e->process, e->pc, e->kernel, &place);
	if (placed) {
		mapping = add_mapping(w, e, &place, pid);
		address = place.offset;
	}
	public = address_is_public(w, placed ? &place : NULL);
	if (!public) {
		name_location(w, e, placed ? &place : NULL, pid, name, sizeof(name));
		text = string_index(w, name);
		address = 0;
	}
	snprintf(key, sizeof(key), "%" PRIu64 " %" PRIx64 " %d %" PRIu64, mapping, address,
		 is_overflow(w, e), text);
	if (public && !names_contain(&w->locations, key)) {
		name_location(w, e, placed ? &place : NULL, pid, name, sizeof(name));
		text = string_index(w, name);
	}
	return write_location(w, key, mapping, address, text, placed ? place.binary : "");
}

/*
 * Add a label to the sample that is being written. Strings get their numbers now, and are written
 * at the end of the profile.
 */
static void add_label(struct writer *w, const char *key, const char *value)
{
	u64 k = string_index(w, key), v = string_index(w, value);

	protobuf_open(&w->proto, SAMPLE_LABEL);
	protobuf_varint(&w->proto, LABEL_KEY, k);
	protobuf_varint(&w->proto, LABEL_STRING, v);
	protobuf_close(&w->proto);
}

/*
 * Return the name that metrics have for the container: the complete Kubernetes name. @whole: buffer
 * for that name.
 */
static const char *container_name(const struct writer *w, const struct pprof_entry *e,
				  char whole[PODS_NAME_SIZE])
{
	const struct attribute_container *c =
		attributor_get_container(w->pprof->attributor, e->container);
	struct container_details details;

	if (is_overflow(w, e))
		return OTHERS;
	if (e->container == ATTRIBUTE_NONE)
		return "[unattributed]";
	if (!c || c->generation != e->container_generation)
		return "(other)";
	if (!e->container || !*c->name)
		return "-";
	container_details_get(w->pprof->attributor, e->container, &details);
	pods_format_name(details.pod, c->name, whole);
	return whole;
}

static void add_labels(struct writer *w, const struct pprof_entry *e, const char *container,
		       const char *process)
{
	char node[8];

	add_label(w, "container", container);
	if (process)
		add_label(w, "process", process);
	if (e->level < SPE_LEVELS)
		add_label(w, "data_source", spe_level_name(e->level));
	if (e->node == PPROF_NO_NODE)
		return;
	snprintf(node, sizeof(node), "%u", e->node);
	add_label(w, "numa_node", node);
}

/* Write the values of an entry in the order of add_types(). */
static void add_values(struct writer *w, const struct pprof_entry *e)
{
	for (unsigned int i = 0; i < PPROF_VALUES; i++)
		protobuf_packed(&w->proto, e->value[i]);
	for (size_t u = 0; u < ARRAY_SIZE(weights); u++)
		for (unsigned int i = 0; i < PPROF_VALUES; i++)
			protobuf_packed(&w->proto, e->unit == weights[u].unit ? e->weighted[i] : 0);
}

/* Write a sample. No other message may be written while this one is open. */
static void add_sample(struct writer *w, const struct pprof_entry *e, u64 location,
		       const char *container, const char *process)
{
	protobuf_open(&w->proto, PROFILE_SAMPLE);
	protobuf_open(&w->proto, SAMPLE_LOCATION);
	protobuf_packed(&w->proto, location);
	protobuf_close(&w->proto);
	protobuf_open(&w->proto, SAMPLE_VALUE);
	add_values(w, e);
	protobuf_close(&w->proto);
	add_labels(w, e, container, process);
	protobuf_close(&w->proto);
}

static void add_entry(struct writer *w, const struct pprof_entry *e)
{
	const struct attribute_process *process =
		attributor_get_process(w->pprof->attributor, e->process);
	char whole[PODS_NAME_SIZE];
	u64 location;
	bool known;

	if (!e->value[PPROF_SAMPLES] || pprof_hide_entry(&w->fold, e))
		return;
	if (!is_overflow(w, e) && !names_fit(w)) {
		for (unsigned int i = 0; i < PPROF_VALUES; i++) {
			w->others[e->unit].value[i] += e->value[i];
			w->others[e->unit].weighted[i] += e->weighted[i];
		}
		return;
	}
	/*
	 * If the entry was reused for another process, the mappings of that process do not apply.
	 */
	if (process && process->generation != e->generation)
		process = NULL;
	known = process || (e->process == ATTRIBUTE_NONE && !is_overflow(w, e));
	location = add_location(w, e, known, process);
	add_sample(w, e, location, container_name(w, e, whole),
		   is_overflow(w, e) ? OTHERS :
		   process	     ? process->comm :
				       "[unattributed]");
}

/*
 * Compress complete messages once they have PPROF_CHUNK bytes, so that the buffer stays small.
 * @end: compress all bytes, and end the compressed stream.
 */
static void writer_flush(struct writer *w, bool end)
{
	u8 out[16384];
	size_t done, have;
	ssize_t n;

	if (w->proto.size < PPROF_CHUNK && !end)
		return;
	w->z.next_in = w->proto.data;
	w->z.avail_in = (uInt)w->proto.size;
	do {
		w->z.next_out = out;
		w->z.avail_out = sizeof(out);
		deflate(&w->z, end ? Z_FINISH : Z_NO_FLUSH);
		have = sizeof(out) - w->z.avail_out;
		for (done = 0; done < have && !w->error; done += (size_t)(n > 0 ? n : 0)) {
			n = write(w->fd, out + done, have - done);
			if (n < 0 && errno != EINTR)
				w->error = -errno;
		}
	} while (!w->z.avail_out);
	w->proto.size = 0;
}

static void add_folded(struct writer *w)
{
	u64 location = 0;

	if (w->fold.count)
		location = write_location(w, "other", 0, 0, string_index(w, "[other]"), "");
	for (u32 i = 0; i < w->fold.count; i++) {
		add_sample(w, &w->fold.entries[i], location, "other", NULL);
		writer_flush(w, false);
	}
	if (w->fold.error)
		w->error = w->fold.error;
}

static void add_types(struct writer *w)
{
	char name[64];

	for (unsigned int i = 0; i < PPROF_VALUES; i++)
		add_type(w, PROFILE_SAMPLE_TYPE, value_names[i][0], value_names[i][1]);
	for (size_t u = 0; u < ARRAY_SIZE(weights); u++) {
		add_type(w, PROFILE_SAMPLE_TYPE, weights[u].name, "count");
		for (unsigned int i = PPROF_SAMPLES + 1; i < PPROF_VALUES; i++) {
			snprintf(name, sizeof(name), "%s_%s", weights[u].name, value_names[i][0]);
			add_type(w, PROFILE_SAMPLE_TYPE, name, value_names[i][1]);
		}
	}
}

static void add_up(const struct pprof_entry *e, u64 *samples, u64 *operations)
{
	samples[e->unit] += e->value[PPROF_SAMPLES];
	operations[e->unit] += e->weighted[PPROF_SAMPLES];
}

/*
 * Return the mean number of operations per sample; 0 if some samples count instructions and others
 * micro-operations, or if the interval is unknown.
 */
static u64 mean_interval(const struct pprof *pprof)
{
	u64 samples[UNITS] = { 0 }, operations[UNITS] = { 0 };
	unsigned int units = 0;
	u64 mean = 0;

	for (u32 i = 0; i < pprof->room.entries; i++)
		add_up(&pprof->entries[i], samples, operations);
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		add_up(&pprof->others[unit], samples, operations);
		if (!samples[unit])
			continue;
		units++;
		mean = (operations[unit] + samples[unit] / 2) / samples[unit];
	}
	return units == 1 && !pprof->no_interval ? mean : 0;
}

static void add_info(struct writer *w, const struct pprof_metadata *metadata)
{
	static const char *const backends[] = {
		[BACKEND_UNKNOWN] = "SPU: unknown",
		[BACKEND_HARDWARE] = "SPU: hardware",
		[BACKEND_EMULATED] =
			"SPU: emulated: process, PC and time are true, the rest is modelled",
	};

	add_types(w);
	/*
	 * The type is the same for all units, because pprof does not merge profiles with different
	 * period types.
	 */
	add_type(w, PROFILE_PERIOD_TYPE, "operations", "count");
	protobuf_varint(&w->proto, PROFILE_PERIOD, mean_interval(w->pprof));
	protobuf_varint(&w->proto, PROFILE_TIME, metadata->start_ns);
	protobuf_varint(&w->proto, PROFILE_DURATION, metadata->duration_ns);
	protobuf_varint(&w->proto, PROFILE_COMMENT,
			string_index(w, backends[metadata->backend % 3]));
	protobuf_varint(&w->proto, PROFILE_DEFAULT_TYPE,
			string_index(w, value_names[PPROF_SAMPLES][0]));
}

/* Write the strings in the order of their numbers. */
static void add_strings(struct writer *w)
{
	const char **texts = calloc(w->strings.count + 1, sizeof(*texts));

	if (!texts) {
		w->error = -ENOMEM;
		return;
	}
	for (u32 i = 0; i < w->strings.room; i++)
		if (w->strings.slots[i].text)
			texts[w->strings.slots[i].id - 1] = w->strings.slots[i].text;
	for (u32 i = 0; i < w->strings.count; i++) {
		protobuf_string(&w->proto, PROFILE_STRING, texts[i]);
		writer_flush(w, false);
	}
	free(texts);
}

void pprof_request_names(struct pprof *pprof, struct symbols *symbols)
{
	struct attributor *attributor = pprof->attributor;

	for (u32 i = 0; i < pprof->room.entries; i++) {
		const struct pprof_entry *e = &pprof->entries[i];
		const struct attribute_process *process =
			attributor_get_process(attributor, e->process);
		struct attribute_location place;
		u64 key;

		if (e->value[PPROF_SAMPLES] && (!process || process->generation == e->generation) &&
		    attributor_locate(attributor, e->process, e->pc, e->kernel, &place))
			symbols_function_key(symbols, process ? process->pid : 0, &place,
					     pprof->live, &key);
	}
}

/*
 * Request all names before writing: a profile is written once, so locations that are unresolved by
 * then have no name.
 */
static void request_names(const struct writer *w)
{
	pprof_request_names(w->pprof, w->symbols);
	if (!symbols_wait_default(w->symbols))
		symbols_wait(w->symbols, NAMES_MS);
}

static void add_all(struct writer *w, const struct pprof_metadata *metadata)
{
	string_index(w, "");
	add_info(w, metadata);
	for (u32 i = 0; i < w->pprof->room.entries; i++) {
		add_entry(w, &w->pprof->entries[i]);
		writer_flush(w, false);
	}
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		add_entry(w, &w->others[unit]);
		writer_flush(w, false);
	}
	add_folded(w);
	add_strings(w);
	writer_flush(w, true);
}

int pprof_write(struct pprof *pprof, struct symbols *symbols, const struct pprof_metadata *metadata,
		int fd)
{
	struct writer w = { .pprof = pprof, .symbols = symbols, .fd = fd };
	int r = pprof_hide_init(&w.fold, metadata->filter, pprof->attributor);

	if (r < 0)
		return r;
	memcpy(w.others, pprof->others, sizeof(w.others));
	pprof_sort(pprof);
	request_names(&w);
	protobuf_init(&w.proto, PPROF_SIZE);
	/* 15: log2 of the compression window; + 16: with the header and trailer of gzip */
	if (deflateInit2(&w.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) ==
	    Z_OK) {
		add_all(&w, metadata);
		deflateEnd(&w.z);
	} else {
		w.error = -ENOMEM;
	}
	r = w.error ? w.error : w.proto.error;
	protobuf_deinit(&w.proto);
	names_deinit(&w.strings);
	names_deinit(&w.mappings);
	names_deinit(&w.functions);
	names_deinit(&w.locations);
	pprof_hide_deinit(&w.fold);
	return r;
}
