// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the header of a perf.data, and process its records in two passes: the first reads tasks,
 * clock and metadata, the second delivers windows. With one pass, AUX bytes would have to be stored
 * until the metadata is known.
 */
#include "perfdata.h"

#include <byteswap.h>
#include <endian.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/zeros.h"

#define FILE_HEADER_MIN 72 /* header of old versions: up to the event types, without features */
#define FILE_HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16

/* Number of consecutive valid records required to resume after damage. */
#define RESYNC_CHAIN 4
/*
 * Maximum size of each of the RESYNC_CHAIN records in bytes, so that one recording_peek() gets all
 * of them.
 */
#define RESYNC_RECORD 8192
#define RESYNC_SPAN   ((RESYNC_CHAIN + 1) * RESYNC_RECORD)

/* Arrays of bytes without a terminating NUL. */
static const u8 magic_le[8] = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' };
static const u8 magic_be[8] = { '2', 'E', 'L', 'I', 'F', 'R', 'E', 'P' };

bool perfdata_has_magic(const u8 *buf)
{
	return !memcmp(buf, magic_le, sizeof(magic_le)) || !memcmp(buf, magic_be, sizeof(magic_be));
}

u16 perfdata_get16(const struct perfdata_reader *perf, const u8 *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return perf->swap ? bswap_16(v) : v;
}

u32 perfdata_get32(const struct perfdata_reader *perf, const u8 *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return perf->swap ? bswap_32(v) : v;
}

u64 perfdata_get64(const struct perfdata_reader *perf, const u8 *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return perf->swap ? bswap_64(v) : v;
}

bool perfdata_check_size(struct perfdata_reader *perf, const struct perfdata_record *record,
			 u32 size, const char *name)
{
	if (record->size >= size)
		return true;
	recording_set_damage(perf->recording, record->offset,
			     "%s record: size is %u bytes, its fields alone take %u", name,
			     record->size, size);
	return false;
}

static bool read_sections(struct perfdata_reader *perf, const u8 *h, size_t len)
{
	struct recording *recording = perf->recording;
	u64 data_size = perfdata_get64(perf, h + 48), left;

	perf->attr_size = perfdata_get64(perf, h + 16);
	perf->attr_offset = perfdata_get64(perf, h + 24);
	perf->attr_bytes = perfdata_get64(perf, h + 32);
	perf->data = perfdata_get64(perf, h + 40);
	if (perfdata_get64(perf, h + 8) >= FILE_HEADER_SIZE && len >= FILE_HEADER_SIZE)
		for (size_t i = 0; i < ARRAY_SIZE(perf->feature_bits); i++)
			perf->feature_bits[i] = perfdata_get64(perf, h + 72 + 8 * i);

	if (perf->data < FILE_HEADER_MIN || perf->data > recording->size) {
		recording_set_damage(
			recording, 40,
			"perf.data header: data offset is %#llx, want one within the file's "
			"%#llx bytes",
			(unsigned long long)perf->data, (unsigned long long)recording->size);
		return false;
	}
	left = recording->size - perf->data;
	if (!data_size)
		recording_set_damage(
			recording, 48,
			"perf.data header: data size is 0: perf record did not finish; "
			"reading up to the end of the file");
	else if (data_size > left)
		recording_set_damage(
			recording, 48,
			"perf.data header: data size is %#llx, but %#llx bytes follow: the "
			"file is truncated",
			(unsigned long long)data_size, (unsigned long long)left);
	perf->data_end = perf->data + (data_size && data_size <= left ? data_size : left);
	perf->features = perf->data_end;
	return true;
}

static bool read_header(struct perfdata_reader *perf)
{
	struct recording *recording = perf->recording;
	u64 header_size;
	size_t len;
	const u8 *h = recording_peek(recording, 0, FILE_HEADER_SIZE, &len);

	/* "PERFILE2" is a 64-bit number in the byte order of the writer. */
	perf->swap = !memcmp(h, magic_le, sizeof(magic_le)) == (__BYTE_ORDER == __BIG_ENDIAN);
	if (len < PIPE_HEADER_SIZE) {
		recording_set_damage(
			recording, 8,
			"perf.data header: truncated after %zu bytes, want at least %u", len,
			PIPE_HEADER_SIZE);
		return false;
	}
	header_size = perfdata_get64(perf, h + 8);
	if (header_size == PIPE_HEADER_SIZE) {
		perf->pipe = true;
		perf->data = PIPE_HEADER_SIZE;
		perf->data_end = recording->size;
		return true;
	}
	if (header_size >= FILE_HEADER_MIN && len >= FILE_HEADER_MIN)
		return read_sections(perf, h, len);
	recording_set_damage(recording, 8,
			     "perf.data header: size is %llu in a file of %llu bytes, want %u, or "
			     "%u for a recording from a pipe",
			     (unsigned long long)header_size, (unsigned long long)recording->size,
			     FILE_HEADER_SIZE, PIPE_HEADER_SIZE);
	return false;
}

/* Returns the number of bytes after @record that belong to it, such as AUX bytes. */
static u64 record_get_payload_size(const struct perfdata_reader *perf,
				   const struct perfdata_record *record)
{
	if (record->type == PERFDATA_AUXTRACE && record->size >= 16)
		return perfdata_get64(perf, record->data + 8);
	if (record->type == PERFDATA_TRACING_DATA && record->size >= 12)
		return ((u64)perfdata_get32(perf, record->data + 8) + 7) & ~7ULL;
	return 0;
}

enum record_error {
	HEADER_OK,
	HEADER_TRUNCATED, /* the stream ends within the header */
	HEADER_SIZE, /* the size field is invalid */
	HEADER_LONG, /* the stream ends within the record, or within the bytes after it */
};

/*
 * Read the record at @pos. @ret_record has the data of the record if the result is HEADER_OK, or if
 * only the bytes after the record are missing.
 */
static enum record_error read_record(struct perfdata_reader *perf, u64 pos,
				     struct perfdata_record *ret_record)
{
	struct perfdata_record record = { .offset = pos };
	u64 left = perf->data_end - pos;
	size_t len;
	const u8 *h;

	h = recording_peek(perf->recording, pos, PERFDATA_HEADER_SIZE, &len);
	if (left < PERFDATA_HEADER_SIZE || len < PERFDATA_HEADER_SIZE)
		return HEADER_TRUNCATED;
	record.type = perfdata_get32(perf, h);
	record.misc = perfdata_get16(perf, h + 4);
	record.size = perfdata_get16(perf, h + 6);
	*ret_record = record;
	/*
	 * Records of the kernel are padded to a multiple of 8 bytes. Records of perf itself may not
	 * be padded.
	 */
	if (record.size < PERFDATA_HEADER_SIZE || (record.type < PERFDATA_ATTR && record.size % 8))
		return HEADER_SIZE;
	if (record.size > left)
		return HEADER_LONG;
	record.data = recording_peek(perf->recording, pos, record.size, &len);
	if (len < record.size)
		return HEADER_LONG;
	record.end = pos + record.size;
	left -= record.size;
	if (record_get_payload_size(perf, &record) > left) {
		record.end += left;
		*ret_record = record;
		return HEADER_LONG;
	}
	record.end += record_get_payload_size(perf, &record);
	*ret_record = record;
	return HEADER_OK;
}

static void report_bad_record(struct perfdata_reader *perf, const struct perfdata_record *record,
			      u64 pos, enum record_error error)
{
	switch (error) {
	case HEADER_TRUNCATED:
		recording_set_damage(
			perf->recording, pos, "%llu bytes follow, want a record header of %u bytes",
			(unsigned long long)(perf->data_end - pos), PERFDATA_HEADER_SIZE);
		break;
	case HEADER_SIZE:
		recording_set_damage(
			perf->recording, pos,
			"record of type %u: size is %u, want at least 8, and a multiple of "
			"8 if the type is below 64",
			record->type, record->size);
		break;
	case HEADER_LONG:
		recording_set_damage(
			perf->recording, pos,
			"record of type %u: extends beyond the end of the stream, %#llx: the "
			"file is truncated, or the size of the record (%u%s) is wrong",
			record->type, (unsigned long long)perf->data_end, record->size,
			record->end ? ", and of the bytes after it" : "");
		break;
	default:
		break;
	}
}

static bool type_is_known(u32 type)
{
	return type && (type < PERF_RECORD_MAX || (type >= PERFDATA_ATTR && type < PERFDATA_TYPES));
}

/*
 * Returns the alignment of records in bytes. Only pipes have feature records, which are not padded
 * to 8 bytes.
 */
static u32 record_get_alignment(const struct perfdata_reader *perf)
{
	return perf->pipe ? 4 : 8;
}

/*
 * Return true if a chain of valid records begins at @pos. A single AUXTRACE record suffices,
 * because its size is fixed.
 */
static bool records_are_valid_at(struct perfdata_reader *perf, u64 pos)
{
	struct perfdata_record record;

	for (int n = 0; n < RESYNC_CHAIN; n++) {
		if (pos == perf->data_end)
			return n > 0;
		if (read_record(perf, pos, &record) != HEADER_OK || !type_is_known(record.type) ||
		    record.size > RESYNC_RECORD || record.size % record_get_alignment(perf))
			return false;
		if (record.type == PERFDATA_AUXTRACE && record.size == PERFDATA_AUXTRACE_SIZE)
			return true;
		pos = record.end;
	}
	return true;
}

/*
 * Find the offset after damage at @pos where valid records begin again; the end of the stream if
 * there are none. Skip zeros quickly: no record begins with zeros, and a truncated file may have
 * gigabytes of zeros.
 */
static u64 find_next_record(struct perfdata_reader *perf, u64 pos)
{
	u32 unit = record_get_alignment(perf);
	u64 step = unit - (pos - perf->data) % unit;
	size_t len, zeros;
	const u8 *p;

	while (perf->data_end - pos >= step + PERFDATA_HEADER_SIZE) {
		pos += step;
		p = recording_peek(perf->recording, pos, RESYNC_SPAN, &len);
		zeros = spe_count_zeros(p, len);
		if (zeros < sizeof(u32) && records_are_valid_at(perf, pos))
			return pos;
		step = zeros < sizeof(u32) ? unit : ((zeros - sizeof(u32)) / unit + 1) * unit;
	}
	return perf->data_end;
}

/* Call @parse for each record. Both passes find the same records, even in a damaged file. */
static void walk_records(struct perfdata_reader *perf,
			 void (*parse)(struct perfdata_reader *perf,
				       const struct perfdata_record *record))
{
	struct perfdata_record record;
	enum record_error error;
	u64 pos = perf->data, next;

	while (pos < perf->data_end) {
		recording_report_progress(perf->recording, pos);
		error = read_record(perf, pos, &record);
		if (error == HEADER_OK) {
			parse(perf, &record);
			pos = record.end;
			continue;
		}
		report_bad_record(perf, &record, pos, error);
		next = error == HEADER_TRUNCATED ? perf->data_end : find_next_record(perf, pos);
		/*
		 * If only the size of the AUX bytes is wrong, use all bytes up to the next valid
		 * record.
		 */
		if (error == HEADER_LONG && record.end && next - pos > record.size &&
		    read_record(perf, pos, &record) == HEADER_LONG && record.end) {
			record.end = next;
			parse(perf, &record);
		}
		pos = next;
	}
}

static void parse_metadata(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	switch (record->type) {
	case PERFDATA_ATTR:
		perfdata_parse_attr(perf, record);
		break;
	case PERFDATA_FEATURE:
		perfdata_parse_feature(perf, record);
		break;
	case PERFDATA_AUXTRACE_INFO:
		perfdata_parse_auxtrace_info(perf, record);
		break;
	case PERFDATA_TIME_CONV:
		perfdata_parse_time_conv(perf, record);
		break;
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		recording_set_damage(perf->recording, record->offset,
				     "COMPRESSED record: not supported; record without -z, or "
				     "decompress the file with perf inject");
		break;
	case PERF_RECORD_AUX:
		perfdata_aux_add(perf, record);
		break;
	case PERFDATA_AUXTRACE:
		perfdata_aux_detect_per_thread(perf, record);
		break;
	case PERFDATA_BUILD_ID:
		perfdata_parse_build_id(perf, record);
		break;
	case PERFDATA_FINISHED_ROUND:
		perfdata_task_queue_end_round(perf);
		break;
	default:
		if (perfdata_record_is_task(record))
			perfdata_task_queue_add(perf, record);
		else if (!record->type)
			recording_set_damage(perf->recording, record->offset,
					     "record: type is 0, want 1 or more");
		break;
	}
}

static void parse_aux_bytes(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	if (record->type == PERFDATA_AUXTRACE)
		perfdata_auxtrace_emit(perf, record);
}

/* Report that the file has no SPE data. This is an error, but the file is not damaged. */
static void report_no_spe(const struct perfdata_reader *perf)
{
	char found[48] = "no AUX data";

	if (perf->foreign_trace)
		snprintf(found, sizeof(found), "AUX data of type %u", perf->foreign_trace);
	perf->recording->without_spe = true;
	recording_set_error(&perf->recording->no_spe_reason, -ENOMSG, RECORDING_NO_OFFSET,
			    "a perf.data without Arm SPE data: it has %s; record with perf record "
			    "-e arm_spe_0// or speprof record",
			    found);
}

void perfdata_replay(struct recording *recording, const struct source_sink *sink)
{
	struct perfdata_reader perf = { .recording = recording, .sink = sink };

	if (!read_header(&perf))
		return;
	if (!perf.pipe) {
		perfdata_read_attrs(&perf);
		perfdata_read_features(&perf);
	}
	walk_records(&perf, parse_metadata);
	perfdata_task_queue_flush(&perf);
	if (!perf.is_spe)
		report_no_spe(&perf);
	if (recording_begin_windows(recording)) {
		perfdata_aux_sort_and_emit_losses(&perf);
		walk_records(&perf, parse_aux_bytes);
	}
	perfdata_free_build_ids(&perf);
	free(perf.events);
	free(perf.aux);
	free(perf.cpus);
}
