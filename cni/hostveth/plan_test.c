/* SPDX-License-Identifier: Apache-2.0 */
/* Shows which texts the key "host" has, how a pair is named, and which routes lead through it. */
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/priv.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static int read_text(const char *text, struct hostveth_conf *out, struct err *e)
{
	auto_json struct json *tree = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &tree, e), 0);
	return hostveth_read_conf(tree, out, e);
}

START_TEST(the_key_is_an_object_with_ranges)
{
	struct hostveth_conf c;
	struct err e;

	ck_assert(!hostveth_read_conf(NULL, &c, &e) && !c.veth);
	ck_assert(!read_text("{\"host\": null}", &c, &e) && !c.veth);
	ck_assert(!read_text("{\"host\": {\"veth\": false}}", &c, &e) && !c.veth);
	ck_assert(!read_text("{\"host\": {\"veth\": true, \"routes\": [\"10.96.0.0/12\", "
			     "\"fd96::/108\"]}}",
			     &c, &e));
	ck_assert(c.veth && c.n_routes == 2 && c.route[0].len == 12 && c.route[1].len == 108);
}
END_TEST

static const struct {
	const char *text;
	enum err_code code;
	const char *says;
} bad[] = {
	{ "{\"host\": true}", ERR_DECODE, "host: must be an object, got a boolean" },
	{ "{\"host\": {}}", ERR_CONFIG, "host.veth" },
	{ "{\"host\": {\"veth\": true, \"route\": []}}", ERR_CONFIG, "host.route: there is no" },
	{ "{\"host\": {\"veth\": 1}}", ERR_DECODE, "host.veth" },
	{ "{\"host\": {\"veth\": true, \"routes\": [1]}}", ERR_DECODE,
	  "host.routes: must have strings" },
	{ "{\"host\": {\"veth\": true, \"routes\": [\"10.96.0.0\"]}}", ERR_CONFIG,
	  "host.routes: \"10.96.0.0\" is not a network" },
	{ "{\"host\": {\"veth\": true, \"routes\": [\"::/0\"]}}", ERR_CONFIG,
	  "host.routes: \"::/0\" would lead all rails" },
};

START_TEST(wrong_values_name_their_key)
{
	struct hostveth_conf c;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(read_text(bad[i].text, &c, &e), -1);
		ck_assert_int_eq((int)e.code, (int)bad[i].code);
		ck_assert_msg(strstr(e.msg, bad[i].says), "%s", e.msg);
	}
}
END_TEST

START_TEST(too_many_ranges_are_refused)
{
	char text[2048] = "{\"host\": {\"veth\": true, \"routes\": [\"10.0.0.0/24\"";
	struct hostveth_conf c;
	struct err e;

	for (int i = 1; i <= HOSTVETH_ROUTES_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       ", \"10.0.%d.0/24\"", i);
	(void)strcat(text, "]}}");
	ck_assert_int_eq(read_text(text, &c, &e), -1);
	ck_assert_str_eq(e.msg, "host.routes: more than 32");
}
END_TEST

START_TEST(names_are_of_the_container_and_of_the_attempt)
{
	struct hostveth_id a = hostveth_id("one", 0), again = hostveth_id("one", 0),
			   next = hostveth_id("one", 1), other = hostveth_id("two", 0);

	ck_assert_str_eq(a.name, again.name);
	ck_assert_uint_eq(strlen(a.name), 15);
	ck_assert(strncmp(a.name, "veth", 4) == 0 && !ifname_problem(a.name));
	ck_assert_str_ne(a.name, next.name);
	ck_assert_str_ne(a.name, other.name);
	ck_assert(hw_addr_equal(a.node_mac, next.node_mac));
	ck_assert(!hw_addr_equal(a.node_mac, other.node_mac));
	ck_assert(!hw_addr_equal(a.node_mac, a.pod_mac) && a.node_mac.byte[0] == 2);
}
END_TEST

static struct cni_ip own(const char *text)
{
	struct cni_ip x = { .interface = -1 };

	ck_assert_int_eq(ip_parse_prefix(text, &x.address), 0);
	return x;
}

static void rules(const struct routing_plan *p, const char *expected)
{
	char text[512] = "", from[PREFIX_STR_LEN];

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule_spec *r = &p->rule[i];

		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "%u from %s lookup %u%s\n", r->priority,
			       ip_format_prefix(r->from, from), r->table,
			       r->chosen ? " if chosen" : "");
	}
	ck_assert_str_eq(text, expected);
}

static void lists(const struct routing_plan *p, const char *expected)
{
	char text[2048] = "", dst[PREFIX_STR_LEN], gw[IP_STR_LEN], src[IP_STR_LEN];

	for (size_t i = 0; i < p->n_routes; i++) {
		const struct route_spec *r = &p->route[i];

		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "%s via %s src %s dev %d metric %u table %u%s\n",
			       ip_format_prefix(r->dst, dst), ip_format(r->gw, gw),
			       ip_format(r->src, src), r->ifindex, r->priority, r->table,
			       r->onlink ? " onlink" : "");
	}
	ck_assert_str_eq(text, expected);
}

#define CONF "{\"host\": {\"veth\": true, \"routes\": [\"10.96.0.0/12\", \"fd96::/108\"]}}"

START_TEST(both_families_have_their_routes)
{
	struct cni_ip ips[] = { own("10.1.0.5/24"), own("10.2.0.5/24"), own("fd00::5/64") };
	const struct cni_result r = { .ips = ips, .n_ips = 3 };
	struct ip addr[] = { own("10.1.0.1/24").address.addr };
	const struct hostveth_node node = { addr, 1 };
	const struct hostveth_place at = { 7, 8, 9 };
	auto_hostveth_plans struct hostveth_plans p = { 0 };
	struct hostveth_conf c;
	struct err e;

	ck_assert_int_eq(read_text(CONF, &c, &e), 0);
	ck_assert_int_eq(hostveth_plan(&c, &r, &node, &at, &p), 0);
	lists(&p.node,
	      "10.1.0.5/32 via 169.254.113.2 src 169.254.113.1 dev 7 metric 0 table 0 onlink\n"
	      "10.2.0.5/32 via 169.254.113.2 src 169.254.113.1 dev 7 metric 0 table 0 onlink\n"
	      "fd00::5/128 via fe80::2 src fd5b:8c2e:9d41::1 dev 7 metric 0 table 0\n");
	lists(&p.pod,
	      "169.254.113.1/32 via 169.254.113.1 src 10.1.0.5 dev 8 metric 9 table 2024 onlink\n"
	      "fd5b:8c2e:9d41::1/128 via fe80::1 src fd00::5 dev 8 metric 9 table 2024\n"
	      "10.1.0.1/32 via 169.254.113.1 src 10.1.0.5 dev 8 metric 9 table 2024 onlink\n"
	      "10.96.0.0/12 via 169.254.113.1 src 10.1.0.5 dev 8 metric 9 table 2024 onlink\n"
	      "fd96::/108 via fe80::1 src fd00::5 dev 8 metric 9 table 2024\n");
	rules(&p.pod, "990 from 10.1.0.5/32 lookup 2024\n"
		      "990 from 10.2.0.5/32 lookup 2024\n"
		      "990 from fd00::5/128 lookup 2024 if chosen\n"
		      "990 from 0.0.0.0/32 lookup 2024\n");
	ck_assert(HOSTVETH_PRIORITY < ROUTING_PRIORITY);
}
END_TEST

START_TEST(a_family_without_address_has_no_route)
{
	struct cni_ip ips[] = { own("fd00::5/64") };
	const struct cni_result r = { .ips = ips, .n_ips = 1 };
	const struct hostveth_node none = { .n = 0 };
	const struct hostveth_place at = { 7, 8, 9 };
	auto_hostveth_plans struct hostveth_plans p = { 0 };
	struct hostveth_conf c;
	struct err e;

	ck_assert_int_eq(read_text(CONF, &c, &e), 0);
	ck_assert_int_eq(hostveth_plan(&c, &r, &none, &at, &p), 0);
	lists(&p.pod, "fd5b:8c2e:9d41::1/128 via fe80::1 src fd00::5 dev 8 metric 9 table 2024\n"
		      "fd96::/108 via fe80::1 src fd00::5 dev 8 metric 9 table 2024\n");
	rules(&p.pod, "990 from fd00::5/128 lookup 2024 if chosen\n");
	ck_assert_uint_eq(p.node.n_routes, 1);
}
END_TEST

static struct ip_prefix net_of(const char *text)
{
	return own(text).address;
}

/* The ranges of the pod's table for one address and up to two networks of routes; "": none. */
static void ranges_are(const char *range, const char *addr, const char *const route[2],
		       const char *expected)
{
	struct hostveth_conf c = { .veth = true, .route = { net_of(range) }, .n_routes = 1 };
	struct cni_ip ips[] = { own(addr) };
	struct cni_route routes[] = { { .table = -1 }, { .table = -1 } };
	struct cni_result r = { .ips = ips, .n_ips = 1, .routes = routes };
	const struct hostveth_node none = { .n = 0 };
	auto_hostveth_plans struct hostveth_plans p = { 0 };
	char text[2048] = "", one[PREFIX_STR_LEN];

	for (; r.n_routes < 2 && *route[r.n_routes]; r.n_routes++)
		routes[r.n_routes].dst = net_of(route[r.n_routes]);
	ck_assert_int_eq(hostveth_plan(&c, &r, &none, &(struct hostveth_place){ 7, 8, 9 }, &p), 0);
	for (size_t i = 1; i < p.pod.n_routes; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			       ip_format_prefix(p.pod.route[i].dst, one));
	ck_assert_str_eq(text, expected);
}

/* Else the neighbours of the rail would be asked by the node. */
START_TEST(a_range_leaves_out_the_networks_of_the_rail)
{
	static const struct {
		const char *range, *addr, *route[2], *expected;
	} row[] = {
		{ "10.96.0.0/12",
		  "10.97.0.5/16",
		  { "", "" },
		  "10.96.0.0/16 10.98.0.0/15 "
		  "10.100.0.0/14 10.104.0.0/13 " },
		{ "10.96.0.9/30", "10.96.0.9/32", { "", "" }, "10.96.0.8/30 " },
		{ "10.96.0.0/24", "10.96.0.9/16", { "", "" }, "10.96.0.0/24 " },
		{ "10.96.0.0/24", "10.96.0.9/24", { "", "" }, "10.96.0.0/24 " },
		{ "10.96.0.0/24",
		  "10.7.0.9/24",
		  { "0.0.0.0/0", "10.96.0.7/32" },
		  "10.96.0.0/30 10.96.0.4/31 10.96.0.6/32 10.96.0.8/29 10.96.0.16/28 "
		  "10.96.0.32/27 10.96.0.64/26 10.96.0.128/25 " },
		{ "10.96.0.0/24",
		  "10.96.0.9/26",
		  { "10.96.0.32/27", "10.96.0.64/26" },
		  "10.96.0.128/25 " },
		{ "10.96.0.0/24", "10.96.0.9/25", { "10.96.0.128/25", "" }, "" },
		{ "fd96::/108", "fd96::5/109", { "fd97::/112", "" }, "fd96::8:0/109 " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		ranges_are(row[i].range, row[i].addr, row[i].route, row[i].expected);
}
END_TEST

static void noted(const struct json *note, const char *expected)
{
	auto_result struct cni_result ips = { 0 };
	char text[256] = "", one[PREFIX_STR_LEN];
	struct err e;

	ck_assert_int_eq(hostveth_noted_ips(note, &ips, &e), 0);
	for (size_t i = 0; i < ips.n_ips; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			       ip_format_prefix(ips.ips[i].address, one));
	ck_assert_str_eq(text, expected);
}

START_TEST(a_note_has_the_name_and_the_addresses)
{
	struct cni_ip ips[] = { own("10.1.0.5/24"), own("fd00::5/64") };
	struct cni_ip other[] = { own("10.97.0.5/16") };
	const struct cni_result r = { .ips = ips, .n_ips = 2 };
	const struct hostveth_conf c = { .route = { net_of("10.96.0.0/12") }, .n_routes = 1 };
	char one[PREFIX_STR_LEN];
	auto_json struct json *note = hostveth_note("veth0123456789a", 9, NULL, &r),
			      *damaged = NULL;
	auto_free char *text = json_print(note, false);
	const char *wrong = "{\"veth\": \"a/b\", \"metric\": -1, \"addresses\": [1, \"x\", "
			    "\"10.1.0.6\"], \"networks\": [1, \"x\"]}";
	struct err e;

	ck_assert_str_eq(text, "{\"addresses\":[\"10.1.0.5\",\"fd00::5\"],"
			       "\"veth\":\"veth0123456789a\",\"metric\":9}");
	ck_assert_str_eq(hostveth_noted_name(note), "veth0123456789a");
	ck_assert_uint_eq(hostveth_noted_metric(note), 9);
	noted(note, "10.1.0.5/32 fd00::5/128 ");
	ck_assert_ptr_null(hostveth_noted_name(NULL));
	ck_assert_uint_eq(hostveth_noted_metric(NULL), 0);
	noted(NULL, "");
	auto_json struct json *inside =
		hostveth_note("veth0", 9, &c, &(struct cni_result){ .ips = other, .n_ips = 1 });
	auto_result struct cni_result nets = { 0 };

	ck_assert_ptr_nonnull(inside);
	ck_assert_int_eq(hostveth_noted_ips(inside, &nets, &e), 0);
	ck_assert_uint_eq(nets.n_routes, 1);
	ck_assert_str_eq(ip_format_prefix(nets.routes[0].dst, one), "10.97.0.5/16");
	ck_assert_int_eq(json_parse(wrong, strlen(wrong), "test", &damaged, &e), 0);
	ck_assert_ptr_null(hostveth_noted_name(damaged));
	ck_assert_uint_eq(hostveth_noted_metric(damaged), 0);
	noted(damaged, "10.1.0.6/32 ");
}
END_TEST

struct scene {
	struct hostveth_conf c;
	struct cni_result r;
};

static int plan_and_note(void *arg, struct err *e)
{
	const struct hostveth_node none = { .n = 0 };
	const struct hostveth_place at = { 7, 8, 9 };
	auto_hostveth_plans struct hostveth_plans p = { 0 };
	struct scene *s = arg;

	if (hostveth_plan(&s->c, &s->r, &none, &at, &p))
		return err_nomem(e);

	auto_json struct json *note = hostveth_note("veth0", 9, &s->c, &s->r);

	auto_result struct cni_result ips = { 0 };

	return note ? hostveth_noted_ips(note, &ips, e) : err_nomem(e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	struct cni_ip ips[] = { own("10.97.0.5/24") };
	struct scene s = { .r = { .ips = ips, .n_ips = 1 } };
	struct err e;

	ck_assert_int_eq(read_text(CONF, &s.c, &e), 0);
	ck_assert_str_eq(alloc_fail_each(plan_and_note, &s), "ok");
}
END_TEST

TEST_PROGRAM("cni/hostveth_plan", the_key_is_an_object_with_ranges, wrong_values_name_their_key,
	     too_many_ranges_are_refused, names_are_of_the_container_and_of_the_attempt,
	     both_families_have_their_routes, a_family_without_address_has_no_route,
	     a_range_leaves_out_the_networks_of_the_rail, a_note_has_the_name_and_the_addresses,
	     each_failing_allocation_is_an_error)
