/* SPDX-License-Identifier: Apache-2.0 */
/* manager_guid_test.c: the GUIDs of new InfiniBand VFs: given, counted up, or derived. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "sriov/testing/manager.h"

static struct guid guid(const char *text)
{
	struct guid g;

	ck_assert_int_eq(guid_parse(text, &g), 0);
	return g;
}

static void is(struct guid g, const char *want)
{
	char text[GUID_STR_LEN];

	ck_assert_str_eq(guid_format(g, text), want);
}

START_TEST(GUIDs_follow_from_the_GUID_of_the_PF_and_the_index)
{
	struct guid a = manager_guid(guid("50:6b:4b:03:00:c1:a2:b3"), 0);
	struct guid b = manager_guid(guid("50:6b:4b:03:00:c1:a2:b3"), 0x1234);
	struct guid other = manager_guid(guid("0c:42:a1:03:00:c1:a2:b3"), 0);

	ck_assert_uint_eq(a.byte[0] & 3, 2);
	ck_assert_mem_eq(a.byte + 1, "\0\0\x03\x00\xc1\xa2\xb3", 7);
	ck_assert_mem_eq(b.byte + 1, "\x12\x34\x03\x00\xc1\xa2\xb3", 7);
	ck_assert_uint_eq(a.byte[0], b.byte[0]);
	ck_assert(guid_is_usable(a) && !guid_equal(a, other));
}
END_TEST

START_TEST(a_source_gives_each_VF_its_GUID)
{
	const struct guid list[] = { guid("02:00:00:00:00:00:00:07"),
				     guid("02:00:00:00:00:00:00:05") };
	const struct guid pf = guid("50:6b:4b:03:00:c1:a2:b3");
	struct guid_source s = { .list = list, .n = 2 };

	is(guid_source_at(&s, pf, 1), "02:00:00:00:00:00:00:05");
	/* More VFs than the list has come back when a change failed. */
	ck_assert(guid_equal(guid_source_at(&s, pf, 2), manager_guid(pf, 2)));
	s = (struct guid_source){ .first = guid("02:00:00:00:00:00:00:ff") };
	is(guid_source_at(&s, pf, 0), "02:00:00:00:00:00:00:ff");
	is(guid_source_at(&s, pf, 1), "02:00:00:00:00:00:01:00");
	s = (struct guid_source){ .n = 0 };
	ck_assert(guid_equal(guid_source_at(&s, pf, 1), manager_guid(pf, 1)));
}
END_TEST

static void wrong(const struct guid_source *s, uint32_t count, const char *says)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(guid_source_check(s, count, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, says) != NULL, "%s", e.msg);
}

START_TEST(sources_that_do_not_suffice_are_refused)
{
	const struct guid list[] = { guid("02:00:00:00:00:00:00:07"),
				     guid("02:00:00:00:00:00:00:05") };
	const struct guid same[] = { list[0], list[1], list[0] };
	const struct guid none[] = { list[0], GUID_ALL_ONE };
	struct err e = { .msg = "" };

	ck_assert_int_eq(guid_source_check(&(struct guid_source){ list, 2, GUID_ZERO }, 2, &e), 0);
	ck_assert_int_eq(guid_source_check(&(struct guid_source){ list, 2, GUID_ZERO }, 0, &e), 0);
	ck_assert_int_eq(guid_source_check(&(struct guid_source){ .n = 0 }, 8, &e), 0);
	wrong(&(struct guid_source){ list, 2, GUID_ZERO }, 3, "guids: there are 2 for 3 VFs");
	wrong(&(struct guid_source){ list, 2, list[0] }, 2, "exclude each other");
	wrong(&(struct guid_source){ same, 3, GUID_ZERO }, 3, "00:07 is there twice");
	wrong(&(struct guid_source){ none, 2, GUID_ZERO }, 2, "no port can have ff:");
	wrong(&(struct guid_source){ .first = guid("ff:ff:ff:ff:ff:ff:ff:f0") }, 16,
	      "there are no 16 GUIDs from ff:");
	ck_assert_int_eq(
		guid_source_check(&(struct guid_source){ .first = guid("ff:ff:ff:ff:ff:ff:ff:f0") },
				  14, &e),
		0);
}
END_TEST

/* pf0 is of InfiniBand: it is one more entry of the kernel that the test has. */
static struct testhost ib_host(uint32_t vfs)
{
	struct testhost w = manager_testhost(vfs, "0\n");

	for (uint32_t n = 0; n < vfs; n++)
		w.kernel->vf[n].is.has = VF_LINK_STATE | VF_GUIDS;
	w.kernel->n = vfs + 1;
	w.kernel->ipoib = w.kernel->guids = true;
	w.kernel->vf[vfs].port = guid("50:6b:4b:03:00:c1:a2:b3");
	fakepf_link(vfs, TESTHOST_PF, net_ifindex(w.nl, "pf0"), net_ifindex(w.nl, "w-pf0"));
	return w;
}

static void has_guid(const struct testhost *w, uint32_t n, struct guid want)
{
	ck_assert(guid_equal(w->kernel->vf[n].is.node_guid, want));
	ck_assert(guid_equal(w->kernel->vf[n].is.port_guid, want));
}

START_TEST(each_VF_of_InfiniBand_gets_a_GUID_before_its_driver)
{
	auto_testhost struct testhost w = ib_host(2);

	created(&w, 2);
	ck_assert(autoprobe() && !progress.autoprobe);
	for (uint32_t n = 0; n < 2; n++) {
		auto_vf_entry struct vf_entry x = testhost_entry(&w, n);

		has_guid(&w, n, manager_guid(guid("50:6b:4b:03:00:c1:a2:b3"), n));
		ck_assert(guid_equal(x.base.pf_side.port_guid, w.kernel->vf[n].is.port_guid));
	}
	ck_assert_ptr_nonnull(strstr(progress.text, ": GUID "));
	ck_assert_ptr_null(strstr(progress.text, "MAC"));
}
END_TEST

START_TEST(given_GUIDs_are_used)
{
	const struct guid list[] = { guid("02:00:00:00:00:00:00:07"),
				     guid("02:00:00:00:00:00:00:05") };
	auto_testhost struct testhost w = ib_host(2);
	struct vf_order o = { .pf = "pf0", .count = 2, .guids = { .list = list, .n = 2 } };
	struct vf_order_result made;
	struct err e = { .msg = "" };

	ck_assert_msg(create(&w, &o, &made, &e) == 0, "%s", e.msg);
	has_guid(&w, 0, list[0]);
	has_guid(&w, 1, list[1]);
	created(&w, 0);
	o.guids = (struct guid_source){ .first = list[1] };
	ck_assert_msg(create(&w, &o, &made, &e) == 0, "%s", e.msg);
	has_guid(&w, 1, guid("02:00:00:00:00:00:00:06"));
	o.guids = (struct guid_source){ .list = list, .n = 1 };
	o.count = 2;
	created(&w, 0);
	ck_assert_ptr_nonnull(strstr(refused(&w, &o).msg, "there are 1 for 2 VFs"));
	num_is("0");
}
END_TEST

START_TEST(a_driver_that_sets_no_GUIDs_is_reported)
{
	auto_testhost struct testhost w = ib_host(1);

	w.kernel->refuses[VF_NODE_GUID] = EOPNOTSUPP;
	created(&w, 1);
	ck_assert_ptr_nonnull(strstr(progress.text, "cannot set GUIDs of VFs"));
}
END_TEST

START_TEST(GUIDs_for_Ethernet_are_refused)
{
	auto_testhost struct testhost w = manager_testhost(1, "0\n");
	struct vf_order o = { .pf = "pf0",
			      .count = 1,
			      .guids.first = guid("02:00:00:00:00:00:00:07") };

	ck_assert_ptr_nonnull(strstr(refused(&w, &o).msg, "is not of InfiniBand"));
	num_is("0");
}
END_TEST

TEST_PROGRAM("manager_guid", GUIDs_follow_from_the_GUID_of_the_PF_and_the_index,
	     a_source_gives_each_VF_its_GUID, sources_that_do_not_suffice_are_refused,
	     each_VF_of_InfiniBand_gets_a_GUID_before_its_driver, given_GUIDs_are_used,
	     a_driver_that_sets_no_GUIDs_is_reported, GUIDs_for_Ethernet_are_refused)
