/* SPDX-License-Identifier: Apache-2.0 */
/* status_test.c: what a claim's status shows of one rail, of several and of a set. */
#include "railheadd/claims/status.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/testing/testing.h"

#define INTERFACE(name, mac, sandbox)                                                              \
	"{\"name\":\"" name "\",\"mac\":\"" mac "\",\"sandbox\":\"" sandbox "\"}"
#define RESULTS                                                                                    \
	"[{\"interfaces\":[" INTERFACE("veth1", "02:0", "") "," INTERFACE(                         \
		"rail1", "02:1",                                                                   \
		"/n") "," INTERFACE("rail2", "02:2",                                               \
				    "/n") "],\"ips\":[{\"address\":\"10.1.0.1/"                    \
					  "16\",\"interface\":1},{\"address\":\"10.2.0.1/16\","    \
					  "\"interface\":2},{\"address\":\"fd02::1/"               \
					  "64\",\"interface\":2},{\"address\":\"10.9.0.1/16\"}]}]"

static struct json *parsed(const char *text)
{
	struct json *tree;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0, "%s", e.msg);
	return tree;
}

/* With the networks of c. The text of status.devices; freed by the caller. */
static char *shown(struct claim *c, const char *networks, const char *results)
{
	auto_json struct json *all = parsed(results), *network = parsed(networks), *o = NULL;

	c->prepared.networks = network;
	(void)snprintf(c->prepared.claim.uid, sizeof(c->prepared.claim.uid), "cu");
	o = claim_status(c, "n1", all);
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(json_text(json_get(o, "metadata"), "uid"), "cu");
	return json_print(json_get(json_get(o, "status"), "devices"), false);
}

START_TEST(single_rails_have_their_interface)
{
	struct claim c = { .n = 2,
			   .device = { { .device = "rail2", .share = "s", .part = { 4, -1 } },
				       { .device = "rail1", .share = "", .part = { 2, -1 } } } };
	auto_free char *text = shown(&c, "[{\"ifname\":\"rail{n}\"}]", RESULTS);

	ck_assert_str_eq(
		text,
		"[{\"driver\":\"railhead.io\",\"pool\":\"n1\",\"device\":\"rail2\",\"shareID\":"
		"\"s\",\"networkData\":{\"interfaceName\":\"rail2\",\"hardwareAddress\":\"02:2\","
		"\"ips\":[\"10.2.0.1/16\",\"fd02::1/64\"]}},{\"driver\":\"railhead.io\",\"pool\":"
		"\"n1\",\"device\":\"rail1\",\"networkData\":{\"interfaceName\":\"rail1\","
		"\"hardwareAddress\":\"02:1\",\"ips\":[\"10.1.0.1/16\"]}}]");
}
END_TEST

START_TEST(a_set_has_all_addresses_and_a_list)
{
	struct claim c = {
		.n = 1, .device = { { .device = "rails", .share = "", .part = { UINT64_MAX, -1 } } }
	};
	auto_free char *text = shown(&c, "[{\"ifname\":\"rail{n}\"}]", RESULTS);
	auto_json struct json *all = parsed(text);
	const struct json *device = json_first(all), *data = json_get(device, "data");

	ck_assert_uint_eq(json_len(json_get(json_get(device, "networkData"), "ips")), 3);
	ck_assert_uint_eq(json_len(json_get(data, "interfaces")), 2);
	ck_assert_str_eq(json_text(json_first(json_get(data, "interfaces")), "interfaceName"),
			 "rail1");
}
END_TEST

START_TEST(the_set_of_a_group_has_its_interfaces)
{
	struct claim c = { .n = 2,
			   .device = {
				   { .device = "rails-a-0", .share = "", .part = { 6, -1 } },
				   { .device = "rails-b-0", .share = "", .part = { 8, -1 } } } };
	auto_free char *text = shown(&c, "[{\"ifname\":\"rail{n}\"}]", RESULTS);
	auto_json struct json *all = parsed(text);
	const struct json *first = json_first(all), *second = json_next(first);

	ck_assert_uint_eq(json_len(json_get(json_get(first, "data"), "interfaces")), 2);
	ck_assert_uint_eq(json_len(json_get(json_get(second, "data"), "interfaces")), 0);
}
END_TEST

/* A class may give the only rail another name. */
START_TEST(the_only_interface_is_that_of_the_rail)
{
	struct claim c = { .n = 1,
			   .device = { { .device = "rail7", .share = "", .part = { 128, -1 } } } };
	auto_free char *text = shown(&c, "[{\"ifname\":\"net1\"}]",
				     "[{\"interfaces\":[" INTERFACE("net1", "02:7", "/n") "]}]");

	ck_assert_ptr_nonnull(strstr(text, "{\"interfaceName\":\"net1\",\"hardwareAddress\":"
					   "\"02:7\",\"ips\":[]}"));
}
END_TEST

/* The API server refuses more addresses. */
START_TEST(no_more_than_sixteen_addresses)
{
	struct claim c = {
		.n = 1, .device = { { .device = "rails", .share = "", .part = { UINT64_MAX, -1 } } }
	};
	auto_text struct text t = { 0 };
	auto_free char *results = NULL, *text = NULL;

	text_add(&t, "[{\"interfaces\":[" INTERFACE("a", "", "/n") "," INTERFACE(
			     "b", "", "/n") "],\"ips\":[");
	for (int i = 0; i < 20; i++)
		text_addf(&t, "%s{\"address\":\"10.0.0.%d/8\",\"interface\":1}", i ? "," : "", i);
	text_add(&t, "]}]");
	results = text_take(&t);
	text = shown(&c, "[{\"ifname\":\"rail{n}\"}]", results);
	auto_json struct json *all = parsed(text);

	ck_assert_uint_eq(json_len(json_get(json_get(json_first(all), "networkData"), "ips")), 16);
}
END_TEST

TEST_PROGRAM("status", single_rails_have_their_interface, a_set_has_all_addresses_and_a_list,
	     the_set_of_a_group_has_its_interfaces, the_only_interface_is_that_of_the_rail,
	     no_more_than_sixteen_addresses)
