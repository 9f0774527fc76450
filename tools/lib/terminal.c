// SPDX-License-Identifier: LGPL-2.1-or-later
#include "terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ESC "\033"

static const char screen_enter[] = ESC "[?1049h" ESC "[?25l";
static const char screen_leave[] = ESC "[0m" ESC "[?25h" ESC "[?1049l";

/* Static, as a process has one terminal and signal handlers have no argument */
static struct termios saved;
static volatile sig_atomic_t raw;
static volatile sig_atomic_t resized;

/*
 * The signal mask before term_raw(), which blocks SIGWINCH, as that would interrupt calls of the
 * daemon and writes. Only term_key() unblocks it, while it waits.
 */
static sigset_t unblocked;

static const int ending[] = { SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
			      SIGABRT, SIGBUS,	SIGFPE, SIGILL };

void term_ink(FILE *out, bool colour, enum term_ink ink, const char *text)
{
	static const char *const codes[] = {
		[TERM_STRONG] = ESC "[1m",
		[TERM_FAINT] = ESC "[2m",
		[TERM_WARN] = ESC "[33m",
		[TERM_BAD] = ESC "[31m",
	};

	if (colour && ink != TERM_PLAIN)
		fprintf(out, "%s%s" ESC "[0m", codes[ink], text);
	else
		fputs(text, out);
}

bool term_colour(void)
{
	const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && kind && strcmp(kind, "dumb") != 0;
}

void term_size(size_t *ret_width, size_t *ret_height)
{
	const char *columns = getenv("COLUMNS");
	unsigned long given = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size = { 0 };
	bool tty = isatty(STDOUT_FILENO);

	if (tty)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*ret_width = size.ws_col ? size.ws_col : tty ? 80 : 0;
	*ret_height = size.ws_row ? size.ws_row : tty ? 24 : 0;
	if (given && !size.ws_col)
		*ret_width = given;
}

/* Restore the terminal. Signal handlers call this, so it uses only async-signal-safe functions. */
static void raw_undo(void)
{
	ssize_t ignored;

	if (!raw)
		return;
	raw = 0;
	ignored = write(STDOUT_FILENO, screen_leave, sizeof(screen_leave) - 1);
	(void)ignored;
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* Raise the signal again to end the process, as SA_RESETHAND has restored the default action. */
static void raw_end(int sig)
{
	raw_undo();
	raise(sig);
}

static void raw_resized(int sig)
{
	(void)sig;
	resized = 1;
}

int term_raw(void)
{
	struct termios mode;
	ssize_t written;
	sigset_t winch;

	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return -errno;
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &unblocked);
	atexit(raw_undo);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaction(ending[i],
			  &(struct sigaction){ .sa_handler = raw_end,
					       .sa_flags = SA_RESETHAND | SA_NODEFER },
			  NULL);
	sigaction(SIGWINCH, &(struct sigaction){ .sa_handler = raw_resized }, NULL);

	mode = saved;
	mode.c_lflag &= ~(ICANON | ECHO);
	mode.c_cc[VMIN] = 0;
	mode.c_cc[VTIME] = 0;
	/* Disable Ctrl-Z: a stopped live view would leave the alternate screen on. */
	mode.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw = 1;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &mode) < 0) {
		raw = 0;
		return -errno;
	}
	written = write(STDOUT_FILENO, screen_enter, sizeof(screen_enter) - 1);
	return written < 0 ? -errno : 0;
}

void term_restore(void)
{
	raw_undo();
}

/*
 * Read the rest of a sequence such as ESC [ A, which arrives at once; after the key Escape nothing
 * follows.
 */
static int key_escape(void)
{
	u8 rest[8];
	ssize_t len = read(STDIN_FILENO, rest, sizeof(rest));

	if (len >= 2 && (rest[0] == '[' || rest[0] == 'O') && rest[1] == 'A')
		return TERM_KEY_UP;
	if (len >= 2 && (rest[0] == '[' || rest[0] == 'O') && rest[1] == 'B')
		return TERM_KEY_DOWN;
	return TERM_KEY_OTHER;
}

int term_key(int timeout_ms)
{
	const struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int r = ppoll(&fd, 1, timeout_ms < 0 ? NULL : &timeout, &unblocked);
	u8 key;

	if (resized) {
		resized = 0;
		return TERM_KEY_RESIZE;
	}
	if (r <= 0)
		return r < 0 && errno != EINTR ? -EIO : 0;
	if (read(STDIN_FILENO, &key, 1) != 1)
		return -EIO;
	return key == '\033' ? key_escape() : key;
}
