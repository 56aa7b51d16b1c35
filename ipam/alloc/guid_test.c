/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guid_test.c: pools of GUIDs: which GUIDs they have, whose the leases are, and that the leases of
 * an interface's addresses are apart from them.
 */
#include "cni/protocol/delegate.h"
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define GUIDS "{\"guidPool\":\"guids\"}"
#define RAIL  "{\"pool\":\"rail0\"}"
#define POOL  "{\"subnet\":\"fe80::200:0:0:0/126\"}"

/* lease: the variable; NULL: none. */
static const char *add_as(struct fixture *w, const char *lease, const char *ipam, const char *id)
{
	ck_assert_int_eq(lease ? setenv(DELEGATE_LEASE, lease, 1) : unsetenv(DELEGATE_LEASE), 0);
	const char *text = w_add(w, ipam, id, "IP=10.0.0.1");
	ck_assert_int_eq(unsetenv(DELEGATE_LEASE), 0);
	return text;
}

/* The address that the pod asks for has no meaning for its GUID. */
static const char *add_guid(struct fixture *w, const char *id)
{
	return add_as(w, DELEGATE_LEASE_GUID, GUIDS, id);
}

static void open_pools(struct fixture *w)
{
	fixture_open(w);
	ck_assert_int_eq(w_pool(w, "guids", POOL, false), 0);
	ck_assert_int_eq(w_pool(w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
}

static int del_as(struct fixture *w, const char *id, const char *ifname)
{
	const struct owner o = { "net", id, ifname, "", "", "" };

	return alloc_del(&w->m, &o, NULL, &w->e);
}

static size_t n_leases(struct fixture *w)
{
	auto_json struct json *list = NULL;

	ck_assert_int_eq(admin_leases(&w->m, &(struct lease_filter){ .pool = NULL }, &list, &w->e),
			 0);
	return json_len(list);
}

/* No GUID of a pool is a network or an anycast address, but zero and all ones are no GUIDs. */
START_TEST(each_guid_of_the_range_is_assigned)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_pools(&w);
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:0");
	ck_assert_str_eq(add_guid(&w, "c2"), "fe80::200:0:0:1");
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:0"); /* again */
	ck_assert_str_eq(add_as(&w, "guid=02:00:00:00:00:00:00:03", GUIDS, "c3"),
			 "fe80::200:0:0:3");
	ck_assert_int_eq(strncmp(add_as(&w, "guid=0200:0000:0000:0003", GUIDS, "c4"), "!103", 4),
			 0);
	ck_assert_str_eq(add_as(&w, "guid=0200", GUIDS, "c4"),
			 "!4 RAILHEAD_LEASE: \"0200\" is not a GUID");
	ck_assert_str_eq(add_guid(&w, "c4"), "fe80::200:0:0:2");
	ck_assert_int_eq(strncmp(add_guid(&w, "c5"), "!101", 4), 0);
	w_sound(&w);
	ck_assert_int_eq(w_pool(&w, "low", "{\"subnet\":\"fe80::/127\"}", false), 0);
	ck_assert_str_eq(add_as(&w, "guid", "{\"guidPool\":\"low\"}", "c6"), "fe80::1");
	ck_assert_int_eq(
		w_pool(&w, "high", "{\"subnet\":\"fe80::ffff:ffff:ffff:fffe/127\"}", false), 0);
	ck_assert_str_eq(add_as(&w, "guid", "{\"guidPool\":\"high\"}", "c7"),
			 "fe80::ffff:ffff:ffff:fffe");
	ck_assert_int_eq(strncmp(add_as(&w, "guid", "{\"guidPool\":\"high\"}", "c8"), "!101", 4),
			 0);
}
END_TEST

START_TEST(an_interface_has_addresses_and_a_guid)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_pools(&w);
	ck_assert_str_eq(w_add(&w, RAIL, "c1", ""), "10.0.0.1");
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:0");
	w_sound(&w);
	ck_assert_uint_eq(n_leases(&w), 2);
	ck_assert_int_eq(del_as(&w, "c1", "net1"), 0);
	ck_assert_uint_eq(n_leases(&w), 1);
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:0");
	ck_assert_int_eq(del_as(&w, "c1", "net1" OWNER_GUID), 0);
	ck_assert_uint_eq(n_leases(&w), 0);
	w_sound(&w);
}
END_TEST

START_TEST(a_pool_has_guids_or_addresses)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_pools(&w);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"guids\"}", "c1", ""),
			 "!7 pool guids has GUIDs of InfiniBand, not IP addresses");
	ck_assert_ptr_nonnull(strstr(w.e.detail, "ipam.guidPool"));
	ck_assert_str_eq(add_as(&w, "guid", "{\"guidPool\":\"rail0\"}", "c1"),
			 "!7 pool rail0 has IP addresses, not GUIDs");
	ck_assert_ptr_nonnull(strstr(w.e.detail, "--guids"));
	ck_assert_str_eq(add_as(&w, "guid", RAIL, "c1"),
			 "!7 ipam.guidPool: missing; it has the GUIDs");
	ck_assert_uint_eq(n_leases(&w), 0);
	ck_assert_int_eq(
		w_pool(&w, "bad",
		       "{\"subnet\":\"fe80::300:0:0:0/112\",\"gateway\":\"fe80::300:0:0:1\"}",
		       false),
		ERR_CONFIG);
	ck_assert_ptr_nonnull(
		strstr(w.e.msg, "gateway: fe80::300:0:0:0/112 is a network of GUIDs"));
	ck_assert_int_eq(w_pool(&w, "bad",
				"{\"subnet\":\"fe80::300:0:0:0/112\","
				"\"routes\":[{\"dst\":\"::/0\"}]}",
				false),
			 ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "routes: "));
}
END_TEST

/* The plugin gives both back with one DEL: undo, DEL, GC and repair then need nothing more. */
START_TEST(del_of_an_attachment_releases_its_guid)
{
	auto_fixture struct fixture w = { .now = 0 };
	const struct owner c1 = { "net", "c1", "net1", "", "", "" };
	struct alloc_del del = { .owner = &c1 };

	open_pools(&w);
	ck_assert_str_eq(w_add(&w, RAIL, "c1", ""), "10.0.0.1");
	ck_assert_str_ne(add_guid(&w, "c1"), "");
	ck_assert_str_ne(add_guid(&w, "c2"), "");
	ck_assert_int_eq(alloc_del_conflict(&w.m, &del, NULL, &w.e), 0);
	ck_assert_uint_eq(n_leases(&w), 2);
	del.guid_too = true;
	ck_assert_int_eq(alloc_del_conflict(&w.m, &del, NULL, &w.e), 0);
	ck_assert_uint_eq(n_leases(&w), 1);
	ck_assert_int_eq(alloc_del_conflict(&w.m, &del, NULL, &w.e), 0);
	ck_assert_uint_eq(n_leases(&w), 1);
	w_sound(&w);
}
END_TEST

static bool keep_c1(const char *container, const char *ifname, const void *arg)
{
	(void)arg;
	ck_assert_str_eq(ifname, "net1");
	return strcmp(container, "c1") == 0;
}

/* The runtime lists attachments, and knows nothing of their GUIDs. */
START_TEST(gc_keeps_the_guids_of_valid_attachments)
{
	const struct alloc_gc gc = { "net", keep_c1, NULL };
	auto_fixture struct fixture w = { .now = 0 };

	open_pools(&w);
	for (const char *const *id = (const char *const[]){ "c1", "c2", NULL }; *id; id++) {
		ck_assert_str_ne(w_add(&w, RAIL, *id, ""), "");
		ck_assert_str_ne(add_guid(&w, *id), "");
	}
	ck_assert_uint_eq(n_leases(&w), 4);
	ck_assert_int_eq(alloc_gc(&w.m, &gc, NULL, &w.e), 0);
	ck_assert_uint_eq(n_leases(&w), 2);
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:0");
	w_sound(&w);
}
END_TEST

/* A block that was taken from a dead node is marked; there is nobody to answer a probe. */
START_TEST(a_guid_of_a_taken_block_needs_no_probe)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(
		w_shared(&w, "guids", "u1", "{\"subnet\":\"fe80::200:0:0:0/112\",\"blockSize\":4}"),
		0);
	w_node(&w, 3, w.now + 1000 * SECOND);
	const struct block_record taken = { .key = w_block_key("guids", "fe80::200:0:0:10"),
					    .state = BLOCK_GRANTED,
					    .token = 7,
					    .epoch = 3,
					    .probe = true };
	ck_assert_int_eq(blocks_put(&w.m, &taken, &w.e), 0);
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:10");
	ck_assert_str_eq(add_guid(&w, "c1"), "fe80::200:0:0:10"); /* again */
	w_sound(&w);
}
END_TEST

TEST_PROGRAM("ipam/alloc/guid", each_guid_of_the_range_is_assigned,
	     an_interface_has_addresses_and_a_guid, a_pool_has_guids_or_addresses,
	     del_of_an_attachment_releases_its_guid, gc_keeps_the_guids_of_valid_attachments,
	     a_guid_of_a_taken_block_needs_no_probe)
