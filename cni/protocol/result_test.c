/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_test.c: shows how results of each version are read; result_print_test.c has the
 * printing.
 */
#include "cni/protocol/result.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

/* Read text; what is returned owns its tree. */
static int read_text(const char *text, enum cni_version v, struct cni_result *r, struct err *e)
{
	auto_json struct json *tree = NULL;

	if (json_parse(text, strlen(text), "test", &tree, e) ||
	    cni_result_parse(tree, "prevResult", v, r, e))
		return -1;
	r->tree = TAKE_PTR(tree);
	return 0;
}

static void accepts(const char *text, enum cni_version v, struct cni_result *r)
{
	struct err e = { .msg = "" };

	*r = (struct cni_result){ 0 };
	ck_assert_msg(read_text(text, v, r, &e) == 0, "%s: %s: %s", cni_version_name(v), text,
		      e.msg);
}

/* Refused with that code and a message that names the key and, unless NULL, quotes the value. */
static void refuses(const char *text, enum cni_version v, int code, const char *key,
		    const char *value)
{
	struct cni_result r = { .n_ips = 77 };
	struct err e;

	ck_assert_msg(read_text(text, v, &r, &e) == -1, "accepted: %s", text);
	ck_assert_msg((int)e.code == code, "%s: code %d: %s", text, (int)e.code, e.msg);
	ck_assert_msg(strstr(e.msg, key), "\"%s\" is not in: %s", key, e.msg);
	ck_assert_msg(!value || strstr(e.msg, value), "\"%s\" is not in: %s", value, e.msg);
	ck_assert_uint_eq(r.n_ips, 77); /* left alone */
}

static void is_ip(struct ip a, const char *want)
{
	char text[IP_STR_LEN];

	ck_assert_str_eq(ip_format(a, text), want);
}

static void is_prefix(struct ip_prefix p, const char *want)
{
	char text[PREFIX_STR_LEN];

	ck_assert_str_eq(ip_format_prefix(p, text), want);
}

static const char modern[] =
	"{\"cniVersion\":\"1.1.0\","
	"\"interfaces\":["
	"{\"name\":\"br0\",\"mac\":\"02:00:00:00:00:01\"},"
	"{\"name\":\"net1\",\"mac\":\"02:00:00:00:00:02\",\"sandbox\":\"/run/netns/a\","
	"\"mtu\":1400,\"pciID\":\"0000:04:00.5\",\"socketPath\":\"/s\"}],"
	"\"ips\":[{\"address\":\"10.1.0.5/16\",\"gateway\":\"10.1.0.1\",\"interface\":1},"
	"{\"address\":\"2001:db8::5/64\"},{\"address\":\"10.2.0.5/32\",\"interface\":-1}],"
	"\"routes\":[{\"dst\":\"0.0.0.0/0\"},"
	"{\"dst\":\"2001:db8:1::/48\",\"gw\":\"2001:db8::1\",\"mtu\":1300,\"advmss\":1200,"
	"\"priority\":7,\"table\":0,\"scope\":0},"
	"{\"dst\":\"10.3.0.0/24\",\"table\":4294967295,\"scope\":253}],"
	"\"dns\":{\"nameservers\":[\"10.1.0.1\"]}}";

START_TEST(cni_095_the_newest_shape_is_read)
{
	auto_result struct cni_result r;

	accepts(modern, CNI_110, &r);
	ck_assert_uint_eq(r.n_interfaces, 2);
	ck_assert_str_eq(r.interfaces[0].name, "br0");
	ck_assert_str_eq(r.interfaces[0].mac, "02:00:00:00:00:01");
	ck_assert_ptr_null(r.interfaces[0].sandbox);
	ck_assert_ptr_null(r.interfaces[0].pci_id);
	ck_assert_ptr_null(r.interfaces[0].socket_path);
	ck_assert_uint_eq(r.interfaces[0].mtu, 0);
	ck_assert_str_eq(r.interfaces[1].sandbox, "/run/netns/a");
	ck_assert_str_eq(r.interfaces[1].pci_id, "0000:04:00.5");
	ck_assert_str_eq(r.interfaces[1].socket_path, "/s");
	ck_assert_uint_eq(r.interfaces[1].mtu, 1400);
	ck_assert_ptr_nonnull(r.src);
	ck_assert_uint_eq(json_len(json_get(r.dns, "nameservers")), 1);
}
END_TEST

START_TEST(cni_101_addresses_are_read_and_checked)
{
	auto_result struct cni_result r;

	accepts(modern, CNI_110, &r);
	ck_assert_uint_eq(r.n_ips, 3);
	is_prefix(r.ips[0].address, "10.1.0.5/16"); /* host bits kept */
	is_ip(r.ips[0].gateway, "10.1.0.1");
	ck_assert_int_eq(r.ips[0].interface, 1);
	is_prefix(r.ips[1].address, "2001:db8::5/64");
	ck_assert_int_eq((int)r.ips[1].gateway.family, IP_NONE);
	ck_assert_int_eq(r.ips[1].interface, -1); /* CNI-100: absent and -1 are the same */
	ck_assert_int_eq(r.ips[2].interface, -1);
}
END_TEST

START_TEST(cni_106_routes_are_read_and_checked)
{
	auto_result struct cni_result r;

	accepts(modern, CNI_110, &r);
	ck_assert_uint_eq(r.n_routes, 3);
	is_prefix(r.routes[0].dst, "0.0.0.0/0");
	ck_assert_int_eq((int)r.routes[0].gw.family, IP_NONE);
	ck_assert_int_eq(r.routes[0].table, -1);
	ck_assert_int_eq(r.routes[0].scope, -1);
	ck_assert_uint_eq(r.routes[0].mtu, 0);
	is_ip(r.routes[1].gw, "2001:db8::1");
	ck_assert_uint_eq(r.routes[1].mtu, 1300);
	ck_assert_uint_eq(r.routes[1].advmss, 1200);
	ck_assert_uint_eq(r.routes[1].priority, 7);
	ck_assert_int_eq(r.routes[1].table, 0); /* 0 is not absent */
	ck_assert_int_eq(r.routes[1].scope, 0);
	ck_assert_int_eq(r.routes[2].table, 4294967295);
	ck_assert_int_eq(r.routes[2].scope, 253);
}
END_TEST

START_TEST(cni_094_the_shape_between_is_read)
{
	static const char text[] =
		"{\"interfaces\":[{\"name\":\"e\"}],\"ips\":[{\"version\":\"4\","
		"\"address\":\"10.0.0.2/24\",\"interface\":0}],\"routes\":[],\"dns\":{}}";

	for (int v = CNI_030; v <= CNI_110; v++) {
		auto_result struct cni_result r;

		accepts(text, (enum cni_version)v, &r);
		ck_assert_uint_eq(r.n_interfaces, 1);
		ck_assert_uint_eq(r.n_ips, 1);
		ck_assert_uint_eq(r.n_routes, 0);
		ck_assert_int_eq(r.ips[0].interface, 0);
	}
}
END_TEST

START_TEST(cni_093_the_oldest_shape_is_read)
{
	static const char text[] = "{\"ip4\":{\"ip\":\"10.0.0.2/24\",\"gateway\":\"10.0.0.1\","
				   "\"routes\":[{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"10.9.0.0/"
				   "16\",\"gw\":\"10.0.0.9\"}]},"
				   "\"ip6\":{\"ip\":\"fd00::2/64\",\"routes\":[{\"dst\":\"::/"
				   "0\",\"gw\":\"fd00::1\"}]},"
				   "\"dns\":{\"domain\":\"d\"}}";

	for (int v = CNI_010; v <= CNI_020; v++) {
		auto_result struct cni_result r;

		accepts(text, (enum cni_version)v, &r);
		ck_assert_uint_eq(r.n_interfaces, 0); /* CNI-097 */
		ck_assert_uint_eq(r.n_ips, 2);
		is_prefix(r.ips[0].address, "10.0.0.2/24");
		is_ip(r.ips[0].gateway, "10.0.0.1");
		ck_assert_int_eq(r.ips[0].interface, -1);
		is_prefix(r.ips[1].address, "fd00::2/64");
		ck_assert_uint_eq(r.n_routes, 3);
		is_ip(r.routes[1].gw, "10.0.0.9");
		is_prefix(r.routes[2].dst, "::/0");
		ck_assert_str_eq(json_str(json_get(r.dns, "domain")), "d");
	}
}
END_TEST

/* The result's own version decides, and without one that of the configuration (CNI-092, CNI-112).
 */
START_TEST(cni_112_the_version_of_the_result_counts)
{
	auto_result struct cni_result old = { 0 }, new = { 0 }, same = { 0 }, empty = { 0 };

	accepts("{\"cniVersion\":\"0.2.0\",\"ip4\":{\"ip\":\"10.0.0.2/24\"}}", CNI_110, &old);
	ck_assert_uint_eq(old.n_ips, 1);
	accepts("{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.0.0.2/24\"}]}", CNI_020,
		&new);
	ck_assert_uint_eq(new.n_ips, 1);
	accepts("{\"cniVersion\":null,\"ips\":[{\"address\":\"10.0.0.2/24\"}]}", CNI_040, &same);
	ck_assert_uint_eq(same.n_ips, 1);
	/* not the 0.1.0 that it means in a configuration: the addresses would be lost */
	accepts("{\"cniVersion\":\"\",\"ips\":[{\"address\":\"10.0.0.2/24\"}]}", CNI_110, &empty);
	ck_assert_uint_eq(empty.n_ips, 1);
	refuses("{\"cniVersion\":\"9.9.9\"}", CNI_110, ERR_VERSION, "prevResult.cniVersion", NULL);
	refuses("{\"cniVersion\":1}", CNI_110, ERR_DECODE, "prevResult.cniVersion", "a number");
}
END_TEST

/* CNI-128 forbids it, and the reference plugins overlook it. */
START_TEST(an_index_into_nothing_is_refused)
{
	auto_result struct cni_result r;

	accepts("{\"ips\":[{\"address\":\"10.0.0.2/24\",\"interface\":0}]}", CNI_110, &r);
	ck_assert_uint_eq(r.n_ips, 1);
	ck_assert_int_eq(r.ips[0].interface, -1);
	refuses("{\"ips\":[{\"address\":\"10.0.0.2/24\",\"interface\":1}]}", CNI_110, ERR_CONFIG,
		"prevResult.ips[0].interface", "1");
}
END_TEST

START_TEST(empty_results_are_read)
{
	static const char *const texts[] = {
		"{}",
		"{\"interfaces\":[],\"ips\":[],\"routes\":[],\"dns\":{}}",
		"{\"interfaces\":null,\"ips\":null,\"routes\":null,\"dns\":null,\"ip4\":null}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts) * CNI_VERSIONS; i++) {
		auto_result struct cni_result r;

		accepts(texts[i / CNI_VERSIONS], (enum cni_version)(i % CNI_VERSIONS), &r);
		ck_assert_uint_eq(r.n_interfaces + r.n_ips + r.n_routes, 0);
		ck_assert_uint_eq(json_len(r.dns), 0);
	}
}
END_TEST

struct bad {
	const char *text;
	int code;
	const char *key, *value;
};

static void refuse_all(const struct bad *b, size_t n, enum cni_version v)
{
	for (size_t i = 0; i < n; i++)
		refuses(b[i].text, v, b[i].code, b[i].key, b[i].value);
}

START_TEST(wrong_types_are_refused)
{
	static const struct bad bad[] = {
		{ "[]", ERR_DECODE, "prevResult", "an array" },
		{ "null", ERR_DECODE, "prevResult", "null" }, /* CNI-154 */
		{ "\"x\"", ERR_DECODE, "prevResult", "a string" },
		{ "{\"ips\":{}}", ERR_DECODE, "prevResult.ips", "an object" },
		{ "{\"ips\":[1]}", ERR_DECODE, "prevResult.ips[0]", "a number" },
		{ "{\"ips\":[null]}", ERR_DECODE, "prevResult.ips[0]", "null" },
		{ "{\"ips\":[{\"address\":5}]}", ERR_DECODE, "prevResult.ips[0].address", "5" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1/8\",\"gateway\":[]}]}", ERR_DECODE,
		  "prevResult.ips[0].gateway", "an array" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1/8\",\"interface\":\"0\"}]}", ERR_DECODE,
		  "prevResult.ips[0].interface", "\"0\"" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1/8\",\"interface\":0.5}]}", ERR_DECODE,
		  "prevResult.ips[0].interface", "0.5" },
		{ "{\"interfaces\":\"eth0\"}", ERR_DECODE, "prevResult.interfaces", "a string" },
		{ "{\"interfaces\":[\"eth0\"]}", ERR_DECODE, "prevResult.interfaces[0]",
		  "a string" },
		{ "{\"interfaces\":[{\"name\":\"a\"},{\"name\":1}]}", ERR_DECODE,
		  "prevResult.interfaces[1].name", "1" },
		{ "{\"interfaces\":[{\"name\":\"a\",\"mtu\":\"1500\"}]}", ERR_DECODE,
		  "prevResult.interfaces[0].mtu", "\"1500\"" },
		{ "{\"routes\":true}", ERR_DECODE, "prevResult.routes", "a boolean" },
		{ "{\"routes\":[[]]}", ERR_DECODE, "prevResult.routes[0]", "an array" },
		{ "{\"routes\":[{\"dst\":\"0.0.0.0/0\",\"gw\":1}]}", ERR_DECODE,
		  "prevResult.routes[0].gw", "1" },
		{ "{\"dns\":[]}", ERR_DECODE, "prevResult.dns", "an array" },
	};

	refuse_all(bad, ARRAY_SIZE(bad), CNI_110);
}
END_TEST

START_TEST(wrong_values_are_refused)
{
	static const struct bad bad[] = {
		{ "{\"ips\":[{}]}", ERR_CONFIG, "prevResult.ips[0].address", "missing" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1\"}]}", ERR_CONFIG, "prevResult.ips[0].address",
		  "\"10.0.0.1\"" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1/33\"}]}", ERR_CONFIG,
		  "prevResult.ips[0].address", "\"10.0.0.1/33\"" },
		{ "{\"ips\":[{\"address\":\"\"}]}", ERR_CONFIG, "prevResult.ips[0].address",
		  "\"\"" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1/8\",\"gateway\":\"x\"}]}", ERR_CONFIG,
		  "prevResult.ips[0].gateway", "\"x\"" },
		{ "{\"ips\":[{\"address\":\"10.0.0.1/8\",\"interface\":-2}]}", ERR_CONFIG,
		  "prevResult.ips[0].interface", "-2" },
		/* CNI-100: an index must be one */
		{ "{\"interfaces\":[{\"name\":\"a\"}],\"ips\":[{\"address\":\"10.0.0.1/8\","
		  "\"interface\":1}]}",
		  ERR_CONFIG, "prevResult.ips[0].interface", "1" },
		{ "{\"interfaces\":[{}]}", ERR_CONFIG, "prevResult.interfaces[0].name", "missing" },
		{ "{\"interfaces\":[{\"name\":\"a\",\"mtu\":-1}]}", ERR_CONFIG,
		  "prevResult.interfaces[0].mtu", "-1" },
		{ "{\"interfaces\":[{\"name\":\"a\",\"mtu\":4294967296}]}", ERR_CONFIG,
		  "prevResult.interfaces[0].mtu", "4294967296" },
		{ "{\"routes\":[{}]}", ERR_CONFIG, "prevResult.routes[0].dst", "missing" },
		{ "{\"routes\":[{\"dst\":\"default\"}]}", ERR_CONFIG, "prevResult.routes[0].dst",
		  "\"default\"" },
		{ "{\"routes\":[{\"dst\":\"10.0.0.0/8\"},{\"dst\":\"10.0.0.0/8\",\"gw\":\" \"}]}",
		  ERR_CONFIG, "prevResult.routes[1].gw", "\" \"" },
		/* an IPv4-mapped address is IPv4, as in Go */
		{ "{\"routes\":[{\"dst\":\"::ffff:10.0.0.0/104\",\"gw\":\"fd00::1\"}]}", ERR_CONFIG,
		  "prevResult.routes[0]", "fd00::1" },
		/* CNI-102 */
		{ "{\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"fd00::1\"}]}", ERR_CONFIG,
		  "prevResult.routes[0]", "fd00::1" },
		{ "{\"routes\":[{\"dst\":\"10.0.0.0/8\",\"scope\":256}]}", ERR_CONFIG,
		  "prevResult.routes[0].scope", "256" },
		{ "{\"routes\":[{\"dst\":\"10.0.0.0/8\",\"table\":-1}]}", ERR_CONFIG,
		  "prevResult.routes[0].table", "-1" },
		{ "{\"routes\":[{\"dst\":\"10.0.0.0/8\",\"table\":4294967296}]}", ERR_CONFIG,
		  "prevResult.routes[0].table", "4294967296" },
		{ "{\"routes\":[{\"dst\":\"10.0.0.0/8\",\"priority\":4294967296}]}", ERR_CONFIG,
		  "prevResult.routes[0].priority", "4294967296" },
	};

	refuse_all(bad, ARRAY_SIZE(bad), CNI_110);
}
END_TEST

START_TEST(wrong_results_of_old_versions_are_refused)
{
	static const struct bad bad[] = {
		{ "{\"ip4\":[]}", ERR_DECODE, "prevResult.ip4", "an array" },
		{ "{\"ip6\":\"fd00::1/64\"}", ERR_DECODE, "prevResult.ip6", "a string" },
		{ "{\"ip4\":{}}", ERR_CONFIG, "prevResult.ip4.ip", "missing" },
		{ "{\"ip4\":{\"ip\":\"10.0.0.1\"}}", ERR_CONFIG, "prevResult.ip4.ip",
		  "\"10.0.0.1\"" },
		{ "{\"ip4\":{\"ip\":\"10.0.0.1/8\",\"gateway\":\"-\"}}", ERR_CONFIG,
		  "prevResult.ip4.gateway", "\"-\"" },
		{ "{\"ip4\":{\"ip\":\"10.0.0.1/8\",\"routes\":{}}}", ERR_DECODE,
		  "prevResult.ip4.routes", "an object" },
		{ "{\"ip6\":{\"ip\":\"fd00::1/8\",\"routes\":[{\"dst\":\"x\"}]}}", ERR_CONFIG,
		  "prevResult.ip6.routes[0].dst", "\"x\"" },
		/* an address of the other family would be printed under the other key */
		{ "{\"ip4\":{\"ip\":\"fd00::1/64\"}}", ERR_CONFIG, "prevResult.ip4.ip",
		  "fd00::1/64" },
		{ "{\"ip6\":{\"ip\":\"10.0.0.1/8\"}}", ERR_CONFIG, "prevResult.ip6.ip",
		  "10.0.0.1/8" },
	};

	refuse_all(bad, ARRAY_SIZE(bad), CNI_020);
}
END_TEST

/* A hostile delegate cannot make us hold any number of items. */
START_TEST(too_many_items_are_refused)
{
	static const char item[] = "{\"dst\":\"10.0.0.0/8\"},";
	enum { MANY = 1025 };
	static char text[MANY * sizeof(item) + 100];

	for (int n = MANY - 1; n <= MANY; n++) {
		char *p = stpcpy(text, "{\"routes\":[");
		for (int i = 0; i < n; i++)
			p = stpcpy(p, item);
		strcpy(p - 1, "]}");
		if (n < MANY) {
			auto_result struct cni_result r;
			accepts(text, CNI_110, &r);
			ck_assert_uint_eq(r.n_routes, MANY - 1);
		} else {
			refuses(text, CNI_110, ERR_DECODE, "prevResult.routes", "1025");
		}
	}
}
END_TEST

START_TEST(a_route_is_decoded)
{
	static const char text[] = "{\"dst\":\"10.0.0.0/8\",\"gw\":\"10.0.0.1\"}";
	auto_json struct json *tree = NULL, *list = NULL;
	struct cni_route r;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "t", &tree, &e), 0);
	ck_assert_int_eq(cni_route_decode(tree, "routes[3]", &r, &e), 0);
	is_prefix(r.dst, "10.0.0.0/8");
	ck_assert_ptr_eq(r.src, tree);
	ck_assert_int_eq(json_parse("[]", 2, "t", &list, &e), 0);
	ck_assert_int_eq(cni_route_decode(list, "routes[3]", &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_DECODE);
	ck_assert_ptr_nonnull(strstr(e.msg, "routes[3]"));
}
END_TEST

START_TEST(items_can_be_appended)
{
	auto_result struct cni_result r = { 0 };
	struct err e;
	char name[40][8];

	for (int i = 0; i < 40; i++) {
		(void)snprintf(name[i], sizeof(name[i]), "n%d", i);
		ck_assert_int_eq(cni_result_add_interface(
					 &r, &(struct cni_interface){ .name = name[i] }, &e),
				 0);
		ck_assert_int_eq(cni_result_add_ip(&r, &(struct cni_ip){ .interface = i }, &e), 0);
		ck_assert_int_eq(cni_result_add_route(&r, &(struct cni_route){ .scope = i }, &e),
				 0);
	}
	ck_assert_uint_eq(r.n_interfaces, 40);
	ck_assert_uint_eq(r.n_ips, 40);
	ck_assert_uint_eq(r.n_routes, 40);
	for (int i = 0; i < 40; i++) {
		ck_assert_str_eq(r.interfaces[i].name, name[i]);
		ck_assert_int_eq(r.ips[i].interface, i);
		ck_assert_int_eq(r.routes[i].scope, i);
	}
	cni_result_clear(&r);
	ck_assert_uint_eq(r.n_interfaces + r.n_ips + r.n_routes, 0);
	cni_result_clear(&r); /* twice does no harm */
}
END_TEST

struct text_arg {
	const char *text;
	enum cni_version version;
};

static int parse_and_clear(void *arg, struct err *e)
{
	const struct text_arg *a = arg;
	auto_result struct cni_result r = { 0 };

	return read_text(a->text, a->version, &r, e);
}

START_TEST(out_of_memory)
{
	struct text_arg new = { modern, CNI_110 };
	struct text_arg old = {
		"{\"ip4\":{\"ip\":\"10.0.0.2/24\",\"routes\":[{\"dst\":\"0.0.0.0/0\"},"
		"{\"dst\":\"1.0.0.0/8\"}]},\"ip6\":{\"ip\":\"fd00::2/64\"}}",
		CNI_010
	};

	ck_assert_str_eq(alloc_fail_each(parse_and_clear, &new), "ok");
	ck_assert_str_eq(alloc_fail_each(parse_and_clear, &old), "ok");
}
END_TEST

TEST_PROGRAM("cni/protocol/result", cni_095_the_newest_shape_is_read,
	     cni_101_addresses_are_read_and_checked, cni_106_routes_are_read_and_checked,
	     cni_094_the_shape_between_is_read, cni_093_the_oldest_shape_is_read,
	     cni_112_the_version_of_the_result_counts, an_index_into_nothing_is_refused,
	     empty_results_are_read, wrong_types_are_refused, wrong_values_are_refused,
	     wrong_results_of_old_versions_are_refused, too_many_items_are_refused,
	     a_route_is_decoded, items_can_be_appended, out_of_memory)
