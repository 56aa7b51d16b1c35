/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_del.c: DEL and GC: replay the inverses of a record.
 *
 * The interface is removed before its address is released, so that no two pods use an address at
 * once. If the interface cannot be removed, DEL fails and the address stays assigned.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/uplink/demand.h"
#include "cni/engine/attach_priv.h"

/* own: memory for the list of a plugin that has one interface. NULL: it moves none. */
static const struct attach_restore_type *restorers_of(const struct attach_type *type,
						      struct attach_restore_type own[2])
{
	if (type->several)
		return type->several->restorers;
	own[0] = (struct attach_restore_type){ type->name, type->restore };
	own[1] = (struct attach_restore_type){ 0 };
	return type->restore ? own : NULL;
}

bool attach_moved_own(const struct cni_call *call, const struct record *r)
{
	struct attach_restore_type own[2];

	return attach_is_moved(r, restorers_of(attach_type_of(call), own));
}

int attach_restore_own(const struct cni_call *call, const struct record_place *records,
		       const struct record *r, struct err *e)
{
	const struct attach_type *type = attach_type_of(call);
	struct attach_restore_type own[2];

	if (type->restore && r->tree)
		attach_note_deleting(&records->ctx, r);
	return attach_restore(&call->ctx, r, restorers_of(type, own), e);
}

/* ---- without a record ---- */

struct name_owner {
	struct netns_id pod;
	char ifname[IFNAME_LEN];
	int ifindex; /* what has that name now */
	bool found;
};

/* By the number, too: the pod may have given its interface that name since. */
static int find_name_owner(const struct record *r, void *arg)
{
	struct name_owner *o = arg;
	struct record part;

	for (size_t i = 0; r->tree && netns_same(r->netns_id, o->pod) && i < record_parts(r); i++) {
		record_part(r, i, &part);
		o->found |= strcmp(part.key.ifname, o->ifname) == 0 || part.ifindex == o->ifindex;
	}
	return o->found;
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
	return err_pass(e, &why);
}

#define NAMES_MAX 128 /* that an attachment can have */

struct unrecorded {
	struct nl *nl;
	struct netns_id pod;
	struct name_owner link[NAMES_MAX];
	size_t n;
	struct err *e;
};

static int note_named(const char *ifname, const char *kind, void *arg)
{
	struct unrecorded *u = arg;
	struct name_owner *x = &u->link[u->n];
	struct link_info link;
	struct err why;

	if (nl_link_by_name(u->nl, ifname, &link, &why)) {
		if (why.errnum == ENODEV)
			return 0;
		*u->e = why;
		return -1;
	}
	if (strcmp(link.kind, kind) != 0 || u->n == NAMES_MAX)
		return 0;
	*x = (struct name_owner){ .pod = u->pod, .ifindex = link.ifindex };
	(void)snprintf(x->ifname, sizeof(x->ifname), "%s", ifname);
	u->n++;
	return 0;
}

static int find_named(const struct cni_call *call, struct unrecorded *u)
{
	const struct attach_type *type = attach_type_of(call);

	return type->several ? type->several->each_name(call, note_named, u)
			     : note_named(call->env.ifname, type->kind, u);
}

/* The IPAM's CHECK, of what it needs alone: whatever version the configuration has, and whichever
 * other key is refused since ADD. */
static int check_lease(const struct cni_call *call, struct err *e)
{
	const struct delegate_call check = { .cmd = CNI_CHECK };
	static const char *const needed[] = { "name", "type", "ipam", "args", "runtimeConfig" };
	auto_json struct json *tree = json_new_object();
	struct cni_call ipam = *call;
	bool failed = !tree || json_add_str(tree, "cniVersion", cni_version_name(CNI_CURRENT));

	for (size_t i = 0; !failed && i < ARRAY_SIZE(needed); i++)
		failed = json_add_copy(tree, needed[i], json_get(call->conf.tree, needed[i]));
	auto_free char *text = failed ? NULL : json_print(tree, false);
	if (!text)
		return err_nomem(e);
	ipam.conf.text = text;
	ipam.conf.len = strlen(text);
	return delegate_run(&ipam, &check, attach_ipam_timeout_ms(call->conf.tree), e);
}

/*
 * Several interfaces, and no result that names them: another program may have made them, and ADD
 * was refused for it. Then there is no lease. 1: they are ours.
 */
static int are_leased(const struct cni_call *call, const struct unrecorded *u, struct err *e)
{
	struct err why;

	if (!u->n || call->conf.prev_result || !attach_type_of(call)->several)
		return 1;
	if (!*attach_ipam_type(call))
		return 0;
	if (check_lease(call, &why) == 0)
		return 1;
	if (why.code == ERR_STATE)
		return 0;
	*e = why;
	return err_wrap(e,
			"%s in %.200s may be ours, and keeps its address: there is no record of "
			"its ADD and no prevResult; delete it if it is ours",
			u->link[0].ifname, call->env.netns);
}

/*
 * Without a record, only the plugin that we replaced can have made the interface. Names are reused:
 * DEL leaves an interface of another kind alone, and one that the record of another attachment
 * claims. So a late DEL of an old pod does not remove the interface of the new pod.
 */
static int delete_unrecorded(const struct cni_call *call, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 }, host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	int rc = open_pod(call->env.netns, &pod, e), own[NAMES_MAX];

	if (rc <= 0)
		return rc;
	if (netns_open_self(&host, e))
		return -1;
	if (netns_same(pod.id, host.id) && !call->env.netns_override)
		return 0;
	if (nl_open_in(&pod, &host, &nl, e))
		return -1;

	const struct hostveth_sides at = {
		.container = call->env.container, .log = &call->ctx.log, .pod_ns = &pod, .pod = nl
	};
	struct unrecorded u = { .nl = nl, .pod = pod.id, .e = e };

	if (find_named(call, &u))
		return -1;
	for (size_t i = u.n; i-- > 0;) {
		if (record_each(&call->ctx, NULL, find_name_owner, &u.link[i], e))
			return -1;
		if (u.link[i].found)
			u.link[i] = u.link[--u.n];
	}
	rc = are_leased(call, &u, e);
	if (rc <= 0)
		return rc;
	for (size_t i = 0; i < u.n; i++) {
		own[i] = u.link[i].ifindex;
		if (attach_host_remove_of(&at, own[i], e) || routing_remove_of(nl, own[i], e))
			return -1;
	}
	return nl_link_delete_all(nl, own, u.n, e);
}

/* ---- DEL ---- */

/* 1: r is the attachment's record; 0: none can be read. *leased: whether its IPAM may have given an
 * address: an ADD that failed whole has no record. */
static int read_record(const struct record_place *records, const struct record_key *key,
		       struct record *r, bool *leased, struct err *e)
{
	struct err why;

	*leased = true;
	if (record_read(&records->ctx, key, r, &why) == 0)
		return 1;
	if (why.code == ERR_NOTFOUND) {
		*leased = false;
		return 0;
	}
	if (!record_is_damaged(&why)) {
		*e = why; /* the next DEL may be able to read it */
		return -1;
	}
	log_warn(&records->ctx.log, "%s; going by what else is known of the attachment", why.msg);
	return 0;
}

static int restore_all(const struct cni_call *call, const struct record_place *records,
		       struct record *r, bool *leased, struct err *e)
{
	const struct attach_type *type = attach_type_of(call);
	const struct record_key key = attach_key(call);
	int found = read_record(records, &key, r, leased, e);

	if (found < 0)
		return -1;
	r->netns_also = call->env.netns;
	if (found && attach_restore_own(call, records, r, e))
		return -1;
	if (!found && type->role == ATTACH_MAKES &&
	    (delete_unrecorded(call, e) || demand_hooks.give(&call->ctx, &key, e)))
		return -1;
	return type->release ? type->release(call, found ? r : NULL, e) : 0;
}

/*
 * DEL waits for the lock. If the lock file cannot be opened, it goes on without: as a rule there is
 * no record then. If there is one, restore_all() reads it, or fails.
 */
static int lock_if_any(const struct record_place *records, const struct record_key *key, int *fd,
		       struct err *e)
{
	struct err why;

	*fd = record_lock(&records->ctx, key, false, ATTACH_LOCK_MS, &why);
	if (*fd >= 0 || why.code != ERR_AGAIN)
		return 0;
	return err_pass(e, &why);
}

int attach_del(const struct cni_call *call, struct err *e)
{
	const struct delegate_call del = { .cmd = CNI_DEL };
	const struct record_key key = attach_key(call);
	auto_record struct record r = { 0 };
	struct record_place records;
	auto_fd int lock = -1;
	bool leased;

	if (attach_records(call, &records, e) || lock_if_any(&records, &key, &lock, e) ||
	    restore_all(call, &records, &r, &leased, e))
		return -1;
	log_debug(&call->ctx.log, "%s",
		  attach_type_of(call)->role == ATTACH_FOLLOWS ? "what it had is restored"
							       : "the interface has gone");
	if (attach_release(call, &r, &del, leased, e))
		return -1;
	log_debug(&call->ctx.log, "the record goes, and with it the attachment");
	/* Where there is none, its folder may be left of a DEL that was killed. */
	return record_remove(&records.ctx, &key, e);
}

/* ---- GC ---- */

struct sweep {
	const struct cni_call *call;
	const struct record_place *records;
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
	int there = lock_if_any(s->records, &r->key, &lock, e)
			    ? -1
			    : record_reread(&s->records->ctx, &r->key, &now, e);

	if (there < 0 || (there && attach_restore_own(call, s->records, &now, e))) {
		s->stays = true;
		return -1;
	}
	/* of a damaged record it cannot be said */
	if (attach_release(call, &now, &del, there || !r->tree, e))
		return -1;
	return record_remove(&s->records->ctx, &r->key, e);
}

static int gc_record(const struct record *r, void *arg)
{
	struct sweep *s = arg;
	struct err why;
	bool foreign = r->tree && strcmp(r->plugin, attach_type_of(s->call)->name) != 0;

	if (r->name_mismatch) {
		(void)record_refuse_mismatch(&s->records->ctx, r, &why);
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
	struct record_place records;
	struct sweep s = { .call = call, .records = &records };
	struct err why;

	if (attach_records(call, &records, e))
		return -1;
	/* No list is no information, not an empty list (CNI-076). */
	if (call->conf.valid && record_each(&records.ctx, call->conf.name, gc_record, &s, &why)) {
		keep_first_error(&s, &why);
		s.stays = true; /* one that could not be read has an interface, too */
	}
	if (call->conf.valid && attach_type_of(call)->sweep &&
	    attach_type_of(call)->sweep(call, &why))
		keep_first_error(&s, &why);
	if (record_tidy(&records.ctx, &why))
		keep_first_error(&s, &why);
	if (call->conf.valid && demand_sweep(&call->ctx, &why))
		keep_first_error(&s, &why);
	/* The IPAM does not know of interfaces: it would free the address of one that stays. */
	if (*attach_ipam_type(call) && !s.stays &&
	    delegate_run(call, &gc, attach_ipam_timeout_ms(call->conf.tree), &why))
		keep_first_error(&s, &why);
	if (!s.failed)
		return 0;
	*e = s.first;
	return s.failed > 1
		       ? err_hint(e, "%zu of the clean-up steps failed; all were tried", s.failed)
		       : -1;
}
