// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel-functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "codec/record.h"
#include "recording/recording.h"
#include "symbols/kallsyms.h"
#include "util/array.h"

/* Maximum memory for all functions of the kernel, bytes; a kernel with all modules has 10 MiB. */
#define FUNCTIONS_LIMIT (64ULL << 20)

/* Maximum number of distinct addresses; a kernel has fewer instructions. */
#define ADDRESSES_MAX (1U << 24)

/**
 * struct address_list - a growing array of kernel addresses
 * @address: the addresses; @count is their number, and @capacity the allocated length
 * @sorted: number of addresses at the start of @address that are sorted and distinct
 */
struct address_list {
	u64 *address;
	u32 count;
	u32 capacity;
	u32 sorted;
};

static int compare_addresses(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void addresses_sort(struct address_list *addresses)
{
	u32 count = 0;

	if (addresses->sorted == addresses->count)
		return;
	qsort(addresses->address, addresses->count, sizeof(*addresses->address),
	      compare_addresses);
	for (u32 i = 0; i < addresses->count; i++)
		if (!count || addresses->address[count - 1] != addresses->address[i])
			addresses->address[count++] = addresses->address[i];
	addresses->count = count;
	addresses->sorted = count;
}

/*
 * Add an address. If the array is full, it is sorted, which removes duplicates. It grows if it is
 * then still more than half full. If it can neither shrink nor grow, the address is dropped, and its
 * function may have no name.
 */
static void addresses_add(struct address_list *addresses, u64 address)
{
	u64 *grown;

	if (addresses->count == addresses->capacity) {
		addresses_sort(addresses);
		if (addresses->count >= addresses->capacity / 2) {
			grown = array_reserve(addresses->address, &addresses->capacity,
					      addresses->count * 2 + 1, sizeof(*grown),
					      ADDRESSES_MAX);
			if (grown)
				addresses->address = grown;
		}
	}
	if (addresses->address && addresses->count < addresses->capacity)
		addresses->address[addresses->count++] = address;
}

static void addresses_add_window(void *ctx, const struct source_window *window)
{
	struct spe_decoder local, *decoder = source_window_get_decoder(window, &local);
	struct spe_sample sample;
	enum spe_decode_result result;

	do {
		result = spe_decoder_next(decoder, &sample, NULL);
		if (result == SPE_DECODE_SAMPLE &&
		    spe_sample_has(&sample, SPE_HAS_ADDRESS(SPE_ADDRESS_PC)) &&
		    spe_address_va(sample.address[SPE_ADDRESS_PC]) >> 63)
			addresses_add(ctx, spe_address_va(sample.address[SPE_ADDRESS_PC]));
	} while (result == SPE_DECODE_SAMPLE || result == SPE_DECODE_SUSPECT);
}

static int load_kernel_functions(const char *kallsyms, struct symtab *ret_kernel)
{
	int fd = open(kallsyms, O_RDONLY | O_CLOEXEC), r;

	*ret_kernel = (struct symtab){ .limit = FUNCTIONS_LIMIT };
	if (fd < 0)
		return -errno;
	r = kallsyms_load(fd, ret_kernel);
	close(fd);
	return r;
}

/* Add each function that contains one of the addresses. */
static void select_functions(const struct symtab *kernel, const struct address_list *addresses,
			     struct symtab *functions)
{
	u64 start = 0, size = 0;

	for (u32 i = 0; i < addresses->count; i++) {
		u64 address = addresses->address[i];
		const char *name;

		if (address - start < size)
			continue;
		name = symtab_find_range(kernel, address, &start, &size);
		if (name)
			symtab_add(functions, start, size, name, strlen(name), SYMBOL_GLOBAL);
	}
	symtab_sort(functions);
}

static int find_addresses(const char *path, struct address_list *addresses)
{
	const struct source_sink sink = { .window = addresses_add_window, .ctx = addresses };
	struct recording *recording;
	int r = recording_open(path, &recording, NULL);

	if (r < 0)
		return r;
	r = recording_replay(recording, &sink, NULL);
	recording_free(recording);
	addresses_sort(addresses);
	return r;
}

int kernel_functions_find(const char *path, const char *kallsyms, struct symtab *ret_functions)
{
	struct symtab functions = { .limit = FUNCTIONS_LIMIT }, kernel;
	struct address_list addresses = { 0 };
	int r = find_addresses(path, &addresses);

	if (r == 0 && addresses.count) {
		r = load_kernel_functions(kallsyms, &kernel);
		if (r == 0)
			select_functions(&kernel, &addresses, &functions);
		symtab_clear(&kernel);
	}
	free(addresses.address);
	if (r < 0)
		return r;
	*ret_functions = functions;
	return 0;
}
