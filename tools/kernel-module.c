// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel-module.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"
#include "text.h"

extern char **environ;

bool kmod_is_loaded(const struct machine *machine, const char *module)
{
	char path[128];

	/* Built-in ones have a folder too, and no state. */
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", module);
	return machine_has(machine, path);
}

int kmod_users(const struct machine *machine, const char *module)
{
	char path[128], count[16];
	int r;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	r = machine_read(machine, path, count, sizeof(count));
	return r < 0 ? r : atoi(count);
}

/* Where they are is no part of every user's PATH. */
static int spawn(pid_t *ret_pid, const posix_spawn_file_actions_t *actions, char **argv)
{
	char path[64];
	int error = posix_spawnp(ret_pid, argv[0], actions, NULL, argv, environ);

	if (error != ENOENT)
		return -error;
	snprintf(path, sizeof(path), "/sbin/%s", argv[0]);
	return -posix_spawn(ret_pid, path, actions, NULL, argv, environ);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int kmod_modprobe(const char *option, const char *module)
{
	char *argv[] = { "modprobe", (char *)option, (char *)module, NULL };
	pid_t pid;
	int r = spawn(&pid, NULL, argv);

	return r < 0 ? r : wait_for(pid);
}

static void take(const char *line, const char *key, char ret[static KMOD_WORD])
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || line[n] != ':' || *ret)
		return;
	line += n + 1;
	line += strspn(line, " \t");
	snprintf(ret, KMOD_WORD, "%.*s", (int)strcspn(line, "\n"), line);
	text_clean(ret);
}

/* "key:      value" */
static void read_info(FILE *info, struct kmod *ret)
{
	char line[4096];

	while (fgets(line, sizeof(line), info)) {
		take(line, "version", ret->version);
		take(line, "srcversion", ret->source);
		take(line, "vermagic", ret->release);
		take(line, "signer", ret->signer);
	}
	ret->release[strcspn(ret->release, " ")] = '\0';
}

/* What it says of a module that is not there is said better by whoever asks. */
static int start_modinfo(char **argv, pid_t *ret_pid, FILE **ret_output)
{
	posix_spawn_file_actions_t actions;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = -posix_spawn_file_actions_init(&actions);
	if (r < 0)
		goto close;
	r = -posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	if (!r)
		r = -posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
						      O_WRONLY, 0);
	if (!r)
		r = spawn(ret_pid, &actions, argv);
	posix_spawn_file_actions_destroy(&actions);
close:
	close(fds[1]);
	*ret_output = r < 0 ? NULL : fdopen(fds[0], "re");
	if (!*ret_output)
		close(fds[0]);
	return r;
}

int kmod_installed(const struct machine *machine, const char *module, struct kmod *ret)
{
	char *argv[] = { "modinfo", "-k", (char *)machine->release, (char *)module, NULL, NULL,
			 NULL };
	FILE *output = NULL;
	pid_t pid = 0;
	int r;

	if (*machine->root) {
		argv[3] = "-b";
		argv[4] = (char *)machine->root;
		argv[5] = (char *)module;
	}
	*ret = (struct kmod){ 0 };
	r = start_modinfo(argv, &pid, &output);
	if (r)
		return r;
	if (output) {
		read_info(output, ret);
		fclose(output);
	}
	return wait_for(pid) < 0 || !*ret->release ? -ENOENT : 0;
}

int kmod_loaded(const struct machine *machine, const char *module, struct kmod *ret)
{
	char path[128];

	*ret = (struct kmod){ 0 };
	if (!kmod_is_loaded(machine, module))
		return -ENOENT;
	/* Files that are not there leave it unsaid. */
	snprintf(path, sizeof(path), "/sys/module/%s/version", module);
	if (machine_read(machine, path, ret->version, sizeof(ret->version)) < 0)
		*ret->version = '\0';
	snprintf(path, sizeof(path), "/sys/module/%s/srcversion", module);
	if (machine_read(machine, path, ret->source, sizeof(ret->source)) < 0)
		*ret->source = '\0';
	return 0;
}

bool kmod_differ(const struct kmod *a, const struct kmod *b)
{
	if (*a->source && *b->source)
		return strcmp(a->source, b->source) != 0;
	return *a->version && *b->version && strcmp(a->version, b->version) != 0;
}

static bool is_set(const struct machine *machine, const char *path, const char *what)
{
	char text[128];

	return machine_read(machine, path, text, sizeof(text)) >= 0 && strstr(text, what);
}

int kmod_check(const struct machine *machine, const char *module, struct kmod *ret_installed)
{
	if (kmod_installed(machine, module, ret_installed) < 0)
		return say_fail(STATUS_NO_MODULE,
				"%s is not installed for kernel %s: install speprof-dkms and this "
				"kernel's headers; nothing was changed",
				module, machine->release);
	if (strcmp(ret_installed->release, machine->release) != 0)
		return say_fail(STATUS_NO_MODULE,
				"the installed %s is for kernel %s, this is %s: \"dkms autoinstall\" "
				"builds it; nothing was changed",
				module, ret_installed->release, machine->release);
	if (!*ret_installed->signer &&
	    (is_set(machine, "/sys/module/module/parameters/sig_enforce", "Y") ||
	     is_set(machine, "/sys/kernel/security/lockdown", "[integrity]") ||
	     is_set(machine, "/sys/kernel/security/lockdown", "[confidentiality]")))
		return say_fail(STATUS_SETTING,
				"the installed %s is not signed, and this kernel loads no such "
				"module: see \"Signatures\" in packages.md; nothing was changed",
				module);
	return STATUS_OK;
}
