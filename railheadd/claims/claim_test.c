/* SPDX-License-Identifier: Apache-2.0 */
/* claim_test.c: claims as the API server shows them, and each refusal with its words. */
#include "railheadd/claims/claim.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/rail_network.h"

#define CLASS_KEYS                                                                                 \
	"\"kind\":\"macvlan\",\"mtu\":9000,\"ipam\":{\"type\":\"railhead-ipam\",\"pool\":\"rail{"  \
	"n}\"}"
#define CONFIG(source, rest)                                                                       \
	"{\"source\":\"" source                                                                    \
	"\",\"requests\":[],\"opaque\":{\"driver\":\"railhead.io\",\"parameters\":{"               \
	"\"apiVersion\":\"railhead.io/v1alpha1\",\"kind\":\"RailConfig\"" rest "}}}"
#define CLASS(rest)    CONFIG("FromClass", ",\"network\":{" CLASS_KEYS "}" rest)
#define RESULT(device) RESULT_OF("r", device)
#define RESULT_OF(request, device)                                                                 \
	"{\"request\":\"" request                                                                  \
	"\",\"driver\":\"railhead.io\",\"pool\":\"n1\",\"device\":\"" device                       \
	"\",\"shareID\":\"s1\"}"
#define POD "{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"pu\"}"

static const struct agent_conf_groups groups = { .of = { { "a", 15 }, { "ab", 0xf0 } }, .n = 2 };
static struct err e;
static struct json *tree;
static struct claim claim;

static int decode(const char *results, const char *config, const char *reserved)
{
	const struct claim_asked asked = { "ns", "c", "cu", "n1", &groups };
	char *text = NULL;
	int rc;

	json_free(tree);
	tree = NULL;
	prepared_clear(&claim.prepared);
	claim = (struct claim){ .n = 0 };
	ck_assert(asprintf(&text,
			   "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"uid\":\"cu\"},"
			   "\"status\":{\"allocation\":{\"devices\":{\"results\":[%s],"
			   "\"config\":[%s]}},\"reservedFor\":[%s]}}",
			   results, config, reserved) > 0);
	ck_assert_msg(json_parse(text, strlen(text), "claim", &tree, &e) == 0, "%s", e.msg);
	free(text);
	rc = claim_decode(tree, &asked, &claim, &e);
	return rc;
}

static void is_refused(int rc, enum err_code code, const char *words)
{
	ck_assert_int_eq(rc, -1);
	ck_assert_msg(strstr(e.msg, words), "%s", e.msg);
	ck_assert_msg(strncmp(e.msg, "claim ns/c: ", 12) == 0, "%s", e.msg);
	ck_assert_int_eq(e.code, code);
}

static void has_networks(const char *want)
{
	auto_free char *text = json_print(claim.prepared.networks, false);

	ck_assert_str_eq(text, want);
}

#define NETWORK(rest, rails)                                                                       \
	"{\"cniVersion\":\"1.1.0\",\"name\":\"railhead-claims\",\"type\":\"rails\","               \
	"\"ifname\":\"rail{n}\"," rest ",\"rails\":" rails "}"

START_TEST(names_of_devices)
{
	static const struct {
		const char *name;
		struct claim_part part;
	} all[] = {
		{ "rails", { UINT64_MAX, -1 } }, { "rails-12", { UINT64_MAX, -1 } },
		{ "rail3", { 8, -1 } },          { "rail0", { 1, -1 } },
		{ "rail3-7", { 8, -1 } },        { "rail63", { UINT64_C(1) << 63, -1 } },
		{ "rail3-vf5", { 8, 5 } },       { "rail0-vf0", { 1, 0 } },
		{ "set2", { UINT64_MAX, 2 } },   { "set65535", { UINT64_MAX, 65535 } },
		{ "rails-a-0", { 15, -1 } },     { "rails-ab-15", { 0xf0, -1 } },
		{ "rails-ab-vf2", { 0xf0, 2 } },
	};
	static const char *const none[] = {
		"rail64",      "rail03",     "rail",         "rail3-",   "rail3x",
		"rail1000",    "railsx",     "eth0",         "set",      "set02",
		"set65536",    "set2-1",     "set2x",        "rail3-vf", "rail3-vf05",
		"rail3-vf5x",  "rail3vf5",   "rail64-vf5",   "vf5",      "",
		"rails-a",     "rails-b-0",  "rails-a-x",    "rails-a-", "rails-vf1",
		"rails-b-vf1", "rails-a-vf", "rails-a-vf1-2"
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct claim_part part = claim_part(all[i].name, &groups);

		ck_assert_msg(part.rails == all[i].part.rails && part.vf == all[i].part.vf, "%s",
			      all[i].name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		ck_assert_msg(!claim_part(none[i], &groups).rails, "%s", none[i]);
}
END_TEST

START_TEST(the_set_of_all_rails)
{
	ck_assert_msg(decode(RESULT("rails"), CLASS(""), POD) == 0, "%s", e.msg);
	has_networks("[" NETWORK(CLASS_KEYS, "\"all\"") "]");
	ck_assert_str_eq(claim.prepared.pod.uid, "pu");
	ck_assert_str_eq(claim.prepared.pod.ns, "ns");
	ck_assert_str_eq(claim.prepared.claim.name, "c");
	ck_assert_uint_eq(claim.n, 1);
	ck_assert_str_eq(claim.device[0].share, "s1");
	ck_assert(rails_of_networks(claim.prepared.networks) == UINT64_MAX);
}
END_TEST

/* Its rails are listed, so that the pod has these and no others. */
START_TEST(the_set_of_a_group)
{
	ck_assert_msg(decode(RESULT("rails-ab-3"), CLASS(""), POD) == 0, "%s", e.msg);
	has_networks("[" NETWORK(CLASS_KEYS, "[4,5,6,7]") "]");
	is_refused(decode(RESULT("rails-ab-3") "," RESULT("rail5"), CLASS(""), POD), ERR_FORBIDDEN,
		   "the claim has rail 5 twice");
	is_refused(decode(RESULT("rails-c-3"), CLASS(""), POD), ERR_STATE,
		   "device rails-c-3: the driver has no such device");
}
END_TEST

START_TEST(several_rails_are_one_network)
{
	ck_assert_msg(decode(RESULT("rail3") "," RESULT_OF("x/y", "rail0-2"), CLASS(""), POD) == 0,
		      "%s", e.msg);
	has_networks("[" NETWORK(CLASS_KEYS, "[0,3]") "]");
	ck_assert_uint_eq(rails_of_networks(claim.prepared.networks), 9);
}
END_TEST

/* Each request has the parameters of its own class. Other drivers' devices are not ours. */
START_TEST(two_classes_are_two_networks)
{
	static const char config[] =
		"{\"source\":\"FromClass\",\"requests\":[\"r\"],\"opaque\":{\"driver\":\"railhead."
		"io\",\"parameters\":{\"apiVersion\":\"railhead.io/"
		"v1alpha1\",\"kind\":\"RailConfig\",\"network\":{\"kind\":\"ipvlan\"}}}},"
		"{\"source\":\"FromClass\",\"requests\":[\"x\"],\"opaque\":{\"driver\":\"railhead."
		"io\",\"parameters\":{\"apiVersion\":\"railhead.io/"
		"v1alpha1\",\"kind\":\"RailConfig\",\"network\":{\"kind\":\"macvlan\",\"ifname\":"
		"\"s{n}\"}}}},"
		"{\"source\":\"FromClass\",\"opaque\":{\"driver\":\"gpu.x\",\"parameters\":{}}},"
		"{\"source\":\"FromClass\"}";

	ck_assert_msg(decode(RESULT("rail1") "," RESULT_OF(
				     "x/a", "rail2") ",{\"request\":\"g\",\"driver\":\"gpu.x\","
						     "\"pool\":\"z\",\"device\":"
						     "\"gpu0\"}",
			     config, POD) == 0,
		      "%s", e.msg);
	has_networks("[" NETWORK(
		"\"kind\":\"ipvlan\"",
		"[1]") ","
		       "{\"cniVersion\":\"1.1.0\",\"name\":\"railhead-claims\",\"type\":\"rails\","
		       "\"kind\":\"macvlan\",\"ifname\":\"s{n}\",\"rails\":[2]}]");
	ck_assert_uint_eq(claim.n, 2);
}
END_TEST

START_TEST(a_claim_overrides_allowed_keys)
{
	ck_assert_msg(decode(RESULT("rail1"),
			     CONFIG("FromClaim", ",\"network\":{\"mtu\":1500}") "," CLASS(
				     ",\"mayOverride\":[\"mtu\"]"),
			     POD) == 0,
		      "%s", e.msg);
	ck_assert_int_eq((int)json_num(json_get(json_first(claim.prepared.networks), "mtu")), 1500);
	is_refused(decode(RESULT("rail1"),
			  CLASS(",\"mayOverride\":[\"mtu\"]") "," CONFIG(
				  "FromClaim", ",\"network\":{\"ipam\":{}}"),
			  POD),
		   ERR_FORBIDDEN, "request r: network.ipam: its device class does not allow");
	is_refused(decode(RESULT("rail1"),
			  CLASS(",\"mayOverride\":[\"kind\"]") "," CONFIG(
				  "FromClaim", ",\"network\":{\"kind\":\"sriov\"}"),
			  POD),
		   ERR_CONFIG, "network.kind: \"sriov\", but the device is a card, not a VF");
	is_refused(decode(RESULT("rail1"),
			  CLASS("") "," CONFIG("FromClaim", ",\"mayOverride\":[\"mtu\"]"), POD),
		   ERR_CONFIG, "mayOverride: is a key of a device class");
	is_refused(decode(RESULT("rail1"),
			  CLASS("") "," CONFIG("FromClaim", ",\"allowedNamespaces\":[]"), POD),
		   ERR_CONFIG, "allowedNamespaces: is a key of a device class");
}
END_TEST

#define VFS(rest) CONFIG("FromClass", ",\"network\":{\"kind\":\"sriov\"" rest "}")

START_TEST(vfs_are_networks_without_devices_yet)
{
	ck_assert_msg(decode(RESULT("rail3-vf5") "," RESULT("rail0-vf1"), VFS(""), POD) == 0, "%s",
		      e.msg);
	has_networks("[" NETWORK("\"kind\":\"sriov\"", "[0,3]") "]");
	ck_assert_int_eq(claim.device[0].part.vf, 5);
	ck_assert_uint_eq(claim.device[1].network, 0);
	ck_assert_msg(decode(RESULT("set2"), VFS(",\"rdma\":\"shared\""), POD) == 0, "%s", e.msg);
	has_networks("[" NETWORK("\"kind\":\"sriov\",\"rdma\":\"shared\"", "\"all\"") "]");
	is_refused(decode(RESULT("set2") "," RESULT("rail1-vf1"), VFS(""), POD), ERR_FORBIDDEN,
		   "device rail1-vf1: the claim has rail 1 twice");
	is_refused(decode(RESULT("set0") "," RESULT("set1"), VFS(""), POD), ERR_FORBIDDEN,
		   "device set1: the claim has all rails twice");
}
END_TEST

START_TEST(devices_of_another_kind_than_their_class)
{
	is_refused(decode(RESULT("set2"), CLASS(""), POD), ERR_CONFIG,
		   "request r: network.kind: \"macvlan\", but the device is of VFs");
	is_refused(decode(RESULT("rails"), VFS(""), POD), ERR_CONFIG,
		   "request r: network.kind: \"sriov\", but the device is a card, not a VF");
	is_refused(decode(RESULT("set2"), CONFIG("FromClass", ",\"network\":{\"kind\":\"ipoib\"}"),
			  POD),
		   ERR_CONFIG, "network.kind: \"ipoib\", but the device is of VFs");
	is_refused(decode(RESULT("rail1"),
			  CONFIG("FromClass", ",\"network\":{\"kind\":\"ib-sriov\"}"), POD),
		   ERR_CONFIG, "network.kind: \"ib-sriov\", but the device is a card, not a VF");
	is_refused(decode(RESULT("rail1"), CONFIG("FromClass", ",\"network\":{\"kind\":\"tap\"}"),
			  POD),
		   ERR_CONFIG,
		   "network.kind: \"tap\" is not macvlan, ipvlan, sriov, ib-sriov or ipoib");
}
END_TEST

/* Its containers have the files of all numbers, so a new number is not an error. */
START_TEST(rdma_devices_that_move)
{
	ck_assert_msg(decode(RESULT("set2"), VFS(",\"rdma\":\"exclusive\""), POD) == 0, "%s",
		      e.msg);
	auto_free char *text = json_print(claim.prepared.networks, false);

	ck_assert_ptr_nonnull(strstr(text, "\"rdma\":\"exclusive\",\"renumbered\":\"report\","));
	is_refused(decode(RESULT("set2"), VFS(",\"renumbered\":\"fail\""), POD), ERR_CONFIG,
		   "network.renumbered: railhead sets this key itself");
}
END_TEST

START_TEST(rails_of_InfiniBand)
{
	ck_assert_msg(decode(RESULT("rail3"),
			     CONFIG("FromClass", ",\"network\":{\"kind\":\"ipoib\",\"pkey\":"
						 "\"0x8001\"}"),
			     POD) == 0,
		      "%s", e.msg);
	has_networks("[" NETWORK("\"kind\":\"ipoib\",\"pkey\":\"0x8001\"", "[3]") "]");
	ck_assert_msg(decode(RESULT("set2"),
			     CONFIG("FromClass", ",\"network\":{\"kind\":\"ib-sriov\",\"guidFrom\":"
						 "\"pod\"}"),
			     POD) == 0,
		      "%s", e.msg);
	has_networks("[" NETWORK("\"kind\":\"ib-sriov\",\"guidFrom\":\"pod\"", "\"all\"") "]");
}
END_TEST

START_TEST(namespaces_of_a_class)
{
	ck_assert_int_eq(
		decode(RESULT("rails"), CLASS(",\"allowedNamespaces\":[\"a\",\"ns\"]"), POD), 0);
	is_refused(decode(RESULT("rails"), CLASS(",\"allowedNamespaces\":[\"a\"]"), POD),
		   ERR_FORBIDDEN, "does not allow the namespace ns");
	is_refused(decode(RESULT("rails"), CLASS(",\"allowedNamespaces\":[]"), POD), ERR_FORBIDDEN,
		   "does not allow the namespace ns");
}
END_TEST

START_TEST(locked_memory_is_the_word_of_a_class)
{
	ck_assert_int_eq(decode(RESULT("rails"), CLASS(""), POD), 0);
	ck_assert(!claim.prepared.memlock);
	ck_assert_int_eq(decode(RESULT("rails"), CLASS(",\"memlock\":\"unlimited\""), POD), 0);
	ck_assert(claim.prepared.memlock);
	is_refused(decode(RESULT("rails"), CLASS(",\"memlock\":\"64M\""), POD), ERR_FIELD,
		   "RailConfig.memlock");
	is_refused(decode(RESULT("rails"),
			  CLASS("") "," CONFIG("FromClaim", ",\"memlock\":\"unlimited\""), POD),
		   ERR_CONFIG, "memlock: is a key of a device class");
}
END_TEST

START_TEST(variables_of_a_class)
{
	ck_assert_int_eq(decode(RESULT("rails"), CLASS(""), POD), 0);
	ck_assert_uint_eq(claim.prepared.variables, 0);
	ck_assert_int_eq(decode(RESULT("rails"), CLASS(",\"variables\":[\"UCX_CONFIG_DIR\"]"), POD),
			 0);
	ck_assert_str_eq(rail_variables[claim.prepared.variables / 2],
			 "UCX_CONFIG_DIR=/run/railhead");
	is_refused(decode(RESULT("rails"), CLASS(",\"variables\":[\"UCX\"]"), POD), ERR_CONFIG,
		   "variables: UCX is neither NCCL_CONF_FILE nor UCX_CONFIG_DIR");
	is_refused(decode(RESULT("rails"), CLASS("") "," CONFIG("FromClaim", ",\"variables\":[]"),
			  POD),
		   ERR_CONFIG, "variables: is a key of a device class");
}
END_TEST

START_TEST(RuntimeClasses_of_a_class)
{
	ck_assert_int_eq(decode(RESULT("rails"), CLASS(""), POD), 0);
	ck_assert_ptr_null(claim.device[0].runtime_classes);
	ck_assert_int_eq(decode(RESULT("rails"), CLASS(",\"runtimeClasses\":[\"nvidia\"]"), POD),
			 0);
	ck_assert_uint_eq(json_len(claim.device[0].runtime_classes), 1);
	is_refused(decode(RESULT("rails"), CLASS(",\"runtimeClasses\":[1]"), POD), ERR_CONFIG,
		   "runtimeClasses: 1 is not a name");
	is_refused(decode(RESULT("rails"),
			  CLASS("") "," CONFIG("FromClaim", ",\"runtimeClasses\":[\"x\"]"), POD),
		   ERR_CONFIG, "runtimeClasses: is a key of a device class");
}
END_TEST

START_TEST(a_rail_config_that_is_wrong)
{
	is_refused(decode(RESULT("rails"), "", POD), ERR_FORBIDDEN,
		   "its device class has no RailConfig");
	is_refused(decode(RESULT("rails"), CLASS("") "," CLASS(""), POD), ERR_CONFIG,
		   "two objects RailConfig");
	is_refused(decode(RESULT("rails"), CONFIG("FromClass", ""), POD), ERR_CONFIG,
		   "has no key network");
	is_refused(decode(RESULT("rails"), CLASS(",\"mayOveride\":[]"), POD), ERR_CONFIG,
		   "RailConfig.mayOveride");
	is_refused(decode(RESULT("rails"), CLASS(",\"mayOverride\":[1]"), POD), ERR_CONFIG,
		   "mayOverride: 1 is not a name");
	is_refused(decode(RESULT("rails"),
			  CONFIG("FromClass", ",\"network\":{\"kind\":\"macvlan\",\"rails\":[1]}"),
			  POD),
		   ERR_CONFIG, "network.rails: railhead sets this key itself");
	is_refused(decode(RESULT("rails"),
			  "{\"source\":\"FromClass\",\"opaque\":{\"driver\":\"railhead.io\","
			  "\"parameters\":{\"apiVersion\":\"x/v1\",\"kind\":\"Y\"}}}",
			  POD),
		   ERR_CONFIG, "x/v1 Y: parameters for railhead.io are a RailConfig");
}
END_TEST

START_TEST(whose_claim_it_is)
{
	is_refused(decode(RESULT("rails"), CLASS(""), ""), ERR_STATE, "not reserved for a pod");
	is_refused(decode(RESULT("rails"), CLASS(""), POD "," POD), ERR_FORBIDDEN,
		   "reserved for 2 pods");
	is_refused(decode(RESULT("rails"), CLASS(""),
			  "{\"apiGroup\":\"x.y\",\"resource\":\"pods\",\"name\":\"p\",\"uid\":"
			  "\"u\"}"),
		   ERR_FORBIDDEN, "which is not a pod");
	is_refused(decode(RESULT("rails"), CLASS(""),
			  "{\"resource\":\"podgroups\",\"name\":\"p\",\"uid\":\"u\"}"),
		   ERR_FORBIDDEN, "podgroups p, which is not a pod");
	is_refused(decode(RESULT("rails"), CLASS(""),
			  "{\"resource\":\"pods\",\"name\":\"../p\",\"uid\":\"u\"}"),
		   ERR_DECODE, "\"../p\" is not a name");
}
END_TEST

START_TEST(devices_that_are_refused)
{
	is_refused(decode("", CLASS(""), POD), ERR_STATE, "no device of railhead.io is allocated");
	is_refused(decode(RESULT("rail1") "," RESULT("rail1-1"), CLASS(""), POD), ERR_FORBIDDEN,
		   "device rail1-1: the claim has rail 1 twice");
	is_refused(decode(RESULT("rails") "," RESULT("rail2"), CLASS(""), POD), ERR_FORBIDDEN,
		   "the claim has rail 2 twice");
	is_refused(decode(RESULT("vf1"), CLASS(""), POD), ERR_STATE, "has no such device");
	is_refused(decode("{\"request\":\"r\",\"driver\":\"railhead.io\",\"pool\":\"n2\","
			  "\"device\":\"rail1\"}",
			  CLASS(""), POD),
		   ERR_STATE, "it is of the pool n2, and this is node n1");
	is_refused(decode("{\"request\":\"r\",\"driver\":\"railhead.io\",\"pool\":\"n1\","
			  "\"device\":\"rail1\",\"adminAccess\":true}",
			  CLASS(""), POD),
		   ERR_FORBIDDEN, "adminAccess");
}
END_TEST

START_TEST(another_claim_of_this_name)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"uid\":\"new\"}}";
	const struct claim_asked asked = { "ns", "c", "cu", "n1", &groups };
	auto_json struct json *other = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), "claim", &other, &e), 0);
	is_refused(claim_decode(other, &asked, &claim, &e), ERR_STATE,
		   "another claim has this name by now, with the UID new");
}
END_TEST

START_TEST(rails_as_text)
{
	char text[CLAIM_RAILS_LEN];

	ck_assert_str_eq(claim_rails_text(8 | 32, text), "rail 3");
	ck_assert_str_eq(claim_rails_text(UINT64_MAX, text), "all rails");
}
END_TEST

static int whole(void *arg, struct err *why)
{
	const struct claim_asked asked = { "ns", "c", "cu", "n1", &groups };
	struct claim c;

	if (claim_decode(arg, &asked, &c, why))
		return -1;
	prepared_clear(&c.prepared);
	return 0;
}

START_TEST(without_memory)
{
	ck_assert_int_eq(decode(RESULT("rail1") "," RESULT("rail2"),
				CLASS(",\"mayOverride\":[\"mtu\"]") "," CONFIG(
					"FromClaim", ",\"network\":{\"mtu\":1500}"),
				POD),
			 0);
	ck_assert_str_eq(alloc_fail_each(whole, tree), "ok");
}
END_TEST

TEST_PROGRAM("claim", names_of_devices, the_set_of_all_rails, the_set_of_a_group,
	     several_rails_are_one_network, two_classes_are_two_networks,
	     a_claim_overrides_allowed_keys, vfs_are_networks_without_devices_yet,
	     devices_of_another_kind_than_their_class, rdma_devices_that_move, rails_of_InfiniBand,
	     namespaces_of_a_class, locked_memory_is_the_word_of_a_class, RuntimeClasses_of_a_class,
	     variables_of_a_class, a_rail_config_that_is_wrong, whose_claim_it_is,
	     devices_that_are_refused, another_claim_of_this_name, rails_as_text, without_memory)
