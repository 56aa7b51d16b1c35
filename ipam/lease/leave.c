/* SPDX-License-Identifier: Apache-2.0 */
/* leave.c: counts the leases outside of the slice, and rewrites the records when there are none. */
#include "ipam/lease/leave.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool_slice.h"
#include "ipam/conf/range_list.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"
#include "ipam/conf/node_file.h"

/* ---- the slice of this node ---- */

int pool_slice_own(const struct ipam *m, struct source *s, uint32_t *number, struct err *e)
{
	if (node_file_number(m->ctx, m->node, number, e))
		return err_wrap(e, "pool %s", key_pool_of(s->scope));
	return pool_slice_cut(s, *number, e);
}

/* *own: of the whole pool; it becomes the node's part. Without one, out->no_slice says why. */
static int load_slice(struct lease_db *l, struct source *own, struct pool_outside *out,
		      struct err *e)
{
	*out = (struct pool_outside){ .until = INT64_MAX };
	if (pool_slice_own(l->ipam, own, &out->number, &out->no_slice)) {
		*e = out->no_slice;
		return e->code == ERR_NOMEM ? -1 : 0;
	}
	out->no_slice.code = 0;
	out->slice = pool_slice_range(&own->slice, out->number);
	return 0;
}

/* ---- leases outside of it ---- */

struct outside_scan {
	struct pool_outside *out;
	int64_t now, cooldown;
	struct err *e;
	bool failed;
};

static bool leave_is_inside(const struct pool_outside *o, struct ip ip)
{
	return !o->no_slice.code && ip_cmp(o->slice.first, ip) <= 0 &&
	       ip_cmp(ip, o->slice.last) <= 0;
}

static void note_cooling(struct outside_scan *s, const struct lease *rec)
{
	int64_t until = rec->since + s->cooldown;

	s->out->cooling++;
	/* The clock was set back. */
	if (until <= s->now)
		until = s->now + 1;
	if (until < s->out->until)
		s->out->until = until;
}

/* A record that cannot be read may be a living pod's. */
static int leave_see_lease(const char *key, const char *value, void *arg)
{
	struct outside_scan *s = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err why;

	if (key_parse_address(key, &a) || leave_is_inside(s->out, a.ip))
		return 0;
	bool readable = lease_parse(value, key, &rec, &why) == 0;
	if (!readable && why.code == ERR_NOMEM) {
		*s->e = why;
		s->failed = true;
	} else if (!readable || rec.state == LEASE_HELD) {
		lease_names_add(&s->out->held, a.ip, readable ? &rec.owner : NULL);
	} else if (!lease_db_has_rested(rec.since, s->now, s->cooldown)) {
		note_cooling(s, &rec);
	}
	return s->failed;
}

/* ---- loans ---- */

static void note_loan(struct pool_loans *loans, struct ip ip, const char *node)
{
	if (loans->n++)
		return;
	loans->first = ip;
	(void)snprintf(loans->node, sizeof(loans->node), "%s", node);
}

static int leave_see_block(const char *key, const char *value, void *arg)
{
	struct outside_scan *s = arg;
	struct block_record r;
	struct lending l;

	s->failed =
		block_value_parse(key, value, &r, s->e) || block_value_lends(key, value, &l, s->e);
	if (!s->failed && r.key.one)
		note_loan(&s->out->borrowed, block_key_ip(&r.key), "");
	for (unsigned i = 0; !s->failed && i < l.n; i++)
		note_loan(&s->out->lent, block_lent_ip(&l, i), l.loans[i].to.node);
	return s->failed;
}

static int count_loans(struct lease_db *l, const char *scope, struct outside_scan *s)
{
	struct key blocks, loans;

	key_of_blocks(&blocks, scope);
	key_of_loans(&loans, scope);
	return lease_db_scan(l, &blocks, leave_see_block, s, s->e) || s->failed ||
			       lease_db_scan(l, &loans, leave_see_block, s, s->e) || s->failed
		       ? -1
		       : 0;
}

/* The pool by its present definition. *own becomes the part of this node. */
static int count_outside(struct lease_db *l, const char *name, struct source *own,
			 struct pool_outside *out, struct err *e)
{
	struct outside_scan s = {
		.out = out, .now = l->now, .cooldown = own->policy.cooldown, .e = e
	};
	struct key addresses;

	key_of_pool_addresses(&addresses, name);
	if (load_slice(l, own, out, e) || lease_db_scan(l, &addresses, leave_see_lease, &s, e) ||
	    s.failed)
		return -1;
	return count_loans(l, own->scope, &s);
}

struct outside_job {
	const char *name;
	struct pool_outside *out;
};

static int outside_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct outside_job *job = arg;
	auto_pool_entry struct pool_entry p = { .text = { .tree = NULL } };
	bool found;

	if (pool_db_load(l, job->name, &p, &found, e))
		return -1;
	if (!found || !p.source.blocks.uid || !p.source.slice.size)
		return err_set(e, ERR_NOTFOUND, 0, "pool %s does not return to slices on this node",
			       job->name);
	return count_outside(l, job->name, &p.source, job->out, e);
}

int pool_outside(struct ipam *m, const char *name, struct pool_outside *out, struct err *e)
{
	struct outside_job arg = { name, out };
	struct ipam_job job = { STORE_READ, "POOL", outside_in_txn, &arg, NULL };

	return ipam_run(m, &job, e);
}

bool pool_outside_any(const struct pool_outside *o)
{
	return o->held.n || o->cooling || o->borrowed.n || o->lent.n;
}

static void explain_loans(const struct pool_loans *l, const char *how, char *out, size_t size)
{
	char ip[IP_STR_LEN];

	(void)snprintf(out, size, "%" PRIu64 " address%s lent %s other nodes: %s%s%s%s", l->n,
		       l->n == 1 ? " is" : "es are", how, ip_format(l->first, ip),
		       *l->node ? " to node " : "", l->node, l->n > 1 ? ", ..." : "");
}

void pool_outside_explain(const struct pool_outside *o, char *out, size_t size)
{
	const struct lease_names *held = &o->held;
	char a[IP_STR_LEN], b[IP_STR_LEN], where[160] = "which need a slice";

	if (!o->no_slice.code)
		(void)snprintf(where, sizeof(where), "outside of slice %u (%s-%s)", o->number,
			       ip_format(o->slice.first, a), ip_format(o->slice.last, b));
	*out = '\0';
	if (held->n)
		(void)snprintf(out, size, "%" PRIu64 " leased address%s %s: %.140s%s", held->n,
			       held->n == 1 ? "" : "es", where, held->text,
			       held->n > LEASE_NAMES_MAX ? ", ..." : "");
	else if (o->borrowed.n)
		explain_loans(&o->borrowed, "by", out, size);
	else if (o->lent.n)
		explain_loans(&o->lent, "to", out, size);
	else if (o->cooling)
		(void)snprintf(out, size, "%" PRIu64 " address%s %s cool%s down", o->cooling,
			       o->cooling == 1 ? "" : "es", where, o->cooling == 1 ? "s" : "");
}

/* ---- the definition on this node ---- */

struct leave_job {
	struct pool_leave *leave;
	struct source own; /* the whole pool by the new definition */
	struct json *definition;
	struct pool_outside outside;
};

static int add_reserved(struct json *definition, const struct json *more, struct err *e)
{
	auto_ranges struct ranges all = { 0 };

	if (!json_len(more))
		return 0;
	if (range_list_add(json_get(definition, "reserved"), "reserved", &all, e) ||
	    range_list_add(more, "reserved", &all, e))
		return -1;
	json_del(definition, "reserved");
	return json_put(definition, "reserved", range_list_print(&all)) ? err_nomem(e) : 0;
}

/* The definition of the cluster without the keys of blocks. */
static struct json *without_blocks(const struct shared_pool_def *d, struct err *e)
{
	static const char *const keys[] = { "blockSize",  "warm",  "idle",
					    "stickyKeep", "fence", "state" };
	auto_json struct json *definition = json_dup(d->definition);

	if (!definition) {
		(void)err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_del(definition, keys[i]);
	return add_reserved(definition, d->reserved, e) ? NULL : TAKE_PTR(definition);
}

static int leave_put_definition(struct lease_db *l, const struct leave_job *job, struct err *e)
{
	const char *name = job->leave->def->name;
	struct key k;

	if (pool_db_check_overlap(l, name, &job->own, e) ||
	    pool_db_check_living(l, name, &job->own, e))
		return -1;
	key_of_pool(&k, name);
	lease_db_sync(l);
	return lease_db_put(l, k.s, pool_record(job->definition), e);
}

/* ---- the records ---- */

/* Another node may assign the addresses outside of the slice from now on. */
static int forget_outside(struct lease_db *l, const struct leave_job *job, const struct keys *keys,
			  struct err *e)
{
	struct key_address a;

	for (size_t i = 0; i < keys->n; i++) {
		if (key_parse_address(keys->items[i].s, &a) == 0 &&
		    !leave_is_inside(&job->outside, a.ip) && lease_db_forget(l, &a, e))
			return -1;
	}
	return 0;
}

static int leave_move_lease(struct lease_db *l, const struct key *k, const char *id,
			    struct source_usage *usage, struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	bool found;

	if (lease_db_lease(l, k->s, &rec, &found, e))
		return -1;
	if (!found)
		return 0;
	usage->used += rec.state == LEASE_HELD;
	usage->resting += rec.state != LEASE_HELD;
	return pool_db_move_lease(l, k, id, e);
}

/* The search begins at the start again, and skips what has a record. */
static int leave_move_leases(struct lease_db *l, const struct source *slice,
			     const struct keys *keys, struct err *e)
{
	struct source_usage usage = { .used = 0 };
	struct key k;

	for (size_t i = 0; i < keys->n; i++) {
		if (leave_move_lease(l, &keys->items[i], slice->id, &usage, e))
			return -1;
	}
	if (!usage.used && !usage.resting)
		return 0;
	key_of_usage(&k, slice->scope, slice->id);
	return lease_db_put(l, k.s, source_usage_print(&usage), e);
}

static int leave_move_all(struct lease_db *l, struct leave_job *job, struct err *e)
{
	static const char kinds[] = "rubf"; /* rests, usages, blocks, their index */
	const char *name = job->leave->def->name;
	auto_keys struct keys keys = { .n = 0 };
	auto_clean(source_clear) struct source slice = { .label = "" };
	struct key prefix;

	key_of_pool_addresses(&prefix, name);
	if (pool_decode(name, job->definition, &slice, e) || pool_db_keys(l, &prefix, &keys, e) ||
	    forget_outside(l, job, &keys, e))
		return -1;
	for (const char *kind = kinds; *kind; kind++) {
		if (pool_db_delete_kind(l, *kind, name, e))
			return -1;
	}
	/* Without a slice there is no lease either. */
	if (!job->outside.no_slice.code && (pool_slice_cut(&slice, job->outside.number, e) ||
					    leave_move_leases(l, &slice, &keys, e)))
		return -1;
	return leave_put_definition(l, job, e);
}

/* ---- the transaction ---- */

/* A pool of this node alone: the one that this pool became, or another one of its name. */
static int leave_check_own(const struct leave_job *job, const struct source *own, struct err *e)
{
	const struct source *new = &job->own;
	const char *name = job->leave->def->name;

	if (ip_equal(own->subnet.addr, new->subnet.addr) && own->subnet.len == new->subnet.len &&
	    own->slice.size == new->slice.size &&ip_equal(own->slice.start, new->slice.start))
		return 0;
	err_set(e, ERR_BUSY, 0, "pool %s: a pool of this node alone has this name", name);
	return err_hint(e,
			"it has another subnet or other slices: delete it with `railctl ipam pool "
			"delete %s` when no pod uses it",
			name);
}

/* 1: a lease is outside of the slice, or a loan is left. */
static int convert(struct lease_db *l, struct leave_job *job, const struct pool_entry *old,
		   struct err *e)
{
	const struct shared_pool_def *d = job->leave->def;
	auto_clean(source_clear) struct source whole = { .label = "" };

	if (strcmp(old->source.blocks.uid, d->uid) != 0)
		return err_set(e, ERR_BUSY, 0, "pool %s: this node has it with uid %s", d->name,
			       old->source.blocks.uid);
	/* By the slices of the closed pool, whatever the node has seen before. */
	if (pool_decode(d->name, job->definition, &whole, e) ||
	    count_outside(l, d->name, &whole, &job->outside, e))
		return -1;
	if (pool_outside_any(&job->outside))
		return 1;
	return leave_move_all(l, job, e);
}

static int leave_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct leave_job *job = arg;
	struct pool_leave *p = job->leave;
	auto_pool_entry struct pool_entry old = { .text = { .tree = NULL } };
	bool found;
	int rc = 0;

	p->left = p->moved = false;
	if (pool_db_load(l, p->def->name, &old, &found, e))
		return -1;
	if (!found)
		rc = leave_put_definition(l, job, e);
	else if (old.source.blocks.uid)
		rc = convert(l, job, &old, e);
	else if (leave_check_own(job, &old.source, e))
		return -1;
	if (rc < 0)
		return -1;
	p->left = rc == 0;
	p->moved = p->left && (!found || old.source.blocks.uid);
	return 0;
}

int pool_leave(struct ipam *m, struct pool_leave *p, struct err *e)
{
	auto_json struct json *definition = without_blocks(p->def, e);
	struct shared_pool_view v = { .source = { .label = "" } };
	struct leave_job arg = { .leave = p, .definition = definition };
	struct ipam_job job = { STORE_WRITE, "POOL", leave_in_txn, &arg, NULL };
	int rc = -1;

	p->left = p->moved = false;
	if (!definition || shared_pool_decode(p->def, &v, e))
		return -1;
	if (pool_decode(p->def->name, definition, &arg.own, e) == 0) {
		rc = ipam_run(m, &job, e);
		source_clear(&arg.own);
	}
	shared_pool_view_clear(&v);
	return rc;
}
