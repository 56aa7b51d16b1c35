/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_print_test.c: shows results printed in each version, and what stays the same when they
 * are read again.
 */
#include <stdio.h>
#include <string.h>

#include "cni/protocol/result.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

/* Read text; what is returned owns its tree. */
static void read_text(const char *text, enum cni_version v, struct cni_result *r)
{
	struct err e = { .msg = "" };
	struct json *tree = NULL;

	*r = (struct cni_result){ 0 };
	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0 &&
			      cni_result_parse(tree, "result", v, r, &e) == 0,
		      "%s: %s", text, e.msg);
	r->tree = tree;
}

/* Printed, and made one line so that it can be written down here. */
static char *print(const struct cni_result *r, enum cni_version v)
{
	auto_free char *text = NULL;
	auto_json struct json *tree = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(cni_result_print(r, v, &text, &e) == 0, "%s: %s", cni_version_name(v), e.msg);
	ck_assert_int_ne(text[strlen(text) - 1], '\n'); /* CNI-098 */
	ck_assert_int_eq(json_parse(text, strlen(text), "printed", &tree, &e), 0);
	char *line = json_print(tree, false);
	ck_assert_ptr_nonnull(line);
	return line;
}

static void prints(const struct cni_result *r, enum cni_version v, const char *want)
{
	auto_free char *got = print(r, v);

	ck_assert_str_eq(got, want);
}

/* From the text of one version to that of another. */
static void becomes(const char *from, enum cni_version v_from, enum cni_version v_to,
		    const char *want)
{
	auto_result struct cni_result r;

	read_text(from, v_from, &r);
	prints(&r, v_to, want);
}

#define NEW_INTERFACES(rest)                                                                       \
	"\"interfaces\":[{\"name\":\"br0\"},{\"name\":\"net1\",\"mac\":\"02:00:00:00:00:02\","     \
	"\"sandbox\":\"/n\"" rest "}],"
#define NEW_ROUTES                                                                                 \
	"\"routes\":[{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"fd01::/16\",\"gw\":\"fd00::1\","           \
	"\"mtu\":1300,\"advmss\":1200,\"priority\":7,\"table\":0,\"scope\":0}]"

static const char newest[] = "{\"cniVersion\":\"1.1.0\"," NEW_INTERFACES(
	",\"mtu\":1400,\"pciID\":\"0000:04:00.5\","
	"\"socketPath\":\"/s\"") "\"ips\":[{\"address\":\"10.1.0.5/16\","
				 "\"gateway\":\"10.1.0.1\",\"interface\":1},"
				 "{\"address\":\"fd00::5/64\",\"interface\":1}]," NEW_ROUTES "}";

START_TEST(cni_105_the_newest_stays_as_it_is)
{
	becomes(newest, CNI_110, CNI_110, newest);
}
END_TEST

/* CNI-097: between 1.0 and 1.1 only the label changes; a plugin of 1.0.0 may have said more. */
START_TEST(cni_097_a_result_gets_the_version_asked_for)
{
	char older[sizeof(newest)];

	strcpy(older, newest);
	memcpy(strstr(older, "1.1.0"), "1.0.0", 5);
	becomes(newest, CNI_110, CNI_100, older);
	becomes(older, CNI_100, CNI_100, older);
	becomes(older, CNI_100, CNI_110, newest);
}
END_TEST

/* But what we make ourselves has no keys that 1.0.0 does not have (CNI-095). */
START_TEST(cni_095_our_result_in_each_version)
{
	struct cni_interface i = { .name = "net1", .sandbox = "/n", .mtu = 1400, .pci_id = "p" };
	struct cni_ip ip = { .address = { { IP_V4, 0x0a000005 }, 8 },
			     .gateway = { IP_V4, 0x0a000001 } };
	const struct cni_result r = { .interfaces = &i, .n_interfaces = 1, .ips = &ip, .n_ips = 1 };
	char want[400];

	for (int v = CNI_030; v <= CNI_110; v++) {
		(void)snprintf(want, sizeof(want),
			       "{\"cniVersion\":\"%s\",\"interfaces\":[{\"name\":\"net1\","
			       "\"sandbox\":\"/n\"%s}],\"ips\":[{%s\"address\":\"10.0.0.5/8\","
			       "\"gateway\":\"10.0.0.1\",\"interface\":0}]%s}",
			       cni_version_name((enum cni_version)v),
			       v >= CNI_110 ? ",\"mtu\":1400,\"pciID\":\"p\"" : "",
			       v < CNI_100 ? "\"version\":\"4\"," : "",
			       v < CNI_100 ? ",\"dns\":{}" : "");
		prints(&r, (enum cni_version)v, want);
	}
}
END_TEST

/* What sriov-cni's results have, in each version. */
START_TEST(the_mtu_of_a_moved_device_is_printed)
{
	for (enum cni_version v = CNI_030; v <= CNI_110; v++) {
		struct cni_interface i = { .name = "net1", .mtu = 9000, .moved = true };
		struct cni_result r = { .interfaces = &i, .n_interfaces = 1 };
		auto_free char *text = NULL;
		struct err e = { .msg = "" };

		ck_assert_int_eq(cni_result_print(&r, v, &text, &e), 0);
		ck_assert_int_eq(strstr(text, "9000") != NULL, v >= CNI_100);
		i.moved = false;
		auto_free char *made = NULL;
		ck_assert_int_eq(cni_result_print(&r, v, &made, &e), 0);
		ck_assert_int_eq(strstr(made, "9000") != NULL, v >= CNI_110);
	}
}
END_TEST

/* mtu, pciID and socketPath go, the keys of routes stay, the family and dns come. */
START_TEST(cni_096_down_to_the_shape_between)
{
	static const char *const versions[] = { "0.3.0", "0.3.1", "0.4.0" };
	char want[sizeof(newest) + 100];

	for (int i = 0; i < 3; i++) {
		(void)snprintf(
			want, sizeof(want),
			"{\"cniVersion\":\"%s\"," NEW_INTERFACES(
				"") "\"ips\":[{\"version\":\"4\",\"address\":\"10.1.0.5/16\","
				    "\"gateway\":\"10.1.0.1\",\"interface\":1},"
				    "{\"version\":\"6\",\"address\":\"fd00::5/64\","
				    "\"interface\":1}]," NEW_ROUTES ",\"dns\":{}}",
			versions[i]);
		becomes(newest, CNI_110, (enum cni_version)(CNI_030 + i), want);
	}
}
END_TEST

/* The first address of each family, its routes with dst and gw, and no more. */
START_TEST(cni_096_down_to_the_oldest_shape)
{
	static const char from[] =
		"{\"interfaces\":[{\"name\":\"a\"}],\"ips\":[{\"address\":\"fd00::5/64\","
		"\"gateway\":\"fd00::1\",\"interface\":0},{\"address\":\"10.0.0.5/8\"},"
		"{\"address\":\"10.0.0.6/8\"},{\"address\":\"fd00::6/64\"}],\"routes\":["
		"{\"dst\":\"fd01::/16\",\"gw\":\"fd00::1\",\"mtu\":1300,\"x\":1},"
		"{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"10.0.0.0/9\",\"gw\":\"10.0.0.1\"}],"
		"\"dns\":{\"domain\":\"d\"}}";

	becomes(from, CNI_110, CNI_020,
		"{\"cniVersion\":\"0.2.0\",\"ip4\":{\"ip\":\"10.0.0.5/8\",\"routes\":["
		"{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"10.0.0.0/9\",\"gw\":\"10.0.0.1\"}]},"
		"\"ip6\":{\"ip\":\"fd00::5/64\",\"gateway\":\"fd00::1\",\"routes\":["
		"{\"dst\":\"fd01::/16\",\"gw\":\"fd00::1\"}]},\"dns\":{\"domain\":\"d\"}}");
	becomes("{\"ips\":[{\"address\":\"fd00::5/64\"}],\"routes\":[{\"dst\":\"0.0.0.0/0\"}]}",
		CNI_110, CNI_010,
		"{\"cniVersion\":\"0.1.0\",\"ip6\":{\"ip\":\"fd00::5/64\"},\"dns\":{}}");
}
END_TEST

START_TEST(cni_097_up_from_the_oldest_shape)
{
	static const char from[] =
		"{\"cniVersion\":\"0.2.0\",\"ip4\":{\"ip\":\"10.0.0.5/8\",\"gateway\":\"10.0.0.1\","
		"\"routes\":[{\"dst\":\"0.0.0.0/0\"}]},\"ip6\":{\"ip\":\"fd00::5/64\"},\"dns\":{}}";

	becomes(from, CNI_020, CNI_020, from);
	becomes(from, CNI_020, CNI_031,
		"{\"cniVersion\":\"0.3.1\",\"ips\":[{\"version\":\"4\",\"address\":\"10.0.0.5/8\","
		"\"gateway\":\"10.0.0.1\"},{\"version\":\"6\",\"address\":\"fd00::5/64\"}],"
		"\"routes\":[{\"dst\":\"0.0.0.0/0\"}],\"dns\":{}}");
	becomes(from, CNI_020, CNI_110,
		"{\"cniVersion\":\"1.1.0\",\"ips\":[{\"address\":\"10.0.0.5/8\","
		"\"gateway\":\"10.0.0.1\"},{\"address\":\"fd00::5/64\"}],"
		"\"routes\":[{\"dst\":\"0.0.0.0/0\"}]}");
}
END_TEST

/* CNI-096, CNI-142: what a version cannot say is an error, not a lie. */
START_TEST(the_oldest_shape_needs_an_address)
{
	static struct cni_interface i = { .name = "net1" };
	const struct cni_result r = { .interfaces = &i, .n_interfaces = 1 };
	char untouched[] = "x";
	struct err e;

	for (int v = CNI_010; v <= CNI_020; v++) {
		char *text = untouched;

		ck_assert_int_eq(cni_result_print(&r, (enum cni_version)v, &text, &e), -1);
		ck_assert_ptr_eq(text, untouched);
		ck_assert_int_eq((int)e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(e.msg, cni_version_name((enum cni_version)v)));
	}
	prints(&r, CNI_030,
	       "{\"cniVersion\":\"0.3.0\",\"interfaces\":[{\"name\":\"net1\"}],\"dns\":{}}");
}
END_TEST

/* CNI-098 */
START_TEST(cni_098_empty_lists_are_left_out)
{
	const struct cni_result nothing = { 0 };

	prints(&nothing, CNI_110, "{\"cniVersion\":\"1.1.0\"}");
	prints(&nothing, CNI_100, "{\"cniVersion\":\"1.0.0\"}");
	prints(&nothing, CNI_040, "{\"cniVersion\":\"0.4.0\",\"dns\":{}}");
	becomes("{\"interfaces\":[],\"ips\":[],\"routes\":[],\"dns\":{}}", CNI_110, CNI_110,
		"{\"cniVersion\":\"1.1.0\"}");
}
END_TEST

/* CNI-105, CNI-163: at every level, null and repeated values included. */
START_TEST(cni_105_unknown_keys_survive)
{
	static const char text[] =
		"{\"cniVersion\":\"%s\",\"interfaces\":[{\"name\":\"a\",\"x\":{\"y\":[1,null]},"
		"\"n\":null}],\"ips\":[{%s\"address\":\"10.0.0.5/8\",\"z\":\"\xc3\xa9\"}],"
		"\"routes\":[{\"dst\":\"0.0.0.0/0\",\"onlink\":true}],%s\"vendor.io/"
		"k\":9007199254740991,"
		"\"e\":{}}";
	char from[sizeof(text) + 100], to[sizeof(text) + 100];

	for (int a = CNI_030; a <= CNI_110; a++) {
		for (int b = CNI_030; b <= CNI_110; b++) {
			(void)snprintf(from, sizeof(from), text,
				       cni_version_name((enum cni_version)a),
				       a < CNI_100 ? "\"version\":\"4\"," : "", "");
			(void)snprintf(to, sizeof(to), text, cni_version_name((enum cni_version)b),
				       b < CNI_100 ? "\"version\":\"4\"," : "",
				       b < CNI_100 ? "\"dns\":{}," : "");
			becomes(from, (enum cni_version)a, (enum cni_version)b, to);
		}
	}
	becomes("{\"ip4\":{\"ip\":\"10.0.0.5/8\"},\"vendor\":[1]}", CNI_020, CNI_020,
		"{\"cniVersion\":\"0.2.0\",\"ip4\":{\"ip\":\"10.0.0.5/8\"},\"dns\":{},"
		"\"vendor\":[1]}");
}
END_TEST

/* ---- properties ---- */

struct dice {
	uint64_t state;
};

static unsigned roll(struct dice *d, unsigned sides)
{
	d->state = d->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(d->state >> 33) % sides;
}

static struct ip some_ip(struct dice *d, enum ip_family f)
{
	struct ip a = { .family = f, .v = roll(d, 1u << 31) };

	if (f == IP_V6)
		a.v = (u128)roll(d, 1u << 31) << 97 | a.v;
	return a;
}

static struct ip_prefix some_prefix(struct dice *d, enum ip_family f)
{
	return (struct ip_prefix){ some_ip(d, f), (uint8_t)roll(d, ip_bits(f) + 1) };
}

static uint32_t some_u32(struct dice *d)
{
	static const uint32_t odd[] = { 0, 1, 1500, 65535, 0x7fffffff, UINT32_MAX };

	return odd[roll(d, ARRAY_SIZE(odd))];
}

static enum ip_family some_family(struct dice *d)
{
	return roll(d, 2) ? IP_V4 : IP_V6;
}

static void add_some(struct dice *d, struct cni_result *r)
{
	static const char *const text[] = { "net1", "\xc3\xa9\"\\\n", "/run/netns/x", NULL };
	struct err e;

	for (unsigned n = roll(d, 4); n > 0; n--) {
		struct cni_interface i = { .name = text[roll(d, 3)],
					   .mac = text[roll(d, 4)],
					   .sandbox = text[roll(d, 4)],
					   .pci_id = text[roll(d, 4)],
					   .socket_path = text[roll(d, 4)],
					   .mtu = some_u32(d) };
		ck_assert_int_eq(cni_result_add_interface(r, &i, &e), 0);
	}
	for (unsigned n = roll(d, 4); n > 0; n--) {
		enum ip_family f = some_family(d);
		struct cni_ip i = { .address = some_prefix(d, f),
				    .interface = (int)roll(d, (unsigned)r->n_interfaces + 1) - 1 };
		if (roll(d, 2))
			i.gateway = some_ip(d, f);
		ck_assert_int_eq(cni_result_add_ip(r, &i, &e), 0);
	}
	for (unsigned n = roll(d, 4); n > 0; n--) {
		enum ip_family f = some_family(d);
		struct cni_route i = { .dst = some_prefix(d, f),
				       .mtu = some_u32(d),
				       .advmss = some_u32(d),
				       .priority = some_u32(d),
				       .table = (int64_t)some_u32(d) - (int64_t)roll(d, 2),
				       .scope = (int)roll(d, 257) - 1 };
		if (roll(d, 2))
			i.gw = some_ip(d, f);
		if (i.table < 0)
			i.table = -1;
		ck_assert_int_eq(cni_result_add_route(r, &i, &e), 0);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_prefix(struct ip_prefix a, struct ip_prefix b)
{
	return ip_equal(a.addr, b.addr) && a.addr.family == b.addr.family && a.len == b.len;
}

static void is_same(const struct cni_result *a, const struct cni_result *b, enum cni_version v)
{
	ck_assert_uint_eq(a->n_interfaces, b->n_interfaces);
	ck_assert_uint_eq(a->n_ips, b->n_ips);
	ck_assert_uint_eq(a->n_routes, b->n_routes);
	for (size_t i = 0; i < a->n_interfaces; i++) {
		const struct cni_interface *x = &a->interfaces[i], *y = &b->interfaces[i];
		ck_assert(same_text(x->name, y->name) && same_text(x->mac, y->mac) &&
			  same_text(x->sandbox, y->sandbox));
		ck_assert(v < CNI_110 || (x->mtu == y->mtu && same_text(x->pci_id, y->pci_id) &&
					  same_text(x->socket_path, y->socket_path)));
	}
	for (size_t i = 0; i < a->n_ips; i++) {
		const struct cni_ip *x = &a->ips[i], *y = &b->ips[i];
		ck_assert(same_prefix(x->address, y->address) && ip_equal(x->gateway, y->gateway) &&
			  x->interface == y->interface);
	}
	for (size_t i = 0; i < a->n_routes; i++) {
		const struct cni_route *x = &a->routes[i], *y = &b->routes[i];
		ck_assert(same_prefix(x->dst, y->dst) && ip_equal(x->gw, y->gw) &&
			  x->mtu == y->mtu && x->advmss == y->advmss &&
			  x->priority == y->priority && x->table == y->table &&
			  x->scope == y->scope);
	}
}

/* Printed and read again it is the same result, and printed once more the same text. */
START_TEST(printing_and_parsing_keep_a_result)
{
	struct dice d = { 20261121 };

	for (int round = 0; round < 3000; round++) {
		auto_result struct cni_result made = { 0 }, again = { 0 };
		enum cni_version v = (enum cni_version)(CNI_030 + round % 5);

		add_some(&d, &made);
		auto_free char *first = print(&made, v);
		read_text(first, CNI_010, &again); /* it names its own version */
		is_same(&made, &again, v);
		auto_free char *second = print(&again, v);
		ck_assert_str_eq(first, second);
	}
}
END_TEST

/* In the oldest shape the first address of each family makes the trip. */
START_TEST(printing_and_parsing_keep_the_oldest_shape)
{
	struct dice d = { 7 };

	for (int round = 0; round < 1000; round++) {
		auto_result struct cni_result made = { 0 }, again = { 0 };
		enum cni_version v = round % 2 ? CNI_010 : CNI_020;

		add_some(&d, &made);
		if (made.n_ips == 0)
			continue;
		auto_free char *first = print(&made, v);
		read_text(first, CNI_110, &again);
		ck_assert_uint_ge(again.n_ips, 1);
		ck_assert_uint_le(again.n_ips, 2);
		auto_free char *second = print(&again, v);
		ck_assert_str_eq(first, second);
	}
}
END_TEST

/* Through any version and back nothing is lost that the narrower one can say. */
START_TEST(conversion_to_a_version_and_back_keeps_a_result)
{
	struct dice d = { 11 };

	for (int round = 0; round < 1000; round++) {
		auto_result struct cni_result made = { 0 }, back = { 0 };
		enum cni_version v = (enum cni_version)(CNI_030 + round % 5);

		add_some(&d, &made);
		auto_free char *there = print(&made, v);
		read_text(there, v, &back);
		auto_free char *newest_text = print(&back, CNI_110);
		auto_result struct cni_result last;
		read_text(newest_text, CNI_110, &last);
		auto_free char *again = print(&last, v);
		ck_assert_str_eq(there, again);
	}
}
END_TEST

/* ---- memory ---- */

struct print_arg {
	const struct cni_result *r;
	enum cni_version v;
};

static int print_and_free(void *arg, struct err *e)
{
	const struct print_arg *a = arg;
	auto_free char *text = NULL;

	return cni_result_print(a->r, a->v, &text, e);
}

START_TEST(out_of_memory)
{
	static const char text[] =
		"{\"cniVersion\":\"1.1.0\",\"interfaces\":[{\"name\":\"a\",\"mac\":\"m\","
		"\"sandbox\":\"s\","
		"\"mtu\":1,\"pciID\":\"p\",\"socketPath\":\"s\",\"x\":1}],\"ips\":["
		"{\"address\":\"10.0.0.5/8\",\"gateway\":\"10.0.0.1\",\"interface\":0,\"x\":1},"
		"{\"address\":\"fd00::5/8\"}],\"routes\":[{\"dst\":\"0.0.0.0/"
		"0\",\"gw\":\"10.0.0.1\","
		"\"mtu\":1,\"advmss\":1,\"priority\":1,\"table\":1,\"scope\":1,\"x\":1},"
		"{\"dst\":\"::/0\"}],\"dns\":{\"domain\":\"d\"},\"x\":[{}]}";
	auto_result struct cni_result full, plain;

	read_text(text, CNI_110, &full);
	read_text("{\"ips\":[{\"address\":\"10.0.0.5/8\"}]}", CNI_110, &plain);
	for (int v = CNI_010; v <= CNI_110; v++) {
		struct print_arg a = { &full, (enum cni_version)v };
		struct print_arg b = { &plain, (enum cni_version)v };

		ck_assert_str_eq(alloc_fail_each(print_and_free, &a), "ok");
		ck_assert_str_eq(alloc_fail_each(print_and_free, &b), "ok");
	}
}
END_TEST

TEST_PROGRAM("cni/protocol/result_print", cni_105_the_newest_stays_as_it_is,
	     cni_097_a_result_gets_the_version_asked_for, cni_095_our_result_in_each_version,
	     cni_096_down_to_the_shape_between, cni_096_down_to_the_oldest_shape,
	     cni_097_up_from_the_oldest_shape, the_oldest_shape_needs_an_address,
	     cni_098_empty_lists_are_left_out, cni_105_unknown_keys_survive,
	     printing_and_parsing_keep_a_result, printing_and_parsing_keep_the_oldest_shape,
	     conversion_to_a_version_and_back_keeps_a_result, out_of_memory,
	     the_mtu_of_a_moved_device_is_printed)
