/* SPDX-License-Identifier: Apache-2.0 */
/* repairer_status.c: the repairer's counters and what waits, for people and programs. */
#include "railheadd/watch/repairer_priv.h"

#define SHOWN_MAX 50 /* of each list */

void repairer_counts(const struct repairer *r, struct repairer_counts *out)
{
	*out = r->counts;
	out->left = waiting_count(&r->waiting, LEFTOVER_ALONE);
	out->waiting = r->waiting.n - out->left;
}

static int add_kinds(struct json *obj, const char *key, const uint64_t n[LEFTOVER_KINDS])
{
	struct json *o = json_add_object(obj, key);

	for (int i = 0; i < LEFTOVER_KINDS; i++) {
		if (!o || json_add_int(o, leftover_kind_name((enum leftover_kind)i), (int64_t)n[i]))
			return -1;
	}
	return 0;
}

static int repairer_status_add_item(struct json *list, const struct waiting_item *x, int64_t now)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "kind", leftover_kind_name(x->kind)) ||
			       json_add_str(o, "what", x->what) ||
			       json_add_known(o, "pod", x->pod) ||
			       json_add_str(o, "state", x->state) ||
			       json_add_str(o, "why", x->why) ||
			       json_add_bool(o, "failed", x->outcome == LEFTOVER_FAILED) ||
			       json_add_int(o, "seconds", (now - x->since) / 1000)
		       ? -1
		       : 0;
}

static int add_items(const struct repairer *r, struct json *obj, const char *key, bool left)
{
	struct json *list = json_add_array(obj, key);
	int64_t now = ctx_mono_ms();
	size_t shown = 0;

	if (!list)
		return -1;
	for (size_t i = 0; i < r->waiting.n && shown < SHOWN_MAX; i++) {
		const struct waiting_item *x = &r->waiting.items[i];

		if ((x->outcome == LEFTOVER_ALONE) != left)
			continue;
		shown++;
		if (repairer_status_add_item(list, x, now))
			return -1;
	}
	return 0;
}

static int watch_add_status(const struct repairer *r, struct json *o)
{
	int64_t ago = (ctx_mono_ms() - r->ended) / 1000;
	struct repairer_counts c;

	repairer_counts(r, &c);
	return json_add_int(o, "every", r->conf.every / 1000) ||
			       json_add_int(o, "grace", r->conf.grace / 1000) ||
			       json_add_bool(o, "running", child_runs(r->child)) ||
			       json_add_int(o, "passes", (int64_t)c.passes) ||
			       json_add_int(o, "cutOff", (int64_t)c.cut_off) ||
			       (r->ended && json_add_int(o, "lastSeconds", ago)) ||
			       add_kinds(o, "repaired", c.repaired) ||
			       add_kinds(o, "failed", c.failed) ||
			       json_add_int(o, "waitingCount", (int64_t)c.waiting) ||
			       add_items(r, o, "waiting", false) ||
			       json_add_int(o, "leftCount", (int64_t)c.left) ||
			       add_items(r, o, "left", true)
		       ? -1
		       : 0;
}

int repairer_status(const struct repairer *r, struct json *obj, struct err *e)
{
	struct json *o;

	if (!r)
		return json_add_bool(obj, "repair", false) ? err_nomem(e) : 0;
	o = json_add_object(obj, "repair");
	return o && watch_add_status(r, o) == 0 ? 0 : err_nomem(e);
}
