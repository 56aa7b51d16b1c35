/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflicts.c: `railctl ipam conflicts`. The node agent knows who has a lost block, which
 * pools overlap, and which nodes have one number. Without it the store of this node still says
 * which pods are affected.
 */
#include <stdio.h>

#include "ipam/alloc/agent_client.h"
#include "ipam/lease/shared_pool.h"
#include "railctl/ipam/ipam.h"

/* The agent waits 5 seconds for an answer of the cluster store, and then asks no more. */
#define WAIT_MS 20000

static const struct out_column block_columns[] = {
	{ "POOL", OUT_SHRINK },  { "BLOCK", OUT_SHRINK },    { "STATE", 0 },
	{ "OWNER", OUT_SHRINK }, { "SINCE", OUT_SPARE },     { "NAMESPACE", OUT_SHRINK },
	{ "POD", OUT_SHRINK },   { "INTERFACE", OUT_SPARE }, { "ADDRESS", 0 },
};

static const struct out_column pool_columns[] = {
	{ "POOL", OUT_SHRINK },       { "SUBNET", OUT_SHRINK }, { "OLDER POOL", OUT_SHRINK },
	{ "ITS SUBNET", OUT_SHRINK }, { "GIVES", OUT_SHRINK },  { "SINCE", OUT_SPARE },
};

static const struct out_column reserved_columns[] = {
	{ "POOL", OUT_SHRINK }, { "RESERVED", OUT_SHRINK }, { "NAMESPACE", OUT_SHRINK },
	{ "POD", OUT_SHRINK },  { "INTERFACE", OUT_SPARE }, { "ADDRESS", 0 },
};

static const struct out_column number_columns[] = {
	{ "NUMBER", OUT_RIGHT },
	{ "ALSO OF NODE", OUT_SHRINK },
	{ "SINCE", OUT_SPARE },
};

/* "2026-11-22T10:00:00": a fraction says nothing here. */
static const char *seconds_of(const struct json *o, char buf[20])
{
	(void)snprintf(buf, 20, "%s", json_text(o, "since"));
	return buf;
}

static int add_pod_row(struct out_table *t, const struct json *block, const struct json *pod,
		       struct err *e)
{
	const struct json *owner = json_get(block, "owner");
	char range[128], since[20];

	/* The loan of one address is that address. */
	if (json_get(block, "block"))
		(void)snprintf(range, sizeof(range), "%s", json_text(block, "first"));
	else
		(void)snprintf(range, sizeof(range), "%s-%s", json_text(block, "first"),
			       json_text(block, "last"));
	return out_row(
		t,
		(struct out_cell[]){
			{ json_text(block, "pool"), OUT_PLAIN },
			{ range, OUT_PLAIN },
			{ json_text(block, "state"), OUT_BAD },
			{ json_str(owner) ? json_str(owner) : (owner ? "none" : "?"), OUT_PLAIN },
			{ seconds_of(block, since), OUT_FAINT },
			{ json_str(json_get(pod, "namespace")), OUT_PLAIN },
			{ json_str(json_get(pod, "pod")), OUT_PLAIN },
			{ json_str(json_get(pod, "interface")), OUT_PLAIN },
			{ json_str(json_get(pod, "address")), OUT_PLAIN } },
		e);
}

static int print_blocks(const struct cmd_run *r, const struct json *blocks, struct err *e)
{
	auto_table struct out_table t = { .columns = block_columns,
					  .n_columns = ARRAY_SIZE(block_columns) };

	json_each (b, blocks) {
		if (!json_len(json_get(b, "pods")) && add_pod_row(&t, b, NULL, e))
			return -1;
		json_each (p, json_get(b, "pods")) {
			if (add_pod_row(&t, b, p, e))
				return -1;
		}
	}
	if (t.n_rows)
		out_table(&r->out, &t);
	return 0;
}

static int conflicts_print_pools(const struct cmd_run *r, const struct json *pools, struct err *e)
{
	auto_table struct out_table t = { .columns = pool_columns,
					  .n_columns = ARRAY_SIZE(pool_columns) };

	json_each (p, pools) {
		const char *gives = json_str(json_get(p, "gives"));
		char since[20];

		if (out_row(&t,
			    (struct out_cell[]){ { json_text(p, "name"), OUT_BAD },
						 { json_text(p, "subnet"), OUT_PLAIN },
						 { json_text(p, "older"), OUT_PLAIN },
						 { json_text(p, "olderSubnet"), OUT_PLAIN },
						 { gives ? gives : "neither", OUT_PLAIN },
						 { seconds_of(p, since), OUT_FAINT } },
			    e))
			return -1;
	}
	if (t.n_rows)
		out_table(&r->out, &t);
	return 0;
}

static int add_reserved_rows(struct out_table *t, const struct json *range, struct err *e)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "%s-%s", json_text(range, "first"),
		       json_text(range, "last"));
	json_each (pod, json_get(range, "pods")) {
		if (out_row(t,
			    (struct out_cell[]){
				    { json_text(range, "pool"), OUT_PLAIN },
				    { text, OUT_PLAIN },
				    { json_str(json_get(pod, "namespace")), OUT_PLAIN },
				    { json_str(json_get(pod, "pod")), OUT_PLAIN },
				    { json_str(json_get(pod, "interface")), OUT_PLAIN },
				    { json_str(json_get(pod, "address")), OUT_WARN } },
			    e))
			return -1;
	}
	return 0;
}

static int conflicts_print_reserved(const struct cmd_run *r, const struct json *reserved,
				    struct err *e)
{
	auto_table struct out_table t = { .columns = reserved_columns,
					  .n_columns = ARRAY_SIZE(reserved_columns) };

	json_each (range, reserved) {
		if (add_reserved_rows(&t, range, e))
			return -1;
	}
	if (t.n_rows)
		out_table(&r->out, &t);
	return 0;
}

static int print_numbers(const struct cmd_run *r, const struct json *numbers, struct err *e)
{
	auto_table struct out_table t = { .columns = number_columns,
					  .n_columns = ARRAY_SIZE(number_columns) };

	json_each (n, numbers) {
		char number[16], since[20];

		(void)snprintf(number, sizeof(number), "%.0f", json_num(json_get(n, "number")));
		if (out_row(&t,
			    (struct out_cell[]){ { number, OUT_BAD },
						 { json_text(n, "node"), OUT_PLAIN },
						 { seconds_of(n, since), OUT_FAINT } },
			    e))
			return -1;
	}
	if (t.n_rows)
		out_table(&r->out, &t);
	return 0;
}

/* The store of this node has blocks and pods, but no owners. 1: it has no shared pool, so that no
 * agent is missed. */
static int load_here(struct cmd_run *r, struct json **out, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *o = json_new_object(), *blocks = NULL, *pools = NULL,
			      *reserved = NULL;
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc > 0)
		return ctl_no_store(r, e);
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
	const struct json *blocks = json_get(found, "blocks"), *pools = json_get(found, "pools");
	const struct json *reserved = json_get(found, "reserved");
	const struct json *numbers = json_get(found, "numbers");
	const char *unknown = json_str(json_get(found, "unknown"));
	bool any = json_len(blocks) || json_len(pools) || json_len(reserved) || json_len(numbers);

	if (any)
		r->status = CMD_FAILED;
	if (r->out.json)
		return out_json(&r->out, found, e);
	if (!any)
		out_line(&r->out, OUT_PLAIN, "No conflicts.");
	if (print_blocks(r, blocks, e) || conflicts_print_pools(r, pools, e) ||
	    conflicts_print_reserved(r, reserved, e) || print_numbers(r, numbers, e))
		return -1;
	if (unknown)
		out_line(&r->out, OUT_WARN, "Not all owners are known: %s", unknown);
	return 0;
}

static int conflicts_run(struct cmd_run *r, struct err *e)
{
	auto_json struct json *found = NULL;
	struct err why;
	int rc;

	if (agent_client_call(&r->ctx, &(struct agent_call){ "conflicts", NULL }, WAIT_MS, &found,
			      &why) == 0)
		return conflicts_print(r, found, e);
	rc = load_here(r, &found, e);
	if (rc < 0)
		return -1;
	if (rc == 0 &&
	    (json_len(json_get(found, "blocks")) || json_len(json_get(found, "reserved"))) &&
	    conflicts_print(r, found, e))
		return -1;
	if (rc == 1)
		return conflicts_print(r, found, e);
	*e = why;
	return -1;
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
