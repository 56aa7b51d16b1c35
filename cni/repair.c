/* SPDX-License-Identifier: Apache-2.0 */
#include "cni/repair.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cni/attach.h"
#include "cni/delegate.h"

#define LOCK_MS         10000
#define IPAM_TIMEOUT_S  90
#define IPAM_TIMEOUT_IN 600

static const char *const state_names[] = {
	[REPAIR_HEALTHY] = "healthy",
	[REPAIR_BUSY] = "busy",
	[REPAIR_UNKNOWN] = "unknown",
	[REPAIR_GONE] = "gone",
	[REPAIR_EARLIER_BOOT] = "earlier-boot",
	[REPAIR_NETNS_GONE] = "netns-gone",
	[REPAIR_NETNS_REPLACED] = "netns-replaced",
	[REPAIR_LINK_GONE] = "interface-gone",
	[REPAIR_LINK_REPLACED] = "interface-replaced",
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

static int say(struct repair_view *v, enum repair_state s, const char *fmt, ...) printf_like(3, 4);
static int say(struct repair_view *v, enum repair_state s, const char *fmt, ...)
{
	va_list ap;

	v->state = s;
	va_start(ap, fmt);
	(void)vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
	return 0;
}

/* ---- looking ---- */

static int look_at_link(const struct record *r, const struct netns *pod, struct repair_view *v,
			struct err *e)
{
	auto_netns struct netns home = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct link_info link;
	struct err why;

	if (netns_open_self(&home, e) || nl_open_in(pod, &home, &nl, e))
		return -1;
	if (nl_link_by_name(nl, r->key.ifname, &link, &why)) {
		if (why.errnum == ENODEV)
			return say(v, REPAIR_LINK_GONE, "no interface %s in %.200s any more",
				   r->key.ifname, r->netns);
		*e = why;
		return -1;
	}
	if (*r->kind && strcmp(link.kind, r->kind) != 0)
		return say(v, REPAIR_LINK_REPLACED, "%s in %.200s is %s now, not the %s of ADD",
			   r->key.ifname, r->netns, *link.kind ? link.kind : "a device", r->kind);
	if (r->adding)
		return say(v, REPAIR_UNFINISHED, "its ADD ended before it was done");
	return say(v, REPAIR_HEALTHY, "%s", "");
}

static int look_at_netns(const struct record *r, struct repair_view *v, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	struct err why;

	if (netns_open(r->netns, &pod, &why)) {
		if (why.errnum == ENOENT)
			return say(v, REPAIR_NETNS_GONE, "network namespace %.240s is gone",
				   r->netns);
		return say(v, REPAIR_UNKNOWN, "%.300s", why.msg);
	}
	if (!netns_same(pod.id, r->netns_id))
		return say(v, REPAIR_NETNS_REPLACED, "%.200s is another network namespace now",
			   r->netns);
	return look_at_link(r, &pod, v, e);
}

/* Without regard to who is at work on it. */
static int look(const struct ctx *ctx, const struct record *r, struct repair_view *v, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct err why;

	/* What it says is true of somebody else. */
	if (r->misplaced && record_refuse(ctx, r, &why))
		return say(v, REPAIR_UNKNOWN, "%.300s", why.msg);
	if (!r->tree)
		return say(v, REPAIR_DAMAGED, "the record cannot be read");
	if (ctx_boot_id(ctx, boot, e))
		return -1;
	if (strcmp(boot, r->boot) != 0)
		return say(v, REPAIR_EARLIER_BOOT, "made before the last reboot");
	return look_at_netns(r, v, e);
}

/*
 * Read the record once more and look at it; the caller holds its lock. r keeps what was read, with
 * the caller's key when that is all there is.
 */
static int look_again(const struct ctx *ctx, const struct record_key *key, struct record *r,
		      struct repair_view *v, struct err *e)
{
	struct err why;

	if (record_read(ctx, key, r, &why)) {
		if (why.code == ERR_NOTFOUND)
			return say(v, REPAIR_GONE, "removed meanwhile");
		if (!record_is_damaged(&why)) {
			*e = why;
			return -1;
		}
		*r = (struct record){ .key = *key, .misplaced = why.code == ERR_STATE };
		if (r->misplaced)
			return look(ctx, r, v, e);
		return say(v, REPAIR_DAMAGED, "%.300s", why.msg);
	}
	return look(ctx, r, v, e);
}

int repair_look(const struct ctx *ctx, const struct record *r, struct repair_view *out,
		struct err *e)
{
	auto_record struct record again = { 0 };
	struct repair_view v;
	struct err why;

	if (look(ctx, r, &v, e))
		return -1;
	if (repair_is_stale(v.state)) {
		auto_fd int lock = record_lock(ctx, &r->key, false, 0, &why);
		if (lock < 0 && why.code == ERR_AGAIN)
			(void)say(&v, REPAIR_BUSY, "an ADD, DEL or GC is at work on it");
		else if (lock >= 0 && look_again(ctx, &r->key, &again, &v, e))
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

static int timeout_ms(const struct record *r)
{
	uint32_t seconds = IPAM_TIMEOUT_S;
	const struct json_field field[] = {
		{ .key = "ipamTimeout", .kind = J_U32, .min = 1, .max = IPAM_TIMEOUT_IN },
		{ 0 },
	};
	struct err ignored;

	(void)!json_decode(r->config, "", field, &seconds, &ignored);
	return (int)seconds * 1000;
}

/* The IPAM's DEL as the runtime's own would have been, but for the namespace: it may be gone. */
static int release_addresses(const struct ctx *ctx, const struct record *r, struct err *e)
{
	const struct delegate_call del = {
		.verb = CNI_DEL,
		.container = r->key.container,
		.ifname = r->key.ifname,
		.netns = "",
		.args = r->args,
		.path = r->cni_path,
	};
	struct cni_call call = { .ctx = *ctx };

	if (!*repair_ipam_type(r))
		return 0;
	char *text = json_print(r->config, false);
	if (!text)
		return err_nomem(e);
	int rc = cni_conf_parse(text, strlen(text), CNI_DEL, &call.conf, e);
	if (rc == 0)
		rc = delegate_run(&call, &del, timeout_ms(r), e);
	cni_conf_clear(&call.conf);
	return rc;
}

static int undo_record(const struct ctx *ctx, const struct record *r,
		       const struct attach_restorer *others, struct err *e)
{
	if (r->tree && (attach_restore(ctx, r, others, e) || release_addresses(ctx, r, e)))
		return -1;
	return record_remove(ctx, &r->key, e);
}

int repair_one(const struct ctx *ctx, const struct record_key *key,
	       const struct attach_restorer *others, struct repair_view *out, struct err *e)
{
	auto_record struct record r = { 0 };
	struct err why;
	auto_fd int lock = record_lock(ctx, key, false, LOCK_MS, &why);

	*out = (struct repair_view){ .state = REPAIR_BUSY };
	if (lock < 0 && why.code == ERR_AGAIN)
		return say(out, REPAIR_BUSY, "an ADD, DEL or GC is at work on it");
	if (lock < 0) {
		*e = why;
		return -1;
	}
	if (look_again(ctx, key, &r, out, e))
		return -1;
	return repair_is_stale(out->state) ? undo_record(ctx, &r, others, e) : 0;
}
