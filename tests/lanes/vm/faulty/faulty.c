// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deliberate defects, one for each load of this module, to test the debugging features of a kernel:
 * the lane must report each of them. Never load this module on another machine.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *what = "";
module_param(what, charp, 0400);
MODULE_PARM_DESC(what, "after-free, bounds, index, leak, order, atomic or warn");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

/* A volatile pointer, so that the compiler does not optimize the defect away */
static char *volatile held;

static int faulty_use_after_free(void)
{
	held = kmalloc(64, GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	kfree(held);
	held[8] = 1;
	return 0;
}

static int faulty_read_out_of_bounds(void)
{
	held = kmalloc(64, GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	held[64] = 1;
	kfree(held);
	return 0;
}

static int faulty_index_array(void)
{
	/*
	 * An access past the end of few[] does no damage: it reaches spare, which also belongs to
	 * this module.
	 */
	static struct {
		int few[4];
		int spare;
	} array;
	static volatile unsigned int beyond = ARRAY_SIZE(array.few);

	array.few[beyond] = 0;
	return 0;
}

static int faulty_leak_memory(void)
{
	held = kmalloc(64, GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	held = NULL;
	return 0;
}

static int faulty_lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

static int faulty_sleep_in_atomic(void)
{
	spin_lock(&spin);
	msleep(1);
	spin_unlock(&spin);
	return 0;
}

static int faulty_warn(void)
{
	WARN_ON(held == NULL);
	return 0;
}

static const struct {
	const char *what;
	int (*make)(void);
} faults[] = {
	{ "after-free", faulty_use_after_free },
	{ "bounds", faulty_read_out_of_bounds },
	{ "index", faulty_index_array },
	{ "leak", faulty_leak_memory },
	{ "order", faulty_lock_order },
	{ "atomic", faulty_sleep_in_atomic },
	{ "warn", faulty_warn },
};

static int __init faulty_init(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(what, faults[i].what))
			return faults[i].make();
	return -EINVAL;
}

static void __exit faulty_exit(void)
{
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Deliberate mistakes for the VM lane's self-test");
