// SPDX-License-Identifier: LGPL-2.1-or-later
#include "emulated-models.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* TASK_COMM_LEN of the kernel, NUL included. */
#define COMM_SIZE 16

/* Entries of &emulated_models.pair: the maximum number of pairs of Models=. */
#define PAIRS_MAX 32

/* The cache has 1024 entries, and replaces the oldest of a set. */
#define CACHE_SETS 256
#define CACHE_WAYS 4
#define CACHE_NS   1000000000ULL

struct model_pair {
	char comm[COMM_SIZE];
	enum spe_profile profile;
};

struct cached_profile {
	u64 until_ns;
	s32 tid;
	u8 profile;
};

struct emulated_models {
	unsigned int pairs;
	struct model_pair pair[PAIRS_MAX];
	struct cached_profile cache[CACHE_SETS][CACHE_WAYS];
};

static const char blanks[] = " \t\n";

static const char *pair_parse(const char *text, size_t len, struct model_pair *pair)
{
	const char *equals = memchr(text, '=', len);
	char profile[32] = "";
	size_t comm;

	if (!equals)
		return "models: a pair is not \"comm=profile\"";
	comm = (size_t)(equals - text);
	if (!comm || comm >= COMM_SIZE)
		return "models: a process name is not 1 to 15 bytes long";
	len -= comm + 1;
	memcpy(profile, equals + 1, len < sizeof(profile) ? len : sizeof(profile) - 1);
	if (spe_profile_from_name(profile, &pair->profile) < 0)
		return "models: a profile should be mixed, pointer_chase, stream, branchy or shared_line";
	memcpy(pair->comm, text, comm);
	pair->comm[comm] = '\0';
	return NULL;
}

int emulated_models_new(const char *text, struct emulated_models **ret_models,
			const char **ret_reason)
{
	struct emulated_models *models = calloc(1, sizeof(*models));
	const char *reason = NULL;
	size_t len;

	if (!models) {
		*ret_reason = "out of memory for models";
		return -ENOMEM;
	}
	for (text = text ? text : ""; *(text += strspn(text, blanks)) && !reason; text += len) {
		len = strcspn(text, blanks);
		if (models->pairs == PAIRS_MAX)
			reason = "models: more than 32 pairs";
		else
			reason = pair_parse(text, len, &models->pair[models->pairs++]);
	}
	if (reason) {
		emulated_models_free(models);
		*ret_reason = reason;
		return -EINVAL;
	}
	*ret_models = models;
	return 0;
}

struct emulated_models *emulated_models_free(struct emulated_models *models)
{
	free(models);
	return NULL;
}

static enum spe_profile read_profile(const struct emulated_models *models, s32 tid)
{
	char path[32], comm[COMM_SIZE + 1];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return SPE_PROFILE_MIXED;
	n = read(fd, comm, sizeof(comm) - 1);
	close(fd);
	if (n <= 0)
		return SPE_PROFILE_MIXED;
	comm[n] = '\0';
	/* The kernel appends a newline; the name itself may contain others. */
	if (comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	for (unsigned int i = 0; i < models->pairs; i++) {
		if (!strcmp(models->pair[i].comm, comm))
			return models->pair[i].profile;
	}
	return SPE_PROFILE_MIXED;
}

enum spe_profile emulated_models_find_profile(struct emulated_models *models, s32 tid, u64 now_ns)
{
	/* TIDs are allocated in sequence, so the low bits spread them over the sets. */
	struct cached_profile *set = models->cache[(u32)tid % CACHE_SETS], *slot = set;

	if (!models->pairs || tid <= 0)
		return SPE_PROFILE_MIXED;
	for (unsigned int i = 0; i < CACHE_WAYS; i++) {
		if (set[i].tid == tid && set[i].until_ns > now_ns)
			return set[i].profile;
		if (set[i].until_ns < slot->until_ns)
			slot = &set[i];
	}
	*slot = (struct cached_profile){
		.until_ns = now_ns + CACHE_NS,
		.tid = tid,
		.profile = read_profile(models, tid),
	};
	return slot->profile;
}
