/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: 1.10, results. */
#include "conformance/spec/items.h"

#include <string.h>

static void dual(struct t *t)
{
	if (t->p->kind == INTERFACE)
		set(t, "ipam", "{\"type\":\"" FAKE "\",\"families\":\"46\"}");
	else if (t->p->kind == IPAM)
		profile_section(t, "dualPool");
}

static void good_shape(struct t *t, const char *version)
{
	dual(t);
	if (!ok(t, "ADD"))
		return;
	const char *problem = shape_problem(t->doc, version, t->p->kind);
	expect(t, !problem, "%s: %s", version, problem);
	expect(t, *address_in(t->doc, 4), "%s: the IPv4 address must be there", version);
}

static void old_shape(struct t *t, const char *version)
{
	if (!at_least(version, "0.3.0"))
		good_shape(t, version);
}

static void middle_shape(struct t *t, const char *version)
{
	if (!at_least(version, "1.0.0"))
		good_shape(t, version);
}

static void cni_093(struct t *t)
{
	each_version(t, "0.1.0", old_shape);
}

static void cni_094(struct t *t)
{
	each_version(t, "0.3.0", middle_shape);
}

static void cni_095(struct t *t)
{
	each_version(t, "1.0.0", good_shape);
}

/* Routes go to their family; of several addresses the first of each family stays. */
static void cni_096(struct t *t)
{
	use_version(t, "0.2.0");
	set(t, "ipam",
	    "{\"type\":\"" FAKE "\",\"result\":{\"cniVersion\":\"1.0.0\",\"ips\":["
	    "{\"address\":\"10.99.0.7/24\",\"gateway\":\"10.99.0.1\"},{\"address\":\"fd99::7/64\"},"
	    "{\"address\":\"10.99.0.8/24\"}],\"routes\":[{\"dst\":\"198.51.100.0/"
	    "24\",\"gw\":\"10.99.0.1\","
	    "\"priority\":5},{\"dst\":\"fd98::/64\",\"gw\":\"fd99::1\"}]}}");
	if (!attach(t, "a"))
		return;
	const char *problem = shape_problem(t->doc, "0.2.0", INTERFACE);
	expect(t, !problem, "%s", problem);
	expect(t, strcmp(jstr(t->doc, "ip4>ip"), "10.99.0.7/24") == 0,
	       "ip4 is the first IPv4 address");
	expect(t, strcmp(jstr(t->doc, "ip6>ip"), "fd99::7/64") == 0,
	       "ip6 is the first IPv6 address");
	expect(t, strcmp(jstr(t->doc, "ip4>routes>0>dst"), "198.51.100.0/24") == 0,
	       "ip4.routes has the IPv4 route");
	expect(t, strcmp(jstr(t->doc, "ip6>routes>0>dst"), "fd98::/64") == 0,
	       "ip6.routes has the IPv6 route");
	expect(t, jlen(t->doc, "ip4>routes>0") == 2, "a route of 0.2.0 has dst and gw only");
}

static void cni_097(struct t *t)
{
	set(t, "ipam",
	    "{\"type\":\"" FAKE
	    "\",\"result\":{\"cniVersion\":\"0.2.0\",\"ip4\":{\"ip\":\"10.99.0.7/24\","
	    "\"gateway\":\"10.99.0.1\",\"routes\":[{\"dst\":\"198.51.100.0/24\"}]}}}");
	if (!attach(t, "a"))
		return;
	const char *problem = shape_problem(t->doc, t->version, INTERFACE);
	expect(t, !problem, "%s", problem);
	expect(t, strcmp(address_in(t->doc, 4), "10.99.0.7/24") == 0, "ip4 must become ips");
	expect(t, strcmp(jstr(t->doc, "routes>0>dst"), "198.51.100.0/24") == 0,
	       "ip4.routes must become routes");
}

static void dns_there(struct t *t, const char *version)
{
	if (!ok(t, "ADD"))
		return;
	if (at_least(version, "1.0.0"))
		expect(t, !jget(t->doc, "dns") || jlen(t->doc, "dns") > 0 || t->p->kind == META,
		       "%s: empty dns must be left out", version);
	else
		expect(t, cJSON_IsObject(jget(t->doc, "dns")), "%s: dns must be there", version);
}

static void cni_098(struct t *t)
{
	each_version(t, "0.1.0", dns_there);
}

static void cni_099(struct t *t)
{
	const cJSON *one;

	dual(t);
	if (!attach(t, "a"))
		return;
	if (t->p->kind == IPAM) {
		const char *problem = shape_problem(t->doc, t->version, IPAM);
		expect(t, !problem, "%s", problem);
		return;
	}
	cJSON_ArrayForEach(one, jget(t->doc, "ips"))
	{
		const char *at = text("interfaces>%.0f>name", jnum(one, "interface"));
		expect(t, strcmp(jstr(t->doc, at), t->ifname) == 0,
		       "ips[].interface must lead to the entry of %s", t->ifname);
	}
}

static void cni_100(struct t *t)
{
	static const char *const index[] = { "", ",\"interface\":-1", ",\"interface\":0" };

	for (size_t i = 0; i < COUNT(index); i++) {
		/* ipvlan: two pods on one master cannot have one address. */
		const char *address = text("10.99.0.%zu/24", 7 + i);

		set(t, "ipam",
		    text("{\"type\":\"" FAKE
			 "\",\"result\":{\"cniVersion\":\"%s\",\"ips\":[{%s\"address\":"
			 "\"%s\"%s}]}}",
			 t->version, at_least(t->version, "1.0.0") ? "" : "\"version\":\"4\",",
			 address, index[i]));
		if (!attach(t, text("p%zu", i)))
			return;
		expect(t, has_addr(t->ns, t->ifname, address),
		       "an address without an index belongs to CNI_IFNAME");
	}
}

static void cni_101(struct t *t)
{
	if (!attach(t, "a"))
		return;
	expect(t, strcmp(address_in(t->doc, 4), "10.99.0.2/24") == 0,
	       "address keeps its host bits");
	expect(t, !route_of(t->ns, "default"), "a gateway alone must not make a default route");
	set(t, "ipam>routes", "[{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"198.51.100.0/24\"}]");
	if (!attach(t, "b"))
		return;
	expect(t, strcmp(jstr(route_of(t->ns, "default"), "gateway"), "10.99.0.1") == 0,
	       "a route without gw takes the gateway of the address");
	expect(t, strcmp(jstr(route_of(t->ns, "198.51.100.0/24"), "gateway"), "10.99.0.1") == 0,
	       "a route without gw takes the gateway of the address");
}

static void cni_102(struct t *t)
{
	set(t, "ipam",
	    "{\"type\":\"" FAKE
	    "\",\"families\":\"46\",\"routes\":[{\"dst\":\"198.51.100.0/24\",\"gw\":"
	    "\"10.99.0.9\"},{\"dst\":\"fd98::/64\",\"gw\":\"fd99::9\"}]}");
	if (!attach(t, "a"))
		return;
	const char *problem = shape_problem(t->doc, t->version, INTERFACE);
	expect(t, !problem, "%s", problem);
	expect(t, jlen(t->doc, "routes") == 2, "both routes must be in the result");
	expect(t, strcmp(jstr(route_of(t->ns, "198.51.100.0/24"), "gateway"), "10.99.0.9") == 0,
	       "the IPv4 route must be in the pod");
	expect(t, strcmp(jstr(route_of(t->ns, "fd98::/64"), "gateway"), "fd99::9") == 0,
	       "the IPv6 route must be in the pod");
}

static void cni_103(struct t *t)
{
	if (!attach(t, "a"))
		return;
	expect(t, strcmp(jstr(t->doc, "interfaces>0>name"), t->ifname) == 0,
	       "interfaces must have %s", t->ifname);
	expect(t,
	       strcmp(jstr(t->doc, "interfaces>0>mac"),
		      jstr(link_of(t->ns, t->ifname), "address")) == 0,
	       "mac must be that of the interface");
	expect(t, *jstr(t->doc, "interfaces>0>sandbox"), "what is in the pod has a sandbox");
}

static void cni_104(struct t *t)
{
	if (!attach(t, "a"))
		return;
	expect(t, jnum(t->doc, "interfaces>0>mtu") == jnum(link_of(t->ns, t->ifname), "mtu"),
	       "interfaces[].mtu must be that of the interface");
}

static void cni_105(struct t *t)
{
	pod(t, "a");
	if (t->p->kind == INTERFACE)
		set(t, "prevResult",
		    text("{\"cniVersion\":\"%s\",\"interfaces\":[{\"name\":\"b0\"}]}", t->version));
	set(t, "prevResult>x-unknown", "{\"a\":[1]}");
	set(t, "prevResult>interfaces>0>pciID", "\"0000:04:00.5\"");
	set(t, "prevResult>interfaces>0>x-unknown", "5");
	set(t, "prevResult>routes", "[{\"dst\":\"192.0.2.0/24\",\"x-unknown\":true}]");
	if (!ok(t, "ADD"))
		return;
	expect(t, jlen(t->doc, "x-unknown>a") == 1, "an unknown key of prevResult must be kept");
	expect(t, *jstr(t->doc, "interfaces>0>pciID"), "pciID must be kept");
	expect(t, jnum(t->doc, "interfaces>0>x-unknown") == 5,
	       "an unknown key of an interface must be kept");
	expect(t, cJSON_IsTrue(jget(t->doc, "routes>0>x-unknown")),
	       "an unknown key of a route must be kept");
}

static void ipam_with_route(struct t *t, const char *keys)
{
	set(t, "ipam",
	    text("{\"type\":\"" FAKE
		 "\",\"result\":{\"cniVersion\":\"1.1.0\",\"ips\":[{\"address\":"
		 "\"10.99.0.7/24\",\"gateway\":\"10.99.0.1\"}],\"routes\":[{\"dst\":\"198.51.100.0/"
		 "24\",%s}]}}",
		 keys));
}

static void cni_106(struct t *t)
{
	ipam_with_route(t, "\"scope\":0,\"table\":254,\"priority\":7");
	if (!attach(t, "a"))
		return;
	expect(t, jnum(t->doc, "routes>0>scope") == 0, "scope 0 is not the same as none");
	expect(t, jnum(t->doc, "routes>0>table") == 254, "table must be in the result");
	expect(t, jnum(t->doc, "routes>0>priority") == 7, "priority must be in the result");
	expect(t, !jget(t->doc, "routes>0>mtu"), "mtu must not be there when it was not given");
	expect(t, jnum(route_of(t->ns, "198.51.100.0/24"), "metric") == 7,
	       "priority is the metric");
}

static void cni_107(struct t *t)
{
	ipam_with_route(t, "\"mtu\":1400,\"advmss\":1300");
	if (!attach(t, "a"))
		return;
	const cJSON *route = route_of(t->ns, "198.51.100.0/24");
	expect(t, jnum(route, "metrics>0>mtu") == 1400, "the route's mtu must be applied");
	expect(t, jnum(route, "metrics>0>advmss") == 1300, "the route's advmss must be applied");
}

const struct item items_result[] = {
	{ 93,
	  MUST,
	  INTERFACE | IPAM,
	  NEED_ADD | NEED_OLD,
	  "results of 0.1.0 and 0.2.0 have their shape",
	  cni_093,
	  NULL,
	  { "ADD?in=\"0.2.0\"&ok: del=ip4", "ADD?in=\"0.1.0\"&ok: set=ips=[]",
	    "ADD?in=\"0.2.0\"&ok: set=ip4>ip=\"10.99.0.2\"" } },
	{ 94,
	  MUST,
	  ANY,
	  NEED_ADD | NEED_PREV,
	  "results of 0.3.0 to 0.4.0 have their shape",
	  cni_094,
	  NULL,
	  { "ADD?in=\"0.4.0\"&ok: del=ips>0>version",
	    "ADD?in=\"0.3.1\"&ok: set=interfaces>0>mtu=1500", "ADD?in=\"0.3.0\"&ok: set=ip4={}" } },
	{ 95,
	  MUST,
	  ANY,
	  NEED_ADD | NEED_PREV,
	  "results of 1.0.0 and 1.1.0 have their shape",
	  cni_095,
	  NULL,
	  { "ADD?in=\"1.0.0\"&ok: set=ips>0>version=\"4\"",
	    "ADD?in=\"1.1.0\"&ok: set=routes=[{\"dst\":\"x\"}]",
	    "ADD?in=\"1.1.0\"&ok: set=ips>0>gateway=\"fd99::1\"" } },
	{ 96,
	  LIB,
	  INTERFACE,
	  NEED_ADD | NEED_OLD,
	  "a newer result of a delegate is converted to 0.2.0",
	  cni_096,
	  NULL,
	  { "ADD?ok: set=ip4>ip=\"10.99.0.8/24\"", "ADD?ok: del=ip6",
	    "ADD?ok: set=ip4>routes>0>priority=5" } },
	{ 97,
	  LIB,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "a delegate's result of 0.2.0 is converted to a newer version",
	  cni_097,
	  NULL,
	  { "ADD?ok: del=routes", "ADD: error=6", "ADD?ok: del=ips" } },
	{ 98,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "dns is always present up to 0.4.0, and omitted when empty from 1.0.0",
	  cni_098,
	  NULL,
	  { "ADD?in=\"0.4.0\"&ok: del=dns", "ADD?in=\"1.0.0\"&ok: set=dns={}" } },
	{ 99,
	  MUST,
	  INTERFACE | IPAM,
	  NEED_ADD | NEED_PREV,
	  "ips[].interface is an index of interfaces; an IPAM's result has neither",
	  cni_099,
	  NULL,
	  { "ADD?ok: set=ips>0>interface=7", "ADD?ok: del=ips>1>interface" } },
	{ 100,
	  LIB,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "a delegate's ips[].interface may be absent or -1",
	  cni_100,
	  NULL,
	  { "ADD?in=interface\":-1: error=7", "ADD?ok: ip=addr,flush,dev,IF" } },
	{ 101,
	  MUST,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "addresses keep host bits; a route without gw uses the gateway of its address",
	  cni_101,
	  NULL,
	  { "ADD?ok: ip=route,add,default,dev,IF", "ADD?ok: set=ips>0>address=\"10.99.0.0/24\"",
	    "ADD?ok: ip=route,change,198.51.100.0/24,dev,IF" } },
	{ 102,
	  MUST,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "routes are in the result and in the pod",
	  cni_102,
	  NULL,
	  { "ADD?ok: del=routes", "ADD?ok: ip=route,flush,198.51.100.0/24",
	    "ADD?ok: set=routes>0>gw=\"fd99::9\"" } },
	{ 103,
	  MUST,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "interfaces has every interface that was created",
	  cni_103,
	  NULL,
	  { "ADD?ok: set=interfaces=[]", "ADD?ok: set=interfaces>0>mac=\"02:00:00:00:00:01\"" } },
	{ 104,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD | NEED_11,
	  "interfaces[].mtu is the MTU of the interface",
	  cni_104,
	  NULL,
	  { "ADD?ok: del=interfaces>0>mtu", "ADD?ok: set=interfaces>0>mtu=9000" } },
	{ 105,
	  MUST,
	  INTERFACE | META,
	  NEED_ADD | NEED_PREV,
	  "unknown keys of prevResult are kept",
	  cni_105,
	  NULL,
	  { "ADD?ok: del=x-unknown", "ADD?ok: del=interfaces>0>pciID",
	    "ADD?ok: del=routes>0>x-unknown" } },
	{ 106,
	  LIB,
	  INTERFACE,
	  NEED_ADD | NEED_11,
	  "scope, table and priority of routes are applied",
	  cni_106,
	  NULL,
	  { "ADD?ok: del=routes>0>scope", "ADD?ok: set=routes>0>mtu=0" } },
	{ 107,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_11,
	  "mtu and advmss of routes are applied",
	  cni_107,
	  NULL,
	  { "ADD?ok: ip=route,flush,198.51.100.0/24", "ADD: conf=ipam>result>routes>0>mtu=1200" } },
};
const size_t n_items_result = COUNT(items_result);
