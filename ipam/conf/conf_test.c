/* SPDX-License-Identifier: Apache-2.0 */
/* conf_test.c: configurations of every form, and the message for each that is refused. */
#include "ipam/conf/conf.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

#define TN "\"thisNodeOnly\":true,"

static char *whole(const char *rest)
{
	char *text = NULL;

	ck_assert_int_gt(asprintf(&text, "{\"cniVersion\":\"1.0.0\",\"name\":\"net\",%s}", rest),
			 0);
	return text;
}

static int decode(const char *rest, struct cni_conf *conf, struct ipam_conf *out, struct err *e)
{
	char *text = whole(rest);

	ck_assert_msg(cni_conf_parse(text, strlen(text), CNI_ADD, conf, e) == 0, "%s: %s", rest,
		      e->msg);
	return ipam_conf_decode(conf, out, e);
}

/* The sources: "[scope subnet gw ranges | ...]" for each set. */
static void show(const struct ipam_conf *c, char *out, size_t size)
{
	char text[PREFIX_STR_LEN];

	*out = '\0';
	for (size_t i = 0; i < c->fixed.n; i++) {
		testing_append(out, size, i ? " [" : "[");
		for (size_t j = 0; j < c->fixed.sets[i].n; j++) {
			const struct source *s = &c->fixed.sets[i].items[j];
			testing_append(out, size, j ? " | " : "");
			testing_append(out, size, s->scope);
			testing_append(out, size, " ");
			testing_append(out, size, ip_format_prefix(s->subnet, text));
			testing_append(out, size, " ");
			testing_append(out, size,
				       s->gateway.family ? ip_format(s->gateway, text) : "-");
			for (size_t k = 0; k < s->usable.n; k++) {
				testing_append(out, size, " ");
				testing_append(out, size,
					       ip_format(s->usable.items[k].first, text));
				testing_append(out, size, "-");
				testing_append(out, size, ip_format(s->usable.items[k].last, text));
			}
		}
		testing_append(out, size, "]");
	}
}

static const struct {
	const char *conf, *want;
} good[] = {
	/* what a Go program writes that leaves the rest empty */
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/24\",\"rangeStart\":\"\",\"rangeEnd\":\"\","
	  "\"gateway\":\"\",\"dataDir\":\"\",\"resolvConf\":\"\",\"range\":\"\",\"pool\":\"\","
	  "\"auditLog\":\"\",\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"\"}]}",
	  "[n/net 10.1.0.0/24 10.1.0.1 10.1.0.2-10.1.0.254]" },
	{ "\"ipam\":{" TN "\"range\":\"\",\"range_start\":\"\",\"range_end\":\"\",\"gateway\":\"\","
	  "\"network_name\":\"\",\"ipRanges\":[{\"range\":\"10.1.0.0/24\",\"range_start\":\"\","
	  "\"range_end\":\"\"}],\"addresses\":[{\"address\":\"10.2.0.1/24\",\"gateway\":\"\"}]}",
	  "[w/ 10.1.0.0/24 - 10.1.0.1-10.1.0.254]" },
	/* and what one takes that ignores the case of keys */
	{ "\"IPAM\":{\"Subnet\":\"10.1.0.0/24\",\"RANGESTART\":\"10.1.0.7\",\"rangeend\":"
	  "\"10.1.0.9\",\"Gateway\":\"10.1.0.8\"}",
	  "[n/net 10.1.0.0/24 10.1.0.8 10.1.0.7-10.1.0.7 10.1.0.9-10.1.0.9]" },
	{ "\"ipam\":{\"Ranges\":[[{\"\u017fubnet\":\"10.1.0.0/24\"}]]},\"RuntimeConfig\":{"
	  "\"ipranges\":[[{\"SUBNET\":\"10.3.0.0/24\"}]]}",
	  "[n/net 10.3.0.0/24 10.3.0.1 10.3.0.2-10.3.0.254] "
	  "[n/net 10.1.0.0/24 10.1.0.1 10.1.0.2-10.1.0.254]" },
	{ "\"ipam\":{" TN "\"Range\":\"10.1.0.0/29\",\"Exclude\":[\"10.1.0.2/"
	  "31\"],\"Network_Name\":\"a\"}",
	  "[w/a 10.1.0.0/29 - 10.1.0.1-10.1.0.1 10.1.0.4-10.1.0.6]" },
	/* host-local */
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/24\"}",
	  "[n/net 10.1.0.0/24 10.1.0.1 10.1.0.2-10.1.0.254]" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/30\"}",
	  "[n/net 10.1.0.0/30 10.1.0.1 10.1.0.2-10.1.0.2]" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/"
	  "24\",\"rangeStart\":\"10.1.0.9\",\"rangeEnd\":\"10.1.0.20\",\"gateway\":\"10.1.0.10\"}",
	  "[n/net 10.1.0.0/24 10.1.0.10 10.1.0.9-10.1.0.9 10.1.0.11-10.1.0.20]" },
	/* the ends of the subnet may be named, but are not given */
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/"
	  "24\",\"rangeStart\":\"10.1.0.0\",\"rangeEnd\":\"10.1.0.255\",\"gateway\":\"10.2.0.1\"}",
	  "[n/net 10.1.0.0/24 10.2.0.1 10.1.0.1-10.1.0.254]" },
	{ "\"ipam\":{\"subnet\":\"fd00::/126\"}", "[n/net fd00::/126 fd00::1 fd00::2-fd00::3]" },
	{ "\"ipam\":{\"ranges\":[[{\"subnet\":\"10.1.0.0/"
	  "24\",\"rangeEnd\":\"10.1.0.9\"},{\"subnet\":\"10.2.0.0/24\"}],[{\"subnet\":\"fd00::/"
	  "64\"}]]}",
	  "[n/net 10.1.0.0/24 10.1.0.1 10.1.0.2-10.1.0.9 | n/net 10.2.0.0/24 10.2.0.1 "
	  "10.2.0.2-10.2.0.254] "
	  "[n/net fd00::/64 fd00::1 fd00::2-fd00::ffff:ffff:ffff:ffff]" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/24\",\"ranges\":[[{\"subnet\":\"10.2.0.0/"
	  "24\"}]]},\"runtimeConfig\":{\"ipRanges\":[[{\"subnet\":\"10.3.0.0/24\"}]]}",
	  "[n/net 10.3.0.0/24 10.3.0.1 10.3.0.2-10.3.0.254] [n/net 10.1.0.0/24 10.1.0.1 "
	  "10.1.0.2-10.1.0.254] "
	  "[n/net 10.2.0.0/24 10.2.0.1 10.2.0.2-10.2.0.254]" },
	{ "\"ipam\":{},\"runtimeConfig\":{\"ipRanges\":[[{\"subnet\":\"10.3.0.0/24\"}]]}",
	  "[n/net 10.3.0.0/24 10.3.0.1 10.3.0.2-10.3.0.254]" },
	/* whereabouts */
	{ "\"ipam\":{" TN
	  "\"range\":\"010.001.000.000/024\",\"exclude\":[\"010.1.0.2/32\",\"10.1.0.03\"],"
	  "\"gateway\":\"010.1.0.001\",\"etcd_host\":\"\",\"datastore\":\"etcd\",\"node_slice_"
	  "size\":\"/26\"}",
	  "[w/ 10.1.0.0/24 10.1.0.1 10.1.0.4-10.1.0.254]" },
	{ "\"ipam\":{" TN
	  "\"range\":\"10.1.0.0/24\",\"range_start\":\"010.1.0.08\",\"range_end\":\"10.1.0.020\"}",
	  "[w/ 10.1.0.0/24 - 10.1.0.8-10.1.0.20]" },
	{ "\"ipam\":{" TN "\"range\":\"010.1.0.08-10.1.0.020/24\"}",
	  "[w/ 10.1.0.0/24 - 10.1.0.8-10.1.0.20]" },
	{ "\"ipam\":{" TN "\"range\":\"::ffff:10.1.0.0/120\",\"range_start\":\"::ffff:10.1.0.9\","
	  "\"gateway\":\"::ffff:10.1.0.10\"}",
	  "[w/ 10.1.0.0/24 10.1.0.10 10.1.0.9-10.1.0.9 10.1.0.11-10.1.0.254]" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/"
	  "24\",\"rangeStart\":\"::ffff:10.1.0.9\",\"gateway\":\"::ffff:10.1.0.1\"}",
	  "[n/net 10.1.0.0/24 10.1.0.1 10.1.0.9-10.1.0.254]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\"}", "[w/ 10.1.0.0/24 - 10.1.0.1-10.1.0.254]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.77/24\",\"gateway\":\"10.1.0.1\"}",
	  "[w/ 10.1.0.0/24 10.1.0.1 10.1.0.2-10.1.0.254]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.10-10.1.0.20/24\",\"network_name\":\"a.b\"}",
	  "[w/a.b 10.1.0.0/24 - 10.1.0.10-10.1.0.20]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/"
	  "24\",\"range_start\":\"10.1.0.5\",\"range_end\":\"10.1.0.9\",\"exclude\":[\"10.1.0.6\","
	  "\"10.1.0.8/30\",\"172.16.0.0/12\"]}",
	  "[w/ 10.1.0.0/24 - 10.1.0.5-10.1.0.5 10.1.0.7-10.1.0.7]" },
	{ "\"ipam\":{" TN "\"ipRanges\":[{\"range\":\"10.1.0.0/31\"},{\"range\":\"fd00::/"
	  "64\"}],\"enable_overlapping_ranges\":false}",
	  "[x//0a010000-0a010001 10.1.0.0/31 - 10.1.0.0-10.1.0.1] "
	  "[x//fd000000000000000000000000000000-fd00000000000000ffffffffffffffff fd00::/64 - "
	  "fd00::1-fd00::ffff:ffff:ffff:ffff]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.4/32\",\"ipRanges\":[{\"range\":\"fd00::/127\"}]}",
	  "[w/ 10.1.0.4/32 - 10.1.0.4-10.1.0.4] [w/ fd00::/127 - fd00::-fd00::1]" },
};

START_TEST(good_configurations_are_accepted)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct cni_conf conf;
		auto_ipam_conf struct ipam_conf c = { .n_pools = 0 };
		struct err e = { 0 };
		char have[1024];

		ck_assert_msg(decode(good[i].conf, &conf, &c, &e) == 0, "%s: %s", good[i].conf,
			      e.msg);
		show(&c, have, sizeof(have));
		ck_assert_str_eq(have, good[i].want);
		cni_conf_clear(&conf);
	}
}
END_TEST

START_TEST(all_keys_are_decoded)
{
	struct cni_conf conf;
	auto_ipam_conf struct ipam_conf c = { .n_pools = 0 };
	struct ipam_extra x;
	struct err e;

	ck_assert_int_eq(
		decode("\"ipam\":{\"subnet\":\"10.1.0.0/24\",\"dataDir\":\"/d\",\"auditLog\":\"/"
		       "l.log\",\"resolvConf\":\"/r\","
		       "\"routes\":[{\"dst\":\"0.0.0.0/"
		       "0\"}],\"dns\":{},\"addresses\":[{\"address\":\"10.9.0.1/"
		       "24\",\"gateway\":\"10.9.0.2\"}],"
		       "\"sticky\":true,\"cooldown\":0,\"strictCooldown\":true,\"unknown\":1}",
		       &conf, &c, &e),
		0);
	ck_assert_str_eq(c.data_dir, "/d");
	ck_assert_str_eq(c.audit_log, "/l.log");
	ck_assert_str_eq(c.resolv_conf, "/r");
	ck_assert_uint_eq(json_len(c.routes), 1);
	ck_assert_ptr_nonnull(c.dns);
	ck_assert_int_eq(ipam_conf_extra(json_first(c.addresses), "x", &x, &e), 0);
	ck_assert_int_eq(x.address.len, 24);
	ck_assert_int_eq(x.gateway.family, IP_V4);
	const struct policy *p = &c.fixed.sets[0].items[0].policy;
	ck_assert(p->sticky && p->strict && p->cooldown == 0);
	cni_conf_clear(&conf);
}
END_TEST

START_TEST(pool_names_are_decoded)
{
	struct cni_conf conf;
	auto_ipam_conf struct ipam_conf c = { .n_pools = 0 };
	struct err e;

	ck_assert_int_eq(
		decode("\"ipam\":{\"pool\":\"a\",\"pools\":[\"b\",\"c-4\"]}", &conf, &c, &e), 0);
	ck_assert_uint_eq(c.n_pools, 3);
	ck_assert_str_eq(c.pools[0], "a");
	ck_assert_str_eq(c.pools[2], "c-4");
	ck_assert(!c.match_master);
	ipam_conf_clear(&c);
	cni_conf_clear(&conf);
	ck_assert_int_eq(
		decode("\"ipam\":{\"matchMaster\":true,\"pool\":\"a\",\"pools\":\"rail[01]-*\"}",
		       &conf, &c, &e),
		0);
	ck_assert(c.match_master && c.n_pools == 2 && ipam_conf_is_pattern(c.pools[1]));
	ck_assert_uint_eq(c.fixed.n, 0);
	cni_conf_clear(&conf);
}
END_TEST

/* A pool may be in several groups: each has an address of it. */
START_TEST(lists_of_pools_are_groups)
{
	struct cni_conf conf;
	auto_ipam_conf struct ipam_conf c = { .n_pools = 0 };
	struct err e;

	ck_assert_int_eq(
		decode("\"ipam\":{\"pools\":[[\"a\",\"six\"],[\"b\",\"six\"]]}", &conf, &c, &e), 0);
	ck_assert_uint_eq(c.n_pools, 4);
	ck_assert(c.group[0] == 1 && c.group[1] == 1 && c.group[2] == 2 && c.group[3] == 2);
	ck_assert_str_eq(c.pools[3], "six");
	ck_assert_str_eq(c.pools[2], "b");
	cni_conf_clear(&conf);
}
END_TEST

START_TEST(a_pool_of_guids_beside_addresses_and_alone)
{
	struct cni_conf conf;
	auto_ipam_conf struct ipam_conf c = { .n_pools = 0 };
	struct err e;

	ck_assert_int_eq(decode("\"ipam\":{\"subnet\":\"10.1.0.0/24\",\"guidPool\":\"g\","
				"\"routes\":[{\"dst\":\"0.0.0.0/0\"}],\"dataDir\":\"/d\"}",
				&conf, &c, &e),
			 0);
	ck_assert(ipam_conf_has_source(&c) && !ipam_conf_is_guid_only(&conf));
	ck_assert(c.fixed.n == 1 && !c.guids);
	ck_assert_str_eq(c.guid_pool, "g");
	ck_assert_int_eq(ipam_conf_only_guids(&c, &e), 0);
	ck_assert(c.guids && c.n_pools == 1 && !c.fixed.n && !c.routes);
	ck_assert_str_eq(c.pools[0], "g");
	ck_assert_str_eq(c.data_dir, "/d");
	ipam_conf_clear(&c);
	cni_conf_clear(&conf);
	ck_assert_int_eq(decode("\"ipam\":{\"guidPool\":\"g\"}", &conf, &c, &e), 0);
	ck_assert(!ipam_conf_has_source(&c) && ipam_conf_is_guid_only(&conf));
	cni_conf_clear(&conf);
	ipam_conf_clear(&c);
	ck_assert_int_eq(decode("\"ipam\":{\"pool\":\"a\",\"guidPool\":\"\"}", &conf, &c, &e), 0);
	ck_assert_int_eq(ipam_conf_only_guids(&c, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	cni_conf_clear(&conf);
}
END_TEST

#define SUBNET "\"subnet\":\"10.1.0.0/24\""

static const struct {
	const char *conf;
	int code;
	const char *says;
} bad[] = {
	{ "\"x\":1", ERR_CONFIG, "ipam: missing" },
	/* whereabouts would share it among all nodes */
	{ "\"ipam\":{\"range\":\"10.1.0.0/24\"}", ERR_CONFIG, "shares a range among all nodes" },
	{ "\"ipam\":{\"ipRanges\":[{\"range\":\"10.1.0.0/24\"}]}", ERR_CONFIG,
	  "shares a range among all nodes" },
	{ "\"ipam\":{\"range\":\"10.1.0.0/24\",\"thisNodeOnly\":false}", ERR_CONFIG,
	  "shares a range among all nodes" },
	{ "\"ipam\":{\"range\":\"10.1.0.0/24\",\"node_slice_size\":\"/26\"}", ERR_CONFIG,
	  "ipam.node_slice_size: \"/26\"" },
	{ "\"ipam\":{\"range\":\"10.1.0.0/24\",\"thisNodeOnly\":1}", ERR_DECODE,
	  "ipam.thisNodeOnly" },
	{ "\"ipam\":{" TN "\"range\":\"::ffff:10.1.0.0/90\"}", ERR_CONFIG, "ipam.range" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"range_start\":\"0x0a.1.0.9\"}", ERR_CONFIG,
	  "ipam.range_start: \"0x0a.1.0.9\"" },
	{ "\"ipam\":{" TN
	  "\"range\":\"10.1.0.0/24\",\"range_start\":\"10.1.0.9\",\"range_end\":\"10.1.0.8\"}",
	  ERR_CONFIG, "10.1.0.9" },
	{ "\"ipam\":{\"subnet\":\"::ffff:10.1.0.0/120\"}", ERR_CONFIG, "ipam.subnet" },
	{ "\"ipam\":{\"subnet\":\"\"}", ERR_CONFIG, "ipam.subnet" },
	{ "\"ipam\":{" TN "\"ipRanges\":[{\"range\":\"\"}]}", ERR_CONFIG,
	  "ipam.ipRanges[0].range" },
	{ "\"ipam\":{" SUBNET ",\"addresses\":[{\"address\":\"\"}]}", ERR_CONFIG,
	  "ipam.addresses[0].address" },
	{ "\"ipam\":{" SUBNET ",\"Subnet\":\"10.2.0.0/24\"}", ERR_CONFIG, "ipam.Subnet: this key" },
	{ "\"ipam\":{" SUBNET ",\"gateway\":\"\",\"GATEWAY\":\"10.1.0.9\"}", ERR_CONFIG,
	  "ipam.GATEWAY: this key" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"exclude\":[],\"Exclude\":[\"10.1.0.1\"]}",
	  ERR_CONFIG, "ipam.Exclude: this key" },
	{ "\"ipam\":{}", ERR_CONFIG, "ipam: has no source" },
	{ "\"ipam\":{\"guidPool\":\"\"}", ERR_CONFIG, "ipam: has no source" },
	{ "\"ipam\":{\"guidPool\":7}", ERR_DECODE, "ipam.guidPool" },
	{ "\"ipam\":{\"guidPool\":\"a/b\"}", ERR_CONFIG, "ipam.guidPool: " },
	{ "\"ipam\":{\"guidPool\":\"g\",\"sticky\":true}", ERR_CONFIG, "ipam.sticky: belongs" },
	{ "\"ipam\":{\"guidPool\":\"g\",\"matchMaster\":true}", ERR_CONFIG, "ipam.matchMaster" },
	{ "\"ipam\":{\"ranges\":[]}", ERR_CONFIG, "ipam.ranges" },
	{ "\"ipam\":{\"ranges\":{}}", ERR_DECODE, "ipam.ranges" },
	{ "\"ipam\":{\"ranges\":[[]]}", ERR_CONFIG, "ipam.ranges[0]: empty" },
	{ "\"ipam\":{\"ranges\":[{}]}", ERR_DECODE, "ipam.ranges[0]" },
	{ "\"ipam\":{\"ranges\":[[5]]}", ERR_DECODE, "ipam.ranges[0][0]" },
	{ "\"ipam\":{\"ranges\":[[{}]]}", ERR_CONFIG, "ipam.ranges[0][0].subnet" },
	{ "\"ipam\":{\"subnet\":5}", ERR_DECODE, "ipam.subnet" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.0\"}", ERR_CONFIG, "\"10.1.0.0\"" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.1/24\"}", ERR_CONFIG, "write 10.1.0.0/24" },
	{ "\"ipam\":{\"subnet\":\"10.1.0.0/31\"}", ERR_CONFIG, "too small" },
	{ "\"ipam\":{\"subnet\":\"fd00::/127\"}", ERR_CONFIG, "too small" },
	{ "\"ipam\":{" SUBNET ",\"rangeStart\":\"x\"}", ERR_CONFIG, "ipam.rangeStart: \"x\"" },
	{ "\"ipam\":{" SUBNET ",\"rangeEnd\":\"x\"}", ERR_CONFIG, "ipam.rangeEnd: \"x\"" },
	{ "\"ipam\":{" SUBNET ",\"gateway\":\"x\"}", ERR_CONFIG, "ipam.gateway: \"x\"" },
	{ "\"ipam\":{" SUBNET ",\"gateway\":\"fd00::1\"}", ERR_CONFIG, "ipam.gateway: fd00::1" },
	{ "\"ipam\":{" SUBNET ",\"rangeStart\":\"10.2.0.1\"}", ERR_CONFIG,
	  "ipam.rangeStart: 10.2.0.1" },
	{ "\"ipam\":{" SUBNET ",\"rangeEnd\":\"fd00::1\"}", ERR_CONFIG, "ipam.rangeEnd: fd00::1" },
	{ "\"ipam\":{" SUBNET ",\"rangeStart\":\"10.1.0.9\",\"rangeEnd\":\"10.1.0.8\"}", ERR_CONFIG,
	  "before rangeStart" },
	{ "\"ipam\":{" SUBNET ",\"rangeStart\":\"10.1.0.255\"}", ERR_CONFIG, "before rangeStart" },
	{ "\"ipam\":{" SUBNET ",\"rangeEnd\":\"10.1.0.1\"}", ERR_CONFIG, "no address is left" },
	{ "\"ipam\":{" SUBNET ",\"ranges\":[[{\"subnet\":\"10.1.0.128/25\"}]]}", ERR_CONFIG,
	  "overlaps" },
	{ "\"ipam\":{\"ranges\":[[{" SUBNET "},{" SUBNET "}]]}", ERR_CONFIG, "ipam.ranges[0][1]" },
	{ "\"ipam\":{\"ranges\":[[{" SUBNET "},{\"subnet\":\"fd00::/64\"}]]}", ERR_CONFIG,
	  "mixed" },
	{ "\"ipam\":{" SUBNET "},\"runtimeConfig\":{\"ipRanges\":[[{\"subnet\":\"x\"}]]}",
	  ERR_CONFIG, "runtimeConfig.ipRanges[0][0]" },
	{ "\"ipam\":{" SUBNET ",\"range\":\"10.1.0.0/24\"}", ERR_CONFIG,
	  "\"subnet\" and \"range\"" },
	{ "\"ipam\":{\"pool\":\"a\",\"range\":\"10.1.0.0/24\"}", ERR_CONFIG,
	  "\"range\" and \"pool\"" },
	{ "\"ipam\":{\"pool\":\"a\"},\"runtimeConfig\":{\"ipRanges\":[[{" SUBNET "}]]}", ERR_CONFIG,
	  "runtimeConfig.ipRanges" },
	{ "\"ipam\":{" SUBNET ",\"dataDir\":5}", ERR_DECODE, "ipam.dataDir" },
	{ "\"ipam\":{" SUBNET ",\"dataDir\":\"x\"}", ERR_CONFIG, "ipam.dataDir: \"x\"" },
	{ "\"ipam\":{" SUBNET ",\"auditLog\":\"x\"}", ERR_CONFIG, "ipam.auditLog: \"x\"" },
	{ "\"ipam\":{" SUBNET ",\"resolvConf\":\"x\"}", ERR_CONFIG, "ipam.resolvConf: \"x\"" },
	{ "\"ipam\":{" SUBNET ",\"routes\":[5]}", ERR_DECODE, "ipam.routes[0]" },
	{ "\"ipam\":{" SUBNET ",\"routes\":[{\"dst\":\"x\"}]}", ERR_CONFIG, "ipam.routes[0].dst" },
	{ "\"ipam\":{" SUBNET ",\"addresses\":[5]}", ERR_DECODE, "ipam.addresses[0]" },
	{ "\"ipam\":{" SUBNET ",\"addresses\":[{}]}", ERR_CONFIG, "ipam.addresses[0].address" },
	{ "\"ipam\":{" SUBNET ",\"addresses\":[{\"address\":\"10.0.0.1\"}]}", ERR_CONFIG,
	  "ipam.addresses[0].address" },
	{ "\"ipam\":{" SUBNET ",\"addresses\":[{\"address\":\"10.0.0.1/8\",\"gateway\":\"x\"}]}",
	  ERR_CONFIG, "ipam.addresses[0].gateway" },
	{ "\"ipam\":{" SUBNET ",\"cooldown\":-1}", ERR_CONFIG, "ipam.cooldown" },
	{ "\"ipam\":{" SUBNET ",\"sticky\":1}", ERR_DECODE, "ipam.sticky" },
	{ "\"ipam\":{\"pool\":5}", ERR_DECODE, "ipam.pool" },
	{ "\"ipam\":{\"pool\":\"a b\"}", ERR_CONFIG, "\"a b\"" },
	{ "\"ipam\":{\"pools\":\"a\"}", ERR_DECODE, "ipam.pools" },
	{ "\"ipam\":{\"pools\":[]}", ERR_CONFIG, "ipam.pools" },
	{ "\"ipam\":{\"pools\":[\"a*/\"]}", ERR_CONFIG, "\"a*/\" is not a pattern" },
	{ "\"ipam\":{\"matchMaster\":true,\"pools\":\"a/*\"}", ERR_CONFIG,
	  "\"a/*\" is not a pattern" },
	{ "\"ipam\":{\"matchMaster\":true,\"pools\":[\"*a*a*a*a*\"]}", ERR_CONFIG,
	  "at most 4 times" },
	{ "\"ipam\":{\"matchMaster\":true,\"pools\":[\"a*\",\"a*\"]}", ERR_CONFIG,
	  "\"a*\" is named twice" },
	{ "\"ipam\":{\"matchMaster\":1,\"pools\":[\"a\"]}", ERR_DECODE, "ipam.matchMaster" },
	{ "\"ipam\":{" SUBNET ",\"matchMaster\":true}", ERR_CONFIG, "ipam.matchMaster" },
	{ "\"ipam\":{\"pools\":[1]}", ERR_DECODE, "ipam.pools[0]" },
	{ "\"ipam\":{\"pools\":[[\"a\"],[\"b\",1]]}", ERR_DECODE, "ipam.pools[1][1]" },
	{ "\"ipam\":{\"pools\":[[\"a\"],[]]}", ERR_CONFIG, "ipam.pools[1]: names no pool" },
	{ "\"ipam\":{\"pools\":[[\"a\",\"a\"]]}", ERR_CONFIG, "\"a\" is named twice" },
	{ "\"ipam\":{\"pools\":[[\"a\"],\"b\"]}", ERR_CONFIG, "ipam.pools[1]: names and lists" },
	{ "\"ipam\":{\"pool\":\"x\",\"pools\":[[\"a\"]]}", ERR_CONFIG, "cannot be mixed" },
	{ "\"ipam\":{\"matchMaster\":true,\"pools\":[[\"a\"]]}", ERR_CONFIG,
	  "ipam.matchMaster: not with lists" },
	{ "\"ipam\":{\"pools\":[\"a\",\"a\"]}", ERR_CONFIG, "\"a\" is named twice" },
	{ "\"ipam\":{\"pool\":\"a\",\"sticky\":true}", ERR_CONFIG, "ipam.sticky" },
	{ "\"ipam\":{" TN "\"range\":5}", ERR_DECODE, "ipam.range" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0\"}", ERR_CONFIG, "ipam.range: \"10.1.0.0\"" },
	{ "\"ipam\":{" TN "\"range\":\"x-10.1.0.5/24\"}", ERR_CONFIG, "ipam.range" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.5-10.1.0.4/24\"}", ERR_CONFIG,
	  "ends before it starts" },
	{ "\"ipam\":{" TN "\"range\":\"10.2.0.5-10.1.0.4/24\"}", ERR_CONFIG, "ipam.range_start" },
	{ "\"ipam\":{" TN
	  "\"range\":\"0123456789012345678901234567890123456789012345678-10.1.0.4/24\"}",
	  ERR_CONFIG, "ipam.range" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"range_start\":\"x\"}", ERR_CONFIG,
	  "ipam.range_start" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"range_end\":\"10.2.0.1\"}", ERR_CONFIG,
	  "ipam.range_end: 10.2.0.1" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"range_end\":\"x\"}", ERR_CONFIG,
	  "ipam.range_end" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"gateway\":\"x\"}", ERR_CONFIG,
	  "ipam.gateway" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"exclude\":\"x\"}", ERR_DECODE,
	  "ipam.exclude" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"exclude\":[\"x\"]}", ERR_CONFIG,
	  "ipam.exclude[0]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"exclude\":[1]}", ERR_DECODE,
	  "ipam.exclude[0]" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"exclude\":[\"10.0.0.0/8\"]}", ERR_CONFIG,
	  "no address is left" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"network_name\":\"a/b\"}", ERR_CONFIG,
	  "ipam.network_name: \"a/b\"" },
	{ "\"ipam\":{" TN "\"range\":\"10.1.0.0/24\",\"network_name\":5}", ERR_DECODE,
	  "ipam.network_name" },
	{ "\"ipam\":{" TN "\"ipRanges\":5}", ERR_DECODE, "ipam.ipRanges" },
	{ "\"ipam\":{" TN "\"ipRanges\":[]}", ERR_CONFIG, "ipam.ipRanges" },
	{ "\"ipam\":{" TN "\"ipRanges\":[5]}", ERR_DECODE, "ipam.ipRanges[0]" },
	{ "\"ipam\":{" TN "\"ipRanges\":[{}]}", ERR_CONFIG, "ipam.ipRanges[0].range" },
};

START_TEST(bad_configurations_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct cni_conf conf;
		struct ipam_conf c = { .n_pools = 99 };
		struct err e = { 0 };

		ck_assert_msg(decode(bad[i].conf, &conf, &c, &e) == -1, "%s", bad[i].conf);
		ck_assert_msg((int)e.code == bad[i].code, "%s: %d %s", bad[i].conf, (int)e.code,
			      e.msg);
		ck_assert_msg(strstr(e.msg, bad[i].says) != NULL, "%s: %s", bad[i].conf, e.msg);
		ck_assert_uint_eq(c.n_pools, 99);
		cni_conf_clear(&conf);
	}
}
END_TEST

START_TEST(a_range_of_whereabouts_is_refused_with_the_way_to_share_it)
{
	static const char *const confs[] = {
		"\"ipam\":{\"range\":\"10.1.0.0/24\"}",
		"\"ipam\":{\"range\":\"10.1.0.0/24\",\"node_slice_size\":\"/26\"}"
	};
	static const char *const hints[] = { "\"blockSize\"", "railheadd",
					     "`railctl cluster pool apply FILE`", "slices",
					     "\"thisNodeOnly\": true" };

	for (size_t i = 0; i < ARRAY_SIZE(confs); i++) {
		struct cni_conf conf;
		struct ipam_conf c;
		struct err e = { 0 };

		ck_assert_int_eq(decode(confs[i], &conf, &c, &e), -1);
		for (size_t j = 0; j < ARRAY_SIZE(hints); j++)
			ck_assert_msg(strstr(e.detail, hints[j]) != NULL, "%s: %s", hints[j],
				      e.detail);
		cni_conf_clear(&conf);
	}
}
END_TEST

/* Each of 32 rails has an address of each family. */
START_TEST(all_rails_of_a_node_have_their_pools)
{
	char whole_conf[4096] = "\"ipam\":{\"pools\":[", one[64];
	struct cni_conf conf;
	struct ipam_conf c;
	struct err e = { 0 };

	for (int i = 0; i < 32; i++) {
		(void)snprintf(one, sizeof(one), "%s[\"rail%d\",\"six%d\"]", i ? "," : "", i, i);
		testing_append(whole_conf, sizeof(whole_conf), one);
	}
	testing_append(whole_conf, sizeof(whole_conf), "]}");
	ck_assert_msg(decode(whole_conf, &conf, &c, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(c.n_pools, 64);
	ck_assert_uint_eq(c.group[63], 32);
	ipam_conf_clear(&c);
	cni_conf_clear(&conf);
}
END_TEST

/* One more than an ADD may have addresses. */
START_TEST(too_many_sets_are_refused)
{
	static const struct {
		const char *begin, *before, *after;
		int n;
	} shapes[] = {
		{ "\"ipam\":{\"ranges\":[", "[{\"subnet\":\"10.", ".0.0/24\"}]",
		  SOURCE_SETS_MAX + 1 },
		{ "\"ipam\":{" TN "\"ipRanges\":[", "{\"range\":\"10.", ".0.0/24\"}",
		  SOURCE_SETS_MAX + 1 },
		{ "\"ipam\":{\"subnet\":\"10.99.0.0/24\"},\"runtimeConfig\":{\"ipRanges\":[",
		  "[{\"subnet\":\"10.", ".0.0/24\"}]", SOURCE_SETS_MAX },
		{ "\"ipam\":{\"pool\":\"x\",\"pools\":[", "\"p", "\"", SOURCE_SETS_MAX },
		{ "\"ipam\":{\"pools\":[", "[\"p", "\"]", SOURCE_SETS_MAX + 1 },
	};

	for (size_t shape = 0; shape < ARRAY_SIZE(shapes); shape++) {
		char whole_conf[4096] = "", one[64];
		struct cni_conf conf;
		struct ipam_conf c;
		struct err e = { 0 };

		testing_append(whole_conf, sizeof(whole_conf), shapes[shape].begin);
		for (int i = 0; i < shapes[shape].n; i++) {
			(void)snprintf(one, sizeof(one), "%s%s%d%s", i ? "," : "",
				       shapes[shape].before, i, shapes[shape].after);
			testing_append(whole_conf, sizeof(whole_conf), one);
		}
		testing_append(whole_conf, sizeof(whole_conf), "]}");
		ck_assert_int_eq(decode(whole_conf, &conf, &c, &e), -1);
		ck_assert_int_eq(e.code, ERR_CONFIG);
		ck_assert_msg(strstr(e.msg, "more than 64") != NULL, "%s", e.msg);
		cni_conf_clear(&conf);
	}
}
END_TEST

START_TEST(paths_for_deletions)
{
	static const struct {
		const char *conf, *dir, *log;
	} cases[] = {
		{ "\"ipam\":{\"dataDir\":\"/d\",\"auditLog\":\"/var/x.log\",\"subnet\":5}", "/d",
		  "/var/x.log" },
		{ "\"ipam\":{\"dataDir\":\"d\",\"auditLog\":5}", NULL, NULL },
		{ "\"ipam\":{\"dataDir\":[],\"auditLog\":\"l\"}", NULL, NULL },
		{ "\"x\":1", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = whole(cases[i].conf);
		struct cni_conf conf;
		struct ipam_conf c;
		struct err e;

		ck_assert_int_eq(cni_conf_parse(text, strlen(text), CNI_DEL, &conf, &e), 0);
		ipam_conf_paths(&conf, &c);
		ck_assert_pstr_eq(c.data_dir, cases[i].dir);
		ck_assert_pstr_eq(c.audit_log, cases[i].log);
		cni_conf_clear(&conf);
	}
}
END_TEST

static int decode_all(void *arg, struct err *e)
{
	auto_ipam_conf struct ipam_conf c = { .n_pools = 0 };
	struct cni_conf conf;
	char *text = strdup(arg);

	if (!text)
		return err_nomem(e);
	int rc = cni_conf_parse(text, strlen(text), CNI_ADD, &conf, e);
	if (rc == 0)
		rc = ipam_conf_decode(&conf, &c, e);
	cni_conf_clear(&conf);
	return rc;
}

START_TEST(out_of_memory)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		auto_free char *text = whole(good[i].conf);
		ck_assert_str_eq(alloc_fail_each(decode_all, text), "ok");
	}
}
END_TEST

TEST_PROGRAM("ipam/conf/conf", good_configurations_are_accepted, all_keys_are_decoded,
	     pool_names_are_decoded, lists_of_pools_are_groups,
	     a_pool_of_guids_beside_addresses_and_alone, bad_configurations_are_refused,
	     a_range_of_whereabouts_is_refused_with_the_way_to_share_it,
	     all_rails_of_a_node_have_their_pools, too_many_sets_are_refused, paths_for_deletions,
	     out_of_memory)
