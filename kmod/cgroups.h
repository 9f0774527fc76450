/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups: sets of them, maps from them to rings, and what the kernel tells of them. A kernel
 * without cgroups or tracepoints has no session of cgroups: EOPNOTSUPP.
 */
#ifndef SPEPROF_CGROUPS_H
#define SPEPROF_CGROUPS_H

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/types.h>

struct cgroup;
struct ring;
struct task_struct;

/* Called when any cgroup was removed; may sleep. */
typedef void (*cgroups_gone_fn)(void);

/**
 * struct cgroup_set - distinct cgroups of the default hierarchy, each held; each stands for
 * itself and all below it
 */
struct cgroup_set {
	u32 count;
	struct cgroup *members[];
};

/* struct cgroup_map - from cgroups to the rings of one CPU; belongs to the CPU as they do */
struct cgroup_map;

#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)

/* ---- Sets --------------------------------------------------------------------- */

/**
 * cgroup_set_from_fds() - the cgroups that descriptors of their directories name
 *
 * Return: the set, or ERR_PTR of -EBADF, -ENOTDIR, -ENODEV, -EEXIST, -ENOMEM, as
 * SPEPROF_SESSION_CGROUPS has them.
 */
struct cgroup_set *cgroup_set_from_fds(const s32 *fds, u32 count);

/**
 * cgroup_set_change() - a new set, of @set and @by
 * @op: SPEPROF_CGROUPS_*
 *
 * Return: ERR_PTR of -EEXIST, -ENOENT, -ENOSPC, -ENOMEM likewise.
 */
struct cgroup_set *cgroup_set_change(const struct cgroup_set *set, u32 op,
				     const struct cgroup_set *by);

/** cgroup_set_free() - NULL is no set */
void cgroup_set_free(struct cgroup_set *set);

/** cgroup_sets_overlap() - whether a task could be of both */
bool cgroup_sets_overlap(const struct cgroup_set *a, const struct cgroup_set *b);

/** cgroup_set_prune() - one that was removed leaves @set; returns its ID, or 0 if there is none */
u64 cgroup_set_prune(struct cgroup_set *set);

/* ---- Maps --------------------------------------------------------------------- */

/** cgroup_map_new() - an empty map with room for @count cgroups, on @node; NULL: no memory */
struct cgroup_map *cgroup_map_new(unsigned int count, int node);
void cgroup_map_free(struct cgroup_map *map);

/** cgroup_map_add() - the cgroups of @set, and all below them, are @ring's */
void cgroup_map_add(struct cgroup_map *map, const struct cgroup_set *set, struct ring *ring);

/** cgroup_map_find() - whose @task is, or NULL; on the CPU, interrupts off */
struct ring *cgroup_map_find(struct cgroup_map *map, struct task_struct *task);

/**
 * cgroup_map_forget() - nothing is @ring's any more; whoever lies above gets it
 *
 * Return: whether anything is left.
 */
bool cgroup_map_forget(struct cgroup_map *map, const struct ring *ring);

/* ---- Being told --------------------------------------------------------------- */

/** cgroups_init() - before the first session; @gone is run whenever any cgroup was removed */
void cgroups_init(cgroups_gone_fn gone);

/** cgroups_deinit() - no session is left */
void cgroups_deinit(void);

/**
 * cgroups_watch_get() - be told of context switches from here on; counted
 *
 * Under speprof_control. Return: 0; -EOPNOTSUPP: this kernel tells nobody; -ENOMEM.
 */
int cgroups_watch_get(void);
void cgroups_watch_put(void);

/** cgroups_gone_later() - run what cgroups_init() was given, soon */
void cgroups_gone_later(void);

#else

static inline struct cgroup_set *cgroup_set_from_fds(const s32 *fds, u32 count)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct cgroup_set *cgroup_set_change(const struct cgroup_set *set, u32 op,
						   const struct cgroup_set *by)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline bool cgroup_sets_overlap(const struct cgroup_set *a, const struct cgroup_set *b)
{
	return false;
}

static inline u64 cgroup_set_prune(struct cgroup_set *set)
{
	return 0;
}

static inline struct cgroup_map *cgroup_map_new(unsigned int count, int node)
{
	return NULL;
}

static inline struct ring *cgroup_map_find(struct cgroup_map *map, struct task_struct *task)
{
	return NULL;
}

static inline bool cgroup_map_forget(struct cgroup_map *map, const struct ring *ring)
{
	return false;
}

static inline int cgroups_watch_get(void)
{
	return -EOPNOTSUPP;
}

static inline void cgroup_set_free(struct cgroup_set *set) { }
static inline void cgroup_map_free(struct cgroup_map *map) { }
static inline void cgroup_map_add(struct cgroup_map *map, const struct cgroup_set *set,
				  struct ring *ring) { }
static inline void cgroups_init(cgroups_gone_fn gone) { }
static inline void cgroups_deinit(void) { }
static inline void cgroups_watch_put(void) { }
static inline void cgroups_gone_later(void) { }

#endif

#endif
