// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-terminal.h"

#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* Milliseconds after which the byte Escape is a key, and not the beginning of a sequence. */
#define ESCAPE_MS 25

/* Size of the buffer of sequences that restore the screen, in bytes. */
#define LEAVE_SIZE 128

/* Static, because a process has one terminal and signal handlers have no argument */
static struct termios saved;
static char leave[LEAVE_SIZE];
static size_t leave_length;
static volatile sig_atomic_t is_open;
static bool has_colours;
static bool is_closed;
static SCREEN *terminal;

/*
 * The signal mask before live_terminal_open(), which blocks SIGWINCH. Only live_terminal_wait()
 * unblocks it, so that no resize is missed between reading keys and waiting, and no resize
 * interrupts a write.
 */
static sigset_t unblocked;

/*
 * Restore the terminal. Signal handlers call this, so it uses only async-signal-safe functions, and
 * neither ncurses nor stdio.
 */
static void terminal_undo(void)
{
	ssize_t ignored;

	if (!is_open)
		return;
	is_open = 0;
	ignored = write(STDOUT_FILENO, leave, leave_length);
	(void)ignored;
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/*
 * Raise the signal again, which ends the process because SA_RESETHAND has restored the default
 * action.
 */
static void restore_and_raise(int sig)
{
	terminal_undo();
	raise(sig);
}

/*
 * Add a sequence of the terminal type to "leave", which terminal_undo() writes. Ignore a sequence
 * with a delay ("$<5>"), which only old hardware needs.
 */
static void leave_add(const char *sequence)
{
	if (!sequence || sequence == (char *)-1 || strstr(sequence, "$<"))
		return;
	if (leave_length + strlen(sequence) >= LEAVE_SIZE)
		return;
	strcpy(leave + leave_length, sequence);
	leave_length += strlen(sequence);
}

static void catch_signals(void)
{
	static const int ending[] = { SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
				      SIGABRT, SIGBUS,	SIGFPE, SIGILL };

	leave_length = 0;
	leave_add(tigetstr("sgr0"));
	leave_add(tigetstr("cnorm"));
	leave_add(tigetstr("rmkx"));
	leave_add(tigetstr("rmcup"));
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaction(ending[i],
			  &(struct sigaction){ .sa_handler = restore_and_raise,
					       .sa_flags = SA_RESETHAND | SA_NODEFER },
			  NULL);
}

/*
 * Open the terminal with the type in TERM, or with a type that most terminals are compatible with.
 * The type is checked first, because newterm() does not free its memory if it fails.
 */
static SCREEN *terminal_new(void)
{
	static const char *const types[] = { NULL, "xterm-256color", "xterm", "vt100" };
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (setupterm(types[i], STDOUT_FILENO, &error) != OK)
			continue;
		del_curterm(cur_term);
		return newterm(types[i], stdout, stdin);
	}
	return NULL;
}

static void init_colours(void)
{
	static const short colours[TERM_INKS] = { [TERM_WARN] = COLOR_YELLOW,
						  [TERM_BAD] = COLOR_RED,
						  [TERM_WARM] = COLOR_YELLOW,
						  [TERM_HOT] = COLOR_RED };

	has_colours = term_uses_colour() && start_color() == OK && COLORS >= 8 &&
		      use_default_colors() == OK;
	for (short i = 0; has_colours && i < TERM_INKS; i++)
		if (colours[i])
			init_pair(i, colours[i], -1);
}

int live_terminal_open(char *ret_error, size_t size)
{
	sigset_t winch;

	if (tcgetattr(STDIN_FILENO, &saved) < 0) {
		snprintf(ret_error, size, "the terminal refuses its settings: %s", strerror(errno));
		return -ENOTTY;
	}
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &unblocked);
	/* Use the size of the terminal, and not LINES and COLUMNS. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	terminal = terminal_new();
	if (!terminal || !tigetstr("cup") || tigetstr("cup") == (char *)-1) {
		if (terminal)
			endwin();
		sigprocmask(SIG_SETMASK, &unblocked, NULL);
		snprintf(ret_error, size,
			 "the terminal type \"%s\" of TERM cannot show it; -b prints instead",
			 getenv("TERM") ?: "");
		return -ENOTTY;
	}
	catch_signals();
	atexit(terminal_undo);
	is_open = 1;
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	init_colours();
	return 0;
}

void live_terminal_close(void)
{
	is_open = 0;
	endwin();
	delscreen(terminal);
	terminal = NULL;
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

void live_terminal_get_size(struct live_screen *screen)
{
	int height, width;

	getmaxyx(stdscr, height, width);
	screen->height = height > 0 ? (u32)height : 0;
	screen->width = width > 0 ? (u32)width : 0;
}

static attr_t get_span_attributes(const struct live_span *span)
{
	static const attr_t attributes[TERM_INKS] = { [TERM_STRONG] = A_BOLD,
						      [TERM_FAINT] = A_DIM,
						      [TERM_BAD] = A_BOLD,
						      [TERM_HOT] = A_BOLD };

	return attributes[span->ink] | (span->reversed ? A_REVERSE : 0);
}

void live_terminal_show(const struct live_screen *screen)
{
	wchar_t text[TEXT_SIZE];

	erase();
	for (u32 i = 0; i < screen->count; i++) {
		const struct live_span *span = &screen->span[i];
		size_t length = mbstowcs(text, span->text, TEXT_SIZE - 1);

		if (length == (size_t)-1)
			continue;
		text[length] = 0;
		attr_set(get_span_attributes(span), has_colours ? (short)span->ink : 0, NULL);
		mvaddwstr((int)span->row, (int)span->column, text);
	}
	attr_set(A_NORMAL, 0, NULL);
	curs_set(screen->cursor != UINT32_MAX);
	if (screen->cursor != UINT32_MAX)
		move((int)screen->height - 1, (int)screen->cursor);
	refresh();
}

void live_terminal_wait(int fd, int timeout_ms)
{
	const struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	int r = ppoll(fds, ARRAY_SIZE(fds), timeout_ms < 0 ? NULL : &timeout, &unblocked);

	if (r > 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		is_closed = true;
}

u32 live_terminal_read_key(void)
{
	static const struct {
		wint_t code;
		u32 key;
	} codes[] = {
		{ KEY_UP, LIVE_KEY_UP },	 { KEY_DOWN, LIVE_KEY_DOWN },
		{ KEY_LEFT, LIVE_KEY_LEFT },	 { KEY_RIGHT, LIVE_KEY_RIGHT },
		{ KEY_PPAGE, LIVE_KEY_PAGE_UP }, { KEY_NPAGE, LIVE_KEY_PAGE_DOWN },
		{ KEY_HOME, LIVE_KEY_HOME },	 { KEY_END, LIVE_KEY_END },
		{ KEY_ENTER, LIVE_KEY_ENTER },	 { KEY_BACKSPACE, LIVE_KEY_BACKSPACE },
		{ KEY_RESIZE, LIVE_KEY_RESIZE },
	};
	wint_t code = 0;
	int r = get_wch(&code);

	if (r == ERR)
		return is_closed ? LIVE_KEY_CLOSED : LIVE_KEY_NONE;
	if (r != KEY_CODE_YES)
		return code == '\r' || code == '\n' ? LIVE_KEY_ENTER :
		       code == 0x1b		    ? LIVE_KEY_ESCAPE :
		       code == 0x7f || code == '\b' ? LIVE_KEY_BACKSPACE :
						      (u32)code;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == code)
			return codes[i].key;
	return LIVE_KEY_RESIZE;
}
