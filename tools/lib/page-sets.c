// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page-sets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/array.h"

/* ---- Pages of processes --------------------------------------------------------- */

static void counts_add(struct page_counts *to, const struct page_counts *from)
{
	to->samples += from->samples;
	to->accesses += from->accesses;
	to->missed += from->missed;
	to->remote += from->remote;
	to->remote_accesses += from->remote_accesses;
	to->latency_sum += from->latency_sum;
	to->translation_sum += from->translation_sum;
	to->remote_latency_sum += from->remote_latency_sum;
}

static bool is_same_page(const struct sampled_page *a, const struct sampled_page *b)
{
	return a->key.page == b->key.page && a->key.process == b->key.process &&
	       a->key.generation == b->key.generation;
}

/* Return the node of the memory with most accesses of @count entries of one page. */
static u8 find_memory_node(const struct sampled_page *entry, u32 count)
{
	u64 accesses[NODES_MAX] = { 0 };
	u8 best = NODE_NONE;

	for (u32 i = 0; i < count; i++)
		if (entry[i].key.memory_node < NODES_MAX)
			accesses[entry[i].key.memory_node] += entry[i].counts.accesses;
	for (u8 node = 0; node < NODES_MAX; node++)
		if (accesses[node] && (best == NODE_NONE || accesses[node] > accesses[best]))
			best = node;
	return best;
}

/* Decide whether a page with @count entries, which are sorted by node of the CPU, is misplaced. */
static void page_set_placement(struct owned_page *page, const struct sampled_page *entry, u32 count)
{
	u64 most = 0;

	for (u32 i = 0, next; i < count; i = next) {
		u64 accesses = 0, cycles = 0;

		for (next = i; next < count && entry[next].key.cpu_node == entry[i].key.cpu_node;
		     next++) {
			accesses += entry[next].counts.remote_accesses;
			cycles += entry[next].counts.remote_latency_sum;
		}
		if (accesses <= most)
			continue;
		most = accesses;
		page->to_node = entry[i].key.cpu_node;
		page->remote_cycles = cycles;
	}
	page->node = find_memory_node(entry, count);
	page->misplaced = most > page->counts.missed - most;
}

static struct owned_page make_page(const struct page_sets *sets, const struct sampled_page *entry,
				   u32 count)
{
	struct owned_page page = {
		.page = entry->key.page,
		.process = entry->key.process,
		.generation = entry->key.generation,
		.to_node = NODE_NONE,
	};
	const struct attribute_process *process = page_sets_get_process(sets, &page);

	page.container = process ? process->container : 0;
	for (u32 i = 0; i < count; i++)
		counts_add(&page.counts, &entry[i].counts);
	page_set_placement(&page, entry, count);
	return page;
}

const struct attribute_process *page_sets_get_process(const struct page_sets *sets,
						      const struct owned_page *page)
{
	const struct attribute_process *process =
		page->process == ATTRIBUTE_NONE ?
			NULL :
			attributor_get_process(sets->attributor, page->process);

	return process && process->generation == page->generation ? process : NULL;
}

static int compare_pages(const void *a, const void *b)
{
	const struct owned_page *x = a, *y = b;
	int r = compare_u64(x->container, y->container);

	if (!r)
		r = compare_u64(x->process, y->process);
	if (!r)
		r = compare_u64(x->generation, y->generation);
	return r ? r : compare_u64(x->page, y->page);
}

/* ---- Hot and cold --------------------------------------------------------------- */

/* Order pages by accesses, the most first; pages with the same number by process and address. */
static int compare_accesses(const void *a, const void *b)
{
	const struct owned_page *x = *(const struct owned_page *const *)a,
				*y = *(const struct owned_page *const *)b;
	int r = compare_u64(y->counts.accesses, x->counts.accesses);

	return r ? r : compare_pages(x, y);
}

/* Find the hot and the cold set of @count pages of one container. @sorted has memory for them. */
static void mark_hot_and_cold(struct owned_page *page, u32 count, struct owned_page **sorted)
{
	unsigned __int128 all = 0, sum = 0;

	for (u32 i = 0; i < count; i++) {
		sorted[i] = &page[i];
		all += page[i].counts.accesses;
	}
	qsort(sorted, count, sizeof(struct owned_page *), compare_accesses);
	for (u32 i = 0; i < count && sum * 100 < all * PAGE_SET_HOT_PERCENT; i++) {
		sorted[i]->hot = true;
		sum += sorted[i]->counts.accesses;
	}
	sum = 0;
	for (u32 i = count; i--;) {
		sum += sorted[i]->counts.accesses;
		if (sum * 100 > all * PAGE_SET_COLD_PERCENT)
			break;
		sorted[i]->cold = true;
	}
}

/* Return the index after the last page of the container of page @first. */
static u32 find_container_end(const struct page_sets *sets, u32 first)
{
	return ARRAY_COUNT_LEADING(sets->count, i,
				   sets->page[i].container <= sets->page[first].container);
}

int page_sets_make(const struct sampled_pages *pages, const struct attributor *attributor,
		   struct page_sets *ret_sets)
{
	struct owned_page **sorted = calloc(pages->count + 1ULL, sizeof(struct owned_page *));
	struct page_sets sets = {
		.page = calloc(pages->count + 1ULL, sizeof(*sets.page)),
		.attributor = attributor,
	};

	if (!sets.page || !sorted) {
		free(sets.page);
		free(sorted);
		return -ENOMEM;
	}
	for (u32 i = 0, next; i < pages->count; i = next) {
		for (next = i;
		     next < pages->count && is_same_page(&pages->page[i], &pages->page[next]);)
			next++;
		sets.page[sets.count++] = make_page(&sets, &pages->page[i], next - i);
	}
	qsort(sets.page, sets.count, sizeof(*sets.page), compare_pages);
	for (u32 i = 0, end; i < sets.count; i = end) {
		end = find_container_end(&sets, i);
		mark_hot_and_cold(&sets.page[i], end - i, sorted);
	}
	free(sorted);
	*ret_sets = sets;
	return 0;
}

void page_sets_deinit(struct page_sets *sets)
{
	free(sets->page);
	*sets = (struct page_sets){ 0 };
}

/* ---- JSON ----------------------------------------------------------------------- */

static void add_u64(json_object *to, const char *key, u64 value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static void add_address(json_object *to, const char *key, u64 address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_object_object_add(to, key, json_object_new_string(text));
}

static void add_node(json_object *to, const char *key, u8 node)
{
	json_object_object_add(to, key, node == NODE_NONE ? NULL : json_object_new_uint64(node));
}

/**
 * struct page_range - adjacent pages of a process
 * @first: the first page
 * @start, @end: the range, in units of pages
 * @pages: number of sampled pages in it
 * @cycles: latency that moving the range could avoid: remote latency of misplaced pages, translation
 *	latency of a huge page; total latency of hot and cold pages
 * @counts: sums of its pages
 */
struct page_range {
	const struct owned_page *first;
	u64 start;
	u64 end;
	u32 pages;
	u64 cycles;
	struct page_counts counts;
};

/**
 * struct page_ranges - a set of a container
 * @range: @count ranges
 * @pages: number of pages of all ranges
 * @cycles: sum of &page_range.cycles
 */
struct page_ranges {
	struct page_range *range;
	u32 count;
	u32 pages;
	u64 cycles;
};

/** enum page_set - the sets of a container */
enum page_set {
	PAGE_SET_HOT,
	PAGE_SET_COLD,
	PAGE_SET_MISPLACED,
	PAGE_SET_HUGE,
	PAGE_SETS,
};

static const char *const set_names[PAGE_SETS] = {
	[PAGE_SET_HOT] = "hot",
	[PAGE_SET_COLD] = "cold",
	[PAGE_SET_MISPLACED] = "misplaced",
	[PAGE_SET_HUGE] = "huge_candidates",
};

static bool page_is_in_set(const struct owned_page *page, enum page_set set)
{
	return set == PAGE_SET_HOT  ? page->hot :
	       set == PAGE_SET_COLD ? page->cold :
	       set == PAGE_SET_HUGE ? true :
				      page->misplaced;
}

/* Return whether @page continues @range: a huge page contains it, or it follows in the same set. */
static bool range_continues(const struct page_range *range, const struct owned_page *page,
			    enum page_set set)
{
	if (range->first->process != page->process || range->first->generation != page->generation)
		return false;
	if (set == PAGE_SET_HUGE)
		return page->page < range->end;
	return range->end == page->page &&
	       (set != PAGE_SET_MISPLACED ||
		(range->first->node == page->node && range->first->to_node == page->to_node));
}

static u64 get_page_cycles(const struct owned_page *page, enum page_set set)
{
	return set == PAGE_SET_HUGE	 ? page->counts.translation_sum :
	       set == PAGE_SET_MISPLACED ? page->remote_cycles :
					   page->counts.latency_sum;
}

static void range_add_page(struct page_range *range, const struct owned_page *page,
			   enum page_set set)
{
	if (set != PAGE_SET_HUGE)
		range->end = page->page + 1;
	range->pages++;
	range->cycles += get_page_cycles(page, set);
	counts_add(&range->counts, &page->counts);
}

static struct page_range range_begin(const struct owned_page *page, enum page_set set)
{
	const u64 pages = 1ULL << (HUGE_PAGE_SHIFT - HOT_PAGE_SHIFT);
	u64 start = set == PAGE_SET_HUGE ? page->page & ~(pages - 1) : page->page;

	return (struct page_range){ .first = page, .start = start, .end = start + pages };
}

static int compare_range_cycles(const void *a, const void *b)
{
	const struct page_range *x = a, *y = b;
	int r = compare_u64(y->cycles, x->cycles);

	return r ? r : compare_pages(x->first, y->first);
}

static int compare_range_accesses(const void *a, const void *b)
{
	const struct page_range *x = a, *y = b;
	int r = compare_u64(y->counts.accesses, x->counts.accesses);

	return r ? r : compare_pages(x->first, y->first);
}

/* Remove huge pages with one sampled page only, and those without translation latency. */
static void remove_small_candidates(struct page_ranges *ranges)
{
	u32 kept = 0;

	for (u32 i = 0; i < ranges->count; i++)
		if (ranges->range[i].pages > 1 && ranges->range[i].cycles)
			ranges->range[kept++] = ranges->range[i];
	ranges->count = kept;
}

/* Find the ranges of @count pages of one container. @ranges has memory for as many ranges. */
static void find_ranges(const struct owned_page *page, u32 count, enum page_set set,
			struct page_ranges *ranges)
{
	struct page_range *range = NULL;

	*ranges = (struct page_ranges){ .range = ranges->range };
	for (u32 i = 0; i < count; i++) {
		if (!page_is_in_set(&page[i], set))
			continue;
		if (!range || !range_continues(range, &page[i], set)) {
			range = &ranges->range[ranges->count++];
			*range = range_begin(&page[i], set);
		}
		range_add_page(range, &page[i], set);
	}
	if (set == PAGE_SET_HUGE)
		remove_small_candidates(ranges);
	for (u32 i = 0; i < ranges->count; i++) {
		ranges->pages += ranges->range[i].pages;
		ranges->cycles += ranges->range[i].cycles;
	}
	qsort(ranges->range, ranges->count, sizeof(*ranges->range),
	      set == PAGE_SET_HOT || set == PAGE_SET_COLD ? compare_range_accesses :
							    compare_range_cycles);
}

static json_object *make_range_json(const struct page_sets *sets, const struct page_range *range,
				    enum page_set set)
{
	const struct attribute_process *process = page_sets_get_process(sets, range->first);
	json_object *o = json_object_new_object();

	json_object_object_add(o, "process",
			       json_object_new_string(process ? process->comm : "[unattributed]"));
	add_u64(o, "pid", process && process->pid > 0 ? (u64)process->pid : 0);
	add_address(o, "start", range->start << HOT_PAGE_SHIFT);
	add_address(o, "end", range->end << HOT_PAGE_SHIFT);
	add_u64(o, "pages", range->pages);
	add_u64(o, "samples", range->counts.samples);
	add_u64(o, "accesses", range->counts.accesses);
	if (set == PAGE_SET_MISPLACED) {
		add_node(o, "node", range->first->node);
		add_node(o, "to_node", range->first->to_node);
		add_u64(o, "remote", range->counts.remote);
	}
	add_u64(o, "cycles", range->cycles);
	return o;
}

static json_object *make_set_json(const struct page_sets *sets, const struct page_ranges *ranges,
				  enum page_set set, u32 limit)
{
	json_object *o = json_object_new_object(), *list = json_object_new_array();

	add_u64(o, "pages", ranges->pages);
	add_u64(o, "cycles", ranges->cycles);
	add_u64(o, "ranges_found", ranges->count);
	json_object_object_add(o, "ranges", list);
	for (u32 i = 0; i < ranges->count && (!limit || i < limit); i++)
		json_object_array_add(list, make_range_json(sets, &ranges->range[i], set));
	return o;
}

/* @ranges: memory for @count ranges */
static json_object *make_container_json(const struct page_sets *sets, const struct owned_page *page,
					u32 count, u32 limit, struct page_ranges *ranges)
{
	const struct attribute_container *c =
		attributor_get_container(sets->attributor, page->container);
	json_object *o = json_object_new_object();
	struct page_counts all = { 0 };

	for (u32 i = 0; i < count; i++)
		counts_add(&all, &page[i].counts);
	json_object_object_add(
		o, "container",
		json_object_new_string(c && page->container && *c->name ? c->name : "-"));
	add_u64(o, "pages", count);
	add_u64(o, "samples", all.samples);
	add_u64(o, "accesses", all.accesses);
	add_u64(o, "latency_sum", all.latency_sum);
	add_u64(o, "translation_sum", all.translation_sum);
	add_u64(o, "remote", all.remote);
	add_u64(o, "remote_latency_sum", all.remote_latency_sum);
	for (enum page_set set = 0; set < PAGE_SETS; set++) {
		find_ranges(page, count, set, ranges);
		json_object_object_add(o, set_names[set], make_set_json(sets, ranges, set, limit));
	}
	return o;
}

/* Order containers by accesses, the most first. */
static int compare_containers(const void *a, const void *b)
{
	json_object *x = *(json_object *const *)a, *y = *(json_object *const *)b;
	int r = compare_u64(json_object_get_uint64(json_object_object_get(y, "accesses")),
			    json_object_get_uint64(json_object_object_get(x, "accesses")));

	return r ? r :
		   strcmp(json_object_get_string(json_object_object_get(x, "container")),
			  json_object_get_string(json_object_object_get(y, "container")));
}

int page_sets_add_json(const struct page_sets *sets, const struct sampled_pages *pages, u32 limit,
		       json_object *root)
{
	struct page_ranges ranges = { .range = calloc(sets->count + 1ULL, sizeof(*ranges.range)) };
	json_object *list = json_object_new_array();

	if (!ranges.range || !list) {
		free(ranges.range);
		json_object_put(list);
		return -ENOMEM;
	}
	json_object_object_add(root, "containers", list);
	for (u32 i = 0, end; i < sets->count; i = end) {
		end = find_container_end(sets, i);
		json_object_array_add(
			list, make_container_json(sets, &sets->page[i], end - i, limit, &ranges));
	}
	json_object_array_sort(list, compare_containers);
	add_u64(root, "page_size", 1ULL << HOT_PAGE_SHIFT);
	add_u64(root, "huge_page_size", 1ULL << HUGE_PAGE_SHIFT);
	add_u64(root, "samples_kernel", pages->kernel);
	add_u64(root, "samples_no_address", pages->no_address);
	add_u64(root, "samples_dropped", pages->dropped);
	free(ranges.range);
	return 0;
}
