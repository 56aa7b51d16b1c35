/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools_test.c: objects of Spiderpool, whereabouts and nv-ipam as pools, and a note for each
 * key that a pool does not say.
 */
#include "ipam/peers/pools.h"

#include <stdio.h>

#include "ipam/conf/pool.h"
#include "lib/json/yaml.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

/* Objects without their braces. */
#define SPIDER(kind) "apiVersion: spiderpool.spidernet.io/v2beta1, kind: Spider" kind ", "
#define NV(kind)     "apiVersion: nv-ipam.nvidia.com/v1alpha1, kind: " kind ", "
#define WB           "apiVersion: whereabouts.cni.cncf.io/v1alpha1, kind: IPPool, "
#define NAD          "apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, "
#define NAMED(name)  "metadata: {name: " name "}, "

static int convert(const char *yaml, struct peer_pools *p, struct err *e)
{
	auto_json struct json *docs = NULL;

	if (yaml_json_read(yaml, strlen(yaml), &docs, e))
		return -1;
	json_each (doc, docs) {
		if (peer_pools_add(p, doc, e))
			return -1;
	}
	return peer_pools_finish(p, e);
}

static void fine(const char *yaml, struct peer_pools *p)
{
	struct err e = { 0 };

	*p = (struct peer_pools){ .block = 16 };
	ck_assert_msg(convert(yaml, p, &e) == 0, "%s: %s", yaml, e.msg);
}

/* Each pool is valid for a node, too. */
static void pools_are(const char *yaml, const char *want)
{
	auto_peer_pools struct peer_pools p;
	auto_free char *text = NULL;

	fine(yaml, &p);
	text = json_print(p.pools, false);
	ck_assert_str_eq(text, want);
	json_each (pool, p.pools) {
		auto_clean(source_clear) struct source s = { .label = "" };
		auto_json struct json *def = json_dup(pool);
		struct err e = { 0 };

		json_del(def, "name");
		ck_assert_msg(pool_check_keys(def, &e) == 0 &&
				      pool_decode(json_str(json_get(pool, "name")), def, &s, &e) ==
					      0,
			      "%s", e.msg);
	}
}

/* The notes as "OBJECT|KEY|WHY", one a line; of the reason only what is before the first ':'. */
static void notes_are(const char *yaml, const char *want)
{
	auto_peer_pools struct peer_pools p;
	char all[4096] = "";

	fine(yaml, &p);
	json_each (n, p.notes) {
		const char *why = json_str(json_get(n, "why"));
		char line[256];

		(void)snprintf(line, sizeof(line), "%s|%s|%.*s\n", json_str(json_get(n, "object")),
			       json_str(json_get(n, "key")), (int)strcspn(why, ":;"), why);
		testing_append(all, sizeof(all), line);
	}
	ck_assert_str_eq(all, want);
}

START_TEST(a_spider_pool_keeps_ranges_excludes_routes_and_namespaces)
{
	pools_are("{" SPIDER("IPPool") NAMED("rail0") "spec: {ipVersion: 4, subnet: 10.6.0.0/16,"
						      " ips: [10.6.1.0-10.6.2.255, 10.6.9.9], "
						      "excludeIPs: [10.6.1.7], gateway: 10.6.0.1,"
						      " routes: [{dst: 10.0.0.0/8, gw: 10.6.0.2}], "
						      "namespaceName: [a, b],"
						      " default: false}}",
		  "[{\"name\":\"rail0\",\"subnet\":\"10.6.0.0/16\",\"ranges\":"
		  "[\"10.6.1.0-10.6.2.255\",\"10.6.9.9\"],\"excludes\":[\"10.6.1.7\"],"
		  "\"gateway\":\"10.6.0.1\",\"routes\":[{\"dst\":\"10.0.0.0/"
		  "8\",\"gw\":\"10.6.0.2\"}],"
		  "\"namespaces\":[\"a\",\"b\"],\"blockSize\":16}]");
	pools_are("{" SPIDER("IPPool") NAMED("v6") "spec: {ipVersion: 6, subnet: fd00::/64,"
						   " ips: [fd00::10-fd00::19]}}",
		  "[{\"name\":\"v6\",\"subnet\":\"fd00::/64\",\"ranges\":[\"fd00::10-fd00::19\"],"
		  "\"blockSize\":1}]");
}
END_TEST

#define FOR_NODES(more)                                                                            \
	"{" SPIDER("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0], " more "}}"
#define OF_NODES(nodes)                                                                            \
	"[{\"name\":\"p\",\"subnet\":\"10.6.0.0/16\",\"ranges\":[\"10.6.1.0\"],\"nodes\":" nodes   \
	",\"blockSize\":1}]"

START_TEST(nodes_of_a_spider_pool)
{
	pools_are(FOR_NODES("nodeName: [n1, n2]"),
		  OF_NODES("{\"kubernetes.io/hostname\":[\"n1\",\"n2\"]}"));
	pools_are(FOR_NODES("nodeAffinity: {matchLabels: {leaf: g3}, matchExpressions: "
			    "[{key: rack, operator: In, values: ['7', '8']}]}"),
		  OF_NODES("{\"leaf\":\"g3\",\"rack\":[\"7\",\"8\"]}"));
	pools_are(FOR_NODES("nodeAffinity: {matchLabels: {a: b}}, nodeName: [n]"),
		  OF_NODES("{\"kubernetes.io/hostname\":[\"n\"]}"));
	notes_are(FOR_NODES("nodeAffinity: {matchExpressions: [{key: gpu, operator: Exists}]}"),
		  "SpiderIPPool p|nodeAffinity|\"nodes\" knows the operator In only\n");
	notes_are(FOR_NODES("nodeAffinity: {matchLabels: {a: b}, matchExpressions: "
			    "[{key: a, operator: In, values: [c]}, {key: d, operator: In}]}"),
		  "SpiderIPPool p|nodeAffinity|\"nodes\" has each label once, and at most 16\n"
		  "SpiderIPPool p|nodeAffinity|label d has no values\n");
}
END_TEST

START_TEST(each_selector_of_a_spider_pool_is_a_note)
{
	notes_are("{" SPIDER("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0],"
						  " podAffinity: {matchLabels: {a: b}}, "
						  "namespaceAffinity: {matchLabels: {a: b}},"
						  " nodeAffinity: {matchLabels: {a: b}}, nodeName: "
						  "[n], multusName: [m], vlan: 7,"
						  " default: true, fnord: 1}}",
		  "SpiderIPPool p|podAffinity|pods are not selected by label\n"
		  "SpiderIPPool p|namespaceAffinity|namespaces are not selected by label\n"
		  "SpiderIPPool p|multusName|a network names its pools in \"pools\"\n"
		  "SpiderIPPool p|vlan|the VLAN belongs to the network configuration\n"
		  "SpiderIPPool p|default|no pool is the default of a cluster\n"
		  "SpiderIPPool p|fnord|railhead does not know this key\n"
		  "SpiderIPPool p|nodeAffinity|nodeName counts before it\n");
	notes_are("{" SPIDER("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0],"
						  " podAffinity: {}, nodeName: [], vlan: ~, "
						  "default: false, gateway: 10.6.0.1}}",
		  "SpiderIPPool p|gateway|Spiderpool adds a default route through it to each "
		  "interface\n");
	notes_are("{" SPIDER("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16, disable: true}}",
		  "SpiderIPPool p|disable|the pool gives no addresses\n");
	notes_are("{" SPIDER("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16}}",
		  "SpiderIPPool p|ips|the pool has no addresses\n");
	notes_are("{" SPIDER("IPPool") NAMED("p") "spec: {subnet: x, ips: [10.6.1.0]}}",
		  "SpiderIPPool p|subnet|\"x\" is not a network\n");
}
END_TEST

START_TEST(reserved_addresses_stay_reserved_wherever_they_are)
{
	/* The reserved ones come first, as files can be in any order. */
	const char *yaml =
		"kind: List\nitems:\n"
		"- {" SPIDER("ReservedIP") NAMED(
			"r") "spec: {ips: [10.6.1.4-10.7.0.5, 10.9.0.1, z]}}\n"
			     "- {" SPIDER("IPPool") NAMED(
				     "a") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0-10.6.1.9]}}\n"
					  "- {" SPIDER("IPPool")
						  NAMED("b") "spec: {subnet: 10.7.0.0/16, ips: "
							     "[10.7.0.0-10.7.0.9]}}\n";

	pools_are(yaml, "[{\"name\":\"a\",\"subnet\":\"10.6.0.0/16\",\"ranges\":"
			"[\"10.6.1.0-10.6.1.9\"],\"reserved\":[\"10.6.1.4-10.6.255.255\"],"
			"\"blockSize\":1},{\"name\":\"b\",\"subnet\":\"10.7.0.0/16\",\"ranges\":"
			"[\"10.7.0.0-10.7.0.9\"],\"reserved\":[\"10.7.0.0-10.7.0.5\"],"
			"\"blockSize\":1}]");
	notes_are(yaml, "SpiderReservedIP r|ips|10.9.0.1 is in no pool of these files\n"
			"SpiderReservedIP r|ips|\"z\" is not a range\n");

	/* For the whole cluster all of them count. */
	auto_peer_pools struct peer_pools p;
	auto_free char *text = NULL;

	fine(yaml, &p);
	text = json_print(p.ranges, false);
	ck_assert_str_eq(text, "[\"10.6.1.4-10.7.0.5\",\"10.9.0.1\"]");
}
END_TEST

START_TEST(a_spider_subnet_is_a_pool_if_it_has_none)
{
	const char *both = "{" SPIDER("Subnet")
		NAMED("s") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0]}}\n"
			   "---\n{" SPIDER("IPPool") NAMED("a") "spec: {subnet: 10.6.0.0/16,"
								" ips: [10.6.1.0]}}\n";

	notes_are(both, "SpiderSubnet s|subnet|pool a has addresses of it\n");
	pools_are("{" SPIDER("Subnet") NAMED("s") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0]}}",
		  "[{\"name\":\"s\",\"subnet\":\"10.6.0.0/16\",\"ranges\":[\"10.6.1.0\"],"
		  "\"blockSize\":1}]");
}
END_TEST

START_TEST(a_pool_of_nv_ipam_keeps_block_size_and_routes)
{
	const char *yaml = "{" NV("IPPool")
		NAMED("p") "spec: {subnet: 10.6.0.0/16,"
			   " perNodeBlockSize: 100, gateway: 10.6.0.1, defaultGateway: true,"
			   " exclusions: [{startIP: 10.6.0.5, endIP: 10.6.0.9},"
			   " {startIP: x, endIP: y}], routes: [{dst: 5.0.0.0/8}],"
			   " nodeSelector: {nodeSelectorTerms: [{matchExpressions:"
			   " [{key: rack, operator: In, values: ['7', '8']}]}]}},"
			   " status: {allocations: [{nodeName: n}]}}";

	pools_are(yaml, "[{\"name\":\"p\",\"subnet\":\"10.6.0.0/16\",\"gateway\":\"10.6.0.1\","
			"\"excludes\":[\"10.6.0.5-10.6.0.9\"],\"routes\":[{\"dst\":\"5.0.0.0/8\","
			"\"gw\":\"10.6.0.1\"},{\"dst\":\"0.0.0.0/0\",\"gw\":\"10.6.0.1\"}],"
			"\"nodes\":{\"rack\":[\"7\",\"8\"]},\"blockSize\":64}]");
	notes_are(yaml, "IPPool p|blockSize|100 becomes 64\n"
			"IPPool p|status.allocations|1 nodes have ranges of it\n"
			"IPPool p|exclusions|\"x\" to \"y\" is not a range\n");
}
END_TEST

START_TEST(node_selectors_of_nv_ipam_that_are_notes)
{
#define SELECTS(terms)                                                                             \
	"{" NV("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16, perNodeBlockSize: 64,"            \
				    " nodeSelector: {nodeSelectorTerms: [" terms "]}}}"
	notes_are(SELECTS("{matchExpressions: [{key: a, operator: Exists}]}"),
		  "IPPool p|nodeSelector|\"nodes\" knows the operator In only\n");
	notes_are(SELECTS("{matchFields: [{key: metadata.name, operator: In, values: [n]}]}"),
		  "IPPool p|nodeSelector|\"nodes\" knows labels only\n");
	notes_are(SELECTS("{matchExpressions: [{key: a, operator: In, values: [b]}]}, {}"),
		  "IPPool p|nodeSelector|a node of \"nodes\" matches all labels, and not one of 2 "
		  "terms\n");
}
END_TEST

START_TEST(each_network_of_a_cidr_pool_is_a_pool)
{
	const char *spec = "{" NV("CIDRPool")
		NAMED("c") "spec: {cidr: 10.6.0.0/16,"
			   " perNodeNetworkPrefix: 28, gatewayIndex: 1, exclusions:"
			   " [{startIP: 10.6.0.2, endIP: 10.6.0.18}], perNodeExclusions:"
			   " [{startIndex: 14, endIndex: 14}]}";

	char yaml[512];

	(void)snprintf(yaml, sizeof(yaml),
		       "%s, status: {allocations: [{nodeName: N.1, prefix: 10.6.0.16/28},"
		       " {nodeName: n2, prefix: 10.6.0.32/28, gateway: 10.6.0.40}]}}",
		       spec);
	pools_are(yaml,
		  "[{\"name\":\"c-n-1\",\"subnet\":\"10.6.0.16/28\",\"gateway\":\"10.6.0.17\","
		  "\"excludes\":[\"10.6.0.16-10.6.0.18\",\"10.6.0.30\"],"
		  "\"nodes\":{\"kubernetes.io/hostname\":\"N.1\"},\"blockSize\":4},"
		  "{\"name\":\"c-n2\",\"subnet\":\"10.6.0.32/28\",\"gateway\":\"10.6.0.40\","
		  "\"excludes\":[\"10.6.0.46\"],\"nodes\":{\"kubernetes.io/hostname\":\"n2\"},"
		  "\"blockSize\":4}]");
	(void)snprintf(yaml, sizeof(yaml), "%s}", spec);
	notes_are(yaml,
		  "CIDRPool c|cidr|no node has a network of it yet, and each node has another "
		  "gateway\n");
}
END_TEST

#define CONF(ipam) "{name: net, type: macvlan, ipam: {type: whereabouts, " ipam "}}"

START_TEST(the_ranges_of_whereabouts_become_pools)
{
	pools_are(CONF("range: 10.6.0.0/16, range_start: 10.6.1.0, range_end: 10.6.1.255,"
		       " exclude: [10.6.1.8/30], gateway: 10.6.0.1, routes: [{dst: 0.0.0.0/0}]"),
		  "[{\"name\":\"net\",\"subnet\":\"10.6.0.0/"
		  "16\",\"ranges\":[\"10.6.1.0-10.6.1.255\"],"
		  "\"excludes\":[\"10.6.1.8-10.6.1.11\"],\"gateway\":\"10.6.0.1\",\"routes\":"
		  "[{\"dst\":\"0.0.0.0/0\",\"gw\":\"10.6.0.1\"}],\"blockSize\":16}]");
	pools_are(
		CONF("range: 010.006.000.000/24, range_start: 010.6.0.08, range_end: 10.6.0.020,"
		     " exclude: [010.6.0.09/32]"),
		"[{\"name\":\"net\",\"subnet\":\"10.6.0.0/24\",\"ranges\":[\"10.6.0.8-10.6.0.20\"],"
		"\"excludes\":[\"10.6.0.9\"],\"blockSize\":1}]");
	pools_are(
		CONF("ipRanges: [{range: 10.6.0.5-10.6.0.90/24}, {range: 'fd00::/64'}]"),
		"[{\"name\":\"net\",\"subnet\":\"10.6.0.0/24\",\"ranges\":[\"10.6.0.5-10.6.0.90\"],"
		"\"blockSize\":4},{\"name\":\"net-2\",\"subnet\":\"fd00::/64\",\"blockSize\":16}]");
	pools_are("{" NAD NAMED("n") "spec: {config: '{\"plugins\":[{\"type\":\"ipvlan\",\"ipam\":"
				     "{\"type\":\"whereabouts\",\"range\":\"10.6.0.0/"
				     "24\"}},{\"type\":\"tuning\"}]}'}}",
		  "[{\"name\":\"n\",\"subnet\":\"10.6.0.0/24\",\"blockSize\":16}]");
	pools_are("{" WB NAMED("10.6.0.0-24") "spec: {range: 10.6.0.0/24, allocations: {'1': {}}}}",
		  "[{\"name\":\"10-6-0-0-24\",\"subnet\":\"10.6.0.0/24\",\"blockSize\":16}]");
}
END_TEST

START_TEST(settings_of_whereabouts_that_go_elsewhere_are_notes)
{
	notes_are(
		CONF("range: 10.6.0.0/16, gateway: 10.7.0.1, network_name: x, node_slice_size: /24,"
		     " exclude: [10.7.0.0/16, q], range_end: 10.9.0.0"),
		"network net|network_name|a pool has a name of its own\n"
		"network net|node_slice_size|nodes claim blocks\n"
		"network net|range_start|\"\" to \"10.9.0.0\" is not in the range\n"
		"network net|exclude|10.7.0.0/16 is not in the range\n"
		"network net|exclude|\"q\" is not a range\n"
		"network net|gateway|\"10.7.0.1\" is in no range\n");
	notes_are("{name: net, ipam: {type: host-local}}",
		  "network net|ipam.type|networks with \"host-local\" are not imported\n");
	notes_are("{name: net}", "network net|ipam|it has none\n");
	notes_are("{" NAD NAMED("n") "spec: {config: '{'}}",
		  "NetworkAttachmentDefinition n|spec.config|config\n");
	notes_are("{" NAD NAMED("n") "spec: {}}",
		  "NetworkAttachmentDefinition n|spec.config|it is empty\n");
	notes_are("{apiVersion: v1, kind: Pod, metadata: {name: p}}",
		  "Pod p|kind|objects of v1 \"Pod\" are not imported\n");
	notes_are("{" SPIDER("IPPool") NAMED("p~") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0],"
						   " gateway: x, routes: [{dst: 10.0.0.0/8, gw: "
						   "y}]}}",
		  "SpiderIPPool p~|name|\"p~\"\n"
		  "SpiderIPPool p~|gateway|\"x\" is not an address of subnet 10.6.0.0/16\n"
		  "SpiderIPPool p~|routes|\"10.0.0.0/8\" through \"y\" is not a route\n"
		  "SpiderIPPool p~|gateway|Spiderpool adds a default route through it to each "
		  "interface\n");
	notes_are("[]", "network (without a name)||it is not an object of Kubernetes or CNI\n");
}
END_TEST

#define POOL(name, net) "---\n{" NV("IPPool") NAMED(name) "spec: {subnet: " net "}}\n"

START_TEST(names_are_those_of_shared_pools)
{
	pools_are(POOL("Rail_0.x", "10.1.0.0/16") POOL("rail-0-x", "10.2.0.0/16")
			  POOL("a-very-long-name-of-a-pool-that-goes-on", "10.3.0.0/16")
				  POOL("...", "10.4.0.0/16"),
		  "[{\"name\":\"rail-0-x\",\"subnet\":\"10.1.0.0/16\",\"blockSize\":16},"
		  "{\"name\":\"rail-0-x-2\",\"subnet\":\"10.2.0.0/16\",\"blockSize\":16},"
		  "{\"name\":\"a-very-long-name-of-a-17fb94c0\",\"subnet\":\"10.3.0.0/16\","
		  "\"blockSize\":16},{\"name\":\"pool\",\"subnet\":\"10.4.0.0/16\","
		  "\"blockSize\":16}]");
	notes_are(POOL("a", "10.1.0.1/16") POOL("b", "10.1.128.0/17"),
		  "IPPool a|subnet|10.1.0.1/16 has host bits set\n"
		  "pool a|subnet|pool b has addresses of the same network\n");
}
END_TEST

START_TEST(damaged_values_are_notes)
{
	notes_are("{" SPIDER("IPPool") NAMED("p") "spec: {subnet: 10.6.0.0/16, ips: [7, 10.6.1.0],"
						  " gateway: 10.7.0.1, routes: [{dst: x, gw: y}]}}",
		  "SpiderIPPool p|ranges|an element is not a text\n"
		  "SpiderIPPool p|gateway|\"10.7.0.1\" is not an address of subnet 10.6.0.0/16\n"
		  "SpiderIPPool p|routes|\"x\" through \"y\" is not a route\n"
		  "SpiderIPPool p|gateway|Spiderpool adds a default route through it to each "
		  "interface\n");
	notes_are("{" SPIDER("ReservedIP")
			  NAMED("r") "spec: {ips: [7, fd00::1]}}"
				     "\n---\n{" SPIDER("IPPool") NAMED(
					     "p") "spec: {subnet: 10.6.0.0/16, ips: [10.6.1.0]}}",
		  "SpiderReservedIP r|ips|\"\" is not a range\n"
		  "SpiderReservedIP r|ips|fd00\n");
	notes_are("{" NAD NAMED("n") "spec: {config: '{'}}",
		  "NetworkAttachmentDefinition n|spec.config|config\n");
	/* Items of an array have no keys. */
	notes_are("{" SPIDER("ReservedIP") NAMED("r") "spec: [7]}",
		  "SpiderReservedIP r|spec|an array, not an object\n");
	notes_are("[]", "network (without a name)||it is not an object of Kubernetes or CNI\n");
}
END_TEST

static int convert_each(void *arg, struct err *e)
{
	auto_peer_pools struct peer_pools p = { .block = 16 };

	return convert(arg, &p, e);
}

START_TEST(failed_allocations_are_reported)
{
	char yaml[] = POOL("Rail", "10.1.0.0/16") "---\n{" SPIDER("IPPool") NAMED(
		"a") "spec: {subnet: 10.6.0.0/16, gateway: 10.6.0.1,"
		     " ips: [10.6.1.0-10.6.1.9], routes: [{dst: 10.0.0.0/8, gw: 10.6.0.2}]}}\n"
		     "---\n{" SPIDER("ReservedIP") NAMED(
			     "r") "spec: {ips: [10.6.1.4]}}\n"
				  "---\n{name: net, ipam: {type: whereabouts, range: 10.7.0.0/16,"
				  " exclude: [10.7.0.1], network_name: x}}\n";

	ck_assert_str_eq(alloc_fail_each(convert_each, yaml), "ok");
}
END_TEST

TEST_PROGRAM("peer_pools", a_spider_pool_keeps_ranges_excludes_routes_and_namespaces,
	     nodes_of_a_spider_pool, node_selectors_of_nv_ipam_that_are_notes,
	     each_selector_of_a_spider_pool_is_a_note,
	     reserved_addresses_stay_reserved_wherever_they_are,
	     a_spider_subnet_is_a_pool_if_it_has_none,
	     a_pool_of_nv_ipam_keeps_block_size_and_routes, each_network_of_a_cidr_pool_is_a_pool,
	     the_ranges_of_whereabouts_become_pools,
	     settings_of_whereabouts_that_go_elsewhere_are_notes, names_are_those_of_shared_pools,
	     damaged_values_are_notes, failed_allocations_are_reported)
