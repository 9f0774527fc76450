/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pprof: what a profile counts for a while, as pprof's protocol buffers have it. Beside
 * the profile's own tables, since those know neither what translation took at a place
 * nor which of its accesses took how long.
 *
 * Each sample counts the same here and in the profile, and for the same process.
 */
#ifndef SPEPROF_PPROF_H
#define SPEPROF_PPROF_H

#include "profile/profile.h"

/* What tells entries apart: place, process, container, data source, node. Where memory is no matter. */
#define PPROF_ENTRIES 32768

/* Bytes of one, and what is taken beside the table and names when it is written. */
#define PPROF_ENTRY   144
#define PPROF_WRITING (384ULL << 10)

/* Seconds that one of a running daemon may take, and how many there may be at once, of all and of a user. */
#define PPROF_SECONDS  600
#define PPROF_AT_ONCE  4
#define PPROF_OF_USER  2

struct pprof;

/**
 * struct pprof_limits - how large it may become
 * @entries: what is told apart; what more comes counts as "[not told apart]"
 * @names: bytes of names while it is written, by which places are told that come first; 0: no bound
 */
struct pprof_limits {
	u32 entries;
	u64 names;
};

/** pprof_bytes() - at the most */
static inline u64 pprof_bytes(const struct pprof_limits *room)
{
	return (u64)room->entries * PPROF_ENTRY + room->names + PPROF_WRITING;
}

/**
 * pprof_new() - count what is sampled from now on
 * @profile: observed until pprof_free()
 * @live: processes and CPUs are this machine's
 * @room: NULL: PPROF_ENTRIES, and no bound of names
 */
int pprof_new(struct profile *profile, struct attributor *attributor, bool live,
	      const struct pprof_limits *room, struct pprof **ret_pprof);
struct pprof *pprof_free(struct pprof *pprof);

/**
 * struct pprof_filter - whose names are written
 * @allow, @deny: globs on names of containers, as Allow= and Deny= of the exporter have them,
 *	NULL-terminated, or NULL; none of @allow is all, @deny goes first
 *
 * What is not known to be of a container that is admitted is "other": without process,
 * function and address.
 */
struct pprof_filter {
	char *const *allow;
	char *const *deny;
};

/**
 * struct pprof_facts - of the whole
 * @start_ns: CLOCK_REALTIME; 0 if unknown
 * @duration_ns: 0 if unknown
 * @backend: &enum backend: said in a comment
 * @filter: NULL: everybody's
 */
struct pprof_facts {
	u64 start_ns;
	u64 duration_ns;
	u8 backend;
	const struct pprof_filter *filter;
};

/**
 * pprof_write() - all that was counted, compressed by gzip
 * @fd: where to
 *
 * Return: 0 or negative errno.
 */
int pprof_write(struct pprof *pprof, struct symbols *symbols, const struct pprof_facts *facts,
		int fd);

/** pprof_request_names() - begin to look up the names of what was sampled so far: waits for nothing */
void pprof_request_names(struct pprof *pprof, struct symbols *symbols);

/** pprof_samples() - how many were counted, and @ret_others of them without place, for want of room */
u64 pprof_samples(const struct pprof *pprof, u64 *ret_others);

#endif
