/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of kernel structures that the BPF programs read. Only the names matter: libbpf
 * relocates each access to the offset of the field in the running kernel (CO-RE). So one object
 * works on all kernels and architectures, and does not depend on the build machine.
 */
#ifndef SPEPROF_KERNEL_TYPES_H
#define SPEPROF_KERNEL_TYPES_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

/* @ancestors is indexed by level, the root first. */
struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
	int level;
	struct cgroup *ancestors[0];
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	int nr_threads;
};

struct mm_struct {
	unsigned long start_code;
	unsigned long start_stack;
};

struct qstr {
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct super_block {
	__u32 s_dev;
	int s_stack_depth;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct fs_struct {
	struct path root;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

/* A file of a stacked file system, since 6.5; @user_path since 6.8. */
struct backing_file {
	struct path user_path;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct vm_special_mapping {
	const char *name;
};

struct task_struct {
	struct mm_struct *mm;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	__u64 start_boottime;
	char comm[16];
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct fs_struct *fs;
};

struct seq_file {
	int unused; /* no field is read, but the structure must not be empty */
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
