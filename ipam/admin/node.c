/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c: changes number and labels of the node, and lists slices and blocks. The file is
 * written while a writing transaction is open: an ADD reads it in one too, so no lease comes
 * between check and write.
 */
#include "ipam/admin/admin.h"
#include "ipam/admin/node.h"
#include "ipam/admin/slice_check.h"
#include "ipam/conf/labels.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"
#include "ipam/conf/node_file.h"

/* ---- the number ---- */

struct node_job {
	struct admin_node *n;
	struct lease_db *l;
	struct err *e;
	bool failed;
};

/* *out: a copy of `file` with the labels that node.json has now. */
static int with_labels(const struct ctx *ctx, const struct json *file, struct json **out,
		       struct err *e)
{
	auto_json struct json *now = NULL, *o = NULL;
	const struct json *labels;

	if (node_file_read(ctx, &now, e))
		return -1;
	labels = json_get(now, "labels");
	o = json_dup(file);
	if (!o || (labels && json_add_copy(o, "labels", labels)))
		return err_nomem(e);
	*out = o;
	o = NULL;
	return 0;
}

/* *pool: of the definition; it becomes this node's part. */
static int check_leases(struct node_job *job, const char *name, struct source *pool)
{
	struct slice_check c = { .name = name, .own = pool, .number = job->n->number };
	struct err why;

	if (pool_slice_cut(pool, job->n->number, &why)) {
		if (why.code == ERR_NOMEM || !job->n->force) {
			*job->e = why;
			return err_hint(job->e,
					"--force sets the number all the same: this node then "
					"assigns no address of this pool");
		}
		ranges_clear(&pool->usable);
	}
	if (slice_check_leases(job->l, &c, job->e))
		return -1;
	return c.elsewhere.n ? slice_refuse_elsewhere(&c, job->e) : 0;
}

static int check_pool(const char *key, const char *value, void *arg)
{
	struct node_job *job = arg;
	auto_pool_text struct pool_text def = { .tree = NULL };
	auto_clean(source_clear) struct source pool = { .label = "" };
	struct err why;

	/* one that cannot be read gives no addresses */
	if (pool_parse(value, key, &def, &why) || pool_text_decode(key + 2, &def, &pool, &why)) {
		job->failed = why.code == ERR_NOMEM;
		if (job->failed)
			*job->e = why;
	} else if (pool.slice.size) {
		job->failed = check_leases(job, key + 2, &pool);
	}
	return job->failed;
}

static int set_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct node_job *job = arg;
	auto_json struct json *file = NULL;
	const struct ipam *m = l->ipam;
	const struct key all = { "d/" };
	struct node_number n;

	job->l = l;
	job->e = e;
	job->failed = false;
	if (node_number_decode(job->n->file, m->node, &n, e))
		return -1;
	job->n->number = n.number;
	if (lease_db_scan(l, &all, check_pool, job, e) || job->failed)
		return -1;
	return with_labels(m->ctx, job->n->file, &file, e) ? -1 : node_file_write(m->ctx, file, e);
}

int admin_node_set(struct ipam *m, struct admin_node *n, struct err *e)
{
	struct node_job arg = { .n = n };
	struct ipam_job job = { STORE_WRITE, "NODE", set_in_txn, &arg, NULL };

	return ipam_run(m, &job, e);
}

/* ---- labels ---- */

static int change_labels(struct json *labels, const struct json *changes, struct err *e)
{
	json_each (item, changes) {
		json_del(labels, json_key(item));
		if (json_type(item) != JSON_NULL && json_add_copy(labels, json_key(item), item))
			return err_nomem(e);
	}
	return labels_check(labels, "labels", e);
}

static int label_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	auto_json struct json *file = NULL, *labels = NULL;
	const struct ctx *ctx = l->ipam->ctx;

	if (node_file_read(ctx, &file, e))
		return -1;
	if (!file && !(file = json_new_object()))
		return err_nomem(e);
	labels = json_get(file, "labels") ? json_dup(json_get(file, "labels")) : json_new_object();
	if (!labels)
		return err_nomem(e);
	if (change_labels(labels, arg, e))
		return -1;
	json_del(file, "labels");
	if (json_add_copy(file, "labels", labels))
		return err_nomem(e);
	return node_file_write(ctx, file, e);
}

int admin_node_label(struct ipam *m, const struct json *changes, struct err *e)
{
	struct ipam_job job = { STORE_WRITE, "NODE", label_in_txn, (void *)(uintptr_t)changes,
				NULL };

	return ipam_run(m, &job, e);
}

/* ---- the table of slices ---- */

static int node_add_row(struct json *list, const struct source *whole, uint32_t number)
{
	struct ip_range r = pool_slice_range(&whole->slice, number);
	struct json *o = json_push_object(list);
	char a[IP_STR_LEN], b[IP_STR_LEN];

	if (!o || json_add_int(o, "number", number) ||
	    json_add_str(o, "first", ip_format(r.first, a)) ||
	    json_add_str(o, "last", ip_format(r.last, b)))
		return -1;
	return admin_add_count(o, "addresses", ranges_capacity_in(&whole->usable, r));
}

static int node_check_count(const struct admin_slices *s, const struct source *whole, uint64_t *n,
			    struct err *e)
{
	uint64_t count = pool_slice_count(&whole->slice, whole->subnet);

	*n = s->n ? s->n : count;
	if (*n > count)
		return err_set(e, ERR_CONFIG, 0,
			       "%s has %lu slices, too few for %lu nodes: the highest number that "
			       "fits is %lu",
			       whole->label, (unsigned long)count, (unsigned long)*n,
			       (unsigned long)(count - 1));
	if (*n <= ADMIN_SLICES_MAX)
		return 0;
	err_set(e, ERR_CONFIG, 0, "%s has %lu slices; a table has at most %d", whole->label,
		(unsigned long)count, ADMIN_SLICES_MAX);
	return err_hint(e, "say how many nodes you have: --nodes 1024");
}

int admin_slices(const struct admin_slices *s, struct json **out, struct err *e)
{
	auto_clean(source_clear) struct source whole = { .label = "" };
	auto_json struct json *list = NULL;
	uint64_t n;

	if (pool_decode(s->name, s->definition, &whole, e))
		return -1;
	if (!whole.slice.size) {
		err_set(e, ERR_CONFIG, 0, "%s has no slices", whole.label);
		if (whole.blocks.shared)
			return err_hint(e, "it has blocks: `railctl ipam blocks %.100s`", s->name);
		return err_hint(e,
				"slices begin with \"slice\" in the definition: `railctl ipam "
				"pool set %.100s --slice /28`",
				s->name);
	}
	if (node_check_count(s, &whole, &n, e))
		return -1;
	list = json_new_array();
	if (!list)
		return err_nomem(e);
	for (uint64_t i = 0; i < n; i++) {
		if (node_add_row(list, &whole, (uint32_t)i))
			return err_nomem(e);
	}
	*out = TAKE_PTR(list);
	return 0;
}

/* ---- the blocks of this node ---- */

struct blocks_job {
	const char *pool; /* NULL: all */
	struct json *out;
	struct node_record node;
};

/* What the block lends; of a loan: that it is one. */
static int add_loans(struct json *o, const struct block_whole *b)
{
	const struct block_record *r = &b->is;
	const struct lending *l = &b->lends;
	struct json *lent = l->n ? json_add_array(o, "lent") : NULL;
	char text[IP_STR_LEN];

	if (r->key.one && (json_add_bool(o, "loan", true) ||
			   (*r->lender && json_add_str(o, "lender", r->lender))))
		return -1;
	for (unsigned i = 0; i < l->n; i++) {
		struct json *item = lent ? json_push_object(lent) : NULL;

		if (!item || json_add_str(item, "address", ip_format(block_lent_ip(l, i), text)) ||
		    json_add_str(item, "node", l->loans[i].to.node) ||
		    json_add_bool(item, "taken", l->loans[i].taken))
			return -1;
	}
	return 0;
}

/* Addresses that pods have: of the block, or the one of the loan. */
static int count_used(struct lease_db *l, const char *scope, const struct block_key *b, uint64_t *n,
		      struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	char id[KEY_ID_LEN + 1];
	struct source_usage t;
	int found;

	if (!b->one) {
		if (lease_db_usage(l, scope, pool_block_id(b->start, id), &t, e))
			return -1;
		*n = t.used;
		return 0;
	}
	found = lease_db_of_address(l, scope, block_key_ip(b), &rec, e);
	if (found < 0)
		return -1;
	*n = found && rec.state == LEASE_HELD;
	return 0;
}

static int node_add_block(struct lease_db *l, const struct blocks_job *job, const struct source *s,
			  const struct key *key, struct err *e)
{
	struct json *o = json_push_object(job->out);
	char first[IP_STR_LEN], last[IP_STR_LEN];
	struct block_whole b = { .is.token = 0 };
	const struct block_record *r = &b.is;
	uint64_t used;
	bool found;

	if (!o)
		return err_nomem(e);
	if (block_db_whole(l, key, &b, &found, e) || count_used(l, s->scope, &r->key, &used, e))
		return -1;
	struct ip_range range = pool_block_range(s->blocks.bits, r->key.start);
	if (r->key.one)
		range.first = range.last = block_key_ip(&r->key);
	bool assigns = node_may_give(&job->node, s->blocks.strict, l->ipam->boot,
				     ctx_since_boot(l->ipam->ctx)) &&
		       block_may_give(&job->node, r);
	if (json_add_str(o, "pool", r->key.pool) ||
	    json_add_str(o, "first", ip_format(range.first, first)) ||
	    json_add_str(o, "last", ip_format(range.last, last)) ||
	    json_add_str(o, "state", block_state_name(r->state)) ||
	    json_add_bool(o, "assigns", assigns) || json_add_bool(o, "probe", r->probe) ||
	    admin_add_count(o, "addresses", ranges_capacity_in(&s->usable, range)) ||
	    json_add_int(o, "used", (int64_t)used) || add_loans(o, &b))
		return err_nomem(e);
	return 0;
}

static int add_blocks(struct lease_db *l, const struct blocks_job *job, const char *pool,
		      struct err *e)
{
	auto_pool_entry struct pool_entry p = { .text = { .tree = NULL } };
	auto_keys struct keys keys = { .n = 0 };
	struct key blocks, loans;
	bool found;

	if (pool_db_load(l, pool, &p, &found, e))
		return -1;
	if (!found)
		return pool_missing(pool, l->ipam->node, e);
	if (!p.source.blocks.shared)
		return 0;
	key_of_blocks(&blocks, p.source.scope);
	key_of_loans(&loans, p.source.scope);
	if (pool_db_keys(l, &blocks, &keys, e) || pool_db_keys(l, &loans, &keys, e))
		return -1;
	for (size_t i = 0; i < keys.n; i++) {
		if (node_add_block(l, job, &p.source, &keys.items[i], e))
			return -1;
	}
	return 0;
}

static int blocks_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct blocks_job *job = arg;
	auto_keys struct keys pools = { .n = 0 };
	const struct key all = { "d/" };
	const char *text;

	json_free(job->out);
	job->out = json_new_array();
	if (!job->out)
		return err_nomem(e);
	if (lease_db_get(l, KEY_NODE, &text, e) || node_value_parse(text, &job->node, e))
		return -1;
	if (job->pool)
		return add_blocks(l, job, job->pool, e);
	if (pool_db_keys(l, &all, &pools, e))
		return -1;
	for (size_t i = 0; i < pools.n; i++) {
		if (add_blocks(l, job, pools.items[i].s + 2, e))
			return -1;
	}
	return 0;
}

int admin_blocks(struct ipam *m, const char *pool, struct json **out, struct err *e)
{
	struct blocks_job arg = { .pool = pool };
	struct ipam_job job = { STORE_READ, "BLOCK", blocks_in_txn, &arg, NULL };

	return ipam_read(m, &job, &arg.out, out, e);
}
