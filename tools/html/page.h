/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write an HTML report: one file, which a browser shows without any other file and without network. */
#ifndef SPEPROF_PAGE_H
#define SPEPROF_PAGE_H

#include "codec/env.h"

/**
 * page_write() - write a page
 * @fd: descriptor to write to
 * @data: what page_data_new() returned, or any bytes: no byte of it appears as text in the file
 * @size: bytes of @data, at most 1 GiB
 *
 * The data is compressed (RFC 1951) and encoded in base64 (RFC 4648). Script and style of the page
 * are part of the program, and the page permits no others: its Content-Security-Policy has their
 * hashes.
 *
 * Return: 0; -E2BIG; -ENOMEM; another negative errno of write().
 */
int page_write(int fd, const u8 *data, size_t size);

#endif
