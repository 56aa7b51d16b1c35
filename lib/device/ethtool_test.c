/* SPDX-License-Identifier: Apache-2.0 */
/* ethtool_test.c: shows which parts of the settings differ, and an interface that is missing. */
#include "lib/device/ethtool.h"

#include <errno.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static void is_not_refused(const char *what, const struct err *e, void *arg)
{
	(void)arg;
	ck_abort_msg("%s: %s", what, e->msg);
}

static void ignore(const char *what, const struct err *e, void *arg)
{
	(void)what;
	(void)arg;
	ck_assert_str_ne(e->msg, "");
}

static struct ethtool_state tool(void)
{
	struct ethtool_state s;
	struct err e = { .msg = "" };

	ck_assert_msg(ethtool_get("v0", &s, &e) == 0, "%s", e.msg);
	return s;
}

/* Each that this kernel lets us change. */
START_TEST(each_feature)
{
	net_enter_new();
	net_veth("v0", "peer0", NULL);
	const struct ethtool_state was = tool();
	unsigned turned = 0;

	ck_assert_uint_ge(was.blocks, 2);
	ck_assert_uint_lt(was.blocks, ETHTOOL_BLOCKS + 1);
	for (unsigned bit = 0; bit < was.blocks * 32; bit++) {
		struct ethtool_state other = was;
		if (!(was.can[bit / 32] & 1u << bit % 32))
			continue;
		other.wanted[bit / 32] ^= 1u << bit % 32;
		ethtool_set("v0", &(struct ethtool_set){ &was, &other, ignore, NULL });
		const struct ethtool_state is = tool();
		turned += ethtool_changed_part(&is, &was, 0) != NULL;
		ethtool_set("v0", &(struct ethtool_set){ &is, &was, is_not_refused, NULL });
		const struct ethtool_state now = tool();
		ck_assert_ptr_null(ethtool_changed_part(&now, &was, 0));
	}
	ck_assert_uint_ge(turned, 8);
}
END_TEST

START_TEST(differences_of_parts)
{
	struct ethtool_state a = { .has = { [ETHTOOL_RINGS] = true, [ETHTOOL_PAUSE] = true } }, b;

	b = a;
	a.part[ETHTOOL_RINGS][0] = 1; /* the request's own number */
	ck_assert_ptr_null(ethtool_changed_part(&a, &b, 0));
	a.part[ETHTOOL_RINGS][20] = 1;
	a.part[ETHTOOL_PAUSE][8] = 1;
	ck_assert_str_eq(ethtool_changed_part(&a, &b, 0), "rings");
	ck_assert_str_eq(ethtool_changed_part(&a, &b, 1), "pause");
	b.has[ETHTOOL_RINGS] = false;
	ck_assert_str_eq(ethtool_changed_part(&a, &b, 0), "pause");
}
END_TEST

START_TEST(an_interface_that_is_not_there)
{
	struct ethtool_state s = { .blocks = 77 };
	struct err e = { .msg = "" };

	net_enter_new();
	ck_assert_int_eq(ethtool_get("nosuch0", &s, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_uint_eq(s.blocks, 77);
}
END_TEST

START_TEST(a_driver_without_pause_storms)
{
	struct err e = { .msg = "" };
	uint16_t ms = 77;

	net_enter_new();
	net_veth("v0", "peer0", NULL);
	ck_assert_int_eq(ethtool_get_storm("v0", &ms, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_uint_eq(ms, 77);
	ck_assert_int_eq(ethtool_set_storm("v0", 100, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_int_eq(ethtool_get_storm("nothere", &ms, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "interface nothere"));
}
END_TEST

START_TEST(rings_that_a_driver_does_not_have)
{
	struct ethtool_rings r;
	struct err e;

	net_enter_new();
	net_veth("v0", "peer0", NULL);
	ck_assert_int_eq(ethtool_get_rings("v0", &r, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == EOPNOTSUPP);
	ck_assert_int_eq(ethtool_set_rings("v0", 1, 1, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == EOPNOTSUPP);
	ck_assert_int_eq(ethtool_get_rings("none", &r, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "rings of interface none"));
}
END_TEST

TEST_PROGRAM("lib/device/ethtool", a_driver_without_pause_storms, each_feature,
	     differences_of_parts, an_interface_that_is_not_there,
	     rings_that_a_driver_does_not_have)
