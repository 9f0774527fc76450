/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The character device /dev/speprof.
 */
#ifndef SPEPROF_CHARDEV_H
#define SPEPROF_CHARDEV_H

/**
 * speprof_chardev_init() - register the device
 *
 * This must be the last step of the module's init function, because userspace may open the device
 * immediately.
 *
 * Context: may sleep.
 * Return: 0; an error of alloc_chrdev_region(), class_create(), device_create() or cdev_add(),
 * after which the device cannot be opened.
 */
int speprof_chardev_init(void);

/**
 * speprof_chardev_deinit() - unregister the device
 *
 * Open files hold a reference on the module, so no descriptor of the device is open here.
 */
void speprof_chardev_deinit(void);

#endif
