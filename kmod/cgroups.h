/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of cgroups, maps from cgroups to rings, and the kernel's tracepoints that report context
 * switches and changes of cgroups. On a kernel without cgroups or tracepoints, sessions of cgroups
 * are refused with EOPNOTSUPP.
 */
#ifndef SPEPROF_CGROUPS_H
#define SPEPROF_CGROUPS_H

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/types.h>

struct cgroup;
struct speprof_ring;
struct task_struct;

/*
 * A function that removes dead cgroups from all sets. It is called after a cgroup was removed, and
 * may sleep.
 */
typedef void (*speprof_cgroups_prune_fn)(void);

/**
 * struct speprof_cgroup_set - a set of cgroups of the default hierarchy, with their descendants
 * @count: number of @members
 * @members: the cgroups, each once, with a reference on each
 */
struct speprof_cgroup_set {
	u32 count;
	struct cgroup *members[];
};

/*
 * struct speprof_cgroup_map - a hash table from cgroups to the rings of one CPU. It is only used on
 * that CPU with interrupts off.
 */
struct speprof_cgroup_map;

#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)

/* ---- Sets --------------------------------------------------------------------- */

/**
 * speprof_cgroup_set_from_fds() - create a set from descriptors of cgroup directories
 * @fds: descriptors of the calling process
 * @count: number of @fds; 0 creates an empty set
 *
 * Context: may sleep.
 * Return: the set, or an ERR_PTR: -EBADF if an entry is not an open descriptor; -ENOTDIR if it is
 * not a descriptor of a cgroup v2 directory; -ENODEV if the cgroup was removed; -EEXIST if a cgroup
 * occurs twice; -ENOMEM if memory cannot be allocated.
 */
struct speprof_cgroup_set *speprof_cgroup_set_from_fds(const s32 *fds, u32 count);

/**
 * speprof_cgroup_set_change() - combine two sets into a new one
 * @set: the former set; not changed
 * @op: SPEPROF_CGROUPS_ADD, _REMOVE or _REPLACE
 * @by: the cgroups that are added to @set, are removed from it, or replace its members; not changed
 *
 * Context: may sleep.
 * Return: the new set, or an ERR_PTR: -EEXIST if a cgroup to add is already in @set; -ENOENT if a
 * cgroup to remove is not in @set; -ENOSPC if the new set would have more than SPEPROF_CGROUPS_MAX
 * cgroups; -ENOMEM if memory cannot be allocated.
 */
struct speprof_cgroup_set *speprof_cgroup_set_change(const struct speprof_cgroup_set *set, u32 op,
						     const struct speprof_cgroup_set *by);

/**
 * speprof_cgroup_set_free() - drop the references and free the set
 * @set: may be NULL
 */
void speprof_cgroup_set_free(struct speprof_cgroup_set *set);

/**
 * speprof_cgroup_sets_overlap() - check whether a task could belong to both sets
 * @a: a set
 * @b: another set
 *
 * Return: true if a cgroup of one set is equal to, or a descendant of, a cgroup of the other set.
 */
bool speprof_cgroup_sets_overlap(const struct speprof_cgroup_set *a,
				 const struct speprof_cgroup_set *b);

/**
 * speprof_cgroup_set_remove_dead() - remove one deleted cgroup from a set
 * @set: the set
 *
 * Return: ID of the cgroup; 0 if the set has no deleted cgroup.
 */
u64 speprof_cgroup_set_remove_dead(struct speprof_cgroup_set *set);

/* ---- Maps --------------------------------------------------------------------- */

/**
 * speprof_cgroup_map_new() - allocate an empty map
 * @count: maximum number of cgroups in the map
 * @node: NUMA node
 *
 * Context: may sleep.
 * Return: the map; NULL if memory cannot be allocated.
 */
struct speprof_cgroup_map *speprof_cgroup_map_new(unsigned int count, int node);

/**
 * speprof_cgroup_map_free() - free a map that no CPU uses
 * @map: may be NULL
 */
void speprof_cgroup_map_free(struct speprof_cgroup_map *map);

/**
 * speprof_cgroup_map_add() - map cgroups and their descendants to a ring
 * @map: the map, which no CPU uses yet
 * @set: the cgroups
 * @ring: the ring
 */
void speprof_cgroup_map_add(struct speprof_cgroup_map *map, const struct speprof_cgroup_set *set,
			    struct speprof_ring *ring);

/**
 * speprof_cgroup_map_find() - find the ring that samples a task
 * @map: the map
 * @task: the task
 *
 * Context: on the CPU of the map, with interrupts off; may be called under the runqueue lock.
 * Return: the ring of the task's cgroup, or of its nearest ancestor in the map; NULL if the map has
 * neither, or if the task is an idle task.
 */
struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task);

/**
 * speprof_cgroup_map_remove_ring() - remove a ring from a map
 * @map: the map
 * @ring: the ring
 *
 * Afterwards, the ring of the nearest ancestor in the map samples the cgroups of @ring, if there is
 * one.
 *
 * Context: on the CPU of the map, with interrupts off.
 * Return: true if the map still contains another ring.
 */
bool speprof_cgroup_map_remove_ring(struct speprof_cgroup_map *map,
				    const struct speprof_ring *ring);

/* ---- Tracepoints -------------------------------------------------------------- */

/**
 * speprof_cgroups_init() - find the tracepoints; called before the first session
 * @prune: called by a workqueue after any cgroup was removed
 */
void speprof_cgroups_init(speprof_cgroups_prune_fn prune);

/**
 * speprof_cgroups_deinit() - unregister from the tracepoints
 *
 * Context: may sleep. No session exists.
 */
void speprof_cgroups_deinit(void);

/**
 * speprof_cgroups_watch_get() - let context switches call the arbiter; reference counted
 *
 * Context: may sleep; under speprof_control.
 * Return: 0; -EOPNOTSUPP if the kernel lacks one of the tracepoints; an error of
 * tracepoint_probe_register().
 */
int speprof_cgroups_watch_get(void);

/**
 * speprof_cgroups_watch_put() - drop a reference of speprof_cgroups_watch_get()
 *
 * Context: under speprof_control.
 */
void speprof_cgroups_watch_put(void);

/**
 * speprof_cgroups_schedule_prune() - queue a call of the function of speprof_cgroups_init()
 *
 * Context: any.
 */
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

static inline bool speprof_cgroup_map_remove_ring(struct speprof_cgroup_map *map,
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
static inline void speprof_cgroups_init(speprof_cgroups_prune_fn prune) { }
static inline void speprof_cgroups_deinit(void) { }
static inline void speprof_cgroups_watch_put(void) { }
static inline void speprof_cgroups_schedule_prune(void) { }

#endif

#endif
