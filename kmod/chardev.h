/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The character device /dev/speprof.
 */
#ifndef SPEPROF_CHARDEV_H
#define SPEPROF_CHARDEV_H

/**
 * speprof_chardev_init() - register the device
 *
 * Must be the last step of the module's init, because userspace may open the device at once.
 *
 * Return: 0, or a negative errno: then the device was never visible.
 */
int speprof_chardev_init(void);

/** speprof_chardev_deinit() - unregister the device, which the use count proves to be closed */
void speprof_chardev_deinit(void);

#endif
