// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports executable mappings when they are made. If the kernel supports trampolines (arm64 does
 * not in 6.1), the programs run at entry of uprobe_mmap(), for files, and of
 * _install_special_mapping(), for the vDSO. Otherwise one program runs at the tracepoint vma_store,
 * which kernels before 6.3 reach for each new mapping. The loader tests which of the two ways
 * works.
 *
 * bpf_d_path() is not permitted here, so the programs walk the path as d_path() does, but without
 * its locks. A concurrent rename of a directory can result in a path that never existed. The inode
 * number is reported, too, so that no other file is read instead.
 */
#include "kernel-types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "task-ring.h"

char LICENSE[] SEC("license") = "GPL";

#define VM_EXEC 0x4UL

#define PATH_STEPS_MAX 96 /* path components and mount points */

/*
 * There is one entry for each program, because on a preemptible kernel one may preempt the other.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct map_record);
} scratch SEC(".maps");

/*
 * Token buckets limit what a cgroup or user may write, in units of time: each byte costs byte_ns,
 * and a bucket may be BUCKET_NS ahead of the clock.
 */
#define BUCKET_NS    125000000ULL
#define BUCKETS	     512
#define BUCKET_LEVEL 3
#define BUCKET_USER  (1ULL << 63)

/* Size of a page, set by the loader. */
const volatile __u64 page_bytes;
/* Cost of a byte, set by the loader; 0: no limit. */
const volatile __u64 byte_ns;

/* Key: bucket_get_key(). Value: the time at which the bucket is full again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BUCKETS);
	__type(key, __u64);
	__type(value, __u64);
} buckets SEC(".maps");

/* Key: the process. Value: number of mappings lost since the reader last removed the entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_MAPS_MAX);
	__type(key, __s32);
	__type(value, __u64);
} lost_maps SEC(".maps");

/* Number of lost mappings that did not fit in lost_maps; dropped counts them, too. */
__u64 unattributed;

/*
 * All tasks below one cgroup at BUCKET_LEVEL share a bucket, because a container or a user's
 * service manager can create deeper cgroups without limit. In the root cgroup, all tasks of a user
 * share a bucket.
 */
static __always_inline __u64 bucket_get_key(struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp), *above = NULL;
	int level = BPF_CORE_READ(cgroup, level);

	if (level <= 0)
		return BUCKET_USER | (__u32)bpf_get_current_uid_gid();
	/* Do not access the array directly, because it is in a union in newer kernels. */
	if (level > BUCKET_LEVEL && bpf_core_field_exists(cgroup->ancestors))
		bpf_probe_read_kernel(&above, sizeof(above),
				      (void *)cgroup + bpf_core_field_offset(cgroup->ancestors) +
					      BUCKET_LEVEL * sizeof(above));
	return BPF_CORE_READ(above ?: cgroup, kn, id);
}

static __always_inline bool bucket_permits(__u64 key)
{
	__u64 *full_ns = bpf_map_lookup_elem(&buckets, &key);

	return !full_ns || *full_ns < bpf_ktime_get_ns() + BUCKET_NS;
}

/* Concurrent CPUs may each exceed the limit by one record. */
static __always_inline void bucket_charge(__u64 key, __u64 bytes)
{
	__u64 now = bpf_ktime_get_ns(), cost = bytes * byte_ns, first = now + cost, seen;
	__u64 *full_ns = bpf_map_lookup_elem(&buckets, &key);

	if (!full_ns) {
		bpf_map_update_elem(&buckets, &key, &first, BPF_ANY);
		return;
	}
	seen = *full_ns;
	if (seen >= now || __sync_val_compare_and_swap(full_ns, seen, first) != seen)
		__sync_fetch_and_add(full_ns, cost);
}

/* Count in dropped last: when the reader sees the new count, the process is in lost_maps. */
static __always_inline void count_lost_mapping(__s32 pid)
{
	__u64 one = 1, *count = bpf_map_lookup_elem(&lost_maps, &pid);

	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&lost_maps, &pid, &one, BPF_ANY) < 0)
		__sync_fetch_and_add(&unattributed, 1);
	__sync_fetch_and_add(&dropped, 1);
}

/**
 * struct path_walk - the state of a walk from a file up to the root directory of its task
 * @dentry: the current directory entry
 * @mnt: its mount
 * @root: the root directory of the task
 * @root_mnt: the mount of @root
 * @record: receives the components
 * @used: bytes of the path in @record
 * @complete: the walk has reached a root
 */
struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mnt;
	struct dentry *root;
	struct vfsmount *root_mnt;
	struct map_record *record;
	__u64 used;
	bool complete;
};

static __always_inline bool walk_complete(struct path_walk *w)
{
	w->complete = true;
	return true;
}

/* Move from the root of a mount to its mount point; returns true if the mount has none. */
static __always_inline bool walk_to_mount_point(struct path_walk *w)
{
	struct mount *mount = (void *)w->mnt - bpf_core_field_offset(((struct mount *)0)->mnt);
	struct mount *parent = BPF_CORE_READ(mount, mnt_parent);

	if (!parent || parent == mount)
		return walk_complete(w);
	w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
	w->mnt = (void *)parent + bpf_core_field_offset(((struct mount *)0)->mnt);
	return false;
}

static long walk_step(__u32 i, struct path_walk *w)
{
	/* Local copies: BPF_CORE_READ() would relocate the fields of struct path_walk as well. */
	struct dentry *dentry = w->dentry, *parent;
	struct vfsmount *mnt = w->mnt;
	__u64 at = w->used;
	long n;

	if (dentry == w->root && mnt == w->root_mnt)
		return walk_complete(w);
	if (dentry == BPF_CORE_READ(mnt, mnt_root))
		return walk_to_mount_point(w);
	/* The verifier needs the check on the same register that is added below. */
	barrier_var(at);
	if (at > MAP_RECORD_PATH)
		return 1;
	n = bpf_probe_read_kernel_str(w->record->path + at, MAP_RECORD_NAME,
				      BPF_CORE_READ(dentry, d_name.name));
	if (n <= 0)
		return 1;
	w->used = at + (__u64)n;
	parent = BPF_CORE_READ(dentry, d_parent);
	/* A memfd has no parent directory. */
	if (parent == dentry)
		return walk_complete(w);
	w->dentry = parent;
	return 0;
}

/*
 * Begin a record in the scratch entry @key. If the bucket @bucket is exhausted, count the mapping
 * as lost, and return NULL.
 */
static __always_inline struct map_record *record_begin(__u32 key, struct task_struct *task,
						       __u64 bucket)
{
	struct map_record *record = bpf_map_lookup_elem(&scratch, &key);
	__s32 pid = BPF_CORE_READ(task, tgid);

	if (!record)
		return NULL;
	if (!bucket_permits(bucket)) {
		count_lost_mapping(pid);
		return NULL;
	}
	__builtin_memset(record, 0, __builtin_offsetof(struct map_record, path));
	record->time_ns = bpf_ktime_get_ns();
	record->pid = pid;
	record->tid = BPF_CORE_READ(task, pid);
	return record;
}

static __always_inline void record_end(struct map_record *record, __u64 n, __u64 bucket)
{
	barrier_var(n);
	if (n > sizeof(record->path))
		return;
	record->size = (__u32)n;
	if (bpf_ringbuf_output(&events, record, __builtin_offsetof(struct map_record, path) + n,
			       get_wakeup_flags()) < 0) {
		count_lost_mapping(record->pid);
		return;
	}
	bucket_charge(bucket, BPF_RINGBUF_HDR_SZ + __builtin_offsetof(struct map_record, path) + n);
}

/*
 * If a task maps a file of a stacked file system, such as overlayfs, vm_file is a file of the lower
 * layer. It is part of a struct backing_file, which also has the path that the task opened. The
 * flag of such files differs between kernels, so check that the path is consistent and that its
 * superblock is stacked.
 */
static __always_inline bool get_stacked_path(struct file *file, struct path *ret_path)
{
	struct backing_file *backing = (void *)file;
	struct super_block *super;
	struct dentry *dentry;
	struct vfsmount *mnt;

	if (!bpf_core_field_exists(backing->user_path))
		return false;
	mnt = BPF_CORE_READ(backing, user_path.mnt);
	dentry = BPF_CORE_READ(backing, user_path.dentry);
	super = BPF_CORE_READ(mnt, mnt_sb);
	if (!super || super != BPF_CORE_READ(dentry, d_sb) ||
	    BPF_CORE_READ(super, s_stack_depth) <= 0)
		return false;
	*ret_path = BPF_CORE_READ(backing, user_path);
	return true;
}

static __always_inline void report_file_mapping(struct vm_area_struct *vma)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct map_record *record;
	struct path_walk walk = { 0 };
	struct path path, root;
	struct dentry *dentry;
	struct inode *inode;
	__u64 bucket;

	/* Skip a mapping in another mm: execve() maps the stack before the task gets the new mm. */
	if (!file || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC) ||
	    BPF_CORE_READ(vma, vm_mm) != BPF_CORE_READ(task, mm))
		return;
	bucket = bucket_get_key(task);
	record = record_begin(0, task, bucket);
	if (!record)
		return;
	root = BPF_CORE_READ(task, fs, root);
	record->start = BPF_CORE_READ(vma, vm_start);
	record->length = BPF_CORE_READ(vma, vm_end) - record->start;
	record->offset = BPF_CORE_READ(vma, vm_pgoff) * page_bytes;
	if (get_stacked_path(file, &path)) {
		dentry = path.dentry;
		inode = BPF_CORE_READ(dentry, d_inode);
	} else {
		path = BPF_CORE_READ(file, f_path);
		dentry = path.dentry;
		inode = BPF_CORE_READ(file, f_inode);
	}
	record->inode = BPF_CORE_READ(inode, i_ino);
	record->device = BPF_CORE_READ(inode, i_sb, s_dev);
	if (!BPF_CORE_READ(dentry, d_hash.pprev))
		record->kind = MAP_RECORD_DELETED;
	walk.dentry = dentry;
	walk.mnt = path.mnt;
	walk.root = root.dentry;
	walk.root_mnt = root.mnt;
	walk.record = record;
	bpf_loop(PATH_STEPS_MAX, walk_step, &walk, 0);
	/* If the path is too long, report nothing: the first sample reads it from /proc. */
	if (walk.complete)
		record_end(record, walk.used, bucket);
}

SEC("fentry/uprobe_mmap")
int BPF_PROG(on_file, struct vm_area_struct *vma)
{
	report_file_mapping(vma);
	return 0;
}

SEC("fentry/_install_special_mapping")
int BPF_PROG(on_special, struct mm_struct *mm, unsigned long addr, unsigned long len,
	     unsigned long flags, const struct vm_special_mapping *special)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct map_record *record;
	__u64 bucket;
	long n;

	if (!(flags & VM_EXEC))
		return 0;
	bucket = bucket_get_key(task);
	record = record_begin(1, task, bucket);
	if (!record)
		return 0;
	record->start = addr;
	record->length = len;
	record->kind = MAP_RECORD_SPECIAL;
	n = bpf_probe_read_kernel_str(record->path, MAP_RECORD_NAME, BPF_CORE_READ(special, name));
	if (n > 0)
		record_end(record, (__u64)n, bucket);
	return 0;
}

SEC("tp_btf/vma_store")
int BPF_PROG(on_store, void *tree, struct vm_area_struct *vma)
{
	report_file_mapping(vma);
	return 0;
}
