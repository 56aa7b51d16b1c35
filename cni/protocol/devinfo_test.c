/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devinfo_test.c: shows the content of device-info files, and which existing files are left alone.
 */
#include "cni/protocol/devinfo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

#define FILE_AT "/mnt/a/b/info.json" /* in folders that are not there */
#define KEY     "runtimeConfig.CNIDeviceInfoFile"
#define AT      "/run/k8s.cni.cncf.io/devinfo"

static const struct devinfo_pci vf = { "0000:3b:02.5", "0000:3b:00.0", "mlx5_3" };

static char *content(const char *folder, const char *name)
{
	struct err e = { .msg = "" };
	auto_fd int dir = fs_open_dir(folder, false, &e);
	char *text = NULL;

	ck_assert_msg(dir >= 0 && fs_read_at(dir, name, 4096, &text, &e) >= 0, "%s", e.msg);
	return text;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* ---- where ---- */

static int path_of(const char *runtime, const char **out, struct json **tree, struct err *e)
{
	struct cni_conf conf = { 0 };

	ck_assert_int_eq(json_parse(runtime, strlen(runtime), "t", tree, e), 0);
	conf.runtime = *tree;
	return devinfo_path(&conf, out, e);
}

START_TEST(the_path_follows_the_specification)
{
	static const struct {
		const char *runtime, *path;
	} cases[] = {
		{ "{}", NULL },
		{ "{\"CNIDeviceInfoFile\":null}", NULL },
		{ "{\"CNIDeviceInfoFile\":\"\"}", NULL },
		{ "{\"CNIDeviceInfoFile\":\"" AT "/cni/f\"}", AT "/cni/f" },
		{ "{\"CNIDeviceInfoFile\":\"/var" AT "/x y.json\"}", "/var" AT "/x y.json" },
	};
	const struct cni_conf none = { 0 };
	const char *path = "?";
	struct err e = { .msg = "" };

	ck_assert_int_eq(devinfo_path(&none, &path, &e), 0);
	ck_assert_ptr_null(path);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json struct json *tree = NULL;

		path = "?";
		ck_assert_int_eq(path_of(cases[i].runtime, &path, &tree, &e), 0);
		ck_assert_pstr_eq(path, cases[i].path);
	}
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(without_a_path_nothing_is_written)
{
	static const char *const values[] = {
		"5",
		"[]",
		"\"info.json\"",
		"\"./info\"",
		"\"" AT "/info/\"",
		"\"" AT "\"",
		"\"" AT "/\"",
		"\"/run/nologin\"",
		"\"/run/railhead/attachments/n/c,net1\"",
		"\"/\"",
		"\"/etc/nologin\"",
		"\"/runner/f\"",
		"\"" AT "/../../nologin\"",
		"\"/var" AT "/./f\"",
		"\"" AT "//f\"",
	};
	const char *path = "?";
	char text[PATH_MAX + 64];
	struct err e;

	for (size_t i = 0; i <= ARRAY_SIZE(values); i++) {
		auto_json struct json *tree = NULL;

		if (i < ARRAY_SIZE(values))
			(void)snprintf(text, sizeof(text), "{\"CNIDeviceInfoFile\":%s}", values[i]);
		else
			(void)snprintf(text, sizeof(text),
				       "{\"CNIDeviceInfoFile\":\"" AT "/%0*d\"}", PATH_MAX - 5, 0);
		ck_assert_int_eq(path_of(text, &path, &tree, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(e.msg, KEY));
		ck_assert_str_eq(path, "?");
	}
}
END_TEST

/* ---- the file ---- */

START_TEST(a_new_file_is_written)
{
	struct err e = { .msg = "" };
	bool made = false;

	(void)testing_dir();
	ck_assert_msg(devinfo_write(FILE_AT, &vf, &made, &e) == 0, "%s", e.msg);
	auto_free char *text = content("/mnt/a/b", "info.json");
	ck_assert(made);
	ck_assert_str_eq(text,
			 "{\"type\":\"pci\",\"version\":\"1.1.0\",\"pci\":{"
			 "\"pci-address\":\"0000:3b:02.5\",\"pf-pci-address\":\"0000:3b:00.0\","
			 "\"rdma-device\":\"mlx5_3\"}}");
}
END_TEST

START_TEST(a_function_that_is_no_VF_has_no_pf_address)
{
	const struct devinfo_pci pf = { .address = "0000:3b:00.0" };
	struct err e = { .msg = "" };
	bool made = false;

	(void)testing_dir();
	ck_assert_int_eq(devinfo_write("/mnt/f", &pf, &made, &e), 0);
	auto_free char *text = content("/mnt", "f");
	ck_assert_str_eq(text, "{\"type\":\"pci\",\"version\":\"1.1.0\",\"pci\":{"
			       "\"pci-address\":\"0000:3b:00.0\"}}");
}
END_TEST

/* A device plugin knows more than we do. */
START_TEST(an_existing_file_stays)
{
	struct err e = { .msg = "" };
	bool made = true;

	(void)testing_dir();
	testing_file("/mnt/f", 0600, "{\"mine\":1}");
	ck_assert_int_eq(devinfo_write("/mnt/f", &vf, &made, &e), 0);
	auto_free char *text = content("/mnt", "f");
	ck_assert(!made);
	ck_assert_str_eq(text, "{\"mine\":1}");
	made = true;
	ck_assert_int_eq(symlink("/mnt/nowhere", "/mnt/l"), 0);
	ck_assert_int_eq(devinfo_write("/mnt/l", &vf, &made, &e), 0);
	ck_assert(!made);
	ck_assert(!exists("/mnt/nowhere"));
}
END_TEST

START_TEST(a_failed_write_is_an_error)
{
	struct err e;
	bool made;

	(void)testing_dir();
	testing_file("/mnt/file", 0600, "");
	ck_assert_int_eq(devinfo_write("/mnt/file/f", &vf, &made, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, KEY ": /mnt/file/f"));
}
END_TEST

START_TEST(our_file_is_removed)
{
	struct err e = { .msg = "" };
	bool made;

	(void)testing_dir();
	ck_assert_int_eq(devinfo_write(FILE_AT, &vf, &made, &e), 0);
	ck_assert_int_eq(devinfo_remove(FILE_AT, &e), 0);
	ck_assert(!exists(FILE_AT));
	ck_assert_int_eq(devinfo_remove(FILE_AT, &e), 0);
	ck_assert_int_eq(devinfo_remove("/mnt/not/there", &e), 0);
	ck_assert(!exists("/mnt/not"));
	testing_file("/mnt/file", 0600, "");
	ck_assert_int_eq(devinfo_remove("/mnt/file/f", &e), 0);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(a_failed_removal_is_an_error)
{
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/f", 0700), 0);
	ck_assert_int_eq(devinfo_remove("/mnt/f", &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_int_eq(symlink("loop", "/mnt/loop"), 0);
	ck_assert_int_eq(devinfo_remove("/mnt/loop/f", &e), -1);
	ck_assert_int_eq(e.errnum, ELOOP);
}
END_TEST

/* ---- the RDMA device in it ---- */

static void becomes(const char *was, const char *is)
{
	auto_free char *before = NULL, *text = NULL, *after = NULL;
	struct err e = { .msg = "" };

	if (was)
		testing_file("/mnt/f", 0600, was);
	ck_assert_int_eq(devinfo_text("/mnt/f", &before, &e), 0);
	ck_assert_pstr_eq(before, was);
	ck_assert_int_eq(devinfo_set_rdma("/mnt/f", &vf, &e), 0);
	text = content("/mnt", "f");
	ck_assert_str_eq(text, is);
	ck_assert_int_eq(devinfo_restore("/mnt/f", before, &e), 0);
	ck_assert_int_eq(devinfo_text("/mnt/f", &after, &e), 0);
	ck_assert_pstr_eq(after, was);
	ck_assert_str_eq(e.msg, "");
}

#define OTHER_KEYS "\"type\":\"pci\",\"x\":[1]"

START_TEST(the_rdma_device_is_added)
{
	(void)testing_dir();
	becomes(NULL,
		"{\"type\":\"pci\",\"version\":\"1.1.0\",\"pci\":{\"pci-address\":\"0000:3b:02.5\","
		"\"pf-pci-address\":\"0000:3b:00.0\",\"rdma-device\":\"mlx5_3\"}}");
	becomes("{" OTHER_KEYS ",\"pci\":{\"rdma-device\":\"mlx5_9\",\"y\":2}}",
		"{" OTHER_KEYS ",\"pci\":{\"y\":2,\"rdma-device\":\"mlx5_3\"}}");
	becomes("{" OTHER_KEYS ",\"pci\":{}}",
		"{" OTHER_KEYS ",\"pci\":{\"rdma-device\":\"mlx5_3\"}}");
	becomes("{ \"type\":\"pci\",\"pci\":{\"rdma-device\":\"mlx5_3\"}}",
		"{ \"type\":\"pci\",\"pci\":{\"rdma-device\":\"mlx5_3\"}}");
	becomes("{\"type\":\"vdpa\",\"vdpa\":{}}", "{\"type\":\"vdpa\",\"vdpa\":{}}");
	becomes("not JSON", "not JSON");
	becomes("{\"type\":\"pci\",\"pci\":[]}", "{\"type\":\"pci\",\"pci\":[]}");
}
END_TEST

START_TEST(what_has_gone_is_not_put_back)
{
	char *text = NULL;
	struct err e = { .msg = "" };

	(void)testing_dir();
	ck_assert_int_eq(devinfo_restore("/mnt/f", "text", &e), 0);
	ck_assert_int_eq(devinfo_restore("/mnt/no/such/folder/f", NULL, &e), 0);
	ck_assert_int_eq(devinfo_text("/mnt/no/such/folder/f", &text, &e), 0);
	ck_assert_ptr_null(text);
	ck_assert(!exists("/mnt/f") && !exists("/mnt/no"));
}
END_TEST

/* ---- a folder that is somebody else's ---- */

static void refused(const char *path, int errnum)
{
	char *text = NULL;
	struct err e;
	bool made;

	ck_assert_int_eq(devinfo_write(path, &vf, &made, &e), -1);
	ck_assert_int_eq(e.errnum, errnum);
	ck_assert_int_eq(devinfo_text(path, &text, &e), -1);
	ck_assert_int_eq(devinfo_set_rdma(path, &vf, &e), -1);
	ck_assert_int_eq(devinfo_restore(path, "x", &e), -1);
	ck_assert_int_eq(devinfo_remove(path, &e), -1);
}

START_TEST(a_hostile_folder_is_refused)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/host", 0700) | mkdir("/mnt/open", 0700) |
				 chmod("/mnt/open", 0777) | symlink("/mnt/host", "/mnt/link"),
			 0);
	testing_file("/mnt/host/passwd", 0600, "root");
	refused("/mnt/link/passwd", ELOOP);
	testing_file("/mnt/open/f", 0600, "theirs");
	refused("/mnt/open/f", EPERM);
	auto_free char *text = content("/mnt/host", "passwd");
	ck_assert_str_eq(text, "root");
}
END_TEST

/* Of what lies there only a plain file of root's with one name is read or changed. */
START_TEST(hostile_files_are_refused)
{
	static const char *const names[] = { "/mnt/link", "/mnt/fifo", "/mnt/hard", "/mnt/other" };
	struct err e;

	(void)testing_dir();
	testing_file("/mnt/victim", 0600, "{\"type\":\"pci\",\"pci\":{}}");
	testing_file("/mnt/victim2", 0600, "{\"type\":\"pci\",\"pci\":{}}");
	testing_file("/mnt/other", 0600, "{\"type\":\"pci\",\"pci\":{}}");
	ck_assert_int_eq(symlink("victim", "/mnt/link") | mkfifo("/mnt/fifo", 0600) |
				 link("/mnt/victim2", "/mnt/hard"),
			 0);
	size_t n = chown("/mnt/other", 1234, 0) ? 3 : 4;
	for (size_t i = 0; i < n; i++) {
		char *text = NULL;

		ck_assert_msg(devinfo_text(names[i], &text, &e) == -1, "%s", names[i]);
		ck_assert_int_eq((int)e.code, ERR_FORBIDDEN);
		ck_assert_int_eq(devinfo_set_rdma(names[i], &vf, &e), -1);
	}
	auto_free char *text = content("/mnt", "victim");
	ck_assert_str_eq(text, "{\"type\":\"pci\",\"pci\":{}}");
}
END_TEST

static int write_and_remove(void *arg, struct err *e)
{
	auto_free char *before = NULL;
	struct devinfo_pci renamed = vf;
	bool made;

	(void)arg;
	renamed.rdma_device = "roce0";
	return devinfo_write("/mnt/f", &vf, &made, e) || devinfo_text("/mnt/f", &before, e) ||
			       devinfo_set_rdma("/mnt/f", &renamed, e) ||
			       devinfo_restore("/mnt/f", before, e) || devinfo_remove("/mnt/f", e)
		       ? -1
		       : 0;
}

START_TEST(out_of_memory)
{
	(void)testing_dir();
	ck_assert_str_eq(alloc_fail_each(write_and_remove, NULL), "ok");
}
END_TEST

TEST_PROGRAM("cni/protocol/devinfo", the_path_follows_the_specification,
	     without_a_path_nothing_is_written, a_new_file_is_written,
	     a_function_that_is_no_VF_has_no_pf_address, an_existing_file_stays,
	     a_failed_write_is_an_error, our_file_is_removed, a_failed_removal_is_an_error,
	     the_rdma_device_is_added, what_has_gone_is_not_put_back, a_hostile_folder_is_refused,
	     hostile_files_are_refused, out_of_memory)
