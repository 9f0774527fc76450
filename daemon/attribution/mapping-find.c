// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the mapping of an address at a given time. The functions only read tables, under the reader
 * lock.
 */
#include "attributor-internal.h"

#include <stdlib.h>
#include <string.h>

static void copy_binary(const struct mapped_binary *b, struct attribute_mapping *ret)
{
	ret->binary = b->path;
	ret->inode = b->inode;
	ret->device = b->device;
	ret->build_id = b->build_id;
	ret->build_id_size = b->build_id_size;
}

static void copy_mapping(const struct mapping *m, struct attribute_mapping *ret)
{
	ret->start = m->start;
	ret->end = m->end;
	copy_binary(m->binary, ret);
}

/*
 * Return whether @path is the kernel itself. In perf events the kernel has the name
 * "[kernel.kallsyms]_text", or "[guest.kernel.kallsyms]_text" for a guest. Other names are names of
 * modules.
 */
static bool is_kernel_image(const char *path)
{
	return !strncmp(path, "[kernel", 7) || !strncmp(path, "[guest", 6);
}

/*
 * Find the mapping of the kernel address @pc. If none is known, the result is "[kernel]" for all
 * addresses up to the next known mapping on either side.
 */
static void find_kernel_mapping(const struct attributor *a, u64 pc, struct attribute_mapping *ret)
{
	const struct mapping *m = maps_find(&a->kernel, pc);

	*ret = (struct attribute_mapping){
		.end = UINT64_MAX,
		.span = { 0, ATTRIBUTE_AT_END },
		.version = a->kernel.version,
		.binary = "[kernel]",
	};
	for (u32 i = 0; !m && i < a->kernel.count; i++) {
		if (a->kernel.entry[i].end <= pc)
			ret->start = a->kernel.entry[i].end;
		else if (a->kernel.entry[i].start < ret->end)
			ret->end = a->kernel.entry[i].start;
	}
	if (!m)
		return;
	copy_mapping(m, ret);
	if (is_kernel_image(m->binary->path))
		ret->binary = "[kernel]";
}

bool attributor_find_mapping(const struct attributor *a, u32 process, u64 pc, bool kernel,
			     u64 time_ns, struct attribute_mapping *ret_mapping)
{
	struct attribute_mapping found = { 0 };
	const struct mapping *m;

	if (kernel) {
		find_kernel_mapping(a, pc, ret_mapping);
		return true;
	}
	if (process >= a->processes_used)
		return false;
	m = maps_find_at(&a->process[process].maps, pc, time_ns, &found.span.from, &found.span.to);
	if (!m)
		return false;
	copy_mapping(m, &found);
	found.version = a->process[process].maps.version;
	found.anonymous = mapping_is_anonymous(found.binary);
	found.bias = found.anonymous ? 0 : m->start - m->offset;
	if (!found.binary[0])
		found.binary = "[anon]";
	/* The vdso of a 32-bit process is not the one that the daemon itself has mapped. */
	if (!strcmp(found.binary, "[vdso]") && m->end <= UINT32_MAX)
		found.binary = "[vdso32]";
	*ret_mapping = found;
	return true;
}

bool attributor_find_data_mapping(const struct attributor *a, u32 process, u64 address, u64 time_ns,
				  struct attribute_mapping *ret_mapping)
{
	struct attribute_mapping found = { 0 };
	const struct mapping *m;
	u64 end;

	if (process >= a->processes_used)
		return false;
	m = maps_find_below(&a->process[process].maps, address, time_ns, &found.span.from,
			    &found.span.to, &end);
	if (!m || m->binary->path[0] != '/' || mapping_is_anonymous(m->binary->path))
		return false;
	copy_mapping(m, &found);
	found.end = end;
	found.version = a->process[process].maps.version;
	found.bias = m->start - m->offset;
	*ret_mapping = found;
	return true;
}

static int binary_compare(const void *a, const void *b)
{
	const struct mapped_binary *const *x = a, *const *y = b;
	int r = strcmp((*x)->path, (*y)->path);

	if (!r)
		r = (int)(*x)->build_id_size - (int)(*y)->build_id_size;
	if (!r)
		r = memcmp((*x)->build_id, (*y)->build_id, sizeof((*x)->build_id));
	if (!r)
		r = ((*x)->device > (*y)->device) - ((*x)->device < (*y)->device);
	return r ? r : ((*x)->inode > (*y)->inode) - ((*x)->inode < (*y)->inode);
}

/*
 * Returns the number of files that attributor_for_each_binary() reports. If @ret is not NULL, write
 * them to it.
 */
static size_t binaries_collect(const struct attributor *a, const struct mapped_binary **ret)
{
	const struct mapped_binary *b = NULL;
	size_t count = 0;

	while ((b = map_store_get_next_binary(&a->store, b))) {
		/*
		 * Skip the vdso, because its name depends on the addresses at which it is mapped.
		 */
		if (!b->build_id_size || !strcmp(b->path, "[vdso]"))
			continue;
		if (ret)
			ret[count] = b;
		count++;
	}
	return count;
}

void attributor_for_each_binary(const struct attributor *a,
				void (*fn)(void *ctx, const struct attribute_mapping *mapping),
				void *ctx)
{
	size_t count = binaries_collect(a, NULL);
	const struct mapped_binary **binaries = calloc(count ? count : 1, sizeof(*binaries));

	if (!binaries)
		return;
	binaries_collect(a, binaries);
	qsort(binaries, count, sizeof(*binaries), binary_compare);
	for (size_t i = 0; i < count; i++) {
		struct attribute_mapping found = { 0 };

		copy_binary(binaries[i], &found);
		if (is_kernel_image(found.binary))
			found.binary = "[kernel]";
		fn(ctx, &found);
	}
	free(binaries);
}

u64 attributor_get_map_changes(const struct attributor *a)
{
	return a->store.changes;
}

u64 attributor_get_map_version(const struct attributor *a, u32 process, bool kernel)
{
	if (kernel)
		return a->kernel.version;
	return process < a->processes_used ? a->process[process].maps.version : 0;
}

const char *attributor_get_executable(const struct attributor *a, u32 process)
{
	const struct mapped_binary *executable;
	const struct process_table_entry *p;

	if (process >= a->processes_used || a->process[process].state == PROCESS_FREE)
		return "";
	p = &a->process[process];
	executable = maps_find_executable(&p->maps);
	if (!executable)
		executable = p->executable;
	return executable ? executable->path : p->pub.comm;
}

bool attributor_is_live(const struct attributor *a)
{
	return a->live;
}

bool attributor_has_final_executable(const struct attributor *a, u32 process)
{
	const struct process_table_entry *p;

	if (!a->live || process >= a->processes_used || process == IDLE_PROCESS)
		return true;
	p = &a->process[process];
	return p->state != PROCESS_LIVING || p->maps_answered_ns || p->executable ||
	       maps_find_executable(&p->maps);
}
