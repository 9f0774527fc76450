// SPDX-License-Identifier: LGPL-2.1-or-later
#include "go-table.h"

#define MAGIC_1_2  0xfffffffbU
#define MAGIC_1_16 0xfffffffaU
#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U

#define HEADER	      8 /* bytes of the header: magic, two zeros, quantum, size of a pointer */
#define FUNCTIONS_MAX (1U << 22)
#define STEPS_MAX     (1U << 20) /* maximum number of steps in a function's table of values */
#define NO_FILE	      0xffffffffU

/* Numbers of the fields of a function: 4 bytes each, after its address */
enum go_function_field {
	FIELD_NAME = 1,
	/*
	 * offset of the table of values with file numbers; FIELD_LINE is the offset of the table
	 * with line numbers
	 */
	FIELD_FILE = 5,
	FIELD_LINE = 6,
	FIELD_UNIT = 8, /* since Go 1.16: index of the first file of the function's unit */
};

static bool read_u32(const struct go_table *t, u64 at, u32 *ret)
{
	if (at >= t->size || t->size - at < sizeof(u32))
		return false;
	*ret = spe_get_le32(t->data + at);
	return true;
}

static bool get_pointer(const struct go_table *t, u64 at, u64 *ret)
{
	if (at >= t->size || t->size - at < t->pointer)
		return false;
	*ret = t->pointer == 8 ? spe_get_le64(t->data + at) : spe_get_le32(t->data + at);
	return true;
}

/*
 * Get the offset of a subtable, which is pointer @n of the header. Pointer 0 is the number of
 * functions.
 */
static bool get_subtable(const struct go_table *t, u32 n, u64 *ret)
{
	return get_pointer(t, HEADER + (u64)n * t->pointer, ret) && *ret < t->size;
}

static bool header_read_1_2(struct go_table *t)
{
	u64 end;
	u32 files;

	t->functions = HEADER + t->pointer;
	if (!get_pointer(t, HEADER, &t->count) || t->count > FUNCTIONS_MAX)
		return false;
	end = t->functions + (2 * t->count + 1) * t->pointer;
	if (!read_u32(t, end, &files) || files >= t->size)
		return false;
	t->files = files;
	return true;
}

static bool header_read_1_16(struct go_table *t, u64 text)
{
	u32 first = t->version == GO_1_18 ? 3 : 2;

	if (!get_pointer(t, HEADER, &t->count) || t->count > FUNCTIONS_MAX ||
	    !get_subtable(t, first, &t->names) || !get_subtable(t, first + 1, &t->units) ||
	    !get_subtable(t, first + 2, &t->files) || !get_subtable(t, first + 3, &t->values) ||
	    !get_subtable(t, first + 4, &t->functions))
		return false;
	if (t->version == GO_1_18 && !get_pointer(t, HEADER + 2ULL * t->pointer, &t->text))
		return false;
	/*
	 * In position-independent programs the table does not contain the address of the text
	 * section, because the dynamic loader would have to set it.
	 */
	if (!t->text)
		t->text = text;
	return true;
}

int go_table_init(struct go_table *t, const u8 *data, size_t size, u64 text)
{
	u32 magic;

	*t = (struct go_table){ .data = data, .size = size };
	if (size < HEADER || data[4] || data[5] || (data[6] != 1 && data[6] != 2 && data[6] != 4) ||
	    (data[7] != 4 && data[7] != 8))
		return -EBADMSG;
	magic = spe_get_le32(data);
	t->quantum = data[6];
	t->pointer = data[7];
	t->version = magic == MAGIC_1_2 ? GO_1_2 : magic == MAGIC_1_16 ? GO_1_16 : GO_1_18;
	if (magic == MAGIC_1_2)
		return header_read_1_2(t) ? 0 : -EBADMSG;
	if (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return -EBADMSG;
	return header_read_1_16(t, text) ? 0 : -EBADMSG;
}

/*
 * Get the address of function @n and the offset of its fields. Entry number &go_table.count has no
 * fields; its address is the end of the last function.
 */
static bool function_get(const struct go_table *t, u64 n, u64 *ret_entry, u64 *ret_fields)
{
	u32 entry, offset;

	if (t->version == GO_1_18) {
		if (!read_u32(t, t->functions + n * 8, &entry))
			return false;
		*ret_entry = t->text + entry;
		if (n == t->count)
			return true;
		if (!read_u32(t, t->functions + n * 8 + 4, &offset))
			return false;
		*ret_fields = t->functions + offset;
		return true;
	}
	if (!get_pointer(t, t->functions + n * 2 * t->pointer, ret_entry))
		return false;
	if (n == t->count)
		return true;
	if (!get_pointer(t, t->functions + (n * 2 + 1) * t->pointer, ret_fields) ||
	    *ret_fields >= t->size)
		return false;
	if (t->version == GO_1_16)
		*ret_fields += t->functions;
	return true;
}

static bool function_read_field(const struct go_table *t, u64 function,
				enum go_function_field field, u32 *ret)
{
	u32 entry = t->version == GO_1_18 ? 4 : t->pointer;

	return function < t->size && read_u32(t, function + entry + (field - 1U) * 4U, ret);
}

static const char *string_get(const struct go_table *t, u64 at, size_t *ret_len)
{
	const char *text = (const char *)t->data + at;

	if (at >= t->size)
		return NULL;
	*ret_len = strnlen(text, t->size - at);
	return *ret_len && *ret_len < t->size - at ? text : NULL;
}

void go_table_add_symbols(const struct go_table *t, struct symtab *symbols)
{
	u64 entry, next, at, after = 0;

	if (!t->count || !function_get(t, 0, &entry, &at))
		return;
	for (u64 n = 0; n < t->count; n++, entry = next, at = after) {
		const char *name;
		size_t len;
		u32 offset;

		if (!function_get(t, n + 1, &next, &after))
			return;
		if (next <= entry || !function_read_field(t, at, FIELD_NAME, &offset))
			continue;
		name = string_get(t, t->names + offset, &len);
		if (name)
			symtab_add(symbols, entry, next - entry, name, len, SYMBOL_GLOBAL);
	}
}

/* Read a variable-length integer, seven bits in each byte, and advance @at. */
static bool varint_read(const struct go_table *t, u64 *at, u32 *ret)
{
	u32 value = 0;

	for (u32 shift = 0; shift < 35; shift += 7) {
		u8 byte;

		if (*at >= t->size)
			return false;
		byte = t->data[(*at)++];
		value |= (u32)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/*
 * Find the value for @pc in a table of values. Each step has a zigzag-encoded change of the value,
 * and the length of the address range with that value.
 */
static bool value_find(const struct go_table *t, u64 at, u64 entry, u64 pc, s32 *ret)
{
	u32 value = UINT32_MAX, step, bytes;

	for (u32 n = 0; n < STEPS_MAX; n++) {
		if (!varint_read(t, &at, &step) || (!step && n) || !varint_read(t, &at, &bytes))
			return false;
		value += step & 1 ? ~(step >> 1) : step >> 1;
		entry += (u64)bytes * t->quantum;
		if (pc < entry) {
			*ret = (s32)value;
			return true;
		}
	}
	return false;
}

static bool function_find(const struct go_table *t, u64 pc, u64 *ret_entry, u64 *ret_at)
{
	u64 low = 0, high = t->count, entry, at = 0;

	while (low < high) {
		u64 mid = low + (high - low) / 2;

		if (!function_get(t, mid, &entry, &at))
			return false;
		if (entry <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low && function_get(t, low - 1, ret_entry, ret_at);
}

static const char *get_file_name(const struct go_table *t, u64 function, u32 number,
				 size_t *ret_len)
{
	u32 unit, offset;

	if (t->version == GO_1_2)
		return read_u32(t, t->files + 4ULL * number, &offset) ?
			       string_get(t, offset, ret_len) :
			       NULL;
	if (!function_read_field(t, function, FIELD_UNIT, &unit) ||
	    !read_u32(t, t->units + 4ULL * ((u64)unit + number), &offset) || offset == NO_FILE)
		return NULL;
	return string_get(t, t->files + offset, ret_len);
}

bool go_table_find_line(const struct go_table *t, u64 pc, const char **ret_file, size_t *ret_len,
			u32 *ret_line)
{
	u64 entry = 0, function = 0;
	u32 files, lines;
	s32 file, line;

	if (!function_find(t, pc, &entry, &function) ||
	    !function_read_field(t, function, FIELD_FILE, &files) ||
	    !function_read_field(t, function, FIELD_LINE, &lines) ||
	    !value_find(t, t->values + files, entry, pc, &file) ||
	    !value_find(t, t->values + lines, entry, pc, &line) || file < 0 || line <= 0)
		return false;
	*ret_file = get_file_name(t, function, (u32)file, ret_len);
	*ret_line = (u32)line;
	return *ret_file;
}
