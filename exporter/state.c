// SPDX-License-Identifier: LGPL-2.1-or-later
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "checkpoint.h"
#include "fold-keep.h"

struct state {
	struct checkpoint *checkpoint;
	bool full;
};

static void store(const struct state *state)
{
	int fd = checkpoint_fd(state->checkpoint);

	/* Another that has this name is of no use any more. */
	sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=" STATE_NAME);
	sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDPOLL=0\nFDNAME=" STATE_NAME, &fd, 1);
}

int state_new(int fd, struct state **ret_state, const char **ret_why)
{
	struct state *state;
	int r = -EPROTO;

	if (fd < 0 && !getenv("NOTIFY_SOCKET"))
		return -ENODATA;
	state = calloc(1, sizeof(*state));
	if (state && fd >= 0)
		r = checkpoint_adopt(fd, FOLD_VERSION, &state->checkpoint, ret_why);
	if (r < 0 && fd >= 0)
		close(fd);
	if (!state)
		return -ENOMEM;
	if (r < 0) {
		r = checkpoint_new(STATE_NAME, FOLD_VERSION, &state->checkpoint);
		if (r < 0) {
			free(state);
			return r;
		}
		store(state);
	} else {
		*ret_why = NULL;
	}
	*ret_state = state;
	return 0;
}

struct state *state_free(struct state *state)
{
	if (state) {
		checkpoint_free(state->checkpoint);
		free(state);
	}
	return NULL;
}

int state_restore(struct state *state, struct fold *fold, bool emulated, const char **ret_why)
{
	struct blob_reader from;
	int r = checkpoint_read(state->checkpoint, &from, ret_why);

	if (r >= 0) {
		*ret_why = "its values do not hold together";
		r = fold_restore(fold, emulated, &from);
		free((void *)from.at);
	}
	if (r >= 0 || r == -ENODATA)
		*ret_why = NULL;
	return r;
}

int state_save(struct state *state, const struct fold *fold, bool emulated)
{
	struct blob_writer to;
	bool full;

	if (!state)
		return 0;
	checkpoint_begin(state->checkpoint, &to);
	to.room = to.room < STATE_SIZE ? to.room : STATE_SIZE;
	fold_save(fold, emulated, &to);
	full = to.full;
	if (full) {
		/* What was kept before is behind what is exported: worse than nothing. */
		to.len = 0;
		to.full = false;
		blob_put(&to, 0);
	}
	checkpoint_commit(state->checkpoint, &to);
	if (!full || state->full)
		return 0;
	state->full = true;
	return -ENOSPC;
}
