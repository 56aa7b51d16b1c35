/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c: 1.12, lists and chains, as far as a single plugin can be seen. */
#include "conformance/spec/items.h"

static void cni_120(struct t *t)
{
	pod(t, "a");
	ok(t, "DEL");
	if (t->p->kind == INTERFACE)
		fake_rules("ADD: error=11");
	else
		set(t, "name", "5");
	run(t, "ADD");
	reset(t);
	pod(t, "a");
	ok(t, "DEL");
}

/* What a whole chain returned: two interfaces more, more addresses, keys of other plugins. */
static void cni_121(struct t *t)
{
	if (!attach(t, "a"))
		return;
	set_prev(t);
	cJSON_AddItemToArray(jget(t->conf, "prevResult>interfaces"), jparse("{\"name\":\"ifb0\"}"));
	set(t, "prevResult>x-of-another", "{\"a\":1}");
	if (at_least(t->version, "0.4.0"))
		ok(t, "CHECK");
	ok(t, "DEL");
	if (t->p->kind == INTERFACE) {
		expect(t, !has_link(t->ns, t->ifname), "DEL must remove the interface");
		released(t, "DEL with the chain's result");
	}
}

static void cni_126(struct t *t)
{
	if (!attach(t, "a"))
		return;
	set(t, "master", "\"gone0\"");
	set(t, "mode", "\"private\"");
	set(t, "mtu", "1400");
	ok(t, "DEL");
	if (t->p->kind == INTERFACE)
		expect(t, !has_link(t->ns, t->ifname), "DEL must remove the interface");
	released(t, "DEL with a changed configuration");
}

/* Kinds of links that a chained plugin may meet. */
static void cni_127(struct t *t)
{
	static const char *const kinds[] = { "type veth", "type bridge",
					     "link x0 type macvlan mode bridge" };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		pod(t, text("p%zu", i));
		ip(t->ns, text("link del %s", t->ifname));
		ip(t->ns, "link add x0 type veth peer name x1");
		if (!ip(t->ns, text("link add %s %s", t->ifname, kinds[i])))
			continue;
		bring_up(t);
		set(t, "prevResult>interfaces>0>mac",
		    text("\"%s\"", jstr(link_of(t->ns, t->ifname), "address")));
		add_and_del(t, text("p%zu", i));
	}
}

#define RUNTIME "a duty of the runtime: a plugin cannot be seen to do it"

const struct item items_chain[] = {
	{ 120,
	  MUST,
	  ANY,
	  0,
	  "DEL succeeds without an ADD, and after an ADD that failed",
	  cni_120,
	  NULL,
	  { "DEL: error=3", "DEL?again: error=3" } },
	{ 121,
	  MUST,
	  INTERFACE | META,
	  NEED_ADD | NEED_PREV,
	  "DEL and CHECK accept the result of the whole chain",
	  cni_121,
	  NULL,
	  { "DEL?in=x-of-another: error=6", "CHECK?in=ifb0: error=104", "DEL: skip" } },
	{ 122,
	  MUST,
	  ANY,
	  0,
	  "the runtime collects the errors of GC and STATUS of a list",
	  NULL,
	  RUNTIME,
	  { NULL } },
	{ 123, LIB, ANY, 0, "the runtime keeps a cache of results", NULL, RUNTIME, { NULL } },
	{ 124,
	  LIB,
	  ANY,
	  0,
	  "the runtime runs DEL for stale attachments before GC",
	  NULL,
	  RUNTIME,
	  { NULL } },
	{ 125, LIB, ANY, 0, "the runtime finds the configurations", NULL, RUNTIME, { NULL } },
	{ 126,
	  DES,
	  INTERFACE | META,
	  NEED_ADD,
	  "DEL works with a configuration that changed since ADD",
	  cni_126,
	  NULL,
	  { "DEL?in=gone0: error=7", "DEL?in=private: skip" } },
	{ 127,
	  CONV,
	  META,
	  NEED_PREV,
	  "a chained plugin works on any kind of interface",
	  cni_127,
	  NULL,
	  { "ADD?env=CNI_CONTAINERID=cid-p1: error=7",
	    "DEL?env=CNI_CONTAINERID=cid-p1: error=7" } },
};
const size_t n_items_chain = COUNT(items_chain);
