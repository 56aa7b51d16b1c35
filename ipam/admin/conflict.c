/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.c: which blocks of this node the cluster store gives to no node or to another one,
 * and which pods live in them. It reads the records of the blocks, and of a conflict its leases.
 * The same for addresses that the cluster reserves.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/admin/admin.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/range_list.h"
#include "ipam/lease/audit.h"
#include "ipam/lease/block_value.h"
#include "ipam/lease/pool_db.h"

struct pods_job {
	struct ip last;
	struct json *out;
	int64_t n;    /* pods of the block */
	size_t named; /* of all blocks */
	bool failed;
};

/* See ipam/store/key.h. */
#define BLOCKS "b/"
#define LOANS  "l/"
#define POOLS  "d/"

struct conflicts_job {
	struct key kind; /* the prefix of the records */
	/* It adds to out what a record shows. */
	int (*see)(struct lease_db *l, const char *key, struct conflicts_job *job, struct err *e);
	struct json *out;
	struct pods_job pods;
};

/* A lease that cannot be read is shown without its pod: somebody may have the address. */
static int on_address(const char *key, const char *value, void *arg)
{
	struct pods_job *job = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	char ip[IP_STR_LEN];
	struct err why;

	if (key_parse_address(key, &a) || ip_cmp(a.ip, job->last) > 0)
		return 1;
	bool damaged = lease_parse(value, key, &rec, &why) != 0;
	if (!damaged && rec.state != LEASE_HELD)
		return 0;
	job->n++;
	if (job->named >= ADMIN_CONFLICT_PODS_MAX)
		return 0;
	job->named++;
	struct json *o = json_push_object(job->out);

	job->failed = !o || json_add_known(o, "namespace", rec.owner.ns) ||
		      json_add_known(o, "pod", rec.owner.pod) ||
		      json_add_known(o, "uid", rec.owner.uid) ||
		      json_add_known(o, "interface", rec.owner.ifname) ||
		      json_add_known(o, "container", rec.owner.container) ||
		      json_add_str(o, "address", ip_format(a.ip, ip));
	return job->failed;
}

/* The pods with an address from first to job->last. */
static int add_pods(struct lease_db *l, const struct block_key *block, struct pods_job *job,
		    struct err *e)
{
	struct key prefix, from;
	char scope[KEY_SCOPE_MAX];

	job->n = 0;
	job->failed = false;
	key_scope(scope, 'p', block->pool);
	key_of_addresses(&prefix, scope, block->start.family);
	key_of_address(&from, scope, block->start);
	if (lease_db_scan_from(l, (struct store_span){ prefix.s, from.s }, on_address, job, e))
		return -1;
	return job->failed ? err_nomem(e) : 0;
}

static int admin_add_conflict(struct lease_db *l, const struct block_record *r,
			      struct conflicts_job *all, struct err *e)
{
	struct json *o = json_push_object(all->out);
	auto_pool_entry struct pool_entry p = { .text = { .tree = NULL } };
	char first[IP_STR_LEN], last[IP_STR_LEN], block[IP_STR_LEN], since[AUDIT_TIME_LEN];
	bool found;

	if (!o)
		return err_nomem(e);
	if (pool_db_load(l, r->key.pool, &p, &found, e))
		return -1;
	struct ip_range range = pool_block_range(found ? p.source.blocks.bits : 0, r->key.start);
	struct block_key from = r->key;

	from.start = block_key_ip(&r->key);
	if (r->key.one)
		range.first = range.last = from.start;

	if (json_add_str(o, "pool", r->key.pool) ||
	    json_add_str(o, "first", ip_format(range.first, first)) ||
	    json_add_str(o, "last", ip_format(range.last, last)) ||
	    (r->key.one && json_add_str(o, "block", ip_format(r->key.start, block))) ||
	    json_add_str(o, "state", block_state_name(r->state)) ||
	    (r->since && json_add_str(o, "since", audit_time(r->since, since))))
		return err_nomem(e);
	all->pods.last = range.last;
	all->pods.out = json_add_array(o, "pods");
	if (!all->pods.out)
		return err_nomem(e);
	if (add_pods(l, &from, &all->pods, e))
		return -1;
	return json_add_int(o, "podCount", all->pods.n) ? err_nomem(e) : 0;
}

/* A block. */
static int conflict_see_block(struct lease_db *l, const char *key, struct conflicts_job *job,
			      struct err *e)
{
	struct block_record r;
	const char *text;

	if (lease_db_get(l, key, &text, e) || block_value_parse(key, text, &r, e))
		return -1;
	return block_is_in_conflict(&r) ? admin_add_conflict(l, &r, job, e) : 0;
}

/* ---- reserved addresses ---- */

static int see_range(struct lease_db *l, const char *pool, const struct ip_range *r,
		     struct conflicts_job *all, struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct block_key from = { .start = r->first };
	char first[IP_STR_LEN], last[IP_STR_LEN];

	(void)snprintf(from.pool, sizeof(from.pool), "%.*s", (int)sizeof(from.pool) - 1, pool);
	if (!o || json_add_str(o, "pool", pool) ||
	    json_add_str(o, "first", ip_format(r->first, first)) ||
	    json_add_str(o, "last", ip_format(r->last, last)))
		return err_nomem(e);
	all->pods.last = r->last;
	all->pods.out = json_add_array(o, "pods");
	if (!all->pods.out)
		return err_nomem(e);
	if (add_pods(l, &from, &all->pods, e))
		return -1;
	if (!all->pods.n)
		return 0;
	return json_add_int(o, "podCount", all->pods.n) || json_push(all->out, TAKE_PTR(o))
		       ? err_nomem(e)
		       : 0;
}

/* A pool. A record that cannot be read is for `railctl ipam verify`. */
static int conflict_see_pool(struct lease_db *l, const char *key, struct conflicts_job *all,
			     struct err *e)
{
	auto_pool_text struct pool_text t = { .tree = NULL };
	auto_ranges struct ranges reserved = { .n = 0 };
	const char *text;
	struct err why;

	if (lease_db_get(l, key, &text, e))
		return -1;
	if (!text)
		return 0;
	if (pool_parse(text, key, &t, &why) ||
	    range_list_add(t.reserved, "reserved", &reserved, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	for (size_t i = 0; i < reserved.n && json_len(all->out) < ADMIN_CONFLICTS_MAX; i++) {
		if (see_range(l, key + strlen(POOLS), &reserved.items[i], all, e))
			return -1;
	}
	return 0;
}

/* ---- all of a kind ---- */

static int see_all(struct lease_db *l, void *arg, struct err *e)
{
	auto_keys struct keys keys = { .n = 0 };
	struct conflicts_job *job = arg;

	/* The transaction may run again. */
	json_free(job->out);
	job->out = json_new_array();
	job->pods = (struct pods_job){ .n = 0 };
	if (!job->out)
		return err_nomem(e);
	if (pool_db_keys(l, &job->kind, &keys, e))
		return -1;
	/* The loan of one address is in conflict as a block is. */
	if (strcmp(job->kind.s, BLOCKS) == 0 && pool_db_keys(l, &(struct key){ LOANS }, &keys, e))
		return -1;
	for (size_t i = 0; i < keys.n && json_len(job->out) < ADMIN_CONFLICTS_MAX; i++) {
		if (job->see(l, keys.items[i].s, job, e))
			return -1;
	}
	return 0;
}

static int conflict_run(struct ipam *m, struct conflicts_job *all, struct json **out, struct err *e)
{
	struct ipam_job job = { STORE_READ, "CONFLICT", see_all, all, NULL };

	return ipam_read(m, &job, &all->out, out, e);
}

int admin_conflicts(struct ipam *m, struct json **out, struct err *e)
{
	struct conflicts_job all = { .kind = { BLOCKS }, .see = conflict_see_block };

	return conflict_run(m, &all, out, e);
}

int admin_reserved(struct ipam *m, struct json **out, struct err *e)
{
	struct conflicts_job all = { .kind = { POOLS }, .see = conflict_see_pool };

	return conflict_run(m, &all, out, e);
}
