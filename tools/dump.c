// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof dump: print every packet of a recording. */
#include "dump/dump.h"
#include "lib/message.h"
#include "lib/options.h"
#include "verb.h"

int dump_run(int argc, char **argv)
{
	struct recording_error error = { .offset = RECORDING_NO_OFFSET };
	struct recording *recording = NULL;
	struct options options;
	int status, r;

	status = options_parse(argc, argv, "iMF", &options);
	if (status)
		return status;
	if (!options.input)
		return message_fail(STATUS_USAGE, "dump: needs a recording");
	r = recording_open(options.input, &recording, &error);
	if (r < 0)
		return message_print_recording_error(options.input, r, &error);
	r = dump_recording(recording, options.midr, stdout, &error);
	recording_free(recording);
	return r < 0 ? message_print_replay_error(options.input, r, &error) : STATUS_OK;
}
