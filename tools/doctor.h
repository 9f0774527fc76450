/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands between this machine and its samples: one check a cause.
 */
#ifndef SPEPROF_DOCTOR_H
#define SPEPROF_DOCTOR_H

#include "env.h"
#include "verb.h"

enum verdict {
	VERDICT_FINE,
	VERDICT_NOTE, /* sampling works, with less */
	VERDICT_FAIL, /* sampling with real SPE does not work */
	VERDICT_SKIPPED, /* says nothing on this machine */
	VERDICTS,
};

/**
 * struct machine - where the checks look
 * @root: prefix of every path, "" for the running system
 * @release: of the kernel
 * @arm64: whether the others may speak of registers and firmware
 */
struct machine {
	const char *root;
	char release[128];
	bool arm64;
};

/**
 * struct finding - what a check found
 * @status: of the exit, where @verdict is VERDICT_FAIL
 * @fix: what to do, "" where nothing is to be done
 */
struct finding {
	enum verdict verdict;
	enum status status;
	char found[256];
	char fix[320];
};

/**
 * struct check - one cause
 * @why: why it matters, one sentence
 */
struct check {
	const char *name;
	const char *why;
	void (*look)(struct machine *machine, struct finding *ret_finding);
};

/** doctor_checks - in the order of causes; the first that fails is the exit status */
extern const struct check doctor_checks[];
extern const size_t doctor_count;

/** machine_path() - @machine's root and a path made by @format, in @ret (PATH_MAX bytes) */
void machine_path(const struct machine *machine, char *ret, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/** machine_read() - the first line of a file, cleaned; -errno, -ENODATA if it is empty */
int machine_read(const struct machine *machine, const char *path, char *ret, size_t size);

bool machine_glob(const struct machine *machine, const char *pattern);

/** log_has() - whether a record of the kernel's log has @words: 1, 0, or -errno (doctor-log.c) */
int log_has(const struct machine *machine, const char *words);

bool machine_has(const struct machine *machine, const char *path);

/* The module (doctor-module.c). */
enum module_state {
	MODULE_NOT_BUILT,	/* for this kernel */
	MODULE_NOT_LOADED,
	MODULE_NO_DEVICE,	/* loaded, and /dev/speprof is missing */
	MODULE_NO_RIGHT,	/* this user may not open it */
	MODULE_MUTE,		/* what is at /dev/speprof does not answer */
	MODULE_ANSWERS,
};

/**
 * struct module - what speprof.ko says of itself and of the first SPU
 * @backend: SPEPROF_BACKEND_* of that SPU
 */
struct module {
	enum module_state state;
	u32 abi;
	u32 spus;
	u32 backend;
	u32 pmsver;
};

void module_ask(const struct machine *machine, struct module *ret_module);

/* Firmware tables (doctor-firmware.c). */
/** firmware_node() - the devicetree node of the SPU, by its path below the base, in @ret */
bool firmware_node(const struct machine *machine, char *ret, size_t size);

enum firmware_madt {
	FIRMWARE_NO_MADT, /* no ACPI */
	FIRMWARE_MADT_HIDDEN, /* only root reads it */
	FIRMWARE_MADT_WITHOUT, /* no GICC names an interrupt of the SPU */
	FIRMWARE_MADT_SPE,
};

/** firmware_madt() - what ACPI's MADT says; @ret_interrupt where it names one */
enum firmware_madt firmware_madt(const struct machine *machine, u32 *ret_interrupt);

#endif
