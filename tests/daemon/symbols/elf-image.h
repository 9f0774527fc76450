/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the bytes of a file, for tests that damage and load them. */
#ifndef SPEPROF_ELF_IMAGE_H
#define SPEPROF_ELF_IMAGE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/env.h"
#include "test.h"

struct elf_image {
	u8 *bytes;
	size_t size;
};

/* Return the contents of a file, which the caller frees. */
static struct elf_image elf_image_read(const char *path)
{
	struct elf_image image;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	assert_non_null(image.bytes);
	assert_int_equal(read(fd, image.bytes, image.size), st.st_size);
	close(fd);
	return image;
}

#endif
