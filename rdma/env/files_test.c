/* SPDX-License-Identifier: Apache-2.0 */
/* files_test.c: the files of a pod: their text, their modes, and a pod without a rail. */
#include "rdma/env/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/hca.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "rdma/testing/envs.h"
#include "rdma/testing/pod.h"

static const char *const names[] = { "nccl.conf", "ucx.conf", "env", "rails.json", "explain.txt" };

/* The file's text, which has the mode 0644. */
static char *text_in(const char *dir, const char *name)
{
	char path[256], *text = NULL;
	struct stat st;
	struct err e = { .msg = "" };

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_msg(fs_read_at(AT_FDCWD, path, 65536, &text, &e) >= 0, "%s", e.msg);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode, S_IFREG | 0644);
	return text;
}

static void has(const char *dir, const char *name, const char *part)
{
	auto_free char *text = text_in(dir, name);

	ck_assert_msg(strstr(text, part), "%s has no \"%s\":\n%s", name, part, text);
}

static void is(const char *dir, const char *name, const char *whole)
{
	auto_free char *text = text_in(dir, name);

	ck_assert_str_eq(text, whole);
}

static void is_like(const char *dir, const char *name)
{
	char path[64];
	auto_free char *whole = NULL;
	struct err e = { .msg = "" };

	(void)snprintf(path, sizeof(path), "rdma/env/testdata/%s", name);
	ck_assert_msg(fs_read_at(AT_FDCWD, path, 65536, &whole, &e) >= 0, "%s", e.msg);
	is(dir, name, whole);
}

static struct env one_rail(void)
{
	static const struct env_options o = ENV_OPTIONS_INIT;
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	return envs_made(&v, &o);
}

START_TEST(each_reader_gets_its_file)
{
	const char *dir = testing_dir();
	auto_env struct env x = one_rail();
	struct err e = { .msg = "" };

	(void)umask(0022);
	for (int i = 0; i < 2; i++) /* again: they are replaced */
		ck_assert_msg(pod_files_put(&x, dir, &e) == 0, "%s", e.msg);
	/* conformance/rdma/settings.sh shows that NCCL and UCX read these texts. */
	is_like(dir, "nccl.conf");
	is_like(dir, "ucx.conf");
	has(dir, "env", "export GLOO_SOCKET_IFNAME='eth0'\n");
	has(dir, "rails.json", "\"rails\": 1");
	has(dir, "explain.txt", "# not set: ");
}
END_TEST

START_TEST(a_folder_that_is_missing_or_too_long)
{
	auto_env struct env x = one_rail();
	char longer[5000];
	struct err e = { .msg = "" };

	ck_assert_int_eq(pod_files_put(&x, "/mnt/nothing", &e), -1);
	ck_assert(e.code == ERR_IO && strstr(e.msg, "folder /mnt/nothing: "));
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_int_eq(pod_files_put(&x, longer, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
}
END_TEST

/* What the earlier rails left in the files goes, too. */
START_TEST(a_pod_without_a_rail_gets_the_reason)
{
	char dir[64], old[80];
	struct stat st;
	struct ctx ctx;
	struct err e = { .msg = "" };

	ctx_init(&ctx, "test");
	ctx.run_dir = "/mnt";
	(void)snprintf(dir, sizeof(dir), "%s/pod", testing_dir());
	net_enter_new();
	(void)fakehca(RDMA_SHARED);
	(void)umask(0077);
	ck_assert_msg(pod_files_write(&ctx, "/proc/self/ns/net", dir, &e) == 0, "%s", e.msg);
	ck_assert(stat(dir, &st) == 0 && st.st_mode == (S_IFDIR | 0755));
	(void)snprintf(old, sizeof(old), "%s/nccl.conf", dir);
	ck_assert_int_eq(truncate(old, 5), 0);
	ck_assert_msg(pod_files_write(&ctx, "/proc/self/ns/net", dir, &e) == 0, "%s", e.msg);
	for (size_t i = 0; i < 3; i++)
		is(dir, names[i], "");
	has(dir, "rails.json", "\"rails\": 0");
	has(dir, "explain.txt",
	    "# left out: there is no rail: no RDMA device is visible in this network namespace\n");
}
END_TEST

START_TEST(an_error_of_the_child_is_passed_on)
{
	struct ctx ctx;
	struct err e = { .msg = "" };

	ctx_init(&ctx, "test");
	ctx.run_dir = "/mnt";
	(void)testing_dir();
	net_enter_new();
	(void)fakehca(RDMA_SHARED);
	ck_assert_int_eq(pod_files_write(&ctx, "/proc/self/ns/nothing", "/mnt/pod", &e), -1);
	ck_assert(e.code == ERR_NETNS && e.errnum == ENOENT);
	ck_assert_msg(strncmp(e.msg, "files of the pod: network namespace /proc/self/ns/nothing",
			      57) == 0,
		      "%s", e.msg);
	ck_assert_int_ne(access("/mnt/pod", F_OK), 0);
	ck_assert_int_eq(pod_files_write(&ctx, "/proc/self/ns/net", "/mnt/no/pod", &e), -1);
	ck_assert(e.code == ERR_IO && e.errnum == ENOENT);
}
END_TEST

static int put(void *arg, struct err *e)
{
	return pod_files_put(arg, "/mnt", e);
}

START_TEST(memory_that_is_out)
{
	auto_env struct env x = one_rail();

	(void)testing_dir();
	ck_assert_str_eq(alloc_fail_each(put, &x), "ok");
}
END_TEST

TEST_PROGRAM("rdma/env/files", each_reader_gets_its_file, a_folder_that_is_missing_or_too_long,
	     a_pod_without_a_rail_gets_the_reason, an_error_of_the_child_is_passed_on,
	     memory_that_is_out)
