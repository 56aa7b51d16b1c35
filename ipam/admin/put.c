/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.c: adds and changes pools. Several pools are one transaction. The comparison with other
 * pools is the last step, so one file can also move addresses between two of its pools.
 */
#include <inttypes.h>
#include <string.h>

#include "ipam/admin/admin.h"
#include "ipam/admin/slice_check.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/lease/pool_db.h"
#include "ipam/conf/node_file.h"

struct put_job {
	struct admin_pool *pools;
	struct source *sources; /* the whole pools; owned */
	size_t n;
};

/* ---- one pool ---- */

struct change {
	struct lease_db *l;
	struct admin_pool *p;
	const struct source *whole; /* the pool by the new definition */
	const struct json *old;     /* the old definition; NULL: the pool is new */
	struct source from;         /* the pool by it; empty if it cannot be read. Owned */
};

/*
 * This node's part by the new definition. 1: it has no number. That is allowed for a new pool,
 * and for a change that moves no slice.
 */
static int cut_own(const struct change *c, struct source *own, uint32_t *number, struct err *e)
{
	const struct ipam *m = c->l->ipam;
	auto_node_file struct node_file f = { .tree = NULL };

	if (pool_decode(c->p->name, c->p->definition, own, e))
		return -1;
	if (!own->slice.size)
		return 0;
	int rc = node_file_load(m->ctx, m->node, &f, e);
	*number = f.number.number;
	if (rc == 0)
		return pool_slice_cut(own, *number, e);
	if (rc < 0 || !c->old || slice_same_grid(&c->from, c->whole))
		return rc;
	return node_file_number(m->ctx, m->node, number, e);
}

/* The addresses of this node by the old definition. A number that does not fit has nothing. */
static int load_have(const struct change *c, struct ranges *out, struct err *e)
{
	const struct ipam *m = c->l->ipam;
	const struct source *from = &c->from;
	auto_node_file struct node_file f = { .tree = NULL };

	if (!from->subnet.addr.family)
		return 0;
	if (!from->slice.size && json_get(c->old, "ranges"))
		return ranges_copy(&from->usable, out, e);
	if (!from->slice.size)
		return ranges_add(
			out, (struct ip_range){ ip_network(from->subnet), ip_last(from->subnet) },
			e);
	int rc = node_file_load(m->ctx, m->node, &f, e);
	if (rc == 0 && f.number.number < pool_slice_count(&from->slice, from->subnet))
		return ranges_add(out, pool_slice_range(&from->slice, f.number.number), e);
	return rc < 0 ? -1 : 0;
}

static int check_moved(const struct change *c, const struct slice_check *to, struct err *e)
{
	auto_ranges struct ranges have = { .n = 0 };
	const struct slice_move m = { &c->from, to, &have };

	return load_have(c, &have, e) ? -1 : slice_check_moved(&m, e);
}

static int refuse_outside(const struct slice_check *c, struct err *e)
{
	err_set(e, ERR_BUSY, 0,
		"pool %.100s: %" PRIu64 " leased address%s not in the new definition: %s%s",
		c->name, c->outside.n, c->outside.n == 1 ? " is" : "es are", c->outside.text,
		c->outside.n > 3 ? ", ..." : "");
	return err_hint(e, "--force changes the pool all the same: the pods keep these addresses "
			   "until they are deleted, and the pool does not assign them again");
}

static int put_check_leases(const struct change *c, struct err *e)
{
	auto_clean(source_clear) struct source own = { .label = "" };
	struct admin_pool *p = c->p;
	struct slice_check to = { .name = p->name, .own = &own };
	int rc = cut_own(c, &own, &to.number, e);

	p->no_number = rc > 0;
	if (rc)
		return rc < 0 ? -1 : 0;
	if (slice_check_leases(c->l, &to, e))
		return -1;
	p->outside = to.outside.n;
	/* An unchanged definition needs no check. */
	if (p->done == ADMIN_UNCHANGED)
		return 0;
	if (to.elsewhere.n)
		return slice_refuse_elsewhere(&to, e);
	if (p->force || !c->old)
		return 0;
	if (p->apply && to.outside.n)
		return refuse_outside(&to, e);
	return check_moved(c, &to, e);
}

static int check_change(struct change *c, struct err *e)
{
	struct err why;

	/* a definition that cannot be read gave no addresses */
	if (c->old && pool_decode(c->p->name, c->old, &c->from, &why) && why.code == ERR_NOMEM)
		return err_nomem(e);
	int rc = put_check_leases(c, e);
	source_clear(&c->from);
	return rc;
}

/* The node agent would refuse its own pool after that, and no block of it could give. */
static int refuse_cluster_pool(const char *name, struct err *e)
{
	err_set(e, ERR_BUSY, 0, "pool %.100s is a pool of the cluster", name);
	return err_hint(e, "`railctl cluster pool apply FILE` changes it there; the node agent "
			   "brings the definition here");
}

/* By hand it would give nothing, and keep the cluster's pool of this name away from the node. */
static int refuse_blocks(const struct admin_pool *p, struct err *e)
{
	if (!p->refuse_whole || !json_get(p->definition, "blockSize"))
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"pool %.100s: with \"blockSize\" it is a pool of all nodes, and this command "
		"changes "
		"one node",
		p->name);
	return err_hint(e, "`railctl cluster pool apply FILE` makes it; FILE has \"name\" and the "
			   "definition");
}

static int check_exists(struct lease_db *l, const struct admin_pool *p, bool exists, struct err *e)
{
	if (p->apply || exists == p->replace)
		return 0;
	if (p->replace)
		return pool_missing(p->name, l->ipam->node, e);
	err_set(e, ERR_BUSY, 0, "pool %s exists", p->name);
	return err_hint(e, "change it with `railctl ipam pool set`");
}

static int admin_put_one(struct lease_db *l, struct admin_pool *p, const struct source *whole,
			 struct err *e)
{
	auto_pool_text struct pool_text old = { .tree = NULL };
	auto_free char *text = pool_record(p->definition);
	const char *present;
	struct err why;
	struct key k;

	p->outside = 0;
	p->no_number = false;
	if (!text)
		return err_nomem(e);
	key_of_pool(&k, p->name);
	if (lease_db_get(l, k.s, &present, e))
		return -1;
	if (present && pool_parse(present, k.s, &old, &why) && why.code == ERR_NOMEM)
		return err_nomem(e);
	if (old.uid)
		return refuse_cluster_pool(p->name, e);
	if (check_exists(l, p, present != NULL, e))
		return -1;
	p->done = !present ? ADMIN_ADDED : strcmp(present, text) ? ADMIN_CHANGED : ADMIN_UNCHANGED;
	struct change c = { l, p, whole, old.def, { .label = "" } };
	if (check_change(&c, e))
		return -1;
	return p->done == ADMIN_UNCHANGED ? 0 : lease_db_put(l, k.s, TAKE_PTR(text), e);
}

/* ---- all pools ---- */

static int admin_put_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct put_job *job = arg;

	for (size_t i = 0; i < job->n; i++) {
		if (admin_put_one(l, &job->pools[i], &job->sources[i], e))
			return -1;
	}
	for (size_t i = 0; i < job->n; i++) {
		const struct admin_pool *p = &job->pools[i];

		if (pool_db_check_overlap(l, p->name, &job->sources[i], e) ||
		    (p->done != ADMIN_UNCHANGED &&
		     pool_db_check_living(l, p->name, &job->sources[i], e)))
			return -1;
	}
	lease_db_sync(l);
	return 0;
}

static int put_decode_all(struct put_job *job, struct err *e)
{
	for (size_t i = 0; i < job->n; i++) {
		const struct admin_pool *p = &job->pools[i];

		if (pool_name_valid(p->name, e) || pool_check_keys(p->definition, e) ||
		    pool_decode(p->name, p->definition, &job->sources[i], e) ||
		    refuse_blocks(p, e) ||
		    (p->refuse_whole && pool_is_restricted(p->name, p->definition, e)))
			return -1;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(p->name, job->pools[k].name) == 0)
				return err_set(e, ERR_CONFIG, 0, "pool %s is given twice", p->name);
		}
	}
	return 0;
}

int admin_pools_put(struct ipam *m, struct admin_pool *pools, size_t n, struct err *e)
{
	struct put_job arg = { .pools = pools, .n = n };
	struct ipam_job job = { STORE_WRITE, "POOL", admin_put_in_txn, &arg, NULL };

	arg.sources = calloc(n + 1, sizeof(*arg.sources));
	if (!arg.sources)
		return err_nomem(e);
	int rc = put_decode_all(&arg, e) || ipam_run(m, &job, e) ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		source_clear(&arg.sources[i]);
	free(arg.sources);
	return rc;
}

int admin_pool_put(struct ipam *m, struct admin_pool *p, struct err *e)
{
	return admin_pools_put(m, p, 1, e);
}
