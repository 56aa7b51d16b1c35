// SPDX-License-Identifier: Apache-2.0
/* Shows which keys tune an interface, and which names of variables lead nowhere else. */
#include <stdio.h>
#include <string.h>

#include "cni/engine/tuning.h"
#include "lib/testing/testing.h"

struct reading {
	struct json *tree; /* the configuration borrows from it */
	struct tuning_conf c;
	struct err e;
};

static int read_text(struct reading *r, const char *text)
{
	*r = (struct reading){ .tree = NULL };
	ck_assert_int_eq(json_parse(text, strlen(text), "text", &r->tree, &r->e), 0);
	return tuning_read_conf(r->tree, &r->c, &r->e);
}

static void reading_clear(struct reading *r)
{
	json_free(r->tree);
}
#define auto_reading auto_clean(reading_clear)

START_TEST(without_a_key_nothing_is_tuned)
{
	auto_reading struct reading a = { 0 }, b = { 0 };

	ck_assert(!read_text(&a, "{}") && !tuning_is_given(&a.c));
	ck_assert(!read_text(&b, "{\"sysctl\": {}, \"txQueueLen\": 0}") && !tuning_is_given(&b.c));
}
END_TEST

START_TEST(variables_and_numbers_are_read)
{
	auto_reading struct reading r = { 0 }, n = { 0 }, twice = { 0 };

	ck_assert(!read_text(&r, "{\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \"1\", "
				 "\"net.ipv6.neigh.IFNAME.base_reachable_time_ms\": \"60000\"}}"));
	ck_assert(tuning_is_given(&r.c));
	ck_assert_uint_eq(r.c.n_sysctls, 2);
	ck_assert_str_eq(r.c.sysctl[1].key, "net.ipv6.neigh.IFNAME.base_reachable_time_ms");
	ck_assert_str_eq(r.c.sysctl[1].value, "60000");
	ck_assert(!read_text(&twice, "{\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \"1\", "
				     "\"net.ipv4.conf.IFNAME.arp_filter\": \"2\"}}"));
	ck_assert_str_eq(twice.c.sysctl[0].value, "2");
	ck_assert(!read_text(&n, "{\"txQueueLen\": 2000}"));
	ck_assert(tuning_is_given(&n.c) && n.c.has == 1u << LINK_TXQLEN &&
		  n.c.number[LINK_TXQLEN] == 2000);
}
END_TEST

START_TEST(sizes_of_segments_are_read)
{
	auto_reading struct reading r = { 0 };

	ck_assert(!read_text(&r, "{\"gso\": {\"maxSize\": 1, \"ipv4MaxSize\": 2}, "
				 "\"gro\": {\"maxSize\": 524280, \"ipv4MaxSize\": 4}}"));
	ck_assert_uint_eq(r.c.number[LINK_GSO_SIZE], 1);
	ck_assert_uint_eq(r.c.number[LINK_GSO_V4_SIZE], 2);
	ck_assert_uint_eq(r.c.number[LINK_GRO_SIZE], 524280);
	ck_assert_uint_eq(r.c.number[LINK_GRO_V4_SIZE], 4);
	ck_assert_uint_eq(r.c.has, 1u << LINK_GSO_SIZE | 1u << LINK_GSO_V4_SIZE |
					   1u << LINK_GRO_SIZE | 1u << LINK_GRO_V4_SIZE);
}
END_TEST

START_TEST(rings_are_read_one_by_one)
{
	auto_reading struct reading rx = { 0 }, tx = { 0 };

	ck_assert(!read_text(&rx, "{\"rings\": {\"rx\": 1024}}") && tuning_is_given(&rx.c));
	ck_assert(rx.c.rx_ring == 1024 && rx.c.tx_ring == 0);
	ck_assert(!read_text(&tx, "{\"rings\": {\"tx\": 512}}") && tuning_is_given(&tx.c));
	ck_assert(tx.c.rx_ring == 0 && tx.c.tx_ring == 512);
}
END_TEST

/* ---- names of variables ---- */

static const char *const refused[] = {
	"",
	"net.ipv4.ip_forward",
	"net.ipv4.conf.all.forwarding",
	"net.ipv4.conf.default.forwarding",
	"net.ipv4.conf.net1.arp_filter",
	"net.ipv4.conf.IFNAME.",
	"net.ipv4.conf.IFNAME",
	"net.ipv4.conf.IFNAME..",
	"net.ipv4.conf.IFNAME...",
	"net.ipv4.conf.IFNAME./",
	"net.ipv4.conf.IFNAME.a/b",
	"net.ipv4.conf.IFNAME.../../../kernel/core_pattern",
	"net.ipv4.conf.IFNAME.a.b",
	"net/ipv4/conf/IFNAME/arp_filter",
	"net.ipv4/conf.IFNAME.arp_filter",
	"net.ipv4.conf.ifname.arp_filter",
	"net.ipv4.conf.IFNAMEX.arp_filter",
	"net.ipv4.route.IFNAME.flush",
	"net.core.conf.IFNAME.x",
	"kernel.core_pattern",
	" net.ipv4.conf.IFNAME.arp_filter",
	"net.ipv4.conf.IFNAME.arp_filter ",
	"net.ipv4.conf.IFNAME.arp_filter\\n",
	"net.ipv4.conf.IFNAME.%s",
	"net.ipv4.conf.IFNAME.a012345678901234567890123456789012345678901234567890123456789012345",
};

START_TEST(other_variables_are_refused)
{
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		auto_reading struct reading r = { 0 };

		(void)snprintf(text, sizeof(text), "{\"sysctl\": {\"%s\": \"1\"}}", refused[i]);
		ck_assert_msg(read_text(&r, text) == -1, "%s", refused[i]);
		ck_assert_int_eq(r.e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(r.e.msg, "is not a variable of the pod's interface"));
		ck_assert_ptr_nonnull(strstr(r.e.detail, "net.ipv6.neigh.IFNAME.*"));
	}
}
END_TEST

START_TEST(a_variable_is_a_file_of_the_interface)
{
	static const struct {
		const char *key, *ifname, *path;
	} good[] = {
		{ "net.ipv4.conf.IFNAME.arp_filter", "net1", "sys/net/ipv4/conf/net1/arp_filter" },
		{ "net.ipv4.neigh.IFNAME.gc_stale_time", "a.b",
		  "sys/net/ipv4/neigh/a.b/gc_stale_time" },
		{ "net.ipv6.conf.IFNAME.accept_ra", "IFNAME",
		  "sys/net/ipv6/conf/IFNAME/accept_ra" },
		{ "net.ipv6.neigh.IFNAME.mcast_solicit", "net1",
		  "sys/net/ipv6/neigh/net1/mcast_solicit" },
		{ "net.mpls.conf.IFNAME.input", "net1", "sys/net/mpls/conf/net1/input" },
	};
	char path[TUNING_PATH_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_int_eq(tuning_path(good[i].key, good[i].ifname, path), 0);
		ck_assert_str_eq(path, good[i].path);
	}
	ck_assert_int_eq(tuning_path(good[0].key, "..", path), -1);
	ck_assert_int_eq(tuning_path(good[0].key, "a/b", path), -1);
	ck_assert_int_eq(tuning_path(good[0].key, "", path), -1);
}
END_TEST

/* ---- values ---- */

static const struct {
	const char *keys;
	enum err_code code;
	const char *says;
} wrong[] = {
	{ "\"sysctl\": []", ERR_DECODE, "sysctl" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": 1}", ERR_DECODE,
	  "sysctl.net.ipv4.conf.IFNAME.arp_filter: must be a string such as \"1\", got 1" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": null}", ERR_DECODE, "got null" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \"\"}", ERR_CONFIG,
	  "sysctl.net.ipv4.conf.IFNAME.arp_filter: \"\" is not 1 to 63" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \"1\\n2\"}", ERR_CONFIG,
	  "arp_filter" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \" 1\"}", ERR_CONFIG, "arp_filter" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \"1 \"}", ERR_CONFIG, "arp_filter" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": \"\\u00e9\"}", ERR_CONFIG,
	  "arp_filter" },
	{ "\"sysctl\": {\"net.ipv4.conf.IFNAME.arp_filter\": "
	  "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
	  ERR_CONFIG, "printable characters" },
	{ "\"txQueueLen\": -1", ERR_CONFIG, "txQueueLen" },
	{ "\"txQueueLen\": 2147483648", ERR_CONFIG, "txQueueLen" },
	{ "\"txQueueLen\": \"1\"", ERR_DECODE, "txQueueLen" },
	{ "\"macPrefix\": \"0a\"", ERR_CONFIG, "macPrefix: \"0a\" is not two bytes" },
	{ "\"macPrefix\": \"0a:1b:2c\"", ERR_CONFIG, "macPrefix" },
	{ "\"macPrefix\": \"0a.1b\"", ERR_CONFIG, "macPrefix" },
	{ "\"macPrefix\": \"0a:1g\"", ERR_CONFIG, "macPrefix" },
	{ "\"macPrefix\": \"a:1bc\"", ERR_CONFIG, "macPrefix" },
	{ "\"macPrefix\": \"0b:1b\"", ERR_CONFIG, "macPrefix: \"0b:1b\" makes no unicast address" },
	{ "\"macPrefix\": 7", ERR_DECODE, "macPrefix" },
	{ "\"gso\": false", ERR_DECODE, "gso" },
	{ "\"gro\": 65536", ERR_DECODE, "gro" },
	{ "\"gso\": {\"maxSize\": 0}", ERR_CONFIG, "gso.maxSize" },
	{ "\"rings\": 5", ERR_DECODE, "rings" },
	{ "\"rings\": {\"rx\": 0}", ERR_CONFIG, "rings.rx" },
	{ "\"rings\": {\"tx\": \"max\"}", ERR_DECODE, "rings.tx" },
	{ "\"gro\": {\"ipv4MaxSize\": 524281}", ERR_CONFIG, "gro.ipv4MaxSize" },
};

START_TEST(wrong_values_name_their_key)
{
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		auto_reading struct reading r = { 0 };

		(void)snprintf(text, sizeof(text), "{%s}", wrong[i].keys);
		ck_assert_msg(read_text(&r, text) == -1, "%s", text);
		ck_assert_msg(r.e.code == wrong[i].code, "%s: code %d", text, (int)r.e.code);
		ck_assert_msg(strstr(r.e.msg, wrong[i].says), "%s: %s", text, r.e.msg);
	}
}
END_TEST

START_TEST(too_many_variables_are_refused)
{
	char conf[4096] = "{\"sysctl\": {\"net.ipv4.conf.IFNAME.v\": \"1\"", entry[64];
	auto_reading struct reading r = { 0 }, more = { 0 };

	for (int i = 1; i < TUNING_SYSCTLS_MAX; i++) {
		(void)snprintf(entry, sizeof(entry), ",\"net.ipv4.conf.IFNAME.v%d\": \"1\"", i);
		testing_append(conf, sizeof(conf), entry);
	}
	testing_append(conf, sizeof(conf), "}}");
	ck_assert_int_eq(read_text(&r, conf), 0);
	ck_assert_uint_eq(r.c.n_sysctls, TUNING_SYSCTLS_MAX);
	conf[strlen(conf) - 2] = '\0';
	testing_append(conf, sizeof(conf), ",\"net.ipv4.conf.IFNAME.last\": \"1\"}}");
	ck_assert_int_eq(read_text(&more, conf), -1);
	ck_assert_ptr_nonnull(strstr(more.e.msg, "sysctl: more than 32 variables"));
}
END_TEST

START_TEST(ipv6_is_not_turned_off_under_an_address)
{
	auto_reading struct reading off = { 0 }, on = { 0 };

	ck_assert(!read_text(&on, "{\"sysctl\": {\"net.ipv6.conf.IFNAME.disable_ipv6\": \"0\"}}") &&
		  !tuning_refuse_v6(&on.c, &on.e));
	ck_assert(!read_text(&off, "{\"sysctl\": {\"net.ipv6.conf.IFNAME.disable_ipv6\": \"1\"}}"));
	ck_assert_int_eq(tuning_refuse_v6(&off.c, &off.e), -1);
	ck_assert_int_eq(off.e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(off.e.msg, "disable_ipv6: \"1\""));
}
END_TEST

/* ---- a MAC of a prefix and an address ---- */

static void has_mac(const struct tuning_conf *c, const struct cni_result *r, int interface,
		    const char *want)
{
	char text[HW_ADDR_STR_LEN];
	struct hw_addr mac;
	struct err e = { 0 };

	ck_assert_msg(!tuning_mac(c, r, interface, &mac, &e), "%s", e.msg);
	ck_assert_str_eq(hw_addr_format(mac, text), want);
}

START_TEST(a_mac_is_a_prefix_and_an_address)
{
	auto_reading struct reading colon = { 0 }, dash = { 0 }, none = { 0 };
	struct cni_ip ips[3] = { { .interface = 0 }, { .interface = 1 }, { .interface = -1 } };
	struct cni_result r = { .ips = ips, .n_ips = 3 };
	struct hw_addr mac;
	struct err e;

	ck_assert(!read_text(&none, "{\"macPrefix\": \"\"}") && !none.c.has_mac_prefix);
	ck_assert(!read_text(&colon, "{\"macPrefix\": \"0A:1b\"}") && colon.c.has_mac_prefix);
	ck_assert(!read_text(&dash, "{\"macPrefix\": \"fe-00\"}"));
	ck_assert(!tuning_is_given(&colon.c));
	ck_assert_int_eq(ip_parse_prefix("fd00::1:a2:3c4d/64", &ips[0].address), 0);
	ck_assert_int_eq(ip_parse_prefix("10.77.0.200/24", &ips[1].address), 0);
	ck_assert_int_eq(ip_parse_prefix("10.77.0.201/24", &ips[2].address), 0);
	has_mac(&colon.c, &r, -1, "0a:1b:0a:4d:00:c8");
	has_mac(&dash.c, &r, 0, "fe:00:0a:4d:00:c9");
	r.n_ips = 1;
	has_mac(&colon.c, &r, 0, "0a:1b:00:a2:3c:4d");
	ck_assert_int_eq(tuning_mac(&colon.c, &r, 1, &mac, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "macPrefix: there is no address"));
}
END_TEST

TEST_PROGRAM("cni/tuning_conf", without_a_key_nothing_is_tuned, variables_and_numbers_are_read,
	     sizes_of_segments_are_read, rings_are_read_one_by_one, other_variables_are_refused,
	     a_variable_is_a_file_of_the_interface, wrong_values_name_their_key,
	     too_many_variables_are_refused, ipv6_is_not_turned_off_under_an_address,
	     a_mac_is_a_prefix_and_an_address)
