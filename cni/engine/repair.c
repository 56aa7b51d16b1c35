/* SPDX-License-Identifier: Apache-2.0 */
/* repair.c: judges whether an attachment is stale, and repairs it. */
#include "cni/engine/repair.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cni/engine/attach_priv.h"
#include "lib/base/text.h"

#define LOCK_MS 10000

static const char *const state_names[] = {
	[REPAIR_HEALTHY] = "healthy",
	[REPAIR_BUSY] = "busy",
	[REPAIR_UNKNOWN] = "unknown",
	[REPAIR_GONE] = "gone",
	[REPAIR_PARTLY_GONE] = "partly-gone",
	[REPAIR_EARLIER_BOOT] = "earlier-boot",
	[REPAIR_NETNS_GONE] = "netns-gone",
	[REPAIR_NETNS_REPLACED] = "netns-replaced",
	[REPAIR_LINK_GONE] = "interface-gone",
	[REPAIR_LINK_REPLACED] = "interface-replaced",
	[REPAIR_LINK_RENAMED] = "interface-renamed",
	[REPAIR_NETNS_MOVED] = "netns-moved",
	[REPAIR_NETNS_UNKNOWN] = "netns-unknown",
	[REPAIR_UNFINISHED] = "unfinished",
	[REPAIR_DAMAGED] = "damaged",
};

const char *repair_state_name(enum repair_state s)
{
	return state_names[s];
}

bool repair_is_stale(enum repair_state s)
{
	return s >= REPAIR_EARLIER_BOOT;
}

bool repair_needs_force(enum repair_state s)
{
	return s >= REPAIR_LINK_RENAMED && s < REPAIR_EARLIER_BOOT;
}

static int set_state(struct repair_view *v, enum repair_state s, const char *fmt, ...)
	printf_like(3, 4);
static int set_state(struct repair_view *v, enum repair_state s, const char *fmt, ...)
{
	va_list ap;

	v->state = s;
	va_start(ap, fmt);
	(void)vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
	return 0;
}

/* ---- looking ---- */

static int judge_link(const struct record *r, enum attach_found found, const struct link_info *link,
		      struct repair_view *v)
{
	switch (found) {
	case FOUND_OURS:
		return set_state(v, REPAIR_HEALTHY, "%s", "");
	case FOUND_RENAMED:
		return set_state(v, REPAIR_LINK_RENAMED, "%s in %.200s has the name %s now",
				 r->key.ifname, r->netns, link->name);
	case FOUND_NONE:
		return set_state(v, REPAIR_LINK_GONE, "no interface %s in %.200s any more",
				 r->key.ifname, r->netns);
	case FOUND_OTHER:
		break;
	}
	if (*r->kind && strcmp(link->kind, r->kind) != 0)
		return set_state(v, REPAIR_LINK_REPLACED,
				 "%s in %.200s is %s now, not the %s of ADD", r->key.ifname,
				 r->netns, *link->kind ? link->kind : "a device", r->kind);
	return set_state(v, REPAIR_LINK_REPLACED,
			 "%s in %.200s is another interface than that of ADD", r->key.ifname,
			 r->netns);
}

static bool is_half_done(const struct record *r)
{
	return r->adding || r->deleting;
}

/* The interfaces of one record, as they are now. */
struct parts_view {
	struct repair_view lost, renamed; /* the first one that is so */
	size_t n_lost, n_renamed;
	struct text names; /* the lost ones */
};

static void parts_view_clear(struct parts_view *p)
{
	text_clear(&p->names);
}

static int repair_add_part(struct parts_view *p, const struct record *part, enum attach_found found,
			   const struct link_info *link)
{
	struct repair_view v;

	if (judge_link(part, found, link, &v))
		return -1;
	if (v.state == REPAIR_LINK_RENAMED && p->n_renamed++ == 0)
		p->renamed = v;
	if (v.state != REPAIR_LINK_GONE && v.state != REPAIR_LINK_REPLACED)
		return 0;
	if (p->n_lost++ == 0)
		p->lost = v;
	text_addf(&p->names, "%s%s", p->n_lost > 1 ? ", " : "", part->key.ifname);
	return 0;
}

/*
 * An attachment has ended only with all its interfaces: one DEL takes them all, and its pod uses
 * those that are there. A lost one is reported, for its address is leased until then.
 */
static int judge_parts(const struct record *r, struct parts_view *p, struct repair_view *v,
		       struct err *e)
{
	const size_t n = record_parts(r);

	if (p->names.failed)
		return err_nomem(e);
	*v = p->n_lost ? p->lost : p->renamed;
	if (!p->n_lost && !p->n_renamed)
		return set_state(v, REPAIR_HEALTHY, "%s", "");
	if (p->n_lost && p->n_lost < n)
		return set_state(v, REPAIR_PARTLY_GONE,
				 "%zu of its %zu interfaces in %.160s %s lost: %.240s", p->n_lost,
				 n, r->netns, p->n_lost > 1 ? "are" : "is", p->names.s);
	if (p->n_lost > 1)
		return set_state(v, v->state, "all its %zu interfaces in %.160s are lost: %.240s",
				 n, r->netns, p->names.s);
	return 0;
}

static int repair_look_at_link(const struct record *r, const struct netns *pod,
			       struct repair_view *v, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_clean(parts_view_clear) struct parts_view p = { .n_lost = 0 };
	auto_nl struct nl *nl = NULL;
	enum attach_found found;
	struct link_info link;
	struct record part;

	if (is_half_done(r))
		return set_state(v, REPAIR_UNFINISHED, "its %s did not complete",
				 r->deleting ? "removal" : "ADD");
	if (netns_open_self(&host, e) || nl_open_in(pod, &host, &nl, e))
		return -1;
	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, &part);
		if (attach_find_link(nl, &part, &link, &found, e) ||
		    repair_add_part(&p, &part, found, &link))
			return -1;
	}
	return judge_parts(r, &p, v, e);
}

/* Checks whether the path of a namespace that is gone leads to another one now. */
static bool is_replaced(const struct record *r)
{
	auto_netns struct netns other = { .fd = -1 };
	struct err ignored;

	return netns_open(r->netns, &other, &ignored) == 0;
}

static int look_at_netns(const struct ctx *ctx, const struct record *r, struct repair_view *v,
			 struct err *e)
{
	const struct netns_on_record what = record_netns(r);
	auto_netns struct netns pod = { .fd = -1 };
	char holder[NETNS_HOLDER_LEN];
	struct err why;
	int rc = netns_locate(ctx, &what, &pod, holder, &why);

	if (rc < 0)
		return set_state(v, REPAIR_NETNS_UNKNOWN, "%.260s%s%.200s", why.msg,
				 *why.detail ? ": " : "", why.detail);
	if (rc == 0 && is_replaced(r))
		return set_state(v, REPAIR_NETNS_REPLACED,
				 "%.200s is another network namespace now", r->netns);
	if (rc == 0)
		return set_state(v, REPAIR_NETNS_GONE, "network namespace %.240s is gone",
				 r->netns);
	if (*holder && !is_half_done(r))
		return set_state(
			v, REPAIR_NETNS_MOVED,
			"%.160s does not lead to its network namespace any more, but %.100s has it",
			r->netns, holder);
	return repair_look_at_link(r, &pod, v, e);
}

/* Without regard to who is at work on it. */
static int engine_repair_examine(const struct ctx *ctx, const struct record *r,
				 struct repair_view *v, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct err why;

	/* The file describes another attachment. */
	if (r->name_mismatch && record_refuse_mismatch(ctx, r, &why))
		return set_state(v, REPAIR_UNKNOWN, "%.300s", why.msg);
	if (!r->tree)
		return set_state(v, REPAIR_DAMAGED, "the record cannot be read");
	if (ctx_boot_id(ctx, boot, e))
		return -1;
	if (strcmp(boot, r->boot) != 0)
		return set_state(v, REPAIR_EARLIER_BOOT, "made before the last reboot");
	return look_at_netns(ctx, r, v, e);
}

/*
 * Read the record once more and look at it; the caller holds its lock. r keeps what was read, with
 * the caller's key when that is all there is.
 */
static int examine_locked(const struct ctx *ctx, const struct record_key *key, struct record *r,
			  struct repair_view *v, struct err *e)
{
	struct err why;

	if (record_read(ctx, key, r, &why)) {
		if (why.code == ERR_NOTFOUND)
			return set_state(v, REPAIR_GONE, "removed meanwhile");
		if (!record_is_damaged(&why))
			return err_pass(e, &why);
		*r = (struct record){ .key = *key, .name_mismatch = why.code == ERR_STATE };
		if (r->name_mismatch)
			return engine_repair_examine(ctx, r, v, e);
		return set_state(v, REPAIR_DAMAGED, "%.300s", why.msg);
	}
	return engine_repair_examine(ctx, r, v, e);
}

int repair_examine(const struct ctx *ctx, const struct record *r, struct repair_view *out,
		   struct err *e)
{
	auto_record struct record again = { 0 };
	struct repair_view v;
	struct err why;

	if (engine_repair_examine(ctx, r, &v, e))
		return -1;
	if (repair_is_stale(v.state) || repair_needs_force(v.state)) {
		auto_fd int lock = record_lock(ctx, &r->key, false, 0, &why);
		if (lock < 0 && why.code == ERR_AGAIN)
			(void)set_state(&v, REPAIR_BUSY, "an ADD, DEL or GC is at work on it");
		else if (lock >= 0 && examine_locked(ctx, &r->key, &again, &v, e))
			return -1;
	}
	*out = v;
	return 0;
}

/* ---- undoing ---- */

const char *repair_ipam_type(const struct record *r)
{
	const char *type = json_str(json_get(json_get(r->config, "ipam"), "type"));

	return type ? type : "";
}

/* By force also when the namespace cannot be found: what is in it stays there. */
static int undo_record(const struct ctx *ctx, const struct record *r, const struct repair_opts *how,
		       enum repair_state state, struct err *e)
{
	/* As the runtime would call it, except for the namespace, which may be gone. */
	const struct delegate_call del = {
		.cmd = CNI_DEL,
		.container = r->key.container,
		.ifname = r->key.ifname,
		.netns = "",
		.args = r->args,
		.path = r->cni_path,
	};
	const struct cni_call call = { .ctx = *ctx };
	bool blind = state == REPAIR_NETNS_UNKNOWN;

	if (r->tree && attach_restore(ctx, r, how->others, e) && !blind)
		return -1;
	if (r->tree && attach_release(&call, r, &del, true, e))
		return -1;
	return record_remove(ctx, &r->key, e);
}

int repair_one(const struct ctx *ctx, const struct record_key *key, const struct repair_opts *how,
	       struct repair_view *out, struct err *e)
{
	auto_record struct record r = { 0 };
	struct err why;
	auto_fd int lock = record_lock(ctx, key, false, LOCK_MS, &why);

	*out = (struct repair_view){ .state = REPAIR_BUSY };
	if (lock < 0 && why.code == ERR_AGAIN)
		return set_state(out, REPAIR_BUSY, "an ADD, DEL or GC is at work on it");
	if (lock < 0)
		return err_pass(e, &why);
	if (examine_locked(ctx, key, &r, out, e))
		return -1;
	if (how->mark && record_mark(&r) != how->mark)
		return set_state(out, REPAIR_BUSY, "its record has changed meanwhile");
	if (!repair_is_stale(out->state) && !(how->force && repair_needs_force(out->state)))
		return 0;
	return undo_record(ctx, &r, how, out->state, e);
}
