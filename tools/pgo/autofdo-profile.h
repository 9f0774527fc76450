/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write the instructions and calls of a file as the text profile of clang's -fprofile-sample-use. */
#ifndef SPEPROF_AUTOFDO_PROFILE_H
#define SPEPROF_AUTOFDO_PROFILE_H

#include "edge-profile.h"

/** autofdo_position_is_usable() - return whether all functions at a position have a line and a name
 * that the format can contain
 */
bool autofdo_position_is_usable(const struct source_frames *frames,
				const struct framed_location *position);

/**
 * autofdo_profile_print() - write what clang reads: counts by function and line
 * @profile: the edges, with &edge_profile.frames. &edge_profile.written counts functions that were
 *	not inlined, &edge_profile.unnamed counts instructions without a usable position
 *
 * The first line is a comment with the build id. A function begins with a line of its name, the sum
 * of the counts of its instructions, and the count of the calls to it. Then a line has the distance
 * to the line of the function's declaration, a discriminator if it is not 0, and the largest count
 * of its instructions, and the called functions with their counts. A line of a call that was inlined
 * has the name of the function, and its lines follow, indented by one space.
 */
void autofdo_profile_print(FILE *out, struct edge_profile *profile);

#endif
