/* SPDX-License-Identifier: Apache-2.0 */
/* robust.c: 1.15, what goes wrong in the field; first half. */
#include "conformance/spec/items.h"

#include <stdlib.h>
#include <string.h>

static void cni_141(struct t *t)
{
	warm_up(t);
	pod(t, "a");
	const char *before = snapshot(t);
	fake_rules("ADD: error=11");
	refused(t, "ADD", NULL);
	expect(t, !has_link(t->ns, t->ifname), "the IPAM failed: no link may stay");
	unchanged(t, before, "the IPAM failed");
}

static void cni_142(struct t *t)
{
	warm_up(t);
	unset(t, "ipam");
	use_version(t, "0.2.0");
	pod(t, "a");
	const char *before = snapshot(t);
	refused(t, "ADD", NULL);
	unchanged(t, before, "0.2.0 cannot tell of an interface without an address");
}

static void vanish_master(struct t *t)
{
	(void)t;
	ip(NULL, "link del " MASTER);
}

static void no_netns(struct t *t)
{
	t->ns = NULL;
}

static void netns_never(struct t *t)
{
	t->ns = "/run/netns/never";
}

static void netns_file(struct t *t)
{
	if (!write_file(WORK "/stale", "x"))
		broken(WORK);
	t->ns = WORK "/stale";
}

static void prev_garbage(struct t *t)
{
	set(t, "prevResult", "{\"cniVersion\":\"7.7.7\",\"ips\":5,\"interfaces\":{}}");
}

static void prev_kept(struct t *t)
{
	set_prev(t);
}

static const struct {
	const char *name;
	void (*prepare)(struct t *t);
	unsigned needs;
} deletions[] = {
	{ "with prevResult", prev_kept, 0 },
	{ "without CNI_NETNS", no_netns, 0 },
	{ "with a CNI_NETNS that does not exist", netns_never, 0 },
	{ "with a CNI_NETNS that is a file", netns_file, 0 },
	{ "with a prevResult that makes no sense", prev_garbage, 0 },
	{ "without the master", vanish_master, NEED_MASTER },
};

static void cni_143(struct t *t)
{
	for (size_t i = 0; i < COUNT(deletions) && t->verdict == PASS; i++) {
		if (deletions[i].needs && !t->p->master)
			continue;
		reset(t);
		if (!attach_last(t, text("p%zu", i)))
			return;
		const char *ns = t->ns;
		deletions[i].prepare(t);
		ok(t, "DEL");
		ok(t, "DEL");
		t->ns = ns;
		unset(t, "prevResult");
		if (t->p->kind != META)
			released(t, text("DEL %s", deletions[i].name));
	}
}

static void cni_144(struct t *t)
{
	static const char *const none[] = { "", NULL };

	for (size_t i = 0; i < COUNT(none); i++) {
		reset(t);
		if (!attach_last(t, text("p%zu", i)))
			return;
		t->ns = none[i];
		ok(t, "DEL");
		released(t, "DEL with an empty CNI_NETNS");
	}
}

static void cni_145(struct t *t)
{
	warm_up(t);
	const char *before = snapshot(t);
	t->ns = "/run/never";
	ok(t, "DEL");
	expect(t, access(t->ns, F_OK) != 0, "DEL must not create CNI_NETNS");
	unchanged(t, before, "DEL of something unknown");
}

/* ---- nothing may crash ---- */

static const char *const nasty[] = {
	"\"prevResult\":null",
	"\"prevResult\":{}",
	"\"prevResult\":[]",
	"\"prevResult\":\"x\"",
	"\"ipam\":null",
	"\"ipam\":{}",
	"\"ipam\":[]",
	"\"ipam\":{\"type\":5}",
	"\"ipam\":{\"type\":\"\"}",
	"\"args\":{\"cni\":{\"sysctl\":{\"net.core.somaxconn\":\"500\"}}}",
	"\"args\":null",
	"\"runtimeConfig\":null",
	"\"runtimeConfig\":[1]",
	"\"mtu\":\"1500\"",
	"\"mtu\":1e99",
	"\"dns\":[]",
	"\"name\":null",
	"\"cniVersion\":1.0",
	"\"cni.dev/valid-attachments\":{}",
};

/* A failure must be an error object with exit 1, not a panic. */
static void survives(struct t *t, const char *what)
{
	static const char *const cmds[] = { "ADD", "CHECK", "DEL", "GC", "STATUS" };

	for (size_t i = 0; i < COUNT(cmds); i++) {
		run(t, cmds[i]);
		expect(t, t->rc >= 0 && t->rc != 2, "%s: %s must not crash", what, cmds[i]);
		if (t->rc > 0)
			expect(t, cJSON_IsObject(t->doc), "%s: %s must explain itself", what,
			       cmds[i]);
	}
}

static char *nested(size_t depth)
{
	char *s = calloc(1, 2 * depth + 1);

	if (!s)
		broken("memory");
	memset(s, '[', depth);
	memset(s + depth, ']', depth);
	return s;
}

static char *repeated(char c, size_t n)
{
	char *s = calloc(1, n + 1);

	if (!s)
		broken("memory");
	memset(s, c, n);
	return s;
}

static void cni_146(struct t *t)
{
	char *json = jtext(t->conf);

	pod(t, "a");
	for (size_t i = 0; i < COUNT(nasty); i++) {
		t->raw = text("%.*s,%s}", (int)strlen(json) - 1, json, nasty[i]);
		survives(t, nasty[i]);
	}
	t->raw = text("%.*s,\"x\":%s}", (int)strlen(json) - 1, json, nested(100000));
	survives(t, "100,000 levels");
	t->raw = text("%.*s,\"x\":\"%s\"}", (int)strlen(json) - 1, json, repeated('x', 2 << 20));
	survives(t, "2 MiB");
	t->raw = text("\xef\xbb\xbf%s", json);
	survives(t, "a byte order mark");
	t->raw = text("%.*s,\"x\":\"\xff\xfe\"}", (int)strlen(json) - 1, json);
	survives(t, "text that is not UTF-8");
	t->raw = "{\"name\":\"a\0b\"}";
	t->raw_len = 15;
	survives(t, "a NUL byte");
}

static void cni_147(struct t *t)
{
	static const char *const variants[] = { "/proc/self/ns/net", NULL };

	pod(t, "a");
	const char *before = snapshot(t);
	for (size_t i = 0; i < COUNT(variants); i++) {
		t->how.in_pod = !variants[i];
		t->ns = variants[i] ? variants[i] : "/run/netns/a";
		run(t, "ADD");
		is_error(t, NULL);
		unchanged(t, before, "ADD in the plugin's own namespace");
	}
}

static void cni_148(struct t *t)
{
	if (!t->p->master) {
		not_applicable(t, "the profile's netconf has no master");
		return;
	}
	set(t, "master", "\"never0\"");
	refused(t, "STATUS", NULL);
}

#define VALID "cni.dev/valid-attachments"
#define OLD   "cni.dev/attachments"

static void keep_or_free(struct t *t, const char *key, const char *list, bool kept)
{
	if (list)
		set(t, key, list);
	ok(t, "GC");
	unset(t, key);
	if (!kept)
		released(t, text("GC with %s %s", key, list));
	else if (t->p->kind == INTERFACE)
		expect(t, reserved(t->cid) == 1, "GC with %s %s must keep the address", key,
		       list ? list : "absent");
	else
		expect(t, !is_free(t), "GC with %s %s must keep the address", key,
		       list ? list : "absent");
}

static void cni_149(struct t *t)
{
	static const char *const keys[] = { VALID, OLD };

	for (size_t i = 0; i < COUNT(keys); i++) {
		reset(t);
		if (!attach_last(t, text("p%zu", i)))
			return;
		keep_or_free(t, keys[i], NULL, true);
		keep_or_free(t, keys[i],
			     text("[{\"containerID\":\"%s\",\"ifname\":\"net1\"}]", t->cid), true);
		keep_or_free(t, keys[i], "[]", false);
	}
}

/* ---- what CHECK must see ---- */

/*
 * A device cannot be deleted; under another name it is as good as gone. The kernel answers the
 * deletion of an IPoIB interface of a port with success, and keeps it.
 */
static void lose_link(struct t *t)
{
	(void)ip(t->ns, text("link del %s", t->ifname));
	if (has_link(t->ns, t->ifname))
		ip(t->ns, text("link set %s down name gone0", t->ifname));
}

static void other_kind(struct t *t)
{
	const char *mac = jstr(link_of(t->ns, t->ifname), "address");

	lose_link(t);
	ip(t->ns, text("link add %s address %s type veth peer name x0", t->ifname, mac));
	ip(t->ns, "link set x0 up");
	ip(t->ns, text("link set %s up", t->ifname));
	ip(t->ns, text("addr add 10.99.0.2/24 dev %s", t->ifname));
	ip(t->ns, text("route add 198.51.100.0/24 via 10.99.0.1 dev %s", t->ifname));
}

static void other_mode(struct t *t)
{
	ip(t->ns, text("link set %s type macvlan mode private", t->ifname));
}

static void other_mac(struct t *t)
{
	ip(t->ns, text("link set %s address 02:00:00:00:be:ef", t->ifname));
}

static void lose_address(struct t *t)
{
	ip(t->ns, text("addr add 10.99.0.200/24 dev %s", t->ifname));
	ip(t->ns, text("addr del 10.99.0.2/24 dev %s", t->ifname));
}

static void lose_route(struct t *t)
{
	ip(t->ns, "route del 198.51.100.0/24");
}

static void lose_reservation(struct t *t)
{
	(void)t;
	fake_rules("CHECK: error=104");
}

static const struct {
	const char *name;
	void (*spoil)(struct t *t);
	const char *kind;
} losses[] = {
	{ "the link is gone", lose_link, NULL },
	{ "the link is of another kind", other_kind, NULL },
	{ "the link has another mode", other_mode, "macvlan" },
	{ "the link has another MAC address", other_mac, "macvlan" },
	{ "the address is gone", lose_address, NULL },
	{ "the route is gone", lose_route, NULL },
	{ "the reservation is gone", lose_reservation, NULL },
};

static void cni_150(struct t *t)
{
	for (size_t i = 0; i < COUNT(losses); i++) {
		if (losses[i].kind && strcmp(losses[i].kind, t->p->link_kind) != 0)
			continue;
		fake_rules("");
		reset(t);
		set(t, "ipam>routes", "[{\"dst\":\"198.51.100.0/24\",\"gw\":\"10.99.0.1\"}]");
		if (!attach(t, "a"))
			return;
		set_prev(t);
		if (!ok(t, "CHECK"))
			return;
		losses[i].spoil(t);
		run(t, "CHECK");
		expect(t, t->rc > 0, "CHECK must fail: %s", losses[i].name);
		fake_rules("");
		ok(t, "DEL");
		netns_drop(t->ns);
	}
}

static void cni_151(struct t *t)
{
	if (!attach(t, "a"))
		return;
	set_prev(t);
	if (given_mac(t))
		ok(t, "CHECK");
	else
		not_applicable(t, "this kind of link has its master's MAC address");
}

static void distinct(struct t *t, char **seen)
{
	const char *one = text(" %s ", address_in(t->doc, 0));

	expect(t, t->rc == 0, "fifty ADDs at once must succeed");
	expect(t, !strstr(*seen, one), "two containers must not get%s", one);
	*seen = text("%s%s", *seen, one);
}

static void cni_152(struct t *t)
{
	struct job jobs[50];
	char *seen = text("%s", "");
	const char *one_pod;

	pod(t, "all");
	one_pod = t->ns;
	for (size_t i = 0; i < COUNT(jobs); i++) {
		if (t->p->kind == INTERFACE)
			pod(t, text("p%zu", i));
		t->cid = text("cid-%zu", i);
		t->ns = t->p->kind == INTERFACE ? t->ns : one_pod;
		jobs[i] = job_start(t, "ADD");
	}
	for (size_t i = 0; i < COUNT(jobs); i++) {
		job_end(t, &jobs[i]);
		distinct(t, &seen);
	}
}

const struct item items_robust[] = {
	{ 141,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "if the IPAM fails, ADD leaves no link",
	  cni_141,
	  NULL,
	  { "ADD?failed: ip=link,add,IF,type,veth" } },
	{ 142,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_OLD,
	  "version 0.2.0 without an IPAM is an error; no link is left",
	  cni_142,
	  NULL,
	  { "ADD?noprev&failed: ip=link,add,IF,type,veth", "ADD?failed: exit=0 out={}" } },
	{ 143,
	  DES,
	  ANY,
	  NEED_ADD | NEED_POOL,
	  "DEL succeeds in every form that runtimes send",
	  cni_143,
	  NULL,
	  { "DEL?in=7.7.7: error=6", "DEL?nolink=" MASTER ": error=7", "DEL?netns=file: skip",
	    "DEL?again: error=3" } },
	{ 144,
	  DES,
	  INTERFACE | IPAM,
	  NEED_ADD | NEED_POOL,
	  "DEL with an empty CNI_NETNS releases the address",
	  cni_144,
	  NULL,
	  { "DEL?netns=none: skip" } },
	{ 145,
	  DES,
	  ANY,
	  NEED_ADD,
	  "DEL creates no files",
	  cni_145,
	  NULL,
	  { "DEL: touch=NETNS", "DEL?netns=gone: touch=/var/lib/left" } },
	{ 146,
	  DES,
	  ANY,
	  0,
	  "no input crashes the plugin",
	  cni_146,
	  NULL,
	  { "ADD?in=\"prevResult\":null: crash", "CHECK?in=sysctl: skip exit=2",
	    "DEL?in=[[[[: crash", "STATUS?in=valid-attachments: skip exit=1" } },
	{ 147,
	  DES,
	  INTERFACE,
	  0,
	  "ADD in the plugin's own namespace is one error and changes nothing",
	  cni_147,
	  NULL,
	  { "ADD?failed: hostip=link,add,left0,type,veth", "ADD?failed: before={}" } },
	{ 148,
	  DES,
	  INTERFACE,
	  NEED_11 | NEED_ADD,
	  "STATUS fails when the master is missing",
	  cni_148,
	  NULL,
	  { "STATUS: skip" } },
	{ 149,
	  DES,
	  INTERFACE | IPAM,
	  NEED_11 | NEED_ADD | NEED_POOL,
	  "GC works with an empty list, a list, no list, and both keys",
	  cni_149,
	  NULL,
	  { "GC: skip", "GC: conf=" VALID "=[]", "GC: unconf=" OLD } },
	{ 150,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_CHECK,
	  "CHECK compares link, kind, mode, MAC, address, route, reservation",
	  cni_150,
	  NULL,
	  { "CHECK: skip", "CHECK: unconf=ipam" } },
	{ 151,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_CHECK,
	  "CHECK accepts a MAC that a later plugin set",
	  cni_151,
	  NULL,
	  { "CHECK?in=be:ef: error=104" } },
	{ 152,
	  DES,
	  INTERFACE | IPAM,
	  NEED_ADD | NEED_POOL,
	  "fifty ADDs at once get fifty addresses",
	  cni_152,
	  NULL,
	  { "ADD: solo", "ADD?ok: set=ips>0>address=\"10.99.0.2/24\"" } },
};
const size_t n_items_robust = COUNT(items_robust);
