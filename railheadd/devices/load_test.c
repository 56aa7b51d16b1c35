/* SPDX-License-Identifier: Apache-2.0 */
/* load_test.c: which files of resources.d are read, and which are refused. */
#include <errno.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/resources.h"
#include "sriov/testing/vf.h"

#define CONF "/mnt/conf"

static void put_conf(const char *name, const char *text)
{
	char path[128];

	ck_assert(mkdir(CONF, 0700) == 0 || errno == EEXIST);
	(void)snprintf(path, sizeof(path), CONF "/%s", name);
	testing_file(path, 0600, text);
}

static struct resource_set *load(const struct testhost *w)
{
	struct resource_set *s = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(resources_load(&w->ctx, CONF, &s, &e) == 0, "%s", e.msg);
	return s;
}

static void refused(const struct testhost *w, enum err_code code, const char *words)
{
	struct resource_set *s = NULL;
	struct err e = { .msg = "" };

	ck_assert_int_eq(resources_load(&w->ctx, CONF, &s, &e), -1);
	ck_assert_ptr_null(s);
	ck_assert_msg(strstr(e.msg, words), "%s", e.msg);
	ck_assert_msg(e.code == code, "%s: %d", e.msg, (int)e.code);
}

#define ONE(name) "{\"resources\":[{\"name\":\"" name "\",\"select\":{\"pf\":\"pf0\"}}]}"

START_TEST(files_are_read_in_the_order_of_their_names)
{
	auto_testhost struct testhost w = testhost(1);
	struct resource_set *none = load(&w);

	ck_assert_uint_eq(resource_count(none), 0);
	ck_assert_uint_eq(resources_interval(none), 30);
	resource_set_free(none);
	put_conf("20.json", ONE("b.c/second"));
	put_conf("10.json", ONE("b.c/first"));
	put_conf(".hidden.json", "{");
	put_conf("README", "{");
	put_conf(".json", "{");
	auto_resource_set struct resource_set *s = load(&w);
	ck_assert_uint_eq(resource_count(s), 2);
	ck_assert_str_eq(resource_name(s, 0), "b.c/first");
	ck_assert_str_eq(resource_name(s, 1), "b.c/second");
}
END_TEST

START_TEST(the_usual_folder_is_below_etc)
{
	auto_testhost struct testhost w = testhost(1);
	struct err e = { .msg = "" };
	struct resource_set *s = NULL;

	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/etc/" RESOURCES_DIR, 0700), 0);
	testing_file("/mnt/etc/" RESOURCES_DIR "/a.json", 0600, ONE("b.c/d"));
	ck_assert_msg(resources_load(&w.ctx, NULL, &s, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(resource_count(s), 1);
	resource_set_free(s);
	w.ctx.etc_dir = NULL;
	ck_assert_int_eq(resources_load(&w.ctx, NULL, &s, &e), 0);
	ck_assert_uint_eq(resource_count(s), 0);
	resource_set_free(s);
}
END_TEST

START_TEST(one_bad_file_fails_the_whole)
{
	auto_testhost struct testhost w = testhost(1);

	put_conf("10.json", ONE("b.c/first"));
	put_conf("20.json", "{");
	refused(&w, ERR_DECODE, "/mnt/conf/20.json: ");
	put_conf("20.json", ONE("b.c/first"));
	refused(&w, ERR_CONFIG, "there is a resource \"b.c/first\" already");
	ck_assert_int_eq(unlink(CONF "/20.json"), 0);
	ck_assert_int_eq(symlink("nowhere", CONF "/20.json"), 0);
	refused(&w, ERR_IO, "20.json");
}
END_TEST

START_TEST(a_file_that_others_may_write_is_refused)
{
	auto_testhost struct testhost w = testhost(1);

	put_conf("10.json", ONE("b.c/first"));
	ck_assert_int_eq(chmod(CONF "/10.json", 0666), 0);
	refused(&w, ERR_FORBIDDEN, "10.json");
	ck_assert_int_eq(chmod(CONF "/10.json", 0600), 0);
	ck_assert_int_eq(chmod(CONF, 0777), 0);
	refused(&w, ERR_FORBIDDEN, "10.json");
}
END_TEST

START_TEST(the_links_of_a_config_map_are_followed)
{
	auto_testhost struct testhost w = testhost(1);

	ck_assert_int_eq(mkdir(CONF, 0700), 0);
	ck_assert_int_eq(mkdir(CONF "/..2026", 0755), 0);
	testing_file(CONF "/..2026/config.json", 0644, ONE("b.c/first"));
	ck_assert_int_eq(symlink("..2026", CONF "/..data"), 0);
	ck_assert_int_eq(symlink("..data/config.json", CONF "/config.json"), 0);
	auto_resource_set struct resource_set *s = load(&w);
	ck_assert_uint_eq(resource_count(s), 1);
}
END_TEST

/* As in the shipped DaemonSet: /etc/railhead of the node is mounted read-only. */
static void mount_conf(mode_t mode)
{
	ck_assert(mkdir(CONF, 0755) == 0 || errno == EEXIST);
	ck_assert_int_eq(mount("none", CONF, "tmpfs", 0, NULL), 0);
	ck_assert_int_eq(chmod(CONF, mode), 0);
}

static void make_read_only(void)
{
	ck_assert_int_eq(mount(NULL, CONF, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
}

START_TEST(a_folder_that_is_only_mounted_read_only_is_checked)
{
	auto_testhost struct testhost w = testhost(1);

	mount_conf(0775);
	put_conf("10.json", ONE("b.c/first"));
	make_read_only();
	refused(&w, ERR_FORBIDDEN, "10.json");
}
END_TEST

static void put_config_map(const char *folder, mode_t mode)
{
	char path[128];

	(void)snprintf(path, sizeof(path), CONF "/%s", folder);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), CONF "/%s/config.json", folder);
	testing_file(path, 0644, ONE("b.c/first"));
	(void)snprintf(path, sizeof(path), CONF "/%s", folder);
	ck_assert_int_eq(chmod(path, mode), 0);
	ck_assert_int_eq(symlink(folder, CONF "/..data"), 0);
	ck_assert_int_eq(symlink("..data/config.json", CONF "/config.json"), 0);
}

START_TEST(the_folder_of_a_config_map_may_have_any_mode)
{
	auto_testhost struct testhost w = testhost(1);

	mount_conf(0777);
	put_config_map("..2026", 0755);
	refused(&w, ERR_FORBIDDEN, "config.json");
	make_read_only();
	auto_resource_set struct resource_set *s = load(&w);
	ck_assert_uint_eq(resource_count(s), 1);
	/* But the folder above it, and that in it, belong to root alone. */
	ck_assert_int_eq(chmod("/mnt", 0777), 0);
	refused(&w, ERR_FORBIDDEN, "config.json");
	ck_assert_int_eq(chmod("/mnt", 0755), 0);
	ck_assert_int_eq(umount(CONF), 0);
	mount_conf(0777);
	put_config_map("..2026", 0775);
	make_read_only();
	refused(&w, ERR_FORBIDDEN, "config.json");
	ck_assert_int_eq(umount(CONF), 0);
	mount_conf(0777);
	put_config_map("plain", 0755);
	make_read_only();
	refused(&w, ERR_FORBIDDEN, "config.json");
}
END_TEST

TEST_PROGRAM("load", files_are_read_in_the_order_of_their_names, the_usual_folder_is_below_etc,
	     one_bad_file_fails_the_whole, a_file_that_others_may_write_is_refused,
	     the_links_of_a_config_map_are_followed,
	     a_folder_that_is_only_mounted_read_only_is_checked,
	     the_folder_of_a_config_map_may_have_any_mode)
