// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void bus_strings_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static int read_all(sd_bus_message *m, size_t most, char **list)
{
	const char *text;
	size_t n = 0;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "s");
	while (r >= 0 && (r = sd_bus_message_read_basic(m, 's', &text)) > 0) {
		if (n == most)
			return -E2BIG;
		list[n] = strdup(text);
		if (!list[n++])
			return -ENOMEM;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int bus_read_strings(sd_bus_message *m, size_t most, char ***ret_list)
{
	char **list = calloc(most + 1, sizeof(*list));
	int r = list ? read_all(m, most, list) : -ENOMEM;

	if (r < 0) {
		bus_strings_free(list);
		return r;
	}
	*ret_list = list;
	return 0;
}
