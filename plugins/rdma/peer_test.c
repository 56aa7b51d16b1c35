/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices that rdma-cni moved, when this plugin has taken its place. */
#include "plugins/rdma/peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "plugins/testing/call.h"

#define FOLDER TESTNODE_CNI "/rdma"

static void good(int rc, const struct err *e)
{
	ck_assert_msg(rc == 0, "%s (%s)", e->msg, e->detail);
}

static const char *file_of(const struct testpod *p)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), FOLDER "/rails-%s-net1", p->name);
	return path;
}

/* What rdma-cni's ADD does. */
static void attached_by_peer(const struct testnode *w, const struct testpod *p)
{
	char text[256];
	struct err e = { .msg = "" };
	auto_nl struct nl *nl = NULL, *pod_nl = net_socket_in(&p->ns);

	testnode_give(0, p);
	w->hca->dev[1].ifindex = net_ifindex(pod_nl, "net1");
	w->hca->dev[1].ifin = p->ns.id;
	good(nl_rdma_open(&nl, &e), &e);
	good(nl_rdma_move(nl, w->hca->dev[1].link.index, &p->ns, NULL, &e), &e);
	ck_assert(testnode_in(w, 0, p));
	ck_assert(mkdir(TESTNODE_CNI, 0700) == 0 || errno == EEXIST);
	ck_assert(mkdir(FOLDER, 0700) == 0 || errno == EEXIST);
	(void)snprintf(text, sizeof(text),
		       "{\"version\":\"1.0\",\"deviceID\":\"%s\",\"sandboxRdmaDevName\":\"mlx5_0\","
		       "\"containerRdmaDevName\":\"mlx5_0\"}",
		       testnode_vf(0));
	testing_file(file_of(p), 0600, text);
}

static void is_on_host(const struct testnode *w, const struct testpod *p)
{
	struct stat st;

	ck_assert(testnode_host(w, 0, "mlx5_0"));
	ck_assert_int_eq(stat(file_of(p), &st), -1);
}

START_TEST(our_DEL_returns_a_device_of_rdma_cni)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { .msg = "" };

	attached_by_peer(&w, &p);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	is_on_host(&w, &p);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
}
END_TEST

START_TEST(a_renamed_device_is_found)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { .msg = "" };

	attached_by_peer(&w, &p);
	(void)snprintf(w.hca->dev[1].link.name, RDMA_NAME_LEN, "mine");
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	is_on_host(&w, &p);
}
END_TEST

START_TEST(a_device_whose_pod_is_gone_is_returned)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1");
	struct err e = { .msg = "" };

	attached_by_peer(&w, &p);
	testpod_end(&p);
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	is_on_host(&w, &p);
}
END_TEST

/* The kernel brought it, another pod got it from us, and only then does DEL come. */
START_TEST(a_device_of_another_attachment_is_left_alone)
{
	struct testnode w = testnode(RDMA_EXCLUSIVE, 1);
	struct testpod p = testpod("c1"), next = testpod("c2");
	struct stat st;
	struct err e = { .msg = "" };

	attached_by_peer(&w, &p);
	auto_netns struct netns here = net_self();
	auto_nl struct nl *nl = net_socket_in(&p.ns);
	good(nl_link_move(nl, net_ifindex(nl, "net1"), &here, "v0", &e), &e);
	testpod_end(&p);
	testnode_give(0, &next);
	good(testnode_call(&w, CNI_ADD, &next, "", &e), &e);
	ck_assert(testnode_in(&w, 0, &next));
	good(testnode_call(&w, CNI_DEL, &p, "", &e), &e);
	ck_assert(testnode_in(&w, 0, &next));
	ck_assert_int_eq(stat(file_of(&p), &st), -1);
	good(testnode_call(&w, CNI_DEL, &next, "", &e), &e);
	ck_assert(testnode_host(&w, 0, "mlx5_0"));
}
END_TEST

START_TEST(files_of_rdma_cni_are_parsed)
{
	static const char *const bad[] = { "", "[]", "{}", "{\"deviceID\":\"0000:3b:02.0\"}",
					   ("{\"deviceID\":\"x\",\"sandboxRdmaDevName\":\"a\","
					    "\"containerRdmaDevName\":\"a\"}") };
	struct rdma_peer p = { .bus = "same" };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(rdma_peer_decode(bad[i], strlen(bad[i]), &p, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
		ck_assert_str_eq(p.bus, "same");
	}
}
END_TEST

TEST_PROGRAM("plugins/rdma/peer", our_DEL_returns_a_device_of_rdma_cni, a_renamed_device_is_found,
	     a_device_whose_pod_is_gone_is_returned, a_device_of_another_attachment_is_left_alone,
	     files_of_rdma_cni_are_parsed)
