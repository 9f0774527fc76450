// SPDX-License-Identifier: LGPL-2.1-or-later
#include "message-limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void bus_strings_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static int read_strings(sd_bus_message *m, size_t max, char **list)
{
	const char *text;
	size_t n = 0;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "s");
	while (r >= 0 && (r = sd_bus_message_read_basic(m, 's', &text)) > 0) {
		if (n == max)
			return -E2BIG;
		list[n] = strdup(text);
		if (!list[n++])
			return -ENOMEM;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int bus_read_strings(sd_bus_message *m, size_t max, char ***ret_list)
{
	char **list = calloc(max + 1, sizeof(*list));
	int r = list ? read_strings(m, max, list) : -ENOMEM;

	if (r < 0) {
		bus_strings_free(list);
		return r;
	}
	*ret_list = list;
	return 0;
}

static int consume_bytes(size_t bytes, size_t *left)
{
	if (bytes > *left)
		return -E2BIG;
	*left -= bytes;
	return 1;
}

static int count_value_bytes(sd_bus_message *m, char type, size_t *left)
{
	union {
		const char *text;
		uint64_t number;
	} value;
	bool text = type == SD_BUS_TYPE_STRING || type == SD_BUS_TYPE_OBJECT_PATH ||
		    type == SD_BUS_TYPE_SIGNATURE;
	size_t bytes = 8;
	int r = sd_bus_message_read_basic(m, type, &value);

	if (r < 0)
		return r;
	/*
	 * This must not be written as 8 + (text ? strlen(value.text) : 0): GCC 14.2 then calls
	 * strlen() in any case and multiplies its result by the condition, so a number from the
	 * caller would be read as an address.
	 */
	if (text)
		bytes += strlen(value.text);
	return consume_bytes(bytes, left);
}

static int count_contents_bytes(sd_bus_message *m, size_t *left)
{
	const char *contents;
	char type;
	int r;

	while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0) {
		if (!strchr("avre", type)) {
			r = count_value_bytes(m, type, left);
		} else {
			r = sd_bus_message_enter_container(m, type, contents);
			if (r >= 0)
				r = consume_bytes(8, left);
			if (r >= 0)
				r = count_contents_bytes(m, left);
			if (r >= 0)
				r = sd_bus_message_exit_container(m);
		}
		if (r < 0)
			return r;
	}
	return r;
}

int bus_check_message_size(sd_bus_message *m, size_t max)
{
	const char *path = sd_bus_message_get_path(m);
	size_t left = max;
	int r = 0, rewound;

	if (path)
		r = consume_bytes(strlen(path), &left);
	if (r >= 0)
		r = count_contents_bytes(m, &left);
	rewound = sd_bus_message_rewind(m, true);
	return r < 0 ? r : rewound < 0 ? rewound : 0;
}
