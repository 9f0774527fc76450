// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test tables in the four layouts of Go's linker, which this program makes: whole, truncated and
 * with flipped bits.
 */
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>

#include "daemon/symbols/elf-load.h"
#include "symbols/helper/go-table.h"

#define TEXT	  0x401000ULL
#define FUNCTIONS 50
#define STEP	  0x40 /* bytes of a function */
#define LIMIT	  (1U << 20)

enum layout { LAYOUT_1_2, LAYOUT_1_16, LAYOUT_1_18, LAYOUT_1_20, LAYOUTS };

static const char *const layout_names[] = { "1.2", "1.16", "1.18", "1.20" };

struct go_table_maker {
	u8 data[65536];
	u32 len;
	u32 pointer;
	enum layout layout;
};

static void write_value(struct go_table_maker *m, u32 at, u64 value, u32 size)
{
	for (u32 i = 0; i < size; i++)
		m->data[at + i] = (u8)(i < 8 ? value >> 8 * i : 0);
	if (m->len < at + size)
		m->len = at + size;
}

static u32 put_string(struct go_table_maker *m, const char *text)
{
	u32 at = m->len;

	memcpy(m->data + at, text, strlen(text) + 1);
	m->len += (u32)strlen(text) + 1;
	return at;
}

static void put_varint(struct go_table_maker *m, u32 value)
{
	for (; value > 0x7f; value >>= 7)
		write_value(m, m->len, (value & 0x7f) | 0x80, 1);
	write_value(m, m->len, value, 1);
}

static void put_step(struct go_table_maker *m, s32 value, u32 bytes)
{
	put_varint(m, (u32)(value < 0 ? ~(value * 2) : value * 2));
	put_varint(m, bytes);
}

/*
 * Write a table of lines: the first half of a function is on line @line, the rest 5 lines earlier.
 */
static u32 put_lines(struct go_table_maker *m, u32 line, u32 quantum)
{
	u32 at = m->len;

	put_step(m, (s32)line + 1, STEP / 2 / quantum);
	put_step(m, -5, STEP / 2 / quantum);
	put_varint(m, 0);
	return at;
}

static u32 put_files(struct go_table_maker *m, u32 quantum)
{
	u32 at = m->len;

	put_step(m, 2, STEP / quantum); /* the index changes from -1 to 1 */
	put_varint(m, 0);
	return at;
}

static void align_table(struct go_table_maker *m, u32 to)
{
	while (m->len % to)
		write_value(m, m->len, 0, 1);
}

/*
 * Write the fields after the entry address of a function's description, which are the same in all
 * layouts.
 */
static void put_function(struct go_table_maker *m, u32 at, u32 name, u32 files, u32 lines)
{
	u32 entry = m->layout >= LAYOUT_1_18 ? 4 : m->pointer;

	write_value(m, at + entry, name, 4);
	write_value(m, at + entry + 16, files, 4);
	write_value(m, at + entry + 20, lines, 4);
	write_value(m, at + entry + 28, 3, 4); /* index of its compilation unit */
}

static void make_function_name(u32 i, char *name)
{
	sprintf(name, "main.(*T%u).f%u", i, i * i);
}

/* Write the offsets of the sections: names, units, files, values, functions. */
static void put_section_offsets(struct go_table_maker *m, const u32 *parts)
{
	u32 first = m->layout >= LAYOUT_1_18 ? 3 : 2;

	write_value(m, 8 + m->pointer, 2, m->pointer);
	if (m->layout >= LAYOUT_1_18)
		write_value(m, 8 + 2 * m->pointer, TEXT, m->pointer);
	for (u32 i = 0; i < 5; i++)
		write_value(m, 8 + (first + i) * m->pointer, parts[i], m->pointer);
}

/* Write the table of functions at @at, followed by the description of each function. */
static void put_table(struct go_table_maker *m, u32 at, const u32 *names, u32 files,
		      const u32 *lines)
{
	u32 entry = m->layout >= LAYOUT_1_18 ? 4 : m->pointer, old = m->layout == LAYOUT_1_2;

	if (!old)
		write_value(m, at + (2 * FUNCTIONS + 1) * entry - 1, 0, 1);
	align_table(m, 8);
	for (u32 i = 0; i <= FUNCTIONS; i++) {
		u64 pc = (m->layout >= LAYOUT_1_18 ? 0 : TEXT) + i * STEP;

		write_value(m, at + 2 * i * entry, pc, entry);
		if (i == FUNCTIONS)
			break;
		align_table(m, 8);
		write_value(m, at + (2 * i + 1) * entry, m->len - (old ? 0 : at), entry);
		write_value(m, m->len, pc, entry);
		put_function(m, m->len - entry, names[i], files, lines[i]);
		align_table(m, 8);
	}
}

static void make_table(struct go_table_maker *m, enum layout layout, u32 pointer, u32 quantum)
{
	static const u32 magic[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	u32 words = layout == LAYOUT_1_2 ? 1 : layout == LAYOUT_1_16 ? 7 : 8;
	u32 head = 8 + words * pointer, names[FUNCTIONS], files, file, unit, values, table,
	    lines[FUNCTIONS];
	u32 old = layout == LAYOUT_1_2, at;
	char name[64];

	*m = (struct go_table_maker){ .layout = layout, .pointer = pointer };
	write_value(m, 0, magic[layout], 4);
	write_value(m, 6, quantum, 1);
	write_value(m, 7, pointer, 1);
	write_value(m, 8, FUNCTIONS, pointer);
	/*
	 * In layout 1.2 the table of functions follows the header. Other layouts have offsets of
	 * sections.
	 */
	m->len = old ? head + (2 * FUNCTIONS + 1) * pointer + 4 : head;
	at = m->len;
	put_string(m, "");
	for (u32 i = 0; i < FUNCTIONS; i++) {
		make_function_name(i, name);
		names[i] = put_string(m, name) - (old ? 0 : at);
	}
	align_table(m, 8);
	unit = m->len;
	write_value(m, unit, 0, 4 * 5);
	files = m->len;
	put_string(m, "x");
	file = put_string(m, "/src/main.go") - files;
	/* Set the second file of the unit; the files of the unit begin at 3. */
	write_value(m, unit + 4 * 4, file, 4);
	align_table(m, 8);
	values = m->len;
	write_value(m, m->len, 0, 1);
	for (u32 i = 0; i < FUNCTIONS; i++)
		lines[i] = put_lines(m, 100 + i, quantum) - (old ? 0 : values);
	table = put_files(m, quantum) - (old ? 0 : values);
	align_table(m, 8);
	if (old) {
		u32 list = m->len;

		write_value(m, list, 2, 4);
		write_value(m, list + 4, files + file, 4);
		write_value(m, head + (2 * FUNCTIONS + 1) * pointer, list, 4);
		align_table(m, 8);
	}
	if (!old)
		put_section_offsets(m, (const u32[]){ at, unit, files, values, m->len });
	put_table(m, old ? head : m->len, names, table, lines);
}

static void test_functions_in_all_layouts(void **state)
{
	static struct go_table_maker m;

	(void)state;
	for (u32 i = 0; i < LAYOUTS * 4; i++) {
		u32 pointer = i & 1 ? 8 : 4, quantum = i & 2 ? 4 : 1;
		struct symtab t = { .limit = LIMIT };
		struct go_table table;

		test_row("%s, %u bytes a pointer, quantum %u", layout_names[i / 4], pointer,
			 quantum);
		make_table(&m, i / 4, pointer, quantum);
		assert_row(!go_table_init(&table, m.data, m.len, 0));
		go_table_add_symbols(&table, &t);
		symtab_sort(&t);
		assert_row(t.count == FUNCTIONS && !t.dropped);
		for (u32 k = 0; k < FUNCTIONS * STEP; k++) {
			const char *found = symtab_find(&t, TEXT + k), *file;
			char name[64];
			size_t len;
			u32 line;

			make_function_name(k / STEP, name);
			assert_row(found && !strcmp(found, name));
			assert_row(go_table_find_line(&table, TEXT + k, &file, &len, &line));
			assert_row(line == 100 + k / STEP - (k % STEP < STEP / 2 ? 0 : 5));
			assert_row(len == 12 && !strncmp(file, "/src/main.go", 12));
		}
		assert_row(!symtab_find(&t, TEXT - 1) && !symtab_find(&t, TEXT + FUNCTIONS * STEP));
		symtab_clear(&t);
	}
}

/* In a position-independent program the loader writes the address of the text section. */
static void test_relocated_text_section(void **state)
{
	static struct go_table_maker m;
	struct symtab t = { .limit = LIMIT };
	struct go_table table;

	(void)state;
	make_table(&m, LAYOUT_1_20, 8, 1);
	write_value(&m, 8 + 2 * 8, 0, 8);
	assert_int_equal(go_table_init(&table, m.data, m.len, 0x5000), 0);
	go_table_add_symbols(&table, &t);
	symtab_sort(&t);
	assert_string_equal(symtab_find(&t, 0x5000), "main.(*T0).f0");
	symtab_clear(&t);
}

static void read_table(const u8 *data, size_t size)
{
	struct symtab t = { .limit = LIMIT };
	struct go_table table;
	const char *file;
	size_t len;
	u32 line;

	if (go_table_init(&table, data, size, 0))
		return;
	go_table_add_symbols(&table, &t);
	symtab_sort(&t);
	for (u32 k = 0; k < 8; k++)
		if (go_table_find_line(&table, TEXT + k * 100, &file, &len, &line))
			assert_true((const u8 *)file >= data &&
				    len < size - (size_t)((const u8 *)file - data));
	symtab_clear(&t);
}

/* The memory ends with the table, so that a sanitizer reports each access after it. */
static void test_damaged_table(void **state)
{
	static struct go_table_maker m;
	unsigned int seed = 7;

	(void)state;
	for (u32 i = 0; i < LAYOUTS; i++) {
		u8 *copy;

		make_table(&m, i, 8, 1);
		for (u32 len = 0; len < m.len; len += 1 + len / 64) {
			copy = malloc(len ? len : 1);
			memcpy(copy, m.data, len);
			read_table(copy, len);
			free(copy);
		}
		copy = malloc(m.len);
		for (u32 n = 0; n < 3000; n++) {
			memcpy(copy, m.data, m.len);
			for (int k = 0; k < 3; k++)
				copy[8 + (u32)rand_r(&seed) % (m.len - 8)] ^= (u8)rand_r(&seed);
			read_table(copy, m.len);
		}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_in_all_layouts),
		cmocka_unit_test(test_relocated_text_section),
		cmocka_unit_test(test_damaged_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
