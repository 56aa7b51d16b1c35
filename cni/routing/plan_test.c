// SPDX-License-Identifier: Apache-2.0
/* Shows which routes and rules the interface of a rail gets, and which texts the key "routing" has.
 */
#include <stdio.h>
#include <string.h>

#include "cni/routing/routing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

/* ---- the key ---- */

static int read_text(const char *text, struct routing_conf *out, struct err *e)
{
	auto_json struct json *tree = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), "text", &tree, e), 0);
	return routing_read_conf(tree, out, e);
}

START_TEST(the_key_is_a_word_or_an_object)
{
	struct routing_conf c;
	struct err e;

	ck_assert(!read_text("{}", &c, &e) && !c.rail);
	ck_assert(!read_text("{\"routing\": \"\"}", &c, &e) && !c.rail);
	ck_assert(!read_text("{\"routing\": \"rail\"}", &c, &e) && c.rail && !c.is_default);
	ck_assert(!read_text("{\"routing\": {\"mode\": \"rail\", \"default\": true, \"table\": 7, "
			     "\"supernets\": [\"10.0.0.0/8\", \"fd00::/16\"]}}",
			     &c, &e));
	ck_assert(c.rail && c.is_default && c.table == 7 && c.n_supernets == 2);
	ck_assert(c.supernet[1].len == 16 && c.supernet[1].addr.family == IP_V6);
}
END_TEST

static const struct {
	const char *text;
	enum err_code code;
	const char *says;
} wrong[] = {
	{ "\"other\"", ERR_FIELD, "routing: must be \"rail\", got \"other\"" },
	{ "[]", ERR_DECODE, "routing: must be \"rail\" or an object, got an array" },
	{ "{}", ERR_CONFIG, "routing.mode" },
	{ "{\"mode\": \"x\"}", ERR_FIELD, "routing.mode" },
	{ "{\"mode\": \"rail\", \"table\": 255}", ERR_CONFIG, "routing.table: 255" },
	{ "{\"mode\": \"rail\", \"supernet\": []}", ERR_CONFIG, "routing.supernet: there is no" },
	{ "{\"mode\": \"rail\", \"table\": 0}", ERR_CONFIG, "routing.table" },
	{ "{\"mode\": \"rail\", \"supernets\": [1]}", ERR_DECODE, "routing.supernets" },
	{ "{\"mode\": \"rail\", \"supernets\": [\"10.0.0.1\"]}", ERR_CONFIG,
	  "routing.supernets: \"10.0.0.1\"" },
	{ "{\"mode\": \"rail\", \"supernets\": [\"10.0.0.0/8\", \"0.0.0.0/0\"]}", ERR_CONFIG,
	  "routing.supernets: 0.0.0.0/0 is every network" },
	{ "{\"mode\": \"rail\", \"supernets\": [\"::/0\"]}", ERR_CONFIG,
	  "routing.supernets: ::/0 is every network" },
};

START_TEST(a_wrong_key_is_named)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct routing_conf c = { .table = 77 };
		struct err e = { 0 };
		char text[200];

		(void)snprintf(text, sizeof(text), "{\"routing\": %s}", wrong[i].text);
		ck_assert_int_eq(read_text(text, &c, &e), -1);
		ck_assert_int_eq(e.code, wrong[i].code);
		ck_assert_msg(strstr(e.msg, wrong[i].says), "%s: %s", wrong[i].text, e.msg);
		/* A failure leaves the output. */
		ck_assert(!c.rail && c.table == 77 && !c.n_supernets);
	}
}
END_TEST

START_TEST(too_many_supernets_are_refused)
{
	char text[1024] = "{\"routing\": {\"mode\": \"rail\", \"supernets\": [\"10.0.0.0/8\"";
	struct routing_conf c;
	struct err e;

	for (int i = 0; i < ROUTING_SUPERNETS_MAX; i++)
		(void)strcat(text, ", \"10.0.0.0/8\"");
	ck_assert_int_eq(read_text(strcat(text, "]}}"), &c, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
}
END_TEST

/* ---- the plan ---- */

static struct ip ip(const char *text)
{
	struct ip out;

	ck_assert_int_eq(ip_parse(text, &out), 0);
	return out;
}

static struct ip_prefix prefix(const char *text)
{
	struct ip_prefix out;

	ck_assert_int_eq(ip_parse_prefix(text, &out), 0);
	return out;
}

/* "DST [via GW] [onlink] table N" for routes, "from ADDRESS table N" for rules. Static text. */
static const char *say(const struct routing_plan *p)
{
	static char text[2048];
	char a[PREFIX_STR_LEN], b[IP_STR_LEN];
	size_t len = 0;

	*text = '\0';
	for (size_t i = 0; i < p->n_routes; i++) {
		const struct route_spec *r = &p->route[i];

		ck_assert_int_eq(r->ifindex, 5);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%s table %u\n",
					ip_format_prefix(r->dst, a), r->gw.family ? " via " : "",
					ip_format(r->gw, b), r->onlink ? " onlink" : "", r->table);
	}
	for (size_t i = 0; i < p->n_rules; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "from %s table %u\n",
					ip_format_prefix(p->rule[i].from, a), p->rule[i].table);
	return text;
}

static const struct routing_place place = { 5, 1000 };

struct scene {
	struct cni_ip ips[2];
	struct cni_route routes[3];
	struct cni_result r;
	struct routing_conf c;
};

static void dual_stack(struct scene *s)
{
	*s = (struct scene){
		.ips = { { .address = prefix("10.1.0.5/24"), .gateway = ip("10.1.0.1") },
			 { .address = prefix("fd00::5/64"), .gateway = ip("fd00::1") } },
		.r = { .ips = s->ips, .n_ips = 2, .routes = s->routes },
		.c = { .rail = true }
	};
}

static void plans(const struct scene *s, const char *expected)
{
	auto_routing_plan struct routing_plan p = { 0 };
	struct err e;

	ck_assert_int_eq(routing_plan(&s->c, &s->r, &place, &p, &e), 0);
	ck_assert_str_eq(say(&p), expected);
}

START_TEST(a_table_for_both_families)
{
	struct scene s;

	dual_stack(&s);
	plans(&s, "10.1.0.0/24 table 1000\nfd00::/64 table 1000\nfe80::/64 table 1000\n"
		  "0.0.0.0/0 via 10.1.0.1 table 1000\n::/0 via fd00::1 table 1000\n"
		  "from 10.1.0.5/32 table 1000\nfrom fd00::5/128 table 1000\n");
}
END_TEST

START_TEST(without_a_gateway_there_is_no_default_route)
{
	struct scene s;

	dual_stack(&s);
	s.ips[0].gateway.family = s.ips[1].gateway.family = IP_NONE;
	plans(&s, "10.1.0.0/24 table 1000\nfd00::/64 table 1000\nfe80::/64 table 1000\n"
		  "from 10.1.0.5/32 table 1000\nfrom fd00::5/128 table 1000\n");
}
END_TEST

/* Those for a table of their own stay there. A default route of the IPAM is that of the rail. */
START_TEST(routes_of_the_ipam_are_copied)
{
	struct scene s;

	dual_stack(&s);
	s.r.n_ips = 1;
	s.r.n_routes = 3;
	s.routes[0] = (struct cni_route){
		.dst = prefix("0.0.0.0/0"), .gw = ip("10.1.0.254"), .table = -1, .scope = -1
	};
	s.routes[1] = (struct cni_route){
		.dst = prefix("10.9.0.0/16"), .gw = ip("10.1.0.9"), .table = -1, .scope = -1
	};
	s.routes[2] = (struct cni_route){ .dst = prefix("10.8.0.0/16"), .table = 77, .scope = -1 };
	plans(&s, "10.1.0.0/24 table 1000\n0.0.0.0/0 via 10.1.0.254 table 1000\n"
		  "10.9.0.0/16 via 10.1.0.9 table 1000\nfrom 10.1.0.5/32 table 1000\n");
	ck_assert(!routing_keeps_main(&s.c, &s.routes[0]));
	ck_assert(routing_keeps_main(&s.c, &s.routes[1]));
	s.c.is_default = true;
	ck_assert(routing_keeps_main(&s.c, &s.routes[0]));
	s.c = (struct routing_conf){ .rail = false };
	ck_assert(routing_keeps_main(&s.c, &s.routes[0]));
}
END_TEST

START_TEST(supernets_go_by_the_gateway)
{
	auto_routing_plan struct routing_plan p = { 0 };
	struct scene s;
	struct err e;

	dual_stack(&s);
	s.r.n_ips = 1;
	s.c.supernet[0] = prefix("10.0.0.0/8");
	s.c.n_supernets = 1;
	plans(&s, "10.1.0.0/24 table 1000\n0.0.0.0/0 via 10.1.0.1 table 1000\n"
		  "10.0.0.0/8 via 10.1.0.1 table 0\nfrom 10.1.0.5/32 table 1000\n");
	s.c.supernet[0] = prefix("fd00::/16");
	ck_assert_int_eq(routing_plan(&s.c, &s.r, &place, &p, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "routing.supernets: fd00::/16 needs a gateway"));
}
END_TEST

/* Pools of /32 have a gateway that no address covers. */
START_TEST(a_gateway_beyond_the_network_is_on_the_link)
{
	struct scene s;

	dual_stack(&s);
	s.r.n_ips = 1;
	s.ips[0].address.len = 32;
	plans(&s, "10.1.0.5/32 table 1000\n0.0.0.0/0 via 10.1.0.1 onlink table 1000\n"
		  "from 10.1.0.5/32 table 1000\n");
	s.ips[0] = s.ips[1];
	s.ips[0].address.len = 128;
	plans(&s,
	      "fd00::5/128 table 1000\nfe80::/64 table 1000\n::/0 via fd00::1 onlink table 1000\n"
	      "from fd00::5/128 table 1000\n");
	s.ips[0].gateway = ip("fe80::1");
	plans(&s, "fd00::5/128 table 1000\nfe80::/64 table 1000\n::/0 via fe80::1 table 1000\n"
		  "from fd00::5/128 table 1000\n");
}
END_TEST

static int plan_again(void *arg, struct err *e)
{
	auto_routing_plan struct routing_plan p = { 0 };
	const struct scene *s = arg;

	return routing_plan(&s->c, &s->r, &place, &p, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	struct scene s;

	dual_stack(&s);
	ck_assert_str_eq(alloc_fail_each(plan_again, &s), "ok");
}
END_TEST

TEST_PROGRAM("cni/routing_plan", the_key_is_a_word_or_an_object, a_wrong_key_is_named,
	     too_many_supernets_are_refused, a_table_for_both_families,
	     without_a_gateway_there_is_no_default_route, routes_of_the_ipam_are_copied,
	     supernets_go_by_the_gateway, a_gateway_beyond_the_network_is_on_the_link,
	     each_failing_allocation_is_an_error)
