// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of cgroups.
 */
#include <linux/cgroup.h>
#include <linux/file.h>
#include <linux/slab.h>

#include <linux/speprof.h>

#include "cgroups.h"

static struct speprof_cgroup_set *set_new(u32 capacity)
{
	struct speprof_cgroup_set *set;

	set = kzalloc(struct_size(set, members, capacity), GFP_KERNEL_ACCOUNT);
	return set ?: ERR_PTR(-ENOMEM);
}

void speprof_cgroup_set_free(struct speprof_cgroup_set *set)
{
	u32 i;

	if (!set)
		return;
	for (i = 0; i < set->count; i++)
		cgroup_put(set->members[i]);
	kfree(set);
}

static bool set_contains(const struct speprof_cgroup_set *set, const struct cgroup *cgroup)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->members[i] == cgroup)
			return true;
	return false;
}

/*
 * Get the cgroup of a directory, with a reference. Check the descriptor first, because
 * cgroup_get_from_fd() returns EBADF both for an invalid descriptor and for a file that is not a
 * cgroup directory.
 */
static struct cgroup *cgroup_from_fd(s32 fd)
{
	struct cgroup *cgroup;
	struct file *file = fget_raw((unsigned int)fd);

	if (!file)
		return ERR_PTR(-EBADF);
	fput(file);
	cgroup = cgroup_get_from_fd(fd);
	if (cgroup == ERR_PTR(-EBADF))
		return ERR_PTR(-ENOTDIR);
	if (cgroup == ERR_PTR(-ENOENT))
		return ERR_PTR(-ENODEV);
	return cgroup;
}

struct speprof_cgroup_set *speprof_cgroup_set_from_fds(const s32 *fds, u32 count)
{
	struct speprof_cgroup_set *set = set_new(count);
	int ret;
	u32 i;

	if (IS_ERR(set))
		return set;
	for (i = 0; i < count; i++) {
		struct cgroup *cgroup = cgroup_from_fd(fds[i]);

		ret = PTR_ERR_OR_ZERO(cgroup);
		if (ret)
			goto fail;
		if (set_contains(set, cgroup)) {
			cgroup_put(cgroup);
			ret = -EEXIST;
			goto fail;
		}
		set->members[set->count++] = cgroup;
	}
	return set;

fail:
	speprof_cgroup_set_free(set);
	return ERR_PTR(ret);
}

/* Add to @to the members of @set that are not in @except. @except may be NULL. */
static void set_add_members_except(struct speprof_cgroup_set *to,
				   const struct speprof_cgroup_set *set,
				   const struct speprof_cgroup_set *except)
{
	u32 i;

	for (i = 0; i < set->count; i++) {
		if (except && set_contains(except, set->members[i]))
			continue;
		cgroup_get(set->members[i]);
		to->members[to->count++] = set->members[i];
	}
}

struct speprof_cgroup_set *speprof_cgroup_set_change(const struct speprof_cgroup_set *set, u32 op,
						     const struct speprof_cgroup_set *by)
{
	struct speprof_cgroup_set *changed;
	u32 i;

	for (i = 0; i < by->count && op != SPEPROF_CGROUPS_REPLACE; i++)
		if (set_contains(set, by->members[i]) != (op == SPEPROF_CGROUPS_REMOVE))
			return ERR_PTR(op == SPEPROF_CGROUPS_REMOVE ? -ENOENT : -EEXIST);
	if (op == SPEPROF_CGROUPS_ADD && by->count > SPEPROF_CGROUPS_MAX - set->count)
		return ERR_PTR(-ENOSPC);

	changed = set_new(set->count + by->count);
	if (IS_ERR(changed))
		return changed;
	if (op != SPEPROF_CGROUPS_REPLACE)
		set_add_members_except(changed, set, op == SPEPROF_CGROUPS_REMOVE ? by : NULL);
	if (op != SPEPROF_CGROUPS_REMOVE)
		set_add_members_except(changed, by, NULL);
	return changed;
}

bool speprof_cgroup_sets_overlap(const struct speprof_cgroup_set *a,
				 const struct speprof_cgroup_set *b)
{
	u32 i, j;

	for (i = 0; i < a->count; i++)
		for (j = 0; j < b->count; j++)
			if (cgroup_is_descendant(a->members[i], b->members[j]) ||
			    cgroup_is_descendant(b->members[j], a->members[i]))
				return true;
	return false;
}

u64 speprof_cgroup_set_remove_dead(struct speprof_cgroup_set *set)
{
	u32 i;

	for (i = 0; i < set->count; i++) {
		struct cgroup *cgroup = set->members[i];
		u64 id = cgroup_id(cgroup);

		if (READ_ONCE(cgroup->self.flags) & CSS_ONLINE)
			continue;
		set->members[i] = set->members[--set->count];
		cgroup_put(cgroup);
		return id;
	}
	return 0;
}
