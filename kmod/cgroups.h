/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups: sets of them, maps from them to rings, and the kernel's tracepoints that report context
 * switches and changes of cgroups. A kernel without cgroups or tracepoints refuses sessions of
 * cgroups with EOPNOTSUPP.
 */
#ifndef SPEPROF_CGROUPS_H
#define SPEPROF_CGROUPS_H

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/types.h>

struct cgroup;
struct speprof_ring;
struct task_struct;

/* Removes dead cgroups from all sets; runs when some cgroup was removed, and may sleep. */
typedef void (*speprof_cgroups_prune_fn)(void);

/**
 * struct speprof_cgroup_set - distinct cgroups of the default hierarchy, with their descendants
 * @count: how many
 * @members: a reference is held on each
 */
struct speprof_cgroup_set {
	u32 count;
	struct cgroup *members[];
};

/*
 * struct speprof_cgroup_map - a hash table from cgroups to the rings of one CPU. It is used on the
 * CPU with interrupts off, as struct speprof_ring is.
 */
struct speprof_cgroup_map;

#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)

/* ---- Sets --------------------------------------------------------------------- */

/**
 * speprof_cgroup_set_from_fds() - make a set of the cgroups whose directories are open
 * @fds: descriptors of the caller's
 * @count: how many; 0 makes an empty set
 *
 * Context: may sleep.
 * Return: the set, or an ERR_PTR: -EBADF: no descriptor; -ENOTDIR: not of a cgroup; -ENODEV: the
 * cgroup was removed; -EEXIST: one is named twice; -ENOMEM.
 */
struct speprof_cgroup_set *speprof_cgroup_set_from_fds(const s32 *fds, u32 count);

/**
 * speprof_cgroup_set_change() - make a new set out of two
 * @set: the set before; stays as it is
 * @op: SPEPROF_CGROUPS_ADD, _REMOVE or _REPLACE
 * @by: what is added to @set, removed from it, or replaces it; stays as it is
 *
 * Context: may sleep.
 * Return: the new set, or an ERR_PTR: -EEXIST: a cgroup to add is there; -ENOENT: a cgroup to
 * remove is not there; -ENOSPC: more than SPEPROF_CGROUPS_MAX; -ENOMEM.
 */
struct speprof_cgroup_set *speprof_cgroup_set_change(const struct speprof_cgroup_set *set, u32 op,
						     const struct speprof_cgroup_set *by);

/**
 * speprof_cgroup_set_free() - drop the references and free the set
 * @set: may be NULL
 */
void speprof_cgroup_set_free(struct speprof_cgroup_set *set);

/**
 * speprof_cgroup_sets_overlap() - whether one task could belong to both sets
 * @a: a set
 * @b: another
 */
bool speprof_cgroup_sets_overlap(const struct speprof_cgroup_set *a,
				 const struct speprof_cgroup_set *b);

/**
 * speprof_cgroup_set_remove_dead() - remove one cgroup whose directory was removed
 * @set: the set
 *
 * Return: its ID; 0 if there is none.
 */
u64 speprof_cgroup_set_remove_dead(struct speprof_cgroup_set *set);

/* ---- Maps --------------------------------------------------------------------- */

/**
 * speprof_cgroup_map_new() - allocate an empty map
 * @count: how many cgroups may be added
 * @node: NUMA node
 *
 * Context: may sleep.
 * Return: the map; NULL if there is no memory.
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
 * speprof_cgroup_map_find() - find the ring of a task: that of the nearest ancestor in the map
 * @map: the map
 * @task: the task
 *
 * Context: on the CPU, interrupts off; also under the runqueue lock.
 * Return: the ring; NULL if there is none, or for an idle task.
 */
struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task);

/**
 * speprof_cgroup_map_forget_ring() - unmap all cgroups of a ring; their ancestors' rings count
 * instead
 * @map: the map
 * @ring: the ring
 *
 * Context: on the CPU, interrupts off.
 * Return: whether the map has any other ring.
 */
bool speprof_cgroup_map_forget_ring(struct speprof_cgroup_map *map,
				    const struct speprof_ring *ring);

/* ---- Tracepoints -------------------------------------------------------------- */

/**
 * speprof_cgroups_init() - find the tracepoints; before the first session
 * @prune: run by a workqueue after any cgroup was removed
 */
void speprof_cgroups_init(speprof_cgroups_prune_fn prune);

/** speprof_cgroups_deinit() - unregister from the tracepoints; may sleep. No session is left */
void speprof_cgroups_deinit(void);

/**
 * speprof_cgroups_watch_get() - call the arbiter at context switches from here on; counted
 *
 * Context: may sleep; under speprof_control.
 * Return: 0; -EOPNOTSUPP if the kernel lacks a tracepoint; an error of tracepoint_probe_register().
 */
int speprof_cgroups_watch_get(void);

/** speprof_cgroups_watch_put() - end one speprof_cgroups_watch_get(); under speprof_control */
void speprof_cgroups_watch_put(void);

/** speprof_cgroups_schedule_prune() - queue the function of speprof_cgroups_init(); any context */
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
static inline void speprof_cgroups_init(speprof_cgroups_prune_fn prune) { }
static inline void speprof_cgroups_deinit(void) { }
static inline void speprof_cgroups_watch_put(void) { }
static inline void speprof_cgroups_schedule_prune(void) { }

#endif

#endif
