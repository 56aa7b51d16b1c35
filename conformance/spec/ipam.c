/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.c: 1.13, IPAM plugins. */
#include "conformance/spec/items.h"

#include <string.h>

static void abbreviated(struct t *t, const char *version)
{
	if (!ok(t, "ADD"))
		return;
	const char *problem = shape_problem(t->doc, version, IPAM);
	expect(t, !problem, "%s: %s", version, problem);
}

static void cni_128(struct t *t)
{
	each_version(t, "0.1.0", abbreviated);
}

static void cni_129(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	t->ifname = "net2";
	ok(t, "DEL");
	t->ifname = "net1";
	t->cid = "another";
	ok(t, "DEL");
	run(t, "ADD");
	expect(t, t->rc != 0, "DEL of another attachment must not release the address");
	t->cid = "cid-a";
	ok(t, "DEL");
	released(t, "DEL of the attachment");
}

static void cni_130(struct t *t)
{
	if (!attach(t, "a"))
		return;
	refused(t, "ADD", NULL);
}

static void cni_131(struct t *t)
{
	if (!jget(t->p->tree, "twoAddresses")) {
		not_applicable(t, "the profile names no twoAddresses");
		return;
	}
	profile_section(t, "twoAddresses");
	if (!attach(t, "a"))
		return;
	expect(t, jlen(t->doc, "ips") == 2, "the profile's twoAddresses must give two addresses");
	ok(t, "DEL");
	use_version(t, "0.2.0");
	refused(t, "ADD", NULL);
}

/* Parallel ADDs, some killed, and after a DEL for each the pool is as good as new. */
static void cni_132(struct t *t)
{
	struct job jobs[12];
	char *seen = text("%s", " ");

	for (int i = 0; i < 12; i++) {
		pod(t, text("p%d", i));
		jobs[i] = job_start(t, "ADD");
	}
	for (int i = 0; i < 12; i++) {
		job_end(t, &jobs[i]);
		if (!expect(t, t->rc == 0, "an ADD beside others must succeed"))
			return;
		const char *one = text(" %s ", address_in(t->doc, 0));
		expect(t, !strstr(seen, one), "two containers must not get%s", one);
		seen = text("%s%s", seen, one);
	}
	profile_section(t, "smallPool");
	bool too_late = false;
	for (long us = 300; us < KILL_LATEST_US && !too_late; us += us / 2) {
		pod(t, "killed");
		t->how.kill_after_us = us;
		run(t, "ADD");
		too_late = t->rc == 0;
		ok(t, "DEL");
	}
	attach_last(t, "last");
	ok(t, "DEL");
	released(t, "kills and DELs");
}

static void cni_133(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	cJSON *conf = cJSON_Duplicate(t->conf, true);
	set_prev(t);
	ok(t, "CHECK");
	ok(t, "DEL");
	refused(t, "CHECK", NULL);
	t->conf = conf;
	if (!at_least(t->version, "1.1.0") || !ok(t, "ADD"))
		return;
	set(t, "cni.dev/valid-attachments", "[]");
	ok(t, "GC");
	released(t, "GC");
}

static void wants(struct t *t, const char *ip, const char *how)
{
	if (!ok(t, "ADD"))
		return;
	expect(t, strncmp(address_in(t->doc, 0), ip, strlen(ip)) == 0,
	       "the address asked for by %s must be given", how);
}

static void cni_134(struct t *t)
{
	const char *ip = jstr(t->p->tree, "request");

	if (!*ip) {
		not_applicable(t, "the profile names no address to request");
		return;
	}
	set(t, "runtimeConfig", text("{\"ips\":[\"%s\"]}", ip));
	pod(t, "a");
	wants(t, ip, "runtimeConfig.ips");
	pod(t, "b");
	refused(t, "ADD", NULL);
	pod(t, "a");
	ok(t, "DEL");
	unset(t, "runtimeConfig");
	set(t, "args", text("{\"cni\":{\"ips\":[\"%s\"]}}", ip));
	wants(t, ip, "args.cni.ips");
	ok(t, "DEL");
	unset(t, "args");
	t->args = text("IgnoreUnknown=1;IP=%s", ip);
	wants(t, ip, "IP in CNI_ARGS");
}

const struct item items_ipam[] = {
	{ 128,
	  MUST,
	  IPAM,
	  0,
	  "the result of an IPAM has no interfaces",
	  cni_128,
	  NULL,
	  { "ADD?in=\"1.0.0\"&ok: set=interfaces=[{\"name\":\"net1\"}]",
	    "ADD?in=\"0.4.0\"&ok: set=ips>0>interface=0" } },
	{ 129,
	  DES,
	  IPAM,
	  NEED_POOL,
	  "the IPAM releases by container and interface",
	  cni_129,
	  NULL,
	  { "DEL?env=CNI_IFNAME=net2: setenv=CNI_IFNAME=net1",
	    "DEL?env=CNI_CONTAINERID=another: error=3" } },
	{ 130,
	  LIB,
	  IPAM,
	  NEED_POOL,
	  "a second ADD of an attachment is an error",
	  cni_130,
	  NULL,
	  { "ADD?again: skip out={}" } },
	{ 131,
	  LIB,
	  IPAM,
	  NEED_OLD,
	  "two addresses of one family need version 0.3.0",
	  cni_131,
	  NULL,
	  { "ADD?failed: exit=0 out={\"cniVersion\":\"0.2.0\"}" } },
	{ 132,
	  MUST,
	  IPAM,
	  NEED_POOL,
	  "parallel calls of the IPAM are locked; a killed call does no harm",
	  cni_132,
	  NULL,
	  { "ADD: solo", "ADD?ok: set=ips>0>address=\"10.77.0.2/24\"",
	    "DEL?env=CNI_CONTAINERID=cid-killed: skip" } },
	{ 133,
	  SHOULD,
	  IPAM,
	  NEED_POOL | NEED_CHECK,
	  "CHECK and GC of the IPAM use the reservations",
	  cni_133,
	  NULL,
	  { "CHECK: skip", "GC: skip" } },
	{ 134,
	  LIB,
	  IPAM,
	  NEED_POOL,
	  "the IPAM assigns the addresses that were requested",
	  cni_134,
	  NULL,
	  { "ADD: unconf=runtimeConfig", "ADD: unconf=args", "ADD: unsetenv=CNI_ARGS" } },
};
const size_t n_items_ipam = COUNT(items_ipam);
