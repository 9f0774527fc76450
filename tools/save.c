// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof save: write the daemon's profile, or a time of its history, to a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/message.h"
#include "lib/options.h"
#include "lib/output.h"
#include "lib/profile-rows.h"
#include "lib/saved-profile.h"
#include "verb.h"

/* Choose all keys that the profile has. A later query can group by some of them. */
static void choose_keys(const struct options *options, struct query *query)
{
	static const enum query_key keys[] = { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_BINARY,
					       QUERY_FUNCTION,	QUERY_LINE,    QUERY_BUILD_ID,
					       QUERY_MODE,	QUERY_OP };

	/* Of a period, operations are unknown; the history has neither builds nor modes. */
	query->groups = options->until_us ? 5 : options->period != VIEW_SPAN_START ? 7 : 8;
	memcpy(query->group, keys, query->groups * sizeof(keys[0]));
	query->limit = ROW_SET_ROWS;
}

static int profile_write(const struct profile_rows *loaded, int fd)
{
	int copy = dup(fd), r;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	r = saved_profile_write(out, &loaded->header, &loaded->query, &loaded->rows);
	errno = 0;
	if (r >= 0 && (fflush(out) != 0 || ferror(out)))
		r = errno ? -errno : -EIO;
	if (fclose(out) != 0 && r >= 0)
		r = -errno;
	return r;
}

static int save_file(const struct options *options, const struct profile_rows *loaded)
{
	struct output_file output = OUTPUT_NONE;
	int r = output_open(options->output, 0600, &output);

	if (r >= 0)
		r = profile_write(loaded, output.fd);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", options->output, strerror(-r)) :
		       STATUS_OK;
}

static int save_profile(struct options *options)
{
	struct profile_rows loaded;
	int status, r = output_check(options->output);

	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", options->output, strerror(-r));
	choose_keys(options, &options->query);
	status = profile_rows_load("save", options, &options->query, false, &loaded);
	if (!status)
		status = save_file(options, &loaded);
	profile_rows_deinit(&loaded);
	return status;
}

int save_run(int argc, char **argv)
{
	struct options options;
	int status = options_parse(argc, argv, "JcAUYWNLdOQ", &options);

	if (status)
		return status;
	status = options.output ? save_profile(&options) :
				  message_fail(STATUS_USAGE, "save: needs the name of a file");
	filter_free(options.filter);
	return status;
}
