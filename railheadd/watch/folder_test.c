/* SPDX-License-Identifier: Apache-2.0 */
/* folder_test.c: files come and go, and so does the folder. */
#include "railheadd/watch/folder.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define DIR "/mnt/d"

static struct event_base *base;
static struct folder_watch *watch;
static unsigned changes;

static void changed(void *arg)
{
	(void)arg;
	changes++;
}

static bool has_changed(const void *arg)
{
	(void)arg;
	return changes > 0;
}

static void begin(void)
{
	struct err e;

	base = loop_new();
	changes = 0;
	const struct folder_watch_conf conf = { base, DIR, changed, NULL };
	ck_assert_int_eq(folder_watch_new(&conf, &watch, &e), 0);
}

static void end(void)
{
	folder_watch_free(watch);
	loop_free(base);
}

static void expect_change(void)
{
	loop_until(base, has_changed, NULL);
	changes = 0;
}

START_TEST(files_come_and_go)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir(DIR, 0755), 0);
	begin();
	ck_assert(!folder_watch_renew(watch));
	testing_file(DIR "/a", 0600, "");
	expect_change();
	ck_assert_int_eq(rename(DIR "/a", "/mnt/a"), 0);
	expect_change();
	ck_assert_int_eq(rename("/mnt/a", DIR "/b"), 0);
	expect_change();
	ck_assert_int_eq(unlink(DIR "/b"), 0);
	expect_change();
	loop_turn(base);
	ck_assert_uint_eq(changes, 0);
	end();
}
END_TEST

START_TEST(a_folder_that_comes_later)
{
	(void)testing_dir();
	begin();
	ck_assert(!folder_watch_renew(watch));
	ck_assert_int_eq(mkdir(DIR, 0755), 0);
	ck_assert(folder_watch_renew(watch));
	testing_file(DIR "/a", 0600, "");
	expect_change();
	end();
}
END_TEST

START_TEST(a_folder_that_is_made_anew)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir(DIR, 0755), 0);
	begin();
	ck_assert_int_eq(rename(DIR, "/mnt/old"), 0);
	ck_assert_int_eq(mkdir(DIR, 0755), 0);
	expect_change();
	while (folder_watch_renew(watch)) {
	}
	loop_turn(base);
	changes = 0;
	testing_file(DIR "/a", 0600, "");
	expect_change();
	ck_assert_int_eq(unlink(DIR "/a"), 0);
	ck_assert_int_eq(rmdir(DIR), 0);
	expect_change();
	end();
	folder_watch_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/watch/folder", files_come_and_go, a_folder_that_comes_later,
	     a_folder_that_is_made_anew)
