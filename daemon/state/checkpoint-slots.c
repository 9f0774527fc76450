// SPDX-License-Identifier: LGPL-2.1-or-later
#include "checkpoint-slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of slots, which are written in turn. */
#define SLOT_COUNT 2
#define SLOT_MAGIC \
	0x544e494f504b4853ULL /* differs in the other byte order; such a slot is rejected */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* slot_trim() frees the memory after the content of a slot if it has at least this many bytes. */
#define TRIM_MIN_BYTES (1UL << 20)

/**
 * struct checkpoint_slot_header - the header of a slot; its content follows
 * @sequence: number of the commit, from 1 on; the slot with the larger number is the valid one
 * @size: bytes of the content
 * @sum: checksum of the members before this one, and of the content
 */
struct checkpoint_slot_header {
	u64 magic;
	u64 version;
	u64 sequence;
	u64 size;
	u64 sum;
	u64 reserved[3];
};

struct checkpoint_slots {
	int fd;
	u64 version;
	u8 *map;
	u64 sequence; /* number of the last commit */
	size_t touched[SLOT_COUNT];
};

static struct checkpoint_slot_header *get_slot(const struct checkpoint_slots *c, u64 sequence)
{
	return (struct checkpoint_slot_header *)(c->map +
						 sequence % SLOT_COUNT * CHECKPOINT_SLOT_SIZE);
}

static u64 checksum_add(u64 sum, u64 value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ULL;
	return sum ^ sum >> 29;
}

/*
 * Return the checksum of a slot, which detects damage and foreign files. It need not detect
 * forgery, because only root can write to the file.
 */
static u64 slot_compute_checksum(const struct checkpoint_slot_header *slot, const u8 *bytes)
{
	u64 sum = checksum_add(
		checksum_add(checksum_add(checksum_add(SLOT_MAGIC, slot->magic), slot->version),
			     slot->sequence),
		slot->size);
	u64 word, i;

	for (i = 0; i + sizeof(word) <= slot->size; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		sum = checksum_add(sum, word);
	}
	word = 0;
	if (slot->size > i)
		memcpy(&word, bytes + i, slot->size - i);
	return checksum_add(sum, word);
}

/*
 * Return true if the slot @shared is complete and undamaged. The version of its content is not
 * checked.
 */
static bool slot_is_complete(const struct checkpoint_slot_header *shared)
{
	const struct checkpoint_slot_header slot = *shared;

	return slot.magic == SLOT_MAGIC && slot.size <= CHECKPOINT_SLOT_SIZE - sizeof(slot) &&
	       slot_compute_checksum(&slot, (const u8 *)(shared + 1)) == slot.sum;
}

static int map_fd(int fd, u64 version, struct checkpoint_slots **ret_slots)
{
	struct checkpoint_slots *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->map = mmap(NULL, SLOT_COUNT * CHECKPOINT_SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	if (c->map == MAP_FAILED) {
		r = -errno;
		free(c);
		return r;
	}
	c->fd = fd;
	c->version = version;
	*ret_slots = c;
	return 0;
}

int checkpoint_slots_new(const char *name, u64 version, struct checkpoint_slots **ret_slots)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return -errno;
	r = ftruncate(fd, SLOT_COUNT * CHECKPOINT_SLOT_SIZE) < 0 ||
			    fcntl(fd, F_ADD_SEALS, SEALS) < 0 ?
		    -errno :
		    map_fd(fd, version, ret_slots);
	if (r < 0)
		close(fd);
	return r;
}

int checkpoint_slots_adopt(int fd, u64 version, struct checkpoint_slots **ret_slots,
			   const char **ret_reason)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	int r;

	if (seals < 0 || fstat(fd, &st) < 0) {
		*ret_reason = "it is not a memfd";
		return -EPROTO;
	}
	if ((u64)st.st_size != SLOT_COUNT * CHECKPOINT_SLOT_SIZE) {
		*ret_reason = "its size is not that of a checkpoint";
		return -EPROTO;
	}
	/*
	 * Without F_SEAL_SHRINK, another process could shrink the file, and a read would raise
	 * SIGBUS.
	 */
	if ((seals & SEALS) != SEALS) {
		*ret_reason = "it is not sealed";
		return -EPROTO;
	}
	*ret_reason = "it cannot be mapped";
	r = map_fd(fd, version, ret_slots);
	if (r < 0)
		return r;
	/*
	 * The next commit must not overwrite the last complete slot. The sequence number of an
	 * incomplete slot is not reliable.
	 */
	for (u64 i = 0; i < SLOT_COUNT; i++) {
		const struct checkpoint_slot_header *slot = get_slot(*ret_slots, i);
		u64 sequence = slot_is_complete(slot) ? slot->sequence : 0;

		if (sequence % SLOT_COUNT == i && sequence > (*ret_slots)->sequence)
			(*ret_slots)->sequence = sequence;
		(*ret_slots)->touched[i] = CHECKPOINT_SLOT_SIZE;
	}
	return 0;
}

struct checkpoint_slots *checkpoint_slots_free(struct checkpoint_slots *checkpoint)
{
	if (checkpoint) {
		munmap(checkpoint->map, SLOT_COUNT * CHECKPOINT_SLOT_SIZE);
		close(checkpoint->fd);
		free(checkpoint);
	}
	return NULL;
}

int checkpoint_slots_get_fd(const struct checkpoint_slots *checkpoint)
{
	return checkpoint->fd;
}

void checkpoint_slots_begin(struct checkpoint_slots *checkpoint, struct serializer *ret_to)
{
	struct checkpoint_slot_header *slot = get_slot(checkpoint, checkpoint->sequence + 1);

	slot->magic = 0;
	*ret_to = (struct serializer){
		.at = (u8 *)(slot + 1),
		.capacity = CHECKPOINT_SLOT_SIZE - sizeof(*slot),
	};
}

/* Free the memory of the slot from offset @used on, if an earlier and longer commit has used it. */
static void slot_trim(struct checkpoint_slots *c, u64 sequence, size_t used)
{
	size_t *touched = &c->touched[sequence % SLOT_COUNT];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (used + page - 1) & ~(page - 1);

	if (*touched > from && *touched - from >= TRIM_MIN_BYTES) {
		(void)!fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 (off_t)(sequence % SLOT_COUNT * CHECKPOINT_SLOT_SIZE + from),
				 (off_t)(*touched - from));
		*touched = from;
	}
	if (*touched < from)
		*touched = from;
}

int checkpoint_slots_commit(struct checkpoint_slots *checkpoint, const struct serializer *from)
{
	u64 sequence = checkpoint->sequence + 1;
	struct checkpoint_slot_header *slot = get_slot(checkpoint, sequence);
	struct checkpoint_slot_header done = {
		.magic = SLOT_MAGIC,
		.version = checkpoint->version,
		.sequence = sequence,
		.size = from->len,
	};

	if (from->full) {
		checkpoint->touched[sequence % SLOT_COUNT] = CHECKPOINT_SLOT_SIZE;
		slot_trim(checkpoint, sequence, sizeof(*slot));
		return -ENOSPC;
	}
	done.sum = slot_compute_checksum(&done, from->at);
	*slot = done;
	checkpoint->sequence = sequence;
	slot_trim(checkpoint, sequence, sizeof(*slot) + from->len);
	return 0;
}

static int slot_read(const struct checkpoint_slot_header *shared, u64 version,
		     struct deserializer *ret_from, const char **ret_reason)
{
	const struct checkpoint_slot_header slot = *shared;
	u8 *copy;

	*ret_reason = "it has the format of another version of speprofd, or another byte order";
	if (slot.magic != SLOT_MAGIC || slot.version != version)
		return -EPROTO;
	*ret_reason = "it is damaged";
	if (slot.size > CHECKPOINT_SLOT_SIZE - sizeof(slot))
		return -EPROTO;
	copy = malloc(slot.size ? slot.size : 1);
	if (!copy) {
		*ret_reason = "out of memory";
		return -ENOMEM;
	}
	/*
	 * Check the copy and not the original: another process with the descriptor may still write
	 * to the original.
	 */
	memcpy(copy, shared + 1, slot.size);
	if (slot_compute_checksum(&slot, copy) != slot.sum) {
		free(copy);
		return -EPROTO;
	}
	*ret_from = (struct deserializer){ .at = copy, .len = slot.size };
	return 0;
}

int checkpoint_slots_read(const struct checkpoint_slots *checkpoint, struct deserializer *ret_from,
			  const char **ret_reason)
{
	const struct checkpoint_slot_header *last = get_slot(checkpoint, checkpoint->sequence);
	const struct checkpoint_slot_header *other = get_slot(checkpoint, checkpoint->sequence + 1);
	const char *reason;
	int r;

	if (!last->magic && !other->magic) {
		*ret_reason = "there is none yet";
		return -ENODATA;
	}
	/* An empty or incomplete slot is no error; report why the other slot cannot be used. */
	r = last->magic ? slot_read(last, checkpoint->version, ret_from, ret_reason) : -EPROTO;
	if (r == -EPROTO && other->magic)
		r = slot_read(other, checkpoint->version, ret_from, last->magic ? &reason : ret_reason);
	return r;
}

int checkpoint_slots_export(const struct checkpoint_slots *checkpoint, int fd)
{
	const struct checkpoint_slot_header *slot = get_slot(checkpoint, checkpoint->sequence);
	const u8 *at = (const u8 *)slot;
	size_t left;

	if (!checkpoint->sequence)
		return -ENODATA;
	left = sizeof(*slot) + slot->size;
	while (left) {
		ssize_t n = write(fd, at, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

/* Read all of @fd, at most @size bytes. Return: the number of bytes, or negative errno. */
static ssize_t read_all(int fd, u8 *to, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, to + len, size - len);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			len += (size_t)n;
	}
	return (ssize_t)len;
}

/*
 * Read the exported slot into slot 0. If its sequence number is odd, move it to slot 1, where
 * checkpoint_slots_adopt() looks for it.
 */
static int slot_import(struct checkpoint_slots *c, int fd)
{
	struct checkpoint_slot_header *slot = get_slot(c, 0), *other = get_slot(c, 1);
	ssize_t len = read_all(fd, (u8 *)slot, CHECKPOINT_SLOT_SIZE);

	if (len <= 0)
		return len < 0 ? (int)len : -ENODATA;
	if ((size_t)len < sizeof(*slot) || !slot_is_complete(slot))
		return -EPROTO;
	if (slot->sequence % SLOT_COUNT) {
		memcpy(other, slot, sizeof(*slot) + slot->size);
		slot->magic = 0;
	}
	return 0;
}

int checkpoint_slots_import(const char *name, int fd, int *ret_fd)
{
	struct checkpoint_slots *c = NULL;
	int r = checkpoint_slots_new(name, 0, &c);

	if (!c)
		return r;
	r = slot_import(c, fd);
	if (r >= 0) {
		*ret_fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 3);
		r = *ret_fd < 0 ? -errno : 0;
	}
	checkpoint_slots_free(c);
	return r;
}
