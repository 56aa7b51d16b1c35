/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_conf_test.c: shows what every interface plugin reads from its configuration, and which MAC
 * address the pod's interface gets.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cni/engine/attach_priv.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/time.h"

/* ---- a plugin with one key of its own ---- */

struct test_conf {
	uint32_t number;
};

static const struct json_field fields[] = {
	{ "number", J_U32, J_AT(struct test_conf, number) },
	{ 0 },
};

static void defaults(void *conf)
{
	((struct test_conf *)conf)->number = 42;
}

static int validate(struct attach *a, struct err *e)
{
	const struct test_conf *c = (const void *)a->state;

	if (c->number == 13)
		return err_set(e, ERR_FIELD, 0, "number: 13 is bad luck");
	if (c->number == 7 && a->prev.n_interfaces == 1)
		master_of_name(&a->conf.master, a->prev.interfaces[0].name);
	return 0;
}

static const struct attach_type plain = { .name = "plain", .kind = "dummy", .fields = fields };
static const struct attach_type of_guids = { .name = "guids", .leases_guid = true };
static const struct attach_type full = { .name = "full",
					 .kind = "dummy",
					 .fields = fields,
					 .defaults = defaults,
					 .validate = validate };

/* ---- reading ---- */

struct reading {
	struct cni_call call;
	struct attach a;
};

static int read_conf(struct reading *r, const struct attach_type *type, const char *conf,
		     struct err *e)
{
	char *text = strdup(conf);

	*r = (struct reading){ .call = { .data = type } };
	attach_init(&r->a, &r->call);
	if (!text)
		return err_nomem(e);
	r->call.env = (struct cni_env){ .container = "c1", .ifname = "net1", .netns = "/n" };
	return cni_conf_parse(text, strlen(text), CNI_ADD, &r->call.conf, e) ||
			       attach_read_conf(&r->a, e)
		       ? -1
		       : 0;
}

static void reading_clear(struct reading *r)
{
	attach_clear(&r->a);
	cni_conf_clear(&r->call.conf);
}
#define auto_reading auto_clean(reading_clear)

static void accepts(struct reading *r, const struct attach_type *type, const char *conf)
{
	struct err e = { .msg = "" };

	ck_assert_msg(read_conf(r, type, conf, &e) == 0, "%s: %s", conf, e.msg);
}

static void refuses(const struct attach_type *type, const char *conf, int code, const char *key,
		    const char *value)
{
	auto_reading struct reading r;
	struct err e;

	ck_assert_msg(read_conf(&r, type, conf, &e) == -1, "accepted: %s", conf);
	ck_assert_msg((int)e.code == code, "%s: code %d: %s", conf, (int)e.code, e.msg);
	ck_assert_msg(strstr(e.msg, key), "\"%s\" is not in: %s", key, e.msg);
	ck_assert_msg(strstr(e.msg, value), "\"%s\" is not in: %s", value, e.msg);
}

#define HEAD "{\"cniVersion\":\"1.1.0\",\"name\":\"n\""

START_TEST(absent_keys_have_defaults)
{
	auto_reading struct reading r;

	accepts(&r, &plain, HEAD "}");
	ck_assert_uint_eq(r.a.conf.master.n, 0);
	ck_assert_uint_eq(r.a.conf.mtu, 0); /* CNI-159: that of the master */
	ck_assert(!r.a.conf.in_container);
	ck_assert(!r.a.conf.dad);
	ck_assert_int_gt(attach_timeout_ms(&r.a), 0);
	ck_assert_uint_eq(r.a.prev.n_interfaces + r.a.prev.n_ips + r.a.prev.n_routes, 0);
	ck_assert_ptr_eq(r.a.type, &plain);
	ck_assert_ptr_eq(r.a.call, &r.call);
	ck_assert_int_eq(r.a.host.fd, -1);
	ck_assert_int_eq(r.a.pod.fd, -1);
	ck_assert_ptr_null(r.a.host_nl);
	ck_assert_ptr_null(r.a.pod_nl);
}
END_TEST

START_TEST(given_keys_are_read)
{
	auto_reading struct reading r;

	accepts(&r, &plain,
		HEAD ",\"master\":\"eth0.100\",\"mtu\":9000,\"linkInContainer\":true,\"dad\":true,"
		     "\"ipamTimeout\":5,\"number\":3,\"unknown\":[1]}"); /* CNI-017 */
	ck_assert_str_eq(r.a.conf.master.candidate[0].text, "eth0.100");
	ck_assert_uint_eq(r.a.conf.mtu, 9000);
	ck_assert(r.a.conf.in_container);
	ck_assert(r.a.conf.dad);
	ck_assert_int_eq(attach_timeout_ms(&r.a), 5000);
	ck_assert_uint_eq(((const struct test_conf *)(const void *)r.a.state)->number, 3);
}
END_TEST

START_TEST(plugin_keys_are_decoded_and_validated)
{
	auto_reading struct reading r = { 0 }, chained = { 0 };

	accepts(&r, &full, HEAD "}");
	ck_assert_uint_eq(((const struct test_conf *)(const void *)r.a.state)->number, 42);
	refuses(&full, HEAD ",\"number\":\"3\"}", ERR_DECODE, "number", "\"3\"");
	refuses(&full, HEAD ",\"number\":13}", ERR_FIELD, "number", "13");
	/* the hook sees prevResult, and its choice of the master is the last word */
	accepts(&chained, &full,
		HEAD ",\"number\":7,\"master\":\"eth0\",\"prevResult\":{\"interfaces\":["
		     "{\"name\":\"net0\"}]}}");
	ck_assert_str_eq(chained.a.conf.master.candidate[0].text, "net0");
}
END_TEST

START_TEST(an_empty_master_is_none)
{
	auto_reading struct reading r;

	accepts(&r, &plain, HEAD ",\"master\":\"\"}");
	ck_assert_uint_eq(r.a.conf.master.n, 0);
}
END_TEST

/* CNI-159, CNI-168 */
START_TEST(bad_values_name_their_key)
{
	static const struct {
		const char *key, *value;
		int code;
	} bad[] = {
		{ "master", "5", ERR_DECODE },        { "master", "\"rail:x\"", ERR_CONFIG },
		{ "master", "\"a/b\"", ERR_CONFIG },  { "master", "\"..\"", ERR_CONFIG },
		{ "master", "\"a b\"", ERR_CONFIG },  { "mtu", "-1", ERR_CONFIG },
		{ "mtu", "65536", ERR_CONFIG },       { "mtu", "1500.5", ERR_DECODE },
		{ "mtu", "\"1500\"", ERR_DECODE },    { "linkInContainer", "1", ERR_DECODE },
		{ "dad", "\"true\"", ERR_DECODE },    { "ipamTimeout", "0", ERR_CONFIG },
		{ "ipamTimeout", "601", ERR_CONFIG },
	};
	char conf[200];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void)snprintf(conf, sizeof(conf), HEAD ",\"%s\":%s}", bad[i].key, bad[i].value);
		refuses(&plain, conf, bad[i].code, bad[i].key, bad[i].value);
	}
	refuses(&plain, HEAD ",\"ipam\":{\"type\":\"x\",\"guidPool\":\"ib0\"}}", ERR_CONFIG,
		"ipam.guidPool", "plain");
	refuses(&of_guids, HEAD ",\"ipam\":{\"guidPool\":\"ib0\"}}", ERR_CONFIG, "ipam.guidPool",
		"ipam.type is missing");
	refuses(&of_guids, HEAD ",\"ipam\":{\"type\":\"x\",\"guidPool\":7}}", ERR_DECODE,
		"ipam.guidPool", "must be a string");
	refuses(&of_guids,
		"{\"cniVersion\":\"0.2.0\",\"name\":\"n\",\"ipam\":{\"type\":\"x\","
		"\"guidPool\":\"ib0\"}}",
		ERR_CONFIG, "ipam.guidPool", "0.2.0 is too old");
}
END_TEST

START_TEST(prev_result_is_read_and_checked)
{
	auto_reading struct reading r;

	accepts(&r, &plain,
		HEAD ",\"prevResult\":{\"interfaces\":[{\"name\":\"a\"}],"
		     "\"ips\":[{\"address\":\"10.0.0.2/24\",\"interface\":0}]}}");
	ck_assert_uint_eq(r.a.prev.n_interfaces, 1);
	ck_assert_uint_eq(r.a.prev.n_ips, 1);
	refuses(&plain, HEAD ",\"prevResult\":{\"ips\":[{\"address\":\"x\"}]}}", ERR_CONFIG,
		"prevResult.ips[0].address", "\"x\"");
	refuses(&plain, HEAD ",\"prevResult\":{\"ips\":5}}", ERR_DECODE, "prevResult.ips",
		"a number");
}
END_TEST

/* CNI-142: found out before anything is made. */
START_TEST(version_0_2_needs_an_address)
{
	static const char *const old[] = { "", "0.1.0", "0.2.0" };
	char conf[300];

	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		auto_reading struct reading with_ipam = { 0 }, with_prev = { 0 };

		(void)snprintf(conf, sizeof(conf), "{\"name\":\"n\",\"cniVersion\":\"%s\"}",
			       old[i]);
		refuses(&plain, conf, ERR_CONFIG, "ipam", *old[i] ? old[i] : "0.1.0");
		(void)snprintf(conf, sizeof(conf),
			       "{\"name\":\"n\",\"cniVersion\":\"%s\",\"ipam\":{\"type\":\"i\"}}",
			       old[i]);
		accepts(&with_ipam, &plain, conf);
		(void)snprintf(conf, sizeof(conf),
			       "{\"name\":\"n\",\"cniVersion\":\"%s\","
			       "\"prevResult\":{\"ip4\":{\"ip\":\"10.0.0.2/24\"}}}",
			       old[i]);
		accepts(&with_prev, &plain, conf);
	}
	auto_reading struct reading r;
	accepts(&r, &plain, "{\"name\":\"n\",\"cniVersion\":\"0.3.0\"}");
}
END_TEST

START_TEST(the_attachment_key_is_network_container_ifname)
{
	auto_reading struct reading r;

	accepts(&r, &plain, HEAD "}");
	const struct record_key key = attach_key(&r.call);
	ck_assert_str_eq(key.network, "n");
	ck_assert_str_eq(key.container, "c1");
	ck_assert_str_eq(key.ifname, "net1");
	ck_assert_ptr_eq(attach_type_of(&r.call), &plain);
}
END_TEST

/* A deletion asks for it with whatever configuration it was given. */
START_TEST(a_bad_configuration_has_the_default_timeout)
{
	auto_reading struct reading good = { 0 }, bad = { 0 }, late = { 0 };
	struct err e;

	accepts(&good, &plain, HEAD "}");
	ck_assert_int_eq(read_conf(&bad, &plain, HEAD ",\"mtu\":\"x\",\"ipamTimeout\":5}", &e), -1);
	ck_assert_int_eq(attach_timeout_ms(&bad.a), attach_timeout_ms(&good.a));
	/* what was read before the bad key was met, counts */
	ck_assert_int_eq(read_conf(&late, &plain, HEAD ",\"number\":[],\"ipamTimeout\":5}", &e),
			 -1);
	ck_assert_int_eq(attach_timeout_ms(&late.a), 5000);
}
END_TEST

static void wait_ms(int64_t ms)
{
	const struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&nap, NULL);
}

/* An IPAM that hangs in ADD and in the DEL after it: together ipamTimeout and ten seconds. */
START_TEST(a_failed_ADD_and_its_DEL_have_one_budget)
{
	auto_reading struct reading r, brief;

	faketime_begin(NULL);
	accepts(&r, &plain, HEAD ",\"ipamTimeout\":40}");
	ck_assert_int_eq(attach_lock_ms(&r.a), 10000);
	wait_ms(9000); /* for the attachment's lock */
	ck_assert_int_eq(attach_ipam_add_ms(&r.a), 31000);
	ck_assert_int_eq(attach_ipam_undo_ms(&r.a), 41000);
	wait_ms(31000);
	ck_assert_int_eq(attach_ipam_undo_ms(&r.a), 10000);
	wait_ms(9500);
	ck_assert_int_eq(attach_ipam_undo_ms(&r.a), 1000);
	accepts(&brief, &plain, HEAD ",\"ipamTimeout\":1}");
	ck_assert_int_eq(attach_lock_ms(&brief.a), 500);
}
END_TEST

static int read_and_clear(void *arg, struct err *e)
{
	auto_reading struct reading r;

	return read_conf(&r, &full, arg, e);
}

START_TEST(out_of_memory)
{
	char conf[] = HEAD ",\"master\":\"m\",\"prevResult\":{\"interfaces\":[{\"name\":\"a\"},"
			   "{\"name\":\"b\"}],\"ips\":[{\"address\":\"10.0.0.2/24\"}]}}";

	ck_assert_str_eq(alloc_fail_each(read_and_clear, conf), "ok");
}
END_TEST

/* ---- the MAC address ---- */

#define A "02:00:00:00:00:0a"
#define B "02:00:00:00:00:0b"
#define C "02:00:00:00:00:0c"

struct given {
	const char *configured, *args, *runtime; /* the last: runtimeConfig, as JSON */
};

static int choose(struct given g, uint8_t out[MAC_LEN], struct err *e)
{
	auto_json struct json *runtime = NULL;
	struct cni_call call = { .env = { .args = g.args ? g.args : "" } };
	const struct attach a = { .call = &call };

	if (g.runtime)
		ck_assert_int_eq(json_parse(g.runtime, strlen(g.runtime), "t", &runtime, e), 0);
	call.conf.runtime = runtime;
	return attach_choose_mac(&a, g.configured, out, e);
}

START_TEST(the_last_source_of_a_mac_wins)
{
	static const struct {
		struct given given;
		uint8_t last;
	} cases[] = {
		{ { A, NULL, NULL }, 0x0a },
		{ { A, "MAC=" B, NULL }, 0x0b },
		{ { A, "MAC=" B, "{\"mac\":\"" C "\"}" }, 0x0c },
		{ { NULL, "MAC=" B ";X=1", NULL }, 0x0b },
		{ { NULL, NULL, "{\"mac\":\"" C "\"}" }, 0x0c },
		/* an empty one is none */
		{ { A, "MAC=", "{\"mac\":\"\"}" }, 0x0a },
		{ { "", "MAC=" B, "{}" }, 0x0b },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint8_t want[MAC_LEN] = { 2, 0, 0, 0, 0, cases[i].last };
		uint8_t mac[MAC_LEN] = { 0 };
		struct err e = { .msg = "" };

		ck_assert_msg(choose(cases[i].given, mac, &e) == 1, "%zu: %s", i, e.msg);
		ck_assert_mem_eq(mac, want, MAC_LEN);
		ck_assert_str_eq(e.msg, "");
	}
}
END_TEST

START_TEST(without_any_mac_none_is_chosen)
{
	static const struct given cases[] = {
		{ NULL, NULL, NULL },
		{ "", "MAC=", "{\"mac\":\"\"}" },
		{ NULL, "K8S_POD_NAME=p", "{\"mac\":null}" },
	};
	uint8_t mac[MAC_LEN] = { 1 };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_int_eq(choose(cases[i], mac, &e), 0);
	ck_assert_uint_eq(mac[0], 1);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

/* Also where a later one would win: whoever wrote it is to know. */
START_TEST(addresses_that_are_not_unicast_are_refused)
{
	static const struct {
		struct given given;
		enum err_code code;
		const char *where, *value;
	} cases[] = {
		{ { "xx", NULL, NULL }, ERR_CONFIG, "mac", "\"xx\"" },
		{ { "xx", "MAC=" B, NULL }, ERR_CONFIG, "mac", "\"xx\"" },
		{ { "01:00:00:00:00:00", NULL, NULL }, ERR_CONFIG, "mac", "01:00:00:00:00:00" },
		{ { "00:00:00:00:00:00", NULL, NULL }, ERR_CONFIG, "mac", "unicast" },
		{ { A, "MAC=ff:ff:ff:ff:ff:ff", NULL }, ERR_ENV, "CNI_ARGS: MAC", "ff:ff" },
		{ { A, "MAC=1", NULL }, ERR_ENV, "CNI_ARGS: MAC", "\"1\"" },
		{ { A, "MAC=1", "{\"mac\":\"" C "\"}" }, ERR_ENV, "CNI_ARGS: MAC", "\"1\"" },
		{ { A, NULL, "{\"mac\":\"zz\"}" }, ERR_CONFIG, "runtimeConfig.mac", "\"zz\"" },
		{ { A, NULL, "{\"mac\":7}" }, ERR_DECODE, "runtimeConfig.mac", "number" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t mac[MAC_LEN] = { 1 };
		struct err e;

		ck_assert_int_eq(choose(cases[i].given, mac, &e), -1);
		ck_assert_msg(e.code == cases[i].code, "%zu: %s", i, e.msg);
		ck_assert_ptr_nonnull(strstr(e.msg, cases[i].where));
		ck_assert_ptr_nonnull(strstr(e.msg, cases[i].value));
		ck_assert_uint_eq(mac[0], 1);
	}
}
END_TEST

START_TEST(a_mac_that_is_too_long_is_refused)
{
	char args[128];
	uint8_t mac[MAC_LEN];
	struct err e;

	(void)snprintf(args, sizeof(args), "MAC=%0100d", 1);
	ck_assert_int_eq(choose((struct given){ NULL, args, NULL }, mac, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_ENV);
	ck_assert_ptr_nonnull(strstr(e.msg, "MAC"));
}
END_TEST

TEST_PROGRAM("cni/engine/attach_conf", absent_keys_have_defaults, given_keys_are_read,
	     plugin_keys_are_decoded_and_validated, an_empty_master_is_none,
	     bad_values_name_their_key, prev_result_is_read_and_checked,
	     version_0_2_needs_an_address, the_attachment_key_is_network_container_ifname,
	     a_bad_configuration_has_the_default_timeout, a_failed_ADD_and_its_DEL_have_one_budget,
	     out_of_memory, the_last_source_of_a_mac_wins, without_any_mac_none_is_chosen,
	     addresses_that_are_not_unicast_are_refused, a_mac_that_is_too_long_is_refused)
