/* SPDX-License-Identifier: Apache-2.0 */
/* ctx.c: fills a context with the real roots, clock and log of this machine. */
#include "lib/base/parse.h"
#include "lib/base/ctx.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* The clocks asked for here exist on every kernel we run on, so clock_gettime cannot fail. */
static int64_t clock_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t wall_clock(void *clock)
{
	(void)clock;
	return clock_ns(CLOCK_REALTIME);
}

void ctx_init(struct ctx *ctx, const char *tag)
{
	*ctx = (struct ctx){
		.sysfs = "/sys",
		.proc = "/proc",
		.dev = "/dev",
		.run_dir = "/run/railhead",
		.state_dir = "/var/lib/railhead",
		.cni_dir = "/var/lib/cni",
		.etc_dir = "/etc/railhead",
		.now = wall_clock,
		.log = { .fd = STDERR_FILENO, .level = LOG_LEVEL_INFO, .tag = tag },
	};
}

static bool boot_id_valid(const char *s, size_t len)
{
	if (len != CTX_BOOT_ID_LEN && !(len == CTX_BOOT_ID_LEN + 1 && s[len - 1] == '\n'))
		return false;
	for (size_t i = 0; i < CTX_BOOT_ID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (s[i] == '\0' || !strchr(dash ? "-" : HEX_DIGITS, s[i]))
			return false;
	}
	return true;
}

int ctx_boot_id(const struct ctx *ctx, char out[CTX_BOOT_ID_LEN + 1], struct err *e)
{
	char path[PATH_MAX], text[64];
	int n = snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", ctx->proc);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "read the boot id below %s", ctx->proc);
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", path);
	ssize_t len = read(fd, text, sizeof(text));
	if (len < 0)
		return err_set(e, ERR_IO, errno, "read %s", path);
	if (!boot_id_valid(text, (size_t)len))
		return err_set(e, ERR_IO, 0, "%s does not hold a boot id", path);
	memcpy(out, text, CTX_BOOT_ID_LEN);
	out[CTX_BOOT_ID_LEN] = '\0';
	return 0;
}

int64_t ctx_boot_time(const struct ctx *ctx)
{
	return ctx->now(ctx->clock) - ctx_since_boot(ctx);
}

int64_t ctx_since_boot(const struct ctx *ctx)
{
	return ctx->boottime ? ctx->boottime(ctx->clock) : clock_ns(CLOCK_BOOTTIME);
}

int64_t ctx_mono_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}
