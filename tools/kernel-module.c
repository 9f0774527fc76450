// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel-module.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/message.h"
#include "lib/child-process.h"
#include "lib/text.h"

bool kmod_is_loaded(const struct examined_machine *machine, const char *module)
{
	char path[128];

	/* A built-in module has the directory, too, but no file initstate in it. */
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", module);
	return machine_has_path(machine, path);
}

int kmod_read_reference_count(const struct examined_machine *machine, const char *module)
{
	char path[128], count[16];
	int r;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	r = machine_read_line(machine, path, count, sizeof(count));
	return r < 0 ? r : atoi(count);
}

/* Return whether @link, a descriptor in /proc, is the device, or one of its sessions or rings. */
static bool is_module_file(const char *link)
{
	char target[128];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	target[n < 0 ? 0 : n] = '\0';
	return !strcmp(target, "/dev/speprof") || !strcmp(target, "anon_inode:[speprof-session]") ||
	       !strcmp(target, "anon_inode:[speprof-ring]");
}

static bool process_has_module_open(const struct examined_machine *machine, int pid)
{
	char folder[PATH_MAX], link[PATH_MAX + NAME_MAX + 2];
	const struct dirent *entry;
	bool holds = false;
	DIR *fds;

	machine_join_path(machine, folder, "/proc/%d/fd", pid);
	fds = opendir(folder);
	while (fds && !holds && (entry = readdir(fds))) {
		snprintf(link, sizeof(link), "%s/%s", folder, entry->d_name);
		holds = is_module_file(link);
	}
	if (fds)
		closedir(fds);
	return holds;
}

static void append_process(const struct examined_machine *machine, int pid, char *text, size_t size)
{
	char path[32], name[32];
	size_t n = strlen(text);

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (machine_read_line(machine, path, name, sizeof(name)) < 0)
		snprintf(name, sizeof(name), "a process");
	snprintf(text + n, size - n, "%s%s (PID %d)", n ? ", " : "", name, pid);
}

bool kmod_find_users(const struct examined_machine *machine, int except, char *ret_text,
		     size_t size)
{
	const struct dirent *entry;
	char folder[PATH_MAX];
	bool found = false;
	DIR *processes;

	*ret_text = '\0';
	machine_join_path(machine, folder, "/proc");
	processes = opendir(folder);
	while (processes && (entry = readdir(processes))) {
		int pid = atoi(entry->d_name);

		if (pid <= 1 || pid == except || !process_has_module_open(machine, pid))
			continue;
		append_process(machine, pid, ret_text, size);
		found = true;
	}
	if (processes)
		closedir(processes);
	return found;
}

int kmod_modprobe(const char *option, const char *module)
{
	char *argv[] = { "modprobe", (char *)option, (char *)module, NULL };

	return child_run_and_wait(argv);
}

static void parse_field(const char *line, const char *key, char ret[static KMOD_FIELD_SIZE])
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || line[n] != ':' || *ret)
		return;
	line += n + 1;
	line += strspn(line, " \t");
	snprintf(ret, KMOD_FIELD_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
	text_clean(ret);
}

/* Read lines of the form "key:      value". */
static void read_info(FILE *info, struct module_info *ret)
{
	char line[4096];

	while (fgets(line, sizeof(line), info)) {
		parse_field(line, "version", ret->version);
		parse_field(line, "srcversion", ret->source);
		parse_field(line, "vermagic", ret->release);
		parse_field(line, "signer", ret->signer);
	}
	ret->release[strcspn(ret->release, " ")] = '\0';
}

int kmod_get_installed(const struct examined_machine *machine, const char *module,
		       struct module_info *ret)
{
	char *argv[] = {
		"modinfo", "-k", (char *)machine->release, (char *)module, NULL, NULL, NULL
	};
	struct spawned_process modinfo;
	int r;

	if (*machine->root) {
		argv[3] = "-b";
		argv[4] = (char *)machine->root;
		argv[5] = (char *)module;
	}
	*ret = (struct module_info){ 0 };
	r = child_start_with_output(argv, &modinfo);
	if (r < 0)
		return r;
	read_info(modinfo.output, ret);
	return child_finish(&modinfo) < 0 || !*ret->release ? -ENOENT : 0;
}

int kmod_get_loaded(const struct examined_machine *machine, const char *module,
		    struct module_info *ret)
{
	char path[128];

	*ret = (struct module_info){ 0 };
	if (!kmod_is_loaded(machine, module))
		return -ENOENT;
	/* A module may have neither a version nor a srcversion: "" stands for a missing one. */
	snprintf(path, sizeof(path), "/sys/module/%s/version", module);
	if (machine_read_line(machine, path, ret->version, sizeof(ret->version)) < 0)
		*ret->version = '\0';
	snprintf(path, sizeof(path), "/sys/module/%s/srcversion", module);
	if (machine_read_line(machine, path, ret->source, sizeof(ret->source)) < 0)
		*ret->source = '\0';
	return 0;
}

bool kmod_differ(const struct module_info *a, const struct module_info *b)
{
	if (*a->source && *b->source)
		return strcmp(a->source, b->source) != 0;
	return *a->version && *b->version && strcmp(a->version, b->version) != 0;
}

void kmod_print_outdated(const struct examined_machine *machine, FILE *out)
{
	struct module_info loaded, installed;

	if (kmod_get_loaded(machine, "speprof", &loaded) < 0 ||
	    kmod_get_installed(machine, "speprof", &installed) < 0 ||
	    !kmod_differ(&loaded, &installed))
		return;
	fprintf(out, "speprof.ko %s is loaded, %s is installed: \"speprof module reload\"\n",
		loaded.version, installed.version);
}

static bool file_contains(const struct examined_machine *machine, const char *path,
			  const char *what)
{
	char text[128];

	return machine_read_line(machine, path, text, sizeof(text)) >= 0 && strstr(text, what);
}

int kmod_check_loadable(const struct examined_machine *machine, const char *module,
			struct module_info *ret_installed)
{
	char advice[160];

	if (kmod_get_installed(machine, module, ret_installed) < 0) {
		advice_write_module_install(machine, advice, sizeof(advice));
		return message_fail(
			STATUS_NO_MODULE,
			"%s is not installed for kernel %s: install this kernel's headers, then "
			"%s; nothing was changed",
			module, machine->release, advice);
	}
	if (strcmp(ret_installed->release, machine->release) != 0) {
		advice_write_module_build(machine, advice, sizeof(advice));
		return message_fail(
			STATUS_NO_MODULE,
			"the installed %s is for kernel %s, this is %s: build it: %s; nothing "
			"was changed",
			module, ret_installed->release, machine->release, advice);
	}
	if (!*ret_installed->signer &&
	    (file_contains(machine, "/sys/module/module/parameters/sig_enforce", "Y") ||
	     file_contains(machine, "/sys/kernel/security/lockdown", "[integrity]") ||
	     file_contains(machine, "/sys/kernel/security/lockdown", "[confidentiality]")))
		return message_fail(
			STATUS_SETTING,
			"the installed %s is not signed, and this kernel loads no such "
			"module: sign it, see Documentation/howto/install.md; nothing was changed",
			module);
	return STATUS_OK;
}
