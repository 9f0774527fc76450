// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof.ko: built, loaded, and what it says of the SPUs that it has.
 */
#include <fcntl.h>
#include <linux/speprof.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "doctor.h"

static bool module_built(const struct machine *machine)
{
	static const char *const folders[] = { "extra", "updates", "updates/dkms",
					       "extra/speprof" };
	char pattern[512];

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(pattern, sizeof(pattern), "/lib/modules/%s/%s/speprof.ko*",
			 machine->release, folders[i]);
		if (machine_glob(machine, pattern))
			return true;
	}
	return false;
}

/* The first CPU with an SPU stands for all: mixed backends do not exist. */
static void module_spu(int fd, u32 cpus, struct module *module)
{
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		struct speprof_cpu_info info = { .size = sizeof(info), .cpu = cpu };

		if (ioctl(fd, SPEPROF_CPU_INFO, &info) < 0 || !info.backend)
			continue;
		module->backend = info.backend;
		module->pmsver = info.pmsver;
		return;
	}
}

void module_ask(const struct machine *machine, struct module *ret_module)
{
	struct speprof_device_info info = { .size = sizeof(info) };
	struct module module = { 0 };
	char path[PATH_MAX];
	int fd;

	machine_path(machine, path, SPEPROF_DEVICE_PATH);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		module.state = errno == EACCES || errno == EPERM	   ? MODULE_NO_RIGHT :
			       machine_has(machine, "/sys/module/speprof") ? MODULE_NO_DEVICE :
			       module_built(machine)			   ? MODULE_NOT_LOADED :
									     MODULE_NOT_BUILT;
	} else if (ioctl(fd, SPEPROF_DEVICE_INFO, &info) < 0) {
		module.state = MODULE_MUTE;
	} else {
		module.state = MODULE_ANSWERS;
		module.abi = info.abi_version;
		module.spus = info.spus;
		module_spu(fd, info.cpus, &module);
	}
	if (fd >= 0)
		close(fd);
	*ret_module = module;
}
