// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write pprof's format. The field numbers are those of tests/exporter/schema/profile.proto. Tests
 * check the output with protoc and this schema. Addresses are offsets in their file, which are
 * equal on all machines. In the running kernel and outside of files, the address is written as 0,
 * and a location represents a whole function.
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
 * Number of uncompressed bytes that are collected before they are compressed. A single message may
 * be larger.
 */
#define PPROF_CHUNK_BYTES     (16U << 10)
#define PROTOBUF_BUFFER_BYTES (2 * PPROF_CHUNK_BYTES)
/*
 * Maximum wait for names, in ms. Rings are not drained during the wait; the ring of a busy CPU has
 * space for four times this duration.
 */
#define NAMES_WAIT_MS 1000

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
 * The types of values. A sum has one type for each of the two units. All profiles have both types,
 * because pprof merges only profiles with the same types. A sample counts only for the type of its
 * unit; a sample with an unknown unit counts for neither type.
 */
static const struct {
	u8 unit;
	const char *name;
} weights[] = {
	{ UNIT_INSTRUCTIONS, "instructions" },
	{ UNIT_MICRO_OPS, "micro_operations" },
};

/* Size of a function name in bytes. Each byte of the name may be escaped as four. */
#define NAME_SIZE (4 * SYMBOL_NAME_MAX + 1)
/* Size of the key of a mapping: a path of PATH_MAX bytes and the other fields */
#define MAPPING_SIZE 4400

/* Maximum number of names for one entry, and memory of a name in bytes without its text */
#define NAMES_MAX  16
#define NAME_BYTES 40
/*
 * Maximum bytes of the texts of one entry: a mapping's key and path, a function's name and path,
 * other keys, labels
 */
#define TEXTS_MAX (MAPPING_SIZE + NAME_SIZE + 3072)

/* A growing hash table that maps texts to numbers. */
struct text_index {
	struct text_slot {
		char *text;
		u64 id;
	} * slots;
	u32 capacity;
	u32 count;
};

/**
 * struct pprof_writer - the state of writing a profile
 * @proto: bytes that are not compressed yet
 * @z, @fd: compressor, and the file that receives its output
 * @texts: total length of all names, bytes
 * @others: sums as &pprof.others, plus the samples of entries with names that exceed the limit of
 *	memory
 */
struct pprof_writer {
	struct protobuf proto;
	z_stream z;
	int fd;
	u64 texts;
	struct pprof_entry others[UNITS];
	struct text_index strings;
	struct text_index mappings; /* key: see make_mapping_key() */
	struct text_index functions; /* key: mapping, and number of the name */
	struct text_index locations; /* key: mapping and address */
	struct pprof *pprof;
	struct symbols_cache *symbols;
	struct pprof_hidden fold;
	int error;
};

static void text_index_deinit(struct text_index *names)
{
	for (u32 i = 0; i < names->capacity; i++)
		free(names->slots[i].text);
	free(names->slots);
}

static struct text_slot *text_index_find_slot(const struct text_index *names, const char *text)
{
	u32 i = (u32)hash_string(text) & (names->capacity - 1);

	while (names->slots[i].text && strcmp(names->slots[i].text, text))
		i = (i + 1) & (names->capacity - 1);
	return &names->slots[i];
}

static bool text_index_contains(const struct text_index *names, const char *text)
{
	return names->capacity && text_index_find_slot(names, text)->text;
}

static int text_index_grow(struct text_index *names)
{
	struct text_index next = { .capacity = names->capacity ? 2 * names->capacity : 1024,
				   .count = names->count };

	next.slots = calloc(next.capacity, sizeof(*next.slots));
	if (!next.slots)
		return -ENOMEM;
	for (u32 i = 0; i < names->capacity; i++)
		if (names->slots[i].text)
			*text_index_find_slot(&next, names->slots[i].text) = names->slots[i];
	free(names->slots);
	*names = next;
	return 0;
}

/*
 * Return the number of @text, from 1 on; 0 if memory cannot be allocated. @ret_new: true if @text
 * was added.
 */
static u64 text_index_get_or_add(struct pprof_writer *w, struct text_index *names, const char *text,
				 bool *ret_new)
{
	struct text_slot *slot;

	*ret_new = false;
	if (names->count >= names->capacity / 2 && text_index_grow(names) < 0) {
		w->error = -ENOMEM;
		return 0;
	}
	slot = text_index_find_slot(names, text);
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
static u64 get_string_index(struct pprof_writer *w, const char *text)
{
	u64 id;
	bool new;

	id = text_index_get_or_add(w, &w->strings, text, &new);
	return id ? id - 1 : 0;
}

static void add_type(struct pprof_writer *w, u32 field, const char *name, const char *unit)
{
	u64 n = get_string_index(w, name), u = get_string_index(w, unit);

	protobuf_open_message(&w->proto, field);
	protobuf_write_varint(&w->proto, TYPE_NAME, n);
	protobuf_write_varint(&w->proto, TYPE_UNIT, u);
	protobuf_close_message(&w->proto);
}

static void write_build_id(struct pprof_writer *w, const struct attribute_location *place, s32 pid,
			   char *to)
{
	u8 id[BUILD_ID_MAX];
	u8 n = place->build_id_size;

	*to = 0;
	if (n && n <= sizeof(id))
		memcpy(id, place->build_id, n);
	else
		n = w->pprof->live && pid > 0 && *place->binary == '/' ?
			    symbols_get_build_id(w->symbols, pid, place, id) :
			    0;
	for (u8 i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", id[i]);
}

/*
 * Write a key that distinguishes binaries with equal paths, which are common in containers. The key
 * is the build ID if known. Otherwise it consists of the path, of device and inode if known
 * (recordings have neither), and of the container. The key of code that a process generated
 * identifies that process.
 */
static void make_mapping_key(const struct pprof_writer *w, const struct pprof_entry *e,
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

static u64 add_mapping(struct pprof_writer *w, const struct pprof_entry *e,
		       const struct attribute_location *place, s32 pid)
{
	char key[MAPPING_SIZE], path[1024], build[2 * BUILD_ID_MAX + 1];
	u64 id, name, build_id;
	bool new;

	write_build_id(w, place, pid, build);
	make_mapping_key(w, e, place, build, key, sizeof(key));
	id = text_index_get_or_add(w, &w->mappings, key, &new);
	if (!new)
		return id;
	escape_string(path, sizeof(path), place->binary);
	name = get_string_index(w, *path ? path : "[anonymous]");
	build_id = get_string_index(w, build);
	protobuf_open_message(&w->proto, PROFILE_MAPPING);
	protobuf_write_varint(&w->proto, MAPPING_ID, id);
	protobuf_write_varint(&w->proto, MAPPING_FILENAME, name);
	protobuf_write_varint(&w->proto, MAPPING_BUILD_ID, build_id);
	protobuf_write_varint(&w->proto, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_close_message(&w->proto);
	return id;
}

/*
 * Add a function. @text: number of its name in the table of strings. The key contains this number
 * and not the name, because different names could be equal after truncation.
 */
static u64 add_function(struct pprof_writer *w, u64 mapping, u64 text, const char *binary)
{
	char key[64], path[1024];
	u64 id, file;
	bool new;

	snprintf(key, sizeof(key), "%" PRIu64 " %" PRIu64, mapping, text);
	id = text_index_get_or_add(w, &w->functions, key, &new);
	if (!new)
		return id;
	escape_string(path, sizeof(path), binary);
	file = get_string_index(w, path);
	protobuf_open_message(&w->proto, PROFILE_FUNCTION);
	protobuf_write_varint(&w->proto, FUNCTION_ID, id);
	protobuf_write_varint(&w->proto, FUNCTION_NAME, text);
	protobuf_write_varint(&w->proto, FUNCTION_SYSTEM_NAME, text);
	protobuf_write_varint(&w->proto, FUNCTION_FILENAME, file);
	protobuf_close_message(&w->proto);
	return id;
}

/*
 * Return the size of a table of names in bytes. If the table may grow soon, this includes its
 * larger copy.
 */
static u64 text_index_get_bytes(const struct text_index *names)
{
	u64 bytes = (u64)names->capacity * sizeof(*names->slots);

	return names->count + NAMES_MAX >= names->capacity / 2 ? 3 * bytes : bytes;
}

/* Return true if the limit of memory suffices for all names that one entry may add. */
static bool entry_names_fit(const struct pprof_writer *w)
{
	u64 bytes = w->texts + TEXTS_MAX + text_index_get_bytes(&w->strings) +
		    text_index_get_bytes(&w->mappings) + text_index_get_bytes(&w->functions) +
		    text_index_get_bytes(&w->locations);

	return !w->pprof->limits.names || bytes <= w->pprof->limits.names;
}

static bool entry_is_overflow(const struct pprof_writer *w, const struct pprof_entry *e)
{
	return e == &w->others[e->unit];
}

/* Name of the location, process and container of samples that did not fit into the table */
#define OTHER_NAME "[other]"

/*
 * Write the name of the location as in reports. All locations without a binary have one name. A
 * sample that did not fit into the table has the name OTHER_NAME.
 */
static void write_location_name(struct pprof_writer *w, const struct pprof_entry *e,
				const struct attribute_location *place, s32 pid, char *name,
				size_t size)
{
	if (entry_is_overflow(w, e))
		snprintf(name, size, OTHER_NAME);
	else if (place)
		symbols_get_function(w->symbols, pid, place, w->pprof->live, name, size);
	else
		symbols_name_unmapped(e->pc, w->pprof->live, name, size);
}

/*
 * Return true if the address may be written. In the running kernel, and outside of mappings, it may
 * not: a location then represents its whole function.
 */
static bool address_is_public(const struct pprof_writer *w, const struct attribute_location *place)
{
	return place ? symbols_address_is_public(place, w->pprof->live) : !w->pprof->live;
}

/*
 * Write a location, unless a location with the same key was written before. @key: identifies the
 * location; @text: number of the function's name. Return the number of the location.
 */
static u64 write_location_once(struct pprof_writer *w, const char *key, u64 mapping, u64 address,
			       u64 text, const char *binary)
{
	u64 id, function;
	bool new;

	id = text_index_get_or_add(w, &w->locations, key, &new);
	if (!new)
		return id;
	function = add_function(w, mapping, text, binary);
	protobuf_open_message(&w->proto, PROFILE_LOCATION);
	protobuf_write_varint(&w->proto, LOCATION_ID, id);
	if (mapping)
		protobuf_write_varint(&w->proto, LOCATION_MAPPING, mapping);
	protobuf_write_varint(&w->proto, LOCATION_ADDRESS, address);
	protobuf_open_message(&w->proto, LOCATION_LINE);
	protobuf_write_varint(&w->proto, LINE_FUNCTION, function);
	protobuf_close_message(&w->proto);
	protobuf_close_message(&w->proto);
	return id;
}

static u64 add_location(struct pprof_writer *w, const struct pprof_entry *e, bool known,
			const struct attribute_process *process)
{
	s32 pid = process ? process->pid : 0;
	struct attribute_location place;
	u64 mapping = 0, address = e->pc, text = 0;
	char key[96], name[NAME_SIZE];
	bool placed, public;

	placed = known &&
		 attributor_locate_pc(w->pprof->attributor, e->process, e->pc, e->kernel, &place);
	if (placed) {
		mapping = add_mapping(w, e, &place, pid);
		address = place.offset;
	}
	public = address_is_public(w, placed ? &place : NULL);
	if (!public) {
		write_location_name(w, e, placed ? &place : NULL, pid, name, sizeof(name));
		text = get_string_index(w, name);
		address = 0;
	}
	snprintf(key, sizeof(key), "%" PRIu64 " %" PRIx64 " %d %" PRIu64, mapping, address,
		 entry_is_overflow(w, e), text);
	if (public && !text_index_contains(&w->locations, key)) {
		write_location_name(w, e, placed ? &place : NULL, pid, name, sizeof(name));
		text = get_string_index(w, name);
	}
	return write_location_once(w, key, mapping, address, text, placed ? place.binary : "");
}

/*
 * Add a label to the sample that is being written. Key and value get their numbers now; the table
 * of strings is written at the end of the profile.
 */
static void add_label(struct pprof_writer *w, const char *key, const char *value)
{
	u64 k = get_string_index(w, key), v = get_string_index(w, value);

	protobuf_open_message(&w->proto, SAMPLE_LABEL);
	protobuf_write_varint(&w->proto, LABEL_KEY, k);
	protobuf_write_varint(&w->proto, LABEL_STRING, v);
	protobuf_close_message(&w->proto);
}

/*
 * Return the name that the container has in metrics. In a pod, that is the complete Kubernetes
 * name. @whole: buffer for the name.
 */
static const char *get_container_name(const struct pprof_writer *w, const struct pprof_entry *e,
				      char whole[PODS_NAME_SIZE])
{
	const struct attribute_container *c =
		attributor_get_container(w->pprof->attributor, e->container);
	struct container_details details;

	if (entry_is_overflow(w, e))
		return OTHER_NAME;
	if (e->container == ATTRIBUTE_NONE)
		return "[unattributed]";
	if (!c || c->generation != e->container_generation)
		return "(other)";
	if (!e->container || !*c->name)
		return "-";
	attributor_get_container_details(w->pprof->attributor, e->container, &details);
	pods_format_name(details.pod, c->name, whole);
	return whole;
}

static void add_labels(struct pprof_writer *w, const struct pprof_entry *e, const char *container,
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
static void add_values(struct pprof_writer *w, const struct pprof_entry *e)
{
	for (unsigned int i = 0; i < PPROF_VALUES; i++)
		protobuf_append_packed(&w->proto, e->value[i]);
	for (size_t u = 0; u < ARRAY_SIZE(weights); u++)
		for (unsigned int i = 0; i < PPROF_VALUES; i++)
			protobuf_append_packed(&w->proto,
					       e->unit == weights[u].unit ? e->weighted[i] : 0);
}

/* Write a sample. No other message may be written while this one is open. */
static void add_sample(struct pprof_writer *w, const struct pprof_entry *e, u64 location,
		       const char *container, const char *process)
{
	protobuf_open_message(&w->proto, PROFILE_SAMPLE);
	protobuf_open_message(&w->proto, SAMPLE_LOCATION);
	protobuf_append_packed(&w->proto, location);
	protobuf_close_message(&w->proto);
	protobuf_open_message(&w->proto, SAMPLE_VALUE);
	add_values(w, e);
	protobuf_close_message(&w->proto);
	add_labels(w, e, container, process);
	protobuf_close_message(&w->proto);
}

static void add_entry(struct pprof_writer *w, const struct pprof_entry *e)
{
	const struct attribute_process *process =
		attributor_get_process(w->pprof->attributor, e->process);
	char whole[PODS_NAME_SIZE];
	u64 location;
	bool known;

	if (!e->value[PPROF_SAMPLES] || pprof_hide_entry(&w->fold, e))
		return;
	if (!entry_is_overflow(w, e) && !entry_names_fit(w)) {
		for (unsigned int i = 0; i < PPROF_VALUES; i++) {
			w->others[e->unit].value[i] += e->value[i];
			w->others[e->unit].weighted[i] += e->weighted[i];
		}
		return;
	}
	/*
	 * If the attributor has reused the entry for another process, the mappings of that process
	 * do not apply.
	 */
	if (process && process->generation != e->generation)
		process = NULL;
	known = process || (e->process == ATTRIBUTE_NONE && !entry_is_overflow(w, e));
	location = add_location(w, e, known, process);
	add_sample(w, e, location, get_container_name(w, e, whole),
		   entry_is_overflow(w, e) ? OTHER_NAME :
		   process		   ? process->comm :
					     "[unattributed]");
}

/*
 * Compress complete messages once they have PPROF_CHUNK_BYTES bytes, so that the buffer stays
 * small.
 * @end: compress all bytes, and end the compressed stream.
 */
static void writer_flush(struct pprof_writer *w, bool end)
{
	u8 out[16384];
	size_t done, have;
	ssize_t n;

	if (w->proto.size < PPROF_CHUNK_BYTES && !end)
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

static void write_hidden_sums(struct pprof_writer *w)
{
	u64 location = 0;

	if (w->fold.count)
		location =
			write_location_once(w, "other", 0, 0, get_string_index(w, "[other]"), "");
	for (u32 i = 0; i < w->fold.count; i++) {
		add_sample(w, &w->fold.entries[i], location, "other", NULL);
		writer_flush(w, false);
	}
	if (w->fold.error)
		w->error = w->fold.error;
}

static void add_types(struct pprof_writer *w)
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

static void add_samples_and_operations(const struct pprof_entry *e, u64 *samples, u64 *operations)
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

	for (u32 i = 0; i < pprof->limits.entries; i++)
		add_samples_and_operations(&pprof->entries[i], samples, operations);
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		add_samples_and_operations(&pprof->others[unit], samples, operations);
		if (!samples[unit])
			continue;
		units++;
		mean = (operations[unit] + samples[unit] / 2) / samples[unit];
	}
	return units == 1 && !pprof->no_interval ? mean : 0;
}

static void add_metadata(struct pprof_writer *w, const struct pprof_metadata *metadata)
{
	static const char *const backends[] = {
		[BACKEND_UNKNOWN] = "SPU: unknown",
		[BACKEND_HARDWARE] = "SPU: hardware",
		[BACKEND_EMULATED] =
			"SPU: emulated: process, PC and time are real, the rest is modelled",
	};

	add_types(w);
	/*
	 * The type is the same for all units, because pprof does not merge profiles with different
	 * period types.
	 */
	add_type(w, PROFILE_PERIOD_TYPE, "operations", "count");
	protobuf_write_varint(&w->proto, PROFILE_PERIOD, mean_interval(w->pprof));
	protobuf_write_varint(&w->proto, PROFILE_TIME, metadata->start_ns);
	protobuf_write_varint(&w->proto, PROFILE_DURATION, metadata->duration_ns);
	protobuf_write_varint(&w->proto, PROFILE_COMMENT,
			      get_string_index(w, backends[metadata->backend % 3]));
	protobuf_write_varint(&w->proto, PROFILE_DEFAULT_TYPE,
			      get_string_index(w, value_names[PPROF_SAMPLES][0]));
}

/* Write the strings in the order of their numbers. */
static void add_strings(struct pprof_writer *w)
{
	const char **texts = calloc(w->strings.count + 1, sizeof(*texts));

	if (!texts) {
		w->error = -ENOMEM;
		return;
	}
	for (u32 i = 0; i < w->strings.capacity; i++)
		if (w->strings.slots[i].text)
			texts[w->strings.slots[i].id - 1] = w->strings.slots[i].text;
	for (u32 i = 0; i < w->strings.count; i++) {
		protobuf_write_string(&w->proto, PROFILE_STRING, texts[i]);
		writer_flush(w, false);
	}
	free(texts);
}

void pprof_request_names(struct pprof *pprof, struct symbols_cache *symbols)
{
	struct attributor *attributor = pprof->attributor;

	for (u32 i = 0; i < pprof->limits.entries; i++) {
		const struct pprof_entry *e = &pprof->entries[i];
		const struct attribute_process *process =
			attributor_get_process(attributor, e->process);
		struct attribute_location place;
		u64 key;

		if (e->value[PPROF_SAMPLES] && (!process || process->generation == e->generation) &&
		    attributor_locate_pc(attributor, e->process, e->pc, e->kernel, &place))
			symbols_get_function_key(symbols, process ? process->pid : 0, &place,
						 pprof->live, &key);
	}
}

/*
 * Request all names before the profile is written, and wait for them. The profile is written only
 * once, so a name that arrives later would be missing.
 */
static void request_names(const struct pprof_writer *w)
{
	pprof_request_names(w->pprof, w->symbols);
	if (!symbols_wait_configured(w->symbols))
		symbols_wait(w->symbols, NAMES_WAIT_MS);
}

static void write_profile(struct pprof_writer *w, const struct pprof_metadata *metadata)
{
	get_string_index(w, "");
	add_metadata(w, metadata);
	for (u32 i = 0; i < w->pprof->limits.entries; i++) {
		add_entry(w, &w->pprof->entries[i]);
		writer_flush(w, false);
	}
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		add_entry(w, &w->others[unit]);
		writer_flush(w, false);
	}
	write_hidden_sums(w);
	add_strings(w);
	writer_flush(w, true);
}

int pprof_write(struct pprof *pprof, struct symbols_cache *symbols,
		const struct pprof_metadata *metadata, int fd)
{
	struct pprof_writer w = { .pprof = pprof, .symbols = symbols, .fd = fd };
	int r = pprof_hidden_init(&w.fold, metadata->filter, pprof->attributor);

	if (r < 0)
		return r;
	memcpy(w.others, pprof->others, sizeof(w.others));
	pprof_sort_entries(pprof);
	request_names(&w);
	protobuf_init(&w.proto, PROTOBUF_BUFFER_BYTES);
	/*
	 * 15 is log2 of the compression window; zlib adds the header and trailer of gzip for + 16.
	 */
	if (deflateInit2(&w.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) ==
	    Z_OK) {
		write_profile(&w, metadata);
		deflateEnd(&w.z);
	} else {
		w.error = -ENOMEM;
	}
	r = w.error ? w.error : w.proto.error;
	protobuf_deinit(&w.proto);
	text_index_deinit(&w.strings);
	text_index_deinit(&w.mappings);
	text_index_deinit(&w.functions);
	text_index_deinit(&w.locations);
	pprof_hidden_deinit(&w.fold);
	return r;
}
