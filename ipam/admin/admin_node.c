/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin_node.c: changes the number of the node, and lists slices. The file is written while a
 * writing transaction is open: an ADD reads it in one too, so no lease comes between check and
 * write.
 */
#include "ipam/admin/admin.h"
#include "ipam/admin/slice_check.h"
#include "ipam/conf/pool.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/node/node_file.h"

/* ---- the number ---- */

struct node_job {
	struct admin_node *n;
	struct lease_db *l;
	struct err *e;
	bool failed;
};

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
	if (pool_parse(value, key, &def, &why) || pool_decode(key + 2, def.def, &pool, &why)) {
		job->failed = why.code == ERR_NOMEM;
		if (job->failed)
			*job->e = why;
	} else if (pool.slice.size) {
		job->failed = check_leases(job, key + 2, &pool) != 0;
	}
	return job->failed;
}

static int set_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct node_job *job = arg;
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
	return node_file_write(m->ctx, job->n->file, e);
}

int admin_node_set(struct ipam *m, struct admin_node *n, struct err *e)
{
	struct node_job arg = { .n = n };
	struct ipam_job job = { STORE_WRITE, "NODE", set_in_txn, &arg, NULL };

	return ipam_run(m, &job, e);
}

/* ---- the table of slices ---- */

static int add_row(struct json *list, const struct source *whole, uint32_t number)
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

static int check_count(const struct admin_slices *s, const struct source *whole, uint64_t *n,
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
		return err_hint(e,
				"slices begin with \"slice\" in the definition: `railctl ipam "
				"pool set %.100s --slice /28`",
				s->name);
	}
	if (check_count(s, &whole, &n, e))
		return -1;
	list = json_new_array();
	if (!list)
		return err_nomem(e);
	for (uint64_t i = 0; i < n; i++) {
		if (add_row(list, &whole, (uint32_t)i))
			return err_nomem(e);
	}
	*out = TAKE_PTR(list);
	return 0;
}
