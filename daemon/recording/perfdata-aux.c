// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf.data: AUX records say which stretch of a buffer was filled at once and
 * what went wrong; AUXTRACE records carry the bytes, of several such stretches.
 * The two meet by buffer and offset, as neither comes surely before the other.
 */
#include "perfdata.h"

#include <linux/perf_event.h>
#include <stdlib.h>

static u32 window_flags(u64 flags)
{
	return (flags & PERF_AUX_FLAG_TRUNCATED ? WINDOW_TRUNCATED : 0) |
	       (flags & PERF_AUX_FLAG_PARTIAL ? WINDOW_GAPS : 0) |
	       (flags & PERF_AUX_FLAG_COLLISION ? WINDOW_COLLIDED : 0);
}

static bool aux_grow(struct perfdata *perf)
{
	u32 room = perf->aux_room ? 2 * perf->aux_room : 256;
	struct perfdata_aux *aux;

	if (perf->n_aux < perf->aux_room)
		return true;
	aux = room <= PERFDATA_MAX_AUX ? realloc(perf->aux, room * sizeof(*aux)) : NULL;
	if (!aux)
		return false;
	perf->aux = aux;
	perf->aux_room = room;
	return true;
}

/* Buffers have a CPU, but for those of one thread wherever it runs. */
static s32 buffer_of(s32 cpu, s32 tid)
{
	return cpu >= 0 ? cpu : ~(tid & INT32_MAX);
}

void perfdata_aux_record(struct perfdata *perf, const struct perfdata_record *record)
{
	struct perfdata_aux aux;
	struct perfdata_id id;
	u64 flags;

	if (!perfdata_need(perf, record, 32, "AUX"))
		return;
	flags = perfdata_get64(perf, record->data + 24);
	id = perfdata_id(perf, record);
	aux = (struct perfdata_aux){
		.offset = perfdata_get64(perf, record->data + 8),
		/* In snapshot mode offsets are of another count than AUXTRACE's. */
		.size = flags & PERF_AUX_FLAG_OVERWRITE ?
				0 :
				perfdata_get64(perf, record->data + 16),
		.time = id.time,
		.tid = id.tid,
		.flags = window_flags(flags),
	};
	if (aux.size > UINT64_MAX - aux.offset) {
		recording_damage(perf->recording, record->offset + 8,
				 "AUX record: %#llx bytes at %#llx, want an end within 64 bits",
				 (unsigned long long)aux.size, (unsigned long long)aux.offset);
		return;
	}
	if (perf->aux_full || (!aux.size && !(aux.flags & (WINDOW_TRUNCATED | WINDOW_GAPS))))
		return;
	/* Both keys: which one counts, the AUXTRACE record knows. */
	for (int i = 0; i < 2; i++) {
		if (i ? id.tid < 0 : id.cpu < 0)
			continue;
		aux.buffer = i ? buffer_of(-1, id.tid) : id.cpu;
		if (!aux_grow(perf)) {
			perf->aux_full = true;
			return;
		}
		perf->aux[perf->n_aux++] = aux;
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

void perfdata_aux_buffer(struct perfdata *perf, const struct perfdata_record *record)
{
	if (record->size >= PERFDATA_AUXTRACE_SIZE)
		perf->of_threads |= (s32)perfdata_get32(perf, record->data + 40) < 0;
}

/* The window of an AUX record without bytes, as the kernel writes one where it had no room. */
static void report_loss(const struct perfdata *perf, const struct perfdata_aux *aux)
{
	static const u8 nothing[1];
	const struct source_window window = {
		.data = nothing,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.cpu = aux->buffer >= 0 ? (u32)aux->buffer : 0,
		.tid = aux->buffer >= 0 ? -1 : aux->tid,
		.end_ns = aux->time,
		.flags = aux->flags,
		.backend = perf->backend,
	};

	/* A record that has both a CPU and a task is listed under both. */
	if (perf->is_spe && (aux->buffer < 0) == perf->of_threads)
		perf->sink->window(perf->sink->ctx, &window);
}

/*
 * In order, without overlaps, which only a damaged or hostile file has, and without the empty
 * ones, which are reported.
 */
void perfdata_aux_sort(struct perfdata *perf)
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
			report_loss(perf, aux);
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

/* The first AUX record of @buffer that ends behind @offset. */
static u32 aux_find(const struct perfdata *perf, s32 buffer, u64 offset)
{
	u32 low = 0, high = perf->n_aux, mid;
	const struct perfdata_aux *aux;

	while (low < high) {
		mid = low + (high - low) / 2;
		aux = &perf->aux[mid];
		if (aux->buffer < buffer ||
		    (aux->buffer == buffer && aux->offset + aux->size <= offset))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static u64 cpu_midr(const struct perfdata *perf, u32 cpu)
{
	for (u32 i = 0; i < perf->n_cpus; i++)
		if (perf->cpus[i].cpu == cpu)
			return perf->cpus[i].midr;
	return perf->midr;
}

/* Where the stretch ends that holds @pos; what is known of it goes to @window. */
static u64 stretch_end(const struct perfdata *perf, s32 buffer, u64 pos, u64 end,
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
		/* What is lost is lost behind the last of its bytes: it counts once. */
		window->flags = aux->flags &
				(stop > end ? ~(WINDOW_TRUNCATED | WINDOW_GAPS) : UINT32_MAX);
		window->end_ns = aux->time;
		window->tid = aux->tid;
	}
	return stop < end ? stop : end;
}

void perfdata_auxtrace(struct perfdata *perf, const struct perfdata_record *record)
{
	struct source_window window = {
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = perf->backend,
		.interval = perf->interval,
		.clock = perf->clock,
	};
	u64 pos, size, at = record->offset + record->size, end, stop;
	s32 tid, cpu, buffer;

	if (!perfdata_need(perf, record, PERFDATA_AUXTRACE_SIZE, "AUXTRACE"))
		return;
	/* Without AUXTRACE_INFO they could be of any PMU. */
	if (!perf->is_spe)
		return;
	size = record->end - at;
	pos = perfdata_get64(perf, record->data + 16);
	tid = (s32)perfdata_get32(perf, record->data + 36);
	cpu = (s32)perfdata_get32(perf, record->data + 40);
	if (size > UINT64_MAX - pos)
		pos = 0;
	buffer = buffer_of(cpu, tid);
	window.cpu = cpu >= 0 ? (u32)cpu : 0;
	window.midr = cpu >= 0 ? cpu_midr(perf, window.cpu) : perf->midr;

	for (end = pos + size; pos < end; pos = stop) {
		stop = stretch_end(perf, buffer, pos, end, &window);
		/*
		 * Events of a task are stopped when it leaves the CPU, so each
		 * stretch has one; those of a CPU run on.
		 */
		if (cpu < 0 || tid < 0)
			window.tid = tid;
		recording_window(perf->recording, at, stop - pos, &window, perf->sink, NULL);
		at += stop - pos;
	}
}
