/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: 1.7, STATUS. */
#include "conformance/spec/items.h"

#include <string.h>

static void cni_064(struct t *t)
{
	ok(t, "STATUS");
	if (t->p->kind != INTERFACE)
		return;
	/* Make ADD impossible: without the master, or without the IPAM. */
	if (t->p->master)
		set(t, "master", "\"never0\"");
	else
		fake_rules("STATUS: error=50");
	refused(t, "STATUS", "50,51");
}

static void cni_065(struct t *t)
{
	if (!attach_last(t, "a"))
		return;
	/* kubelet makes the node NotReady for it, and evicts the pods that are well */
	ok(t, "STATUS");
	ok(t, "DEL");
	ok(t, "STATUS");
}

static void cni_066(struct t *t)
{
	int before = fake_calls("STATUS");

	ok(t, "STATUS");
	expect(t, fake_calls("STATUS") > before, "STATUS must run the delegate's STATUS");
	fake_rules("STATUS: error=51");
	refused(t, "STATUS", "51");
}

static void cni_067(struct t *t)
{
	ok(t, "STATUS"); /* run with nothing but CNI_PATH */
	if (t->p->kind == INTERFACE) {
		fake_rules("STATUS: error=50");
		refused(t, "STATUS", NULL);
	}
	add_and_del(t, "a");
}

static void cni_068(struct t *t)
{
	if (ok(t, "STATUS"))
		expect(t, !*t->out, "STATUS must print nothing");
	if (ok(t, "GC"))
		expect(t, !*t->out, "GC must print nothing");
}

static void cni_069(struct t *t)
{
	set(t, "capabilities", "{\"mac\":true,\"ips\":true}");
	unset(t, "prevResult");
	ok(t, "STATUS");
	ok(t, "GC");
}

const struct item items_status[] = {
	{ 64,
	  MUST,
	  INTERFACE | IPAM,
	  NEED_11 | NEED_ADD | NEED_POOL,
	  "STATUS reports whether ADD would succeed",
	  cni_064,
	  NULL,
	  { "STATUS: skip", "STATUS: error=50", "STATUS?failed: set=code=7" } },
	{ 65,
	  DES,
	  IPAM,
	  NEED_11 | NEED_POOL,
	  "STATUS succeeds when the range has no free address, because the node works",
	  cni_065,
	  NULL,
	  { "STATUS: error=50" } },
	{ 66,
	  MUST,
	  INTERFACE,
	  NEED_11 | NEED_ADD,
	  "STATUS runs the delegates and returns their error with its code",
	  cni_066,
	  NULL,
	  { "STATUS: unconf=ipam", "STATUS?failed: set=code=999" } },
	{ 67,
	  MUST,
	  ANY,
	  NEED_11 | NEED_ADD,
	  "STATUS needs no container; other commands need no STATUS",
	  cni_067,
	  NULL,
	  { "STATUS?noenv=CNI_CONTAINERID: error=4", "ADD: error=50" } },
	{ 68,
	  LIB,
	  ANY,
	  NEED_11,
	  "STATUS and GC print nothing",
	  cni_068,
	  NULL,
	  { "STATUS: out={}", "GC: out={}" } },
	{ 69,
	  LIB,
	  ANY,
	  NEED_11,
	  "STATUS and GC accept capabilities and need no prevResult",
	  cni_069,
	  NULL,
	  { "STATUS?in=capabilities: error=2", "GC?noprev: error=7" } },
};
const size_t n_items_status = COUNT(items_status);
