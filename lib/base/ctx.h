/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctx.h: the root folders, the clock and the log of a program; passed instead of globals.
 *
 * Tests point the roots at folders of their own and the clock at a variable.
 */
#ifndef RAILHEAD_LIB_BASE_CTX_H
#define RAILHEAD_LIB_BASE_CTX_H

#include "lib/base/err.h"
#include "lib/base/log.h"

#define CTX_BOOT_ID_LEN 36

struct ctx {
	const char *sysfs;           /* "/sys" */
	const char *proc;            /* "/proc" */
	const char *dev;             /* "/dev" */
	const char *run_dir;         /* "/run/railhead": what lives as long as the boot */
	const char *state_dir;       /* "/var/lib/railhead": state that survives a boot */
	const char *cni_dir;         /* "/var/lib/cni": files of peer plugins; NULL: ignored */
	const char *etc_dir;         /* "/etc/railhead"; NULL: ignored */
	int64_t (*now)(void *clock); /* wall clock, nanoseconds since 1970 */
	void *clock;
	int64_t (*boottime)(void *clock); /* CLOCK_BOOTTIME, ns; NULL: the real one */
	struct log log;
};

/* ctx_init - the real system. tag is borrowed. */
void ctx_init(struct ctx *ctx, const char *tag);

/* ctx_boot_id - id of this boot (proc/sys/kernel/random/boot_id), 36 characters and NUL. */
int ctx_boot_id(const struct ctx *ctx, char out[CTX_BOOT_ID_LEN + 1], struct err *e) must_check;

/* ctx_boot_time - when this boot began on the wall clock, ns since 1970 (now - CLOCK_BOOTTIME). */
int64_t ctx_boot_time(const struct ctx *ctx);

/* ctx_since_boot - CLOCK_BOOTTIME, ns: it does not stop while the machine sleeps. */
int64_t ctx_since_boot(const struct ctx *ctx);

/* ctx_mono_ms - monotonic milliseconds, for deadlines. */
int64_t ctx_mono_ms(void);

#endif
