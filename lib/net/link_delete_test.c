/* SPDX-License-Identifier: Apache-2.0 */
/* link_delete_test.c: shows on a real kernel that several interfaces go in one request, and only
 * they.
 */
#include <errno.h>

#include "lib/net/link.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static bool is_there(struct nl *nl, const char *name)
{
	struct link_info link;
	struct err e;

	return nl_link_by_name(nl, name, &link, &e) == 0;
}

START_TEST(several_go_and_others_stay)
{
	struct err e = { .msg = "" };
	int gone[4];

	net_enter_new();
	auto_nl struct nl *nl = net_socket();
	net_link("bridge", "stays");
	net_link("bridge", "a");
	net_link("bridge", "b");
	net_link("bridge", "c");
	gone[0] = net_ifindex(nl, "a");
	gone[1] = net_ifindex(nl, "b");
	gone[2] = 4711; /* not there */
	gone[3] = net_ifindex(nl, "c");
	ck_assert_msg(nl_link_delete_all(nl, gone, 4, &e) == 0, "%s", e.msg);
	ck_assert(!is_there(nl, "a") && !is_there(nl, "b") && !is_there(nl, "c"));
	ck_assert(is_there(nl, "stays"));
	/* All gone, none, and one. */
	ck_assert_int_eq(nl_link_delete_all(nl, gone, 4, &e), 0);
	ck_assert_int_eq(nl_link_delete_all(nl, gone, 0, &e), 0);
	gone[0] = net_ifindex(nl, "stays");
	ck_assert_int_eq(nl_link_delete_all(nl, gone, 1, &e), 0);
	ck_assert(!is_there(nl, "stays"));
}
END_TEST

/* lo cannot be deleted: the group is refused as a whole, and each is tried by itself. */
START_TEST(one_that_cannot_go)
{
	struct err e = { .msg = "" };
	int some[3];

	net_enter_new();
	auto_nl struct nl *nl = net_socket();
	net_link("bridge", "a");
	net_link("bridge", "b");
	some[0] = net_ifindex(nl, "a");
	some[1] = 1;
	some[2] = net_ifindex(nl, "b");
	ck_assert_int_eq(nl_link_delete_all(nl, some, 3, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert(!is_there(nl, "a") && !is_there(nl, "b") && is_there(nl, "lo"));
}
END_TEST

TEST_PROGRAM("nl_link_delete", several_go_and_others_stay, one_that_cannot_go)
