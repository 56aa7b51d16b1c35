/* SPDX-License-Identifier: Apache-2.0 */
/* ctx_test.c: shows the values of a real context, and that a damaged boot id is refused. */
#include "lib/base/ctx.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

#define GOOD_ID "01234567-89ab-cdef-0123-456789abcdef"

static int64_t fixed_now(void *clock)
{
	return *(int64_t *)clock;
}

static void write_id(const char *boot_id, size_t len)
{
	auto_fd int fd = open("/mnt/sys/kernel/random/boot_id",
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, boot_id, len), (ssize_t)len);
}

/* A folder like /proc, gone with the process, holding the given boot id. */
static void make_proc(const char *boot_id, size_t len)
{
	ck_assert_str_eq(testing_dir(), "/mnt");
	ck_assert_int_eq(mkdir("/mnt/sys", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/kernel", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/kernel/random", 0700), 0);
	write_id(boot_id, len);
}

START_TEST(init_is_the_real_system)
{
	struct ctx ctx;
	char id[CTX_BOOT_ID_LEN + 1] = "";
	struct err e = { 0 };
	struct timespec ts;

	ctx_init(&ctx, "macvlan");
	ck_assert_str_eq(ctx.sysfs, "/sys");
	ck_assert_str_eq(ctx.proc, "/proc");
	ck_assert_str_eq(ctx.dev, "/dev");
	ck_assert_str_eq(ctx.run_dir, "/run/railhead");
	ck_assert_str_eq(ctx.state_dir, "/var/lib/railhead");
	ck_assert_str_eq(ctx.log.tag, "macvlan");
	ck_assert_int_eq(ctx.log.fd, STDERR_FILENO);
	ck_assert_int_eq(ctx.log.level, LOG_LEVEL_INFO);
	clock_gettime(CLOCK_REALTIME, &ts);
	int64_t now = ctx.now(ctx.clock), before = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
	ck_assert_int_ge(now, before);
	ck_assert_int_lt(now - before, INT64_C(60000000000));
	ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), 0);
	ck_assert_uint_eq(strlen(id), CTX_BOOT_ID_LEN);
	ck_assert_int_lt(ctx_boot_time(&ctx), now);
}
END_TEST

START_TEST(a_good_boot_id_is_read)
{
	struct ctx ctx = { .proc = "/mnt" };
	char id[CTX_BOOT_ID_LEN + 1] = "";
	struct err e = { .code = ERR_IO };

	make_proc(GOOD_ID "\n", 37);
	ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), 0);
	ck_assert_str_eq(id, GOOD_ID);
	write_id(GOOD_ID, 36);
	id[0] = '\0';
	ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), 0);
	ck_assert_str_eq(id, GOOD_ID);
	ck_assert_int_eq(e.code, ERR_IO); /* success does not touch it */
}
END_TEST

START_TEST(a_damaged_boot_id_is_refused)
{
	static const struct {
		const char *text;
		size_t len;
	} bad[] = {
		{ "", 0 },
		{ "x", 1 },
		{ GOOD_ID "0", 37 },
		{ GOOD_ID "\n\n", 38 },
		{ "01234567-89ab-cdef-0123-456789abcde", 35 },
		{ "01234567089ab-cdef-0123-456789abcdef", 36 },
		{ "0123456-789ab-cdef-0123-456789abcdef", 36 },
		{ "01234567-89ab-cdef-0123-456789abcdeG", 36 },
		{ "01234567-89AB-cdef-0123-456789abcdef", 36 },
		{ "0123456\0-89ab-cdef-0123-456789abcdef", 36 },
	};
	struct ctx ctx = { .proc = "/mnt" };

	make_proc("", 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char id[CTX_BOOT_ID_LEN + 1] = "left alone";
		struct err e = { 0 };

		write_id(bad[i].text, bad[i].len);
		ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), -1);
		ck_assert_int_eq(e.code, ERR_IO);
		ck_assert_str_eq(e.msg, "/mnt/sys/kernel/random/boot_id does not hold a boot id");
		ck_assert_str_eq(id, "left alone");
	}
}
END_TEST

START_TEST(an_unreadable_boot_id_is_an_error)
{
	static char path[PATH_MAX + 10];
	char id[CTX_BOOT_ID_LEN + 1] = "left alone";
	struct ctx ctx = { .proc = "/nowhere" };
	struct err e = { 0 };

	ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "/nowhere/sys/kernel/random/boot_id"));

	memset(path, 'p', sizeof(path) - 1);
	ctx.proc = path;
	ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);

	make_proc("", 0);
	ck_assert_int_eq(unlink("/mnt/sys/kernel/random/boot_id"), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/kernel/random/boot_id", 0700), 0);
	ctx.proc = "/mnt";
	ck_assert_int_eq(ctx_boot_id(&ctx, id, &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_str_eq(id, "left alone");
}
END_TEST

START_TEST(boot_time_is_now_less_uptime)
{
	int64_t now = INT64_C(1700000000) * 1000000000;
	struct ctx ctx = { .now = fixed_now, .clock = &now };
	struct timespec before, after;

	clock_gettime(CLOCK_BOOTTIME, &before);
	int64_t up = now - ctx_boot_time(&ctx);
	clock_gettime(CLOCK_BOOTTIME, &after);
	ck_assert_int_ge(up, before.tv_sec * INT64_C(1000000000) + before.tv_nsec);
	ck_assert_int_le(up, after.tv_sec * INT64_C(1000000000) + after.tv_nsec);
}
END_TEST

START_TEST(mono_is_milliseconds)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	int64_t ms = ctx_mono_ms();
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_ge(ms, before.tv_sec * 1000 + before.tv_nsec / 1000000);
	ck_assert_int_le(ms, after.tv_sec * 1000 + after.tv_nsec / 1000000);
}
END_TEST

TEST_PROGRAM("ctx", init_is_the_real_system, a_good_boot_id_is_read, a_damaged_boot_id_is_refused,
	     an_unreadable_boot_id_is_an_error, boot_time_is_now_less_uptime, mono_is_milliseconds)
