/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.c: finds the interface that a record names, and removes it or gives it back.
 *
 * A pod may rename its interface and put another one under the old name (KubeVirt does), so that
 * the name alone proves nothing. The number stays. Another interface may get the same number later,
 * so kind and lower device must be those of the record, too.
 */
#include "cni/engine/restore.h"

#include <errno.h>
#include <string.h>

#include "cni/uplink/demand.h"
#include "cni/hostveth/hostveth.h"
#include "cni/routing/routing.h"

/* ---- finding ---- */

static bool matches_record(const struct record *r, const struct link_info *link)
{
	return (!*r->kind || strcmp(link->kind, r->kind) == 0) &&
	       (!r->lower_ifindex || link->lower_ifindex == r->lower_ifindex);
}

/* 1: *out is set; 0: there is none. */
static int found_or_gone(int rc, const struct err *why, struct err *e)
{
	if (rc == 0)
		return 1;
	if (why->errnum == ENODEV)
		return 0;
	return err_pass(e, why);
}

int attach_find_link(struct nl *pod_nl, const struct record *r, struct link_info *out,
		     enum attach_found *found, struct err *e)
{
	struct link_info link;
	struct err why;
	int rc = 0;

	if (r->ifindex) {
		rc = found_or_gone(nl_link_by_index(pod_nl, r->ifindex, &link, &why), &why, e);
		if (rc < 0)
			return -1;
	}
	if (rc > 0 && matches_record(r, &link)) {
		*out = link;
		*found = strcmp(link.name, r->key.ifname) == 0 ? FOUND_OURS : FOUND_RENAMED;
		return 0;
	}
	rc = found_or_gone(nl_link_by_name(pod_nl, r->key.ifname, &link, &why), &why, e);
	if (rc < 0)
		return -1;
	*found = FOUND_NONE;
	if (rc == 0)
		return 0;
	*out = link;
	/* Moved out of the namespace and back it may have another number: the lower device tells.
	 */
	*found = matches_record(r, &link) && (!r->ifindex || r->lower_ifindex) ? FOUND_OURS
									       : FOUND_OTHER;
	return 0;
}

/* ---- restoring ---- */

void attach_note_deleting(const struct ctx *ctx, const struct record *r)
{
	struct record begun = *r;
	struct err why;

	begun.deleting = true;
	/* A part is in the file of its whole, which was noted before. */
	if (!r->deleting && !r->whole && record_write(ctx, &begun, &why))
		log_warn(&ctx->log, "%s", why.msg);
}

/*
 * *ifindex is 0 unless the part is there, and ours. A DEL that has begun may have deleted the
 * interface. The next attachment may use its name, on the same lower device. So only the number
 * tells then.
 */
static int restore_find_own(struct nl *nl, const struct record *part, int *ifindex, struct err *e)
{
	enum attach_found found;
	struct link_info link;

	if (attach_find_link(nl, part, &link, &found, e))
		return -1;
	*ifindex = found == FOUND_OURS || found == FOUND_RENAMED ? link.ifindex : 0;
	if (part->deleting && part->ifindex && *ifindex != part->ifindex)
		*ifindex = 0;
	return 0;
}

/* All interfaces of the record are tried; the first error counts. */
static int delete_recorded(const struct ctx *ctx, const struct netns *pod, const struct record *r,
			   struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_free int *own = calloc(record_parts(r) + 1, sizeof(*own));
	auto_nl struct nl *nl = NULL;
	struct record part;
	struct err why;
	size_t n = 0;
	int rc = 0;

	if (!own)
		return err_nomem(e);
	if (netns_open_self(&host, e) || nl_open_in(pod, &host, &nl, e))
		return -1;
	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, &part);
		if (restore_find_own(nl, &part, &own[n], &why) && rc++ == 0)
			*e = why;
		n += own[n] != 0;
	}
	if (!n)
		return rc ? -1 : 0;
	attach_note_deleting(ctx, r);
	if (nl_link_delete_all(nl, own, n, &why) && rc++ == 0)
		*e = why;
	return rc ? -1 : 0;
}

/* Routes end with the interface; rules do not. */
static int remove_rules(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 }, host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct record part;
	struct err why;
	int rc = r->routing || r->parts ? attach_netns_of(ctx, r, &pod, e) : 0;

	if (rc <= 0)
		return rc;
	if (netns_open_self(&host, e) || nl_open_in(&pod, &host, &nl, e))
		return -1;
	rc = 0;
	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, &part);
		if (routing_remove(nl, part.routing, &why) && rc == 0) {
			*e = why;
			rc = -1;
		}
	}
	return rc;
}

int attach_netns_of(const struct ctx *ctx, const struct record *r, struct netns *pod, struct err *e)
{
	const struct netns_on_record what = record_netns(r);
	char holder[NETNS_HOLDER_LEN];
	int rc = netns_locate(ctx, &what, pod, holder, e);

	if (rc > 0 && *holder)
		log_debug(&ctx->log, "network namespace %s is not at its path any more: %s has it",
			  r->netns, holder);
	return rc;
}

static int remove_host_veth(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 }, host = { .fd = -1 };
	auto_nl struct nl *node_nl = NULL, *pod_nl = NULL;
	struct hostveth_sides s = { .container = r->key.container, .log = &ctx->log };
	struct err why;

	if (!r->host)
		return 0;
	if (netns_open_self(&host, e) || nl_open(&node_nl, e))
		return -1;
	int rc = attach_netns_of(ctx, r, &pod, &why);

	if (rc > 0 && nl_open_in(&pod, &host, &pod_nl, e))
		return -1;
	s.node = node_nl;
	s.pod = pod_nl;
	s.pod_ns = rc > 0 ? &pod : NULL;
	/* The node's part goes, too, if the pod cannot be found. */
	if (hostveth_remove(&s, r->host, e))
		return -1;
	if (rc < 0)
		*e = why;
	return rc < 0 ? -1 : 0;
}

int attach_same_boot(const struct ctx *ctx, const struct record *r, bool *out, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];

	if (ctx_boot_id(ctx, boot, e))
		return -1;
	*out = strcmp(boot, r->boot) == 0;
	return 0;
}

/* ---- inverses in turn ---- */

/*
 * All inverses of a record are tried, and the first error counts. Each begins in the host's
 * namespace: one that failed may have left the thread in the pod's, where the next device would
 * look like one that is back. Whoever called goes on there, too: GC and repair, with the next
 * record.
 */
struct inverses {
	const struct ctx *ctx;
	struct netns host;
	struct err *e;
	unsigned failed;
};

static void inverses_clear(struct inverses *x)
{
	netns_close(&x->host);
}
#define auto_inverses auto_clean(inverses_clear)

static void run_inverse(struct inverses *x, attach_restore_fn fn, const struct record *r)
{
	struct err why;

	if (((x->failed && netns_enter(&x->host, &why)) || fn(x->ctx, r, &why)) && x->failed++ == 0)
		*x->e = why;
}

static int end_inverses(const struct inverses *x)
{
	struct err stuck;

	if (x->failed && netns_enter(&x->host, &stuck))
		log_warn(&x->ctx->log, "%s", stuck.msg);
	return x->failed ? -1 : 0;
}

static void remove_rest(struct inverses *x, const struct record *r)
{
	run_inverse(x, remove_rules, r);
	run_inverse(x, remove_host_veth, r);
}

int attach_remove_rest(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_inverses struct inverses x = { .ctx = ctx, .host = { .fd = -1 }, .e = e };

	if (netns_open_self(&x.host, e))
		return -1;
	remove_rest(&x, r);
	return end_inverses(&x);
}

static attach_restore_fn restorer_of(const struct attach_restore_type *others, const char *plugin)
{
	for (; others && others->plugin; others++)
		if (strcmp(others->plugin, plugin) == 0)
			return others->restore;
	return NULL;
}

bool attach_is_moved(const struct record *r, const struct attach_restore_type *others)
{
	struct record part;
	bool moved = false;

	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, &part);
		moved |= restorer_of(others, part.plugin) != NULL;
	}
	return moved;
}

static void restore_moved(struct inverses *x, const struct record *r,
			  const struct attach_restore_type *others)
{
	attach_restore_fn restore;
	struct record part;

	/* The last one first: its device may have the name that an earlier one had. */
	for (size_t i = record_parts(r); i-- > 0;) {
		record_part(r, i, &part);
		restore = restorer_of(others, part.plugin);
		if (restore)
			run_inverse(x, restore, &part);
	}
}

static int restore_made(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	int rc = attach_netns_of(ctx, r, &pod, e);

	if (rc < 0 || (rc > 0 && delete_recorded(ctx, &pod, r, e)))
		return -1;
	/* Its master may have been made for it. */
	return demand_hooks.give(ctx, &r->key, e);
}

int attach_restore(const struct ctx *ctx, const struct record *r,
		   const struct attach_restore_type *others, struct err *e)
{
	auto_inverses struct inverses x = { .ctx = ctx, .host = { .fd = -1 }, .e = e };
	bool same_boot;

	if (attach_same_boot(ctx, r, &same_boot, e))
		return -1;
	if (!same_boot)
		return 0;
	if (netns_open_self(&x.host, e))
		return -1;
	remove_rest(&x, r);
	if (!attach_is_moved(r, others)) {
		run_inverse(&x, restore_made, r);
		return end_inverses(&x);
	}
	if (r->parts)
		attach_note_deleting(ctx, r);
	restore_moved(&x, r, others);
	return end_inverses(&x);
}
