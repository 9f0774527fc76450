// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format.h"

#include "text.h"

/*
 * Print items two spaces apart, and wrap lines between two items. If @item is set, pass the items
 * to it instead.
 */
struct text_flow {
	FILE *out;
	const struct view_format *format;
	size_t column;
	format_item_fn item;
	void *ctx;
};

static void flow_print_word(struct text_flow *flow, enum term_style ink, const char *text,
			    size_t gap)
{
	size_t width = text_get_width(text);
	char fitted[TEXT_SIZE];

	if (flow->format->width && width > flow->format->width) {
		text_fit(text, flow->format->width, false, fitted);
		text = fitted;
		width = flow->format->width;
	}
	if (flow->column && flow->format->width &&
	    flow->column + gap + width > flow->format->width) {
		fputc('\n', flow->out);
		flow->column = 0;
	}
	if (flow->column) {
		fprintf(flow->out, "%*s", (int)gap, "");
		flow->column += gap;
	}
	term_print(flow->out, flow->format->colour, ink, text);
	flow->column += width;
}

static void flow_print_item(struct text_flow *flow, enum term_style ink, const char *text)
{
	char words[1024], *rest = words, *word;
	size_t gap = 2;

	if (flow->item) {
		flow->item(flow->ctx, ink, text);
		return;
	}
	if (!flow->format->width || text_get_width(text) <= flow->format->width) {
		flow_print_word(flow, ink, text, gap);
		return;
	}
	/* Wrap an item that is wider than the terminal between its words. */
	snprintf(words, sizeof(words), "%s", text);
	for (; (word = strsep(&rest, " ")); gap = 1)
		flow_print_word(flow, ink, word, gap);
}

static void flow_end_line(struct text_flow *flow)
{
	if (flow->item)
		return;
	fputc('\n', flow->out);
	flow->column = 0;
}

static bool header_is_recorded(const struct view_header *header)
{
	return !view_is_live(header);
}

static void header_format_origin(const struct view_header *header, const char *name, char *ret,
				 size_t size)
{
	const char *what = !strcmp(header->source, "history") ? "HISTORY" :
			   !strcmp(header->source, "saved")   ? "SAVED PROFILE" :
								"RECORDING";
	char file[300] = "";

	if (name)
		snprintf(file, sizeof(file), " %s", name);
	if (header_is_recorded(header) && header->backend == BACKEND_EMULATED)
		snprintf(ret, size, "%s%s of an EMULATED SPU; ~ modelled", what, file);
	else if (header_is_recorded(header) && header->backend == BACKEND_HARDWARE)
		snprintf(ret, size, "%s%s of hardware SPE", what, file);
	else if (header_is_recorded(header))
		snprintf(ret, size, "%s%s (it does not say which SPU wrote it)", what, file);
	else if (header->backend == BACKEND_EMULATED)
		snprintf(ret, size, "EMULATED (no SPE here): process, PC, time TRUE; ~ modelled");
	else
		snprintf(ret, size, "HARDWARE SPE by %s", header->source);
}

static void header_print_state(struct text_flow *flow, const struct view_header *header)
{
	char text[512], figure[TEXT_NUMBER_SIZE];

	if (header->cpus) {
		snprintf(text, sizeof(text), "%s CPU%s", text_format_count(figure, header->cpus),
			 header->cpus == 1 ? "" : "s");
		flow_print_item(flow, TERM_PLAIN, text);
	}
	header_format_origin(header, flow->format->name, text, sizeof(text));
	text_clean(text);
	flow_print_item(flow, header->backend == BACKEND_EMULATED ? TERM_WARN : TERM_STRONG, text);
	if (!header_is_recorded(header) && !header->running)
		flow_print_item(flow, TERM_WARN, "STOPPED");
	flow_end_line(flow);
	if (!flow->format->making || !*flow->format->making)
		return;
	snprintf(text, sizeof(text), "%s", flow->format->making);
	text_clean(text);
	flow_print_item(flow, TERM_PLAIN, text);
	flow_end_line(flow);
}

static void header_print_bytes(struct text_flow *flow, const char *what, u64 bytes)
{
	char text[64], figure[TEXT_NUMBER_SIZE];

	snprintf(text, sizeof(text), "%s %s", what, text_format_bytes(figure, bytes));
	flow_print_item(flow, bytes ? TERM_BAD : TERM_PLAIN, text);
}

static void header_print_share(struct text_flow *flow, const char *what, u64 part, u64 whole)
{
	char text[64], figure[TEXT_NUMBER_SIZE];

	snprintf(text, sizeof(text), "%s %s", what, text_format_percent(figure, part, whole));
	flow_print_item(flow, TERM_PLAIN, text);
}

/* Print the share of the samples of evicted locations, if there are any. */
static void header_print_evicted(struct text_flow *flow, const struct view_header *header)
{
	unsigned int unit = view_get_share_unit(header);

	if (header->evicted)
		header_print_share(flow, "evicted",
				   unit < UNITS ? header->evicted_weight : header->evicted,
				   view_get_share_denominator(header, unit));
}

/*
 * Print the samples without a process, and those of evicted locations; by weight if all weights
 * have one unit.
 */
static void header_print_unnamed_shares(struct text_flow *flow, const struct view_header *header)
{
	unsigned int unit = view_get_share_unit(header);
	u64 whole = view_get_share_denominator(header, unit);

	header_print_share(flow, "unattributed",
			   unit < UNITS ? header->unattributed_weight : header->unattributed,
			   whole);
	header_print_evicted(flow, header);
	if (unit == UNITS && (header->weight[UNIT_MICRO_OPS] || header->weight[UNIT_INSTRUCTIONS]))
		flow_print_item(flow, TERM_WARN,
				"shares count samples: their weights have different units");
}

/* Advise a larger budget if a thousandth of the samples or more is evicted. */
static void header_print_budget_advice(struct text_flow *flow, const struct view_header *header)
{
	unsigned int unit = view_get_share_unit(header);
	u64 evicted = unit < UNITS ? header->evicted_weight : header->evicted;
	char text[192], share[TEXT_NUMBER_SIZE];
	u64 mib = header->memory_budget >> 20;

	if (!mib || evicted < view_get_share_denominator(header, unit) / 1000 + 1)
		return;
	snprintf(text, sizeof(text),
		 "%s of the samples have no function: set MemoryBudget=%lluM, which is %lluM now",
		 text_format_percent(share, evicted, view_get_share_denominator(header, unit)),
		 (unsigned long long)mib * 2, (unsigned long long)mib);
	flow_print_item(flow, TERM_WARN, text);
	flow_end_line(flow);
}

static void header_print_ledgers(struct text_flow *flow, const struct view_header *header)
{
	char text[96], figure[TEXT_NUMBER_SIZE], memory[TEXT_NUMBER_SIZE];

	if (header->duration_ns)
		flow_print_item(flow, TERM_PLAIN, text_format_seconds(text, header->duration_ns));
	snprintf(text, sizeof(text), "%s sample%s", text_format_count(figure, header->records),
		 header->records == 1 ? "" : "s");
	flow_print_item(flow, TERM_PLAIN, text);
	if (header->ledgers_unknown)
		flow_print_item(flow, TERM_PLAIN, "lost and blind not known");
	else
		header_print_bytes(flow, "lost", header->lost);
	header_print_bytes(flow, "suspect", header->suspect);
	if (header->enabled_ns && !header->ledgers_unknown)
		header_print_share(flow, "blind", header->blind_ns, header->enabled_ns);
	if (header->enabled_ns && header->unhandled_ns)
		header_print_share(flow, "unhandled at most", header->unhandled_ns,
				   header->enabled_ns);
	if (header->filtered) {
		snprintf(text, sizeof(text), "%s filtered out",
			 text_format_count(figure, header->filtered));
		flow_print_item(flow, TERM_PLAIN, text);
	}
	header_print_unnamed_shares(flow, header);
	if (header->cost_ns && header->duration_ns) {
		snprintf(text, sizeof(text), "cost %s of a core, %s",
			 text_format_percent(figure, header->cost_ns, header->duration_ns),
			 text_format_bytes(memory, header->memory));
		flow_print_item(flow, TERM_PLAIN, text);
	} else if (header->memory) {
		flow_print_item(flow, TERM_PLAIN, text_format_bytes(memory, header->memory));
	}
	flow_end_line(flow);
}

static void header_print_count(struct text_flow *flow, u64 count, const char *one, const char *many)
{
	char text[96], figure[TEXT_NUMBER_SIZE];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%s %s", text_format_count(figure, count),
		 count == 1 ? one : many);
	flow_print_item(flow, TERM_BAD, text);
}

/* Print losses and faults, if there are any. */
static void header_print_problems(struct text_flow *flow, const struct view_header *header)
{
	char text[sizeof(header->fault)], names[sizeof(header->names_reason) + 16];

	if (!header->faults && !header->throttles && !header->unread && !header->cpus_stopped &&
	    !header->task_events_lost && !header->mappings_lost && !header->truncated &&
	    !header->gaps && !*header->fault && !*header->names_reason)
		return;
	header_print_count(flow, header->truncated, "window truncated", "windows truncated");
	header_print_count(flow, header->gaps, "window with gaps", "windows with gaps");
	header_print_count(flow, header->cpus_stopped, "CPU stopped", "CPUs stopped");
	header_print_count(flow, header->faults, "fault", "faults");
	header_print_count(flow, header->throttles, "time throttled", "times throttled");
	header_print_count(flow, header->unread, "time unread", "times unread");
	header_print_count(flow, header->task_events_lost, "task event lost", "task events lost");
	header_print_count(flow, header->mappings_lost, "mapping event lost",
			   "mapping events lost");
	snprintf(text, sizeof(text), "%s", header->fault);
	text_clean(text);
	if (*text)
		flow_print_item(flow, TERM_BAD, text);
	if (*header->names_reason) {
		snprintf(names, sizeof(names), "no names: %s", header->names_reason);
		text_clean(names);
		flow_print_item(flow, TERM_WARN, names);
	}
	flow_end_line(flow);
}

/* Print the causes of blind time, in which no SPU was armed although sampling was enabled. */
static void header_print_blind_causes(struct text_flow *flow, const struct view_header *header)
{
	char text[96], figure[TEXT_NUMBER_SIZE];
	u64 known = 0;

	for (unsigned int i = SOURCE_BLIND_UNKNOWN + 1; i < SOURCE_BLINDS; i++)
		known += header->blind_by[i];
	if (!known)
		return;
	flow_print_item(flow, TERM_PLAIN, "blind by cause:");
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++) {
		if (!header->blind_by[i])
			continue;
		snprintf(text, sizeof(text), "%s %s", view_blind_name(i),
			 text_format_percent(figure, header->blind_by[i], header->enabled_ns));
		flow_print_item(flow, TERM_PLAIN, text);
	}
	flow_end_line(flow);
}

/* Print settings in the configuration files that are not in use. */
static void header_print_config(struct text_flow *flow, const struct view_header *header)
{
	char text[sizeof(header->config_refused) + 64];

	if (*header->config_refused) {
		snprintf(text, sizeof(text),
			 "new configuration refused, the previous one is in force: %s",
			 header->config_refused);
		text_clean(text);
		flow_print_item(flow, TERM_BAD, text);
		flow_end_line(flow);
	}
	if (*header->config_waiting) {
		snprintf(text, sizeof(text), "restart speprofd to apply: %s",
			 header->config_waiting);
		text_clean(text);
		flow_print_item(flow, TERM_WARN, text);
		flow_end_line(flow);
	}
}

/* Print the source of the daemon, and why a better source is not used. */
static void header_print_source(struct text_flow *flow, const struct view_header *header)
{
	char text[sizeof(header->source) + sizeof(header->source_reason) + 16];

	if (!*header->source || header_is_recorded(header))
		return;
	snprintf(text, sizeof(text), "source %s%s%s", header->source,
		 *header->source_reason ? ": " : "", header->source_reason);
	text_clean(text);
	flow_print_item(flow, *header->source_reason ? TERM_WARN : TERM_PLAIN, text);
	flow_end_line(flow);
}

/*
 * Print how samples get their thread: from the records, or from context switches. For these, also
 * print how many were recorded.
 */
static void header_print_task_ids(struct text_flow *flow, const struct view_header *header)
{
	char text[128], count[TEXT_NUMBER_SIZE];

	if (!strcmp(header->task_ids, "records"))
		snprintf(text, sizeof(text), "records name their thread");
	else if (!strcmp(header->task_ids, "bpf") || !strcmp(header->task_ids, "perf"))
		snprintf(text, sizeof(text), "threads by context switches (%s), %s recorded",
			 header->task_ids, text_format_count(count, header->switches));
	else
		return;
	flow_print_item(flow, TERM_PLAIN, text);
}

static void header_print_task_events(struct text_flow *flow, const struct view_header *header)
{
	char text[sizeof(header->tasks_reason) + 16];

	if (!*header->tasks)
		return;
	snprintf(text, sizeof(text), "task events by %s", header->tasks);
	text_clean(text);
	flow_print_item(flow, TERM_PLAIN, text);
	header_print_task_ids(flow, header);
	if (*header->tasks_reason) {
		snprintf(text, sizeof(text), "%s", header->tasks_reason);
		text_clean(text);
		flow_print_item(flow, TERM_WARN, text);
	}
	flow_end_line(flow);
}

/* Print the memory in use, its limit, and the limit of each use. */
static void header_print_memory(struct text_flow *flow, const struct view_header *header)
{
	char text[160], used[TEXT_NUMBER_SIZE], rings[TEXT_NUMBER_SIZE], budget[TEXT_NUMBER_SIZE];

	if (!header->memory_budget)
		return;
	snprintf(text, sizeof(text), "memory %s + %s locked of %s",
		 text_format_bytes(used, header->memory),
		 text_format_bytes(rings, header->memory_locked),
		 text_format_bytes(budget, header->memory_budget));
	flow_print_item(flow,
			header->memory + header->memory_locked > header->memory_budget ? TERM_BAD :
											 TERM_PLAIN,
			text);
	flow_print_item(flow, TERM_PLAIN, "limits:");
	for (enum memory_share i = 0; i < MEMORY_SHARES; i++) {
		if (!header->memory_share[i])
			continue;
		snprintf(text, sizeof(text), "%s %s", memory_share_name(i),
			 text_format_bytes(used, header->memory_share[i]));
		flow_print_item(flow, TERM_PLAIN, text);
	}
	flow_end_line(flow);
}

/* Print the interval, and the CPUs that sample less often because sampling costs too much there. */
static void header_print_longest_interval(struct text_flow *flow, const struct view_header *header)
{
	char text[160];

	snprintf(text, sizeof(text), "interval %.2f ms", (double)header->interval_ns / 1e6);
	flow_print_item(flow, TERM_PLAIN, text);
	if (!header->cpus_held)
		return;
	snprintf(text, sizeof(text), "%u CPU%s less often, every %.2f ms at most",
		 header->cpus_held, header->cpus_held == 1 ? " samples" : "s sample",
		 (double)header->interval_longest_ns / 1e6);
	flow_print_item(flow, TERM_WARN, text);
}

/* Print the sampling interval, and the cost of sampling. */
static void header_print_interval_and_cost(struct text_flow *flow, const struct view_header *header)
{
	char text[160];

	if (!header->interval_ns || header_is_recorded(header))
		return;
	header_print_longest_interval(flow, header);
	if (header->overhead && header->overhead_cost) {
		snprintf(text, sizeof(text), "sampling costs %.3f %% of the machine, limit %.3f %%",
			 (double)header->overhead_cost / 1000, (double)header->overhead / 1000);
		flow_print_item(flow, TERM_PLAIN, text);
	} else if (header->overhead) {
		snprintf(text, sizeof(text), "cost of sampling not measured yet, limit %.3f %%",
			 (double)header->overhead / 1000);
		flow_print_item(flow, TERM_PLAIN, text);
	}
	flow_end_line(flow);
}

static void header_print_held_cpus(struct text_flow *flow, const struct view_header *header)
{
	if (!header->cpus_held || header_is_recorded(header))
		return;
	header_print_longest_interval(flow, header);
	flow_end_line(flow);
}

void format_print_held_cpus(FILE *out, const struct view_header *header,
			    const struct view_format *format)
{
	struct text_flow flow = { .out = out, .format = format };

	header_print_held_cpus(&flow, header);
}

void format_print_limits(FILE *out, const struct view_header *header,
			 const struct view_format *format)
{
	struct text_flow flow = { .out = out, .format = format };

	if (header->evicted) {
		header_print_evicted(&flow, header);
		flow_end_line(&flow);
	}
	header_print_budget_advice(&flow, header);
	header_print_held_cpus(&flow, header);
}

static void header_print_all(struct text_flow *flow, const struct view_header *header)
{
	header_print_state(flow, header);
	header_print_ledgers(flow, header);
	header_print_budget_advice(flow, header);
	header_print_problems(flow, header);
	header_print_held_cpus(flow, header);
	/*
	 * For the daemon, "speprof status" prints the causes; for a recording, only this header
	 * shows them.
	 */
	if (header_is_recorded(header))
		header_print_blind_causes(flow, header);
}

void format_print_header(FILE *out, const struct view_header *header,
			 const struct view_format *format)
{
	struct text_flow flow = { .out = out, .format = format };

	header_print_all(&flow, header);
}

void format_pass_header_items(const struct view_header *header, format_item_fn item, void *ctx)
{
	static const struct view_format format;
	struct text_flow flow = { .format = &format, .item = item, .ctx = ctx };

	header_print_all(&flow, header);
}

void format_print_status(FILE *out, const struct view_header *header,
			 const struct view_format *format)
{
	struct text_flow flow = { .out = out, .format = format };

	header_print_state(&flow, header);
	header_print_ledgers(&flow, header);
	header_print_budget_advice(&flow, header);
	header_print_problems(&flow, header);
	header_print_blind_causes(&flow, header);
	header_print_config(&flow, header);
	header_print_interval_and_cost(&flow, header);
	header_print_memory(&flow, header);
	header_print_source(&flow, header);
	header_print_task_events(&flow, header);
}

/**
 * struct view_layout - a table of the rows of a view
 * @shown: a bit for each printed &enum format_column
 */
struct view_layout {
	const struct view *view;
	const struct view_format *format;
	u32 shown;
};

#define CELL_SIZE TABLE_CELL_SIZE

static void print_heading(const struct view_layout *layout, enum format_column column, char *ret)
{
	static const char *const names[FORMAT_COLUMNS] = {
		[FORMAT_COLUMN_SHARE] = "SHARE",
		[FORMAT_COLUMN_TRUTH] = "TRUTH",
		[FORMAT_COLUMN_CONTAINER] = "CONTAINER",
		[FORMAT_COLUMN_PROCESS] = "PROCESS",
		[FORMAT_COLUMN_PID] = "PID",
		[FORMAT_COLUMN_FUNCTION] = "FUNCTION",
		[FORMAT_COLUMN_BINARY] = "BINARY",
		[FORMAT_COLUMN_SOURCE] = "SOURCE",
		[FORMAT_COLUMN_DRAM] = "DRAM",
		[FORMAT_COLUMN_LATENCY] = "p50/p99 cycles",
	};
	bool modelled = layout->view->header.backend == BACKEND_EMULATED;
	const char *name = names[column];

	if (column == FORMAT_COLUMN_WEIGHT)
		name = view_sort_heading(layout->format->sort);
	if (column == FORMAT_COLUMN_PROCESS && layout->format->group != VIEW_PROCESS)
		name = "PROGRAM";
	/* "~" or a blank in front aligns the slash of the heading with those of the latencies. */
	if (column >= FORMAT_COLUMN_WEIGHT)
		snprintf(ret, CELL_SIZE, "%s%s",
			 modelled			 ? "~" :
			 column == FORMAT_COLUMN_LATENCY ? " " :
							   "",
			 name);
	else
		snprintf(ret, CELL_SIZE, "%s", name);
}

static bool known_share_matches(const struct known_share *share, const struct view_row *row)
{
	return strcmp(share->name, row->container) == 0 || strcmp(share->name, row->process) == 0;
}

/*
 * Print the known share in the first row of a container or process, because it applies to all its
 * rows together.
 */
static void print_known_share(const struct view_layout *layout, const struct view_row *row,
			      char *ret)
{
	const struct view_format *format = layout->format;

	snprintf(ret, CELL_SIZE, "-");
	for (u32 i = 0; i < format->known_shares; i++) {
		const struct view_row *first = layout->view->rows;

		while (first < row && !known_share_matches(&format->known_share[i], first))
			first++;
		if (first == row && known_share_matches(&format->known_share[i], row))
			snprintf(ret, CELL_SIZE, "%.0f %%", format->known_share[i].percent);
	}
}

/* Print only the name of the file, because the directories are less specific. */
static void print_source(const struct view_row *row, char *ret)
{
	const char *slash = strrchr(row->file, '/');

	if (row->line)
		snprintf(ret, CELL_SIZE, "%.128s:%u", slash ? slash + 1 : row->file, row->line);
	else
		snprintf(ret, CELL_SIZE, "-");
}

static void print_value(const struct view_layout *layout, const struct view_row *row,
			enum format_column column, char *ret)
{
	unsigned int unit = view_get_share_unit(&layout->view->header);

	switch (column) {
	case FORMAT_COLUMN_SHARE:
		text_format_percent(ret, view_get_share_numerator(row, unit),
				    view_get_share_denominator(&layout->view->header, unit));
		break;
	case FORMAT_COLUMN_TRUTH:
		print_known_share(layout, row, ret);
		break;
	case FORMAT_COLUMN_CONTAINER:
		snprintf(ret, CELL_SIZE, "%s", row->container);
		break;
	case FORMAT_COLUMN_PROCESS:
		snprintf(ret, CELL_SIZE, "%s", row->process);
		break;
	case FORMAT_COLUMN_PID:
		snprintf(ret, CELL_SIZE, row->pid > 0 ? "%d" : "-", row->pid);
		break;
	case FORMAT_COLUMN_FUNCTION:
		snprintf(ret, CELL_SIZE, "%s", row->function);
		break;
	case FORMAT_COLUMN_BINARY:
		snprintf(ret, CELL_SIZE, "%s", row->binary);
		break;
	case FORMAT_COLUMN_SOURCE:
		print_source(row, ret);
		break;
	case FORMAT_COLUMN_WEIGHT:
		text_format_count(ret, view_get_sort_key(row, layout->format->sort, UNITS));
		break;
	case FORMAT_COLUMN_DRAM:
		text_format_percent_whole(ret, row->dram, row->memory);
		break;
	case FORMAT_COLUMN_LATENCY:
		snprintf(ret, CELL_SIZE, row->p99 ? "%4u/%u" : "   -", row->p50, row->p99);
		break;
	case FORMAT_COLUMNS:
		break;
	}
}

static bool column_is_right_aligned(enum format_column column)
{
	return column == FORMAT_COLUMN_SHARE || column == FORMAT_COLUMN_TRUTH ||
	       column == FORMAT_COLUMN_PID || column == FORMAT_COLUMN_WEIGHT ||
	       column == FORMAT_COLUMN_DRAM;
}

static u32 choose_shown_columns(const struct view_format *format)
{
	u32 shown =
		1U << FORMAT_COLUMN_SHARE | 1U << FORMAT_COLUMN_DRAM | 1U << FORMAT_COLUMN_LATENCY;

	shown |= 1U << (format->group == VIEW_BINARY ? FORMAT_COLUMN_BINARY :
						       FORMAT_COLUMN_CONTAINER);
	if (format->known_shares)
		shown |= 1U << FORMAT_COLUMN_TRUTH;
	if (format->group != VIEW_CONTAINER && format->group != VIEW_BINARY)
		shown |= 1U << FORMAT_COLUMN_PROCESS;
	if (format->group == VIEW_PROCESS)
		shown |= 1U << FORMAT_COLUMN_PID;
	if (format->group == VIEW_FUNCTION || format->group == VIEW_LINE)
		shown |= 1U << FORMAT_COLUMN_FUNCTION;
	if (format->group == VIEW_LINE)
		shown |= 1U << FORMAT_COLUMN_SOURCE;
	if (format->sort != VIEW_SORT_SAMPLES)
		shown |= 1U << FORMAT_COLUMN_WEIGHT;
	return shown & ~format->hidden;
}

static void add_column(const struct view_layout *layout, enum format_column c,
		       struct text_table *table)
{
	/* The order in which columns of names are shortened, and the widths to shorten them to. */
	static const struct {
		unsigned int order;
		size_t floor[2];
	} shrink[FORMAT_COLUMNS] = {
		[FORMAT_COLUMN_FUNCTION] = { 1, { 24, 12 } },
		[FORMAT_COLUMN_CONTAINER] = { 2, { 16, 9 } },
		[FORMAT_COLUMN_PROCESS] = { 3, { 12, 7 } },
		[FORMAT_COLUMN_SOURCE] = { 4, { 16, 0 } },
		[FORMAT_COLUMN_BINARY] = { 5, { 0, 16 } },
	};
	char heading[CELL_SIZE];
	struct table_column *column;

	print_heading(layout, c, heading);
	column = table_add_column(table, heading);
	column->right = column_is_right_aligned(c);
	column->order = shrink[c].order;
	memcpy(column->floor, shrink[c].floor, sizeof(column->floor));
	/* SHARE and TRUTH belong together, with only one space between them. */
	if (c == FORMAT_COLUMN_TRUTH)
		column->gap = 1;
	if (c == FORMAT_COLUMN_SHARE) {
		column->heading_left = true;
		column->width = 6;
	}
}

u32 format_fill_table(const struct view *view, const struct view_format *format,
		      struct text_table *table)
{
	struct view_layout layout = { .view = view,
				      .format = format,
				      .shown = choose_shown_columns(format) };
	char cell[CELL_SIZE];

	for (enum format_column c = 0; c < FORMAT_COLUMNS; c++)
		if (layout.shown & 1U << c)
			add_column(&layout, c, table);
	for (u32 i = 0; i < view->count; i++) {
		u32 row = table_add_row(table), at = 0;

		for (enum format_column c = 0; c < FORMAT_COLUMNS; c++) {
			if (!(layout.shown & 1U << c))
				continue;
			print_value(&layout, &view->rows[i], c, cell);
			table_set_cell(table, row, at++, cell);
		}
	}
	return layout.shown;
}

void format_print_table(FILE *out, const struct view *view, const struct view_format *format)
{
	struct text_table table = { 0 };

	format_fill_table(view, format, &table);
	table_print(&table, out, format->width, format->colour);
	table_deinit(&table);
}
