// SPDX-License-Identifier: Apache-2.0
/* demand_lost_test.c: what people read about members that a bond lost; a bridge stands for the
 * bond. */
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

static const struct hw_addr card = { 6, { 2, 0, 0, 0, 0, 7 } }, other = { 6, { 2, 0, 0, 0, 0, 8 } };

static struct link_info link_of(int ifindex, int upper, struct hw_addr perm)
{
	struct link_info x = { .ifindex = ifindex, .upper_ifindex = upper, .perm_addr = perm };

	(void)snprintf(x.name, sizeof(x.name), "eth7");
	return x;
}

START_TEST(which_members_are_lost)
{
	const struct demand_lower was = { .name = "eth7", .ifindex = 7, .perm = card };
	const struct {
		struct link_info numbered, named; /* ifindex 0: none */
		const char *why;                  /* NULL: it is a member */
	} rows[] = {
		{ link_of(7, 30, card), link_of(7, 30, card), NULL },
		{ link_of(7, 0, card), link_of(7, 0, card), "left" },
		{ link_of(7, 31, card), link_of(7, 31, card), "left" },
		{ { .ifindex = 0 }, { .ifindex = 0 }, "away" },
		{ link_of(7, 30, other), { .ifindex = 0 }, "away" },
		{ { .ifindex = 0 }, link_of(12, 0, card), "came-back" },
		{ link_of(7, 0, other), link_of(12, 31, card), "came-back" },
		{ { .ifindex = 0 }, link_of(12, 0, other), "unproved" },
		{ { .ifindex = 0 }, link_of(12, 30, card), NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct link_info *numbered =
			rows[i].numbered.ifindex ? &rows[i].numbered : NULL;
		const struct link_info *named = rows[i].named.ifindex ? &rows[i].named : NULL;
		enum demand_lost_why why;
		const bool lost = demand_is_lost(&was, 30, numbered, named, &why);

		ck_assert_msg(lost == (rows[i].why != NULL), "row %zu", i);
		ck_assert_msg(!lost || strcmp(demand_lost_name(why), rows[i].why) == 0,
			      "row %zu: %s", i, demand_lost_name(why));
	}
}
END_TEST

START_TEST(each_says_what_to_do)
{
	struct demand_lost x = { .bond = "bond0", .member = "eth7", .ifindex = 12 };
	char text[DEMAND_LOST_LEN];

	x.why = DEMAND_AWAY;
	ck_assert_ptr_nonnull(strstr(demand_lost_text(&x, text), "when it is back"));
	x.why = DEMAND_CAME_BACK;
	ck_assert_ptr_nonnull(strstr(demand_lost_text(&x, text), "uses it, `railctl att"));
	x.why = DEMAND_LEFT;
	ck_assert_ptr_nonnull(
		strstr(demand_lost_text(&x, text), "`ip link set dev eth7 master bond0`"));
	x.why = DEMAND_UNPROVED;
	ck_assert_ptr_nonnull(
		strstr(demand_lost_text(&x, text), "nothing proves that the interface"));
}
END_TEST

/* ---- files ---- */

static struct ctx make_ctx(void)
{
	static char run[80];

	net_enter_new();
	(void)snprintf(run, sizeof(run), "%s/run", testing_dir());
	return (struct ctx){ .proc = "/proc", .run_dir = run, .log = { .fd = -1, .tag = "test" } };
}

static void put(const struct ctx *ctx, struct nl *nl, struct demand_link link, const char *boot)
{
	auto_demand_store struct demand_store store = DEMAND_CLOSED;
	auto_demand_state struct demand_state s = { .link = link, .users = json_new_array() };
	auto_netns struct netns here = net_self();
	struct err e;

	s.netns = here.id;
	s.link.ifindex = net_ifindex(nl, link.name);
	for (size_t i = 0; i < s.link.n; i++) {
		struct link_info x;

		ck_assert_int_eq(nl_link_by_name(nl, link.lower[i].name, &x, &e), 0);
		demand_describe_lower(&x, &s.link.lower[i]);
	}
	ck_assert_int_eq(ctx_boot_id(ctx, s.boot, &e), 0);
	if (boot)
		(void)snprintf(s.boot, sizeof(s.boot), "%s", boot);
	ck_assert_int_eq(demand_open(ctx, true, &store, &e), 1);
	ck_assert_int_eq(demand_write(store.dir, &s, &e), 0);
}

/* "MASTER BOND MEMBER WHY" of each, a line each. */
static const char *lost(const struct ctx *ctx)
{
	static char shown[512];
	auto_demand_losses struct demand_losses all = { .n = 0 };
	char line[128];
	struct err e;

	*shown = '\0';
	ck_assert_msg(demand_find_lost(ctx, &all, &e) == 0, "%s", e.msg);
	for (size_t i = 0; i < all.n; i++) {
		const struct demand_lost *x = &all.item[i];

		(void)snprintf(line, sizeof(line), "%s %s %s %s\n", x->master, x->bond, x->member,
			       demand_lost_name(x->why));
		testing_append(shown, sizeof(shown), line);
	}
	return shown;
}

static void set_upper(struct nl *nl, const char *member, const char *bond)
{
	struct err e;

	ck_assert_int_eq(nl_link_set_master(nl, net_ifindex(nl, member),
					    bond ? net_ifindex(nl, bond) : 0, &e),
			 0);
}

static const struct demand_link bond = {
	.kind = DEMAND_BOND,
	.name = "bond7",
	.mtu = 1500,
	.lower = { { .name = "a0" }, { .name = "b0" } },
	.n = 2,
};
static const struct demand_link vlan = {
	.kind = DEMAND_VLAN,
	.name = "bond7.5",
	.mtu = 1500,
	.lower = { { .name = "bond7" } },
	.n = 1,
};

START_TEST(bonds_and_their_VLANs)
{
	const struct ctx ctx = make_ctx();
	auto_nl struct nl *nl = net_socket();
	struct err e;

	ck_assert_str_eq(lost(&ctx), "");
	net_link("bridge", "bond7");
	net_link("bridge", "bond7.5");
	net_veth("a0", "a1", NULL);
	net_veth("b0", "b1", NULL);
	set_upper(nl, "a0", "bond7");
	set_upper(nl, "b0", "bond7");
	put(&ctx, nl, bond, NULL);
	put(&ctx, nl, vlan, NULL);
	ck_assert_str_eq(lost(&ctx), "");
	set_upper(nl, "b0", NULL);
	ck_assert_str_eq(lost(&ctx), "bond7 bond7 b0 left\nbond7.5 bond7 b0 left\n");
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, "b0"), &e), 0);
	ck_assert_str_eq(lost(&ctx), "bond7 bond7 b0 away\nbond7.5 bond7 b0 away\n");
	/* the numbers of another boot say nothing, and a bond that is gone misses none */
	put(&ctx, nl, (struct demand_link){ .kind = DEMAND_BOND, .name = "bond7", .mtu = 1500 },
	    "01234567-89ab-cdef-0123-456789abcdef");
	ck_assert_str_eq(lost(&ctx), "");
}
END_TEST

START_TEST(a_bond_that_is_gone_misses_nobody)
{
	const struct ctx ctx = make_ctx();
	auto_nl struct nl *nl = net_socket();
	struct err e;

	net_link("bridge", "bond7");
	net_veth("a0", "a1", NULL);
	net_veth("b0", "b1", NULL);
	put(&ctx, nl, bond, NULL);
	ck_assert_str_eq(lost(&ctx), "bond7 bond7 a0 left\nbond7 bond7 b0 left\n");
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, "bond7"), &e), 0);
	ck_assert_str_eq(lost(&ctx), "");
}
END_TEST

TEST_PROGRAM("cni/uplink/demand_lost", which_members_are_lost, each_says_what_to_do,
	     bonds_and_their_VLANs, a_bond_that_is_gone_misses_nobody)
