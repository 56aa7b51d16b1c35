/* SPDX-License-Identifier: Apache-2.0 */
/* partitions.c: `railctl rdma partitions`: show, retry, forget. */
#include <stdio.h>
#include <string.h>

#include "fabric/message.h"
#include "fabric/sm.h"
#include "lib/cli/list.h"
#include "railctl/device/rdma.h"

#define RETRY_MS 60000

/* ---- what the commands share ---- */

static const char *membership_name(const struct sm_entry *x)
{
	return x->member.pkey & PKEY_FULL_MEMBER ? "full" : "limited";
}

/* The pod, or the container where it is not known. Returns out. */
static const char *owner_text(const struct sm_entry *x, char *out, size_t size)
{
	const struct sm_who *who = &x->member.who;

	if (who->pod_namespace && who->pod_name)
		(void)snprintf(out, size, "%s/%s", who->pod_namespace, who->pod_name);
	else
		(void)snprintf(out, size, "%s", who->container);
	return out;
}

static struct json *entry_json(struct json *array, const struct sm_entry *x)
{
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN], since[OUT_TIME_LEN], tried[OUT_TIME_LEN];
	struct json *o = json_push_object(array);

	return !o || json_add_str(o, "pkey", pkey_format(x->member.pkey, pkey)) ||
			       json_add_str(o, "membership", membership_name(x)) ||
			       json_add_str(o, "guid", guid_format(x->member.guid, guid)) ||
			       json_add_str(o, "state", x->leaving ? "leaving" : "member") ||
			       json_add_str(o, "since", out_time(x->since, since)) ||
			       json_encode(o, sm_who_fields, &x->member.who) ||
			       json_add_int(o, "tries", x->tries) ||
			       json_add_str(o, "tried", x->tried ? out_time(x->tried, tried) : NULL)
		       ? NULL
		       : o;
}

struct view {
	struct cmd_run *run;
	struct json *array; /* NULL: for people */
	struct err *e;
	int rc;
};

/* ---- show ---- */

static int partitions_show_entry(const struct sm_entry *x, void *arg)
{
	struct view *v = arg;
	struct json *o = entry_json(v->array, x);

	return v->rc = !o || json_add_known(o, "error", x->error) ? err_nomem(v->e) : 0;
}

static struct out_cell show_pod(const struct cmd_run *r, const struct json *o,
				char buf[LIST_TEXT_LEN])
{
	const char *ns = json_text(o, "podNamespace"), *pod = json_text(o, "podName");
	bool known = *ns && *pod;

	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%s%s%s", known ? ns : "", known ? "/" : "",
		       known ? pod : json_text(o, "container"));
	return (struct out_cell){ buf, OUT_PLAIN };
}

static struct out_cell show_state(const struct json *n)
{
	const char *state = json_str(n);

	return (struct out_cell){ state,
				  state && strcmp(state, "member") == 0 ? OUT_GOOD : OUT_WARN };
}

static int show_run(struct cmd_run *r, struct err *e)
{
	static const struct list_column columns[] = {
		{ .title = "PKEY", 0, "pkey" },
		{ .title = "MEMBERSHIP", OUT_SPARE, "membership" },
		{ .title = "GUID", 0, "guid" },
		{ .title = "STATE", 0, "state", .word = show_state },
		{ .title = "POD", OUT_SHRINK, .cell = show_pod },
		{ .title = "IFNAME", 0, "ifname" },
		{ .title = "AGE", OUT_RIGHT, "since", .cell = list_age },
		{ .title = "TRIES", OUT_RIGHT, "tries" },
		{ .title = "ERROR", OUT_SHRINK, "error" },
		{ .title = NULL },
	};
	auto_json struct json *array = json_new_array();
	struct view v = { .run = r, .array = array, .e = e };

	if (!array)
		return err_nomem(e);
	if (sm_each(&r->ctx, partitions_show_entry, &v, e) || v.rc)
		return -1;
	if (r->out.json)
		return out_json(&r->out, array, e);
	if (json_len(array))
		return list_print(r, columns, array, e);
	out_none(&r->out, "No pod of this node has a partition of its own", r->ctx.state_dir, NULL);
	return 0;
}

static const char *const show_examples[] = { "railctl rdma partitions show",
					     "railctl rdma partitions show --json", NULL };

static const struct cmd show_cmd = {
	.name = "show",
	.summary = "list the memberships that hooks asked the subnet manager for",
	.about = "A membership in state member belongs to a pod of this node. One in state leaving "
		 "has no pod: its removal failed, and is repeated. The list is of this node alone; "
		 "only the subnet manager knows what the fabric has.",
	.examples = show_examples,
	.run = show_run,
};

/* ---- retry ---- */

static void tell_result(const struct sm_entry *x, const struct err *why, void *arg)
{
	struct view *v = arg;
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN], line[OUT_ERROR_LEN], owner[1088];

	if (why)
		v->run->status = CMD_FAILED;
	if (v->array) {
		struct json *o = entry_json(v->array, x);

		if (!o || json_add_str(o, "action", why ? "failed" : "removed") ||
		    json_add_str(o, "error", why ? out_error(why, line) : NULL))
			v->rc = err_nomem(v->e);
		return;
	}
	out_line(&v->run->out, why ? OUT_BAD : OUT_GOOD, "%s %s, partition %s, of %s%s%s",
		 why ? "not removed:" : "removed", guid_format(x->member.guid, guid),
		 pkey_format(x->member.pkey, pkey), owner_text(x, owner, sizeof(owner)),
		 why ? ": " : "", why ? out_error(why, line) : "");
	(void)fflush(v->run->out.to);
}

static int count_leaving(const struct sm_entry *x, void *arg)
{
	size_t *n = arg;

	*n += x->leaving;
	return 0;
}

static int retry_run(struct cmd_run *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	struct view v = { .run = r, .array = array, .e = e };
	const struct sm_budget budget = { .budget_ms = RETRY_MS };
	size_t before = 0, after = 0;

	if (r->out.json && !array)
		return err_nomem(e);
	if (sm_each(&r->ctx, count_leaving, &before, e) ||
	    sm_retry(&r->ctx, budget, tell_result, &v, e) || v.rc ||
	    sm_each(&r->ctx, count_leaving, &after, e))
		return -1;
	if (after)
		r->status = CMD_FAILED;
	if (array)
		return out_json(&r->out, array, e);
	if (!before)
		out_line(&r->out, OUT_PLAIN, "No removal is queued.");
	else if (after)
		out_line(&r->out, OUT_WARN, "%zu left: railctl rdma partitions show", after);
	return 0;
}

static const char *const retry_examples[] = { "railctl rdma partitions retry", NULL };

static const struct cmd retry_cmd = {
	.name = "retry",
	.summary = "call the hooks now for the removals that failed",
	.about = "The next call of a plugin, and the node agent each minute, do the same. It takes "
		 "a "
		 "minute at most. Exit status 1: a removal is still queued.",
	.examples = retry_examples,
	.run = retry_run,
};

/* ---- forget ---- */

static int forget_run(struct cmd_run *r, struct err *e)
{
	char text[PKEY_STR_LEN], name[GUID_STR_LEN];
	uint16_t pkey;
	struct guid guid;

	if (pkey_parse(r->opts.words[0], &pkey))
		return cmd_usage(r, e, "\"%.64s\" is not a partition key", r->opts.words[0]);
	if (guid_parse(r->opts.words[1], &guid))
		return cmd_usage(r, e, "\"%.64s\" is not a GUID", r->opts.words[1]);
	if (sm_forget(&r->ctx, pkey, guid, e))
		return -1;
	if (r->out.json) {
		auto_json struct json *array = json_new_array();
		struct json *o = array ? json_push_object(array) : NULL;

		if (!o || json_add_str(o, "pkey", pkey_format(pkey, text)) ||
		    json_add_str(o, "guid", guid_format(guid, name)) ||
		    json_add_str(o, "action", "forgotten"))
			return err_nomem(e);
		return out_json(&r->out, array, e);
	}
	out_line(&r->out, OUT_GOOD, "%s, partition %s: forgotten.", guid_format(guid, name),
		 pkey_format(pkey, text));
	return 0;
}

static const char *const forget_examples[] = {
	"railctl rdma partitions forget 0x8001 02:00:00:00:00:00:0a:01", NULL
};

static const struct cmd forget_cmd = {
	.name = "forget",
	.words = "PKEY GUID",
	.summary = "drop a queued removal without calling a hook",
	.about = "For a fabric or a subnet manager that does not exist any more. Remove the "
		 "membership yourself if it does. A membership of a pod is never dropped.",
	.examples = forget_examples,
	.min_words = 2,
	.max_words = 2,
	.run = forget_run,
};

static const struct cmd *const commands[] = { &show_cmd, &retry_cmd, &forget_cmd, NULL };

const struct cmd rdma_partitions_cmd = {
	.name = "partitions",
	.summary = "InfiniBand partitions of pods, and removals that wait for the subnet manager",
	.sub = commands,
};
