// SPDX-License-Identifier: LGPL-2.1-or-later
/* Examine the machine by its files in /proc, /sys and /etc, below a root directory. */
#include <glob.h>
#include <linux/speprof.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "doctor.h"
#include "lib/text.h"
#include "util/cpu-list.h"

void machine_join_path(const struct examined_machine *machine, char *ret, const char *format, ...)
{
	int root = snprintf(ret, PATH_MAX, "%s", machine->root);
	va_list args;

	if (root >= PATH_MAX)
		return;
	va_start(args, format);
	vsnprintf(ret + root, PATH_MAX - root, format, args);
	va_end(args);
}

int machine_read_line(const struct examined_machine *machine, const char *path, char *ret,
		      size_t size)
{
	char full[PATH_MAX];
	FILE *file;
	char *line;

	machine_join_path(machine, full, "%s", path);
	file = fopen(full, "re");
	if (!file)
		return -errno;
	line = fgets(ret, size, file);
	fclose(file);
	if (!line)
		return -ENODATA;
	ret[strcspn(ret, "\n")] = 0;
	text_clean(ret);
	return 0;
}

bool machine_has_path(const struct examined_machine *machine, const char *path)
{
	char full[PATH_MAX];

	machine_join_path(machine, full, "%s", path);
	return access(full, F_OK) == 0;
}

bool machine_matches_glob(const struct examined_machine *machine, const char *pattern,
			  char *ret_path)
{
	char full[PATH_MAX];
	glob_t paths;
	int r;

	machine_join_path(machine, full, "%s", pattern);
	r = glob(full, 0, NULL, &paths);
	if (r == 0 && ret_path)
		snprintf(ret_path, PATH_MAX, "%s", paths.gl_pathv[0] + strlen(machine->root));
	globfree(&paths);
	return r == 0;
}

int machine_get_kernel_config(const struct examined_machine *machine, const char *option)
{
	char path[PATH_MAX], line[1024];
	gzFile file;
	int found = 0;

	/* zlib also reads files that are not compressed. */
	machine_join_path(machine, path, "/proc/config.gz");
	file = gzopen(path, "re");
	if (!file) {
		machine_join_path(machine, path, "/boot/config-%s", machine->release);
		file = gzopen(path, "re");
	}
	if (!file)
		return -ENOENT;
	while (!found && gzgets(file, line, sizeof(line)))
		found = strncmp(line, option, strlen(option)) == 0 &&
			strcmp(line + strlen(option), "=y\n") == 0;
	gzclose(file);
	return found;
}

static bool read_cpus(const struct examined_machine *machine, const char *path,
		      struct cpu_list *ret_cpus)
{
	char text[4096];

	return machine_read_line(machine, path, text, sizeof(text)) >= 0 &&
	       cpu_list_parse(text, ret_cpus) >= 0;
}

unsigned int machine_get_cpu_limit(const struct examined_machine *machine, const char *path)
{
	struct cpu_list cpus;

	return read_cpus(machine, path, &cpus) ? cpu_list_get_end(&cpus) : 0;
}

unsigned int machine_count_cpus(const struct examined_machine *machine, const char *path)
{
	struct cpu_list cpus;
	unsigned int count = 0;

	if (!read_cpus(machine, path, &cpus))
		return 0;
	for (u32 cpu = 0; cpu < cpu_list_get_end(&cpus); cpu++)
		count += cpu_list_has(&cpus, cpu);
	return count;
}

/* The initial namespaces have fixed inode numbers (include/linux/proc_ns.h). */
int machine_is_in_initial_namespace(const struct examined_machine *machine, const char *kind)
{
	unsigned int number = strcmp(kind, "pid") == 0 ? 0xeffffffc : 0xeffffffb;
	char path[PATH_MAX], link[64], first[64];
	ssize_t n;

	machine_join_path(machine, path, "/proc/self/ns/%s", kind);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return -errno;
	link[n] = 0;
	snprintf(first, sizeof(first), "%s:[%u]", kind, number);
	return strcmp(link, first) == 0;
}

/* ---- Guests ---------------------------------------------------------------------- */

int machine_detect_guest(const struct examined_machine *machine, char *ret_name, size_t size)
{
	bool read = machine_has_path(machine, "/sys/firmware/devicetree/base") ||
		    cloud_has_dmi(machine);
	char text[128];

	if (machine_read_line(machine, "/sys/hypervisor/type", text, sizeof(text)) >= 0) {
		snprintf(ret_name, size, "%s", text);
		/* Dom0 of Xen controls the hypervisor, so it does not count as a guest. */
		return machine_read_line(machine, "/proc/xen/capabilities", text, sizeof(text)) <
			       0 ||
		       !strstr(text, "control_d");
	}
	if (cloud_is_guest(machine, ret_name, size))
		return 1;
	snprintf(ret_name, size, "devicetree's hypervisor");
	if (machine_has_path(machine, "/sys/firmware/devicetree/base/hypervisor"))
		return 1;
	snprintf(ret_name, size, "QEMU");
	if (machine_matches_glob(machine, "/sys/firmware/devicetree/base/fw-cfg@*", NULL) ||
	    (machine_read_line(machine, "/sys/firmware/devicetree/base/compatible", text,
			       sizeof(text)) >= 0 &&
	     strcmp(text, "linux,dummy-virt") == 0))
		return 1;
	return read ? 0 : -ENOENT;
}

int group_find_number(const struct examined_machine *machine, const char *name)
{
	char path[PATH_MAX], line[4096];
	size_t len = strlen(name);
	int number = -ENOENT;
	FILE *file;

	machine_join_path(machine, path, "/etc/group");
	file = fopen(path, "re");
	while (file && number < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			sscanf(line + len, ":%*[^:]:%d", &number);
	if (file)
		fclose(file);
	return number;
}

/* ---- Collecting ------------------------------------------------------------------ */

void machine_identify(struct examined_machine *machine, const char *root)
{
	struct utsname name;
	bool is_running_system = !*root && uname(&name) >= 0;

	*machine = (struct examined_machine){ .root = root };
	if (machine_read_line(machine, "/proc/sys/kernel/osrelease", machine->release,
			      sizeof(machine->release)) < 0)
		snprintf(machine->release, sizeof(machine->release), "%s",
			 is_running_system ? name.release : "unknown");
	/*
	 * The file exists since Linux 6.1. uname() would describe the running machine, and not the
	 * machine below --root.
	 */
	if (machine_read_line(machine, "/proc/sys/kernel/arch", machine->arch,
			      sizeof(machine->arch)) < 0)
		snprintf(machine->arch, sizeof(machine->arch), "%s",
			 is_running_system ? name.machine : "unknown");
	machine->distribution = distribution_detect(machine);
	machine->arm64 = strcmp(machine->arch, "aarch64") == 0;
}

void machine_init(struct examined_machine *machine, const char *root)
{
	machine_identify(machine, root);
	machine->pmu =
		machine_matches_glob(machine, "/sys/bus/event_source/devices/arm_spe_*", NULL);
	module_query(machine, &machine->module);
	machine->spu =
		machine->pmu || (machine->module.state == MODULE_ANSWERS && machine->module.spus &&
				 machine->module.backend == SPEPROF_BACKEND_HARDWARE);
	machine->lacking = spe_is_absent(machine);
	log_read(machine, &machine->log);
	daemon_query(&machine->daemon);
}

void machine_deinit(struct examined_machine *machine)
{
	free(machine->log.text);
	machine->log.text = NULL;
}

void finding_set(struct doctor_finding *f, enum verdict verdict, enum cause cause, const char *fix,
		 const char *format, ...)
{
	va_list args;

	f->verdict = verdict;
	f->cause = cause;
	va_start(args, format);
	vsnprintf(f->found, sizeof(f->found), format, args);
	va_end(args);
	/* The text may come from the daemon, and snprintf() may have cut a character in two. */
	text_clean(f->found);
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
}
