/* SPDX-License-Identifier: Apache-2.0 */
/*
 * release.c: DEL, CHECK and GC. They find the addresses of an owner by its key, and so do not
 * depend on the configuration.
 */
#include <string.h>

#include "lib/base/array.h"
#include "ipam/alloc/alloc.h"

/* ---- DEL ---- */

static bool is_among(const struct ip *addrs, size_t n, struct ip ip)
{
	for (size_t i = 0; i < n; i++) {
		if (ip_equal(addrs[i], ip))
			return true;
	}
	return false;
}

/* The list is a copy, because each release shortens the record. */
static int release_owner(struct lease_db *l, const struct alloc_del *del, struct err *e)
{
	const struct owner *o = del->owner;
	struct key_list list;
	struct key_address a;
	struct key k;

	if (lease_db_owned(l, o, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		if (key_parse_address(list.items[i].s, &a))
			continue;
		bool conflict = is_among(del->conflict, del->n_conflict, a.ip);
		if (lease_db_release(l, &a, l->now + (conflict ? LEASE_DB_CONFLICT_NS : 0), e))
			return -1;
	}
	if (list.n == 0)
		return 0;
	/* The addresses that are left in the record have other owners. */
	key_of_owner(&k, o->container, o->ifname, o->network);
	return lease_db_del(l, k.s, e);
}

static int del_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct alloc_del *del = arg;
	char ifname[OWNER_NAME_SIZE];
	struct owner guid = *del->owner;

	if (release_owner(l, del, e))
		return -1;
	if (!del->guid_too)
		return 0;
	guid.ifname = owner_of_guid(guid.ifname, ifname);
	return release_owner(l, &(struct alloc_del){ .owner = &guid }, e);
}

int alloc_del_conflict(struct ipam *m, const struct alloc_del *del, struct json **journal,
		       struct err *e)
{
	struct ipam_job job = { STORE_RELEASE, "DEL", del_in_txn, (void *)(uintptr_t)del, journal };

	return ipam_run(m, &job, e);
}

int alloc_del(struct ipam *m, const struct owner *o, struct json **journal, struct err *e)
{
	const struct alloc_del del = { .owner = o };

	return alloc_del_conflict(m, &del, journal, e);
}

/* ---- CHECK ---- */

static int release_check_lease(struct lease_db *l, const struct alloc_check *c, const char *key,
			       struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	char text[IP_STR_LEN];
	struct key_address a;
	bool found;

	if (key_parse_address(key, &a))
		return err_set(e, ERR_STATE, 0, "the store lists \"%.100s\" as an address", key);
	if (lease_db_lease(l, key, &rec, &found, e))
		return -1;
	ip_format(a.ip, text);
	if (!found || rec.state != LEASE_HELD || !owner_same(&rec.owner, c->owner))
		return err_set(e, ERR_STATE, 0, "address %s is not leased to this container", text);
	if (strcmp(rec.boot, l->ipam->boot) != 0)
		return err_set(e, ERR_STATE, 0, "the lease of address %s is from an earlier boot",
			       text);
	if (c->shown && !is_among(c->shown, c->n, a.ip))
		return err_set(e, ERR_STATE, 0, "address %s is leased but not in prevResult", text);
	return 0;
}

static int check_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct alloc_check *c = arg;
	struct key_list list;

	if (lease_db_owned(l, c->owner, &list, e))
		return -1;
	if (list.n == 0)
		return err_set(e, ERR_STATE, 0,
			       "container %.64s, interface %.32s holds no address of network %.64s",
			       c->owner->container, c->owner->ifname, c->owner->network);
	for (size_t i = 0; i < list.n; i++) {
		if (release_check_lease(l, c, list.items[i].s, e))
			return -1;
	}
	return 0;
}

int alloc_check(struct ipam *m, const struct alloc_check *check, struct err *e)
{
	struct ipam_job job = { STORE_READ, "CHECK", check_in_txn, (void *)(uintptr_t)check, NULL };

	return ipam_run(m, &job, e);
}

/* ---- GC ---- */

#define OWNERS_MAX (1u << 20)

struct owners {
	const struct alloc_gc *gc;
	struct key_owner *items;
	size_t n;
	struct err *e;
	bool failed;
};

static int collect_owner(const char *key, const char *value, void *arg)
{
	struct owners *o = arg;
	char ifname[OWNER_NAME_SIZE];
	struct key_owner who;

	(void)value;
	if (key_parse_owner(key, &who) || strcmp(who.network, o->gc->network) != 0 ||
	    o->gc->keep(who.container, owner_interface(who.ifname, ifname), o->gc->arg))
		return 0;
	o->failed = ARRAY_GROW(o->items, o->n, OWNERS_MAX, "attachments", o->e) != 0;
	if (!o->failed)
		o->items[o->n++] = who;
	return o->failed;
}

struct gc_job {
	const struct alloc_gc *gc;
	struct holder_checks checks;
	struct err first; /* the first error that did not end the GC; code 0: none */
};

/* Checks that all records of a release can be read: the release must not stop half-way. */
static int release_check_readable(struct lease_db *l, const struct owner *o, struct err *e)
{
	struct key_list list;

	if (lease_db_owned(l, o, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		auto_lease struct lease rec = { .tree = NULL };
		struct key_address a;
		struct source_usage t;
		uint64_t held;
		bool found;

		if (key_parse_address(list.items[i].s, &a))
			continue;
		if (lease_db_lease(l, list.items[i].s, &rec, &found, e))
			return -1;
		if (found && (lease_db_usage(l, a.scope, rec.source, &t, e) ||
			      lease_db_quota(l, a.scope, rec.owner.ns, &held, e)))
			return -1;
	}
	return 0;
}

/* Damaged records of one container must not keep the addresses of others. */
static int collect_one(struct lease_db *l, struct gc_job *job, const struct owner *o, struct err *e)
{
	struct err why;

	if (release_check_readable(l, o, &why) == 0)
		return release_owner(l, &(struct alloc_del){ .owner = o }, e);
	if (why.code == ERR_NOMEM)
		return err_pass(e, &why);
	if (!job->first.code)
		job->first = why;
	return 0;
}

static int gc_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct ipam *m = l->ipam;
	struct gc_job *job = arg;
	struct owners found = { .gc = job->gc, .e = e };
	struct key prefix = { "o/" };

	job->first = (struct err){ 0 };
	int rc = lease_db_scan(l, &prefix, collect_owner, &found, e);
	if (found.failed)
		rc = -1;
	for (size_t i = 0; rc == 0 && i < found.n; i++) {
		const struct owner o = { job->gc->network,
					 found.items[i].container,
					 found.items[i].ifname,
					 "",
					 "",
					 "" };

		/*
		 * An ADD may have begun after the runtime made its list. Its record is older than
		 * its lease. Without a record the attachment is gone.
		 */
		int gone = m->holders->mark(m->ctx, &o) == 0
				   ? 1
				   : holder_checks_is_gone(&job->checks, m->holders, m->ctx, &o, e);
		rc = gone > 0 ? collect_one(l, job, &o, e) : gone;
	}
	free(found.items);
	return rc;
}

/* The changes of the second transaction follow those of the first one in the journal. */
static int run_again(struct ipam *m, const struct ipam_job *job, struct err *e)
{
	auto_json struct json *journal = NULL;
	struct ipam_job again = *job;

	again.journal = job->journal ? &journal : NULL;
	if (ipam_run(m, &again, e))
		return -1;
	if (!job->journal)
		return 0;
	json_each (line, journal) {
		if (json_push(*job->journal, json_dup(line)))
			return err_nomem(e);
	}
	return 0;
}

int alloc_gc(struct ipam *m, const struct alloc_gc *gc, struct json **journal, struct err *e)
{
	struct gc_job arg = { .gc = gc };
	struct ipam_job job = { STORE_RELEASE, "GC", gc_in_txn, &arg, journal };
	int rc = ipam_run(m, &job, e);

	/* Attachments of a plugin that the network no longer uses. */
	if (rc == 0 && arg.checks.missing && holder_checks_run(&arg.checks, m->holders, m->ctx))
		rc = run_again(m, &job, e);
	const struct key_owner *who = holder_checks_unknown(&arg.checks);
	if (who && !arg.first.code)
		(void)err_set(&arg.first, ERR_AGAIN, 0,
			      "attachment %s/%s: its record cannot be read now, so its addresses "
			      "stay leased; try again",
			      who->container, who->ifname);
	holder_checks_clear(&arg.checks);
	if (rc || !arg.first.code)
		return rc;
	return err_pass(e, &arg.first);
}
