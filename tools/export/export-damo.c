// SPDX-License-Identifier: LGPL-2.1-or-later
#include "export-damo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/input.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/page-sets.h"

/* Duration of a recording that does not have it, us. */
#define DEFAULT_DURATION_US 1000000

static bool is_same_process(const struct owned_page *a, const struct owned_page *b)
{
	return a->process == b->process && a->generation == b->generation;
}

/* Print the record of a process with the pages from @first to @end - 1. */
static void print_record(FILE *out, const struct input_recording *input,
			 const struct owned_page *first, const struct owned_page *end, s32 pid)
{
	u64 duration_us = input->duration_ns / 1000 ?: DEFAULT_DURATION_US;
	u64 start_ns = input->facts.time_ns;

	fprintf(out,
		"{\"kdamond_idx\":null,\"context_idx\":null,\"intervals\":{\"sample_us\":1,"
		"\"aggr_us\":%" PRIu64 ",\"ops_update_us\":%" PRIu64 "},\"scheme_idx\":null,"
		"\"target_id\":%d,\"scheme_filters\":[],\"snapshots\":[{\"start_time\":%" PRIu64
		",\"end_time\":%" PRIu64 ",\"regions\":[",
		duration_us, duration_us, pid, start_ns, start_ns + 1000 * duration_us);
	for (const struct owned_page *page = first; page < end; page++)
		fprintf(out,
			"%s{\"start\":%" PRIu64 ",\"end\":%" PRIu64
			",\"nr_accesses\":{\"samples\":%" PRIu64
			",\"percent\":null},\"age\":{\"usec\":0,\"aggr_intervals\":null}}",
			page == first ? "" : ",", page->page << HOT_PAGE_SHIFT,
			(page->page + 1) << HOT_PAGE_SHIFT, page->counts.samples);
	fprintf(out, "],\"total_bytes\":%" PRIu64 "}]}", (u64)(end - first) << HOT_PAGE_SHIFT);
}

/* Print the records of all processes. Return their number. */
static u32 print_records(FILE *out, const struct input_recording *input,
			 const struct page_sets *sets)
{
	u32 records = 0;

	fputc('[', out);
	for (u32 i = 0, end; i < sets->count; i = end) {
		const struct attribute_process *process =
			page_sets_get_process(sets, &sets->page[i]);

		for (end = i + 1;
		     end < sets->count && is_same_process(&sets->page[i], &sets->page[end]);)
			end++;
		if (!process || process->pid <= 0)
			continue;
		if (records++)
			fputc(',', out);
		print_record(out, input, &sets->page[i], &sets->page[end], process->pid);
	}
	fputs("]\n", out);
	return records;
}

/* Write all bytes to a descriptor. Return 0 or a negative errno. */
static int write_bytes(int fd, const u8 *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_compressed(const char *path, const char *text, size_t length)
{
	struct output_file output = OUTPUT_NONE;
	uLongf size = compressBound(length);
	u8 *bytes = malloc(size);
	int r = bytes ? 0 : -ENOMEM;

	if (r == 0 && compress(bytes, &size, (const u8 *)text, length) != Z_OK)
		r = -ENOMEM;
	if (r == 0)
		r = output_open(path, 0644, &output);
	if (r == 0)
		r = write_bytes(output.fd, bytes, size);
	if (r == 0)
		r = output_commit(&output);
	output_drop(&output);
	free(bytes);
	return r;
}

/* Write the pages of a recording that was read. Return an &enum verb_exit_status. */
static int write_pages(const struct options *options, const struct input_recording *input,
		       struct sampled_pages *pages)
{
	struct page_sets sets = { 0 };
	char *text = NULL;
	size_t length = 0;
	u32 records = 0;
	FILE *out = open_memstream(&text, &length);
	int r = out ? sampled_pages_finish(pages) : -ENOMEM;

	if (r == 0)
		r = page_sets_make(pages, input->attributor, &sets);
	if (r == 0)
		records = print_records(out, input, &sets);
	if (out && fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0 && records)
		r = write_compressed(options->output, text, length);
	page_sets_deinit(&sets);
	free(text);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", options->output, strerror(-r));
	return records ? STATUS_OK :
			 message_fail(STATUS_STATE,
				      "export: %s: no record of a load or store has a process and "
				      "a virtual address",
				      options->input);
}

int export_damo(const struct options *options)
{
	struct input_request request = input_request_from_options(options);
	struct sampled_pages pages = { .max = SAMPLED_PAGES_MAX };
	struct input_recording input;
	int status, written;

	/* All samples are counted in one table, so by one thread. */
	request.threads = 1;
	request.watch = sampled_pages_watch;
	request.ctx = &pages;
	status = input_load(&request, &input);
	/* A damaged recording is exported, too; @status reports the damage. */
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		written = write_pages(options, &input, &pages);
		status = written ? written : status;
	}
	sampled_pages_deinit(&pages);
	input_deinit(&input);
	return status;
}
