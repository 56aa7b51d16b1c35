/* SPDX-License-Identifier: Apache-2.0 */
/* robust2.c: 1.15, second half of what is given and asked: versions, names, paths, input, MTU. */
#include "conformance/spec/items.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void shaped(struct t *t, const char *version, const char *what)
{
	if (!ok(t, "ADD"))
		return;
	const char *problem = shape_problem(t->doc, version, t->p->kind);
	expect(t, !problem, "version \"%s\", %s: %s", version, what, problem);
	t->raw = NULL;
	ok(t, "DEL");
}

static void with_ipam(struct t *t, const char *version)
{
	static const char *const families[] = { "4", "6", "46" };

	for (size_t i = 0; i < COUNT(families); i++) {
		if (t->p->kind == INTERFACE)
			set(t, "ipam",
			    text("{\"type\":\"" FAKE "\",\"families\":\"%s\"}", families[i]));
		shaped(t, version, families[i]);
	}
	if (t->p->kind == IPAM) {
		profile_section(t, "dualPool");
		shaped(t, version, "dual stack");
	}
	if (t->p->kind != INTERFACE)
		return;
	unset(t, "ipam");
	if (at_least(version, "0.3.0"))
		shaped(t, version, "no IPAM");
	else
		refused(t, "ADD", NULL);
}

static void cni_153(struct t *t)
{
	each_version(t, "0.1.0", with_ipam);
	if (!supports(t, "0.1.0") || t->p->kind == META)
		return;
	use_version(t, "");
	pod(t, "none");
	shaped(t, "", "no version");
}

static void cni_154(struct t *t)
{
	static const char *const bad[] = { "ADD: out=", "ADD: out=null", "ADD: out={}",
					   "ADD: set=cniVersion=\"9.9.9\"", "ADD: before=noise" };

	fake_rules("*: stderr=noise");
	if (!attach(t, "a") || !ok(t, "DEL"))
		return;
	for (size_t i = 0; i < COUNT(bad); i++) {
		fake_rules(bad[i]);
		run(t, "ADD");
		expect(t, cJSON_IsObject(t->doc), "IPAM with %s: stdout must be one JSON object",
		       bad[i]);
		if (t->rc) {
			is_error(t, NULL);
			expect(t, !has_link(t->ns, t->ifname), "IPAM with %s: no link may stay",
			       bad[i]);
		}
		ok(t, "DEL");
	}
}

static void cni_155(struct t *t)
{
	static const char *const good[] = { "fifteen-bytes-x", "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9" };
	static const char *const bad[] = {
		"sixteen-bytes-xx",
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
	};

	for (size_t i = 0; i < COUNT(good); i++) {
		t->ifname = good[i];
		if (attach(t, text("p%zu", i)) && t->p->kind == INTERFACE)
			expect(t, has_link(t->ns, t->ifname), "%s must be there", good[i]);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		t->ifname = bad[i];
		refused(t, "ADD", "4");
	}
	t->ifname = "a%d";
	pod(t, "percent");
	run(t, "ADD");
	expect(t, !has_link(t->ns, "a0"), "%%d in a name must not be expanded");
	if (t->rc == 0 && t->p->kind == INTERFACE)
		expect(t, has_link(t->ns, "a%d"), "a%%d must be there");
	ok(t, "DEL");
}

static void cni_156(struct t *t)
{
	static const char *const good[] = {
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"k8s.io-default_pod.1-x",
	};
	char *longest = calloc(1, 4097);

	if (!longest)
		broken("memory");
	memset(longest, 'a', 4096);
	for (size_t i = 0; i < COUNT(good); i++) {
		pod(t, text("p%zu", i));
		t->cid = good[i];
		ok(t, "ADD");
		ok(t, "DEL");
	}
	pod(t, "long");
	const char *before = snapshot(t);
	t->cid = longest;
	run(t, "ADD");
	if (t->rc)
		is_error(t, NULL);
	ok(t, "DEL");
	if (t->p->kind == INTERFACE)
		unchanged(t, before, "ADD and DEL with an id of 4096 bytes");
}

static void cni_157(struct t *t)
{
	static const char *const paths[] = { "::" WORK "/bin", "/never:" WORK "/bin:/never",
					     "relative/dir:" WORK "/bin", "bin:::" };

	for (size_t i = 0; i < COUNT(paths); i++) {
		t->path = paths[i];
		t->how.cwd = WORK;
		pod(t, text("p%zu", i));
		run(t, "ADD");
		/* A relative folder alone may be refused. */
		if (i + 1 == COUNT(paths) && t->rc)
			is_error(t, NULL);
		else
			expect(t, t->rc == 0, "CNI_PATH %s must do", paths[i]);
	}
}

static void cni_158(struct t *t)
{
	pod(t, "a");
	t->how.in = INPUT_CLOSED;
	run(t, "ADD");
	is_error(t, NULL);
	t->how.in = INPUT_SLOW;
	run(t, "ADD");
	expect(t, t->rc == 0, "a configuration that comes piece by piece must do");
	t->how.in = INPUT_SLOW;
	run(t, "DEL");
	expect(t, t->rc == 0, "a configuration that comes piece by piece must do");
	char *big = calloc(1, (3 << 20) + 1);
	if (!big)
		broken("memory");
	memset(big, 'x', 3 << 20);
	set(t, "x-big", text("\"%s\"", big));
	run(t, "ADD");
	if (t->rc)
		is_error(t, NULL);
}

static double mtu_of(struct t *t, const char *name, const char *mtu)
{
	if (mtu)
		set(t, "mtu", mtu);
	else
		unset(t, "mtu");
	return attach(t, name) ? jnum(link_of(t->ns, t->ifname), "mtu") : -1;
}

static void cni_159(struct t *t)
{
	ip(NULL, "link set " MASTER " mtu 1450");
	expect(t, mtu_of(t, "a", NULL) == 1450, "without mtu the master's must be taken");
	expect(t, mtu_of(t, "b", "0") == 1450, "mtu 0 must take the master's");
	expect(t, mtu_of(t, "c", "1400") == 1400, "mtu 1400 must be set");
	pod(t, "d");
	set(t, "mtu", "1451");
	if (refused(t, "ADD", "7"))
		names(t, "mtu");
	set(t, "mtu", "-1");
	refused(t, "ADD", NULL);
}

static void cni_163(struct t *t)
{
	if (t->p->kind == INTERFACE)
		set(t, "prevResult", text("{\"cniVersion\":\"%s\",\"dns\":{}}", t->version));
	pod(t, "a");
	set(t, "prevResult>x-of-somebody", "{\"deep\":[{\"a\":null},1.5,\"\\u00e9\"]}");
	if (!ok(t, "ADD"))
		return;
	expect(t,
	       cJSON_Compare(jget(t->doc, "x-of-somebody"),
			     jget(t->conf, "prevResult>x-of-somebody"), true),
	       "an unknown key of prevResult must come out as it was");
}

static void cni_164(struct t *t)
{
	set(t, "capabilities", "{\"mac\":true,\"bandwidth\":false,\"x-unknown\":true}");
	if (!attach(t, "a"))
		return;
	set_prev(t);
	if (at_least(t->version, "0.4.0"))
		ok(t, "CHECK");
	ok(t, "DEL");
}

static void cni_165(struct t *t)
{
	static const char *const cmds[] = { "ADD", "DEL" };

	t->env[0] = "TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	t->env[1] = "TRACESTATE=vendor=1";
	pod(t, "a");
	for (size_t i = 0; i < COUNT(cmds); i++) {
		ok(t, cmds[i]);
		expect(t,
		       strstr(fake_env(cmds[i]), t->env[0]) && strstr(fake_env(cmds[i]), t->env[1]),
		       "%s: trace variables must reach the delegate", cmds[i]);
	}
}

const struct item items_robust2[] = {
	{ 153,
	  DES,
	  ANY,
	  NEED_ADD | NEED_PREV,
	  "ADD works in all versions, with and without IPAM, with IPv4, IPv6 and both",
	  cni_153,
	  NULL,
	  { "ADD?in=\"0.2.0\"&ok: del=ip6", "ADD?in=\"0.3.1\"&ok: set=cniVersion=\"0.4.0\"",
	    "ADD?in=\"1.0.0\"&ok: set=ips>0>version=\"4\"",
	    "ADD?in=\"0.1.0\"&ok: set=interfaces=[]" } },
	{ 154,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "an IPAM may be noisy, silent, or of another version",
	  cni_154,
	  NULL,
	  { "ADD?failed: before={}", "ADD?failed: ip=link,add,IF,type,veth",
	    "ADD?ok: before=noise" } },
	{ 155,
	  DES,
	  INTERFACE | IPAM,
	  NEED_ADD,
	  "names of 15 and 16 bytes, with multi-byte letters and with %d are handled",
	  cni_155,
	  NULL,
	  { "ADD?env=CNI_IFNAME=sixteen-bytes-xx: setenv=CNI_IFNAME=cut",
	    "ADD?env=CNI_IFNAME=fifteen-bytes-x: error=4",
	    "ADD?env=CNI_IFNAME=a%d: setenv=CNI_IFNAME=a0" } },
	{ 156,
	  DES,
	  ANY,
	  NEED_ADD,
	  "container ids of 64 and of 4096 bytes are handled",
	  cni_156,
	  NULL,
	  { "ADD?env=CNI_CONTAINERID=k8s.io-default_pod.1-x: error=4",
	    "DEL?failed: crash\nADD?failed: out=", "ADD?failed: touch=/var/lib/left" } },
	{ 157,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "CNI_PATH may have empty, relative and missing folders",
	  cni_157,
	  NULL,
	  { "ADD?env=CNI_PATH=::" WORK "/bin: setenv=CNI_PATH=/never",
	    "ADD?env=CNI_PATH=bin:::: crash" } },
	{ 158,
	  DES,
	  ANY,
	  NEED_ADD,
	  "stdin may be closed, slow, or 3 MiB long",
	  cni_158,
	  NULL,
	  { "ADD?failed: out=", "ADD?in=x-big: crash", "DEL: error=5" } },
	{ 159,
	  DES,
	  INTERFACE,
	  NEED_ADD | NEED_MASTER,
	  "mtu is inherited, set, or refused when too large or negative",
	  cni_159,
	  NULL,
	  { "ADD?in=1451: conf=mtu=1450", "ADD: conf=mtu=1300", "ADD?in=-1: unconf=mtu",
	    "ADD?failed: set=code=999" } },
	{ 163,
	  DES,
	  INTERFACE | META,
	  NEED_ADD | NEED_PREV,
	  "the result has unknown keys of prevResult unchanged",
	  cni_163,
	  NULL,
	  { "ADD?ok: del=x-of-somebody", "ADD?ok: set=x-of-somebody>deep>1=2" } },
	{ 164,
	  DES,
	  ANY,
	  NEED_ADD,
	  "ADD, CHECK and DEL accept the key capabilities in the configuration",
	  cni_164,
	  NULL,
	  { "ADD?in=capabilities: error=2", "CHECK?in=capabilities: error=2" } },
	{ 165,
	  DES,
	  INTERFACE,
	  NEED_ADD,
	  "the IPAM gets the trace variables",
	  cni_165,
	  NULL,
	  { "DEL: unsetenv=TRACEPARENT", "ADD: unsetenv=TRACESTATE" } },
};
const size_t n_items_robust2 = COUNT(items_robust2);
