/* SPDX-License-Identifier: Apache-2.0 */
/* netconf_check_test.c: shows that no misspelled key of any plugin passes in silence. */
#include <string.h>

#include "lib/json/json.h"
#include "lib/testing/testing.h"
#include "lib/testing/typos.h"
#include "railctl/attachments/netconf.h"

#define HEAD "{\"cniVersion\":\"1.1.0\",\"name\":\"n\","
#define COMMON                                                                                     \
	"\"mtu\":9000,\"dad\":true,\"ipamTimeout\":5,\"logLevel\":\"info\","                       \
	"\"logFile\":\"/var/log/x.log\",\"probe\":{\"address\":true,\"gateway\":true,"             \
	"\"strict\":true},\"routing\":{\"mode\":\"rail\",\"default\":false,\"table\":1000,"        \
	"\"supernets\":[\"10.0.0.0/8\"]},\"host\":{\"veth\":true,\"routes\":[\"10.96.0.0/12\"]},"  \
	"\"txQueueLen\":100,\"gso\":{\"maxSize\":65536,\"ipv4MaxSize\":65536},"                    \
	"\"gro\":{\"maxSize\":65536,\"ipv4MaxSize\":65536},\"args\":{\"cni\":{}},"                 \
	"\"capabilities\":{\"mac\":true,\"ips\":true},"                                            \
	"\"sysctl\":{\"net.ipv4.conf.IFNAME.arp_ignore\":\"1\"},"
#define POOL                                                                                       \
	"\"ipam\":{\"type\":\"railhead-ipam\",\"pool\":\"a\",\"dataDir\":\"/x\",\"auditLog\":"     \
	"\"/var/x.log\",\"resolvConf\":\"/etc/resolv.conf\",\"statusWhenFull\":true,"              \
	"\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"10.0.0.1\"}],"                               \
	"\"addresses\":[{\"address\":\"10.9.0.2/24\",\"gateway\":\"10.9.0.1\"}]}}"

static const char *const also[] = {
	/* of people, not ours */
	"net.ipv4.conf.IFNAME.arp_ignore",
	/* they mean something else */
	"pools",
	"range",
	"mode",
	"rail",
	"deviceID",
	NULL,
};

static bool says_something(const char *text, void *arg)
{
	auto_findings struct findings findings = { 0 };
	struct err e = { 0 };

	(void)arg;
	return netconf_check(text, strlen(text), &findings, &e) || findings.n > 0;
}

/* The text has no finding, and each slip in it has one. */
static void told(const char *text)
{
	auto_findings struct findings findings = { 0 };
	struct err e = { 0 };

	if (netconf_check(text, strlen(text), &findings, &e))
		ck_abort_msg("%s", e.msg);
	ck_assert_uint_eq(findings.n, 0);
	ck_assert_uint_gt(typos_all_told(text, also, says_something, NULL), 50);
}

START_TEST(no_slip_is_silent)
{
	told(HEAD COMMON "\"type\":\"rh-macvlan\",\"master\":\"e\",\"mode\":\"bridge\","
			 "\"mac\":\"02:00:00:00:00:01\",\"bcqueuelen\":1000," POOL);
	told(HEAD COMMON "\"type\":\"ipvlan\",\"master\":{\"vlan\":120,\"of\":\"e\",\"name\":\"v\","
			 "\"mtu\":9000},\"mode\":\"l2\",\"flag\":\"bridge\"," POOL);
	told(HEAD COMMON "\"type\":\"macvlan\",\"master\":{\"bond\":[\"a\",\"b\"],\"mode\":"
			 "\"802.3ad\",\"name\":\"bo\",\"miimon\":100,\"xmitHashPolicy\":\"layer2\","
			 "\"lacpRate\":\"fast\"},\"macPrefix\":\"0a:1b\"," POOL);
	told(HEAD "\"type\":\"macvlan\",\"ipam\":{\"type\":\"railhead-ipam\",\"subnet\":"
		  "\"10.1.0.0/16\",\"rangeStart\":\"10.1.0.5\",\"rangeEnd\":\"10.1.0.9\","
		  "\"gateway\":\"10.1.0.1\",\"sticky\":true,\"cooldown\":60,"
		  "\"strictCooldown\":true,\"ranges\":[[{\"subnet\":\"10.2.0.0/16\","
		  "\"rangeStart\":\"10.2.0.5\",\"rangeEnd\":\"10.2.0.9\","
		  "\"gateway\":\"10.2.0.1\"}]]}}");
	told(HEAD
	     "\"type\":\"macvlan\",\"ipam\":{\"type\":\"railhead-ipam\",\"thisNodeOnly\":true,"
	     "\"range\":\"10.1.0.0/16\",\"range_start\":\"10.1.0.5\",\"range_end\":"
	     "\"10.1.0.9\",\"exclude\":[\"10.1.0.6\"],\"gateway\":\"10.1.0.1\",\"network_name\":"
	     "\"x\",\"enable_overlapping_ranges\":true,\"ipRanges\":[{\"range\":"
	     "\"10.3.0.0/16\",\"range_start\":\"10.3.0.5\",\"range_end\":\"10.3.0.9\","
	     "\"exclude\":[\"10.3.0.6\"]}]}}");
	told(HEAD COMMON "\"type\":\"sriov\",\"vlan\":100,\"vlanQoS\":3,\"vlanProto\":\"802.1q\","
			 "\"mac\":\"02:00:00:00:00:01\",\"min_tx_rate\":100,\"max_tx_rate\":200,"
			 "\"spoofchk\":\"on\",\"trust\":\"off\",\"link_state\":\"auto\","
			 "\"rings\":{\"rx\":512,\"tx\":512},\"resource\":{\"pf\":[\"e\"],"
			 "\"count\":1},\"near\":\"gpu\",\"nearOnly\":true,\"rdma\":\"exclusive\","
			 "\"rdmaTimeout\":5,\"renumbered\":\"fail\"," POOL);
	told(HEAD "\"type\":\"ib-sriov\",\"deviceID\":\"0000:01:00.1\",\"pkey\":\"0x8001\","
		  "\"link_state\":\"auto\",\"rdmaIsolation\":true,\"guidFrom\":\"pod\","
		  "\"guidDomain\":\"d\",\"renumbered\":\"fail\"," POOL);
	told(HEAD "\"type\":\"ipoib\",\"master\":\"ib0\",\"pkey\":\"0x8001\",\"mode\":\"datagram\","
		  "\"umcast\":true," POOL);
	told(HEAD COMMON "\"type\":\"rails\",\"kind\":\"macvlan\",\"rails\":[0,1],\"min\":1,"
			 "\"rdma\":\"shared\",\"ifname\":\"r{n}\",\"mode\":\"bridge\","
			 "\"ipam\":{\"type\":\"railhead-ipam\",\"pool\":\"rail{n}\"}}");
	told("{\"cniVersion\":\"1.1.0\",\"name\":\"n\",\"plugins\":[{\"type\":\"sriov\","
	     "\"deviceID\":\"0000:01:00.1\"},{\"type\":\"rdma\",\"mode\":\"exclusive\","
	     "\"timeout\":5,\"renumbered\":\"fail\",\"deviceName\":\"d\"}]}");
}
END_TEST

/* The error of the first one does not hide the others, and a level. */
START_TEST(all_findings_of_a_text)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ HEAD "\"type\":\"macvlan\",\"mastr\":\"e\",\"mtu\":\"9\",\"x\":1,\"_y\":1,"
		       "\"tier\":\"gold\"}",
		  "mtu mastr tier x?" },
		{ HEAD "\"plugins\":[{\"type\":\"bridge\",\"mastr\":1},{\"type\":\"rh-ipvlan\","
		       "\"Master\":\"e\",\"vlan\":5}]}",
		  "master? vlan?" },
		{ HEAD "\"type\":\"bridge\",\"routing\":\"rail\",\"ipam\":{\"type\":"
		       "\"railhead-ipam\",\"pool\":\"a\",\"x\":1}}",
		  "routing ipam.x?" },
		{ HEAD "\"type\":\"macvlan\",\"ipam\":{\"type\":\"railhead-ipam\",\"pol\":\"a\"}}",
		  "ipam.pol ipam" },
		{ "apiVersion: v1\nkind: Pod\n---\napiVersion: k8s.cni.cncf.io/v1\n"
		  "kind: NetworkAttachmentDefinition\nmetadata:\n  name: a\nspec:\n  config: |\n"
		  "    {\"cniVersion\": \"1.0.0\", \"type\": \"macvlan\", \"modee\": \"vepa\"}\n",
		  "modee" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_findings struct findings findings = { 0 };
		struct err e = { 0 };
		char have[256] = "";

		if (netconf_check(cases[i].text, strlen(cases[i].text), &findings, &e))
			ck_abort_msg("%s", e.msg);
		for (size_t k = 0; k < findings.n; k++) {
			const char *m = findings.item[k].value;

			testing_append(have, sizeof(have), *have ? " " : "");
			(void)strncat(have, m, strcspn(m, ":"));
			testing_append(have, sizeof(have),
				       findings.item[k].state == FINDING_WARN ? "?" : "");
		}
		ck_assert_str_eq(have, cases[i].want);
	}
}
END_TEST

START_TEST(texts_that_are_no_configuration)
{
	static const char *const cases[] = { "",
					     "{",
					     "{}",
					     "[1]",
					     "a: 1",
					     "kind: Pod\napiVersion: v1\n",
					     "{\"plugins\":5,",
					     "- 1\n- 2\n" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_findings struct findings findings = { 0 };
		struct err e = { 0 };

		ck_assert_msg(netconf_check(cases[i], strlen(cases[i]), &findings, &e) == -1, "%s",
			      cases[i]);
		ck_assert(*e.msg);
	}
}
END_TEST

TEST_PROGRAM("railctl/netconf", no_slip_is_silent, all_findings_of_a_text,
	     texts_that_are_no_configuration)
