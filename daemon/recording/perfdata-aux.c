// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the AUX data of a perf.data. An AUX record describes one AUX transaction: a range of a
 * buffer, and flags for losses. An AUXTRACE record contains the bytes of several transactions. The
 * two are matched by buffer and offset, because either may precede the other in the file.
 */
#include "perfdata.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "util/array.h"

static u32 aux_to_window_flags(u64 flags)
{
	return (flags & PERF_AUX_FLAG_TRUNCATED ? WINDOW_TRUNCATED : 0) |
	       (flags & PERF_AUX_FLAG_PARTIAL ? WINDOW_GAPS : 0) |
	       (flags & PERF_AUX_FLAG_COLLISION ? WINDOW_COLLIDED : 0);
}

/* Returns &perfdata_aux.buffer. @cpu is -1 for a buffer that belongs to the thread @tid. */
static s32 make_buffer_key(s32 cpu, s32 tid)
{
	return cpu >= 0 ? cpu : ~(tid & INT32_MAX);
}

static void aux_push(struct perfdata_reader *perf, const struct perfdata_aux *aux)
{
	struct perfdata_aux *grown = array_reserve(perf->aux, &perf->aux_capacity, perf->n_aux + 1,
						   sizeof(*grown), PERFDATA_MAX_AUX);

	if (!grown) {
		perf->aux_full = true;
		return;
	}
	perf->aux = grown;
	perf->aux[perf->n_aux++] = *aux;
}

void perfdata_aux_add(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct perfdata_trailer trailer;
	struct perfdata_aux aux;
	u64 flags;

	if (!perfdata_check_size(perf, record, 32, "AUX"))
		return;
	flags = perfdata_get64(perf, record->data + 24);
	trailer = perfdata_read_trailer(perf, record);
	aux = (struct perfdata_aux){
		.offset = perfdata_get64(perf, record->data + 8),
		/*
		 * In snapshot mode, the offsets of AUX records cannot be compared with those of
		 * AUXTRACE records.
		 */
		.size = flags & PERF_AUX_FLAG_OVERWRITE ? 0 :
							  perfdata_get64(perf, record->data + 16),
		.time = trailer.time,
		.tid = trailer.tid,
		.flags = aux_to_window_flags(flags),
	};
	if (aux.size > UINT64_MAX - aux.offset) {
		recording_set_damage(perf->recording, record->offset + 8,
				     "AUX record: %#llx bytes at %#llx, want an end within 64 bits",
				     (unsigned long long)aux.size, (unsigned long long)aux.offset);
		return;
	}
	if (perf->aux_full || (!aux.size && !(aux.flags & (WINDOW_TRUNCATED | WINDOW_GAPS))))
		return;
	/*
	 * Store the AUX record twice, for its CPU and for its thread: only the AUXTRACE record
	 * shows whether the buffer belongs to a CPU or to a thread.
	 */
	if (trailer.cpu >= 0) {
		aux.buffer = make_buffer_key(trailer.cpu, trailer.tid);
		aux_push(perf, &aux);
	}
	if (trailer.tid >= 0) {
		aux.buffer = make_buffer_key(-1, trailer.tid);
		aux_push(perf, &aux);
	}
}

static int aux_compare(const void *a, const void *b)
{
	const struct perfdata_aux *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

void perfdata_aux_detect_per_thread(struct perfdata_reader *perf,
				    const struct perfdata_record *record)
{
	if (record->size >= PERFDATA_AUXTRACE_SIZE)
		perf->per_thread |= (s32)perfdata_get32(perf, record->data + 40) < 0;
}

/* Emit a window for an AUX record without bytes, which the kernel writes if the buffer was full. */
static void emit_loss(const struct perfdata_reader *perf, const struct perfdata_aux *aux)
{
	static const u8 no_bytes[1];
	const struct source_window window = {
		.data = no_bytes,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.cpu = aux->buffer >= 0 ? (u32)aux->buffer : 0,
		.tid = aux->buffer >= 0 ? -1 : aux->tid,
		.end_ns = aux->time,
		.flags = aux->flags,
		.backend = perf->backend,
	};

	/*
	 * perfdata_aux_add() stored two copies of each AUX record: one for its CPU and one for its
	 * thread. Pass only the copy of the kind of buffer that this file has to the sink.
	 */
	if (perf->is_spe && (aux->buffer < 0) == perf->per_thread)
		perf->sink->window(perf->sink->ctx, &window);
}

/* Remove overlaps of AUX records. Only a damaged or hostile file has them. */
void perfdata_aux_sort_and_emit_losses(struct perfdata_reader *perf)
{
	struct perfdata_aux *last;
	u32 i, n = 0;

	if (!perf->n_aux)
		return;
	qsort(perf->aux, perf->n_aux, sizeof(*perf->aux), aux_compare);
	for (i = 0; i < perf->n_aux; i++) {
		const struct perfdata_aux *aux = &perf->aux[i];

		last = n && perf->aux[n - 1].buffer == aux->buffer ? &perf->aux[n - 1] : NULL;
		if (!aux->size) {
			emit_loss(perf, aux);
			continue;
		}
		if (last && aux->offset == last->offset)
			n--;
		else if (last && aux->offset - last->offset < last->size)
			last->size = aux->offset - last->offset;
		perf->aux[n++] = *aux;
	}
	perf->n_aux = n;
}

/* Returns the index of the first AUX record of @buffer that ends after @offset. */
static u32 aux_find(const struct perfdata_reader *perf, s32 buffer, u64 offset)
{
	const struct perfdata_aux *aux = perf->aux;

	return ARRAY_COUNT_LEADING(
		perf->n_aux, i,
		aux[i].buffer < buffer ||
			(aux[i].buffer == buffer && aux[i].offset + aux[i].size <= offset));
}

static u64 cpu_get_midr(const struct perfdata_reader *perf, u32 cpu)
{
	for (u32 i = 0; i < perf->n_cpus; i++)
		if (perf->cpus[i].cpu == cpu)
			return perf->cpus[i].midr;
	return perf->midr;
}

/*
 * Find the AUX transaction that contains @pos, and set the window's fields from it. Returns the end
 * of the transaction; if no transaction contains @pos, the start of the next one; at most @end.
 */
static u64 transaction_find(const struct perfdata_reader *perf, s32 buffer, u64 pos, u64 end,
			    struct source_window *window)
{
	u32 i = aux_find(perf, buffer, pos);
	const struct perfdata_aux *aux;
	u64 stop;

	window->flags = 0;
	window->end_ns = 0;
	window->tid = -1;
	if (i == perf->n_aux || perf->aux[i].buffer != buffer)
		return end;
	aux = &perf->aux[i];
	if (aux->offset > pos) {
		stop = aux->offset;
	} else {
		stop = aux->offset + aux->size;
		/*
		 * Records were lost after the last byte of the transaction, so only the window with
		 * that byte has the flags. The loss is then counted once, even if several AUXTRACE
		 * records contain the transaction.
		 */
		window->flags =
			aux->flags & (stop > end ? ~(WINDOW_TRUNCATED | WINDOW_GAPS) : UINT32_MAX);
		window->end_ns = aux->time;
		window->tid = aux->tid;
	}
	return stop < end ? stop : end;
}

void perfdata_auxtrace_emit(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct source_window window = {
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = perf->backend,
		.interval = perf->interval,
		.clock = perf->clock,
	};
	u64 pos, size, at = record->offset + record->size, end, stop;
	s32 tid, cpu, buffer;

	if (!perfdata_check_size(perf, record, PERFDATA_AUXTRACE_SIZE, "AUXTRACE"))
		return;
	/* Without an AUXTRACE_INFO record of SPE, another PMU may have written the bytes. */
	if (!perf->is_spe)
		return;
	size = record->end - at;
	pos = perfdata_get64(perf, record->data + 16);
	tid = (s32)perfdata_get32(perf, record->data + 36);
	cpu = (s32)perfdata_get32(perf, record->data + 40);
	if (size > UINT64_MAX - pos)
		pos = 0;
	buffer = make_buffer_key(cpu, tid);
	window.cpu = cpu >= 0 ? (u32)cpu : 0;
	window.midr = cpu >= 0 ? cpu_get_midr(perf, window.cpu) : perf->midr;

	for (end = pos + size; pos < end; pos = stop) {
		stop = transaction_find(perf, buffer, pos, end, &window);
		/*
		 * An event of a thread stops at a context switch, so all records of a transaction
		 * belong to the thread. An event of a CPU continues, so the records of a
		 * transaction may belong to several threads.
		 */
		if (cpu < 0 || tid < 0)
			window.tid = tid;
		recording_emit_window(perf->recording, at, stop - pos, &window);
		at += stop - pos;
	}
}
