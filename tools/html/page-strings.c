// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page-strings.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/hash.h"

/*
 * Find the slot of a string, or the free slot for it. A slot has the number of a string plus one;
 * 0: free. A hostile recording may contain many names with equal hashes. Searching them only costs
 * time in the process of the user who reads the recording.
 */
static u32 slot_find(const struct page_strings *strings, const char *text)
{
	u32 slot = (u32)hash_string(text) & (strings->size - 1);

	while (strings->slots[slot] && strcmp(strings->text[strings->slots[slot] - 1], text) != 0)
		slot = (slot + 1) & (strings->size - 1);
	return slot;
}

/* Double the number of slots when half of them are in use. */
static int slots_grow(struct page_strings *strings)
{
	struct page_strings grown = *strings;

	if (strings->count < strings->size / 2)
		return 0;
	grown.size = strings->size ? strings->size * 2 : 64;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (u32 i = 0; i < strings->count; i++)
		grown.slots[slot_find(&grown, strings->text[i])] = i + 1;
	free(strings->slots);
	strings->slots = grown.slots;
	strings->size = grown.size;
	return 0;
}

s64 page_strings_add(struct page_strings *strings, const char *text)
{
	char **grown;
	u32 slot;

	if (slots_grow(strings) < 0)
		return -ENOMEM;
	slot = slot_find(strings, text);
	if (strings->slots[slot])
		return strings->slots[slot] - 1;
	grown = array_reserve(strings->text, &strings->capacity, strings->count + 1,
			      sizeof(*strings->text), UINT32_MAX / 4);
	if (!grown)
		return -ENOMEM;
	strings->text = grown;
	strings->text[strings->count] = strdup(text);
	if (!strings->text[strings->count])
		return -ENOMEM;
	strings->slots[slot] = ++strings->count;
	return strings->count - 1;
}

json_object *page_strings_json(const struct page_strings *strings)
{
	json_object *list = json_object_new_array(), *text;

	for (u32 i = 0; list && i < strings->count; i++) {
		text = json_object_new_string(strings->text[i]);
		if (!text || json_object_array_add(list, text) < 0) {
			json_object_put(text);
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}

void page_strings_deinit(struct page_strings *strings)
{
	for (u32 i = 0; i < strings->count; i++)
		free(strings->text[i]);
	free(strings->text);
	free(strings->slots);
	*strings = (struct page_strings){ 0 };
}
