/* SPDX-License-Identifier: Apache-2.0 */
/* How many VFs a PF has, and what they are like when they come. What fails or is killed half-way is
 * in manager_half_test.c, the rest in manager_repair_test.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/net/addr.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "sriov/admin/manager_priv.h"
#include "sriov/testing/manager.h"

static void claim(const struct claimant *who, uint32_t n)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_msg(claim_vf(who, testhost_vf(n), &place, &e) == 0, "%s", e.msg);
}

/* ---- MACs ---- */

START_TEST(macs_follow_from_the_mac_of_the_pf_and_the_index)
{
	const uint8_t pf[] = { 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc };
	const uint8_t other_maker[] = { 0x0c, 0x42, 0xa1, 0xaa, 0xbb, 0xcc };
	uint8_t a[MAC_LEN], b[MAC_LEN];

	manager_mac(pf, 0, a);
	ck_assert_uint_eq(a[0] & 3, 2); /* local, of one station */
	ck_assert_mem_eq(a + 1, "\0\0\xaa\xbb\xcc", 5);
	manager_mac(pf, 0x1234, b);
	ck_assert_mem_eq(b + 1, "\x12\x34\xaa\xbb\xcc", 5);
	ck_assert_uint_eq(a[0], b[0]);
	manager_mac(other_maker, 0, b);
	ck_assert_mem_ne(a, b, MAC_LEN);
}
END_TEST

START_TEST(each_gets_its_mac_and_a_baseline)
{
	auto_testhost struct testhost w = manager_testhost(3, "0\n");
	const struct vf_order_result made = created(&w, 3);
	uint8_t pf[MAC_LEN], want[MAC_LEN];
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert(made.changed);
	ck_assert_uint_eq(made.before, 0);
	num_is("3");
	ck_assert(autoprobe() && !progress.autoprobe);
	pf_mac(&w, pf);
	for (uint32_t n = 0; n < 3; n++) {
		const char name[] = { 'v', (char)('0' + n), '\0' };
		auto_vf_entry struct vf_entry x = testhost_entry(&w, n);

		manager_mac(pf, n, want);
		ck_assert_mem_eq(w.kernel->vf[n].is.mac, want, MAC_LEN);
		ck_assert(!x.owned && !x.to_restore);
		ck_assert_mem_eq(x.base.pf_side.mac, want, MAC_LEN);
		ck_assert_str_eq(x.base.name, name);
		ck_assert_mem_eq(x.base.addr.byte, want, MAC_LEN);
		ck_assert_int_eq(nl_link_by_name(w.nl, name, &link, &e), 0);
		ck_assert_mem_eq(link.addr.byte, want, MAC_LEN);
	}
	ck_assert_ptr_nonnull(strstr(progress.text, "pf0 (" TESTHOST_PF "): making 3 VFs"));
	ck_assert_ptr_nonnull(strstr(progress.text, "driver igbvf, interface v2"));
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	uint8_t macs[2][MAC_LEN] = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 } };
	struct pf_state b = { .pf = "0000:3b:00.0",
			      .pf_mac = { 2 },
			      .mac = macs,
			      .n = 2,
			      .making = true,
			      .autoprobe = true,
			      .boot = "01234567-89ab-cdef-0123-456789abcdef" };
	auto_free char *text = pf_state_print(&b);

	ck_assert_str_eq(
		text, "{\n\t\"version\": 1,\n\t\"pf\": \"0000:3b:00.0\",\n"
		      "\t\"pfMac\": \"02:00:00:00:00:00\",\n\t\"macs\": [\n"
		      "\t\t\"02:00:00:00:00:01\",\n\t\t\"02:00:00:00:00:02\"\n\t],\n"
		      "\t\"making\": {\n\t\t\"boot\": \"01234567-89ab-cdef-0123-456789abcdef\",\n"
		      "\t\t\"autoprobe\": true\n\t}\n}");
	b.n = 0;
	b.making = false;
	auto_free char *least = pf_state_print(&b);
	ck_assert_str_eq(least, "{\n\t\"version\": 1,\n\t\"pf\": \"0000:3b:00.0\",\n"
				"\t\"pfMac\": \"02:00:00:00:00:00\",\n\t\"macs\": []\n}");
}
END_TEST

START_TEST(macs_are_remembered)
{
	auto_testhost struct testhost w = manager_testhost(2, "0\n");
	const uint8_t mine[] = { 2, 0, 0, 0, 0, 0x42 };
	uint8_t pf[MAC_LEN], want[MAC_LEN];
	char mac[MAC_STR_LEN], text[256];

	pf_mac(&w, pf);
	created(&w, 1);
	(void)snprintf(text, sizeof(text),
		       "{\"version\":1,\"pf\":\"" TESTHOST_PF "\",\"pfMac\":\"%s\","
		       "\"macs\":[\"02:00:00:00:00:42\"]}",
		       mac_format(pf, mac));
	pf_state(text);
	created(&w, 0);
	num_is("0");
	created(&w, 2);
	ck_assert_mem_eq(w.kernel->vf[0].is.mac, mine, MAC_LEN);
	manager_mac(pf, 1, want); /* one more than it had */
	ck_assert_mem_eq(w.kernel->vf[1].is.mac, want, MAC_LEN);
}
END_TEST

START_TEST(another_card_in_the_slot_has_other_macs)
{
	auto_testhost struct testhost w = manager_testhost(1, "0\n");
	uint8_t pf[MAC_LEN], want[MAC_LEN];

	pf_mac(&w, pf);
	manager_mac(pf, 0, want);
	pf_state("{\"version\":1,\"pf\":\"" TESTHOST_PF "\",\"pfMac\":\"02:99:99:99:99:99\","
		 "\"macs\":[\"02:00:00:00:00:42\"]}");
	created(&w, 1);
	ck_assert_mem_eq(w.kernel->vf[0].is.mac, want, MAC_LEN);
}
END_TEST

START_TEST(a_damaged_pf_state_is_started_anew)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"version\":2,\"pf\":\"" TESTHOST_PF "\",\"macs\":[]}",
		"{\"version\":1,\"pf\":\"0000:99:00.0\",\"macs\":[]}",
		"{\"version\":1,\"pf\":\"" TESTHOST_PF "\"}",
		"{\"version\":1,\"pf\":\"" TESTHOST_PF "\",\"macs\":[\"x\"]}",
		"{\"version\":1,\"pf\":\"" TESTHOST_PF "\",\"macs\":[7]}",
		"{\"version\":1,\"pf\":\"" TESTHOST_PF
		"\",\"macs\":[],\"making\":{\"boot\":\"x\"}}",
	};
	auto_testhost struct testhost w = manager_testhost(1, "0\n");

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		pf_state(texts[i]);
		created(&w, 1);
		ck_assert_msg(testhost_log_has("starting a new one"), "%s", texts[i]);
		created(&w, 0);
		ck_assert_int_eq(truncate(TESTHOST_LOG, 0), 0);
	}
}
END_TEST

START_TEST(a_driver_that_sets_no_macs_is_survived)
{
	auto_testhost struct testhost w = manager_testhost(2, "0\n");

	w.kernel->refuses[VF_MAC] = EOPNOTSUPP;
	created(&w, 2);
	ck_assert_ptr_nonnull(strstr(progress.text, "its driver cannot set MACs"));
	num_is("2");
}
END_TEST

/* ---- how many ---- */

START_TEST(the_present_number_changes_nothing)
{
	auto_testhost struct testhost w = manager_testhost(3, "2\n");
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);

	claim(&who, 0);
	w.kernel->requests = 0;
	const struct vf_order_result made = created(&w, 2);
	ck_assert(!made.changed);
	ck_assert_uint_eq(made.before, 2);
	ck_assert_uint_eq(w.kernel->requests, 0);
	ck_assert_str_eq(progress.text, "");
	ck_assert_int_eq(access(PF_STATE, F_OK), -1);
}
END_TEST

START_TEST(other_functions_and_too_many_vfs_are_refused)
{
	auto_testhost struct testhost w = manager_testhost(3, "0\n");
	struct err e = refused(&w, &(struct vf_order){ .pf = "v0", .count = 1 });

	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 15 });
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "count 15"));
	ck_assert_ptr_nonnull(strstr(e.msg, "supports 14"));
	num_is("0");
}
END_TEST

START_TEST(vfs_in_use_are_not_removed)
{
	auto_testhost struct testhost w = manager_testhost(4, "4\n");
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct vf_order o = { .pf = "pf0", .count = 2 };
	struct err e;

	claim(&who, 1);
	e = refused(&w, &o);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "container c1 (network net-a, net1)"));
	ck_assert_ptr_nonnull(strstr(e.msg, "1 of 4"));
	ck_assert_ptr_nonnull(strstr(e.detail, "--force"));
	testhost_shows(2, NULL);
	e = refused(&w, &o);
	ck_assert_ptr_nonnull(strstr(e.msg, "2 of 4"));
	testhost_shows(2, "v2");
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	testhost_shows(0, NULL);
	e = refused(&w, &o);
	ck_assert_ptr_nonnull(strstr(e.msg, "is bound to vfio-pci"));
	num_is("4");
	ck_assert(autoprobe());

	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "igbvf"); /* as a new one has it */
	testhost_shows(0, "v0");
	o.force = true;
	ck_assert_int_eq(create(&w, &o, &(struct vf_order_result){ .pf = "" }, &e), 0);
	num_is("2");
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 1);
	ck_assert(x.owned); /* its DEL will find out */
}
END_TEST

START_TEST(a_dead_owner_does_not_hinder)
{
	auto_testhost struct testhost w = manager_testhost(2, "2\n");
	struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);

	claim(&who, 1);
	pod_clear(&p);
	created(&w, 0);
	auto_vf_entry struct vf_entry x = { 0 };
	struct err e = { .msg = "" };
	ck_assert_int_eq(vf_state_read(&w.ctx, testhost_vf(1), &x, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
}
END_TEST

START_TEST(the_lock_of_a_plugin_is_respected)
{
	auto_testhost struct testhost w = manager_testhost(2, "2\n");
	struct err e = { .msg = "" };
	auto_fd int lock = vf_state_lock(&w.ctx, testhost_vf(1), 0, &e);

	ck_assert_int_ge(lock, 0);
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .force = true });
	ck_assert_int_eq(e.code, ERR_AGAIN);
	num_is("2");
	auto_fd int pf = vf_state_lock(&w.ctx, TESTHOST_PF, 0, &e);
	ck_assert_int_ge(pf, 0);
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 3 });
	ck_assert_int_eq(e.code, ERR_AGAIN);
}
END_TEST

static void default_route(const struct testhost *w, const char *dev)
{
	struct route_spec r = { .ifindex = net_ifindex(w->nl, dev), .scope = -1 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(ip_parse_prefix("0.0.0.0/0", &r.dst), 0);
	ck_assert_msg(nl_route_add(w->nl, &r, &e) == 0, "%s", e.msg);
}

START_TEST(the_default_route_is_not_cut)
{
	auto_testhost struct testhost w = manager_testhost(2, "0\n");
	struct vf_order o = { .pf = "pf0", .count = 2 };
	struct err e;

	default_route(&w, "pf0");
	e = refused(&w, &o);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.msg, "goes through pf0"));
	ck_assert_ptr_nonnull(strstr(e.detail, "--force"));
	num_is("0");
	o.force = true;
	ck_assert_int_eq(create(&w, &o, &(struct vf_order_result){ .pf = "" }, &e), 0);
	num_is("2");
}
END_TEST

/* A VLAN on a bond on the PF. */
START_TEST(the_default_route_over_a_vlan_of_the_pf_is_kept)
{
	auto_testhost struct testhost w = manager_testhost(1, "0\n");
	struct err e;

	net_link("bridge", "bond0.5");
	net_up(w.nl, "bond0.5");
	default_route(&w, "bond0.5");
	created(&w, 1);
	created(&w, 0);
	ck_assert_int_eq(mkdir(TESTHOST_SYS "/class/net/bond0.5", 0700), 0);
	testing_file(TESTHOST_SYS "/class/net/bond0.5/lower_bond0", 0600, "");
	created(&w, 1);
	created(&w, 0);
	ck_assert_int_eq(mkdir(TESTHOST_SYS "/class/net/bond0", 0700), 0);
	testing_file(TESTHOST_SYS "/class/net/bond0/lower_pf0", 0600, "");
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 1 });
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.msg, "bond0.5, which is on PF"));
}
END_TEST

TEST_PROGRAM("manager", the_text_stays_the_same, macs_follow_from_the_mac_of_the_pf_and_the_index,
	     each_gets_its_mac_and_a_baseline, macs_are_remembered,
	     another_card_in_the_slot_has_other_macs, a_damaged_pf_state_is_started_anew,
	     a_driver_that_sets_no_macs_is_survived, the_present_number_changes_nothing,
	     other_functions_and_too_many_vfs_are_refused, vfs_in_use_are_not_removed,
	     a_dead_owner_does_not_hinder, the_lock_of_a_plugin_is_respected,
	     the_default_route_is_not_cut, the_default_route_over_a_vlan_of_the_pf_is_kept)
