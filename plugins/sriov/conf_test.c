/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration of type "sriov" asks for. */
#include "plugins/sriov/conf.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

#define VF "0000:3b:02.5"

/* One configuration on its way, read as the attach engine does. */
struct reading {
	struct cni_call call;
	struct attach a;
	struct sriov_conf conf;
};

static int read_members(struct reading *r, const char *members, struct err *e)
{
	size_t size = strlen(members) + 80;
	char *text = malloc(size);

	memset(r, 0, sizeof(*r));
	if (!text)
		return err_nomem(e);
	(void)snprintf(text, size,
		       "{\"cniVersion\":\"1.1.0\",\"name\":\"n\",\"type\":\"sriov\"%s%s}",
		       *members ? "," : "", members);
	r->call.env = (struct cni_env){ .container = "c1", .ifname = "net1", .args = "" };
	r->a.call = &r->call;
	r->a.conf.mtu = 1400;
	sriov_conf_defaults(&r->conf);
	return cni_conf_parse(text, strlen(text), CNI_ADD, &r->call.conf, e) ||
			       json_decode(r->call.conf.tree, "", sriov_fields, &r->conf, e) ||
			       sriov_conf_check(&r->a, &r->conf, e)
		       ? -1
		       : 0;
}

static void reading_clear(struct reading *r)
{
	cni_conf_clear(&r->call.conf);
}
#define auto_reading auto_clean(reading_clear)

static struct sriov_conf accepts(struct reading *r, const char *members)
{
	struct err e = { .msg = "" };

	ck_assert_msg(read_members(r, members, &e) == 0, "%s: %s", members, e.msg);
	ck_assert_str_eq(e.msg, "");
	return r->conf;
}

struct bad {
	const char *members;
	enum err_code code;
	const char *key, *value; /* both in the message */
};

static void refuses(const struct bad *b)
{
	auto_reading struct reading r;
	struct err e;

	ck_assert_msg(read_members(&r, b->members, &e) == -1, "accepted: %s", b->members);
	ck_assert_msg(e.code == b->code, "%s: code %d: %s", b->members, (int)e.code, e.msg);
	ck_assert_msg(strstr(e.msg, b->key) && strstr(e.msg, b->value), "%s: %s", b->members,
		      e.msg);
}

static void refuses_all(const struct bad *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		refuses(&list[i]);
}

/* ---- what is accepted ---- */

START_TEST(nothing_is_touched_unasked)
{
	auto_reading struct reading r;
	const struct sriov_conf c = accepts(&r, "");

	ck_assert_str_eq(c.which.vf, "");
	ck_assert_uint_eq(c.request.pf_side.has, 0);
	ck_assert_uint_eq(c.request.mtu, 1400);
}
END_TEST

/* An operator's template writes keys without a value. */
START_TEST(empty_is_not_given)
{
	auto_reading struct reading r;
	const struct sriov_conf c =
		accepts(&r, "\"deviceID\":\"\",\"pciBusID\":\"\",\"mac\":\"\",\"vlanProto\":\"\","
			    "\"spoofchk\":\"\",\"trust\":\"\",\"link_state\":\"\",\"vlan\":null,"
			    "\"vlanTrunk\":null,\"vlan_trunk\":\"\","
			    "\"min_tx_rate\":null,\"runtimeConfig\":{\"deviceID\":\"\"}");

	ck_assert_str_eq(c.which.vf, "");
	ck_assert_uint_eq(c.request.pf_side.has, 0);
}
END_TEST

START_TEST(all_keys_are_decoded)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 9 };
	auto_reading struct reading r;
	const struct sriov_conf c = accepts(
		&r, "\"deviceID\":\"0000:3B:02.5\",\"vlan\":1000,\"vlanQoS\":5,"
		    "\"vlanProto\":\"802.1ad\",\"mac\":\"02:00:00:00:00:09\",\"min_tx_rate\":100,"
		    "\"max_tx_rate\":200,\"spoofchk\":\"off\",\"trust\":\"on\","
		    "\"link_state\":\"enable\",\"logLevel\":\"debug\",\"logFile\":\"/tmp/x\"");
	const struct vf_info *s = &c.request.pf_side;

	ck_assert_str_eq(c.which.vf, VF); /* as sysfs writes it */
	ck_assert_uint_eq(s->has, VF_ETHERNET);
	ck_assert_uint_eq(s->vlan, 1000);
	ck_assert_uint_eq(s->qos, 5);
	ck_assert_uint_eq(s->vlan_proto, VLAN_PROTO_8021AD);
	ck_assert_mem_eq(s->mac, mac, MAC_LEN);
	ck_assert_uint_eq(s->min_rate, 100);
	ck_assert_uint_eq(s->max_rate, 200);
	ck_assert(!s->spoofchk);
	ck_assert(s->trust);
	ck_assert_int_eq(s->link_state, VF_LINK_ENABLE);
}
END_TEST

START_TEST(every_word_of_a_key_is_accepted)
{
	static const struct {
		const char *members;
		unsigned has;
		bool on;
		enum vf_link_state link;
	} words[] = {
		{ "\"spoofchk\":\"on\",\"trust\":\"on\"", VF_SPOOFCHK | VF_TRUST, true, 0 },
		{ "\"spoofchk\":\"off\",\"trust\":\"off\"", VF_SPOOFCHK | VF_TRUST, false, 0 },
		{ "\"link_state\":\"auto\"", VF_LINK_STATE, false, VF_LINK_AUTO },
		{ "\"link_state\":\"enable\"", VF_LINK_STATE, false, VF_LINK_ENABLE },
		{ "\"link_state\":\"disable\"", VF_LINK_STATE, false, VF_LINK_DISABLE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		auto_reading struct reading r;
		const struct sriov_conf c = accepts(&r, words[i].members);

		ck_assert_uint_eq(c.request.pf_side.has, words[i].has);
		ck_assert_int_eq(c.request.pf_side.spoofchk, words[i].on);
		ck_assert_int_eq(c.request.pf_side.trust, words[i].on);
		ck_assert_int_eq(c.request.pf_side.link_state, words[i].link);
	}
}
END_TEST

START_TEST(the_first_device_that_is_given)
{
	static const struct {
		const char *members, *vf;
	} cases[] = {
		{ "\"deviceID\":\"0000:01:00.1\",\"pciBusID\":\"0000:02:00.1\","
		  "\"runtimeConfig\":{\"deviceID\":\"0000:03:00.1\"}",
		  "0000:01:00.1" },
		{ "\"deviceID\":\"\",\"pciBusID\":\"0000:02:00.1\","
		  "\"runtimeConfig\":{\"deviceID\":\"0000:03:00.1\"}",
		  "0000:02:00.1" },
		{ "\"runtimeConfig\":{\"deviceID\":\"0000:03:00.1\"}", "0000:03:00.1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_reading struct reading r;

		ck_assert_str_eq(accepts(&r, cases[i].members).which.vf, cases[i].vf);
	}
}
END_TEST

/* ---- VLAN and rates ---- */

START_TEST(good_vlans_are_accepted)
{
	static const struct {
		const char *members;
		uint32_t vlan, qos;
		uint16_t proto;
	} cases[] = {
		{ "\"vlan\":0", 0, 0, VLAN_PROTO_8021Q },
		{ "\"vlan\":0,\"vlanQoS\":0,\"vlanProto\":\"802.1q\"", 0, 0, VLAN_PROTO_8021Q },
		{ "\"vlan\":1", 1, 0, VLAN_PROTO_8021Q },
		{ "\"vlan\":4094,\"vlanQoS\":7", 4094, 7, VLAN_PROTO_8021Q },
		{ "\"vlan\":5,\"vlanProto\":\"802.1Q\"", 5, 0, VLAN_PROTO_8021Q },
		{ "\"vlan\":5,\"vlanProto\":\"802.1AD\"", 5, 0, VLAN_PROTO_8021AD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_reading struct reading r;
		const struct sriov_conf c = accepts(&r, cases[i].members);

		ck_assert_uint_eq(c.request.pf_side.has, VF_VLAN);
		ck_assert_uint_eq(c.request.pf_side.vlan, cases[i].vlan);
		ck_assert_uint_eq(c.request.pf_side.qos, cases[i].qos);
		ck_assert_uint_eq(c.request.pf_side.vlan_proto, cases[i].proto);
	}
}
END_TEST

START_TEST(bad_vlans_are_refused)
{
	static const struct bad list[] = {
		{ "\"vlan\":4095", ERR_CONFIG, "vlan", "4095" },
		{ "\"vlan\":-1", ERR_CONFIG, "vlan", "-1" },
		{ "\"vlan\":\"5\"", ERR_DECODE, "vlan", "\"5\"" },
		{ "\"vlan\":1.5", ERR_DECODE, "vlan", "1.5" },
		{ "\"vlan\":5,\"vlanQoS\":8", ERR_CONFIG, "vlanQoS", "8" },
		{ "\"vlanQoS\":3", ERR_CONFIG, "vlanQoS", "3" },
		{ "\"vlanQoS\":0", ERR_CONFIG, "vlanQoS", "0" },
		{ "\"vlan\":0,\"vlanQoS\":3", ERR_CONFIG, "vlanQoS", "3" },
		{ "\"vlanProto\":\"802.1q\"", ERR_CONFIG, "vlanProto", "vlan" },
		{ "\"vlan\":0,\"vlanProto\":\"802.1ad\"", ERR_CONFIG, "vlanProto", "802.1ad" },
		{ "\"vlan\":5,\"vlanProto\":\"802.1x\"", ERR_FIELD, "vlanProto", "802.1x" },
		{ "\"vlanTrunk\":[{\"id\":5}]", ERR_FIELD, "vlanTrunk", "one VLAN" },
		{ "\"vlan\":5,\"vlan_trunk\":\"7-9\"", ERR_FIELD, "vlan_trunk", "one VLAN" },
	};

	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

/* One alone: the other is no limit, whatever the VF had before. */
START_TEST(rates_are_checked)
{
	static const struct {
		const char *members;
		uint32_t min, max;
	} cases[] = {
		{ "\"min_tx_rate\":100", 100, 0 },
		{ "\"max_tx_rate\":100", 0, 100 },
		{ "\"min_tx_rate\":100,\"max_tx_rate\":100", 100, 100 },
		{ "\"min_tx_rate\":100,\"max_tx_rate\":0", 100, 0 },
		{ "\"min_tx_rate\":0,\"max_tx_rate\":4294967295", 0, UINT32_MAX },
	};
	static const struct bad list[] = {
		{ "\"min_tx_rate\":101,\"max_tx_rate\":100", ERR_CONFIG, "min_tx_rate", "101" },
		{ "\"min_tx_rate\":-1", ERR_CONFIG, "min_tx_rate", "-1" },
		{ "\"max_tx_rate\":4294967296", ERR_CONFIG, "max_tx_rate", "4294967296" },
		{ "\"max_tx_rate\":\"fast\"", ERR_DECODE, "max_tx_rate", "fast" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_reading struct reading r;
		const struct sriov_conf c = accepts(&r, cases[i].members);

		ck_assert_uint_eq(c.request.pf_side.has, VF_RATE);
		ck_assert_uint_eq(c.request.pf_side.min_rate, cases[i].min);
		ck_assert_uint_eq(c.request.pf_side.max_rate, cases[i].max);
	}
	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

/* ---- tiers ---- */

static const struct tier gold = { "gold", 100, 1000, 5, 106 };
static const struct tier plain = { "plain", TIER_NOT_SET, 1000, TIER_NOT_SET, TIER_NOT_SET };

START_TEST(a_tier_stands_for_keys)
{
	auto_reading struct reading r;
	struct sriov_conf c = accepts(&r, "\"tier\":\"gold\",\"vlan\":7,\"trust\":\"on\"");
	const struct vf_info *s = &c.request.pf_side;
	struct tier t;
	struct err e = { .msg = "" };

	ck_assert_msg(sriov_conf_take_tier(&c, &gold, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(s->has, VF_VLAN | VF_RATE | VF_TRUST);
	ck_assert_uint_eq(s->vlan, 7);
	ck_assert_uint_eq(s->qos, 5);
	ck_assert_uint_eq(s->min_rate, 100);
	ck_assert_uint_eq(s->max_rate, 1000);
	ck_assert(sriov_conf_tier(&c, &t));
	ck_assert_str_eq(t.name, "gold");
	ck_assert_int_eq(t.min_rate, 100);
	ck_assert_int_eq(t.max_rate, 1000);
	ck_assert_int_eq(t.qos, 5);
	ck_assert_int_eq(t.traffic_class, 106);
}
END_TEST

/* What a tier says nothing of is not touched; and no priority needs no VLAN. */
START_TEST(a_tier_without_a_VLAN)
{
	auto_reading struct reading r;
	struct sriov_conf c = accepts(&r, "\"tier\":\"plain\"");
	struct tier t = plain;
	struct err e = { .msg = "" };

	ck_assert_uint_eq(c.request.pf_side.has, 0);
	ck_assert_msg(sriov_conf_take_tier(&c, &plain, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(c.request.pf_side.has, VF_RATE);
	ck_assert(sriov_conf_tier(&c, &t));
	ck_assert_int_eq(t.qos, TIER_NOT_SET);
	t.qos = 0;
	ck_assert_msg(sriov_conf_take_tier(&c, &t, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(c.request.pf_side.has, VF_RATE);
	ck_assert(sriov_conf_tier(&c, &t));
	ck_assert_int_eq(t.qos, 0);
	reading_clear(&r);
	c = accepts(&r, "\"tier\":\"\"");
	ck_assert(!sriov_conf_tier(&c, &t));
}
END_TEST

START_TEST(a_VLAN_priority_needs_a_VLAN)
{
	static const char *const members[] = { "\"tier\":\"gold\"",
					       "\"tier\":\"gold\",\"vlan\":0" };

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		auto_reading struct reading r;
		struct sriov_conf c = accepts(&r, members[i]);
		struct err e;

		ck_assert_int_eq(sriov_conf_take_tier(&c, &gold, &e), -1);
		ck_assert_int_eq(e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(
			strstr(e.msg, "tier: \"gold\" has vlanQoS 5, which needs a vlan"));
		ck_assert_uint_eq(c.request.pf_side.has & VF_RATE, 0);
	}
}
END_TEST

START_TEST(a_tier_beside_what_it_stands_for)
{
	static const struct bad list[] = {
		{ "\"tier\":\"gold\",\"min_tx_rate\":1", ERR_CONFIG, "\"gold\"", "min_tx_rate: 1" },
		{ "\"tier\":\"gold\",\"max_tx_rate\":0", ERR_CONFIG, "\"gold\"", "max_tx_rate: 0" },
		{ "\"tier\":\"gold\",\"vlan\":5,\"vlanQoS\":3", ERR_CONFIG, "\"gold\"",
		  "vlanQoS: 3" },
		{ "\"tier\":\"a b\"", ERR_CONFIG, "tier", "a b" },
		{ "\"tier\":5", ERR_DECODE, "tier", "5" },
	};

	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

/* ---- what is refused ---- */

START_TEST(bad_words_and_types_are_refused)
{
	static const struct bad list[] = {
		{ "\"spoofchk\":\"yes\"", ERR_FIELD, "spoofchk", "yes" },
		{ "\"spoofchk\":true", ERR_DECODE, "spoofchk", "true" },
		{ "\"trust\":\"On\"", ERR_FIELD, "trust", "On" },
		{ "\"link_state\":\"up\"", ERR_FIELD, "link_state", "up" },
		{ "\"link_state\":1", ERR_DECODE, "link_state", "1" },
		{ "\"deviceID\":5", ERR_DECODE, "deviceID", "5" },
		{ "\"pciBusID\":[]", ERR_DECODE, "pciBusID", "an array" },
		{ "\"runtimeConfig\":{\"deviceID\":5}", ERR_DECODE, "runtimeConfig.deviceID", "5" },
		{ "\"mac\":5", ERR_DECODE, "mac", "5" },
		{ "\"mac\":\"02:00\"", ERR_CONFIG, "mac", "02:00" },
		{ "\"mac\":\"01:00:5e:00:00:01\"", ERR_CONFIG, "mac", "01:00:5e:00:00:01" },
		{ "\"resource\":\"ens3f0\"", ERR_DECODE, "resource", "ens3f0" },
	};

	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

START_TEST(a_device_id_that_is_no_PCI_address_is_refused)
{
	static const struct bad list[] = {
		{ "\"deviceID\":\"ens3f0v0\"", ERR_CONFIG, "deviceID", "ens3f0v0" },
		{ "\"deviceID\":\"0000:3b:02.8\"", ERR_CONFIG, "deviceID", "0000:3b:02.8" },
		{ "\"deviceID\":\"../../../etc\"", ERR_CONFIG, "deviceID", "../../../etc" },
		{ "\"pciBusID\":\"3b:02.5\"", ERR_CONFIG, "pciBusID", "3b:02.5" },
		{ "\"runtimeConfig\":{\"deviceID\":\"mlx5_0\"}", ERR_CONFIG,
		  "runtimeConfig.deviceID", "mlx5_0" },
	};

	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

/* ---- resource ---- */

START_TEST(a_resource_names_its_PFs)
{
	auto_reading struct reading r;
	const struct sriov_conf c = accepts(
		&r, "\"resource\":{\"pf\":[\"ens3f0\",\"0000:3b:00.1\"],\"count\":1,\"new\":true}");
	struct vf_resource res;
	struct err e = { .msg = "" };

	ck_assert_str_eq(c.which.vf, "");
	ck_assert_int_eq(vf_resource_decode(c.which.resource, &res, &e), 0);
	ck_assert_uint_eq(res.n, 2);
	ck_assert_str_eq(res.pf[0], "ens3f0");
	ck_assert_str_eq(res.pf[1], "0000:3b:00.1");
}
END_TEST

START_TEST(bad_resources_are_refused)
{
	static const struct bad list[] = {
		{ "\"resource\":{}", ERR_CONFIG, "resource.pf", "missing" },
		{ "\"resource\":{\"pf\":[]}", ERR_CONFIG, "resource.pf", "empty" },
		{ "\"resource\":{\"pf\":\"ens3f0\"}", ERR_DECODE, "resource.pf", "ens3f0" },
		{ "\"resource\":{\"pf\":[5]}", ERR_CONFIG, "resource.pf", "5" },
		{ "\"resource\":{\"pf\":[\"a/b\"]}", ERR_CONFIG, "resource.pf", "a/b" },
		{ "\"resource\":{\"pf\":[\"\"]}", ERR_CONFIG, "resource.pf", "\"\"" },
		{ "\"resource\":{\"pf\":[\"ens3f0\"],\"count\":2}", ERR_CONFIG, "resource.count",
		  "2" },
		{ "\"resource\":{\"pf\":[\"ens3f0\"],\"count\":0}", ERR_CONFIG, "resource.count",
		  "0" },
		{ "\"resource\":{\"pf\":[\"ens3f0\"]},\"deviceID\":\"" VF "\"", ERR_CONFIG,
		  "resource", VF },
	};

	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

#define PFS "\"resource\":{\"pf\":[\"ens3f0\"]},"

START_TEST(the_key_near_is_checked)
{
	static const struct bad list[] = {
		{ "\"near\":\"0000:0f:00.0\"", ERR_CONFIG, "near", "needs a resource" },
		{ "\"near\":\"gpu\",\"deviceID\":\"" VF "\"", ERR_CONFIG, "near",
		  "needs a resource" },
		{ PFS "\"near\":\"f:00.0\"", ERR_CONFIG, "near", "f:00.0" },
		{ PFS "\"near\":[]", ERR_CONFIG, "near", "an array" },
		{ PFS "\"near\":1", ERR_CONFIG, "near", "1" },
		{ PFS "\"nearOnly\":true", ERR_CONFIG, "nearOnly", "needs near" },
		{ PFS "\"nearOnly\":true,\"near\":\"\"", ERR_CONFIG, "nearOnly", "needs near" },
		{ PFS "\"nearOnly\":1,\"near\":\"gpu\"", ERR_DECODE, "nearOnly", "1" },
		{ PFS "\"near\":\"gpu\",\"deviceID\":\"x\"", ERR_CONFIG, "deviceID", "x" },
		{ "\"resource\":{\"pf\":[]},\"near\":\"gpu\",\"deviceID\":\"" VF "\"", ERR_CONFIG,
		  "resource.pf", "empty" },
	};
	auto_reading struct reading r, none, only, named;

	ck_assert_ptr_nonnull(accepts(&r, PFS "\"near\":[\"0000:0f:00.0\"]").which.near);
	ck_assert_ptr_null(accepts(&none, "\"near\":\"\"").which.near);
	ck_assert(accepts(&only, PFS "\"near\":\"gpu\",\"nearOnly\":true").which.near_only);
	/* A device plugin gave the VF. */
	ck_assert_str_eq(accepts(&named, PFS "\"near\":\"gpu\",\"deviceID\":\"" VF "\"").which.vf,
			 VF);
	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

START_TEST(as_many_PFs_as_allowed)
{
	char text[512] = "\"resource\":{\"pf\":[\"p\"";
	auto_reading struct reading r;
	struct err e = { .msg = "" };

	for (int i = 1; i < VF_PFS_MAX; i++)
		testing_append(text, sizeof(text), ",\"p\"");
	testing_append(text, sizeof(text), "]}");
	(void)accepts(&r, text);
	reading_clear(&r);
	text[strlen(text) - 2] = '\0';
	testing_append(text, sizeof(text), ",\"p\"]}");
	ck_assert_int_eq(read_members(&r, text, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "resource.pf: more than 16"));
}
END_TEST

/* ---- memory ---- */

static int read_and_clear(void *arg, struct err *e)
{
	auto_reading struct reading r;

	return read_members(&r, arg, e);
}

START_TEST(out_of_memory)
{
	char text[] = "\"resource\":{\"pf\":[\"ens3f0\"]},\"mac\":\"02:00:00:00:00:09\"";

	ck_assert_str_eq(alloc_fail_each(read_and_clear, text), "ok");
}
END_TEST

/* ---- the RDMA device ---- */

START_TEST(an_RDMA_device_moves_if_the_key_says_so)
{
	auto_reading struct reading r, moves, reports;

	ck_assert_int_eq(accepts(&r, "").rdma, SRIOV_RDMA_STAYS);
	ck_assert_int_eq(accepts(&moves, "\"rdma\":\"exclusive\"").rdma, SRIOV_RDMA_MOVES);
	ck_assert_int_eq(
		accepts(&reports, "\"rdma\":\"exclusive\",\"renumbered\":\"report\"").renumbered,
		RDMA_RENUMBERED_REPORT);
}
END_TEST

START_TEST(other_words_for_the_RDMA_device_are_refused)
{
	static const struct bad list[] = {
		{ "\"rdma\":\"shared\"", ERR_FIELD, "rdma: must be one of exclusive",
		  "\"shared\"" },
		{ "\"rdma\":\"Exclusive\"", ERR_FIELD, "rdma", "\"Exclusive\"" },
		{ "\"rdma\":\"\"", ERR_FIELD, "rdma", "\"\"" },
		{ "\"rdma\":true", ERR_DECODE, "rdma", "true" },
		{ "\"rdma\":{}", ERR_DECODE, "rdma", "object" },
		{ "\"renumbered\":\"report\"", ERR_CONFIG, "renumbered", "\"rdma\"" },
		{ "\"rdmaTimeout\":1", ERR_CONFIG, "rdmaTimeout", "\"rdma\"" },
		{ "\"rdma\":\"exclusive\",\"rdmaTimeout\":0", ERR_CONFIG, "rdmaTimeout", "0" },
		{ "\"rdma\":\"exclusive\",\"rdmaTimeout\":61", ERR_CONFIG, "rdmaTimeout", "61" },
		{ "\"renumbered\":\"fail\"", ERR_CONFIG, "renumbered", "\"rdma\"" },
		{ "\"rdma\":\"exclusive\",\"renumbered\":\"no\"", ERR_FIELD, "renumbered",
		  "\"no\"" },
	};

	refuses_all(list, ARRAY_SIZE(list));
}
END_TEST

TEST_PROGRAM("plugins/sriov/conf", nothing_is_touched_unasked, empty_is_not_given,
	     all_keys_are_decoded, every_word_of_a_key_is_accepted, the_first_device_that_is_given,
	     good_vlans_are_accepted, bad_vlans_are_refused, rates_are_checked,
	     a_tier_stands_for_keys, a_tier_without_a_VLAN, a_VLAN_priority_needs_a_VLAN,
	     a_tier_beside_what_it_stands_for, bad_words_and_types_are_refused,
	     a_device_id_that_is_no_PCI_address_is_refused, a_resource_names_its_PFs,
	     bad_resources_are_refused, the_key_near_is_checked, as_many_PFs_as_allowed,
	     out_of_memory, an_RDMA_device_moves_if_the_key_says_so,
	     other_words_for_the_RDMA_device_are_refused)
