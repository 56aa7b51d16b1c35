/* SPDX-License-Identifier: Apache-2.0 */
/* vfs_test.c: which VFs claims can have, and which a claim gets, on a host with two PFs. */
#include "railheadd/claims/vfs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "plugins/testing/ib.h"
#include "sriov/testing/vf.h"

#define OTHER_PF "0000:5e:00.0"

static struct err e;

/* Rail 2 is pf0 with three VFs, and rail 5 is pf1 with two. */
static struct testhost begin(void)
{
	static const struct testhost_pf other = { OTHER_PF, "pf1", 2, 10 };
	struct testhost w = testhost(3);

	testhost_pf(&other);
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":2,\"interface\":\"pf0\"},"
		     "{\"rail\":5,\"interface\":\"pf1\"}]}");
	return w;
}

/* The VFs that claims can have: "RAIL-INDEX " each. */
static const char *offered(const struct testhost *w)
{
	static char text[256];
	auto_slices_facts struct slices_facts f = { .n = 2 };
	size_t len = 0;

	(void)snprintf(f.rail[0].pci, PCI_STR_LEN, TESTHOST_PF);
	(void)snprintf(f.rail[1].pci, PCI_STR_LEN, OTHER_PF);
	ck_assert_msg(vfs_read(&w->ctx, &f, &e) == 0, "%s", e.msg);
	text[0] = '\0';
	for (size_t i = 0; i < f.n_vfs; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%zu-%u ", f.vf[i].rail,
					f.vf[i].index);
	return text;
}

/* The claim cu of the device; its network is in *text. */
static int give(const struct testhost *w, const char *device, char text[512])
{
	static const struct agent_conf_groups none = { .n = 0 };
	struct claim c = { .device = { { .request = "r",
					 .device = device,
					 .share = "",
					 .part = claim_part(device, &none) } },
			   .n = 1 };
	auto_free char *printed = NULL;
	int rc;

	(void)snprintf(c.prepared.claim.uid, sizeof(c.prepared.claim.uid), "cu");
	ck_assert_int_eq(json_parse("[{}]", 4, "x", &c.prepared.networks, &e), 0);
	rc = vfs_give(&w->ctx, &c, &e);
	printed = json_print(c.prepared.networks, false);
	(void)snprintf(text, 512, "%s", printed);
	prepared_clear(&c.prepared);
	return rc;
}

static void is_refused(const struct testhost *w, const char *device, enum err_code code,
		       const char *words)
{
	char text[512];

	ck_assert_int_eq(give(w, device, text), -1);
	ck_assert_msg(strstr(e.msg, words), "%s", e.msg);
	ck_assert_msg(strncmp(e.msg, "request r, device ", 18) == 0, "%s", e.msg);
	ck_assert_int_eq(e.code, code);
}

static void claim_it(const struct testhost *w, const char *network, const char *container,
		     const struct pod *p, uint32_t vf)
{
	struct claimant who = claimant_of(w, container, p);
	struct vf_place place;

	who.key.network = network;
	ck_assert_msg(claim_vf(&who, testhost_vf(vf), &place, &e) == 0, "%s", e.msg);
}

START_TEST(free_vfs_of_all_rails)
{
	auto_testhost struct testhost w = begin();
	char text[512];

	ck_assert_str_eq(offered(&w), "0-0 0-1 0-2 1-0 1-1 ");
	ck_assert_msg(give(&w, "rail2-vf1", text) == 0, "%s", e.msg);
	ck_assert_str_eq(text, "[{\"deviceIDs\":[\"0000:3b:02.2\"]}]");
	ck_assert_msg(give(&w, "set1", text) == 0, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(text, "0000:3b:02.2\",\"0000:5e:"));
	is_refused(&w, "set2", ERR_NOTFOUND, "rail 5, VF 2: ");
	is_refused(&w, "rail2-vf3", ERR_NOTFOUND, "rail 2, VF 3: ");
	/* The CDI file has the words for it. */
	ck_assert_int_eq(give(&w, "rail3-vf0", text), 0);
	ck_assert_str_eq(text, "[{\"deviceIDs\":[]}]");
	ck_assert_int_eq(give(&w, "rail2", text), 0);
	ck_assert_str_eq(text, "[{}]");
}
END_TEST

/* The scheduler knows about those in pods by claims. */
START_TEST(vfs_in_pods)
{
	auto_testhost struct testhost w = begin();
	auto_pod struct pod p = pod();
	char text[512];

	claim_it(&w, CLAIM_NETWORK, "cu", &p, 0);
	claim_it(&w, "multus", "someone", &p, 1);
	ck_assert_str_eq(offered(&w), "0-0 0-2 1-0 1-1 ");
	ck_assert_int_eq(give(&w, "rail2-vf0", text), 0);
	is_refused(&w, "rail2-vf1", ERR_BUSY, "belongs to container someone (network multus, net1");
	claim_it(&w, CLAIM_NETWORK, "another", &p, 2);
	ck_assert_str_eq(offered(&w), "0-0 0-2 1-0 1-1 ");
	is_refused(&w, "rail2-vf2", ERR_BUSY, "belongs to container another");
}
END_TEST

START_TEST(vfs_that_the_host_uses)
{
	auto_testhost struct testhost w = begin();

	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	fakepci_driver(TESTHOST_SYS, testhost_vf(1), NULL);
	testhost_shows(0, NULL);
	testhost_shows(1, NULL);
	testhost_shows(2, NULL);
	ck_assert_str_eq(offered(&w), "1-0 1-1 ");
	is_refused(&w, "rail2-vf0", ERR_STATE, "has the driver vfio-pci, and so no network");
	is_refused(&w, "rail2-vf1", ERR_STATE, "has no driver");
	is_refused(&w, "rail2-vf2", ERR_BUSY, "has no network interface on this host");
}
END_TEST

START_TEST(a_set_while_a_card_is_away)
{
	auto_testhost struct testhost w = begin();
	char text[512];

	testing_file("/mnt/etc/rails.json", 0644,
		     "{\"rails\":[{\"rail\":2,\"interface\":\"pf0\"},"
		     "{\"rail\":5,\"pci\":\"0000:77:00.0\"}]}");
	is_refused(&w, "set0", ERR_NOTFOUND,
		   "rail 5: its card 0000:77:00.0 has no interface on this node now");
	ck_assert_int_eq(give(&w, "rail2-vf0", text), 0);
}
END_TEST

/* Else a pod that starts would write the slices again. */
START_TEST(the_rdma_device_of_a_vf_in_a_pod)
{
	auto_testhost struct testhost w = begin();
	auto_vf_entry struct vf_entry x = { .vf = "" };
	auto_pod struct pod p = pod();
	auto_slices_facts struct slices_facts f = { .n = 1 };

	claim_it(&w, CLAIM_NETWORK, "cu", &p, 0);
	ck_assert_msg(vf_state_read(&w.ctx, testhost_vf(0), &x, &e) == 0, "%s", e.msg);
	x.owner.rdma = (struct vf_rdma){ 7, "mlx5_7", "uverbs7 231:199" };
	ck_assert_msg(vf_state_write(&w.ctx, &x, &e) == 0, "%s", e.msg);
	(void)snprintf(f.rail[0].pci, PCI_STR_LEN, TESTHOST_PF);
	ck_assert_msg(vfs_read(&w.ctx, &f, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(f.vf[0].hca, "mlx5_7");
	ck_assert_str_eq(f.vf[1].hca, "");
}
END_TEST

static int give_ib(const struct testib *t, const char *network, const char *device)
{
	static const struct agent_conf_groups none = { .n = 0 };
	struct claim c = { .device = { { .request = "r",
					 .device = device,
					 .share = "",
					 .part = claim_part(device, &none) } },
			   .n = 1 };
	int rc;

	ck_assert_int_eq(json_parse(network, strlen(network), "x", &c.prepared.networks, &e), 0);
	rc = vfs_give(&t->w.ctx, &c, &e);
	prepared_clear(&c.prepared);
	return rc;
}

START_TEST(a_vf_of_InfiniBand_without_a_GUID)
{
	auto_testib struct testib t = testib(2, RDMA_SHARED, false);

	ck_assert_int_eq(mkdir(TESTIB_ETC, 0755), 0);
	testing_file(TESTIB_ETC "/rails.json", 0644,
		     "{\"rails\":[{\"rail\":2,\"interface\":\"pf0\"}]}");
	testib_no_guid(&t, 1);
	ck_assert_msg(give_ib(&t, "[{\"kind\":\"ib-sriov\"}]", "rail2-vf0") == 0, "%s", e.msg);
	ck_assert_int_eq(give_ib(&t, "[{\"kind\":\"ib-sriov\"}]", "set1"), -1);
	ck_assert_msg(strstr(e.msg, "rail 2, VF 1: VF 0000:3b:02.2 has no usable GUID: 00:00:"),
		      "%s", e.msg);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_msg(give_ib(&t, "[{\"kind\":\"ib-sriov\",\"guidFrom\":\"pod\"}]", "rail2-vf1") ==
			      0,
		      "%s", e.msg);
}
END_TEST

START_TEST(a_vf_whose_rdma_device_shall_move)
{
	auto_testib struct testib t = testib(2, RDMA_EXCLUSIVE, true);
	static const char moves[] = "[{\"kind\":\"sriov\",\"rdma\":\"exclusive\"}]";

	ck_assert_int_eq(mkdir(TESTIB_ETC, 0755), 0);
	testing_file(TESTIB_ETC "/rails.json", 0644,
		     "{\"rails\":[{\"rail\":2,\"interface\":\"pf0\"}]}");
	ck_assert_msg(give_ib(&t, "[{\"kind\":\"sriov\"}]", "rail2-vf0") == 0, "%s", e.msg);
	ck_assert_int_eq(give_ib(&t, moves, "rail2-vf0"), -1);
	ck_assert_msg(strstr(e.msg,
			     "rail 2, VF 0: network.rdma: \"exclusive\", but VF 0000:3b:02.0 "
			     "has no RDMA device"),
		      "%s", e.msg);
	fakepci_file(TESTHOST_SYS, "0000:3b:02.0", "infiniband_verbs/uverbs1/dev", "231:193\n");
	ck_assert_msg(give_ib(&t, moves, "rail2-vf0") == 0, "%s", e.msg);
}
END_TEST

TEST_PROGRAM("vfs", the_rdma_device_of_a_vf_in_a_pod, a_vf_whose_rdma_device_shall_move,
	     a_vf_of_InfiniBand_without_a_GUID, free_vfs_of_all_rails, vfs_in_pods,
	     vfs_that_the_host_uses, a_set_while_a_card_is_away)
