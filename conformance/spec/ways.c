/* SPDX-License-Identifier: Apache-2.0 */
/* ways.c: ways to make an ADD fail, and other steps that several items share. */
#include "conformance/spec/items.h"

#include <string.h>

bool given_mac(struct t *t)
{
	static const char mac[] = "02:00:00:00:be:ef";

	ip(t->ns, text("link set %s down", t->ifname));
	bool taken = ip(t->ns, text("link set %s address %s", t->ifname, mac));
	ip(t->ns, text("link set %s up", t->ifname));
	if (taken)
		set(t, "prevResult>interfaces>0>mac", text("\"%s\"", mac));
	return taken;
}

/* ---- ways to fail ---- */

static void empty_input(struct t *t)
{
	t->raw = "";
}

static void broken_json(struct t *t)
{
	t->raw = "{\"cniVersion\":";
}

static void no_name(struct t *t)
{
	unset(t, "name");
}

static void bad_name(struct t *t)
{
	set(t, "name", "\"a b\"");
}

static void unknown_version(struct t *t)
{
	use_version(t, "9.9.9");
}

static void no_container(struct t *t)
{
	t->cid = NULL;
}

static void bad_container(struct t *t)
{
	t->cid = "../x";
}

static void no_netns(struct t *t)
{
	t->ns = NULL;
}

static void bad_ifname(struct t *t)
{
	t->ifname = "a/b";
}

static void netns_gone(struct t *t)
{
	t->ns = "/run/netns/never";
}

static void master_gone(struct t *t)
{
	set(t, "master", "\"never0\"");
}

static void ipam_fails(struct t *t)
{
	(void)t;
	fake_rules("ADD: error=11");
}

static void ipam_missing(struct t *t)
{
	set(t, "ipam", "{\"type\":\"no-such-ipam\"}");
}

static void name_taken(struct t *t)
{
	if (!ip(t->ns, text("link add %s type veth", t->ifname)))
		broken("make a link that takes the name");
}

static const struct way {
	const char *name;
	void (*prepare)(struct t *t);
	unsigned kinds, needs;
} ways[] = {
	{ "empty stdin", empty_input, ANY, 0 },
	{ "malformed JSON", broken_json, ANY, 0 },
	{ "no network name", no_name, ANY, 0 },
	{ "bad network name", bad_name, ANY, 0 },
	{ "unknown version", unknown_version, ANY, 0 },
	{ "CNI_CONTAINERID missing", no_container, ANY, 0 },
	{ "bad CNI_CONTAINERID", bad_container, ANY, 0 },
	{ "CNI_NETNS missing", no_netns, ANY, 0 },
	{ "bad CNI_IFNAME", bad_ifname, ANY, 0 },
	{ "CNI_NETNS does not exist", netns_gone, INTERFACE, 0 },
	{ "the master does not exist", master_gone, INTERFACE, NEED_MASTER },
	{ "the IPAM fails", ipam_fails, INTERFACE, NEED_ADD },
	{ "the IPAM's program is missing", ipam_missing, INTERFACE, 0 },
	{ "the interface's name is taken", name_taken, INTERFACE, NEED_ADD },
};

void each_refusal(struct t *t, void (*each)(struct t *t, const char *way))
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		if (!(ways[i].kinds & (unsigned)t->p->kind) ||
		    ((ways[i].needs & NEED_ADD) && !t->facts->kernel_has_link) ||
		    ((ways[i].needs & NEED_MASTER) && !t->p->master))
			continue;
		fake_rules("");
		reset(t);
		pod(t, text("way-%zu", i));
		ways[i].prepare(t);
		run(t, "ADD");
		each(t, ways[i].name);
	}
	fake_rules("");
	reset(t);
}

void each_version(struct t *t, const char *least, void (*each)(struct t *t, const char *version))
{
	for (size_t i = 0; i < t->facts->n_versions; i++) {
		const char *v = t->facts->versions[i];
		if (!at_least(v, least) || (t->p->kind == META && !at_least(v, "0.3.0")))
			continue;
		reset(t);
		use_version(t, v);
		pod(t, text("v-%s", v));
		each(t, v);
	}
	reset(t);
}

/* ---- whose address is it ---- */

bool attach_last(struct t *t, const char *name)
{
	if (t->p->kind == IPAM)
		profile_section(t, "smallPool");
	if (!attach(t, name))
		return false;
	if (t->p->kind != IPAM)
		return true;
	/* What else the pool has goes to others: the attachment's address is the only one to get.
	 */
	const struct t saved = *t;
	for (int i = 0; i < 16; i++) {
		t->cid = text("filler-%d", i);
		run(t, "ADD");
		if (t->rc)
			break;
	}
	bool full = expect(t, t->rc, "the profile's smallPool must be used up after 17 addresses");
	t->cid = saved.cid;
	t->result = saved.result;
	return full;
}

bool is_free(struct t *t)
{
	if (t->p->kind != IPAM)
		return reserved(t->cid) == 0;
	const char *cid = t->cid, *ns = t->ns;
	pod(t, "successor");
	run(t, "ADD");
	bool free = t->rc == 0;
	if (free)
		run(t, "DEL");
	t->cid = cid;
	t->ns = ns;
	return free;
}

bool released(struct t *t, const char *when)
{
	return expect(t, is_free(t), "%s: the address must be released", when);
}

void warm_up(struct t *t)
{
	attach(t, "warm");
	ok(t, "DEL");
}

bool add_and_del(struct t *t, const char *name)
{
	return attach(t, name) && ok(t, "DEL");
}
