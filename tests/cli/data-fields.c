// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that accesses global and static data, and prints its own table of the addresses, sizes,
 * types and fields of this data, with which the test emulate-run compares the report.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
typedef struct { int x, y; } point_t;
struct node { long key; struct node *next; char tail; };
struct request {
	unsigned int refcount;
	struct { short low, high; };
	union { long whole; struct { int part[2]; } halves; } value;
	union { int only; long wide; };
	point_t corner[3];
	unsigned char kind;
	unsigned int flag : 3, mode : 9, rest : 20;
	struct node nested[2];
	double last;
	char end;
};
enum color { RED, GREEN };
volatile struct request one;
static volatile struct request table[4];
volatile point_t points[2][3];
volatile union { int i; float f; } number;
volatile int scalar;
volatile enum color paint;
static const char *volatile names[3];
volatile struct node *volatile pointer;
volatile unsigned char bytes[100000];
const volatile int constant = 7;
volatile int initial = 5;
struct flexible { int count; int item[]; };
volatile struct flexible flexible = { 3, { 1, 2, 3 } };

static volatile long *counter(void) { static volatile long calls; calls++; return &calls; }
static void row(const volatile void *at, size_t size, const char *type, const char *field)
{
	printf("ROW %lx %zu %s\t%s\n", (unsigned long)at, size, type, field);
}
#define ROW(e, type, field) row(&(e), sizeof(e), type, field)
#define S "struct request"
__attribute__((noinline)) static void request_rows(volatile struct request *r)
{
	ROW(r->refcount, S, "refcount"); ROW(r->low, S, "low"); ROW(r->high, S, "high");
	row(&r->value, 4, S, "value.{whole|halves.part[]}");
	row((volatile char *)&r->value + 4, 4, S, "value.{whole|halves.part[]}");
	row(&r->only, 4, S, "{only|wide}"); row((volatile char *)&r->only + 4, 4, S, "wide");
	for (int i = 0; i < 3; i++) { ROW(r->corner[i].x, S, "corner[].x"); ROW(r->corner[i].y, S, "corner[].y"); }
	ROW(r->kind, S, "{kind|flag|mode}");
	row(&r->kind + 1, 1, S, "{flag|mode}");
	row(&r->kind + 2, 1, S, "mode");
	row(&r->kind + 4, 3, S, "rest");
	for (int i = 0; i < 2; i++) {
		ROW(r->nested[i].key, S, "nested[].key"); ROW(r->nested[i].next, S, "nested[].next");
		ROW(r->nested[i].tail, S, "nested[].tail");
		row((volatile char *)&r->nested[i].tail + 1, 7, S, "nested[].[padding]");
	}
	ROW(r->last, S, "last"); ROW(r->end, S, "end");
	row((volatile char *)&r->end + 1, (size_t)((volatile char *)(r + 1) - &r->end - 1), S, "[padding]");
}
__attribute__((noinline)) static void request_use(volatile struct request *r, int n)
{
	for (int i = 0; i < n; i++) {
		r->refcount++; r->low = 1; r->high += 2; r->value.whole++; r->value.halves.part[1]++;
		r->only++; r->wide++; r->corner[i % 3].y++; r->corner[2].x = i; r->kind++;
		r->flag = 3; r->mode = r->rest; r->nested[i & 1].key++; r->nested[1].next = 0;
		r->nested[0].tail = 'x'; ((volatile char *)&r->nested[0].tail)[2]++; r->last += 1; r->end = 1;
	}
}
int main(void)
{
	request_use(&one, 7);
	for (int i = 0; i < 4; i++) request_use(&table[i], 3 + i);
	for (int i = 0; i < 11; i++) {
		points[i & 1][i % 3].x++; number.f += 1; scalar++; paint = GREEN; names[i % 3] = "x"; pointer = 0;
		bytes[i * 9001]++; initial += constant; counter(); flexible.count++; flexible.item[0]++;
	}
	request_rows(&one);
	for (int i = 0; i < 4; i++) request_rows(&table[i]);
	for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) {
		ROW(points[i][j].x, "point_t", "x"); ROW(points[i][j].y, "point_t", "y"); }
	ROW(number, "union (anonymous)", "{i|f}"); ROW(scalar, "int", "scalar"); ROW(paint, "enum color", "paint");
	ROW(names, "char *", "names[]"); ROW(pointer, "struct node *", "pointer");
	ROW(bytes, "unsigned char", "bytes[]"); ROW(constant, "int", "constant"); ROW(initial, "int", "initial");
	ROW(*counter(), "long int", "calls"); ROW(flexible.count, "struct flexible", "count");
	return 0;
}
