/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict_report.c: says which blocks are lost, to which node, and which pods live in them: in the
 * log and by events. It says so once for each block, and again when the agent begins.
 */
#include <stdio.h>
#include <string.h>

#include "lib/sys/timer.h"
#include "railheadd/pools/conflict.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"
#include "railheadd/pools/events.h"

#define NEW_MAX  64 /* blocks that wait for their line; of more, the number is said */
#define SAY_MAX  16 /* lines of one report */
#define PODS_MAX 8  /* of one line */
/* A restored store brings many at once: one report has all. */
#define WAIT_MS 200

struct lost {
	struct block_key keys[NEW_MAX];
	size_t n, more;
};

struct conflict_report {
	struct driver *driver;
	struct timer *timer;
	struct ask *ask;
	struct lost fresh; /* since the ask that runs began: it may not have them */
	struct lost asked;
	bool all; /* the agent has begun: say all */
};

static bool is_fresh(const struct conflict_report *c, const char *pool, const char *first)
{
	struct ip start;

	if (c->all)
		return true;
	if (ip_parse(first, &start))
		return false;
	for (size_t i = 0; i < c->asked.n; i++) {
		const struct block_key *k = &c->asked.keys[i];

		if (ip_equal(block_key_ip(k), start) && strcmp(k->pool, pool) == 0)
			return true;
	}
	return false;
}

/* ---- one line ---- */

/* Of one address that another node lent to this one. */
static bool is_loan(const struct json *block)
{
	return json_get(block, "block") != NULL;
}

/* "address 10.1.0.5" of a loan, or "block from 10.1.0.0 to 10.1.0.7". */
static const char *conflict_report_name_of(const struct json *block, char out[160])
{
	const char *first = json_text_or(block, "first", "?");

	if (is_loan(block))
		(void)snprintf(out, 160, "address %.45s", first);
	else
		(void)snprintf(out, 160, "block from %.45s to %.45s", first,
			       json_text_or(block, "last", "?"));
	return out;
}

/* "; pods that live in it: ns/p1 (net1 10.1.0.5), ..." */
static void list_pods(const struct json *block, char *out, size_t size)
{
	const char *intro = is_loan(block) ? "; pods that have it: " : "; pods that live in it: ";
	double left = json_num(json_get(block, "podCount"));
	size_t len = 0, n = 0;

	*out = '\0';
	json_each (p, json_get(block, "pods")) {
		if (n == PODS_MAX || len >= size)
			break;
		len += (size_t)snprintf(
			out + len, size - len, "%s%.63s/%.100s (%.15s %s)", n ? ", " : intro,
			json_text_or(p, "namespace", "?"), json_text_or(p, "pod", "?"),
			json_text_or(p, "interface", "?"), json_text_or(p, "address", "?"));
		n++;
		left--;
	}
	if (left > 0 && len < size)
		(void)snprintf(out + len, size - len, " and %.0f more", left);
}

static void tell_pod(struct events *v, const struct json *block, const struct json *p,
		     const char *node)
{
	const char *ns = json_str(json_get(p, "namespace")), *pod = json_str(json_get(p, "pod"));
	const char *uid = json_str(json_get(p, "uid"));
	const struct event_about about = {
		EVENT_ADDRESS_CONFLICT,          ns ? ns : "", pod ? pod : "", uid ? uid : "",
		json_text_or(p, "address", "?"), false
	};

	if (!ns || !pod)
		return;
	(void)events_tell(
		v, &about,
		"Another pod may have the address %s of interface %s, too: the cluster store "
		"gives %s of shared pool %s to %s%s. Delete this pod: a new one gets "
		"another address.",
		about.key, json_text_or(p, "interface", "?"), is_loan(block) ? "it" : "its block",
		json_text_or(block, "pool", "?"), node ? "node " : "another node",
		node ? node : "");
}

/* About the node first: there may be more pods than events at once. */
static void tell_people(struct events *v, const struct json *block, const char *node)
{
	const struct event_about about = {
		EVENT_BLOCK_LOST, "", "", "", json_text_or(block, "first", "?"), false
	};
	char name[160], used[96] = "A pod of this node has it, too";

	if (!is_loan(block))
		(void)snprintf(used, sizeof(used),
			       "%.0f addresses of it are in use on this node, and nothing more of "
			       "it is assigned",
			       json_num(json_get(block, "podCount")));
	(void)events_tell(
		v, &about,
		"The %s of shared pool %s is lost: %s%s has it. %s. `railctl ipam conflicts` "
		"lists the pods.",
		conflict_report_name_of(block, name), json_text_or(block, "pool", "?"),
		node ? "node " : "", node ? node : "another node", used);
	json_each (p, json_get(block, "pods"))
		tell_pod(v, block, p, node);
}

static void conflict_report_say(const struct conflict_report *c, const struct json *block)
{
	const struct json *owner = json_get(block, "owner");
	const char *node = json_str(owner);
	char pods[2048], name[160];

	tell_people(c->driver->events, block, node);
	list_pods(block, pods, sizeof(pods));
	pools_note_lost(c->driver, json_text_or(block, "pool", "?"), node,
			conflict_report_name_of(block, name), pods);
	log_error(&c->driver->conf.ctx->log,
		  "shared pool %s: the %s is lost: %s%s has it; nothing more of it is assigned%s",
		  json_text_or(block, "pool", "?"), name, node ? "node " : "",
		  node ? node : (owner ? "no node" : "another node"), pods);
}

static void pools_report(void *arg, const struct json *conflicts, const struct err *why)
{
	struct conflict_report *c = arg;
	size_t said = 0, more = c->asked.more;

	(void)why;
	c->ask = NULL;
	json_each (b, json_get(conflicts, "blocks")) {
		if (strcmp(json_text_or(b, "state", "?"), "lost") != 0 ||
		    !is_fresh(c, json_text_or(b, "pool", "?"), json_text_or(b, "first", "?")))
			continue;
		if (said++ < SAY_MAX)
			conflict_report_say(c, b);
		else
			more++;
	}
	if (more)
		log_error(&c->driver->conf.ctx->log,
			  "%zu more blocks are lost: `railctl ipam conflicts` lists them", more);
	c->all = false;
}

/* ---- when ---- */

static void conflict_report_arm(struct conflict_report *c)
{
	if (timer_left(c->timer) < 0)
		(void)timer_arm(c->timer, WAIT_MS);
}

static void conflict_report_due(void *arg)
{
	struct conflict_report *c = arg;
	const struct ask_end end = { pools_report, c };
	struct err e;

	if (c->ask) {
		conflict_report_arm(c);
		return;
	}
	if (!c->fresh.n && !agent_conflicts(c->driver->agent))
		return;
	c->ask = conflict_ask_begin(c->driver, &end, &e);
	if (!c->ask) {
		log_error(&c->driver->conf.ctx->log, "%s", e.msg);
		return;
	}
	c->asked = c->fresh;
	c->fresh = (struct lost){ .n = 0 };
}

void conflict_report_block(struct conflict_report *c, const struct block_record *r)
{
	if (!c || r->state != BLOCK_LOST)
		return;
	if (c->fresh.n < NEW_MAX)
		c->fresh.keys[c->fresh.n++] = r->key;
	else
		c->fresh.more++;
	conflict_report_arm(c);
}

int conflict_report_new(struct driver *d, struct conflict_report **out, struct err *e)
{
	struct conflict_report *c = calloc(1, sizeof(*c));

	if (!c || !(c->timer = timer_new(d->conf.base, conflict_report_due, c))) {
		free(c);
		return err_nomem(e);
	}
	c->driver = d;
	c->all = true;
	conflict_report_arm(c);
	*out = c;
	return 0;
}

/* Its ask ends with the driver's other asks. */
void conflict_report_free(struct conflict_report *c)
{
	if (!c)
		return;
	timer_free(c->timer);
	free(c);
}
