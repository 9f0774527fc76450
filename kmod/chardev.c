// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implement /dev/speprof: descriptors of the device, of sessions and of rings. All arguments from
 * userspace are checked here; the other files rely on that.
 */
#include <linux/anon_inodes.h>
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/speprof.h>

#include "cgroups.h"
#include "chardev.h"
#include "compat.h"
#include "cpu.h"
#include "ring_file.h"
#include "session.h"

#define SAMPLE_FLAGS (SPEPROF_SAMPLE_USER | SPEPROF_SAMPLE_KERNEL | SPEPROF_SAMPLE_JITTER)
#define COLLECT_FLAGS (SPEPROF_COLLECT_TIMESTAMP | SPEPROF_COLLECT_PHYSICAL_TIME | \
		       SPEPROF_COLLECT_CONTEXT | SPEPROF_COLLECT_PHYSICAL_ADDRESS)
#define TYPE_FLAGS (SPEPROF_TYPE_BRANCH | SPEPROF_TYPE_LOAD | SPEPROF_TYPE_STORE)
#define RIGHT_FLAGS (SPEPROF_RIGHT_KERNEL | SPEPROF_RIGHT_CONTEXT | \
		     SPEPROF_RIGHT_PHYSICAL_ADDRESS | SPEPROF_RIGHT_PHYSICAL_TIME | \
		     SPEPROF_RIGHT_CGROUPS)

/* Limits of event_slots and max_latency_ms of struct speprof_session_config. */
#define EVENT_SLOTS_MIN 16
#define EVENT_SLOTS_MAX 65536
#define LATENCY_MS_MAX 60000

static dev_t chardev_number;
static struct cdev chardev_cdev;
static struct class *chardev_class;

/* ---- Commands ------------------------------------------------------------- */

union ioctl_argument {
	struct speprof_device_info device_info;
	struct speprof_cpu_info cpu_info;
	struct speprof_session_config session_config;
	struct speprof_sampling sampling;
	struct speprof_cgroups cgroups;
	struct speprof_tune tune;
	struct speprof_ring_open ring_open;
	struct speprof_advance advance;
	struct speprof_ring_stats ring_stats;
	struct speprof_snapshot snapshot;
};

/**
 * struct ioctl_call - an ioctl in execution
 * @object: the struct speprof_session or struct ring_handle of the descriptor; NULL for the device
 * @argument: copied from userspace before the ioctl, and back to userspace after it
 * @file: the file of a new descriptor. It is installed last, because an installed descriptor cannot
 *	be removed again
 */
struct ioctl_call {
	void *object;
	union ioctl_argument argument;
	struct file *file;
};

/* How the argument of an ioctl is copied */
enum ioctl_shape {
	SHAPE_NONE,	/* 0 */
	SHAPE_FIXED,	/* a structure of exactly this size, which is only read */
	SHAPE_IN,	/* a structure that begins with its size, and is only read */
	SHAPE_OUT,	/* a structure that begins with its size, and is read and written */
};

/*
 * struct ioctl_command - an ioctl
 * @number: SPEPROF_*
 * @shape: kind of its argument
 * @size: size of the structure in this version of the ABI
 * @size_min: size of the structure in its first version
 * @run: executes the ioctl; returns 0 or a negative errno
 * @undo: undoes @run if the result cannot be copied to userspace; may be NULL
 */
struct ioctl_command {
	unsigned int number;
	enum ioctl_shape shape;
	u32 size;
	u32 size_min;
	int (*run)(struct ioctl_call *call);
	void (*undo)(struct ioctl_call *call);
};

static int argument_copy_in(const struct ioctl_command *command, void __user *from,
			    union ioctl_argument *to, u32 *ret_size)
{
	u32 size;

	if (command->shape == SHAPE_NONE)
		return from ? -EINVAL : 0;
	if (command->shape == SHAPE_FIXED)
		return copy_from_user(to, from, command->size) ? -EFAULT : 0;

	if (get_user(size, (u32 __user *)from))
		return -EFAULT;
	if (size < command->size_min)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	*ret_size = size;
	return copy_struct_from_user(to, command->size, from, size);
}

/*
 * Copy the structure back to userspace, and set its size field to the size that this module
 * supports. If the structure of the caller is larger, the rest of it is set to zero.
 */
static int argument_copy_out(const struct ioctl_command *command, void __user *to,
			     union ioctl_argument *from, u32 size)
{
	u32 common = min(size, command->size);

	if (command->shape != SHAPE_OUT)
		return 0;
	*(u32 *)from = command->size;
	if (copy_to_user(to, from, common) || clear_user(to + common, size - common))
		return -EFAULT;
	return 0;
}

static int ioctl_call_run(const struct ioctl_command *command, struct ioctl_call *call,
			  void __user *argument)
{
	u32 size = 0;
	int ret, fd;

	ret = argument_copy_in(command, argument, &call->argument, &size);
	if (ret)
		return ret;
	ret = command->run(call);
	if (ret)
		return ret;
	ret = argument_copy_out(command, argument, &call->argument, size);
	if (ret && command->undo)
		command->undo(call);
	if (!call->file)
		return ret;

	fd = ret ?: get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		fput(call->file);
	else
		fd_install(fd, call->file);
	return fd;
}

static long ioctl_run_command(const struct ioctl_command *commands, size_t count, void *object,
			      unsigned int number, unsigned long argument)
{
	struct ioctl_call call = { .object = object };
	size_t i;

	for (i = 0; i < count; i++)
		if (commands[i].number == number)
			return ioctl_call_run(&commands[i], &call, (void __user *)argument);
	return -ENOTTY;
}

#define COMMAND_NONE(num, fn) { .number = (num), .shape = SHAPE_NONE, .run = (fn) }
#define COMMAND(num, shp, type, last, fn)                                         \
	{                                                                         \
		.number = (num), .shape = (shp), .size = sizeof(struct type),     \
		.size_min = offsetofend(struct type, last), .run = (fn)           \
	}

/* ---- Ring descriptors ------------------------------------------------------- */

/* The private data of a ring descriptor, with a reference on the session. */
struct ring_handle {
	struct speprof_session *session;
	struct speprof_ring *ring;
};

static int ring_ioctl_advance(struct ioctl_call *call)
{
	struct ring_handle *handle = call->object;
	const struct speprof_advance *advance = &call->argument.advance;

	return speprof_ring_set_tails(handle->ring, advance->tail, advance->event_tail);
}

static int ring_ioctl_kick(struct ioctl_call *call)
{
	struct ring_handle *handle = call->object;

	return speprof_session_kick_ring(handle->ring);
}

static int ring_ioctl_flush(struct ioctl_call *call)
{
	struct ring_handle *handle = call->object;

	return speprof_session_flush_ring(handle->ring);
}

static int ring_ioctl_stats(struct ioctl_call *call)
{
	struct ring_handle *handle = call->object;

	return speprof_session_get_ring_stats(handle->ring, &call->argument.ring_stats);
}

static int ring_ioctl_snapshot(struct ioctl_call *call)
{
	struct ring_handle *handle = call->object;

	if (call->argument.snapshot.reserved)
		return -EINVAL;
	return speprof_session_take_snapshot(handle->ring, handle, &call->argument.snapshot);
}

static int ring_ioctl_release(struct ioctl_call *call)
{
	struct ring_handle *handle = call->object;

	return speprof_session_release_snapshot(handle->ring, handle);
}

static void ring_ioctl_snapshot_undo(struct ioctl_call *call)
{
	ring_ioctl_release(call);
}

static const struct ioctl_command ring_commands[] = {
	COMMAND(SPEPROF_RING_ADVANCE, SHAPE_FIXED, speprof_advance, event_tail, ring_ioctl_advance),
	COMMAND_NONE(SPEPROF_RING_KICK, ring_ioctl_kick),
	COMMAND_NONE(SPEPROF_RING_FLUSH, ring_ioctl_flush),
	COMMAND(SPEPROF_RING_STATS, SHAPE_OUT, speprof_ring_stats, wakeups, ring_ioctl_stats),
	{
		.number = SPEPROF_RING_SNAPSHOT,
		.shape = SHAPE_OUT,
		.size = sizeof(struct speprof_snapshot),
		.size_min = offsetofend(struct speprof_snapshot, time_ns),
		.run = ring_ioctl_snapshot,
		.undo = ring_ioctl_snapshot_undo,
	},
	COMMAND_NONE(SPEPROF_RING_RELEASE, ring_ioctl_release),
};

static long ring_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	return ioctl_run_command(ring_commands, ARRAY_SIZE(ring_commands), file->private_data,
				 number, argument);
}

/*
 * Run a command of io_uring. If the command may sleep, return EAGAIN at first, so that io_uring
 * calls again from a worker thread.
 */
static int ring_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	struct ring_handle *handle = cmd->file->private_data;
	/* Userspace may change the payload at any time, so read it once. */
	const u64 *payload = compat_uring_get_payload(cmd);
	u64 first = READ_ONCE(payload[0]);
	u64 second = READ_ONCE(payload[1]);

	switch (cmd->cmd_op) {
	case SPEPROF_RING_ADVANCE:
		return speprof_ring_set_tails(handle->ring, first, second);
	case SPEPROF_RING_KICK:
	case SPEPROF_RING_FLUSH:
	case SPEPROF_RING_RELEASE:
		if (first)
			return -EINVAL;
		fallthrough;
	case SPEPROF_RING_SNAPSHOT:
		if (second || first != (unsigned long)first)
			return -EINVAL;
		if (issue_flags & IO_URING_F_NONBLOCK)
			return -EAGAIN;
		return (int)ioctl_run_command(ring_commands, ARRAY_SIZE(ring_commands), handle,
					      cmd->cmd_op, (unsigned long)first);
	default:
		return -ENOTTY;
	}
}

static __poll_t ring_poll(struct file *file, poll_table *wait)
{
	struct ring_handle *handle = file->private_data;

	return speprof_ring_poll(handle->ring, file, wait);
}

static ssize_t ring_read_iter(struct kiocb *kiocb, struct iov_iter *to)
{
	struct ring_handle *handle = kiocb->ki_filp->private_data;

	return speprof_ring_read(handle->ring, kiocb, to);
}

static int ring_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ring_handle *handle = file->private_data;

	return speprof_ring_mmap(handle->ring, vma);
}

static int ring_file_release(struct inode *inode, struct file *file)
{
	struct ring_handle *handle = file->private_data;

	speprof_session_release_snapshot(handle->ring, handle);
	speprof_session_put(handle->session);
	kfree(handle);
	return 0;
}

static const struct file_operations ring_fops = {
	.owner = THIS_MODULE,
	.release = ring_file_release,
	.unlocked_ioctl = ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.uring_cmd = ring_uring_cmd,
	.poll = ring_poll,
	.read_iter = ring_read_iter,
	.mmap = ring_mmap,
};

/* ---- Session descriptors ---------------------------------------------------- */

static int sampling_check(const struct speprof_sampling *sampling)
{
	if (sampling->flags & ~SAMPLE_FLAGS || sampling->collect & ~COLLECT_FLAGS ||
	    sampling->types & ~TYPE_FLAGS || sampling->reserved)
		return -EINVAL;
	if (!(sampling->flags & (SPEPROF_SAMPLE_USER | SPEPROF_SAMPLE_KERNEL)))
		return -EINVAL;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_TIME &&
	    !(sampling->collect & SPEPROF_COLLECT_TIMESTAMP))
		return -EINVAL;
	return 0;
}

static int session_ioctl_sample(struct ioctl_call *call)
{
	const struct speprof_sampling *sampling = &call->argument.sampling;

	return sampling_check(sampling) ?: speprof_session_set_sampling(call->object, sampling);
}

static int session_ioctl_start(struct ioctl_call *call)
{
	return speprof_session_start(call->object);
}

static int session_ioctl_stop(struct ioctl_call *call)
{
	speprof_session_stop(call->object);
	return 0;
}

static int session_ioctl_ring_open(struct ioctl_call *call)
{
	struct speprof_ring_open *open = &call->argument.ring_open;
	struct ring_handle *handle;
	struct speprof_ring *ring;
	int flags = O_RDWR;

	if (open->flags & ~SPEPROF_RING_NONBLOCK)
		return -EINVAL;
	ring = speprof_session_find_ring(call->object, open->cpu);
	if (!ring)
		return -ENOENT;
	handle = kmalloc(sizeof(*handle), GFP_KERNEL_ACCOUNT);
	if (!handle)
		return -ENOMEM;
	*handle = (struct ring_handle){ .session = call->object, .ring = ring };
	if (open->flags & SPEPROF_RING_NONBLOCK)
		flags |= O_NONBLOCK;
	call->file = anon_inode_getfile("[speprof-ring]", &ring_fops, handle, flags);
	if (IS_ERR(call->file)) {
		kfree(handle);
		return PTR_ERR(call->file);
	}
	speprof_session_get(call->object);
	call->file->f_mode |= FMODE_NOWAIT;

	open->event_slots = ring->config.event_slots;
	open->control_bytes = ring->control_buffer.count << PAGE_SHIFT;
	open->event_bytes = ring->event_buffer.count << PAGE_SHIFT;
	open->data_bytes = ring->config.size;
	return 0;
}

static struct speprof_cgroup_set *cgroups_copy_in(u64 address, u32 count)
{
	struct speprof_cgroup_set *set;
	s32 *fds;

	if (count > SPEPROF_CGROUPS_MAX)
		return ERR_PTR(-ENOSPC);
	if (!address != !count)
		return ERR_PTR(-EINVAL);
	fds = memdup_user(u64_to_user_ptr(address), count * sizeof(*fds));
	if (IS_ERR(fds))
		return ERR_CAST(fds);
	set = speprof_cgroup_set_from_fds(fds, count);
	kfree(fds);
	return set;
}

static int session_ioctl_cgroups(struct ioctl_call *call)
{
	const struct speprof_cgroups *cgroups = &call->argument.cgroups;
	struct speprof_cgroup_set *set;
	int ret;

	if (cgroups->op < SPEPROF_CGROUPS_ADD || cgroups->op > SPEPROF_CGROUPS_REPLACE ||
	    cgroups->reserved)
		return -EINVAL;
	set = cgroups_copy_in(cgroups->fds, cgroups->count);
	if (IS_ERR(set))
		return PTR_ERR(set);
	ret = speprof_session_change_cgroups(call->object, cgroups->op, set);
	speprof_cgroup_set_free(set);
	return ret;
}

static int session_ioctl_tune(struct ioctl_call *call)
{
	return speprof_session_tune_cpu(call->object, &call->argument.tune);
}

static const struct ioctl_command session_commands[] = {
	COMMAND(SPEPROF_SESSION_SAMPLE, SHAPE_IN, speprof_sampling, reserved, session_ioctl_sample),
	COMMAND_NONE(SPEPROF_SESSION_START, session_ioctl_start),
	COMMAND_NONE(SPEPROF_SESSION_STOP, session_ioctl_stop),
	COMMAND(SPEPROF_SESSION_TUNE, SHAPE_IN, speprof_tune, throttle_bytes, session_ioctl_tune),
	COMMAND(SPEPROF_SESSION_CGROUPS, SHAPE_IN, speprof_cgroups, reserved,
		session_ioctl_cgroups),
	COMMAND(SPEPROF_RING_OPEN, SHAPE_OUT, speprof_ring_open, data_bytes,
		session_ioctl_ring_open),
};

static long session_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	return ioctl_run_command(session_commands, ARRAY_SIZE(session_commands), file->private_data,
				 number, argument);
}

/*
 * Run a command of io_uring. All commands may sleep, so return EAGAIN at first: io_uring then calls
 * again from a worker thread.
 */
static int session_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	/* Userspace may change the payload at any time, so read it once. */
	const u64 *payload = compat_uring_get_payload(cmd);
	u64 argument = READ_ONCE(payload[0]);

	switch (cmd->cmd_op) {
	case SPEPROF_SESSION_SAMPLE:
	case SPEPROF_SESSION_START:
	case SPEPROF_SESSION_STOP:
	case SPEPROF_SESSION_CGROUPS:
	case SPEPROF_SESSION_TUNE:
		if (READ_ONCE(payload[1]) || argument != (unsigned long)argument)
			return -EINVAL;
		if (issue_flags & IO_URING_F_NONBLOCK)
			return -EAGAIN;
		return (int)ioctl_run_command(session_commands, ARRAY_SIZE(session_commands),
					      cmd->file->private_data, cmd->cmd_op,
					      (unsigned long)argument);
	default:
		return -ENOTTY;
	}
}

static int session_file_release(struct inode *inode, struct file *file)
{
	speprof_session_put(file->private_data);
	return 0;
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.release = session_file_release,
	.unlocked_ioctl = session_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.uring_cmd = session_uring_cmd,
};

/* ---- The device ------------------------------------------------------------- */

static int device_ioctl_info(struct ioctl_call *call)
{
	struct speprof_device_info *info = &call->argument.device_info;

	*info = (struct speprof_device_info){
		.abi_version = SPEPROF_ABI_VERSION,
		.cpus = nr_cpu_ids,
		.modes = BIT(SPEPROF_MODE_STREAM) | BIT(SPEPROF_MODE_FLIGHT_RECORDER),
		.page_size = PAGE_SIZE,
		.min_ring_size = SESSION_RING_MIN,
		.max_ring_size = SESSION_RING_MAX,
	};
	mutex_lock(&speprof_control);
	info->spus = speprof_cpus_count_spus();
	mutex_unlock(&speprof_control);
	return 0;
}

static int device_ioctl_cpu_info(struct ioctl_call *call)
{
	u32 cpu = call->argument.cpu_info.cpu;

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -EINVAL;
	speprof_cpu_info_get(cpu, &call->argument.cpu_info);
	return 0;
}

static int config_check(const struct speprof_session_config *config)
{
	if (config->rights & ~RIGHT_FLAGS)
		return -EINVAL;
	if (config->mode > SPEPROF_MODE_FLIGHT_RECORDER)
		return -EINVAL;
	if (!is_power_of_2(config->ring_size) || config->ring_size < SESSION_RING_MIN ||
	    config->ring_size > SESSION_RING_MAX)
		return -EINVAL;
	if (!is_power_of_2(config->event_slots) || config->event_slots < EVENT_SLOTS_MIN ||
	    config->event_slots > EVENT_SLOTS_MAX)
		return -EINVAL;
	if (config->watermark > config->ring_size / 2)
		return -EINVAL;
	if (config->max_latency_ms > LATENCY_MS_MAX)
		return -EINVAL;
	if (config->flags & ~SPEPROF_SESSION_OF_CGROUPS)
		return -EINVAL;
	if (!(config->flags & SPEPROF_SESSION_OF_CGROUPS) &&
	    (config->cgroups || config->cgroups_count))
		return -EINVAL;
	return 0;
}

static int cpus_parse_bitmap(const u8 *bits, u32 size, struct cpumask *ret_cpus)
{
	u32 n;

	for (n = 0; n < size * 8; n++) {
		if (!(bits[n / 8] >> n % 8 & 1))
			continue;
		if (n >= nr_cpu_ids || !cpu_possible(n))
			return -EINVAL;
		cpumask_set_cpu(n, ret_cpus);
	}
	return cpumask_empty(ret_cpus) ? -EINVAL : 0;
}

static int cpus_copy_in(const struct speprof_session_config *config, struct cpumask *ret_cpus)
{
	u8 *bits;
	int ret;

	cpumask_clear(ret_cpus);
	if (!config->cpus && !config->cpus_size)
		return 0;
	if (!config->cpus || !config->cpus_size || config->cpus_size > PAGE_SIZE)
		return -EINVAL;
	bits = memdup_user(u64_to_user_ptr(config->cpus), config->cpus_size);
	if (IS_ERR(bits))
		return PTR_ERR(bits);
	ret = cpus_parse_bitmap(bits, config->cpus_size, ret_cpus);
	kfree(bits);
	return ret;
}

static struct speprof_session *session_create(const struct speprof_session_config *config,
					      struct cpumask *cpus)
{
	struct speprof_cgroup_set *set = NULL;

	if (config->flags & SPEPROF_SESSION_OF_CGROUPS) {
		set = cgroups_copy_in(config->cgroups, config->cgroups_count);
		if (IS_ERR(set))
			return ERR_CAST(set);
	}
	return speprof_session_new(config, cpus, set);
}

static int device_ioctl_session_new(struct ioctl_call *call)
{
	const struct speprof_session_config *config = &call->argument.session_config;
	struct speprof_session *session;
	cpumask_var_t cpus;
	int ret;

	if (!perfmon_capable())
		return -EPERM;
	ret = security_locked_down(LOCKDOWN_PERF);
	if (ret)
		return ret;
	ret = config_check(config);
	if (ret)
		return ret;
	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	ret = cpus_copy_in(config, cpus);
	if (ret)
		goto out;
	session = session_create(config, cpus);
	if (IS_ERR(session)) {
		ret = PTR_ERR(session);
		goto out;
	}
	call->file = anon_inode_getfile("[speprof-session]", &session_fops, session, O_RDWR);
	if (IS_ERR(call->file)) {
		ret = PTR_ERR(call->file);
		speprof_session_put(session);
	}
out:
	free_cpumask_var(cpus);
	return ret;
}

static const struct ioctl_command device_commands[] = {
	COMMAND(SPEPROF_DEVICE_INFO, SHAPE_OUT, speprof_device_info, max_ring_size,
		device_ioctl_info),
	COMMAND(SPEPROF_CPU_INFO, SHAPE_OUT, speprof_cpu_info, tick_hz, device_ioctl_cpu_info),
	COMMAND(SPEPROF_SESSION_NEW, SHAPE_IN, speprof_session_config, watermark,
		device_ioctl_session_new),
};

static long device_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	return ioctl_run_command(device_commands, ARRAY_SIZE(device_commands), NULL, number,
				 argument);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* cdev_add() comes last: the device may be opened immediately, so nothing may fail after it. */
int speprof_chardev_init(void)
{
	struct device *device;
	int ret;

	ret = alloc_chrdev_region(&chardev_number, 0, 1, "speprof");
	if (ret)
		return ret;
	chardev_class = compat_class_create("speprof");
	if (IS_ERR(chardev_class)) {
		ret = PTR_ERR(chardev_class);
		goto no_class;
	}
	/* devtmpfs creates the node with mode 0600 by default. */
	device = device_create(chardev_class, NULL, chardev_number, NULL, "speprof");
	if (IS_ERR(device)) {
		ret = PTR_ERR(device);
		goto no_device;
	}
	cdev_init(&chardev_cdev, &device_fops);
	chardev_cdev.owner = THIS_MODULE;
	ret = cdev_add(&chardev_cdev, chardev_number, 1);
	if (ret)
		goto no_cdev;
	return 0;

no_cdev:
	device_destroy(chardev_class, chardev_number);
no_device:
	class_destroy(chardev_class);
no_class:
	unregister_chrdev_region(chardev_number, 1);
	return ret;
}

void speprof_chardev_deinit(void)
{
	cdev_del(&chardev_cdev);
	device_destroy(chardev_class, chardev_number);
	class_destroy(chardev_class);
	unregister_chrdev_region(chardev_number, 1);
}
