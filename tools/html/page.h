/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write an HTML report: one file, which a browser shows without other files and without a network.
 */
#ifndef SPEPROF_PAGE_H
#define SPEPROF_PAGE_H

#include "codec/env.h"

/**
 * page_write() - write a page
 * @fd: descriptor to write to
 * @data: result of page_data_new(), or any bytes: they are encoded, so none of them appears as text
 * in the file
 * @size: bytes of @data, at most 1 GiB
 *
 * The data is compressed (RFC 1951) and encoded in base64 (RFC 4648). Script and style of the page
 * are part of the program, and the page permits no others: its Content-Security-Policy has their
 * hashes.
 *
 * Return: 0; -E2BIG if the data is too large; -ENOMEM if memory cannot be allocated; or the
 * negative errno of write().
 */
int page_write(int fd, const u8 *data, size_t size);

#endif
