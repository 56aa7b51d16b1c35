/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: deletes and lists pools for an operator. */
#include <stdio.h>
#include <string.h>

#include "ipam/admin/admin.h"
#include "ipam/admin/slice_check.h"
#include "ipam/lease/pool_db.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/lease/block_index.h"
#include "ipam/conf/node_file.h"

/* Exact in a JSON number. */
#define NUMBER_MAX (UINT64_C(1) << 53)

/* ---- delete ---- */

/* The agent deletes a pool of the cluster after its blocks. */
static int check_no_blocks(struct lease_db *l, const char *name, struct err *e)
{
	auto_keys struct keys blocks = { .n = 0 }, loans = { .n = 0 };
	char scope[KEY_SCOPE_MAX], and_loans[40] = "";
	struct key prefix;

	key_of_blocks(&prefix, key_scope(scope, 'p', name));
	if (pool_db_keys(l, &prefix, &blocks, e))
		return -1;
	key_of_loans(&prefix, scope);
	if (pool_db_keys(l, &prefix, &loans, e))
		return -1;
	if (blocks.n + loans.n == 0)
		return 0;
	if (loans.n)
		(void)snprintf(and_loans, sizeof(and_loans), " and %zu loan%s", loans.n,
			       loans.n == 1 ? "" : "s");
	err_set(e, ERR_BUSY, 0, "pool %s: this node has %zu block%s%s of it", name, blocks.n,
		blocks.n == 1 ? "" : "s", and_loans);
	return err_hint(e,
			"`railctl cluster pool delete %s` deletes it there; the node agent then "
			"returns what it has of it, and deletes it here",
			name);
}

/* The agent takes over a definition once: it would go on with a pool that is not here any more. */
static int pool_check_own(const char *text, const struct admin_delete *d, struct err *e)
{
	auto_pool_text struct pool_text t = { .tree = NULL };
	struct err why;

	if (d->force || (pool_parse(text, d->name, &t, &why) == 0 && !t.uid))
		return 0;
	if (!t.uid)
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	err_set(e, ERR_BUSY, 0, "pool %s is a pool of the cluster", d->name);
	return err_hint(e,
			"`railctl cluster pool delete %s` deletes it there; if this node has left "
			"the cluster: --force",
			d->name);
}

static int delete_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct admin_delete *d = arg;
	const char *text;
	uint64_t held;
	struct key k;

	key_of_pool(&k, d->name);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	if (!text)
		return pool_missing(d->name, l->ipam->node, e);
	if (check_no_blocks(l, d->name, e) || pool_check_own(text, d, e) ||
	    pool_db_held(l, d->name, &held, e))
		return -1;
	if (held && !d->force) {
		err_set(e, ERR_BUSY, 0, "pool %s is in use: %lu address%s held", d->name,
			(unsigned long)held, held == 1 ? " is" : "es are");
		return err_hint(e, "see `railctl ipam lease list --pool %s`; --force drops them",
				d->name);
	}
	return pool_db_delete(l, d->name, e);
}

int admin_pool_delete(struct ipam *m, const struct admin_delete *d, struct json **journal,
		      struct err *e)
{
	struct ipam_job job = { STORE_WRITE, "POOL", delete_in_txn, (void *)(uintptr_t)d, journal };

	return pool_name_valid(d->name, e) ? -1 : ipam_run(m, &job, e);
}

/* ---- list ---- */

struct list_job {
	struct lease_db *l;
	const char *name; /* NULL: all */
	struct json *out;
	struct err *e;
	bool failed;
};

struct usage {
	uint64_t used, resting;
	bool nomem;
};

static int sum_usage(const char *key, const char *value, void *arg)
{
	struct usage *u = arg;
	struct source_usage t;
	struct err why;

	if (source_usage_parse(value, key, &t, &why)) {
		u->nomem = why.code == ERR_NOMEM;
		return u->nomem;
	}
	u->used += t.used;
	u->resting += t.resting;
	return 0;
}

static int load_usage(struct lease_db *l, const char *scope, struct usage *out, struct err *e)
{
	struct key prefix;

	*out = (struct usage){ 0, 0, false };
	key_of_usage(&prefix, scope, "");
	if (lease_db_scan(l, &prefix, sum_usage, out, e))
		return -1;
	return out->nomem ? err_nomem(e) : 0;
}

static int pool_add_usage(struct json *o, const struct usage *u)
{
	return json_add_int(o, "used", (int64_t)u->used) ||
			       json_add_int(o, "resting", (int64_t)u->resting)
		       ? -1
		       : 0;
}

int admin_add_count(struct json *o, const char *key, u128 n)
{
	char digits[48];
	size_t at = sizeof(digits) - 1;

	if (n <= NUMBER_MAX)
		return json_add_int(o, key, (int64_t)n);
	digits[at] = '\0';
	for (; n; n /= 10)
		digits[--at] = (char)('0' + (int)(n % 10));
	return json_add_str(o, key, digits + at);
}

static int add_slice_error(struct json *o, const struct err *why, struct err *e)
{
	if (why->code == ERR_NOMEM || json_add_str(o, "error", why->msg))
		return err_nomem(e);
	return 1;
}

/* The member "slice": which part of the pool this node has. 1: it has none, *s is unusable. */
static int add_slice(struct list_job *job, struct json *pool, struct source *s, struct err *e)
{
	const struct ipam *m = job->l->ipam;
	struct json *o = json_add_object(pool, "slice");
	struct slice_check c = { .name = json_str(json_get(pool, "name")), .own = s };
	char first[IP_STR_LEN], last[IP_STR_LEN];
	struct err why;

	if (!o)
		return err_nomem(e);
	if (node_file_number(m->ctx, m->node, &c.number, &why) || pool_slice_cut(s, c.number, &why))
		return add_slice_error(o, &why, e);
	if (slice_check_leases(job->l, &c, e))
		return -1;
	struct ip_range r = pool_slice_range(&s->slice, c.number);
	if (json_add_int(o, "number", c.number) ||
	    json_add_str(o, "first", ip_format(r.first, first)) ||
	    json_add_str(o, "last", ip_format(r.last, last)) ||
	    json_add_int(o, "slices", (int64_t)pool_slice_count(&s->slice, s->subnet)) ||
	    json_add_int(o, "leasesOutside", (int64_t)c.outside.n) ||
	    json_add_int(o, "leasesInOtherSlices", (int64_t)c.elsewhere.n))
		return err_nomem(e);
	return 0;
}

/* The blocks of a shared pool that this node has, and its loans. */
struct block_sums {
	int64_t granted, others; /* blocks */
	int64_t lent, borrowed;  /* addresses */
	u128 capacity;
};

static void pool_add_block(struct block_sums *n, const struct source *s,
			   const struct block_whole *b)
{
	const struct block_record *r = &b->is;
	const struct lending *l = &b->lends;
	bool granted = r->state == BLOCK_GRANTED;

	if (r->key.one) {
		n->borrowed += granted;
		n->capacity += granted && ranges_contain(&s->usable, block_key_ip(&r->key));
		return;
	}
	n->granted += granted;
	n->others += !granted;
	n->lent += l->n;
	if (!granted)
		return;
	n->capacity +=
		ranges_capacity_in(&s->usable, pool_block_range(s->blocks.bits, r->key.start));
	for (unsigned i = 0; i < l->n; i++)
		n->capacity -= ranges_contain(&s->usable, block_lent_ip(l, i));
}

/* The member "blocks", and the capacity: that of the granted blocks and of loans. */
static int pool_add_blocks(struct list_job *job, struct json *pool, const struct source *s,
			   struct err *e)
{
	struct json *o = json_add_object(pool, "blocks");
	auto_keys struct keys keys = { .n = 0 };
	struct block_sums n = { .granted = 0 };
	struct key blocks, loans;
	struct block_whole b;
	bool found;

	key_of_blocks(&blocks, s->scope);
	key_of_loans(&loans, s->scope);
	if (!o)
		return err_nomem(e);
	if (pool_db_keys(job->l, &blocks, &keys, e) || pool_db_keys(job->l, &loans, &keys, e))
		return -1;
	for (size_t i = 0; i < keys.n; i++) {
		if (block_db_whole(job->l, &keys.items[i], &b, &found, e))
			return -1;
		if (found)
			pool_add_block(&n, s, &b);
	}
	if (json_add_int(o, "granted", n.granted) || json_add_int(o, "others", n.others) ||
	    json_add_int(o, "lent", n.lent) || json_add_int(o, "borrowed", n.borrowed) ||
	    json_add_str(o, "uid", s->blocks.uid) || admin_add_count(pool, "capacity", n.capacity))
		return err_nomem(e);
	return 0;
}

/* As pool_text_decode(). A shared pool says how many of its addresses the cluster reserves. */
static int admin_pool_decode(struct json *o, const char *name, const struct pool_text *t,
			     struct source *s, struct err *why)
{
	const struct pool_text whole = { t->tree, t->def, t->uid, t->generation, NULL };
	u128 all;

	if (pool_text_decode(name, &whole, s, why))
		return -1;
	all = ranges_capacity(&s->usable);
	if (pool_reserve(s, t->reserved, why))
		return -1;
	if (s->blocks.shared && admin_add_count(o, "reserved", all - ranges_capacity(&s->usable)))
		return err_nomem(why);
	return 0;
}

static int add_definition(struct list_job *job, struct json *o, const char *name,
			  const struct pool_text *t)
{
	const struct json *def = t->def;
	auto_clean(source_clear) struct source s = { .label = "" };
	struct err why;

	if (json_add_copy(o, "definition", def) ||
	    json_add_str(o, "from", t->uid ? "cluster" : "node") ||
	    (t->uid && json_add_int(o, "generation", t->generation)) ||
	    (t->reserved && json_add_copy(o, "clusterReserved", t->reserved)))
		return err_nomem(job->e);
	if (admin_pool_decode(o, name, t, &s, &why))
		return why.code == ERR_NOMEM || json_add_str(o, "error", why.msg)
			       ? err_nomem(job->e)
			       : 0;
	int rc = s.slice.size ? add_slice(job, o, &s, job->e) : 0;
	if (s.blocks.shared)
		return rc < 0 ? -1 : pool_add_blocks(job, o, &s, job->e);
	if (rc == 0 && admin_add_count(o, "capacity", ranges_capacity(&s.usable)))
		return err_nomem(job->e);
	return rc < 0 ? -1 : 0;
}

static int list_one(struct list_job *job, const char *name, const char *text)
{
	struct json *o = json_push_object(job->out);
	auto_pool_text struct pool_text def = { .tree = NULL };
	char scope[KEY_SCOPE_MAX];
	struct usage u;
	struct err why;

	if (!o || json_add_str(o, "name", name))
		return err_nomem(job->e);
	if (pool_parse(text, name, &def, &why) == 0) {
		if (add_definition(job, o, name, &def))
			return -1;
	} else if (why.code == ERR_NOMEM || json_add_str(o, "error", why.msg)) {
		return err_nomem(job->e);
	}
	if (load_usage(job->l, key_scope(scope, 'p', name), &u, job->e))
		return -1;
	return pool_add_usage(o, &u) ? err_nomem(job->e) : 0;
}

static int admin_list_pool(const char *key, const char *value, void *arg)
{
	struct list_job *job = arg;

	if (job->name && strcmp(job->name, key + 2) != 0)
		return 0;
	job->failed = list_one(job, key + 2, value) != 0;
	return job->failed;
}

static int pool_list_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct list_job *job = arg;
	struct key prefix = { "d/" };

	json_free(job->out);
	job->out = json_new_array();
	job->l = l;
	job->e = e;
	if (!job->out)
		return err_nomem(e);
	if (lease_db_scan(l, &prefix, admin_list_pool, job, e) || job->failed)
		return -1;
	if (job->name && json_len(job->out) == 0)
		return pool_missing(job->name, l->ipam->node, e);
	return 0;
}

int admin_pools(struct ipam *m, const char *name, struct json **out, struct err *e)
{
	struct list_job arg = { .name = name };
	struct ipam_job job = { STORE_READ, "POOL", pool_list_in_txn, &arg, NULL };

	return ipam_read(m, &job, &arg.out, out, e);
}
