// SPDX-License-Identifier: Apache-2.0
/* Shows on a real kernel that a plan is put in, found, and taken out, and that others' rules stay.
 */
#include <string.h>

#include "cni/routing/routing.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

struct world {
	struct nl *nl;
	int up0;
	struct cni_ip ips[2];
	struct cni_result r;
	struct routing_conf c;
};

static void world_clear(struct world *w)
{
	nl_release(w->nl);
}
#define auto_world auto_clean(world_clear)

static void world_make(struct world *w)
{
	struct err e;

	*w = (struct world){ .r = { .ips = w->ips, .n_ips = 2 }, .c = { .rail = true } };
	net_enter_new();
	net_veth("up0", "peer0", NULL);
	w->nl = net_socket();
	w->up0 = net_ifindex(w->nl, "up0");
	ck_assert_int_eq(ip_parse_prefix("10.1.0.5/24", &w->ips[0].address), 0);
	ck_assert_int_eq(ip_parse("10.1.0.1", &w->ips[0].gateway), 0);
	ck_assert_int_eq(ip_parse_prefix("fd00::5/64", &w->ips[1].address), 0);
	ck_assert_int_eq(ip_parse("fd00::1", &w->ips[1].gateway), 0);
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(nl_addr_add(w->nl, w->up0, w->ips[i].address, true, &e), 0);
}

static void apply(struct world *w, uint32_t table, struct routing_plan *p)
{
	const struct routing_place at = { w->up0, table };
	struct err e = { 0 };

	ck_assert_msg(!routing_plan(&w->c, &w->r, &at, p, &e), "%s", e.msg);
	ck_assert_msg(!routing_apply(w->nl, p, &e), "%s", e.msg);
}

START_TEST(a_plan_is_put_in_and_found)
{
	auto_routing_plan struct routing_plan p = { 0 };
	auto_world struct world w;
	struct err e = { 0 };

	world_make(&w);
	apply(&w, 1000, &p);
	ck_assert_msg(!routing_check(w.nl, &p, "net1", &e), "%s", e.msg);
	ck_assert_msg(!routing_apply(w.nl, &p, &e), "again: %s", e.msg);
	ck_assert_int_eq(system("ip route del default table 1000"), 0);
	ck_assert_int_eq(routing_check(w.nl, &p, "net1", &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_str_eq(e.msg, "interface net1 lacks the route to 0.0.0.0/0 in table 1000");
	ck_assert_int_eq(system("ip -6 rule del from fd00::5"), 0);
	ck_assert_int_eq(routing_check(w.nl, &p, "net1", &e), -1);
	ck_assert_str_eq(e.msg, "interface net1 lacks the rule from fd00::5 to table 1000");
}
END_TEST

START_TEST(only_our_rules_go)
{
	auto_routing_plan struct routing_plan p = { 0 };
	auto_world struct world w;
	auto_json struct json *note = NULL;
	struct err e = { 0 };

	world_make(&w);
	apply(&w, 1000, &p);
	ck_assert_int_eq(system("ip rule add from 10.1.0.9 lookup 1000 priority 1000 && "
				"ip rule add from 10.1.0.9 lookup 1001 priority 1000"),
			 0);
	note = routing_note(&w.c, &w.r, 1000);
	ck_assert_msg(!routing_remove(w.nl, note, &e), "%s", e.msg);
	ck_assert_int_eq(system("test \"$(ip rule | grep -c 'from 10.1.0.9')\" = 2"), 0);
	ck_assert_int_eq(system("! ip rule | grep 10.1.0.5 && ! ip -6 rule | grep fd00"), 0);
	ck_assert_msg(!routing_remove(w.nl, note, &e), "again: %s", e.msg);
}
END_TEST

START_TEST(a_damaged_note_removes_nothing)
{
	static const char *const notes[] = { "{}", "{\"table\": 1000}",
					     "{\"table\": -1, \"from\": [\"10.1.0.5\"]}",
					     "{\"table\": 1000, \"from\": [7, \"x\"]}" };
	auto_routing_plan struct routing_plan p = { 0 };
	auto_world struct world w;
	struct err e = { 0 };

	world_make(&w);
	apply(&w, 1000, &p);
	ck_assert_int_eq(routing_remove(w.nl, NULL, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		auto_json struct json *note = NULL;

		ck_assert_int_eq(json_parse(notes[i], strlen(notes[i]), "note", &note, &e), 0);
		ck_assert_int_eq(routing_remove(w.nl, note, &e), 0);
	}
	ck_assert_int_eq(system("ip rule | grep -q 'from 10.1.0.5 lookup 1000'"), 0);
}
END_TEST

START_TEST(a_table_is_known_by_the_routes_of_the_interface)
{
	auto_routing_plan struct routing_plan p = { 0 };
	auto_world struct world w;
	struct err e = { 0 };

	world_make(&w);
	apply(&w, 1005, &p);
	/* a table that others share */
	ck_assert_int_eq(system("ip rule add from 10.1.0.9 lookup 1005 priority 1000"), 0);
	ck_assert_msg(!routing_remove_of(w.nl, net_ifindex(w.nl, "peer0"), &e), "%s", e.msg);
	ck_assert_int_eq(system("ip rule | grep -q 'from 10.1.0.5 lookup 1005'"), 0);
	ck_assert_msg(!routing_remove_of(w.nl, w.up0, &e), "%s", e.msg);
	ck_assert_int_eq(system("! ip rule | grep 'from 10.1.0.5' && ! ip -6 rule | grep fd00 && "
				"ip rule | grep -q 'from 10.1.0.9 lookup 1005'"),
			 0);
}
END_TEST

START_TEST(a_table_in_use_is_not_taken)
{
	auto_routing_plan struct routing_plan p = { 0 };
	auto_world struct world w;
	struct cni_route own = { .table = 1002 };
	uint32_t table = 0;
	struct err e = { 0 };

	world_make(&w);
	ck_assert(!routing_choose_table(w.nl, &w.c, &w.r, &table, &e) && table == 1000);
	apply(&w, 1000, &p);
	ck_assert_int_eq(system("ip route add 192.0.2.0/24 dev up0 table 1001"), 0);
	ck_assert(!routing_choose_table(w.nl, &w.c, &w.r, &table, &e) && table == 1002);
	w.r.routes = &own;
	w.r.n_routes = 1;
	ck_assert(!routing_choose_table(w.nl, &w.c, &w.r, &table, &e) && table == 1003);
	ck_assert_int_eq(system("ip route add blackhole 192.0.2.0/24 table 1003"), 0);
	ck_assert(!routing_choose_table(w.nl, &w.c, &w.r, &table, &e) && table == 1004);
	w.c.table = 7;
	ck_assert(!routing_choose_table(w.nl, &w.c, &w.r, &table, &e) && table == 7);
	w.c.table = 1001;
	ck_assert_int_eq(routing_choose_table(w.nl, &w.c, &w.r, &table, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "routing.table: 1001 is in use"));
}
END_TEST

START_TEST(all_tables_are_in_use)
{
	auto_world struct world w;
	uint32_t table;
	struct err e = { 0 };

	world_make(&w);
	ck_assert_int_eq(system("for i in $(seq 1000 2023); do "
				"echo rule add from 192.0.2.1 lookup $i priority $i; done | "
				"ip -batch -"),
			 0);
	ck_assert_int_eq(routing_choose_table(w.nl, &w.c, &w.r, &table, &e), -1);
	ck_assert_int_eq(e.code, ERR_EXHAUSTED);
}
END_TEST

START_TEST(the_link_is_set_up)
{
	auto_world struct world w;
	struct err e = { 0 };

	world_make(&w);
	ck_assert_msg(!routing_set_up_link("/proc", "up0", true, &e), "%s", e.msg);
	ck_assert_int_eq(system("cd /proc/sys/net && test \"$(cat ipv4/conf/up0/arp_ignore "
				"ipv4/conf/up0/arp_announce ipv4/conf/up0/rp_filter "
				"ipv6/conf/up0/ignore_routes_with_linkdown "
				"ipv6/conf/up0/accept_ra_defrtr | xargs)\" = '1 2 2 1 0'"),
			 0);
	ck_assert_int_eq(routing_set_up_link("/proc", "none", true, &e), -1);
}
END_TEST

TEST_PROGRAM("cni/routing_apply", a_plan_is_put_in_and_found, only_our_rules_go,
	     a_damaged_note_removes_nothing, a_table_is_known_by_the_routes_of_the_interface,
	     a_table_in_use_is_not_taken, all_tables_are_in_use, the_link_is_set_up)
