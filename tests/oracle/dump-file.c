// SPDX-License-Identifier: LGPL-2.1-or-later
/* The dump of a recording by itself, without the command around it. */
#include "dump.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	struct recording *recording;
	struct recording_error error;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: dump-file FILE\n");
		return 2;
	}
	r = recording_open(argv[1], &recording, &error);
	if (!r) {
		r = dump_recording(recording, stdout, &error);
		recording_free(recording);
	}
	if (r < 0)
		fprintf(stderr, "%s: offset %#llx: %s\n", argv[1], (unsigned long long)error.offset,
			error.text);
	return r < 0 || fflush(stdout) ? 1 : 0;
}
