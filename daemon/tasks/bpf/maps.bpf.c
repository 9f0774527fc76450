// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Executable memory, at the moment it is mapped. Where programs can be attached to functions
 * (trampolines: not on arm64's 6.1) it is where the kernel tells its own uprobes of a file
 * that was mapped, and where it maps its own; else the tracepoint of the tree of mappings,
 * which kernels before 6.3 still pass. Which of them brings anything is tried by the loader.
 *
 * bpf_d_path() may not be called in either: the path is walked here, as d_path() does it, and
 * without its locks. A directory that is renamed meanwhile can give a path that never
 * was; the inode, which is told too, keeps anyone from reading another file for this one.
 */
#include "kernel-types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "task-ring.h"

char LICENSE[] SEC("license") = "GPL";

#define VM_EXEC 0x4UL

#define COMPONENTS 96 /* of a path, and mounts on its way */

/* One for each program: where the kernel is preemptible, one may interrupt the other. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct map_record);
} scratch SEC(".maps");

/* What each bucket may hold, as time: an eighth of a second. */
#define BUCKET_NS    125000000ULL
#define BUCKETS	     512
#define BUCKET_LEVEL 3
#define BUCKET_USER  (1ULL << 63)

/* Set by the loader. */
const volatile __u64 page_bytes;
/* A byte of the ring costs so much of its bucket, which drains with the time; 0: nothing. */
const volatile __u64 byte_ns;

/* By bucket_key(): the time at which what was written is paid for. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BUCKETS);
	__type(key, __u64);
	__type(value, __u64);
} buckets SEC(".maps");

/* By process: mappings that were lost since the reader took the entry out. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAP_DOUBTS);
	__type(key, __s32);
	__type(value, __u64);
} doubts SEC(".maps");

/* Lost mappings of processes for which @doubts had no space; they are in @dropped too. */
__u64 unnamed;

/*
 * Who shares a bucket: the cgroup at BUCKET_LEVEL, as below it a user's service manager or a
 * container may make as many cgroups as it likes. Outside of all cgroups of version 2: the user.
 */
static __always_inline __u64 bucket_key(struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp), *above = NULL;
	int level = BPF_CORE_READ(cgroup, level);

	if (level <= 0)
		return BUCKET_USER | (__u32)bpf_get_current_uid_gid();
	/* Not as an array: newer kernels have it within a union. */
	if (level > BUCKET_LEVEL && bpf_core_field_exists(cgroup->ancestors))
		bpf_probe_read_kernel(&above, sizeof(above),
				      (void *)cgroup + bpf_core_field_offset(cgroup->ancestors) +
					      BUCKET_LEVEL * sizeof(above));
	return BPF_CORE_READ(above ?: cgroup, kn, id);
}

static __always_inline bool bucket_has(__u64 key)
{
	__u64 *paid_ns = bpf_map_lookup_elem(&buckets, &key);

	return !paid_ns || *paid_ns < bpf_ktime_get_ns() + BUCKET_NS;
}

/* Several CPUs may draw at once, and be over it by a record each. */
static __always_inline void bucket_draw(__u64 key, __u64 bytes)
{
	__u64 now = bpf_ktime_get_ns(), cost = bytes * byte_ns, first = now + cost, seen;
	__u64 *paid_ns = bpf_map_lookup_elem(&buckets, &key);

	if (!paid_ns) {
		bpf_map_update_elem(&buckets, &key, &first, BPF_ANY);
		return;
	}
	seen = *paid_ns;
	if (seen >= now || __sync_val_compare_and_swap(paid_ns, seen, first) != seen)
		__sync_fetch_and_add(paid_ns, cost);
}

/* The reader finds the process behind the count: it is counted last. */
static __always_inline void mapping_lost(__s32 pid)
{
	__u64 one = 1, *count = bpf_map_lookup_elem(&doubts, &pid);

	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&doubts, &pid, &one, BPF_ANY) < 0)
		__sync_fetch_and_add(&unnamed, 1);
	__sync_fetch_and_add(&dropped, 1);
}

/**
 * struct walk - from a file up to its task's root
 * @used: bytes of @record's path
 * @whole: it came to an end
 */
struct walk {
	struct dentry *dentry;
	struct vfsmount *mnt;
	struct dentry *root;
	struct vfsmount *root_mnt;
	struct map_record *record;
	__u64 used;
	bool whole;
};

static __always_inline bool walk_ends(struct walk *w)
{
	w->whole = true;
	return true;
}

/* From the root of a mount to what it is mounted on; true where that is nothing. */
static __always_inline bool walk_up(struct walk *w)
{
	struct mount *mount = (void *)w->mnt - bpf_core_field_offset(((struct mount *)0)->mnt);
	struct mount *parent = BPF_CORE_READ(mount, mnt_parent);

	if (!parent || parent == mount)
		return walk_ends(w);
	w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
	w->mnt = (void *)parent + bpf_core_field_offset(((struct mount *)0)->mnt);
	return false;
}

static long walk_step(__u32 i, struct walk *w)
{
	/* Copies: BPF_CORE_READ() would take struct walk for one of the kernel's too. */
	struct dentry *dentry = w->dentry, *parent;
	struct vfsmount *mnt = w->mnt;
	__u64 at = w->used;
	long n;

	if (dentry == w->root && mnt == w->root_mnt)
		return walk_ends(w);
	if (dentry == BPF_CORE_READ(mnt, mnt_root))
		return walk_up(w);
	/* As the verifier follows it: one comparison of what is added below. */
	barrier_var(at);
	if (at > MAP_RECORD_PATH)
		return 1;
	n = bpf_probe_read_kernel_str(w->record->path + at, MAP_RECORD_NAME,
				      BPF_CORE_READ(dentry, d_name.name));
	if (n <= 0)
		return 1;
	w->used = at + (__u64)n;
	parent = BPF_CORE_READ(dentry, d_parent);
	/* Without a directory at all: a memfd. */
	if (parent == dentry)
		return walk_ends(w);
	w->dentry = parent;
	return 0;
}

/* NULL if the bucket @bucket is empty: the mapping is lost then. */
static __always_inline struct map_record *record_begin(__u32 key, struct task_struct *task,
						       __u64 bucket)
{
	struct map_record *record = bpf_map_lookup_elem(&scratch, &key);
	__s32 pid = BPF_CORE_READ(task, tgid);

	if (!record)
		return NULL;
	if (!bucket_has(bucket)) {
		mapping_lost(pid);
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
			       wakeup_flags()) < 0) {
		mapping_lost(record->pid);
		return;
	}
	bucket_draw(bucket, BPF_RINGBUF_HDR_SZ + __builtin_offsetof(struct map_record, path) + n);
}

/*
 * What a file is called by whoever mapped it where a stacked file system keeps that behind the
 * file. The flag that says so has another value in each kernel: what is there has to be of one
 * mount of a stacked file system.
 */
static __always_inline bool stacked_path(struct file *file, struct path *ret_path)
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

static __always_inline void file_record(struct vm_area_struct *vma)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct map_record *record;
	struct walk walk = { 0 };
	struct path path, root;
	struct dentry *dentry;
	struct inode *inode;
	__u64 bucket;

	/* A new image's stack is mapped before it is the task's. */
	if (!file || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC) ||
	    BPF_CORE_READ(vma, vm_mm) != BPF_CORE_READ(task, mm))
		return;
	bucket = bucket_key(task);
	record = record_begin(0, task, bucket);
	if (!record)
		return;
	root = BPF_CORE_READ(task, fs, root);
	record->start = BPF_CORE_READ(vma, vm_start);
	record->length = BPF_CORE_READ(vma, vm_end) - record->start;
	record->offset = BPF_CORE_READ(vma, vm_pgoff) * page_bytes;
	if (stacked_path(file, &path)) {
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
	bpf_loop(COMPONENTS, walk_step, &walk, 0);
	/* Of a path that is too long /proc tells, at the first sample. */
	if (walk.whole)
		record_end(record, walk.used, bucket);
}

SEC("fentry/uprobe_mmap")
int BPF_PROG(on_file, struct vm_area_struct *vma)
{
	file_record(vma);
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
	bucket = bucket_key(task);
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
	file_record(vma);
	return 0;
}
