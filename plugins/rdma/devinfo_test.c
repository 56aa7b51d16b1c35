/* SPDX-License-Identifier: Apache-2.0 */
/* The device-information file: changed by ADD, put back by DEL and by an ADD that fails. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "plugins/testing/call.h"

#define FOLDER "/run/k8s.cni.cncf.io"
#define INFO   FOLDER "/devinfo/a/info"
#define KEYS   "\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"" INFO "\"}"

static void says(const char *piece)
{
	auto_free char *text = testing_printed(INFO);

	ck_assert_msg(strstr(text, piece) != NULL, "%s", text);
}

START_TEST(made_and_removed)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct stat st;
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, KEYS, &e), &e);
	says("\"pci-address\":\"0000:3b:02.0\"");
	says("\"rdma-device\":\"mlx5_0\"");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert_int_eq(stat(INFO, &st), -1);
}
END_TEST

static const char before[] = "{\"type\":\"pci\",\"version\":\"1.0.0\",\"pci\":{\"pci-address\":"
			     "\"0000:3b:02.0\"},\"more\":[1]}";

static struct testnode node_with_file(struct testpod *p, enum rdma_mode mode)
{
	struct testnode w = testnode(mode, 1);

	*p = testpod("c1");
	ck_assert(mkdir(FOLDER, 0755) == 0 && mkdir(FOLDER "/devinfo", 0755) == 0 &&
		  mkdir(FOLDER "/devinfo/a", 0755) == 0);
	testing_file(INFO, 0644, before);
	return w;
}

START_TEST(changed_and_put_back)
{
	struct testpod p;
	struct testnode w = node_with_file(&p, RDMA_EXCLUSIVE);
	struct err e = { 0 };

	testnode_give(0, &p);
	good(testnode_call(&w, CNI_ADD, &p, KEYS, &e), &e);
	says("\"rdma-device\":\"mlx5_0\"");
	says("\"more\":[1]");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	auto_free char *text = testing_printed(INFO);
	ck_assert_str_eq(text, before);
}
END_TEST

/* A shared device does not move, but the file changes: that is on record before it does. */
START_TEST(of_a_shared_device)
{
	struct testpod p;
	struct testnode w = node_with_file(&p, RDMA_SHARED);
	struct err e = { 0 };

	testnode_macvlan(&p);
	ck_assert_int_eq(testnode_call(&w, CNI_ADD, &p, "\"timeout\":1," KEYS, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_uint_eq(testnode_records(&w), 0);
	testnode_gid(&w, 5, "10.88.0.5", "RoCE v2");
	good(testnode_call(&w, CNI_ADD, &p, KEYS, &e), &e);
	says("\"rdma-device\":\"mlx5_pf\"");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	auto_free char *text = testing_printed(INFO);
	ck_assert_str_eq(text, before);
}
END_TEST

START_TEST(as_before_when_the_move_fails)
{
	struct testpod p;
	struct testnode w = node_with_file(&p, RDMA_EXCLUSIVE);
	struct err e = { 0 };

	testnode_give(0, &p);
	w.hca->refuses_move = EOPNOTSUPP;
	ck_assert_int_eq(testnode_call(&w, CNI_ADD, &p, KEYS, &e), -1);
	auto_free char *text = testing_printed(INFO);
	ck_assert_str_eq(text, before);
	ck_assert_uint_eq(testnode_records(&w), 0);
}
END_TEST

TEST_PROGRAM("plugins/rdma/devinfo", made_and_removed, changed_and_put_back, of_a_shared_device,
	     as_before_when_the_move_fails)
