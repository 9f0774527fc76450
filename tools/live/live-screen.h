/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lay out the live view in lines and columns, independently of the terminal. */
#ifndef SPEPROF_LIVE_SCREEN_H
#define SPEPROF_LIVE_SCREEN_H

#include "lib/format.h"
#include "lib/text.h"
#include "live-page.h"

/**
 * struct live_span - a part of a line
 * @row, @column: position at which it begins, from 0
 * @ink: meaning of its colour
 * @reversed: whether foreground and background are exchanged, as for the chosen row
 * @text: printable UTF-8 from text_fit()
 */
struct live_span {
	u32 row;
	u32 column;
	enum term_style ink;
	bool reversed;
	char *text;
};

/**
 * struct live_screen - a screen
 * @width, @height: size of the screen; at most TEXT_WIDTH_MAX - 1 columns are used
 * @span: content of the screen: @count spans that do not overlap; the rest is blank
 * @cursor: column of the cursor in the last line; UINT32_MAX: it is hidden
 */
struct live_screen {
	u32 width;
	u32 height;
	struct live_span *span;
	u32 count;
	u32 capacity;
	u32 cursor;
};

/**
 * struct live_content - what the screen shows
 * @state: the state
 * @header: the header of the last reply
 * @rows: the selected rows
 * @histograms: histograms for the details of a row
 * @instructions: instructions of the chosen function
 * @fault: why the shown data is outdated; "": it is not
 * @loading: whether there is no reply yet for these rows
 * @known_share: known shares, from --truth options
 * @known_shares: number of @known_share
 */
struct live_content {
	struct live_state *state;
	const struct view_header *header;
	const struct view *rows;
	const struct live_histograms *histograms;
	const struct live_instructions *instructions;
	const char *fault;
	bool loading;
	const struct known_share *known_share;
	u32 known_shares;
};

/**
 * live_screen_draw() - fill a screen
 * @screen: &live_screen.width and &live_screen.height are set; the rest is replaced
 * @content: its state is scrolled so that the chosen row is on the screen
 */
void live_screen_draw(struct live_screen *screen, const struct live_content *content);

/** live_screen_clear() - free the spans */
void live_screen_clear(struct live_screen *screen);

/** live_screen_get_line() - write the text of line @row to @ret, without spaces at its end */
void live_screen_get_line(const struct live_screen *screen, u32 row, char ret[static TEXT_SIZE]);

#endif
