/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_del.c: DEL and GC: replay the inverses of a record.
 *
 * The interface goes first and the address after it: an address is free for others only once nobody
 * uses it. When the interface cannot be removed, DEL fails and the address stays taken.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/engine/attach_priv.h"

static int open_nl(const struct netns *pod, struct nl **nl, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };

	return netns_open_self(&host, e) || nl_open_in(pod, &host, nl, e) ? -1 : 0;
}

/*
 * From here on repair may finish what we began: without this an interface that is missing from a
 * living pod would look like one that the pod has put elsewhere. A deletion must not fail for it.
 */
static void note_deleting(const struct ctx *ctx, const struct record *r)
{
	struct record begun = *r;
	struct err why;

	begun.deleting = true;
	if (!r->deleting && record_write(ctx, &begun, &why))
		log_warn(&ctx->log, "%s", why.msg);
}

static int delete_recorded(const struct ctx *ctx, const struct netns *pod, const struct record *r,
			   struct err *e)
{
	auto_nl struct nl *nl = NULL;
	enum attach_found found;
	struct link_info link;

	if (open_nl(pod, &nl, e) || attach_find_link(nl, r, &link, &found, e))
		return -1;
	if (found != FOUND_OURS && found != FOUND_RENAMED)
		return 0;
	note_deleting(ctx, r);
	return nl_link_delete(nl, link.ifindex, e);
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

static int restore_link(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	int rc = attach_netns_of(ctx, r, &pod, e);

	return rc > 0 ? delete_recorded(ctx, &pod, r, e) : rc;
}

int attach_restore(const struct ctx *ctx, const struct record *r,
		   const struct attach_restore_type *others, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];

	if (ctx_boot_id(ctx, boot, e))
		return -1;
	if (strcmp(boot, r->boot) != 0)
		return 0;
	for (; others && others->plugin; others++) {
		if (strcmp(others->plugin, r->plugin) == 0)
			return others->restore(ctx, r, e);
	}
	return restore_link(ctx, r, e);
}

static int restore_own(const struct cni_call *call, const struct record *r, struct err *e)
{
	const struct attach_type *type = attach_type_of(call);
	const struct attach_restore_type own[] = { { type->name, type->restore }, { 0 } };

	if (type->restore && r->tree)
		note_deleting(&call->ctx, r);
	return attach_restore(&call->ctx, r, type->restore ? own : NULL, e);
}

struct claim {
	struct netns_id pod;
	const char *ifname;
	int ifindex; /* what has that name now */
	bool found;
};

/* By the number, too: the pod may have given its interface that name since. */
static int find_claim(const struct record *r, void *arg)
{
	struct claim *c = arg;

	c->found = r->tree && netns_same(r->netns_id, c->pod) &&
		   (strcmp(r->key.ifname, c->ifname) == 0 || r->ifindex == c->ifindex);
	return c->found;
}

/* Without a record no other place is known: 1: open, 0: there is no network namespace. */
static int open_pod(const char *path, struct netns *pod, struct err *e)
{
	struct err why;

	if (!*path)
		return 0;
	if (netns_open(path, pod, &why) == 0)
		return 1;
	/* A file, a directory, a device or a namespace of another kind took its place (CNI-049). */
	if (why.errnum == ENOENT || why.errnum == EINVAL)
		return 0;
	*e = why;
	return -1;
}

/*
 * Only our kind, as names are reused and a stranger's interface is not ours; and nothing that
 * another attachment's record calls its own: a late DEL of an old pod must not take the interface
 * of the new one.
 */
static int delete_unclaimed(const struct cni_call *call, const struct netns *pod, struct err *e)
{
	struct claim claim = { .pod = pod->id, .ifname = call->env.ifname };
	auto_nl struct nl *nl = NULL;
	struct link_info link;
	struct err why;

	if (open_nl(pod, &nl, e))
		return -1;
	if (nl_link_by_name(nl, claim.ifname, &link, &why)) {
		if (why.errnum == ENODEV)
			return 0;
		*e = why;
		return -1;
	}
	if (strcmp(link.kind, attach_type_of(call)->kind) != 0)
		return 0;
	claim.ifindex = link.ifindex;
	if (record_each(&call->ctx, NULL, find_claim, &claim, e))
		return -1;
	return claim.found ? 0 : nl_link_delete(nl, link.ifindex, e);
}

/* Without a record: an ADD of the plugin that we replaced, or of nobody. */
static int delete_unrecorded(const struct cni_call *call, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 }, host = { .fd = -1 };
	int rc = open_pod(call->env.netns, &pod, e);

	if (rc <= 0)
		return rc;
	if (netns_open_self(&host, e))
		return -1;
	if (netns_same(pod.id, host.id) && !call->env.netns_override)
		return 0;
	return delete_unclaimed(call, &pod, e);
}

/* What a type takes is known to itself, by the attachment that took it. */
static int restore_unrecorded(const struct cni_call *call, struct err *e)
{
	struct record r = {
		.key = attach_key(call),
		.plugin = attach_type_of(call)->name,
		.kind = "",
		.netns = call->env.netns,
	};

	return ctx_boot_id(&call->ctx, r.boot, e) ? -1 : restore_own(call, &r, e);
}

/* *leased: whether its IPAM may have given an address: an ADD that failed whole has no record. */
static int delete_interface(const struct cni_call *call, bool *leased, struct err *e)
{
	const struct record_key key = attach_key(call);
	auto_record struct record r = { 0 };
	struct err why;

	if (record_read(&call->ctx, &key, &r, &why)) {
		if (why.code != ERR_NOTFOUND && !record_is_damaged(&why)) {
			*e = why; /* the next DEL may be able to read it */
			return -1;
		}
		if (why.code != ERR_NOTFOUND)
			log_warn(&call->ctx.log, "%s; looking at CNI_NETNS instead", why.msg);
		*leased = why.code != ERR_NOTFOUND;
		return attach_type_of(call)->restore ? restore_unrecorded(call, e)
						     : delete_unrecorded(call, e);
	}
	*leased = true;
	r.netns_also = call->env.netns;
	return restore_own(call, &r, e);
}

/* Keys of a changed or damaged configuration must not keep a pod from going (CNI-089). */
static int ipam_timeout(const struct cni_call *call)
{
	struct attach a;
	struct err ignored;

	attach_init(&a, call);
	(void)!attach_read_conf(&a, &ignored);
	int ms = attach_timeout_ms(&a);
	attach_clear(&a);
	return ms;
}

/*
 * An ADD whose IPAM cannot be run has no address, and the runtime calls DEL for it until that
 * succeeds: a pod would be terminating for ever. Where an IPAM may have run, by an ADD that was
 * killed for instance, a program that is missing now must come back, or be done without by hand.
 */
static int release_address(const struct cni_call *call, const struct delegate_call *del,
			   bool leased, struct err *e)
{
	struct delegate ipam;
	struct err why;

	if (!*call->conf.ipam_type)
		return 0;
	if (delegate_start(call, del, ipam_timeout(call), &ipam, &why) == 0)
		return delegate_finish(&ipam, NULL, NULL, e);
	if (leased || why.code != ERR_DELEGATE) {
		*e = why;
		return -1;
	}
	log_warn(&call->ctx.log, "%s; there is no record of this attachment, and so no address",
		 why.msg);
	return 0;
}

/*
 * A deletion waits for its turn, but does not fail for want of a lock file: where none can be
 * opened no ADD could have written a record.
 */
static int lock_if_any(const struct cni_call *call, const struct record_key *key, int *fd,
		       struct err *e)
{
	struct err why;

	*fd = record_lock(&call->ctx, key, false, ATTACH_LOCK_MS, &why);
	if (*fd >= 0 || why.code != ERR_AGAIN)
		return 0;
	*e = why;
	return -1;
}

int attach_del(const struct cni_call *call, struct err *e)
{
	const struct delegate_call del = { .cmd = CNI_DEL };
	const struct record_key key = attach_key(call);
	auto_fd int lock = -1;
	bool leased;

	if (lock_if_any(call, &key, &lock, e) || delete_interface(call, &leased, e))
		return -1;
	log_debug(&call->ctx.log, "the interface has gone");
	if (release_address(call, &del, leased, e))
		return -1;
	log_debug(&call->ctx.log, "the record goes, and with it the attachment");
	return record_remove(&call->ctx, &key, e);
}

/* ---- GC ---- */

struct sweep {
	const struct cni_call *call;
	struct err first; /* of the errors, the one to report (CNI-072) */
	size_t failed;
	bool stays; /* there is an interface that could not be removed */
};

static void keep_first_error(struct sweep *s, const struct err *why)
{
	if (s->failed++ == 0)
		s->first = *why;
}

static void note_failure(struct sweep *s, const struct record *r, struct err *why)
{
	(void)err_wrap(why, "attachment %s/%s", r->key.container, r->key.ifname);
	log_warn(&s->call->ctx.log, "%s", why->msg);
	keep_first_error(s, why);
}

/* The IPAM's own GC may not exist (host-local): each stale attachment gets its DEL. */
static int gc_attachment(struct sweep *s, const struct record *r, struct err *e)
{
	const struct cni_call *call = s->call;
	const struct delegate_call del = {
		.cmd = CNI_DEL, .container = r->key.container, .ifname = r->key.ifname, .netns = ""
	};
	auto_record struct record now = { 0 };
	auto_fd int lock = -1;
	int there = lock_if_any(call, &r->key, &lock, e)
			    ? -1
			    : record_reread(&call->ctx, &r->key, &now, e);

	if (there < 0 || (there && restore_own(call, &now, e))) {
		s->stays = true;
		return -1;
	}
	/* of a damaged record it cannot be said */
	if (release_address(call, &del, there || !r->tree, e))
		return -1;
	return record_remove(&call->ctx, &r->key, e);
}

static int gc_record(const struct record *r, void *arg)
{
	struct sweep *s = arg;
	struct err why;
	bool foreign = r->tree && strcmp(r->plugin, attach_type_of(s->call)->name) != 0;

	if (r->name_mismatch) {
		(void)record_refuse_mismatch(&s->call->ctx, r, &why);
		note_failure(s, r, &why);
		s->stays = true; /* whose it is may have one */
		return 0;
	}
	if (foreign || cni_conf_is_valid(&s->call->conf, r->key.container, r->key.ifname))
		return 0;
	if (gc_attachment(s, r, &why))
		note_failure(s, r, &why);
	return 0;
}

int attach_gc(const struct cni_call *call, struct err *e)
{
	const struct delegate_call gc = { .cmd = CNI_GC };
	struct sweep s = { .call = call };
	struct err why;

	/* No list is no information, not an empty list (CNI-076). */
	if (call->conf.valid && record_each(&call->ctx, call->conf.name, gc_record, &s, &why)) {
		keep_first_error(&s, &why);
		s.stays = true; /* one that could not be read has an interface, too */
	}
	record_tidy(&call->ctx);
	/* The IPAM does not know of interfaces: it would free the address of one that stays. */
	if (*call->conf.ipam_type && !s.stays && delegate_run(call, &gc, ipam_timeout(call), &why))
		keep_first_error(&s, &why);
	if (!s.failed)
		return 0;
	*e = s.first;
	return s.failed > 1
		       ? err_hint(e, "%zu of the clean-up steps failed; all were tried", s.failed)
		       : -1;
}
