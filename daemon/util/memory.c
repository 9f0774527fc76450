// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *zero_pages_new(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	(void)madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}

void zero_pages_clear(void *at, size_t size)
{
	/* MADV_DONTNEED frees private anonymous pages, which read as zeros afterwards. */
	if (madvise(at, size, MADV_DONTNEED))
		memset(at, 0, size);
}

void zero_pages_free(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}

int memory_file_new(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

int memory_file_seal(int fd)
{
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	return 0;
}
