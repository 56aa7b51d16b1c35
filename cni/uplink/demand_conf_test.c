// SPDX-License-Identifier: Apache-2.0
/* Shows which objects the key "master" takes, and what is said of those that it does not take. */
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/testing.h"

/* The strings of a configuration are borrowed from its tree, which lives as long as the test. */
static int read_text(const char *text, struct demand_conf *out, struct err *e)
{
	static struct json *tree;

	json_free(tree);
	tree = NULL;
	*e = (struct err){ .msg = "" };
	ck_assert_int_eq(json_parse(text, strlen(text), "text", &tree, e), 0);
	return demand_read_conf(tree, out, e);
}

START_TEST(a_vlan_has_a_number_and_an_interface)
{
	struct demand_conf c;
	struct err e;

	ck_assert_int_eq(read_text("{\"vlan\":120,\"of\":\"eth1\"}", &c, &e), 0);
	ck_assert(c.has_vlan && !c.has_bond && c.vlan.id == 120 && !c.vlan.name && !c.vlan.mtu);
	ck_assert(c.vlan.of.n == 1 && c.vlan.of.candidate[0].form == MASTER_NAME);
	ck_assert_int_eq(read_text("{\"vlan\":1,\"of\":[\"rail:3\",\"mac:02:00:00:00:00:01\"],"
				   "\"name\":\"v\",\"mtu\":9000}",
				   &c, &e),
			 0);
	ck_assert(c.vlan.of.n == 2 && c.vlan.of.candidate[0].form == MASTER_RAIL);
	ck_assert(c.vlan.mtu == 9000 && strcmp(c.vlan.name, "v") == 0);
}
END_TEST

START_TEST(a_bond_has_members_and_a_mode)
{
	struct demand_conf c;
	struct err e;

	ck_assert_int_eq(read_text("{\"bond\":[\"eth1\",[\"0000:0f:00.0\",\"eth2\"]],"
				   "\"mode\":\"802.3ad\",\"lacpRate\":\"fast\","
				   "\"xmitHashPolicy\":\"layer3+4\",\"miimon\":50,\"mtu\":1600}",
				   &c, &e),
			 0);
	ck_assert(!c.has_vlan && c.has_bond && c.bond.n == 2 && c.bond.mtu == 1600);
	ck_assert(c.bond.member[1].n == 2 && c.bond.member[1].candidate[0].form == MASTER_PCI);
	ck_assert(c.bond.data.bond.mode == 4 && c.bond.data.bond.miimon == 50);
	ck_assert(c.bond.data.bond.lacp_rate == 1 && c.bond.data.bond.xmit_hash_policy == 1);
	ck_assert_int_eq(
		read_text("{\"vlan\":4094,\"of\":{\"bond\":[\"a\"],\"mode\":\"balance-rr\","
			  "\"name\":\"b\"}}",
			  &c, &e),
		0);
	ck_assert(c.has_vlan && c.has_bond && c.vlan.of.n == 0 && strcmp(c.bond.name, "b") == 0);
	ck_assert(c.bond.data.bond.mode == 0 && c.bond.data.bond.miimon == 100);
	ck_assert_uint_eq(c.bond.data.bond.lacp_rate, LINK_DATA_UNKNOWN);
	ck_assert_uint_eq(c.bond.data.bond.xmit_hash_policy, LINK_DATA_UNKNOWN);
}
END_TEST

#define BOND(rest) "{\"bond\":[\"a\"],\"mode\":\"balance-rr\"" rest "}"

START_TEST(a_wrong_object_is_named)
{
	static const struct {
		const char *text;
		enum err_code code;
		const char *says;
	} wrong[] = {
		{ "{}", ERR_CONFIG, "an object must have \"vlan\" or \"bond\"" },
		{ "{\"vlan\":1,\"bond\":[\"a\"]}", ERR_CONFIG, "has both" },
		{ "{\"vlan\":0,\"of\":\"a\"}", ERR_CONFIG,
		  "master.vlan: must be a whole number from 1 to 4094, got 0" },
		{ "{\"vlan\":4095,\"of\":\"a\"}", ERR_CONFIG, "got 4095" },
		{ "{\"vlan\":\"5\",\"of\":\"a\"}", ERR_DECODE, "master.vlan" },
		{ "{\"vlan\":5}", ERR_CONFIG, "master.of" },
		{ "{\"vlan\":5,\"of\":\"\"}", ERR_CONFIG, "master.of: names no interface" },
		{ "{\"vlan\":5,\"of\":7}", ERR_DECODE, "master.of: must be a string or a list" },
		{ "{\"vlan\":5,\"of\":\"a b\"}", ERR_CONFIG, "master.of: \"a b\"" },
		{ "{\"vlan\":5,\"of\":{\"vlan\":6,\"of\":\"a\"}}", ERR_CONFIG, "master.of" },
		{ "{\"vlan\":5,\"of\":\"a\",\"mtu\":20}", ERR_CONFIG,
		  "master.mtu: must be a whole number from 68 to 65535, got 20" },
		{ "{\"vlan\":5,\"of\":\"a\",\"mode\":\"x\"}", ERR_CONFIG, "mode" },
		{ "{\"vlan\":5,\"of\":\"a\",\"name\":\".a\"}", ERR_CONFIG, "begins with a dot" },
		{ "{\"vlan\":5,\"of\":\"a\",\"name\":\"a-name-too-long-1\"}", ERR_CONFIG,
		  "master.name: \"a-name-too-long-1\"" },
		{ "{\"bond\":[\"a\"]}", ERR_CONFIG, "master.mode" },
		{ "{\"bond\":[\"a\"],\"mode\":\"lacp\"}", ERR_FIELD, "802.3ad" },
		{ "{\"bond\":[],\"mode\":\"balance-rr\"}", ERR_CONFIG, "list of members is empty" },
		{ "{\"bond\":[\"a\",\"\"],\"mode\":\"balance-rr\"}", ERR_CONFIG, "master.bond[1]" },
		{ "{\"bond\":\"a\",\"mode\":\"balance-rr\"}", ERR_DECODE, "master.bond" },
		{ "{\"bond\":[1,2,3,4,5,6,7,8,9],\"mode\":\"balance-rr\"}", ERR_DECODE,
		  "master.bond[0]" },
		{ "{\"bond\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\"],"
		  "\"mode\":\"balance-rr\"}",
		  ERR_CONFIG, "more than 8 members" },
		{ BOND(",\"lacpRate\":\"slow\""), ERR_CONFIG, "master.lacpRate" },
		{ BOND(",\"miimon\":0"), ERR_CONFIG, "master.miimon: must be" },
		{ BOND(",\"xmitHashPolicy\":\"x\""), ERR_FIELD, "master.xmitHashPolicy" },
		{ BOND(",\"id\":1"), ERR_CONFIG, "id" },
		{ "{\"vlan\":5,\"of\":" BOND(",\"id\":1") "}", ERR_CONFIG, "master.of" },
	};
	struct demand_conf c;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_msg(read_text(wrong[i].text, &c, &e) == -1, "%s", wrong[i].text);
		ck_assert_msg(strstr(e.msg, wrong[i].says) != NULL, "%s: %s", wrong[i].text, e.msg);
		ck_assert_msg(e.code == wrong[i].code, "%s: %d", wrong[i].text, e.code);
	}
}
END_TEST

START_TEST(names_fit_and_are_the_same_every_time)
{
	struct demand_link a = { .n = 2, .lower = { { .name = "eth1" }, { .name = "eth2" } } },
			   b = { .n = 2, .lower = { { .name = "eth2" }, { .name = "eth1" } } };
	char name[IFNAME_LEN], other[IFNAME_LEN];

	demand_name_vlan("eth1", 120, name);
	ck_assert_str_eq(name, "eth1.120");
	demand_name_vlan("enp65s0f0n", 4094, name);
	ck_assert_str_eq(name, "enp65s0f0n.4094");
	demand_name_vlan("enp65s0f0np", 4094, name);
	demand_name_vlan("enp65s0f0nq", 4094, other);
	ck_assert_uint_eq(strlen(name), 15);
	ck_assert(strncmp(name, "rh", 2) == 0 && strcmp(name + 10, ".4094") == 0);
	ck_assert_str_ne(name, other);
	demand_name_bond(&a, name);
	demand_name_bond(&b, other);
	ck_assert_str_eq(name, other);
	ck_assert_uint_eq(strlen(name), 14);
	a.n = 1;
	demand_name_bond(&a, other);
	ck_assert_str_ne(name, other);
}
END_TEST

TEST_PROGRAM("cni/uplink/demand_conf", a_vlan_has_a_number_and_an_interface,
	     a_bond_has_members_and_a_mode, a_wrong_object_is_named,
	     names_fit_and_are_the_same_every_time)
