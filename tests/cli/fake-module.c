// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD: a file /dev/speprof below another root directory answers ioctls as
 * speprof.ko does. The contents of the file select the answers: "abi=1 spus=4 backend=1 pmsver=3".
 */
#include <linux/speprof.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct answer {
	unsigned int abi;
	unsigned int spus;
	unsigned int backend;
	unsigned int pmsver;
};

static int reply_builder_read(int fd, struct answer *ret_answer)
{
	char text[128];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	return sscanf(text, "abi=%u spus=%u backend=%u pmsver=%u", &ret_answer->abi,
		      &ret_answer->spus, &ret_answer->backend, &ret_answer->pmsver) == 4;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct speprof_device_info *device;
	struct speprof_cpu_info *cpu;
	struct answer answer;
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) != SPEPROF_IOC_MAGIC || !reply_builder_read(fd, &answer))
		return (int)syscall(SYS_ioctl, fd, request, argument);
	if (request == SPEPROF_DEVICE_INFO) {
		device = argument;
		device->abi_version = answer.abi;
		device->cpus = answer.spus;
		device->spus = answer.spus;
	} else {
		cpu = argument;
		cpu->backend = answer.backend;
		cpu->pmsver = answer.pmsver;
	}
	return 0;
}
