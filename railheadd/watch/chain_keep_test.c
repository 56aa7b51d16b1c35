/* SPDX-License-Identifier: Apache-2.0 */
/* chain_keep_test.c: the entry comes back, an owner that does not want it wins, and a program that
 * is missing takes it out. */
#include "railheadd/watch/chain_keep.h"

#include <fcntl.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define FILE_ "/mnt/05-cilium.conflist"
#define LIST  "{\"cniVersion\":\"0.3.1\",\"plugins\":[{\"type\":\"cilium-cni\"}]}"
#define DONE                                                                                       \
	"{\"cniVersion\":\"0.3.1\",\"plugins\":[{\"type\":\"cilium-cni\"},{\"type\": "             \
	"\"railhead\"}]}"

static struct ctx ctx;

static struct chain_keep begin(void)
{
	ctx_init(&ctx, "test");
	ctx.log.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct chain_keep k = { .ctx = &ctx, .folder = testing_dir() };

	testing_file(FILE_, 0644, LIST);
	return k;
}

static void has(const char *text)
{
	auto_free char *is = NULL;
	struct err e;

	ck_assert_int_ge(fs_read_at(AT_FDCWD, FILE_, 4096, &is, &e), 0);
	ck_assert_str_eq(is, text);
}

static void status_is(const struct chain_keep *k, const char *want)
{
	auto_json struct json *o = json_new_object();

	ck_assert_int_eq(chain_keep_status(k, o), 0);
	auto_free char *text = json_print(o, false);
	ck_assert_str_eq(text, want);
}

START_TEST(a_file_that_is_written_again_is_chained_again)
{
	struct chain_keep k = begin(), off = { .ctx = &ctx };

	ck_assert_int_eq(chain_keep_look(&k, true, 5000), -1);
	has(DONE);
	status_is(&k, "{\"chain\":{\"file\":\"05-cilium.conflist\"}}");
	status_is(&off, "{}");
	testing_file(FILE_, 0644, LIST);
	ck_assert_int_eq(chain_keep_look(&k, true, 86400000), -1);
	has(DONE);
	ck_assert_int_eq(k.pause, 1000);
}
END_TEST

/* Cilium does so with cni.exclusive. */
START_TEST(an_owner_that_puts_its_text_back_at_once_is_not_fought)
{
	struct chain_keep k = begin();
	int64_t now = 5000, wait = 0;
	unsigned changes = 0;

	while (now < 24 * 3600 * INT64_C(1000)) {
		wait = chain_keep_look(&k, true, now);
		ck_assert_int_le(wait, 3600000);
		changes += wait < 0;
		testing_file(FILE_, 0644, LIST);
		now += wait < 0 ? 200 : wait;
	}
	/* Twelve pauses from a second to half an hour, then one an hour. */
	ck_assert_uint_ge(changes, 30);
	ck_assert_uint_le(changes, 36);
	/* It has given in. */
	now = k.changed + 2 * k.pause;
	ck_assert_int_eq(chain_keep_look(&k, true, now), -1);
	ck_assert_int_eq(k.pause, 1000);
}
END_TEST

START_TEST(without_its_program_the_entry_goes_at_once)
{
	struct chain_keep k = begin();

	ck_assert_int_eq(chain_keep_look(&k, true, 5000), -1);
	ck_assert_int_eq(chain_keep_look(&k, false, 5001), -1);
	has(LIST);
	ck_assert_int_gt(chain_keep_look(&k, true, 5002), 0);
	has(LIST);
	ck_assert_int_eq(chain_keep_look(&k, true, 5002 + k.pause), -1);
	has(DONE);
}
END_TEST

START_TEST(what_is_wrong_is_in_the_status)
{
	struct chain_keep k = begin();

	testing_file(FILE_, 0644, "{}");
	ck_assert_int_eq(chain_keep_look(&k, true, 5000), -1);
	ck_assert_ptr_nonnull(strstr(k.said, "05-cilium.conflist is not a list of plugins"));
	k.folder = "/mnt/nothing";
	ck_assert_int_eq(chain_keep_look(&k, true, 5000), -1);
	ck_assert_ptr_nonnull(strstr(k.said, "/mnt/nothing"));
	k.folder = "/mnt";
	testing_file(FILE_, 0644, LIST);
	ck_assert_int_eq(chain_keep_look(&k, true, 5000), -1);
	status_is(&k, "{\"chain\":{\"file\":\"05-cilium.conflist\"}}");
}
END_TEST

TEST_PROGRAM("railheadd/watch/chain_keep", a_file_that_is_written_again_is_chained_again,
	     an_owner_that_puts_its_text_back_at_once_is_not_fought,
	     without_its_program_the_entry_goes_at_once, what_is_wrong_is_in_the_status)
