/* SPDX-License-Identifier: Apache-2.0 */
/* link_kind_test.c: shows that each attribute of each kind is written, read and compared. */
#include "lib/net/link_priv.h"

#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static const struct {
	const char *name;
	union link_data data;
} known[] = {
	{ "macvlan", { .macvlan = { .mode = MACVLAN_VEPA } } },
	{ "ipvlan", { .ipvlan = { .mode = IPVLAN_L3S, .flag = IPVLAN_VEPA } } },
	{ "ipoib", { .ipoib = { .pkey = 0x8001, .mode = IPOIB_CONNECTED, .umcast = 1 } } },
	{ "vlan", { .vlan = { .id = 4094, .protocol = LINK_VLAN_8021Q } } },
	{ "bond", { .bond = { .mode = 4, .miimon = 100, .xmit_hash_policy = 1, .lacp_rate = 1 } } },
	{ "vrf", { .vrf = { .table = 1001 } } },
};

static const union link_data *known_data(const char *kind)
{
	size_t i = 0;

	while (strcmp(known[i].name, kind) != 0)
		i++;
	return &known[i].data;
}

/* "macvtap" and "ipvtap" are kinds of the kernel, too, with attributes of their neighbours. */
static const char *const unknown[] = { "", "nonesuch", "macvtap", "ipvtap", "macvlan2", "MACVLAN" };

/* A link_info as the kernel's answer would fill it in, from what link_kind_put() writes. */
static struct link_info written(const char *name, const union link_data *data)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };
	struct nlattr *info[IFLA_INFO_MAX + 1];
	struct link_info li = { .name = "net1" };

	memset(&li.data, 0xff, sizeof(li.data));
	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	link_kind_put(&rq, link_kind_find(name), data);

	struct nlattr *nest = nlmsg_find_attr(nlmsg_hdr(rq.msg), sizeof(ifi), IFLA_LINKINFO);

	ck_assert_ptr_nonnull(nest);
	ck_assert_int_eq(nla_parse_nested(info, IFLA_INFO_MAX, nest, NULL), 0);
	ck_assert_str_eq(nla_get_string(info[IFLA_INFO_KIND]), name);
	(void)nla_strlcpy(li.kind, info[IFLA_INFO_KIND], sizeof(li.kind));
	ck_assert_int_eq(link_kind_parse(link_kind_find(name), info[IFLA_INFO_DATA], &li.data), 0);
	return li;
}

START_TEST(what_is_written_is_read_and_compares_equal)
{
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct link_info li = written(known[i].name, &known[i].data);

		ck_assert_int_eq(nl_link_compare_data(&li, &known[i].data, &e), 0);
	}
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(each_attribute_is_compared)
{
	static const struct {
		const char *kind, *msg;
		union link_data is;
	} cases[] = {
		{ "macvlan",
		  "mode: macvlan net1 has 8, 2 is asked for",
		  { .macvlan = { .mode = MACVLAN_PASSTHRU } } },
		{ "ipvlan",
		  "mode: ipvlan net1 has 1, 2 is asked for",
		  { .ipvlan = { .mode = IPVLAN_L3, .flag = IPVLAN_VEPA } } },
		{ "ipvlan",
		  "flag: ipvlan net1 has 0, 2 is asked for",
		  { .ipvlan = { .mode = IPVLAN_L3S, .flag = IPVLAN_BRIDGE } } },
		{ "ipoib",
		  "pkey: ipoib net1 has 0x8002, 0x8001 is asked for",
		  { .ipoib = { .pkey = 0x8002, .mode = IPOIB_CONNECTED, .umcast = 1 } } },
		{ "ipoib",
		  "mode: ipoib net1 has 0, 1 is asked for",
		  { .ipoib = { .pkey = 0x8001, .mode = IPOIB_DATAGRAM, .umcast = 1 } } },
		{ "ipoib",
		  "umcast: ipoib net1 has 0, 1 is asked for",
		  { .ipoib = { .pkey = 0x8001, .mode = IPOIB_CONNECTED, .umcast = 0 } } },
		{ "vlan",
		  "id: vlan net1 has 120, 4094 is asked for",
		  { .vlan = { .id = 120, .protocol = LINK_VLAN_8021Q } } },
		{ "vlan",
		  "protocol: vlan net1 has 0x88a8, 0x8100 is asked for",
		  { .vlan = { .id = 4094, .protocol = 0x88a8 } } },
		{ "bond",
		  "mode: bond net1 has 1, 4 is asked for",
		  { .bond = { .mode = 1, .miimon = 100, .xmit_hash_policy = 1, .lacp_rate = 1 } } },
		{ "bond",
		  "miimon: bond net1 has 0, 100 is asked for",
		  { .bond = { .mode = 4, .miimon = 0, .xmit_hash_policy = 1, .lacp_rate = 1 } } },
		{ "bond",
		  "xmit_hash_policy: bond net1 has 0, 1 is asked for",
		  { .bond = { .mode = 4, .miimon = 100, .xmit_hash_policy = 0, .lacp_rate = 1 } } },
		{ "bond",
		  "lacp_rate: bond net1 has 0, 1 is asked for",
		  { .bond = { .mode = 4, .miimon = 100, .xmit_hash_policy = 1, .lacp_rate = 0 } } },
		{ "vrf",
		  "table: vrf net1 has 1000, 1001 is asked for",
		  { .vrf = { .table = 1000 } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct link_info li = written(cases[i].kind, &cases[i].is);
		const union link_data *want = known_data(cases[i].kind);
		struct err e = { 0 };

		ck_assert_int_eq(nl_link_compare_data(&li, want, &e), -1);
		ck_assert_int_eq(e.code, ERR_STATE);
		ck_assert_str_eq(e.msg, cases[i].msg);
	}
}
END_TEST

/* The kernel uses the longest queue of all macvlans on one device. */
START_TEST(the_queue_length_is_only_asked_for)
{
	const union link_data long_queue = { .macvlan = { MACVLAN_BRIDGE, 500 } },
			      default_queue = { .macvlan = { MACVLAN_BRIDGE, 0 } };
	struct link_info li = written("macvlan", &long_queue);
	struct err e = { 0 };

	ck_assert_uint_eq(li.data.macvlan.bcqueuelen, LINK_DATA_UNKNOWN);
	ck_assert_int_eq(nl_link_compare_data(&li, &long_queue, &e), 0);
	ck_assert_int_eq(nl_link_compare_data(&li, &default_queue, &e), 0);
}
END_TEST

START_TEST(the_tag_of_a_vlan_is_in_the_order_of_the_network)
{
	static const uint8_t bytes[] = { 0x81, 0x00 };
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };
	struct nlattr *info[IFLA_INFO_MAX + 1], *tag;

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	link_kind_put(&rq, link_kind_find("vlan"), known_data("vlan"));
	ck_assert_int_eq(
		nla_parse_nested(info, IFLA_INFO_MAX,
				 nlmsg_find_attr(nlmsg_hdr(rq.msg), sizeof(ifi), IFLA_LINKINFO),
				 NULL),
		0);
	tag = nla_find(nla_data(info[IFLA_INFO_DATA]), nla_len(info[IFLA_INFO_DATA]),
		       IFLA_VLAN_PROTOCOL);
	ck_assert_ptr_nonnull(tag);
	ck_assert_int_eq(nla_len(tag), sizeof(bytes));
	ck_assert_mem_eq(nla_data(tag), bytes, sizeof(bytes));
}
END_TEST

/* The kernel refuses lacp_rate in other modes than 802.3ad, so it must not be written. */
START_TEST(what_is_not_asked_for_is_neither_written_nor_compared)
{
	const union link_data want = { .bond = { 1, 100, LINK_DATA_UNKNOWN, LINK_DATA_UNKNOWN } },
			      is = { .bond = { 1, 100, 2, 1 } };
	struct link_info sent = written("bond", &want), li = written("bond", &is);
	struct err e = { 0 };

	ck_assert_uint_eq(sent.data.bond.xmit_hash_policy, LINK_DATA_UNKNOWN);
	ck_assert_uint_eq(sent.data.bond.lacp_rate, LINK_DATA_UNKNOWN);
	ck_assert_int_eq(nl_link_compare_data(&li, &want, &e), 0);
}
END_TEST

START_TEST(an_attribute_that_the_kernel_does_not_report_differs)
{
	const struct nlattr none = { .nla_len = sizeof(none) };
	struct link_info li = { .kind = "ipvlan", .name = "net1" };
	struct err e = { 0 };

	memset(&li.data, 0xff, sizeof(li.data));
	ck_assert_int_eq(link_kind_parse(link_kind_find("ipvlan"), &none, &li.data), 0);
	ck_assert_uint_eq(li.data.ipvlan.mode, LINK_DATA_UNKNOWN);
	ck_assert_int_eq(nl_link_compare_data(&li, &known[1].data, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "does not report it for ipvlan net1"));
}
END_TEST

START_TEST(a_short_attribute_is_an_error)
{
	static const struct {
		const char *kind;
		uint16_t type, len;
	} cases[] = { { "macvlan", IFLA_MACVLAN_MODE, 3 }, { "ipvlan", IFLA_IPVLAN_FLAGS, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct {
			struct nlattr nest, in;
			uint8_t value[4];
		} m = { .nest.nla_len = sizeof(m),
			.in.nla_type = cases[i].type,
			.in.nla_len = (uint16_t)(sizeof(m.in) + cases[i].len) };
		union link_data data = { 0 };

		ck_assert_int_eq(link_kind_parse(link_kind_find(cases[i].kind), &m.nest, &data),
				 -1);
	}
}
END_TEST

START_TEST(an_unknown_kind_is_not_sent_as_another)
{
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct net_fake k = net_fake();
		struct link_spec spec = { .kind = unknown[i], .name = "net1", .lower_ifindex = 5 };
		char sent[64];
		struct err e = { 0 };

		net_ack(&k, 1, 0); /* a kernel that would take anything */
		ck_assert_int_eq(nl_link_create(k.nl, &spec, &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_int_eq(e.errnum, EOPNOTSUPP);
		ck_assert_str_eq(e.detail, "known kinds: macvlan, ipvlan, ipoib, vlan, bond, vrf");
		ck_assert_int_eq(recv(k.peer, sent, sizeof(sent), MSG_DONTWAIT), -1);
		ck_assert_int_eq(errno, EAGAIN);
		nl_release(k.nl);
		ck_assert_int_eq(close(k.peer), 0);
	}
}
END_TEST

START_TEST(an_unknown_kind_is_not_compared_as_another)
{
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct link_info li = { .name = "net1", .data = known[0].data };
		struct err e = { 0 };

		(void)stpcpy(li.kind, unknown[i]);
		ck_assert_int_eq(nl_link_compare_data(&li, &known[0].data, &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
	}
}
END_TEST

TEST_PROGRAM("link_kind", what_is_written_is_read_and_compares_equal, each_attribute_is_compared,
	     the_queue_length_is_only_asked_for, the_tag_of_a_vlan_is_in_the_order_of_the_network,
	     what_is_not_asked_for_is_neither_written_nor_compared,
	     an_attribute_that_the_kernel_does_not_report_differs, a_short_attribute_is_an_error,
	     an_unknown_kind_is_not_sent_as_another, an_unknown_kind_is_not_compared_as_another)
