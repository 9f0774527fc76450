// SPDX-License-Identifier: LGPL-2.1-or-later
/* Detect the distribution of the machine, and provide its commands for the advice of the checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/*
 * Words of ID and ID_LIKE in os-release, the more specific ones first: Ubuntu is also like Debian,
 * and Amazon Linux is also like Fedora
 */
static const struct {
	const char *word;
	enum distribution distribution;
} words[] = {
	{ "bottlerocket", DISTRIBUTION_BOTTLEROCKET },
	{ "ubuntu", DISTRIBUTION_UBUNTU },
	{ "debian", DISTRIBUTION_DEBIAN },
	{ "azurelinux", DISTRIBUTION_AZURE },
	{ "mariner", DISTRIBUTION_AZURE },
	{ "fedora", DISTRIBUTION_FEDORA },
	{ "rhel", DISTRIBUTION_FEDORA },
	{ "amzn", DISTRIBUTION_FEDORA },
	{ "centos", DISTRIBUTION_FEDORA },
};

/* Return whether @list, words separated by blanks, contains @word. */
static bool list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list; list += strcspn(list, " "), list += strspn(list, " "))
		if (strncmp(list, word, n) == 0 && (!list[n] || list[n] == ' '))
			return true;
	return false;
}

/* Read ID and ID_LIKE of os-release, without quotes, as one list of words. */
static void read_ids(FILE *file, char *ret, size_t size)
{
	char line[512];
	size_t used = 0;

	*ret = 0;
	while (fgets(line, sizeof(line), file) && used < size) {
		const char *value = line + (strncmp(line, "ID=", 3) == 0 ? 3 : 8);

		if (strncmp(line, "ID=", 3) != 0 && strncmp(line, "ID_LIKE=", 8) != 0)
			continue;
		value += strspn(value, "\"'");
		used += snprintf(ret + used, size - used, "%.*s ", (int)strcspn(value, "\"'\n"),
				 value);
	}
}

enum distribution distribution_detect(const struct examined_machine *machine)
{
	static const char *const files[] = { "/etc/os-release", "/usr/lib/os-release" };
	char path[PATH_MAX], ids[512] = "", version[512];
	FILE *file = NULL;

	/*
	 * In a container, os-release describes the image. So only the name of the kernel's compiler
	 * shows that the host is Bottlerocket.
	 */
	if (machine_read_line(machine, "/proc/version", version, sizeof(version)) >= 0 &&
	    strstr(version, "-bottlerocket-linux-"))
		return DISTRIBUTION_BOTTLEROCKET;
	for (size_t i = 0; i < ARRAY_SIZE(files) && !file; i++) {
		machine_join_path(machine, path, "%s", files[i]);
		file = fopen(path, "re");
	}
	if (!file)
		return DISTRIBUTION_OTHER;
	read_ids(file, ids, sizeof(ids));
	fclose(file);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (list_has(ids, words[i].word))
			return words[i].distribution;
	return DISTRIBUTION_OTHER;
}

void advice_write_install(const struct examined_machine *machine, const char *package, char *ret,
			  size_t size)
{
	switch (machine->distribution) {
	case DISTRIBUTION_DEBIAN:
	case DISTRIBUTION_UBUNTU:
		snprintf(ret, size, "apt install %s", package);
		break;
	case DISTRIBUTION_FEDORA:
		snprintf(ret, size, "dnf install %s", package);
		break;
	case DISTRIBUTION_AZURE:
		snprintf(ret, size, "tdnf install %s", package);
		break;
	default:
		snprintf(ret, size, "install %s", package);
	}
}

void advice_write_headers(const struct examined_machine *machine, char *ret, size_t size)
{
	char package[256];

	switch (machine->distribution) {
	case DISTRIBUTION_DEBIAN:
	case DISTRIBUTION_UBUNTU:
		snprintf(package, sizeof(package), "linux-headers-%.64s", machine->release);
		break;
	case DISTRIBUTION_FEDORA:
		/* All packages of headers provide this name, although their own names differ. */
		snprintf(package, sizeof(package), "\"kernel-devel-uname-r == %.64s\"",
			 machine->release);
		break;
	case DISTRIBUTION_AZURE:
		snprintf(package, sizeof(package), "kernel-devel-%.64s", machine->release);
		break;
	default:
		snprintf(package, sizeof(package), "the headers of kernel %.64s", machine->release);
	}
	advice_write_install(machine, package, ret, size);
}

void advice_write_boot(const struct examined_machine *machine, const char *parameter, char *ret,
		       size_t size)
{
	switch (machine->distribution) {
	case DISTRIBUTION_DEBIAN:
	case DISTRIBUTION_UBUNTU:
		snprintf(ret, size,
			 "boot with %s (add it to GRUB_CMDLINE_LINUX in /etc/default/grub, run "
			 "\"update-grub\")",
			 parameter);
		break;
	case DISTRIBUTION_FEDORA:
		snprintf(ret, size, "boot with %s (\"grubby --update-kernel=ALL --args=%s\")",
			 parameter, parameter);
		break;
	case DISTRIBUTION_AZURE:
		snprintf(ret, size,
			 "boot with %s (add it to GRUB_CMDLINE_LINUX in /etc/default/grub, run "
			 "\"grub2-mkconfig -o /boot/grub2/grub.cfg\")",
			 parameter);
		break;
	case DISTRIBUTION_BOTTLEROCKET:
		snprintf(ret, size,
			 "boot with %s (Bottlerocket's settings.boot.kernel-parameters and "
			 "settings.boot.reboot-to-reconcile)",
			 parameter);
		break;
	default:
		snprintf(ret, size, "boot with %s", parameter);
	}
}

void advice_write_sysctl(const struct examined_machine *machine, const char *setting, char *ret,
			 size_t size)
{
	if (machine->distribution == DISTRIBUTION_BOTTLEROCKET)
		snprintf(ret, size, "set %s in Bottlerocket's settings.kernel.sysctl", setting);
	else
		snprintf(ret, size,
			 "sudo sysctl %s, and the same in /etc/sysctl.d to make it permanent",
			 setting);
}

bool advice_write_stock_driver(const struct examined_machine *machine, char *ret, size_t size)
{
	char path[PATH_MAX], pattern[256];

	if (machine->distribution != DISTRIBUTION_UBUNTU || machine->pmu)
		return false;
	snprintf(pattern, sizeof(pattern),
		 "/lib/modules/%.128s/kernel/drivers/perf/arm_spe_pmu.ko*", machine->release);
	if (machine_matches_glob(machine, pattern, path))
		return false;
	snprintf(ret, size, "apt install linux-modules-extra-%.64s && modprobe arm_spe_pmu",
		 machine->release);
	return true;
}

bool kernel_is_supported(const struct examined_machine *machine)
{
	unsigned int major, minor;

	/*
	 * Accept a release that cannot be parsed: building the module will show whether it works.
	 */
	return sscanf(machine->release, "%u.%u", &major, &minor) != 2 || major > 6 ||
	       (major == 6 && minor >= 1);
}

enum module_builder machine_get_builder(const struct examined_machine *machine)
{
	static const struct {
		unsigned int major, minor;
	} tested[] = { { 6, 1 }, { 6, 12 }, { 7, 2 }, { 7, 3 } };
	unsigned int major, minor;

	if (machine_has_path(machine, AKMODS_SOURCE) ||
	    (machine_has_path(machine, "/usr/sbin/akmods") &&
	     !machine_matches_glob(machine, "/usr/src/speprof-*/dkms.conf", NULL)))
		return BUILDER_AKMODS;
	if (sscanf(machine->release, "%u.%u", &major, &minor) != 2)
		return BUILDER_DKMS;
	for (size_t i = 0; i < ARRAY_SIZE(tested); i++)
		if (tested[i].major == major && tested[i].minor == minor)
			return BUILDER_DKMS;
	return BUILDER_MAKE;
}

void advice_write_module_install(const struct examined_machine *machine, char *ret, size_t size)
{
	enum module_builder builder = machine_get_builder(machine);

	if (builder == BUILDER_MAKE)
		snprintf(ret, size, ADVICE_MAKE);
	else
		advice_write_install(machine,
				     builder == BUILDER_AKMODS ? "akmod-speprof" : "speprof-dkms",
				     ret, size);
}

void advice_write_module_build(const struct examined_machine *machine, char *ret, size_t size)
{
	switch (machine_get_builder(machine)) {
	case BUILDER_MAKE:
		snprintf(ret, size, ADVICE_MAKE);
		break;
	case BUILDER_AKMODS:
		snprintf(ret, size, "akmods --force --akmod speprof --kernels %.64s",
			 machine->release);
		break;
	case BUILDER_DKMS:
		snprintf(ret, size, "dkms autoinstall -k %.64s", machine->release);
	}
}

void advice_write_enrol(const struct examined_machine *machine, char *ret, size_t size)
{
	enum module_builder builder = machine_get_builder(machine);
	const char *key = "/var/lib/dkms/mok.pub";

	if (builder == BUILDER_AKMODS)
		key = "/etc/pki/akmods/certs/public_key.der";
	else if (machine->distribution == DISTRIBUTION_UBUNTU)
		key = "/var/lib/shim-signed/mok/MOK.der";
	if (builder == BUILDER_MAKE)
		snprintf(ret, size,
			 "\"mokutil --import\" of the key's certificate, reboot and enrol it");
	else
		snprintf(ret, size, "\"mokutil --import %s\", reboot and enrol it", key);
}
