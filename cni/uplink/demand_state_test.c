// SPDX-License-Identifier: Apache-2.0
/* Shows that the file of a master keeps all that its removal needs, and that a damaged one is
 * refused. */
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static const struct record_key one = { "net-a", "c1", "net1" }, two = { "net-a", "c1", "net2" };

static struct demand_state bond(void)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 1 };

	return (struct demand_state){
		.boot = BOOT,
		.netns = { 4, 4026531840, 77 },
		.making = true,
		.link = { .kind = DEMAND_BOND,
			  .name = "b0",
			  .ifindex = 0x1234567,
			  .mtu = 9000,
			  .data = { .bond = { 4, 100, LINK_DATA_UNKNOWN, 1 } },
			  .n = 2,
			  .lower = { { "eth1", 5, true, 9000, hw_addr_of_mac(mac),
				       hw_addr_of_mac(mac) },
				     { .name = "eth2", .ifindex = 6, .mtu = 1500 } } },
	};
}

/* What is written of s, read again. */
static struct demand_state again(const struct demand_state *s)
{
	auto_free char *text = demand_state_print(s);
	struct demand_state out;
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(demand_state_decode(text, strlen(text), &out, &e) == 0, "%s", e.msg);
	return out;
}

START_TEST(a_bond_is_read_as_it_was_written)
{
	auto_demand_state struct demand_state s = bond();
	struct err e;

	ck_assert_int_eq(demand_add_user(&s, &one, &e), 0);
	auto_demand_state struct demand_state r = again(&s);
	ck_assert_str_eq(r.boot, BOOT);
	ck_assert(r.making && r.netns.dev == 4 && r.netns.ino == 4026531840 &&
		  r.netns.cookie == 77);
	ck_assert(r.link.kind == DEMAND_BOND && r.link.ifindex == 0x1234567 && r.link.mtu == 9000);
	ck_assert_str_eq(r.link.name, "b0");
	ck_assert_mem_eq(&r.link.data.bond, &s.link.data.bond, sizeof(s.link.data.bond));
	ck_assert_uint_eq(r.link.n, 2);
	ck_assert_str_eq(r.link.lower[0].name, "eth1");
	ck_assert(r.link.lower[0].was_up && r.link.lower[0].mtu == 9000);
	ck_assert(hw_addr_equal(r.link.lower[0].addr, s.link.lower[0].addr));
	ck_assert(hw_addr_equal(r.link.lower[0].perm, s.link.lower[0].perm));
	ck_assert(!r.link.lower[1].was_up && r.link.lower[1].ifindex == 6 &&
		  !r.link.lower[1].addr.len && !r.link.lower[1].perm.len);
	ck_assert_uint_eq(json_len(r.users), 1);
}
END_TEST

START_TEST(a_vlan_is_read_as_it_was_written)
{
	auto_demand_state struct demand_state s = bond();

	s.making = false;
	s.link.kind = DEMAND_VLAN;
	s.link.data.vlan.id = 120;
	auto_demand_state struct demand_state r = again(&s);
	ck_assert(!r.making && r.link.kind == DEMAND_VLAN && r.link.data.vlan.id == 120);
	ck_assert_uint_eq(r.link.data.vlan.protocol, LINK_VLAN_8021Q);
	ck_assert_uint_eq(json_len(r.users), 0);
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	auto_demand_state struct demand_state s = bond();
	struct err e;

	ck_assert_int_eq(demand_add_user(&s, &one, &e), 0);
	auto_free char *text = demand_state_print(&s);
	ck_assert_str_eq(text,
			 "{\"version\":1,\"name\":\"b0\",\"kind\":\"bond\",\"boot\":\"" BOOT
			 "\",\"netnsDev\":4,\"netnsInode\":4026531840,\"netnsCookie\":77,"
			 "\"ifindex\":19088743,\"mtu\":9000,\"making\":true,\"mode\":4,"
			 "\"miimon\":100,\"xmitHashPolicy\":4294967295,\"lacpRate\":1,"
			 "\"lower\":[{\"name\":\"eth1\",\"ifindex\":5,\"up\":true,\"mtu\":9000,"
			 "\"mac\":\"02:00:00:00:00:01\",\"permanentMac\":\"02:00:00:00:00:01\"},"
			 "{\"name\":\"eth2\",\"ifindex\":6,\"up\":false,\"mtu\":1500}],"
			 "\"users\":[{\"network\":\"net-a\",\"container\":\"c1\","
			 "\"ifname\":\"net1\"}]}");
	s.link.kind = DEMAND_VLAN;
	s.link.data.vlan.id = 120;
	s.link.n = 1;
	s.making = false;
	demand_state_clear(&(struct demand_state){ .users = s.users });
	s.users = NULL;
	auto_free char *vlan = demand_state_print(&s);
	ck_assert_str_eq(vlan,
			 "{\"version\":1,\"name\":\"b0\",\"kind\":\"vlan\",\"boot\":\"" BOOT
			 "\",\"netnsDev\":4,\"netnsInode\":4026531840,\"netnsCookie\":77,"
			 "\"ifindex\":19088743,\"mtu\":9000,\"vlan\":120,"
			 "\"lower\":[{\"name\":\"eth1\",\"ifindex\":5,\"up\":true,\"mtu\":9000,"
			 "\"mac\":\"02:00:00:00:00:01\",\"permanentMac\":\"02:00:00:00:00:01\"}],"
			 "\"users\":[]}");
}
END_TEST

START_TEST(a_user_counts_once)
{
	auto_demand_state struct demand_state s = bond();
	struct err e;

	ck_assert_int_eq(demand_drop_user(&s, &one), 0);
	ck_assert_int_eq(demand_add_user(&s, &one, &e), 0);
	ck_assert_int_eq(demand_add_user(&s, &two, &e), 0);
	ck_assert_int_eq(demand_add_user(&s, &one, &e), 0);
	ck_assert_uint_eq(json_len(s.users), 2);
	ck_assert_int_eq(demand_drop_user(&s, &one), 1);
	ck_assert_int_eq(demand_drop_user(&s, &one), 0);
	ck_assert_uint_eq(json_len(s.users), 1);
	ck_assert_str_eq(json_text(json_first(s.users), "ifname"), "net2");
}
END_TEST

static void fill(struct demand_state *s, unsigned n)
{
	char container[16];

	s->users = json_new_array();
	for (unsigned i = 0; i < n; i++) {
		struct json *o = json_push_object(s->users);

		(void)snprintf(container, sizeof(container), "c%u", i);
		ck_assert(o && !json_add_str(o, "network", "net-a") &&
			  !json_add_str(o, "container", container) &&
			  !json_add_str(o, "ifname", "net1"));
	}
}

START_TEST(a_user_too_many_is_refused)
{
	auto_demand_state struct demand_state s = bond();
	struct err e = { .msg = "" };

	fill(&s, DEMAND_USERS_MAX);
	ck_assert_int_eq(demand_add_user(&s, &one, &e), 0); /* it is one of them */
	ck_assert_int_eq(demand_add_user(&s, &two, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_str_eq(e.msg, "master: b0 has 4096 users, and cannot have more");
	ck_assert_uint_eq(json_len(s.users), DEMAND_USERS_MAX);
	ck_assert_int_eq(demand_drop_user(&s, &one), 1);
	ck_assert_int_eq(demand_add_user(&s, &two, &e), 0);
}
END_TEST

#define HEAD  "{\"version\":1,\"name\":\"b0\",\"kind\":\"bond\",\"boot\":\"" BOOT "\","
#define LOWER "\"lower\":[{\"name\":\"a\",\"ifindex\":5,\"up\":true}],"
#define REST  HEAD "\"ifindex\":9," LOWER

START_TEST(a_damaged_file_is_refused)
{
	static const char *const damaged[] = {
		"",
		"nonsense",
		"{}",
		HEAD LOWER "\"users\":[]}",
		HEAD "\"ifindex\":0," LOWER "\"users\":[]}",
		HEAD "\"ifindex\":4294967296," LOWER "\"users\":[]}",
		HEAD "\"ifindex\":9,\"lower\":[],\"users\":[]}",
		HEAD "\"ifindex\":9,\"lower\":[{}],\"users\":[]}",
		REST "\"users\":5}",
		REST "\"users\":[{}]}",
		REST "\"users\":[{\"network\":\"n\",\"container\":\"c\"}]}",
		"{\"version\":2,\"name\":\"b0\",\"kind\":\"bond\",\"boot\":\"" BOOT
		"\",\"ifindex\":9," LOWER "\"users\":[]}",
		"{\"version\":1,\"name\":\"b0\",\"kind\":\"team\",\"boot\":\"" BOOT
		"\",\"ifindex\":9," LOWER "\"users\":[]}",
		"{\"version\":1,\"name\":\"b0\",\"kind\":\"bond\",\"boot\":\"short\","
		"\"ifindex\":9," LOWER "\"users\":[]}",
		"{\"version\":1,\"name\":\"a-name-too-long-1\",\"kind\":\"bond\",\"boot\":\"" BOOT
		"\",\"ifindex\":9," LOWER "\"users\":[]}",
	};
	static const char good[] = REST "\"users\":[]}";
	auto_demand_state struct demand_state s = { .users = NULL };
	struct err e;

	ck_assert_int_eq(demand_state_decode(good, strlen(good), &s, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		ck_assert_msg(demand_state_decode(damaged[i], strlen(damaged[i]), &s, &e) == -1,
			      "%s", damaged[i]);
		ck_assert_int_eq(e.code, ERR_DECODE);
	}
}
END_TEST

static int read_and_write(void *arg, struct err *e)
{
	auto_demand_state struct demand_state s = { .users = NULL };
	auto_free char *out = NULL;

	if (demand_state_decode(arg, strlen(arg), &s, e))
		return -1;
	if (demand_add_user(&s, &two, e) || demand_drop_user(&s, &one) < 0)
		return err_nomem(e);
	out = demand_state_print(&s);
	return out ? 0 : err_nomem(e);
}

START_TEST(survives_each_failing_allocation)
{
	static char text[] = REST "\"users\":[{\"network\":\"net-a\",\"container\":\"c1\","
				  "\"ifname\":\"net1\"}]}";

	ck_assert_str_eq(alloc_fail_each(read_and_write, text), "ok");
}
END_TEST

TEST_PROGRAM("cni/uplink/demand_state", the_text_stays_the_same, a_bond_is_read_as_it_was_written,
	     a_vlan_is_read_as_it_was_written, a_user_counts_once, a_user_too_many_is_refused,
	     a_damaged_file_is_refused, survives_each_failing_allocation)
