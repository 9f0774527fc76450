/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The character device /dev/speprof.
 */
#ifndef SPEPROF_CHARDEV_H
#define SPEPROF_CHARDEV_H

/**
 * speprof_chardev_init() - register the device
 *
 * This must be the last step of the module's init function, as userspace may open the device
 * immediately.
 *
 * Return: 0, or a negative errno: then the device was never visible.
 */
int speprof_chardev_init(void);

/**
 * speprof_chardev_deinit() - unregister the device
 *
 * The use count of the module guarantees that the device is closed.
 */
void speprof_chardev_deinit(void);

#endif
