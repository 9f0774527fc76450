// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format.h"

#include "text.h"

/*
 * Print items two spaces apart, and wrap lines between two items. If @item is set, pass the items
 * to it instead.
 */
struct flow {
	FILE *out;
	const struct format *format;
	size_t column;
	format_item_fn item;
	void *ctx;
};

static void flow_word(struct flow *flow, enum term_ink ink, const char *text, size_t gap)
{
	size_t width = text_width(text);
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
	term_ink(flow->out, flow->format->colour, ink, text);
	flow->column += width;
}

static void flow_item(struct flow *flow, enum term_ink ink, const char *text)
{
	char words[1024], *rest = words, *word;
	size_t gap = 2;

	if (flow->item) {
		flow->item(flow->ctx, ink, text);
		return;
	}
	if (!flow->format->width || text_width(text) <= flow->format->width) {
		flow_word(flow, ink, text, gap);
		return;
	}
	/* Wrap an item that is wider than the terminal between its words. */
	snprintf(words, sizeof(words), "%s", text);
	for (; (word = strsep(&rest, " ")); gap = 1)
		flow_word(flow, ink, word, gap);
}

static void flow_end(struct flow *flow)
{
	if (flow->item)
		return;
	fputc('\n', flow->out);
	flow->column = 0;
}

static bool header_recorded(const struct view_header *header)
{
	return strcmp(header->source, "recording") == 0;
}

static void header_origin(const struct view_header *header, const char *name, char *ret,
			  size_t size)
{
	char file[300] = "";

	if (name)
		snprintf(file, sizeof(file), " %s", name);
	if (header_recorded(header) && header->backend == BACKEND_EMULATED)
		snprintf(ret, size, "RECORDING%s of an EMULATED SPU; ~ modelled", file);
	else if (header_recorded(header) && header->backend == BACKEND_HARDWARE)
		snprintf(ret, size, "RECORDING%s of hardware SPE", file);
	else if (header_recorded(header))
		snprintf(ret, size, "RECORDING%s (it does not say which SPU wrote it)", file);
	else if (header->backend == BACKEND_EMULATED)
		snprintf(ret, size, "EMULATED (no SPE here): process, PC, time TRUE; ~ modelled");
	else
		snprintf(ret, size, "HARDWARE SPE by %s", header->source);
}

static void header_state(struct flow *flow, const struct view_header *header)
{
	char text[512], figure[TEXT_NUMBER];

	if (header->cpus) {
		snprintf(text, sizeof(text), "%s CPU%s", text_count(figure, header->cpus),
			 header->cpus == 1 ? "" : "s");
		flow_item(flow, TERM_PLAIN, text);
	}
	header_origin(header, flow->format->name, text, sizeof(text));
	text_clean(text);
	flow_item(flow, header->backend == BACKEND_EMULATED ? TERM_WARN : TERM_STRONG, text);
	if (!header_recorded(header) && !header->running)
		flow_item(flow, TERM_WARN, "STOPPED");
	flow_end(flow);
	if (!flow->format->making || !*flow->format->making)
		return;
	snprintf(text, sizeof(text), "%s", flow->format->making);
	text_clean(text);
	flow_item(flow, TERM_PLAIN, text);
	flow_end(flow);
}

static void header_bytes(struct flow *flow, const char *what, u64 bytes)
{
	char text[64], figure[TEXT_NUMBER];

	snprintf(text, sizeof(text), "%s %s", what, text_bytes(figure, bytes));
	flow_item(flow, bytes ? TERM_BAD : TERM_PLAIN, text);
}

static void header_share(struct flow *flow, const char *what, u64 part, u64 whole)
{
	char text[64], figure[TEXT_NUMBER];

	snprintf(text, sizeof(text), "%s %s", what, text_percent(figure, part, whole));
	flow_item(flow, TERM_PLAIN, text);
}

/*
 * Print the samples without a process, and those of evicted locations; by weight if all weights
 * have one unit.
 */
static void header_rest(struct flow *flow, const struct view_header *header)
{
	unsigned int unit = view_unit(header);
	u64 whole = view_whole(header, unit);

	header_share(flow, "unattributed",
		     unit < UNITS ? header->unattributed_weight : header->unattributed, whole);
	if (header->evicted)
		header_share(flow, "evicted",
			     unit < UNITS ? header->evicted_weight : header->evicted, whole);
	if (unit == UNITS && (header->weight[UNIT_MICRO_OPS] || header->weight[UNIT_INSTRUCTIONS]))
		flow_item(flow, TERM_WARN,
			  "shares count samples: their weights have different units");
}

/* Advise a larger budget if a thousandth of the samples or more is evicted. */
static void header_advice(struct flow *flow, const struct view_header *header)
{
	unsigned int unit = view_unit(header);
	u64 evicted = unit < UNITS ? header->evicted_weight : header->evicted;
	char text[192], share[TEXT_NUMBER];
	u64 mib = header->memory_budget >> 20;

	if (!mib || evicted < view_whole(header, unit) / 1000 + 1)
		return;
	snprintf(text, sizeof(text),
		 "%s of the samples have no function: set MemoryBudget=%lluM, which is %lluM now",
		 text_percent(share, evicted, view_whole(header, unit)),
		 (unsigned long long)mib * 2, (unsigned long long)mib);
	flow_item(flow, TERM_WARN, text);
	flow_end(flow);
}

static void header_ledgers(struct flow *flow, const struct view_header *header)
{
	char text[96], figure[TEXT_NUMBER], memory[TEXT_NUMBER];

	if (header->duration_ns)
		flow_item(flow, TERM_PLAIN, text_seconds(text, header->duration_ns));
	snprintf(text, sizeof(text), "%s sample%s", text_count(figure, header->records),
		 header->records == 1 ? "" : "s");
	flow_item(flow, TERM_PLAIN, text);
	if (header->ledgers_unknown)
		flow_item(flow, TERM_PLAIN, "lost and blind not known");
	else
		header_bytes(flow, "lost", header->lost + header->dropped);
	header_bytes(flow, "suspect", header->suspect);
	if (header->enabled_ns && !header->ledgers_unknown)
		header_share(flow, "blind", header->blind_ns, header->enabled_ns);
	if (header->filtered) {
		snprintf(text, sizeof(text), "%s filtered out",
			 text_count(figure, header->filtered));
		flow_item(flow, TERM_PLAIN, text);
	}
	header_rest(flow, header);
	if (header->cost_ns && header->duration_ns) {
		snprintf(text, sizeof(text), "cost %s of a core, %s",
			 text_percent(figure, header->cost_ns, header->duration_ns),
			 text_bytes(memory, header->memory));
		flow_item(flow, TERM_PLAIN, text);
	} else if (header->memory) {
		flow_item(flow, TERM_PLAIN, text_bytes(memory, header->memory));
	}
	flow_end(flow);
}

static void header_count(struct flow *flow, u64 count, const char *one, const char *many)
{
	char text[96], figure[TEXT_NUMBER];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%s %s", text_count(figure, count), count == 1 ? one : many);
	flow_item(flow, TERM_BAD, text);
}

/* Print losses and faults, if there are any. */
static void header_trouble(struct flow *flow, const struct view_header *header)
{
	char text[sizeof(header->fault)], names[sizeof(header->names_reason) + 16];

	if (!header->faults && !header->throttles && !header->unread && !header->cpus_stopped &&
	    !header->task_events_lost && !header->mappings_lost && !header->truncated &&
	    !header->gaps && !*header->fault && !*header->names_reason)
		return;
	header_count(flow, header->truncated, "window truncated", "windows truncated");
	header_count(flow, header->gaps, "window with gaps", "windows with gaps");
	header_count(flow, header->cpus_stopped, "CPU stopped", "CPUs stopped");
	header_count(flow, header->faults, "fault", "faults");
	header_count(flow, header->throttles, "time throttled", "times throttled");
	header_count(flow, header->unread, "time unread", "times unread");
	header_count(flow, header->task_events_lost, "task event lost", "task events lost");
	header_count(flow, header->mappings_lost, "mapping event lost", "mapping events lost");
	snprintf(text, sizeof(text), "%s", header->fault);
	text_clean(text);
	if (*text)
		flow_item(flow, TERM_BAD, text);
	if (*header->names_reason) {
		snprintf(names, sizeof(names), "no names: %s", header->names_reason);
		text_clean(names);
		flow_item(flow, TERM_WARN, names);
	}
	flow_end(flow);
}

/* Print the causes of blind time, in which no SPU was armed although sampling was enabled. */
static void header_blind(struct flow *flow, const struct view_header *header)
{
	char text[96], figure[TEXT_NUMBER];
	u64 known = 0;

	for (unsigned int i = SOURCE_BLIND_UNKNOWN + 1; i < SOURCE_BLINDS; i++)
		known += header->blind_by[i];
	if (!known)
		return;
	flow_item(flow, TERM_PLAIN, "blind by cause:");
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++) {
		if (!header->blind_by[i])
			continue;
		snprintf(text, sizeof(text), "%s %s", view_blind_name(i),
			 text_percent(figure, header->blind_by[i], header->enabled_ns));
		flow_item(flow, TERM_PLAIN, text);
	}
	flow_end(flow);
}

/* Print settings in the configuration files that are not in use. */
static void header_config(struct flow *flow, const struct view_header *header)
{
	char text[sizeof(header->config_refused) + 64];

	if (*header->config_refused) {
		snprintf(text, sizeof(text),
			 "new configuration refused, the previous one is in force: %s",
			 header->config_refused);
		text_clean(text);
		flow_item(flow, TERM_BAD, text);
		flow_end(flow);
	}
	if (*header->config_waiting) {
		snprintf(text, sizeof(text), "restart speprofd to apply: %s",
			 header->config_waiting);
		text_clean(text);
		flow_item(flow, TERM_WARN, text);
		flow_end(flow);
	}
}

/* Print the source of the daemon, and why a better source is not used. */
static void header_source(struct flow *flow, const struct view_header *header)
{
	char text[sizeof(header->source) + sizeof(header->source_reason) + 16];

	if (!*header->source || header_recorded(header))
		return;
	snprintf(text, sizeof(text), "source %s%s%s", header->source,
		 *header->source_reason ? ": " : "", header->source_reason);
	text_clean(text);
	flow_item(flow, *header->source_reason ? TERM_WARN : TERM_PLAIN, text);
	flow_end(flow);
}

/*
 * Print how samples get their thread: from the records, or from recorded context switches and how
 * many.
 */
static void header_task_ids(struct flow *flow, const struct view_header *header)
{
	char text[128], count[TEXT_NUMBER];

	if (!strcmp(header->task_ids, "records"))
		snprintf(text, sizeof(text), "records name their thread");
	else if (!strcmp(header->task_ids, "bpf") || !strcmp(header->task_ids, "perf"))
		snprintf(text, sizeof(text), "threads by context switches (%s), %s recorded",
			 header->task_ids, text_count(count, header->switches));
	else
		return;
	flow_item(flow, TERM_PLAIN, text);
}

static void header_tasks(struct flow *flow, const struct view_header *header)
{
	char text[sizeof(header->tasks_reason) + 16];

	if (!*header->tasks)
		return;
	snprintf(text, sizeof(text), "task events by %s", header->tasks);
	text_clean(text);
	flow_item(flow, TERM_PLAIN, text);
	header_task_ids(flow, header);
	if (*header->tasks_reason) {
		snprintf(text, sizeof(text), "%s", header->tasks_reason);
		text_clean(text);
		flow_item(flow, TERM_WARN, text);
	}
	flow_end(flow);
}

/* Print the memory in use, its limit, and the limit of each use. */
static void header_memory(struct flow *flow, const struct view_header *header)
{
	char text[160], used[TEXT_NUMBER], rings[TEXT_NUMBER], budget[TEXT_NUMBER];

	if (!header->memory_budget)
		return;
	snprintf(text, sizeof(text), "memory %s + %s locked of %s",
		 text_bytes(used, header->memory), text_bytes(rings, header->memory_locked),
		 text_bytes(budget, header->memory_budget));
	flow_item(flow,
		  header->memory + header->memory_locked > header->memory_budget ? TERM_BAD :
										   TERM_PLAIN,
		  text);
	flow_item(flow, TERM_PLAIN, "limits:");
	for (enum memory_share i = 0; i < MEMORY_SHARES; i++) {
		if (!header->memory_share[i])
			continue;
		snprintf(text, sizeof(text), "%s %s", memory_share_name(i),
			 text_bytes(used, header->memory_share[i]));
		flow_item(flow, TERM_PLAIN, text);
	}
	flow_end(flow);
}

/* Print the interval, and the CPUs that sample less often because sampling costs too much there. */
static void header_held(struct flow *flow, const struct view_header *header)
{
	char text[160];

	snprintf(text, sizeof(text), "interval %.2f ms", (double)header->interval_ns / 1e6);
	flow_item(flow, TERM_PLAIN, text);
	if (!header->cpus_held)
		return;
	snprintf(text, sizeof(text), "%u CPU%s less often, every %.2f ms at most",
		 header->cpus_held, header->cpus_held == 1 ? " samples" : "s sample",
		 (double)header->interval_longest_ns / 1e6);
	flow_item(flow, TERM_WARN, text);
}

/* Print the sampling interval, and the cost of sampling. */
static void header_interval(struct flow *flow, const struct view_header *header)
{
	char text[160];

	if (!header->interval_ns || header_recorded(header))
		return;
	header_held(flow, header);
	if (header->overhead && header->overhead_cost) {
		snprintf(text, sizeof(text), "sampling costs %.3f %% of the machine, limit %.3f %%",
			 (double)header->overhead_cost / 1000, (double)header->overhead / 1000);
		flow_item(flow, TERM_PLAIN, text);
	} else if (header->overhead) {
		snprintf(text, sizeof(text), "cost of sampling not measured yet, limit %.3f %%",
			 (double)header->overhead / 1000);
		flow_item(flow, TERM_PLAIN, text);
	}
	flow_end(flow);
}

static void header_if_held(struct flow *flow, const struct view_header *header)
{
	if (!header->cpus_held || header_recorded(header))
		return;
	header_held(flow, header);
	flow_end(flow);
}

void format_held(FILE *out, const struct view_header *header, const struct format *format)
{
	struct flow flow = { .out = out, .format = format };

	header_if_held(&flow, header);
}

static void header_flow(struct flow *flow, const struct view_header *header)
{
	header_state(flow, header);
	header_ledgers(flow, header);
	header_advice(flow, header);
	header_trouble(flow, header);
	header_if_held(flow, header);
	/*
	 * For the daemon, "speprof status" prints the causes; for a recording, only this header
	 * shows them.
	 */
	if (header_recorded(header))
		header_blind(flow, header);
}

void format_header(FILE *out, const struct view_header *header, const struct format *format)
{
	struct flow flow = { .out = out, .format = format };

	header_flow(&flow, header);
}

void format_header_items(const struct view_header *header, format_item_fn item, void *ctx)
{
	static const struct format format;
	struct flow flow = { .format = &format, .item = item, .ctx = ctx };

	header_flow(&flow, header);
}

void format_status(FILE *out, const struct view_header *header, const struct format *format)
{
	struct flow flow = { .out = out, .format = format };

	header_state(&flow, header);
	header_ledgers(&flow, header);
	header_advice(&flow, header);
	header_trouble(&flow, header);
	header_blind(&flow, header);
	header_config(&flow, header);
	header_interval(&flow, header);
	header_memory(&flow, header);
	header_source(&flow, header);
	header_tasks(&flow, header);
}

/**
 * struct layout - a table of the rows of a view
 * @shown: a bit for each printed &enum format_column
 */
struct layout {
	const struct view *view;
	const struct format *format;
	u32 shown;
};

#define CELL_SIZE TABLE_CELL

static void print_heading(const struct layout *layout, enum format_column column, char *ret)
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
static void print_known_share(const struct layout *layout, const struct view_row *row, char *ret)
{
	const struct format *format = layout->format;

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

static void print_value(const struct layout *layout, const struct view_row *row,
			enum format_column column, char *ret)
{
	unsigned int unit = view_unit(&layout->view->header);

	switch (column) {
	case FORMAT_COLUMN_SHARE:
		text_percent(ret, view_part(row, unit), view_whole(&layout->view->header, unit));
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
		text_count(ret, view_key(row, layout->format->sort, UNITS));
		break;
	case FORMAT_COLUMN_DRAM:
		text_percent_whole(ret, row->dram, row->memory);
		break;
	case FORMAT_COLUMN_LATENCY:
		snprintf(ret, CELL_SIZE, row->p99 ? "%4u/%u" : "   -", row->p50, row->p99);
		break;
	case FORMAT_COLUMNS:
		break;
	}
}

static bool column_right(enum format_column column)
{
	return column == FORMAT_COLUMN_SHARE || column == FORMAT_COLUMN_TRUTH ||
	       column == FORMAT_COLUMN_PID || column == FORMAT_COLUMN_WEIGHT ||
	       column == FORMAT_COLUMN_DRAM;
}

static u32 shown_columns(const struct format *format)
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

static void add_column(const struct layout *layout, enum format_column c, struct table *table)
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
	column->right = column_right(c);
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

u32 format_fill_table(const struct view *view, const struct format *format, struct table *table)
{
	struct layout layout = { .view = view, .format = format, .shown = shown_columns(format) };
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
			table_set(table, row, at++, cell);
		}
	}
	return layout.shown;
}

void format_table(FILE *out, const struct view *view, const struct format *format)
{
	struct table table = { 0 };

	format_fill_table(view, format, &table);
	table_print(&table, out, format->width, format->colour);
	table_deinit(&table);
}
