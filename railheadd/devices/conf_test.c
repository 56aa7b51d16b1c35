/* SPDX-License-Identifier: Apache-2.0 */
/* conf_test.c: the three forms of a file, and the message for each value that is refused. */
#include "railheadd/devices/conf.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "lib/testing/typos.h"

static int add(struct resource_set *s, const char *text, struct err *e)
{
	auto_json struct json *tree = NULL;

	if (json_parse(text, strlen(text), "test", &tree, e))
		return -1;
	return conf_add(s, tree, "a.json", e);
}

static struct resource_set *good(const char *text)
{
	struct resource_set *s = calloc(1, sizeof(*s));
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(s);
	ck_assert_msg(add(s, text, &e) == 0, "%s: %s", text, e.msg);
	return s;
}

static void refused(const char *text, enum err_code code, const char *words)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	struct err e = { .msg = "" };

	ck_assert_msg(add(s, text, &e) == -1, "accepted: %s", text);
	ck_assert_msg(strstr(e.msg, words), "%s\n is not: %s", e.msg, words);
	ck_assert_msg(e.code == code, "%s: code %d", e.msg, (int)e.code);
}

/* A VF of ens1f0, number 3. */
static struct select_subject vf3(void)
{
	return (struct select_subject){
		.text = { [SELECT_VENDOR] = "15b3",
			  [SELECT_DEVICE] = "101e",
			  [SELECT_DRIVER] = "mlx5_core",
			  [SELECT_ADDRESS] = "0000:3b:00.5",
			  [SELECT_ACPI] = "101",
			  [SELECT_PF] = "ens1f0",
			  [SELECT_PF_ADDR] = "0000:3b:00.0",
			  [SELECT_PF_ANY] = "ens1f0",
			  [SELECT_INTERFACE] = "ens1f0v3",
			  [SELECT_LINK] = "ether",
			  [SELECT_PKEY] = "0x8001",
			  [SELECT_RDMA_NAME] = "mlx5_7" },
		.pf_addr = "0000:3b:00.0",
		.is_vf = true,
		.has_rdma = true,
		.vf = 3,
	};
}

static enum select_answer answer_of(const char *text, const struct select_subject *f)
{
	auto_resource_set struct resource_set *s = good(text);
	bool sure;

	ck_assert_uint_eq(s->n, 1);
	if (!conf_selector_of(&s->conf[0], f, &sure))
		return SELECT_NO;
	return sure ? SELECT_YES : SELECT_MAYBE;
}

static bool selects(const char *text, const struct select_subject *f)
{
	enum select_answer answer = answer_of(text, f);

	ck_assert_int_ne(answer, SELECT_MAYBE);
	return answer == SELECT_YES;
}

#define OWN(select)   "{\"resources\":[{\"name\":\"a.b/c\",\"select\":" select "}]}"
#define SRIOV(select) "{\"resourceList\":[{\"resourceName\":\"c\",\"selectors\":" select "}]}"
#define SHARED(rest)  "{\"configList\":[{\"resourceName\":\"c\",\"rdmaHcaMax\":5," rest "}]}"

START_TEST(each_property_selects)
{
	static const struct {
		const char *text;
		bool yes;
	} t[] = {
		{ OWN("{\"pf\":\"ens1f0\"}"), true },
		{ OWN("{\"pf\":\"0000:3B:00.0\"}"), true },
		{ OWN("{\"pf\":[\"ens2f0\",\"3b:00.0#0,2-3\"]}"), true },
		{ OWN("{\"pf\":\"ens1f0#0-2,4\"}"), false },
		{ OWN("{\"pf\":\"ens2f0\"}"), false },
		{ OWN("{\"address\":\"3b:00.5\",\"vendor\":\"15B3\",\"device\":\"0x101e\"}"),
		  true },
		{ OWN("{\"address\":\"3b:00.5\",\"vendor\":\"8086\"}"), false },
		{ OWN("{\"vendor\":\"0X15b3\"}"), true },
		{ OWN("{\"driver\":\"mlx5_core\",\"acpiIndex\":\"101\"}"), true },
		{ OWN("{\"acpiIndex\":\"102\"}"), false },
		{ OWN("{\"interface\":\"ens1f0v3\",\"linkType\":\"ethernet\"}"), true },
		{ OWN("{\"linkType\":\"infiniband\"}"), false },
		{ OWN("{\"pkey\":\"32769\",\"rdmaDevice\":[\"mlx5_7\"]}"), true },
		{ OWN("[{\"vendor\":\"8086\"},{\"vendor\":\"15b3\"}]"), true },
		{ SRIOV("{\"vendors\":[\"15b3\"],\"devices\":[\"101e\"],\"drivers\":[\"mlx5_core\"]"
			"}"),
		  true },
		{ SRIOV("{\"vendors\":[\"15b3\"],\"drivers\":[\"vfio-pci\"]}"), false },
		{ SRIOV("{\"pciAddresses\":[\"0000:3b:00.5\"],\"acpiIndexes\":[\"101\"]}"), true },
		{ SRIOV("{\"pfNames\":[\"ens1f0#3\"]}"), true },
		{ SRIOV("{\"PFNAMES\":[\"ens1f0#0-2\"]}"), false },
		{ SRIOV("{\"rootDevices\":[\"0000:3b:00.0#1-9\"]}"), true },
		{ SRIOV("{\"pfNames\":[\"ENS1F0\"]}"), true },
		{ SRIOV("{\"pfNames\":[\"ens1f\"]}"), false },
		{ SRIOV("{\"pfNames\":[\"ens2f0\",\"ens1f0#3\",\"ens1f0#4\"]}"), true },
		{ SRIOV("{\"pfNames\":[\"ens1f0#4\",\"ens1f0#3\"]}"), false },
		{ SRIOV("{\"rootDevices\":[\"0000:3b:00.0#4\",\"0000:3b:00.0#3\"]}"), false },
		{ OWN("{\"pf\":[\"ens1f0#4\",\"ens1f0#3\"]}"), true },
		{ OWN("{\"pf\":\"ENS1F0\"}"), false },
		{ SRIOV("{\"linkTypes\":[\"ether\"],\"pKeys\":[\"0x8001\"],\"isRdma\":true}"),
		  true },
		{ SRIOV("{\"pKeys\":[\"0x0001\"]}"), false },
		{ SRIOV("{\"vendors\":[],\"ddpProfiles\":[],\"vdpaType\":\"\",\"new\":1}"), true },
		{ SRIOV("[]"), true },
		{ SRIOV("null"), true },
		{ SRIOV("[{\"vendors\":[\"8086\"]},{\"devices\":[\"101e\"]}]"), true },
		{ SHARED("\"devices\":[\"ens1f0v3\"]"), true },
		{ SHARED("\"selectors\":{\"ifNames\":[\"ib0\"]}"), false },
		{ SHARED("\"selectors\":{\"vendors\":[\"15b3\"],\"deviceIDs\":[\"101e\"],"
			 "\"drivers\":[\"mlx5_core\"],\"linkTypes\":[\"ether\",\"infiniband\"]}"),
		  true },
	};
	const struct select_subject f = vf3();

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		ck_assert_msg(selects(t[i].text, &f) == t[i].yes, "%s", t[i].text);
}
END_TEST

START_TEST(numbers_of_vfs_select_only_vfs)
{
	struct select_subject f = vf3();

	f.is_vf = false;
	ck_assert(selects(OWN("{\"pf\":\"ens1f0\"}"), &f));
	ck_assert(!selects(OWN("{\"pf\":\"ens1f0#3\"}"), &f));
	ck_assert(!selects(SRIOV("{\"pfNames\":[\"ens1f0#3\"]}"), &f));
}
END_TEST

START_TEST(a_device_out_of_sight_may_be_selected)
{
	static const char text[] = SRIOV("{\"isRdma\":true,\"pKeys\":[\"0x8001\"]}");
	struct select_subject f = vf3();

	f.has_rdma = false;
	f.text[SELECT_PKEY] = "";
	ck_assert_int_eq(answer_of(text, &f), SELECT_NO);
	ck_assert_int_eq(answer_of(SRIOV("{\"isRdma\":true}"), &f), SELECT_NO);
	f.away = true;
	ck_assert_int_eq(answer_of(text, &f), SELECT_MAYBE);
	ck_assert_int_eq(answer_of(SRIOV("{\"isRdma\":true}"), &f), SELECT_MAYBE);
	/* A value that is in sight counts. */
	f.text[SELECT_PKEY] = "0x8002";
	ck_assert_int_eq(answer_of(text, &f), SELECT_NO);
	f.text[SELECT_VENDOR] = "";
	ck_assert_int_eq(answer_of(OWN("{\"vendor\":\"15b3\"}"), &f), SELECT_NO);
	f.text[SELECT_INTERFACE] = f.text[SELECT_RDMA_NAME] = NULL;
	ck_assert_int_eq(answer_of(OWN("{\"interface\":\"ens1f0v3\"}"), &f), SELECT_MAYBE);
	ck_assert_int_eq(answer_of(OWN("{\"rdmaDevice\":\"mlx5_7\"}"), &f), SELECT_MAYBE);
	/* A selector that is sure precedes one that is not. */
	ck_assert_int_eq(answer_of(OWN("[{\"interface\":\"x\"},{\"rdmaDevice\":\"y\"},"
				       "{\"pf\":\"ens1f0\"}]"),
				   &f),
			 SELECT_YES);
	f.text[SELECT_PF_ANY] = NULL;
	f.pf_addr = NULL;
	ck_assert_int_eq(answer_of(OWN("{\"pf\":\"ens1f0\"}"), &f), SELECT_MAYBE);
	f.away = false;
	ck_assert_int_eq(answer_of(OWN("{\"pf\":\"ens1f0\"}"), &f), SELECT_NO);
}
END_TEST

START_TEST(all_keys_of_our_own_form_are_taken)
{
	auto_resource_set struct resource_set *s = good(
		"{\"interval\":7,\"resources\":["
		"{\"name\":\"a.b/c\",\"select\":{\"pf\":\"p\"},\"rdma\":true,\"vhostNet\":true,"
		"\"numa\":false,\"linkDown\":\"healthy\",\"deviceNodes\":\"cdi\"},"
		"{\"name\":\"a.b/d\",\"select\":{\"rdmaDevice\":\"rxe0\"},\"share\":9}]}");
	const struct resource_conf *c = &s->conf[0], *d = &s->conf[1];

	ck_assert_uint_eq(s->n, 2);
	ck_assert_uint_eq(resources_interval(s), 7);
	ck_assert_str_eq(resource_name(s, 0), "a.b/c");
	ck_assert(c->selector[0].rdma && c->selector[0].vhost && c->no_topology);
	ck_assert(!c->link_matters && !c->shared && !c->software);
	ck_assert_int_eq(c->nodes, NODES_CDI);
	ck_assert(d->shared && d->software && d->selector[0].rdma && d->link_matters);
	ck_assert(!d->no_topology);
	ck_assert_uint_eq(d->copies, 9);
	ck_assert_int_eq(d->nodes, NODES_LIST);
	ck_assert(device_selector_names(&d->selector[0]) &&
		  !device_selector_names(&c->selector[0]));
}
END_TEST

#define RAILS(name, keys) "{\"name\":\"" name "\",\"share\":4,\"network\":{" keys "}}"

/* Slots of all rails of the node. Their name is part of others. */
START_TEST(a_resource_of_rails_has_slots)
{
	auto_resource_set struct resource_set *s = good(
		"{\"resources\":[{\"name\":\"a.b/rails\",\"share\":16,\"memlock\":\"unlimited\","
		"\"variables\":[\"UCX_CONFIG_DIR\"],\"network\":{\"kind\":\"macvlan\",\"mtu\":9000}"
		"}]}");
	const struct resource_conf *c = &s->conf[0];
	auto_free char *networks = json_print(c->networks, false);
	char slot[PREPARED_SLOT_LEN];

	ck_assert_str_eq(networks,
			 "[{\"cniVersion\":\"1.1.0\",\"name\":\"railhead-claims\",\"type\":"
			 "\"rails\",\"ifname\":\"rail{n}\",\"kind\":\"macvlan\",\"mtu\":9000,"
			 "\"rails\":\"all\"}]");
	ck_assert(c->shared && c->memlock && c->copies == 16 && c->variables == 2);
	ck_assert_int_eq(c->nodes, NODES_CDI);
	ck_assert(resource_set_has_rails(s));
	conf_slot(c, "15", slot);
	ck_assert_str_eq(slot, "rails-15");
	refused("{\"resources\":[" RAILS("a.b/r", "\"kind\":\"sriov\"") "]}", ERR_CONFIG,
		"a.b/r: network.kind: \"sriov\": such a resource has no VFs");
	refused("{\"resources\":[" RAILS("a.b/r", "\"kind\":\"macvlan\",\"rails\":[1]") "]}",
		ERR_CONFIG, "a.b/r: network.rails: such a resource is all rails of the node");
	refused("{\"resources\":[" RAILS("a.b/twenty-one-characters", "\"kind\":\"macvlan\"") "]}",
		ERR_CONFIG, "at most 20 bytes");
	refused("{\"resources\":[" RAILS("a.b/r", "\"kind\":\"macvlan\"") "," RAILS(
			"c.d/r", "\"kind\":\"macvlan\"") "]}",
		ERR_CONFIG, "a.b/r has slots of this name already");
	refused("{\"resources\":[{\"name\":\"a/b\",\"network\":{\"kind\":\"macvlan\"}}]}",
		ERR_CONFIG, "no \"share\"");
	refused("{\"resources\":[{\"name\":\"a/b\",\"share\":1,\"select\":{},\"network\":{}}]}",
		ERR_CONFIG, "\"network\" and \"select\"");
	refused("{\"resources\":[{\"name\":\"a/b\",\"select\":{},\"memlock\":\"unlimited\"}]}",
		ERR_CONFIG, "needs \"network\"");
}
END_TEST

/* Their pods have rails by other plugins. */
START_TEST(a_resource_of_settings_has_slots)
{
	auto_resource_set struct resource_set *s =
		good("{\"resources\":[{\"name\":\"a.b/settings\",\"share\":2,\"settings\":true},"
		     "{\"name\":\"a.b/hcas\",\"share\":2,\"settings\":true,"
		     "\"select\":{\"pf\":\"p\"}}]}");
	const struct resource_conf *c = s->conf;

	ck_assert(c[0].networks && json_len(c[0].networks) == 0 && c[0].n_selectors == 0);
	ck_assert(c[1].networks && c[1].n_selectors == 1 && c[1].nodes == NODES_LIST);
	refused("{\"resources\":[{\"name\":\"a.b/c.d\",\"share\":2,\"settings\":true}]}",
		ERR_CONFIG, "no \".\"");
}
END_TEST

START_TEST(files_of_other_plugins_mean_the_same_here)
{
	auto_resource_set struct resource_set *s =
		good("{\"resourceList\":[{\"resourceName\":\"a_1\",\"deviceType\":\"\","
		     "\"excludeTopology\":true,\"isRdma\":true,"
		     "\"additionalInfo\":{\"*\":{\"token\":\"x\"}},"
		     "\"selectors\":{\"isRdma\":true,\"needVhostNet\":true}},"
		     "{\"resourceName\":\"b\",\"resourcePrefix\":\"nvidia.com\",\"deviceType\":"
		     "\"netDevice\"}]}");
	struct err e = { .msg = "" };

	ck_assert_str_eq(resource_name(s, 0), "intel.com/a_1");
	ck_assert_str_eq(resource_name(s, 1), "nvidia.com/b");
	ck_assert(s->conf[0].no_topology && !s->conf[1].no_topology);
	ck_assert(s->conf[0].selector[0].rdma && s->conf[0].selector[0].vhost);
	ck_assert_uint_eq(s->conf[1].n_selectors, 0);
	ck_assert_ptr_nonnull(s->conf[0].info);
	ck_assert(!s->conf[0].link_matters && !s->conf[0].shared);
	ck_assert_uint_eq(resources_interval(s), RESOURCES_INTERVAL);

	ck_assert_int_eq(add(s, "{\"periodicUpdateInterval\":604800,\"configList\":[]}", &e), 0);
	ck_assert_uint_eq(resources_interval(s), RESOURCES_INTERVAL_MAX);
	ck_assert_int_eq(add(s,
			     "{\"periodicUpdateInterval\":300,\"configList\":["
			     "{\"resourceName\":\"h\",\"rdmaHcaMax\":1000,\"devices\":[\"e0\"]},"
			     "{\"resourceName\":\"h\",\"resourcePrefix\":\"x.y\","
			     "\"selectors\":{\"vendors\":[\"15b3\"]},\"other\":1}],\"extra\":2}",
			     &e),
			 0);
	ck_assert_str_eq(resource_name(s, 2), "rdma/h");
	ck_assert_str_eq(resource_name(s, 3), "x.y/h");
	ck_assert(s->conf[2].shared && s->conf[2].no_topology && !s->conf[2].software);
	ck_assert_uint_eq(s->conf[2].copies, 1000);
	ck_assert_uint_eq(s->conf[3].copies, 0);
	ck_assert(s->conf[3].shared);
	ck_assert_uint_eq(resources_interval(s), 300);
	ck_assert_int_eq(add(s, "{\"periodicUpdateInterval\":0,\"configList\":[]}", &e), 0);
	ck_assert_uint_eq(resources_interval(s), 300);
	ck_assert_int_eq(add(s, "{\"configList\":[]}", &e), 0);
	ck_assert_uint_eq(resources_interval(s), 60);
}
END_TEST

START_TEST(options_of_the_other_programs_are_keys_here)
{
	auto_resource_set struct resource_set *s = good(
		"{\"resourcePrefix\":\"openshift.io\",\"deviceNodes\":\"cdi-annotation\","
		"\"linkDown\":\"unhealthy\",\"interval\":5,\"resourceList\":"
		"[{\"resourceName\":\"a\"},{\"resourceName\":\"b\",\"resourcePrefix\":\"x.y\"}]}");
	struct err e = { .msg = "" };

	ck_assert_int_eq(add(s,
			     "{\"resourcePrefix\":\"z\",\"deviceNodes\":\"cdi\","
			     "\"linkDown\":\"unhealthy\",\"configList\":"
			     "[{\"resourceName\":\"a\",\"devices\":[\"e\"]}]}",
			     &e),
			 0);
	ck_assert_str_eq(resource_name(s, 0), "openshift.io/a");
	ck_assert_str_eq(resource_name(s, 1), "x.y/b");
	ck_assert_str_eq(resource_name(s, 2), "z/a");
	ck_assert_int_eq(s->conf[0].nodes, NODES_CDI_ANNOTATION);
	ck_assert_int_eq(s->conf[2].nodes, NODES_CDI);
	ck_assert(s->conf[0].link_matters && s->conf[2].link_matters);
	ck_assert_uint_eq(resources_interval(s), 5);
}
END_TEST

START_TEST(features_that_railhead_lacks_are_refused_by_name)
{
	refused(SRIOV("{\"vdpaType\":\"vhost\"}"), ERR_FIELD,
		"resourceList[0].selectors.vdpaType: \"vhost\": vDPA devices are not supported");
	refused(SRIOV("[{},{\"ddpProfiles\":[\"GTP\"]}]"), ERR_FIELD,
		"resourceList[0].selectors[1].ddpProfiles");
	refused(SRIOV("{\"auxTypes\":[\"sf\"]}"), ERR_FIELD, "auxTypes");
	refused("{\"resourceList\":[{\"resourceName\":\"a\",\"deviceType\":\"accelerator\"}]}",
		ERR_FIELD, "resourceList[0].deviceType");
	refused("{\"resourceList\":[{\"resourceName\":\"a\",\"deviceType\":\"auxNetDevice\"}]}",
		ERR_FIELD, "auxNetDevice");
}
END_TEST

#define L63 "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-123456789"

START_TEST(errors_name_key_and_value)
{
	static const char *const own_keys[] = { "pf",       "address",   "vendor",
						"driver",   "interface", "acpiIndex",
						"linkType", "pkey",      "rdmaDevice" };
	char text[256];

	refused("[]", ERR_DECODE, "must be an object");
	refused("{}", ERR_CONFIG, "none of the keys");
	refused("{\"resources\":{}}", ERR_DECODE, "resources");
	refused("{\"resources\":[1]}", ERR_DECODE, "resources[0]: must be an object");
	refused("{\"resources\":[],\"x\":1}", ERR_CONFIG, "x");
	refused("{\"resources\":[],\"interval\":0}", ERR_CONFIG, "interval");
	refused("{\"resources\":[{\"name\":\"a/b\"}]}", ERR_CONFIG, "select");
	refused("{\"resources\":[{\"name\":\"a/b\",\"select\":{\"pf\":\"p\"},\"y\":1}]}",
		ERR_CONFIG, "y");
	refused(OWN("1"), ERR_DECODE, "resources[0].select: must be an object");
	refused(OWN("[]"), ERR_CONFIG, "resources[0].select: the list is empty");
	refused(OWN("{}"), ERR_CONFIG, "names no property");
	refused(OWN("[{\"pf\":\"p\"},{}]"), ERR_CONFIG, "resources[0].select[1]");
	refused(OWN("{\"pfNames\":[\"p\"]}"), ERR_CONFIG, "the key \"pfNames\" is not known");
	refused(OWN("{\"pf\":[1]}"), ERR_DECODE,
		"resources[0].select.pf[0]: must be a string, got 1");
	refused(OWN("{\"pf\":{}}"), ERR_DECODE, "must be a list of strings, got an object");
	refused(OWN("{\"pf\":\"a/b\"}"), ERR_CONFIG,
		"\"a/b\" is not an interface or a PCI address");
	refused(OWN("{\"pf\":\"p#x\"}"), ERR_CONFIG, "\"p#x\"");
	refused(OWN("{\"pf\":\"p#3-2\"}"), ERR_CONFIG, "\"p#3-2\"");
	refused(OWN("{\"pf\":\"p#1-2-3\"}"), ERR_CONFIG, "\"p#1-2-3\"");
	refused(OWN("{\"pf\":\"p#\"}"), ERR_CONFIG, "\"p#\"");
	refused(OWN("{\"pf\":\"p#-1\"}"), ERR_CONFIG, "\"p#-1\"");
	refused(OWN("{\"pf\":\"p#65536\"}"), ERR_CONFIG, "\"p#65536\"");
	refused(OWN("{\"vendor\":\"Mellanox\"}"), ERR_CONFIG, "four hexadecimal digits");
	refused(OWN("{\"vendor\":\"15bg\"}"), ERR_CONFIG, "\"15bg\"");
	refused(OWN("{\"address\":\"eth0\"}"), ERR_CONFIG, "\"eth0\" is not a PCI address");
	refused(OWN("{\"driver\":\"a b\"}"), ERR_CONFIG, "\"a b\" is not the name of a driver");
	refused(OWN("{\"acpiIndex\":\"x\"}"), ERR_CONFIG, "acpi_index");
	refused(OWN("{\"linkType\":\"wifi\"}"), ERR_CONFIG, "\"wifi\"");
	refused(OWN("{\"pkey\":\"0\"}"), ERR_CONFIG, "partition key");
	refused(OWN("{\"rdmaDevice\":\"\"}"), ERR_CONFIG, "RDMA device");
	refused(OWN("{\"interface\":\"a-name-of-more-than-fifteen-bytes\"}"), ERR_CONFIG,
		"name of an interface");
	for (size_t i = 0; i < ARRAY_SIZE(own_keys); i++) {
		(void)snprintf(text, sizeof(text), OWN("{\"%s\":\"" L63 "x\"}"), own_keys[i]);
		refused(text, ERR_CONFIG, own_keys[i]);
	}
	refused(OWN("{\"vendor\":\"abcdef\"}"), ERR_CONFIG, "\"abcdef\"");
	refused(OWN("{\"vendor\":\"0abcde\"}"), ERR_CONFIG, "\"0abcde\"");
	refused(OWN("{\"pf\":\"p#123456789\"}"), ERR_CONFIG, "\"p#123456789\"");
	refused(OWN("{\"pf\":\"p#1-123456789\"}"), ERR_CONFIG, "\"p#1-123456789\"");
	refused(SRIOV("{\"pfNames\":[\"ens.*\"]}"), ERR_CONFIG, "patterns are not supported");
	refused(SRIOV("{\"pfNames\":[\"0000:3b:00.0\"]}"), ERR_CONFIG, "name of an interface");
	refused(SRIOV("1"), ERR_DECODE, "resourceList[0].selectors: must be an object");
	refused(SRIOV("{\"isRdma\":\"yes\"}"), ERR_DECODE, "isRdma");
	refused("{\"resourceList\":[1]}", ERR_DECODE, "resourceList[0]");
	refused("{\"resourceList\":[{}]}", ERR_CONFIG, "resourceName");
	refused("{\"resourceList\":[],\"deviceNodes\":\"x\"}", ERR_FIELD, "deviceNodes");
	refused("{\"resourceList\":[{\"resourceName\":\"a\",\"additionalInfo\":{\"*\":1}}]}",
		ERR_DECODE, "resourceList[0].additionalInfo.*: must be an object");
	refused("{\"resourceList\":[{\"resourceName\":\"a\",\"additionalInfo\":{\"*\":{\"k\":1}}}]"
		"}",
		ERR_DECODE, "additionalInfo.*.k: must be a string");
	refused("{\"configList\":[1]}", ERR_DECODE, "configList[0]");
	refused("{\"configList\":[],\"periodicUpdateInterval\":-1}", ERR_CONFIG,
		"periodicUpdateInterval");
	refused(SHARED("\"rdmaHcaMax\":-1"), ERR_CONFIG, "rdmaHcaMax");
	refused(SHARED("\"selectors\":{}"), ERR_CONFIG, "configList[0]: selects no device");
	refused(SHARED("\"devices\":[\"a\"],\"selectors\":{\"ifNames\":[\"a\"]}"), ERR_CONFIG,
		"selectors.ifNames");
	refused(SHARED("\"devices\":[2]"), ERR_DECODE, "configList[0].devices[0]");
}
END_TEST

#define NAMED(name) "{\"resources\":[{\"name\":\"" name "\",\"select\":{\"pf\":\"p\"}}]}"

START_TEST(names_that_the_kubelet_refuses_are_refused)
{
	static const char *const bad[] = {
		NAMED("a"),      NAMED("/a"),    NAMED("a/"),    NAMED("A.b/c"),
		NAMED("a..b/c"), NAMED("-a/c"),  NAMED("a-/c"),  NAMED("a/-c"),
		NAMED("a/c."),   NAMED("a/b/c"), NAMED("a/b c"), NAMED("a/" L63 "x"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		refused(bad[i], ERR_CONFIG, "is not the name of a resource");
	refused(NAMED("x." L63 "/" L63), ERR_CONFIG, "more than 127 bytes");
	refused(NAMED("x.kubernetes.io/a"), ERR_CONFIG, "Kubernetes' own");
	refused("{\"resources\":[{\"name\":\"a/b\",\"select\":{\"pf\":\"p\"}},"
		"{\"name\":\"a/b\",\"select\":{\"pf\":\"q\"}}]}",
		ERR_CONFIG, "resources[1].name: there is a resource \"a/b\" already");
	resource_set_free(good(NAMED("a/" L63)));
	resource_set_free(good(NAMED("9a.b-c/A_b.c-9")));
	resource_set_free(NULL);
}
END_TEST

START_TEST(names_that_cdi_refuses_are_refused)
{
	refused("{\"deviceNodes\":\"cdi\",\"resourceList\":[{\"resourceName\":\"a.b\"}]}",
		ERR_CONFIG, "a name of CDI has no \".\"");
	refused("{\"deviceNodes\":\"cdi-annotation\",\"resourceList\":[{\"resourceName\":\"" L63
		"\"}]}",
		ERR_CONFIG, "longer than the name of an annotation");
	refused("{\"deviceNodes\":\"cdi\",\"resourcePrefix\":\"3com.com\",\"resourceList\":["
		"{\"resourceName\":\"a\"}]}",
		ERR_CONFIG, "\"3com.com/a\": a domain of CDI begins with a letter");
	resource_set_free(good("{\"resourcePrefix\":\"3com.com\",\"resourceList\":["
			       "{\"resourceName\":\"a\"}]}"));
	resource_set_free(good("{\"deviceNodes\":\"cdi\",\"resourceList\":[{\"resourceName\":\"" L63
			       "\"}]}"));
}
END_TEST

START_TEST(there_is_a_limit_of_resources)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	struct err e = { .msg = "" };
	char text[128];
	int rc = 0;

	for (int i = 0; i < RESOURCES_MAX; i++) {
		(void)snprintf(text, sizeof(text), NAMED("a/b%d"), i);
		ck_assert_msg(add(s, text, &e) == 0, "%s", e.msg);
	}
	rc = add(s, NAMED("a/last"), &e);
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "more than 64 resources"));
}
END_TEST

START_TEST(there_is_a_limit_of_copies)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	struct err e = { .msg = "" };
	char text[128];

	for (int i = 0; i < 5; i++) {
		int want = i < 4 ? 0 : -1;

		(void)snprintf(text, sizeof(text),
			       "{\"resources\":[{\"name\":\"a/b%d\",\"share\":16384,"
			       "\"select\":{\"pf\":\"p\"}}]}",
			       i);
		ck_assert_msg(add(s, text, &e) == want, "%d: %s", i, e.msg);
	}
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "all resources together have 81920 copies, allowed are 65536: "
				"reduce \"share\" or \"rdmaHcaMax\"");
}
END_TEST

static int decode_all(void *arg, struct err *e)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	const char *const *text = arg;

	if (!s)
		return err_nomem(e);
	for (; *text; text++) {
		if (add(s, *text, e))
			return -1;
	}
	return 0;
}

START_TEST(no_memory_is_reported_and_nothing_leaks)
{
	const char *texts[] = {
		OWN("[{\"pf\":[\"a#1,2\",\"b\"]},{\"vendor\":\"15b3\"}]"),
		"{\"resourceList\":[{\"resourceName\":\"x\",\"additionalInfo\":{\"*\":{}},"
		"\"selectors\":[{\"pfNames\":[\"a\"]}]}]}",
		SHARED("\"devices\":[\"a\"],\"unknown\":1"),
		NULL,
	};

	ck_assert_str_eq(alloc_fail_each(decode_all, texts), "ok");
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s));
	struct err e;

	(void)arg;
	return add(s, text, &e) != 0 || s->n_warnings > 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	ck_assert_uint_gt(
		typos_all_told("{\"interval\":60,\"resources\":[{\"name\":\"a.b/"
			       "c\",\"select\":{\"pf\":\"e\","
			       "\"vendor\":\"15b3\",\"driver\":\"mlx5_core\"},\"vhostNet\":false,"
			       "\"deviceNodes\":\"cdi\"}]}",
			       NULL, refuses, NULL),
		9);
	ck_assert_uint_gt(
		typos_all_told("{\"interval\":60,\"resourceList\":[{\"resourceName\":\"c\","
			       "\"resourcePrefix\":\"a.b\","
			       "\"excludeTopology\":true,\"selectors\":{\"vendors\":[\"15b3\"],"
			       "\"isRdma\":true,\"needVhostNet\":false}}]}",
			       NULL, refuses, NULL),
		9);
	ck_assert_uint_gt(
		typos_all_told("{\"periodicUpdateInterval\":60,\"configList\":[{\"resourceName\":"
			       "\"c\",\"resourcePrefix\":"
			       "\"a.b\",\"rdmaHcaMax\":5,\"selectors\":{\"vendors\":[\"15b3\"]}}]}",
			       NULL, refuses, NULL),
		9);
}
END_TEST

TEST_PROGRAM("conf", a_resource_of_rails_has_slots, a_resource_of_settings_has_slots,
	     each_property_selects, numbers_of_vfs_select_only_vfs,
	     a_device_out_of_sight_may_be_selected, all_keys_of_our_own_form_are_taken,
	     files_of_other_plugins_mean_the_same_here, options_of_the_other_programs_are_keys_here,
	     features_that_railhead_lacks_are_refused_by_name, errors_name_key_and_value,
	     names_that_the_kubelet_refuses_are_refused, names_that_cdi_refuses_are_refused,
	     there_is_a_limit_of_resources, there_is_a_limit_of_copies,
	     no_memory_is_reported_and_nothing_leaks, no_key_is_mistyped_in_silence)
