/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflicts.c: `railctl ipam conflicts`. The node agent knows who has a lost block, which
 * pools overlap, and which nodes have one number. Without it the store of this node still says
 * which pods are affected.
 */
#include "ipam/alloc/agent_client.h"
#include "ipam/lease/shared_pool.h"
#include "lib/cli/finding.h"
#include "railctl/ipam/ipam.h"

/* The agent waits 5 seconds for an answer of the cluster store, and then asks no more. */
#define WAIT_MS 20000

static void conflicts_set_pod(struct finding *f, const struct json *pod)
{
	const char *ns = json_text(pod, "namespace");

	finding_set_subject(f, "%s%s%s %s %s", ns, *ns ? "/" : "", json_text(pod, "pod"),
			    json_text(pod, "interface"), json_text(pod, "address"));
}

/* pod NULL: no pod of this node lives in the block. */
static void tell_block(struct findings *out, const struct json *block, const struct json *pod)
{
	const struct json *owner = json_get(block, "owner");
	const char *first = json_text(block, "first"), *last = json_text(block, "last");
	struct finding *f = findings_add(out, "block", FINDING_FAIL);

	if (pod)
		conflicts_set_pod(f, pod);
	/* The loan of one address is that address. */
	finding_set_value(f, "pool %s, block %s%s%s %s, owner %s, since %.19s",
			  json_text(block, "pool"), first, json_get(block, "block") ? "" : "-",
			  json_get(block, "block") ? "" : last, json_text(block, "state"),
			  json_str(owner) ? json_str(owner) : (owner ? "none" : "not known"),
			  json_text(block, "since"));
	finding_set_reason(f, "another node may assign addresses of the block, too");
	finding_set_remedy(f, "of two pods with one address restart one, here or on the owner");
}

static void tell_pool(struct findings *out, const struct json *pool)
{
	const char *gives = json_str(json_get(pool, "gives"));
	struct finding *f = findings_add(out, "pool", FINDING_FAIL);

	finding_set_subject(f, "%s", json_text(pool, "name"));
	finding_set_value(f, "%s overlaps %s of the older pool %s, since %.19s",
			  json_text(pool, "subnet"), json_text(pool, "olderSubnet"),
			  json_text(pool, "older"), json_text(pool, "since"));
	finding_set_reason(f, "%s of them assigns addresses", gives ? "only the older" : "neither");
	finding_set_remedy(f, "delete one of them");
}

static void tell_reserved(struct findings *out, const struct json *range, const struct json *pod)
{
	struct finding *f = findings_add(out, "reserved", FINDING_WARN);

	conflicts_set_pod(f, pod);
	finding_set_value(f, "pool %s, reserved %s-%s", json_text(range, "pool"),
			  json_text(range, "first"), json_text(range, "last"));
	finding_set_reason(f, "the pod keeps an address that the cluster reserves, until it ends");
	finding_set_remedy(f, "restart the pod");
}

static void tell_number(struct findings *out, const struct json *number)
{
	struct finding *f = findings_add(out, "number", FINDING_FAIL);

	finding_set_value(f, "%.0f is also the number of node %s, since %.19s",
			  json_num(json_get(number, "number")), json_text(number, "node"),
			  json_text(number, "since"));
	finding_set_reason(f, "pools with slices assign the same addresses on both");
	finding_set_remedy(f, "railctl ipam node set, on one of them; or railctl cluster node "
			      "forget, if the other is off for good");
}

static void find_all(const struct json *found, struct findings *out)
{
	json_each (block, json_get(found, "blocks")) {
		if (!json_len(json_get(block, "pods")))
			tell_block(out, block, NULL);
		json_each (pod, json_get(block, "pods"))
			tell_block(out, block, pod);
	}
	json_each (pool, json_get(found, "pools"))
		tell_pool(out, pool);
	json_each (range, json_get(found, "reserved"))
		json_each (pod, json_get(range, "pods"))
			tell_reserved(out, range, pod);
	json_each (number, json_get(found, "numbers"))
		tell_number(out, number);
}

/* The store of this node has blocks and pods, but no owners. 1: it has no shared pool, so that no
 * agent is missed. 2: there is no store, as e says. */
static int load_here(struct cmd_run *r, struct json **out, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *o = json_new_object(), *blocks = NULL, *pools = NULL,
			      *reserved = NULL;
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc > 0) {
		(void)ctl_no_store(r, e);
		return 2;
	}
	if (rc || admin_conflicts(&m, &blocks, e) || admin_reserved(&m, &reserved, e) ||
	    shared_pool_list(&m, &pools, e))
		return -1;
	if (!o || json_put(o, "blocks", TAKE_PTR(blocks)) || !json_add_array(o, "pools") ||
	    json_put(o, "reserved", TAKE_PTR(reserved)) || !json_add_array(o, "numbers"))
		return err_nomem(e);
	*out = TAKE_PTR(o);
	return json_len(pools) == 0;
}

static int conflicts_print(struct cmd_run *r, const struct json *found, struct err *e)
{
	const char *unknown = json_str(json_get(found, "unknown"));
	auto_findings struct findings all = { 0 };

	find_all(found, &all);
	if (findings_check(&all, e))
		return -1;
	if (all.n)
		r->status = CMD_FAILED;
	if (r->out.json)
		return out_json(&r->out, found, e);
	if (!all.n)
		out_line(&r->out, OUT_PLAIN, "No conflicts.");
	findings_print(&r->out, &all, 8, 0);
	if (unknown)
		out_line(&r->out, OUT_WARN, "Not all owners are known: %s", unknown);
	return 0;
}

/*
 * Ask the agent, or else the store of this node. *why: if not empty, why the agent did not answer,
 * and was needed. 1: there is no store, as e says.
 */
static int conflicts_load(struct cmd_run *r, struct json **found, struct err *why, struct err *e)
{
	int rc;

	*why = (struct err){ 0 };
	if (agent_client_call(&r->ctx, &(struct agent_call){ "conflicts", NULL }, WAIT_MS, found,
			      why) == 0) {
		*why = (struct err){ 0 };
		return 0;
	}
	rc = load_here(r, found, e);
	if (rc == 1)
		*why = (struct err){ 0 };
	return rc < 0 ? -1 : rc == 2;
}

int conflicts_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_json struct json *found = NULL;
	struct err why;
	int rc = conflicts_load(r, &found, &why, e);

	if (rc)
		return rc;
	find_all(found, out);
	return why.code ? err_pass(e, &why) : findings_check(out, e);
}

static int conflicts_run(struct cmd_run *r, struct err *e)
{
	auto_json struct json *found = NULL;
	struct err why;

	if (conflicts_load(r, &found, &why, e))
		return -1;
	if (!why.code)
		return conflicts_print(r, found, e);
	if ((json_len(json_get(found, "blocks")) || json_len(json_get(found, "reserved"))) &&
	    conflicts_print(r, found, e))
		return -1;
	return err_pass(e, &why);
}

static const char *const examples[] = {
	"railctl ipam conflicts",
	"railctl ipam conflicts --json",
	NULL,
};

const struct cmd cmd_ipam_conflicts = {
	.name = "conflicts",
	.summary = "list lost blocks, pods with reserved addresses, pools that overlap, and nodes "
		   "with one number",
	.about =
		"A lost block is one that another node has, too, after the cluster store forgot "
		"that it was this node's. Its pods keep their addresses, and no other address of "
		"it is assigned. Restart one of the two pods that have an address. Of two pools "
		"that overlap the later one gives nothing. A pod keeps an address that the cluster "
		"reserves later, until the pod ends. Nodes with one number assign the same "
		"addresses of pools with slices. Exit status 1: there are conflicts.",
	.examples = examples,
	.run = conflicts_run,
};
