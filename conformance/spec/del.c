/* SPDX-License-Identifier: Apache-2.0 */
/* del.c: 1.5, DEL. */
#include "conformance/spec/items.h"

#include <string.h>

static void cni_045(struct t *t)
{
	if (!attach(t, "a"))
		return;
	for (int i = 0; i < 3; i++)
		ok(t, "DEL");
	if (t->p->kind == INTERFACE)
		expect(t, !has_link(t->ns, t->ifname), "DEL must remove the interface");
}

static void cni_046(struct t *t)
{
	static const char *const prev[] = { "null", "{}" };

	if (!attach(t, "a"))
		return;
	if (t->p->kind == META)
		unset(t, "prevResult");
	ok(t, "DEL");
	for (size_t i = 0; i < COUNT(prev) && t->p->kind != META; i++) {
		attach(t, text("p%zu", i));
		set(t, "prevResult", prev[i]);
		ok(t, "DEL");
		unset(t, "prevResult");
	}
}

/* An attachment, then its DEL with this CNI_NETNS. */
static void del_with_netns(struct t *t, const char *ns)
{
	if (!attach_last(t, "a"))
		return;
	t->ns = ns;
	ok(t, "DEL");
	if (t->p->kind != META)
		released(t, "DEL");
}

static void cni_047(struct t *t)
{
	del_with_netns(t, NULL);
	if (t->p->kind == IPAM)
		return;
	reset(t);
	if (attach(t, "b")) {
		t->ns = "";
		ok(t, "DEL");
	}
}

static void cni_048(struct t *t)
{
	del_with_netns(t, "/run/netns/never");
}

static void cni_049(struct t *t)
{
	if (!write_file(WORK "/stale", "left by a reboot\n"))
		broken(WORK);
	del_with_netns(t, WORK "/stale");
}

static void cni_050(struct t *t)
{
	if (!attach(t, "a"))
		return;
	fake_rules("DEL: error=5");
	refused(t, "DEL", NULL);
	expect(t, !has_link(t->ns, t->ifname), "the interface must go although the IPAM fails");
}

static void cni_051(struct t *t)
{
	if (!attach(t, "a"))
		return;
	ip(NULL, "link del " MASTER);
	ok(t, "DEL");
	released(t, "DEL without the master");
}

static void cni_052(struct t *t)
{
	pod(t, "a");
	t->how.in_pod = true;
	const char *before = snapshot(t);
	run(t, "ADD");
	is_error(t, "8");
	unchanged(t, before, "after an ADD in the plugin's own namespace");
	t->how.in_pod = true;
	ok(t, "DEL");
}

static void cni_053(struct t *t)
{
	if (attach(t, "a") && ok(t, "DEL"))
		expect(t, !*t->out, "DEL must print nothing");
}

static void cni_054(struct t *t)
{
	if (!attach(t, "a"))
		return;
	ip(t->ns, text("link del %s", t->ifname));
	ok(t, "DEL");
	released(t, "DEL after the interface went");
	if (!attach(t, "b"))
		return;
	netns_drop(t->ns);
	ok(t, "DEL");
	released(t, "DEL after the namespace went");
}

static void cni_055(struct t *t)
{
	static const char *const keys[] = { "mtu", "mode", "master", "dns", "args" };

	for (size_t i = 0; i < COUNT(keys); i++) {
		if (!attach(t, text("p%zu", i)))
			return;
		set(t, keys[i],
		    strcmp(keys[i], "dns") == 0    ? "{\"nameservers\":5}"
		    : strcmp(keys[i], "args") == 0 ? "{\"cni\":{\"x\":5}}"
		    : strcmp(keys[i], "mtu") == 0  ? "99999999"
						   : "\"never0\"");
		ok(t, "DEL");
		reset(t);
	}
}

const struct item items_del[] = {
	{ 45,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "a second DEL succeeds",
	  cni_045,
	  NULL,
	  { "DEL?again: error=999" } },
	{ 46,
	  SHOULD,
	  ANY,
	  NEED_ADD,
	  "DEL needs no prevResult",
	  cni_046,
	  NULL,
	  { "DEL?noprev: error=7" } },
	{ 47,
	  SHOULD,
	  ANY,
	  NEED_ADD | NEED_POOL,
	  "DEL without CNI_NETNS releases everything that is not in the pod",
	  cni_047,
	  NULL,
	  { "DEL?netns=none: error=4", "DEL?netns=none: skip" } },
	{ 48,
	  SHOULD,
	  ANY,
	  NEED_ADD | NEED_POOL,
	  "DEL succeeds when CNI_NETNS does not exist",
	  cni_048,
	  NULL,
	  { "DEL?netns=gone: error=8", "DEL?netns=gone: skip" } },
	{ 49,
	  DES,
	  ANY,
	  NEED_ADD | NEED_POOL,
	  "DEL succeeds when CNI_NETNS is a plain file",
	  cni_049,
	  NULL,
	  { "DEL?netns=file: error=8", "DEL?netns=file: skip" } },
	{ 50,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD,
	  "DEL continues after a step failed",
	  cni_050,
	  NULL,
	  { "DEL?failed: ip=link,add,IF,type,veth", "DEL?failed: exit=0 out=" } },
	{ 51,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_MASTER,
	  "DEL does not need the master",
	  cni_051,
	  NULL,
	  { "DEL?nolink=" MASTER ": error=7", "DEL?nolink=" MASTER ": skip" } },
	{ 52,
	  LIB,
	  INTERFACE,
	  NEED_ADD,
	  "ADD refuses the plugin's own namespace as CNI_NETNS before it changes anything",
	  cni_052,
	  NULL,
	  { "ADD?ownns: error=999", "ADD?failed: ip=link,add,leak0,type,veth",
	    "DEL?ownns: error=8" } },
	{ 53, MUST, ANY, NEED_ADD, "DEL prints nothing", cni_053, NULL, { "DEL: out={}" } },
	{ 54,
	  MUST,
	  INTERFACE,
	  NEED_ADD,
	  "DEL runs the IPAM although the interface is missing",
	  cni_054,
	  NULL,
	  { "DEL: skip" } },
	{ 55,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "DEL does not fail because of values in the configuration",
	  cni_055,
	  NULL,
	  { "DEL?in=99999999: error=7" } },
	{ 56,
	  SHOULD,
	  ANY,
	  0,
	  "a release that cannot be sent is not an error",
	  NULL,
	  "for IPAMs with a server of their own, as DHCP",
	  { NULL } },
};
const size_t n_items_del = COUNT(items_del);
