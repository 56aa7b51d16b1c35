/* SPDX-License-Identifier: Apache-2.0 */
/* agent_conf_test.c: shows the defaults of agent.json, and what is refused with which words. */
#include "railheadd/conf/agent_conf.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/typos.h"

static struct json *parse(const char *text)
{
	struct json *tree = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &tree, &e) == 0, "%s", e.msg);
	return tree;
}

START_TEST(without_a_file)
{
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(NULL, &c, &e), 0);
	ck_assert_ptr_null(c.node);
	ck_assert(!c.has_etcd && !c.strict);
	ck_assert_int_eq(c.hold / 1000000000, 600);
	ck_assert_int_eq(c.renew / 1000000000, 60);
	ck_assert_int_eq(c.repair.every, 60000);
	ck_assert_int_eq(c.repair.grace, 30000);
	ck_assert(c.metrics && !c.metrics_listen);
}
END_TEST

START_TEST(repair_is_an_object_or_false)
{
	auto_json struct json *off = parse("{\"repair\":false}");
	auto_json struct json *on = parse("{\"repair\":{\"grace\":5}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(off, &c, &e), 0);
	ck_assert_int_eq(c.repair.every, 0);
	ck_assert_int_eq(agent_conf_decode(on, &c, &e), 0);
	ck_assert_int_eq(c.repair.every, 60000);
	ck_assert_int_eq(c.repair.grace, 5000);
}
END_TEST

START_TEST(claims_are_off_unless_they_are_there)
{
	auto_json struct json *off = parse("{\"claims\":false}");
	auto_json struct json *on = parse("{\"claims\":{},\"plugins\":{\"folder\":\"/b\"}}");
	auto_json struct json *own = parse("{\"claims\":{\"kubelet\":\"/k\"},\"plugins\":false}");
	auto_json struct json *etcd =
		parse("{\"claims\":{},\"etcd\":{\"endpoints\":[\"https://a\"]}}");
	auto_json struct json *wrong = parse("{\"claims\":{\"kubelt\":\"/k\"}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(off, &c, &e), 0);
	ck_assert_ptr_null(c.claims.kubelet);
	ck_assert_int_eq(agent_conf_decode(NULL, &c, &e), 0);
	ck_assert_ptr_null(c.claims.kubelet);
	ck_assert_int_eq(agent_conf_decode(on, &c, &e), 0);
	ck_assert_str_eq(c.claims.kubelet, "/var/lib/kubelet");
	ck_assert_str_eq(c.claims.bin, "/b");
	ck_assert_int_eq(agent_conf_decode(own, &c, &e), 0);
	ck_assert_str_eq(c.claims.kubelet, "/k");
	ck_assert_str_eq(c.claims.bin, "/opt/cni/bin");
	ck_assert_int_eq(agent_conf_decode(etcd, &c, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "claims: is set, and the cluster store is etcd"));
	ck_assert_int_eq(agent_conf_decode(wrong, &c, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "claims.kubelt"));
}
END_TEST

START_TEST(groups_of_rails)
{
	static const struct {
		const char *groups, *words;
	} wrong[] = {
		{ "[]", "claims.groups" },
		{ "{\"A\":[0]}", "\"A\" is not the name of a group" },
		{ "{\"2\":[0]}", "\"2\" is not the name of a group" },
		{ "{\"a-b\":[0]}", "\"a-b\" is not the name of a group" },
		{ "{\"abcdefghijklmnopq\":[0]}", "is not the name of a group" },
		{ "{\"a\":\"0-3\"}", "claims.groups.a: must be a list of rails" },
		{ "{\"a\":[]}", "claims.groups.a: must be a list of rails, and not empty" },
		{ "{\"a\":[64]}", "claims.groups.a: 64 is not the number of a rail (0 to 63)" },
		{ "{\"a\":[-1]}", "claims.groups.a: -1 is not the number" },
		{ "{\"a\":[1.5]}", "claims.groups.a: 1.5 is not the number" },
		{ "{\"a\":[\"0\"]}", "claims.groups.a: \"0\" is not the number" },
		{ "{\"a\":[0],\"b\":[1,0]}", "claims.groups.b: rail 0 is given twice" },
		{ "{\"a\":[0,0]}", "claims.groups.a: rail 0 is given twice" },
		{ "{\"a\":[0],\"b\":[1],\"c\":[2],\"d\":[3],\"e\":[4],\"f\":[5],\"g\":[6],"
		  "\"h\":[7],\"i\":[8]}",
		  "claims.groups: more than 8" },
	};
	auto_json struct json *two =
		parse("{\"claims\":{\"groups\":{\"a\":[3,0],\"plane2\":[63]}}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(two, &c, &e), 0);
	ck_assert_uint_eq(c.claims.groups.n, 2);
	ck_assert_str_eq(c.claims.groups.of[0].name, "a");
	ck_assert_uint_eq(c.claims.groups.of[0].rails, 9);
	ck_assert_str_eq(c.claims.groups.of[1].name, "plane2");
	ck_assert(c.claims.groups.of[1].rails == UINT64_C(1) << 63);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "{\"claims\":{\"groups\":%s}}", wrong[i].groups);
		auto_json struct json *n = parse(text);

		ck_assert_int_eq(agent_conf_decode(n, &c, &e), -1);
		ck_assert_msg(strstr(e.msg, wrong[i].words), "%s", e.msg);
	}
}
END_TEST

START_TEST(metrics_are_an_object_or_false)
{
	auto_json struct json *off = parse("{\"metrics\":false}");
	auto_json struct json *on = parse("{\"metrics\":{\"listen\":\"[::1]:9\"}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(off, &c, &e), 0);
	ck_assert(!c.metrics);
	ck_assert_int_eq(agent_conf_decode(on, &c, &e), 0);
	ck_assert(c.metrics);
	ck_assert_str_eq(c.metrics_listen, "[::1]:9");
}
END_TEST

START_TEST(an_agent_listens_if_it_is_told_to)
{
	static const struct {
		const char *text;
		int64_t every;
	} good[] = {
		{ "{}", 0 },
		{ "{\"fabric\":false}", 0 },
		{ "{\"fabric\":{}}", 60000 },
		{ "{\"fabric\":{\"every\":5}}", 5000 },
	};
	auto_json struct json *wrong = parse("{\"fabric\":{\"enabled\":true}}");
	struct agent_conf c;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		auto_json struct json *n = parse(good[i].text);

		ck_assert_int_eq(agent_conf_decode(n, &c, &e), 0);
		ck_assert_int_eq(c.fabric_every, good[i].every);
	}
	ck_assert_int_eq(agent_conf_decode(wrong, &c, &e), -1);
	ck_assert_msg(strstr(e.msg, "fabric.enabled"), "%s", e.msg);
}
END_TEST

START_TEST(whether_pods_use_rdma_is_looked_at)
{
	static const struct {
		const char *text;
		struct agent_conf_transport want;
	} good[] = {
		{ "{}", { 20000, 1000 } },
		{ "{\"transport\":false}", { 0, 1000 } },
		{ "{\"transport\":{\"every\":30,\"mbps\":400}}", { 30000, 400 } },
	};
	auto_json struct json *wrong = parse("{\"transport\":{\"every\":90}}");
	struct agent_conf c;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		auto_json struct json *n = parse(good[i].text);

		ck_assert_int_eq(agent_conf_decode(n, &c, &e), 0);
		ck_assert_int_eq(c.transport.every, good[i].want.every);
		ck_assert_uint_eq(c.transport.limit, good[i].want.limit);
	}
	ck_assert_int_eq(agent_conf_decode(wrong, &c, &e), -1);
	ck_assert_msg(strstr(e.msg, "transport.every"), "%s", e.msg);
}
END_TEST

START_TEST(with_etcd)
{
	auto_json struct json *tree =
		parse("{\"node\":\"gpu-17\",\"fence\":\"strict\",\"nodeHold\":40,\"heartbeat\":10,"
		      "\"etcd\":{\"endpoints\":[\"https://a:1\",\"https://b:1\"],\"ca\":\"/ca\","
		      "\"cert\":\"/c\",\"key\":\"/k\",\"user\":\"u\",\"passwordFile\":\"/p\"}}");
	struct agent_conf c;
	struct err e;

	ck_assert_msg(agent_conf_decode(tree, &c, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(c.node, "gpu-17");
	ck_assert(c.has_etcd && c.strict);
	ck_assert_str_eq(c.etcd.endpoints[1], "https://b:1");
	ck_assert_ptr_null(c.etcd.endpoints[2]);
	ck_assert_str_eq(c.etcd.password_file, "/p");
	ck_assert_ptr_null(c.etcd.prefix);
}
END_TEST

START_TEST(with_kubernetes)
{
	auto_json struct json *tree = parse("{\"kubernetes\":{\"kubeconfig\":\"/k\","
					    "\"context\":\"x\",\"namespace\":\"agents\"}}");
	auto_json struct json *pod = parse("{\"kubernetes\":{}}");
	struct agent_conf c;
	struct err e;

	ck_assert_msg(agent_conf_decode(tree, &c, &e) == 0, "%s", e.msg);
	ck_assert(c.has_kube && !c.has_etcd);
	ck_assert_str_eq(c.kube.kubeconfig, "/k");
	ck_assert_str_eq(c.kube.context, "x");
	ck_assert_str_eq(c.kube.namespace, "agents");
	ck_assert_msg(agent_conf_decode(pod, &c, &e) == 0, "%s", e.msg);
	ck_assert(c.has_kube && !c.kube.kubeconfig);
}
END_TEST

START_TEST(plugins_are_an_object_or_false)
{
	auto_json struct json *off = parse("{\"plugins\":false}");
	auto_json struct json *on = parse("{\"plugins\":{\"folder\":\"/usr/lib/cni\","
					  "\"every\":5,\"restoreFrom\":\"/opt/railhead\","
					  "\"chain\":\"/etc/cni/net.d\"}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(NULL, &c, &e), 0);
	ck_assert_str_eq(c.plugins.folder, "/opt/cni/bin");
	ck_assert_int_eq(c.plugins.every, 60000);
	ck_assert_ptr_null(c.plugins.restore_from);
	ck_assert_ptr_null(c.plugins.chain);
	ck_assert_int_eq(agent_conf_decode(off, &c, &e), 0);
	ck_assert_ptr_null(c.plugins.folder);
	ck_assert_int_eq(agent_conf_decode(on, &c, &e), 0);
	ck_assert_str_eq(c.plugins.folder, "/usr/lib/cni");
	ck_assert_int_eq(c.plugins.every, 5000);
	ck_assert_str_eq(c.plugins.restore_from, "/opt/railhead");
	ck_assert_str_eq(c.plugins.chain, "/etc/cni/net.d");
}
END_TEST

START_TEST(rails_are_an_object_or_false)
{
	auto_json struct json *off = parse("{\"rails\":false}");
	auto_json struct json *on =
		parse("{\"rails\":{\"every\":5,\"except\":[\"mlx5_4\",\"0000:3a:00.1\"]}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(NULL, &c, &e), 0);
	ck_assert_int_eq(c.rails.every, 60000);
	ck_assert_ptr_null(c.rails.except[0]);
	ck_assert_int_eq(agent_conf_decode(off, &c, &e), 0);
	ck_assert_int_eq(c.rails.every, 0);
	ck_assert_int_eq(agent_conf_decode(on, &c, &e), 0);
	ck_assert_int_eq(c.rails.every, 5000);
	ck_assert_str_eq(c.rails.except[1], "0000:3a:00.1");
	ck_assert_ptr_null(c.rails.except[2]);
}
END_TEST

START_TEST(the_device_plugin_is_an_object_or_false)
{
	auto_json struct json *off = parse("{\"devicePlugin\":false}");
	auto_json struct json *on =
		parse("{\"devicePlugin\":{\"resources\":\"/r\",\"kubelet\":\"/k\"}}");
	struct agent_conf c;
	struct err e;

	ck_assert_int_eq(agent_conf_decode(NULL, &c, &e), 0);
	ck_assert_str_eq(c.devices.kubelet, "/var/lib/kubelet/device-plugins");
	ck_assert_ptr_null(c.devices.resources);
	ck_assert_int_eq(agent_conf_decode(off, &c, &e), 0);
	ck_assert_ptr_null(c.devices.kubelet);
	ck_assert_int_eq(agent_conf_decode(on, &c, &e), 0);
	ck_assert_str_eq(c.devices.kubelet, "/k");
	ck_assert_str_eq(c.devices.resources, "/r");
}
END_TEST

START_TEST(a_refused_value_is_named_by_its_key)
{
	static const struct {
		const char *text, *why;
	} all[] = {
		{ "{\"nodes\":1}", "agent.json.nodes" },
		{ "{\"metrics\":9750}", "metrics: 9750 is neither an object nor false" },
		{ "{\"metrics\":{\"port\":1}}", "metrics.port" },
		{ "{\"repair\":true}", "repair: true is neither an object nor false" },
		{ "{\"repair\":{\"grace\":0}}", "repair.grace" },
		{ "{\"repair\":{\"graze\":9}}", "repair.graze" },
		{ "{\"plugins\":true}", "plugins: true is neither an object nor false" },
		{ "{\"plugins\":{\"every\":0}}", "plugins.every" },
		{ "{\"plugins\":{\"from\":\"/\"}}", "plugins.from" },
		{ "{\"plugins\":{\"folder\":\"bin\"}}",
		  "plugins.folder: \"bin\" is not an absolute path" },
		{ "{\"plugins\":{\"restoreFrom\":\"bin\"}}",
		  "plugins.restoreFrom: \"bin\" is not an absolute path" },
		{ "{\"plugins\":{\"chain\":\"net.d\"}}",
		  "plugins.chain: \"net.d\" is not an absolute path" },
		{ "{\"rails\":true}", "rails: true is neither an object nor false" },
		{ "{\"rails\":{\"every\":86401}}", "rails.every" },
		{ "{\"rails\":{\"except\":\"mlx5_4\"}}", "rails.except" },
		{ "{\"rails\":{\"except\":[4]}}", "rails.except[0]: 4 is not a string" },
		{ "{\"rails\":{\"only\":[]}}", "rails.only" },
		{ "{\"devicePlugin\":1}", "devicePlugin: 1 is neither an object nor false" },
		{ "{\"devicePlugin\":{\"folder\":\"/\"}}", "devicePlugin.folder" },
		{ "{\"devicePlugin\":{\"kubelet\":\"k\"}}",
		  "devicePlugin.kubelet: \"k\" is not an absolute path" },
		{ "{\"devicePlugin\":{\"resources\":\"r\"}}",
		  "devicePlugin.resources: \"r\" is not an absolute path" },
		{ "{\"node\":\"GPU-1\"}", "node: \"GPU-1\" is not a name" },
		{ "{\"node\":\"a..b\"}", "node: \"a..b\" is not a name" },
		{ "{\"node\":\"\"}", "node: \"\" is not a name" },
		{ "{\"nodeHold\":39,\"heartbeat\":10}", "nodeHold: 39 s is less than 4 times" },
		{ "{\"fence\":\"maybe\"}", "agent.json.fence" },
		{ "{\"etcd\":{}}", "etcd.endpoints" },
		{ "{\"etcd\":{\"endpoints\":[]}}", "etcd.endpoints: is empty" },
		{ "{\"etcd\":{\"endpoints\":[1]}}", "etcd.endpoints[0]: 1 is not a string" },
		{ "{\"etcd\":{\"endpoints\":[\"a\"],\"ca\":\"ca.pem\"}}",
		  "etcd.ca: \"ca.pem\" is not an absolute path" },
		{ "{\"etcd\":{\"endpoints\":[\"a\"],\"cert\":\"/c\"}}", "etcd.key: is missing" },
		{ "{\"etcd\":{\"endpoints\":[\"a\"],\"passwordFile\":\"/c\"}}",
		  "etcd.user: is missing" },
		{ "{\"etcd\":{\"endpoints\":[\"a\"],\"password\":\"secret\"}}", "etcd.password" },
		{ "{\"etcd\":{\"endpoints\":[\"a\"]},\"kubernetes\":{}}",
		  "kubernetes: is set, and etcd is set, too" },
		{ "{\"kubernetes\":{\"kubeconfig\":\"k\"}}",
		  "kubernetes.kubeconfig: \"k\" is not an absolute path" },
		{ "{\"kubernetes\":{\"context\":\"x\"}}",
		  "kubernetes.context: \"x\" is of no kubeconfig" },
		{ "{\"kubernetes\":{\"token\":\"t\"}}", "kubernetes.token" },
		{ "{\"kubernetes\":true}", "agent.json.kubernetes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json struct json *tree = parse(all[i].text);
		struct agent_conf c;
		struct err e;

		ck_assert_int_eq(agent_conf_decode(tree, &c, &e), -1);
		ck_assert_msg(strncmp(e.msg, all[i].why, strlen(all[i].why)) == 0, "%s: %s",
			      all[i].text, e.msg);
	}
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	auto_json struct json *tree = parse(text);
	struct agent_conf c;
	struct err e;

	(void)arg;
	return agent_conf_decode(tree, &c, &e) != 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	ck_assert_uint_gt(
		typos_all_told("{\"node\":\"gpu-17\",\"fence\":\"strict\",\"nodeHold\":40,"
			       "\"heartbeat\":10,"
			       "\"etcd\":{\"endpoints\":[\"https://a:1\"],\"ca\":\"/ca\",\"cert\":"
			       "\"/c\",\"key\":\"/k\",\"user\":\"u\",\"passwordFile\":\"/p\"},"
			       "\"repair\":{\"every\":5,\"grace\":5},\"metrics\":{\"listen\":"
			       "\"[::1]:9\"},\"plugins\":{\"folder\":\"/usr/lib/cni\",\"every\":5,"
			       "\"restoreFrom\":\"/opt/railhead\"}}",
			       NULL, refuses, NULL),
		9);
	ck_assert_uint_gt(typos_all_told("{\"kubernetes\":{\"kubeconfig\":\"/"
					 "k\",\"context\":\"x\",\"namespace\":\"agents\"}}",
					 NULL, refuses, NULL),
			  9);
}
END_TEST

TEST_PROGRAM("agent_conf", without_a_file, with_etcd, with_kubernetes, repair_is_an_object_or_false,
	     plugins_are_an_object_or_false, rails_are_an_object_or_false,
	     an_agent_listens_if_it_is_told_to, whether_pods_use_rdma_is_looked_at,
	     the_device_plugin_is_an_object_or_false, claims_are_off_unless_they_are_there,
	     groups_of_rails, metrics_are_an_object_or_false, a_refused_value_is_named_by_its_key,
	     no_key_is_mistyped_in_silence)
