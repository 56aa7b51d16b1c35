/* SPDX-License-Identifier: Apache-2.0 */
/* add.c: 1.4, ADD. */
#include "conformance/spec/items.h"

#include <string.h>

static void cni_037(struct t *t)
{
	if (!attach(t, "a"))
		return;
	const cJSON *link = link_of(t->ns, t->ifname);
	expect(t, link != NULL, "the interface must be in CNI_NETNS");
	if (*t->p->link_kind)
		expect(t, strcmp(jstr(link, "linkinfo>info_kind"), t->p->link_kind) == 0,
		       "the interface must be a %s, is a %s", t->p->link_kind,
		       jstr(link, "linkinfo>info_kind"));
	if (t->p->kind == INTERFACE)
		expect(t, has_addr(t->ns, t->ifname, "10.99.0.2/24"),
		       "the interface must have the IPAM's address");
}

static void cni_038(struct t *t)
{
	if (!attach(t, "a"))
		return;
	const char *problem = shape_problem(t->doc, t->version, t->p->kind);
	expect(t, !problem, "the result: %s", problem);
	expect(t, *address_in(t->doc, 0), "the result must have the address");
}

static void with_prev(struct t *t, const char *version)
{
	if (t->p->kind == INTERFACE)
		set(t, "prevResult",
		    text("{\"cniVersion\":\"%s\",\"interfaces\":[{\"name\":\"before0\"}],"
			 "\"routes\":[{\"dst\":\"192.0.2.0/24\"}],\"dns\":{}}",
			 version));
	const cJSON *prev = jget(t->conf, "prevResult");
	if (!ok(t, "ADD"))
		return;
	const cJSON *wanted = jget(prev, "interfaces>0>name"), *one;
	bool found = false;
	cJSON_ArrayForEach(one, jget(t->doc, "interfaces"))
	{
		found |= strcmp(jstr(one, "name"), wanted->valuestring) == 0;
	}
	expect(t, found, "%s: the interfaces of prevResult must be in the result", version);
	if (t->p->kind == META)
		expect(t, *address_in(t->doc, 4), "the addresses of prevResult must be there");
}

static void cni_039(struct t *t)
{
	each_version(t, "0.3.0", with_prev);
}

static void cni_040(struct t *t)
{
	pod(t, "a");
	fake_rules("ADD: fail=11");
	refused(t, "ADD", NULL);
	expect(t, fake_calls("DEL") > 0, "a delegate whose ADD failed must get a DEL");
}

static const struct {
	const char *what, *rules, *ipam;
} failing[] = {
	{ "the IPAM fails", "ADD: error=11", NULL },
	{ "the IPAM fails after reserving", "ADD: fail=11", NULL },
	{ "the IPAM prints garbage", "ADD: out=garbage", NULL },
	{ "the IPAM prints nothing", "ADD: out=", NULL },
	{ "the IPAM crashes", "ADD: crash", NULL },
	{ "the IPAM gives no address", "", "{\"cniVersion\":\"%s\",\"ips\":[]}" },
	{ "the IPAM gives no valid address", "",
	  "{\"cniVersion\":\"%s\",\"ips\":[{\"version\":\"4\",\"address\":\"10.99.0.300/24\"}]}" },
	{ "a route cannot be made", "",
	  "{\"cniVersion\":\"%s\",\"ips\":[{\"version\":\"4\",\"address\":\"10.99.0.9/24\"}],"
	  "\"routes\":[{\"dst\":\"198.51.100.0/24\",\"gw\":\"203.0.113.1\"}]}" },
};

static char *fill(const char *with_version, const char *version)
{
	const char *at = strstr(with_version, "%s");

	return text("%.*s%s%s", (int)(at - with_version), with_version, version, at + 2);
}

static void cni_041(struct t *t)
{
	warm_up(t);
	use_version(t, supports(t, "0.4.0") ? "0.4.0" : t->version);
	pod(t, "a");
	const char *before = snapshot(t);
	for (size_t i = 0; i < COUNT(failing) && t->verdict == PASS; i++) {
		fake_rules(failing[i].rules);
		set(t, "ipam", "{\"type\":\"" FAKE "\"}");
		if (failing[i].ipam)
			set(t, "ipam>result", fill(failing[i].ipam, t->version));
		if (refused(t, "ADD", NULL))
			unchanged(t, before, failing[i].what);
	}
}

static void cni_042(struct t *t)
{
	if (!attach(t, "a"))
		return;
	const char *address = address_in(t->result, 0), *before = snapshot(t);
	run(t, "ADD");
	if (t->rc)
		is_error(t, NULL);
	else
		expect(t, strcmp(address_in(t->doc, 0), address) == 0,
		       "a second ADD may fail or tell the same, not give another address");
	if (t->p->kind == INTERFACE)
		unchanged(t, before, "after a second ADD");
	ok(t, "DEL");
}

/* Same container and interface in another network, and another interface: three attachments. */
static void cni_043(struct t *t)
{
	if (!attach(t, "a"))
		return;
	const char *first = address_in(t->result, 0);
	cJSON *kept = t->result;
	t->ifname = "net2";
	if (!ok(t, "ADD"))
		return;
	expect(t, strcmp(address_in(t->result, 0), first) != 0,
	       "two interfaces of one container must not have one address");
	ok(t, "DEL");
	set(t, "name", "\"othernet\"");
	t->ifname = "net1";
	if (t->p->kind == IPAM)
		ok(t, "DEL");
	set(t, "name", "\"" NETWORK "\"");
	t->result = kept;
	if (t->p->kind == INTERFACE)
		expect(t, has_addr(t->ns, "net1", first), "DEL of net2 must leave net1 alone");
	if (!at_least(t->version, "0.4.0"))
		return;
	set_prev(t);
	ok(t, "CHECK");
}

static void cni_044(struct t *t)
{
	if (!attach(t, "a"))
		return;
	expect(t, strcmp(jstr(t->doc, "interfaces>0>sandbox"), t->ns) == 0,
	       "sandbox must be CNI_NETNS as it came");
}

const struct item items_add[] = {
	{ 37,
	  MUST,
	  INTERFACE | META,
	  NEED_ADD | NEED_PREV,
	  "ADD puts an interface of its kind into CNI_NETNS, named CNI_IFNAME",
	  cni_037,
	  NULL,
	  { "ADD?ok: ip=link,del,IF", "ADD?ok: ip=addr,flush,dev,IF" } },
	{ 38,
	  MUST,
	  ANY,
	  NEED_ADD | NEED_PREV,
	  "ADD prints a complete result",
	  cni_038,
	  NULL,
	  { "ADD?ok: out=", "ADD?ok: del=ips", "ADD?ok: set=ips>0>address=\"10.99.0.2\"" } },
	{ 39,
	  MUST,
	  INTERFACE | META,
	  NEED_ADD | NEED_PREV,
	  "a chained plugin passes prevResult on",
	  cni_039,
	  NULL,
	  { "ADD: unconf=prevResult" } },
	{ 40,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD,
	  "the plugin runs DEL of a delegate whose ADD failed",
	  cni_040,
	  NULL,
	  { "ADD: setenv=FAKE_DEAF=DEL" } },
	{ 41,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "a failed ADD leaves nothing behind",
	  cni_041,
	  NULL,
	  { "ADD?failed: ip=link,add,IF,type,veth", "ADD: setenv=FAKE_DEAF=DEL",
	    "ADD?failed: hostip=link,add,temp0,type,veth" } },
	{ 42,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "a second ADD leaves the first attachment intact",
	  cni_042,
	  NULL,
	  { "ADD?failed: ip=link,del,IF", "ADD?again: crash" } },
	{ 43,
	  SHOULD,
	  INTERFACE | IPAM,
	  NEED_ADD | NEED_POOL,
	  "network, container and interface together identify an attachment",
	  cni_043,
	  NULL,
	  { "DEL?ok: ip=link,del,net1", "ADD?env=CNI_IFNAME=net2: error=999" } },
	{ 44,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD | NEED_PREV,
	  "sandbox is the exact text of CNI_NETNS",
	  cni_044,
	  NULL,
	  { "ADD: set=interfaces>0>sandbox=\"/var/run/netns/a\"",
	    "ADD: del=interfaces>0>sandbox" } },
};
const size_t n_items_add = COUNT(items_add);
