/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_nodes.c: `railctl cluster pool show`, and the option --wait of commands that change
 * pools or reserved addresses: which nodes have taken them over.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/parse.h"
#include "railctl/cluster/cluster.h"

/* Each question reads all nodes of the cluster: so the pauses grow. */
#define PAUSE_MS     250
#define PAUSE_MAX_MS 4000
#define WAIT_MAX     86400 /* seconds */

static int pool_nodes_ask(struct cmd_run *r, const char *pool, struct json **answer, struct err *e)
{
	auto_json struct json *args = json_new_object();

	json_free(*answer);
	*answer = NULL;
	if (!args || (pool && json_add_str(args, "pool", pool)))
		return err_nomem(e);
	return agent_client_call(
		&r->ctx, &(struct agent_call){ pool ? "pool-nodes" : "reserved-nodes", args },
		CLUSTER_NODES_WAIT_MS, answer, e);
}

static unsigned pool_nodes_number(const struct json *answer, const char *key)
{
	return (unsigned)json_num(json_get(answer, key));
}

/* ---- print ---- */

static struct out_cell pool_nodes_state_of(const struct json *n)
{
	const char *state = json_str(n);

	return (struct out_cell){ state ? state : "?",
				  state && strcmp(state, "done") == 0 ? OUT_GOOD : OUT_WARN };
}

static const struct list_column columns[] = {
	{ .title = "NODE", 0, "name" },
	{ .title = "STATE", 0, "state", .word = pool_nodes_state_of },
	{ .title = "GENERATION", OUT_RIGHT, "generation" },
	{ .title = "HEARTBEAT", OUT_RIGHT, "heartbeatSeconds", .cell = cluster_age },
	{ .title = "WHY", 0, "why" },
	{ .title = NULL },
};

static void print_counts(const struct cmd_run *r, const struct json *answer)
{
	unsigned waits = pool_nodes_number(answer, "waits"),
		 silent = pool_nodes_number(answer, "silent");

	out_line(&r->out, waits + silent ? OUT_WARN : OUT_GOOD,
		 "pool %s, generation %u: %u nodes have it, %u wait, %u are silent, %u forgotten",
		 json_str(json_get(answer, "name")), pool_nodes_number(answer, "generation"),
		 pool_nodes_number(answer, "done"), waits, silent,
		 pool_nodes_number(answer, "forgotten"));
}

/* ---- show ---- */

static int pool_nodes_show(struct cmd_run *r, struct err *e)
{
	auto_json struct json *answer = NULL;
	auto_free char *definition = NULL;

	if (pool_nodes_ask(r, r->opts.words[0], &answer, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, answer, e);
	definition = json_print(json_get(answer, "definition"), false);
	if (!definition)
		return err_nomem(e);
	print_counts(r, answer);
	out_line(&r->out, OUT_PLAIN, "%s", definition);
	return cluster_print_nodes(r, columns, answer, e);
}

static const char *const show_examples[] = { "railctl cluster pool show rail0", NULL };

const struct cmd cmd_cluster_pool_show = {
	.name = "show",
	.words = "NAME",
	.summary = "show a shared pool, and which nodes have taken over its definition",
	.about = "Each node reports which generation of the pool it uses: \"done\" is the present "
		 "one. A node that waits says why. A \"silent\" node has not reported it, and its "
		 "heartbeat has not moved for three periods. Each call reads all nodes and "
		 "heartbeats of the cluster.",
	.examples = show_examples,
	.min_words = 1,
	.max_words = 1,
	.run = pool_nodes_show,
};

/* ---- wait ---- */

int cluster_wait_option(struct cmd_run *r, unsigned *seconds, struct err *e)
{
	const char *text = opt_get(&r->opts, "wait");
	uint64_t n = 0;

	if (text && parse_u64(text, 1, WAIT_MAX, &n))
		return cmd_usage(r, e, "--wait: \"%.32s\" is not a number of seconds up to %d",
				 text, WAIT_MAX);
	*seconds = (unsigned)n;
	return 0;
}

static void pause_ms(int64_t ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&t, NULL);
}

static void name_nodes(struct cmd_run *r, const char *pool, const struct json *answer)
{
	json_each (n, json_get(answer, "nodes")) {
		const char *state = json_str(json_get(n, "state"));
		const char *why = json_str(json_get(n, "why"));

		if (!state || strcmp(state, "done") == 0 || strcmp(state, "forgotten") == 0)
			continue;
		out_line(&r->out, OUT_WARN, "node %s has not taken over %s%s%s%s",
			 json_str(json_get(n, "name")), pool ? "pool " : "the reserved addresses",
			 pool ? pool : "",
			 why                            ? ": "
			 : strcmp(state, "silent") == 0 ? ": its heartbeat does not move"
							: "",
			 why ? why : "");
	}
}

static int wait_until(struct cmd_run *r, const char *pool, unsigned seconds, struct json **answer,
		      struct err *e)
{
	const int64_t end = ctx_mono_ms() + (int64_t)seconds * 1000;

	for (int64_t wait = PAUSE_MS;; wait = 2 * wait < PAUSE_MAX_MS ? 2 * wait : PAUSE_MAX_MS) {
		if (pool_nodes_ask(r, pool, answer, e))
			return -1;
		int64_t left = end - ctx_mono_ms();

		if (!pool_nodes_number(*answer, "waits") || left <= 0)
			return 0;
		pause_ms(wait < left ? wait : left);
	}
}

int cluster_wait(struct cmd_run *r, const char *pool, struct json *changed, struct err *e)
{
	auto_json struct json *answer = NULL;
	unsigned seconds = 0;

	if (cluster_wait_option(r, &seconds, e))
		return -1;
	if (!seconds)
		return 0;
	if (wait_until(r, pool, seconds, &answer, e))
		return -1;
	if (pool_nodes_number(answer, "waits") || pool_nodes_number(answer, "silent")) {
		if (!r->out.json)
			name_nodes(r, pool, answer);
		r->status = CMD_FAILED;
	} else if (changed && !r->out.json) {
		out_line(&r->out, OUT_GOOD, "All nodes have taken over %s%s: %u.",
			 pool ? "pool " : "the reserved addresses", pool ? pool : "",
			 pool_nodes_number(answer, "done"));
	}
	if (!changed)
		return 0;
	return json_add_copy(changed, "nodes", json_get(answer, "nodes")) ? err_nomem(e) : 0;
}
