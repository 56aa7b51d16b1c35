/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: `railctl cluster report`: the whole cluster as one HTML page. */
#include <stdlib.h>
#include <string.h>

#include "fabric/page.h"
#include "railctl/cluster/fabric.h"

#define ANSWERS_MAX ((size_t)32 << 20) /* bytes */
#define JOB_MAX     ((size_t)8 << 20)  /* bytes */

/* The answers of the agent, and the page, which borrows its texts from them. */
struct report {
	struct cluster_cables cables;
	struct findings findings;
	struct json *status, *nodes, *pools, *job; /* owned, as are the others */
	char *answers;
	struct page_pool *pool;
	struct page page;
};

static void report_clear(struct report *x)
{
	page_clear(&x->page);
	cluster_cables_clear(&x->cables);
	findings_clear(&x->findings);
	json_free(x->status);
	json_free(x->nodes);
	json_free(x->pools);
	json_free(x->job);
	free(x->answers);
	free(x->pool);
}

/* ---- nodes ---- */

static int add_stored(struct report *x, struct err *e)
{
	struct page_node *n;

	json_each (node, x->cables.nodes) {
		if (page_node(&x->page, json_text(node, "name"), &n, e))
			return -1;
		n->stored = true;
	}
	for (size_t i = 0; i < x->cables.n; i++) {
		if (page_node(&x->page, x->cables.node[i].name, &n, e))
			return -1;
		n->cables = &x->cables.node[i];
	}
	return 0;
}

static int add_heartbeats(struct report *x, struct err *e)
{
	json_each (node, json_get(x->nodes, "nodes")) {
		const struct json *beat = json_get(node, "heartbeat");
		struct page_node *n;

		if (page_node(&x->page, json_text(node, "name"), &n, e))
			return -1;
		n->silent = beat ? (int64_t)json_num(json_get(beat, "seconds")) : -1;
		n->twin = json_true(json_get(beat, "twin"));
		n->forgotten = json_true(json_get(node, "forgotten"));
		if (!n->version)
			n->version = json_str(json_get(node, "version"));
	}
	return 0;
}

/* They are in the order of the nodes, except those of leaves, which are few. */
static int add_findings(struct report *x, struct err *e)
{
	const struct fabric_node *n = x->cables.node, *end = n + x->cables.n;

	for (size_t i = 0; i < x->findings.n; i++) {
		const struct finding *f = &x->findings.item[i];
		const struct page_found found = { f->state, f->code,   f->subject,
						  f->value, f->reason, f->remedy };
		const struct fabric_node *of = n;
		struct page_node *node = NULL;

		while (of < end && !cluster_is_about(f, of->name))
			of++;
		n = of < end ? of : n;
		if (of < end && page_node(&x->page, of->name, &node, e))
			return -1;
		/* A node that has answered says more about its degraded rails. */
		if (node && node->state && strcmp(f->code, "degraded") == 0)
			continue;
		if (page_add_finding(&x->page, of < end ? of->name : "", &found, e))
			return -1;
	}
	return 0;
}

static int number_groups(struct report *x, struct err *e)
{
	auto_json struct json *labels = json_new_object();

	for (size_t i = 0; labels && i < x->page.n; i++)
		if (x->page.node[i].label &&
		    json_add_str(labels, x->page.node[i].name, x->page.node[i].label))
			return err_nomem(e);
	return labels ? cluster_cables_number(&x->cables, labels, x->pools, e) : err_nomem(e);
}

/* ---- pools ---- */

static int read_pools(struct report *x, size_t *n, struct err *e)
{
	const struct json *list = json_get(x->pools, "pools");

	x->pool = calloc(json_len(list) + 1, sizeof(*x->pool));
	if (!x->pool)
		return err_nomem(e);
	json_each (p, list)
		x->pool[(*n)++] = (struct page_pool){
			.name = json_text(p, "name"),
			.subnet = json_text(json_get(p, "definition"), "subnet"),
			.state = cluster_pool_state(p).text,
			.addresses = json_num(json_get(p, "addresses")),
			.in_blocks = json_num(json_get(p, "inBlocks")),
			.nodes = json_num(json_get(p, "nodes")),
		};
	return 0;
}

/* ---- the command ---- */

static int ask(const struct cmd_run *r, struct report *x, struct err *e)
{
	return agent_client_call(&r->ctx, &(struct agent_call){ "status", NULL }, CLUSTER_WAIT_MS,
				 &x->status, e) ||
			       cluster_cables_read(r, &x->cables, e) ||
			       agent_client_call(&r->ctx, &(struct agent_call){ "nodes", NULL },
						 CLUSTER_NODES_WAIT_MS, &x->nodes, e) ||
			       agent_client_pools(&r->ctx, &x->pools, e)
		       ? -1
		       : 0;
}

static int put_report(const struct cmd_run *r, struct report *x, struct err *e)
{
	char when[OUT_TIME_LEN];
	struct page_facts facts = {
		.page = &x->page,
		.groups = &x->cables.groups,
		.number = x->cables.number,
		.when = out_time(r->ctx.now(r->ctx.clock), when),
		.store = json_text_or(x->status, "store", "?"),
		.node = json_text_or(x->status, "node", "?"),
		.asked = x->answers != NULL,
		.more = (size_t)json_num(json_get(x->nodes, "more")),
		.job = x->job,
	};
	auto_free char *text = NULL;
	size_t len;

	if (read_pools(x, &facts.n_pools, e))
		return -1;
	facts.pool = x->pool;
	if (page_draw(&facts, &text, &len, e))
		return -1;
	/* The end of each command looks for an error of the output. */
	(void)fwrite(text, 1, len, r->out.to);
	return 0;
}

static int read_job(const struct cmd_run *r, struct report *x, struct err *e)
{
	const struct cmd_input in = { opt_get(&r->opts, "job"), "--job: ", JOB_MAX };

	return in.path ? cmd_read_json(&in, "the test of a job", &x->job, e) : 0;
}

static int run_report(struct cmd_run *r, struct err *e)
{
	auto_clean(report_clear) struct report x = { .answers = NULL };
	const struct cmd_input in = { r->opts.n_words ? r->opts.words[0] : NULL, "", ANSWERS_MAX };
	size_t len;

	if (r->out.json)
		return cmd_usage(r, e, "report has no --json: railctl cluster fabric has it");
	if (in.path && cmd_read(&in, &x.answers, &len, e))
		return -1;
	return ask(r, &x, e) || add_stored(&x, e) || page_read(&x.page, x.answers, e) ||
			       add_heartbeats(&x, e) ||
			       cluster_cables_check(r, &x.cables, &x.findings, e) ||
			       add_findings(&x, e) || number_groups(&x, e) || read_job(r, &x, e) ||
			       page_compare(&x.page, e) || put_report(r, &x, e)
		       ? -1
		       : 0;
}

static const struct opt report_opts[] = {
	CLUSTER_OPT_TOPOLOGY,
	CLUSTER_OPT_IBNETDISCOVER,
	{ "job", "FILE", "also show this result of `rdma-probe job --json`", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = { "railctl cluster report >cluster.html",
					"railctl cluster report answers.txt >cluster.html", NULL };

const struct cmd cmd_cluster_report = {
	.name = "report",
	.words = "[FILE]",
	.summary = "print the whole cluster as one HTML page, without scripts and links",
	.about = "It has nodes and groups by rails, pools, agents, findings and what to do, and "
		 "says what was not looked at. Up to 256 nodes have a row each, of more only the "
		 "outliers. The page has at most 2 MB. FILE has what the nodes answered: lines "
		 "\"node=NAME\", and below each what \"railctl status --fields\" printed there, or "
		 "\"why=TEXT\" if it gave no answer; \"-\" is standard input. `kubectl rail "
		 "report` does that. Without FILE the page has what the cluster store has.",
	.opts = { report_opts },
	.examples = examples,
	.max_words = 1,
	.run = run_report,
};
