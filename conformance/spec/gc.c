/* SPDX-License-Identifier: Apache-2.0 */
/* gc.c: 1.8, GC. */
#include "conformance/spec/items.h"

#include <string.h>

#define VALID "cni.dev/valid-attachments"
#define OLD   "cni.dev/attachments"

static const char *pair(const struct t *t)
{
	return text("[{\"containerID\":\"%s\",\"ifname\":\"%s\"}]", t->cid, t->ifname);
}

/* Is the attachment of this container still whole? An IPAM is asked by CHECK. */
static bool is_kept(struct t *t, const char *when)
{
	if (t->p->kind == INTERFACE)
		return expect(t, reserved(t->cid) == 1, "%s: the address must stay", when);
	cJSON *conf = cJSON_Duplicate(t->conf, true);
	set_prev(t);
	run(t, "CHECK");
	t->conf = conf;
	return expect(t, t->rc == 0, "%s: the address must stay", when);
}

static void cni_070(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	const char *list = pair(t);
	set(t, VALID, list);
	ok(t, "GC");
	is_kept(t, "GC with the attachment listed");
	unset(t, VALID);
	set(t, OLD, list);
	ok(t, "GC");
	is_kept(t, "GC with the attachment listed under the older key");
	set(t, VALID, list);
	set(t, OLD, "[]");
	ok(t, "GC");
	is_kept(t, "GC with both keys: valid-attachments counts");
	unset(t, VALID);
	ok(t, "GC");
	unset(t, OLD);
	released(t, "GC with an empty list under the older key");
}

static void cni_071(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	set(t, VALID, "[]");
	ok(t, "GC");
	unset(t, VALID);
	released(t, "GC with an empty list");
}

static void cni_072(struct t *t)
{
	if (!attach(t, "a") || !attach(t, "b"))
		return;
	fake_rules("DEL?env=CNI_CONTAINERID=cid-a: error=5");
	set(t, VALID, "[]");
	run_net(t, "GC");
	if (t->rc)
		is_error(t, NULL);
	else
		expect(t, reserved(NULL) == 0, "GC that succeeds must have removed everything");
	expect(t, reserved("cid-b") == 0, "GC must go on when one removal fails");
}

static void cni_073(struct t *t)
{
	int before = fake_calls("GC");

	set(t, VALID, "[]");
	ok(t, "GC");
	expect(t, fake_calls("GC") > before, "GC must run the delegate's GC");
	expect(t, strstr(fake_stdin("GC"), VALID) != NULL, "the delegate must get the list");
}

static void cni_074(struct t *t)
{
	set(t, VALID, "[]");
	if (ok(t, "GC")) /* run with nothing but CNI_PATH */
		expect(t, !*t->out, "GC must print nothing");
}

static void cni_075(struct t *t)
{
	struct job add[4], gc[4];

	set(t, VALID,
	    "[{\"containerID\":\"cid-p0\",\"ifname\":\"net1\"},{\"containerID\":\"cid-p1\","
	    "\"ifname\":\"net1\"},"
	    "{\"containerID\":\"cid-p2\",\"ifname\":\"net1\"},{\"containerID\":\"cid-p3\","
	    "\"ifname\":\"net1\"}]");
	for (int i = 0; i < 4; i++) {
		pod(t, text("p%d", i));
		add[i] = job_start(t, "ADD");
		gc[i] = job_start(t, "GC");
	}
	for (int i = 0; i < 4; i++) {
		pod(t, text("p%d", i));
		job_end(t, &add[i]);
		expect(t, t->rc == 0, "an ADD beside a GC must succeed");
		job_end(t, &gc[i]);
		expect(t, t->rc == 0, "a GC beside an ADD must succeed");
	}
	/* On a busy machine each GC may have ended before any ADD had something to keep. */
	ok(t, "GC");
	for (int i = 0; i < 4; i++) {
		pod(t, text("p%d", i));
		if (t->p->kind == INTERFACE)
			is_kept(t, "GC that lists the attachment, beside its ADD");
	}
}

static void cni_076(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	ok(t, "GC");
	is_kept(t, "GC without a list");
}

static void cni_077(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	set(t, "name", "\"othernet\"");
	set(t, VALID, "[]");
	ok(t, "GC");
	unset(t, VALID);
	set(t, "name", "\"" NETWORK "\"");
	is_kept(t, "GC of another network");
}

#define GC_NEEDS (NEED_11 | NEED_ADD | NEED_POOL)

const struct item items_gc[] = {
	{ 70,
	  MUST,
	  INTERFACE | IPAM,
	  GC_NEEDS,
	  "GC reads both names of the list of attachments",
	  cni_070,
	  NULL,
	  { "GC?in=\"" OLD "\": skip", "GC: unconf=" VALID, "GC: conf=" VALID "=[]" } },
	{ 71,
	  SHOULD,
	  INTERFACE | IPAM,
	  GC_NEEDS,
	  "GC removes attachments that are not in the list",
	  cni_071,
	  NULL,
	  { "GC: skip" } },
	{ 72,
	  SHOULD,
	  INTERFACE,
	  GC_NEEDS,
	  "GC continues after a removal failed",
	  cni_072,
	  NULL,
	  { "GC: error=5" } },
	{ 73,
	  MUST,
	  INTERFACE,
	  GC_NEEDS,
	  "GC runs the delegates",
	  cni_073,
	  NULL,
	  { "GC: unconf=ipam", "GC: unconf=" VALID } },
	{ 74,
	  MUST,
	  ANY,
	  NEED_11,
	  "GC prints nothing and needs no container",
	  cni_074,
	  NULL,
	  { "GC: out={}", "GC?noenv=CNI_CONTAINERID: error=4" } },
	{ 75,
	  MUST,
	  INTERFACE | IPAM,
	  GC_NEEDS,
	  "ADD and GC at the same time succeed; GC keeps the new attachments",
	  cni_075,
	  NULL,
	  { "GC: conf=" VALID "=[]", "GC: sleep=20\nADD: solo" } },
	{ 76,
	  DES,
	  INTERFACE | IPAM,
	  GC_NEEDS,
	  "GC without a list removes nothing",
	  cni_076,
	  NULL,
	  { "GC: conf=" VALID "=[]" } },
	{ 77,
	  DES,
	  INTERFACE | IPAM,
	  GC_NEEDS,
	  "GC changes nothing of other networks",
	  cni_077,
	  NULL,
	  { "GC: conf=name=\"" NETWORK "\"" } },
	{ 78,
	  MUST,
	  ANY,
	  0,
	  "the runtime obeys disableGC and disableCheck",
	  NULL,
	  "a duty of the runtime: a plugin cannot be seen to do it",
	  { NULL } },
};
const size_t n_items_gc = COUNT(items_gc);
