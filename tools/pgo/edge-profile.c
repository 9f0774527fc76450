// SPDX-License-Identifier: LGPL-2.1-or-later
#include "edge-profile.h"

#include <errno.h>
#include <stdlib.h>

/* The longest location: a name with each byte escaped, an offset and two spaces */
#define LOCATION_SIZE 1100

/* llvm-profgen assumes pages of this size. */
#define PAGE_BYTES 4096

static int compare_offsets(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Return all offsets in the file, ascending and without duplicates; NULL without memory. */
static u64 *collect_offsets(const struct edge_recording *edges, u32 file, u32 *ret_count)
{
	u64 *offset = calloc(2 * (size_t)edges->table.count + 1, sizeof(*offset));
	u32 count = 0, unique = 0;

	if (!offset)
		return NULL;
	for (u32 i = 0; i < edges->table.count; i++) {
		const struct edge_key *key = &edges->table.edge[i].key;

		if (key->from_file == file)
			offset[count++] = key->from;
		if (key->to_file == file)
			offset[count++] = key->to;
	}
	qsort(offset, count, sizeof(*offset), compare_offsets);
	for (u32 i = 0; i < count; i++)
		if (!i || offset[i] != offset[i - 1])
			offset[unique++] = offset[i];
	*ret_count = unique;
	return offset;
}

int edge_profile_init(const struct edge_recording *edges, u32 file,
		      const struct symbol_folders *folders, bool frames,
		      struct edge_profile *ret_profile)
{
	const struct edge_file *from = &edges->file[file];
	const struct attribute_location location = {
		.binary = from->path,
		.inode = from->inode,
		.build_id = from->build_id,
		.build_id_size = from->build_id_size,
	};
	u32 count;
	u64 *offset = collect_offsets(edges, file, &count);
	int r;

	*ret_profile = (struct edge_profile){ .edges = edges, .file = file };
	if (!offset)
		return -ENOMEM;
	r = linkage_names_read(&location, folders, offset, count, &ret_profile->names);
	if (r == 0 && frames)
		r = source_frames_read(&location, folders, offset, count, &ret_profile->frames);
	free(offset);
	return r;
}

void edge_profile_deinit(struct edge_profile *profile)
{
	linkage_names_clear(&profile->names);
	source_frames_clear(&profile->frames);
}

/* Copy a name, with a backslash before spaces and backslashes. Return false for no valid name. */
static bool escape_name(const char *name, char *to)
{
	if (!*name)
		return false;
	for (; *name; name++) {
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
		if (*name == ' ' || *name == '\\')
			*to++ = '\\';
		*to++ = *name;
	}
	*to = '\0';
	return true;
}

/*
 * Write the location "1 FUNCTION OFFSET". BOLT appends a number to the names of local functions,
 * which need not be unique. Return false for a location in the file without a function.
 */
static bool format_function(const struct edge_profile *profile, u32 file, u64 offset,
			    char to[static LOCATION_SIZE])
{
	const struct linkage_name *name =
		file == profile->file ? linkage_names_find(&profile->names, offset) : NULL;
	char escaped[1024], number[16] = "";

	if (file != profile->file) {
		strcpy(to, "0 [unknown] 0");
		return true;
	}
	if (!name || !escape_name(name->name, escaped))
		return false;
	if (name->local)
		snprintf(number, sizeof(number), "/%u", name->local);
	snprintf(to, LOCATION_SIZE, "1 %s%s %llx", escaped, number,
		 (unsigned long long)(name->address - name->function));
	return true;
}

static void print_function_edge(FILE *out, struct edge_profile *profile,
				const struct counted_edge *edge)
{
	const struct edge_key *key = &edge->key;
	char from[LOCATION_SIZE], to[LOCATION_SIZE];

	if (!format_function(profile, key->from_file, key->from, from) ||
	    !format_function(profile, key->to_file, key->to, to)) {
		profile->unnamed += edge->count;
		return;
	}
	fprintf(out, "%s %s %llu %llu\n", from, to, (unsigned long long)edge->mispredicted,
		(unsigned long long)edge->count);
	profile->written++;
}

static bool is_edge_of_file(const struct edge_key *key, u32 file)
{
	return key->from_file == file || key->to_file == file;
}

void edge_profile_print_fdata(FILE *out, struct edge_profile *profile)
{
	const struct edge_table *table = &profile->edges->table;

	for (u32 i = 0; i < table->count; i++)
		if ((table->edge[i].key.kind == EDGE_TAKEN ||
		     table->edge[i].key.kind == EDGE_NOT_TAKEN) &&
		    is_edge_of_file(&table->edge[i].key, profile->file))
			print_function_edge(out, profile, &table->edge[i]);
}

/* Write the address, or "X:0" in another file. Return false for a location in no segment. */
static bool format_address(const struct edge_profile *profile, u32 file, u64 offset, char to[32])
{
	const struct linkage_name *name =
		file == profile->file ? linkage_names_find(&profile->names, offset) : NULL;

	if (file != profile->file) {
		strcpy(to, "X:0");
		return true;
	}
	if (!name || name->address == UINT64_MAX)
		return false;
	snprintf(to, 32, "%llx", (unsigned long long)name->address);
	return true;
}

static void print_address_edge(FILE *out, struct edge_profile *profile,
			       const struct counted_edge *edge)
{
	const struct edge_key *key = &edge->key;
	char from[32], to[32];

	if (!format_address(profile, key->from_file, key->from, from) ||
	    !format_address(profile, key->to_file, key->to, to)) {
		profile->unnamed += edge->count;
		return;
	}
	fprintf(out, "%c %s %s %llu", key->kind == EDGE_TAKEN ? 'B' : 'F', from, to,
		(unsigned long long)edge->count);
	if (key->kind == EDGE_TAKEN)
		fprintf(out, " %llu", (unsigned long long)edge->mispredicted);
	fputc('\n', out);
	profile->written++;
}

/* Write the address, or 0 in another file. Return false for a location in no segment. */
static bool find_address(const struct edge_profile *profile, u32 file, u64 offset, u64 *ret_address)
{
	const struct linkage_name *name =
		file == profile->file ? linkage_names_find(&profile->names, offset) : NULL;

	if (file == profile->file && (!name || name->address == UINT64_MAX))
		return false;
	*ret_address = name ? name->address : 0;
	return true;
}

/* Print a branch. The flags are those of perf: predicted or mispredicted. */
static void print_branch_stack(FILE *out, u64 from, u64 to, char flag, u64 count)
{
	if (count)
		fprintf(out, "%llu\n %llx 0x%llx/0x%llx/%c/-/-/0\n", (unsigned long long)count,
			(unsigned long long)from, (unsigned long long)from, (unsigned long long)to,
			flag);
}

/*
 * Print a run. llvm-profgen counts each branch to the first instruction of a function as a call,
 * but the call before the run has an edge of its own, so let the run begin at the second
 * instruction.
 */
static void print_run_stack(FILE *out, const struct linkage_name *first, u64 from, u64 to,
			    u64 count)
{
	if (first && *first->name && first->function == from)
		from += 4;
	if (from <= to)
		fprintf(out, "%llu\n %llx 0x%llx/0x0/P/-/-/0 0x0/0x%llx/P/-/-/0\n",
			(unsigned long long)count, (unsigned long long)to, (unsigned long long)to,
			(unsigned long long)from);
}

static void print_stack(FILE *out, struct edge_profile *profile, const struct counted_edge *edge)
{
	const struct edge_key *key = &edge->key;
	u64 from, to;

	if (!find_address(profile, key->from_file, key->from, &from) ||
	    !find_address(profile, key->to_file, key->to, &to)) {
		profile->unnamed += edge->count;
		return;
	}
	profile->written++;
	if (key->kind != EDGE_TAKEN) {
		print_run_stack(out, linkage_names_find(&profile->names, key->from), from, to,
				edge->count);
		return;
	}
	print_branch_stack(out, from, to, 'P', edge->count - edge->mispredicted);
	print_branch_stack(out, from, to, 'M', edge->mispredicted);
}

/* Print the branches and the runs of the file, or the branches that were not taken without runs. */
static void print_addresses(FILE *out, struct edge_profile *profile,
			    void (*print)(FILE *, struct edge_profile *,
					  const struct counted_edge *))
{
	const struct edge_table *table = &profile->edges->table;
	u32 run = profile->edges->runs ? EDGE_RUN : EDGE_NOT_TAKEN;

	for (u32 i = 0; i < table->count; i++)
		if ((table->edge[i].key.kind == EDGE_TAKEN || table->edge[i].key.kind == run) &&
		    is_edge_of_file(&table->edge[i].key, profile->file))
			print(out, profile, &table->edge[i]);
}

void edge_profile_print_aggregated(FILE *out, struct edge_profile *profile)
{
	char id[2 * BUILD_ID_MAX + 1];

	/* perf2bolt reads the name of an event, and ignores it. */
	if (edge_file_format_build_id(&profile->edges->file[profile->file], id))
		fprintf(out, "E build-id:%s\n", id);
	print_addresses(out, profile, print_address_edge);
}

/*
 * Print the mapping of the file as perf does. llvm-profgen finds the file by the last part of its
 * path, and expects the address and the offset of a page.
 */
static void print_mapping(FILE *out, const struct edge_profile *profile)
{
	const struct edge_file *file = &profile->edges->file[profile->file];
	const struct linkage_names *names = &profile->names;
	u64 before = names->code_address % PAGE_BYTES;
	char id[2 * BUILD_ID_MAX + 1];

	if (!names->code_size || !edge_file_format_build_id(file, id) ||
	    before > names->code_offset)
		return;
	fprintf(out, "speprof 0 PERF_RECORD_MMAP2 0/0: [0x%llx(0x%llx) @ 0x%llx <%s>]: r-xp ",
		(unsigned long long)(names->code_address - before),
		(unsigned long long)(names->code_size + before),
		(unsigned long long)(names->code_offset - before), id);
	for (const char *p = file->path; *p; p++)
		fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, out);
	fputc('\n', out);
}

void edge_profile_print_brstack(FILE *out, struct edge_profile *profile)
{
	print_mapping(out, profile);
	print_addresses(out, profile, print_stack);
}
