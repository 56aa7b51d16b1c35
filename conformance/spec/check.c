/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: 1.6, CHECK. */
#include "conformance/spec/items.h"

#include <string.h>

static bool attached_with_prev(struct t *t)
{
	if (!attach(t, "a"))
		return false;
	set_prev(t);
	return true;
}

static void cni_057(struct t *t)
{
	if (!attach(t, "a"))
		return;
	if (t->p->kind == META)
		unset(t, "prevResult");
	if (refused(t, "CHECK", NULL))
		names(t, "prevResult");
}

static void cni_058(struct t *t)
{
	if (!attached_with_prev(t) || !ok(t, "CHECK"))
		return;
	if (given_mac(t))
		ok(t, "CHECK");
	/* As a plugin behind us that adds an interface of its own. */
	cJSON_AddItemToArray(jget(t->conf, "prevResult>interfaces"),
			     jparse("{\"name\":\"host0\",\"mac\":\"02:00:00:00:00:01\"}"));
	ok(t, "CHECK");
}

static void cni_059(struct t *t)
{
	if (!attached_with_prev(t))
		return;
	ip(t->ns, text("addr flush dev %s", t->ifname));
	refused(t, "CHECK", NULL);
	ip(t->ns, text("link del %s", t->ifname));
	refused(t, "CHECK", NULL);
}

static void at_once(struct t *t, const char *version)
{
	(void)version;
	if (t->p->kind == INTERFACE)
		set(t, "ipam", "{\"type\":\"" FAKE "\",\"families\":\"46\"}");
	else if (t->p->kind == IPAM)
		profile_section(t, "dualPool");
	if (!ok(t, "ADD"))
		return;
	set_prev(t);
	ok(t, "CHECK");
}

static void cni_060(struct t *t)
{
	each_version(t, "0.4.0", at_once);
}

static void cni_061(struct t *t)
{
	if (!attached_with_prev(t))
		return;
	int before = fake_calls("CHECK");
	ok(t, "CHECK");
	expect(t, fake_calls("CHECK") > before, "CHECK must run the delegate's CHECK");
	fake_rules("CHECK: error=104");
	refused(t, "CHECK", NULL);
}

static void cni_062(struct t *t)
{
	if (attached_with_prev(t) && ok(t, "CHECK"))
		expect(t, !*t->out, "CHECK must print nothing");
}

static void cni_063(struct t *t)
{
	if (!attached_with_prev(t))
		return;
	/* An interface of that name on the host's side is another one. */
	cJSON_AddItemToArray(
		jget(t->conf, "prevResult>interfaces"),
		jparse(text("{\"name\":\"%s\",\"mac\":\"02:00:00:00:00:01\"}", t->ifname)));
	ok(t, "CHECK");
	set_prev(t);
	set(t, "prevResult>interfaces>0>sandbox", "\"/run/netns/another\"");
	refused(t, "CHECK", NULL);
	set_prev(t);
	set(t, "prevResult>interfaces>0>name", "\"another0\"");
	refused(t, "CHECK", NULL);
}

const struct item items_check[] = {
	{ 57,
	  MUST,
	  INTERFACE | META,
	  NEED_ADD | NEED_CHECK,
	  "CHECK needs prevResult",
	  cni_057,
	  NULL,
	  { "CHECK?noprev: skip", "CHECK?noprev: error=7" } },
	{ 58,
	  MUST,
	  INTERFACE,
	  NEED_ADD | NEED_CHECK,
	  "CHECK compares with prevResult as later plugins left it",
	  cni_058,
	  NULL,
	  { "CHECK?in=be:ef: error=104" } },
	{ 59,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD | NEED_CHECK,
	  "CHECK reports a missing address and a missing interface",
	  cni_059,
	  NULL,
	  { "CHECK: skip" } },
	{ 60,
	  MUST,
	  ANY,
	  NEED_ADD | NEED_CHECK,
	  "CHECK succeeds right after ADD",
	  cni_060,
	  NULL,
	  { "CHECK: error=104", "CHECK?in=fd99::: error=104" } },
	{ 61,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD | NEED_CHECK,
	  "CHECK runs delegates and returns their error",
	  cni_061,
	  NULL,
	  { "CHECK: unconf=ipam", "CHECK?failed: exit=0 out=" } },
	{ 62,
	  MUST,
	  ANY,
	  NEED_ADD | NEED_CHECK,
	  "CHECK prints nothing",
	  cni_062,
	  NULL,
	  { "CHECK: out={}" } },
	{ 63,
	  LIB,
	  INTERFACE,
	  NEED_ADD | NEED_CHECK,
	  "CHECK finds its interface by name and sandbox",
	  cni_063,
	  NULL,
	  { "CHECK: skip", "CHECK?in=02:00:00:00:00:01: error=104" } },
};
const size_t n_items_check = COUNT(items_check);
