// SPDX-License-Identifier: LGPL-2.1-or-later
#include "credential.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREDENTIAL_SIZE 65536

int credential_read(const char *name, char **ret_text)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	char path[512], *text;
	size_t n;
	FILE *f;

	*ret_text = NULL;
	if (!folder)
		return 0;
	if (snprintf(path, sizeof(path), "%s/speprof-exporter.%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	text = malloc(CREDENTIAL_SIZE + 1);
	n = text ? fread(text, 1, CREDENTIAL_SIZE + 1, f) : 0;
	fclose(f);
	if (!text)
		return -ENOMEM;
	while (n && n <= CREDENTIAL_SIZE && isspace((unsigned char)text[n - 1]))
		n--;
	if (!n || n > CREDENTIAL_SIZE || memchr(text, 0, n)) {
		free(text);
		return -EBADMSG;
	}
	text[n] = 0;
	*ret_text = text;
	return 0;
}

bool credential_is_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

void credential_path(const char *name, char *ret_path, size_t size)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");

	if (!folder || snprintf(ret_path, size, "%s/speprof-exporter.%s", folder, name) >= (int)size ||
	    access(ret_path, F_OK) < 0)
		*ret_path = 0;
}
