// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that accesses data by pointers, in arrays, lists and unions on the heap and the stack. It
 * prints a table of the addresses, sizes, types and fields of this data, with which the test
 * emulate-run compares what the report says about each access. Rows of larger data follow those of its
 * parts: each byte has several correct names, because a pointer may point to a part.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { int x, y; } point_t;
struct node { long key; struct node *next; char tail; };
struct packed_bits { unsigned int flag : 3, mode : 9, rest : 20; };
struct table { unsigned int count; point_t *points; unsigned short *ids; struct node *head; };
struct request {
	unsigned int refcount;
	struct { short low, high; };
	union { long whole; struct { int part[2]; } halves; } value;
	point_t corner[3];
	struct packed_bits bits;
	struct node nested;
	struct table *table;
	double last;
	char end;
};
struct tree { struct tree *child[2]; int weight; };
struct message { int length; unsigned char bytes[]; };

static char text[262144];
static size_t length;

static void text_add(const char *string)
{
	size_t size = strlen(string);

	memcpy(text + length, string, size);
	length += size;
}
static void text_add_hex(unsigned long number)
{
	if (number >> 4)
		text_add_hex(number >> 4);
	text[length++] = "0123456789abcdef"[number & 15];
}
__attribute__((noinline)) static void row(const volatile void *at, size_t size, const char *type, const char *field)
{
	text_add("ROW ");
	text_add_hex((unsigned long)at);
	text_add(" ");
	text_add_hex(size);
	text_add(" ");
	text_add(type);
	text_add("\t");
	text_add(field);
	text_add("\n");
}
#define ROW(e, type, field) row(&(e), sizeof(e), type, field)

static inline __attribute__((always_inline)) long node_get_key(const struct node *node)
{
	return node->key;
}
__attribute__((noinline)) static long list_sum(const struct node *head)
{
	long sum = 0;
	for (const struct node *node = head; node; node = node->next)
		sum += node_get_key(node) + node->tail;
	return sum;
}
__attribute__((noinline)) static struct node *list_add(struct node *head, long key)
{
	struct node *node = calloc(1, sizeof(*node));
	node->key = key;
	node->next = head;
	node->tail = 'x';
	return node;
}
__attribute__((noinline)) static void request_fill(struct request *r, int n)
{
	r->refcount++;
	r->low = (short)n;
	r->high += 2;
	r->value.whole += n;
	r->value.halves.part[n & 1]++;
	r->corner[n % 3].y += n;
	r->corner[2].x = n;
	r->bits.flag = n & 7;
	r->bits.mode += 3;
	r->nested.key += r->bits.rest;
	r->nested.next = NULL;
	r->last += 1.5;
	r->end = 1;
}
__attribute__((noinline)) static int table_sum(const struct request *r)
{
	const struct table *t = r->table;
	int sum = 0;
	for (unsigned int i = 0; i < t->count; i++)
		sum += t->points[i].x * t->ids[i] - t->points[i].y;
	return sum + (int)list_sum(t->head) + r->table->points[1].y;
}
__attribute__((noinline)) static void points_sort(point_t *points, int count)
{
	for (int i = 1; i < count; i++)
		for (int j = i; j > 0 && points[j - 1].x > points[j].x; j--) {
			point_t saved = points[j];
			points[j] = points[j - 1];
			points[j - 1] = saved;
		}
}
__attribute__((noinline)) static struct tree *tree_add(struct tree *tree, int weight)
{
	if (!tree) {
		tree = calloc(1, sizeof(*tree));
		tree->weight = weight;
		return tree;
	}
	tree->child[weight > tree->weight] = tree_add(tree->child[weight > tree->weight], weight);
	return tree;
}
__attribute__((noinline)) static int tree_sum(const struct tree *tree)
{
	return tree ? tree->weight + tree_sum(tree->child[0]) + tree_sum(tree->child[1]) : 0;
}
__attribute__((noinline)) static unsigned int message_hash(const struct message *m, const char *key)
{
	unsigned int hash = 5381;
	for (int i = 0; i < m->length; i++)
		hash = hash * 33 + m->bytes[i];
	while (*key)
		hash = hash * 33 + (unsigned char)*key++;
	return hash;
}
__attribute__((noinline)) static int kind_switch(struct request *r, int kind)
{
	switch (kind) {
	case 0: return r->corner[0].x;
	case 1: r->low = 5; return r->high;
	case 2: return (int)r->last;
	case 3: r->refcount += 7; /* fall through */
	case 4: return r->end;
	case 5: return (int)r->table->count + r->table->ids[2];
	case 6: return (int)list_sum(r->table->head);
	case 7: r->nested.tail = 'q'; return (int)r->nested.key;
	default: return -1;
	}
}
__attribute__((noinline)) static void count_bytes(unsigned int *counts, const unsigned char *bytes, int n)
{
	for (int i = 0; i < n; i++)
		counts[bytes[i] % 16]++;
}
__attribute__((noinline)) static void node_rows(const struct node *n)
{
	ROW(n->key, "struct node", "key"); ROW(n->next, "struct node", "next"); ROW(n->tail, "struct node", "tail");
}
__attribute__((noinline)) static void point_rows(const point_t *p)
{
	ROW(p->x, "point_t", "x"); ROW(p->y, "point_t", "y");
}
__attribute__((noinline)) static void request_rows(const struct request *r)
{
#define R(field) ROW(r->field, "struct request", #field)
	R(refcount); R(low); R(high); R(nested.key); R(nested.next); R(nested.tail); R(table); R(last); R(end);
	ROW(r->value, "struct request", "value.{whole|halves.part[]}");
	for (int i = 0; i < 3; i++) {
		ROW(r->corner[i].x, "struct request", "corner[].x"); ROW(r->corner[i].y, "struct request", "corner[].y");
		point_rows(&r->corner[i]);
	}
	row(&r->bits, 1, "struct request", "bits.{flag|mode|rest}"); row(&r->bits, 1, "struct packed_bits", "{flag|mode|rest}");
	row((const char *)&r->bits + 1, 1, "struct request", "bits.{mode|rest}");
	node_rows(&r->nested);
}
int main(void)
{
	struct request *r = calloc(3, sizeof(*r));
	struct table *table = calloc(1, sizeof(*table));
	struct message *message = malloc(sizeof(*message) + 40);
	unsigned int *counts = calloc(16, sizeof(*counts));
	struct tree *tree = NULL;
	struct node *head = NULL;
	long result = 0;
	struct request local;
	int ring[8];

	memset(&local, 0, sizeof(local));
	memset(ring, 0, sizeof(ring));
	table->count = 20;
	table->points = calloc(table->count, sizeof(point_t));
	table->ids = calloc(table->count, sizeof(*table->ids));
	for (int i = 0; i < 20; i++) {
		head = list_add(head, i);
		tree = tree_add(tree, i * 7 % 20);
		table->points[i].x = 20 - i;
		table->points[i].y = i;
		table->ids[i] = (unsigned short)(i * 3);
	}
	table->head = head;
	message->length = 40;
	memset(message->bytes, 'm', 40);
	for (int i = 0; i < 3; i++) {
		r[i].table = table;
		for (int n = 0; n < 9 + i; n++) {
			request_fill(&r[i], n);
			result += kind_switch(&r[i], n);
		}
		result += table_sum(&r[i]);
	}
	points_sort(table->points, 20);
	count_bytes(counts, message->bytes, 40);
	result += tree_sum(tree) + message_hash(message, "a key of bytes") + counts[3];
	for (int i = 0; i < 12; i++) {
		request_fill(&local, i);
		ring[i & 7] += local.low;
		local.nested.key += ring[(i + 3) & 7];
	}
	result += local.nested.key + ring[2];
	request_rows(&local);
	ROW(ring, "int", "ring[]");
	for (int i = 0; i < 3; i++)
		request_rows(&r[i]);
	for (unsigned int i = 0; i < table->count; i++)
		point_rows(&table->points[i]);
	for (struct node *n = head; n; n = n->next)
		node_rows(n);
	for (int i = 0; i < 20; i++)
		ROW(table->ids[i], "short unsigned int", "*"), ROW(table->ids[i], "unsigned short", "*");
	for (int i = 0; i < 16; i++)
		ROW(counts[i], "unsigned int", "*");
	struct tree *queue[20] = { tree };
	for (int at = 0, end = 1; at < end; at++) {
		for (int side = 0; side < 2; side++)
			if (queue[at]->child[side])
				queue[end++] = queue[at]->child[side];
		ROW(queue[at]->child, "struct tree", "child[]"); ROW(queue[at]->weight, "struct tree", "weight");
	}
	ROW(table->count, "struct table", "count"); ROW(table->points, "struct table", "points");
	ROW(table->ids, "struct table", "ids"); ROW(table->head, "struct table", "head");
	ROW(message->length, "struct message", "length"); row(message->bytes, 40, "struct message", "bytes[]");
	row(message->bytes, 40, "unsigned char", "*");
	return write(1, text, length) != (ssize_t)length || result == 0;
}
