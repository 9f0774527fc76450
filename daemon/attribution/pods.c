// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pods.h"

#include "util/escape.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* maximum number of directory entries; the limit of kubelet is some hundred pods */
#define ENTRIES_MAX   16384
#define ID_SHORT      12
#define RETRY_AGE_MAX 300 /* number of refreshes after which the search ends */

/* Copy the name of the first entry of directory log/@directory for which @match returns true. */
static bool directory_find_entry(int log, const char *directory,
				 bool (*match)(const char *name, const char *key), const char *key,
				 char *ret_name, size_t size)
{
	int fd = openat(log, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool hit = false;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (u32 i = 0; !hit && i < ENTRIES_MAX && (entry = readdir(d)); i++) {
		hit = match(entry->d_name, key);
		if (hit)
			snprintf(ret_name, size, "%s", entry->d_name);
	}
	closedir(d);
	return hit;
}

/* The name of a link to a log is "POD_NAMESPACE_CONTAINER-ID.log". */
static bool log_name_matches(const char *name, const char *id)
{
	size_t n = strlen(name), k = strlen(id);

	return n > k + 5 && !strcmp(name + n - 4, ".log") && name[n - k - 5] == '-' &&
	       !memcmp(name + n - k - 4, id, k);
}

/* The name of a pod's directory is "NAMESPACE_POD_UID". */
static bool log_directory_matches(const char *name, const char *uid)
{
	size_t n = strlen(name), k = strlen(uid);

	return n > k + 1 && name[n - k - 1] == '_' && !strcmp(name + n - k, uid);
}

/* Split "A_B_REST" at the underscores: Kubernetes names are DNS labels, which have none. */
static bool names_split(char *text, char **ret_second, char **ret_rest)
{
	char *second = strchr(text, '_'), *rest = second ? strchr(second + 1, '_') : NULL;

	if (!rest)
		return false;
	*second = '\0';
	*rest = '\0';
	*ret_second = second + 1;
	*ret_rest = rest + 1;
	return true;
}

static void names_set(struct pods_names *n, const char *name_space, const char *pod,
		      const char *container)
{
	escape_string(n->name_space, sizeof(n->name_space), name_space);
	escape_string(n->pod, sizeof(n->pod), pod);
	escape_string(n->container, sizeof(n->container), container);
}

enum pods_source pods_find_names(int log, const char *uid, const char *id, char *name, size_t size,
				 struct pods_names *ret_names)
{
	char found[NAME_MAX + 1], text[2 * NAME_MAX + 8], part[ID_SHORT + 1], *second, *rest;
	enum pods_source source = PODS_LINK;

	if (*id &&
	    directory_find_entry(log, "containers", log_name_matches, id, found, sizeof(found)) &&
	    names_split(found, &second, &rest)) {
		rest[strlen(rest) - strlen(id) - 5] = '\0';
		names_set(ret_names, second, found, rest);
		snprintf(text, sizeof(text), "%s/%s/%s", second, found, rest);
	} else if (*uid &&
		   directory_find_entry(log, "pods", log_directory_matches, uid, found,
					sizeof(found)) &&
		   names_split(found, &second, &rest)) {
		snprintf(part, sizeof(part), "%.*s", ID_SHORT, id);
		names_set(ret_names, found, second, part);
		snprintf(text, sizeof(text), "%s/%s/%s", found, second, part);
		source = PODS_DIRECTORY;
	} else {
		return PODS_NOT_FOUND;
	}
	escape_string(name, size, text);
	return source;
}

void pods_lookup_run(struct pods_lookup *lookup, const char *path)
{
	int log = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	lookup->source = PODS_NOT_FOUND;
	if (log < 0)
		return;
	lookup->source = pods_find_names(log, lookup->uid, lookup->id, lookup->name,
					 sizeof(lookup->name), &lookup->names);
	close(log);
}

void pods_format_name(const struct pods_names *names, const char *name,
		      char ret_name[PODS_NAME_SIZE])
{
	if (*names->pod)
		snprintf(ret_name, PODS_NAME_SIZE, "%s/%s/%s", names->name_space, names->pod,
			 names->container);
	else
		snprintf(ret_name, PODS_NAME_SIZE, "%s", name);
}

void pods_retry_schedule(struct pods_retry *retry, enum pods_source source)
{
	bool ended = source == PODS_LINK || retry->age >= RETRY_AGE_MAX;

	retry->next = ended ? 0 : (u16)(retry->age + 1 + retry->age / 4);
}

bool pods_retry_tick(struct pods_retry *retry)
{
	if (!retry->next)
		return false;
	retry->age += retry->age < UINT16_MAX;
	return retry->age >= retry->next;
}
