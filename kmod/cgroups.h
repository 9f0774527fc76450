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
struct speprof_ring;
struct task_struct;

/* Called when any cgroup was removed; may sleep. */
typedef void (*speprof_cgroups_prune_fn)(void);

/**
 * struct speprof_cgroup_set - distinct cgroups of the default hierarchy, each held; each stands for
 * itself and all below it
 */
struct speprof_cgroup_set {
	u32 count;
	struct cgroup *members[];
};

/* struct speprof_cgroup_map - from cgroups to the rings of one CPU; belongs to the CPU as they do */
struct speprof_cgroup_map;

#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)

/* ---- Sets --------------------------------------------------------------------- */

/**
 * speprof_cgroup_set_from_fds() - the cgroups that descriptors of their directories name
 *
 * Return: the set, or ERR_PTR of -EBADF, -ENOTDIR, -ENODEV, -EEXIST, -ENOMEM, as
 * SPEPROF_SESSION_CGROUPS has them.
 */
struct speprof_cgroup_set *speprof_cgroup_set_from_fds(const s32 *fds, u32 count);

/**
 * speprof_cgroup_set_change() - a new set, of @set and @by
 * @op: SPEPROF_CGROUPS_*
 *
 * Return: ERR_PTR of -EEXIST, -ENOENT, -ENOSPC, -ENOMEM likewise.
 */
struct speprof_cgroup_set *speprof_cgroup_set_change(const struct speprof_cgroup_set *set, u32 op,
						     const struct speprof_cgroup_set *by);

/** speprof_cgroup_set_free() - NULL is no set */
void speprof_cgroup_set_free(struct speprof_cgroup_set *set);

/** speprof_cgroup_sets_overlap() - whether a task could be of both */
bool speprof_cgroup_sets_overlap(const struct speprof_cgroup_set *a,
				 const struct speprof_cgroup_set *b);

/** speprof_cgroup_set_remove_dead() - one that was removed leaves @set; returns its ID, or 0 if there is none */
u64 speprof_cgroup_set_remove_dead(struct speprof_cgroup_set *set);

/* ---- Maps --------------------------------------------------------------------- */

/** speprof_cgroup_map_new() - an empty map with room for @count cgroups, on @node; NULL: no memory */
struct speprof_cgroup_map *speprof_cgroup_map_new(unsigned int count, int node);
void speprof_cgroup_map_free(struct speprof_cgroup_map *map);

/** speprof_cgroup_map_add() - the cgroups of @set, and all below them, are @ring's */
void speprof_cgroup_map_add(struct speprof_cgroup_map *map, const struct speprof_cgroup_set *set,
			    struct speprof_ring *ring);

/** speprof_cgroup_map_find() - whose @task is, or NULL; on the CPU, interrupts off */
struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task);

/**
 * speprof_cgroup_map_forget_ring() - nothing is @ring's any more; whoever lies above gets it
 *
 * Return: whether anything is left.
 */
bool speprof_cgroup_map_forget_ring(struct speprof_cgroup_map *map,
				    const struct speprof_ring *ring);

/* ---- Being told --------------------------------------------------------------- */

/** speprof_cgroups_init() - before the first session; @gone is run whenever any cgroup was removed */
void speprof_cgroups_init(speprof_cgroups_prune_fn gone);

/** speprof_cgroups_deinit() - no session is left */
void speprof_cgroups_deinit(void);

/**
 * speprof_cgroups_watch_get() - be told of context switches from here on; counted
 *
 * Under speprof_control. Return: 0; -EOPNOTSUPP: this kernel tells nobody; -ENOMEM.
 */
int speprof_cgroups_watch_get(void);
void speprof_cgroups_watch_put(void);

/** speprof_cgroups_schedule_prune() - run what speprof_cgroups_init() was given, soon */
void speprof_cgroups_schedule_prune(void);

#else

static inline struct speprof_cgroup_set *speprof_cgroup_set_from_fds(const s32 *fds, u32 count)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct speprof_cgroup_set *
speprof_cgroup_set_change(const struct speprof_cgroup_set *set, u32 op,
			  const struct speprof_cgroup_set *by)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline bool speprof_cgroup_sets_overlap(const struct speprof_cgroup_set *a,
					       const struct speprof_cgroup_set *b)
{
	return false;
}

static inline u64 speprof_cgroup_set_remove_dead(struct speprof_cgroup_set *set)
{
	return 0;
}

static inline struct speprof_cgroup_map *speprof_cgroup_map_new(unsigned int count, int node)
{
	return NULL;
}

static inline struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
							   struct task_struct *task)
{
	return NULL;
}

static inline bool speprof_cgroup_map_forget_ring(struct speprof_cgroup_map *map,
						  const struct speprof_ring *ring)
{
	return false;
}

static inline int speprof_cgroups_watch_get(void)
{
	return -EOPNOTSUPP;
}

static inline void speprof_cgroup_set_free(struct speprof_cgroup_set *set) { }
static inline void speprof_cgroup_map_free(struct speprof_cgroup_map *map) { }
static inline void speprof_cgroup_map_add(struct speprof_cgroup_map *map,
					  const struct speprof_cgroup_set *set,
					  struct speprof_ring *ring) { }
static inline void speprof_cgroups_init(speprof_cgroups_prune_fn gone) { }
static inline void speprof_cgroups_deinit(void) { }
static inline void speprof_cgroups_watch_put(void) { }
static inline void speprof_cgroups_schedule_prune(void) { }

#endif

#endif
