// SPDX-License-Identifier: LGPL-2.1-or-later
#include "zero-pages.h"

#include <sys/mman.h>

void *zero_pages(size_t size)
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
	/* Private anonymous pages read as zeros afterwards, and take no memory. */
	if (madvise(at, size, MADV_DONTNEED))
		memset(at, 0, size);
}

void zero_pages_free(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}
