/* SPDX-License-Identifier: Apache-2.0 */
/* namespace.c: counts the leases of pools by namespace. The keys of a pool are neighbours. */
#include <stdlib.h>
#include <string.h>

#include "ipam/admin/admin.h"
#include "lib/base/array.h"

struct count {
	char pool[KEY_NAME_MAX + 1];
	char *ns; /* owned */
	uint64_t used, resting;
};

struct count_job {
	const char *pool;     /* NULL: all */
	struct count *counts; /* owned */
	size_t n, first;      /* first: where the present pool begins */
	struct err *e;
	bool failed;
};

static void counts_clear(struct count_job *job)
{
	for (size_t i = 0; i < job->n; i++)
		free(job->counts[i].ns);
	free(job->counts);
	job->counts = NULL;
	job->n = job->first = 0;
}

/* The entry of a namespace in the present pool; NULL: no memory. */
static struct count *entry_of(struct count_job *job, const char *pool, const char *ns)
{
	if (job->n && strcmp(job->counts[job->n - 1].pool, pool) != 0)
		job->first = job->n;
	for (size_t i = job->first; i < job->n; i++) {
		if (strcmp(job->counts[i].ns, ns) == 0)
			return &job->counts[i];
	}
	if (ARRAY_GROW(job->counts, job->n, ADMIN_NAMESPACES_MAX, "namespaces", job->e))
		return NULL;

	char *copy = strdup(ns);

	if (!copy) {
		err_nomem(job->e);
		return NULL;
	}
	job->counts[job->n] = (struct count){ .ns = copy };
	memcpy(job->counts[job->n].pool, pool, strlen(pool) + 1);
	return &job->counts[job->n++];
}

static int count_lease(const char *key, const char *value, void *arg)
{
	struct count_job *job = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err why;
	const char *pool = key_parse_address(key, &a) ? NULL : key_pool_of(a.scope);

	if (!pool || strlen(pool) > KEY_NAME_MAX || (job->pool && strcmp(job->pool, pool) != 0))
		return 0;
	if (lease_parse(value, key, &rec, &why)) {
		/* what cannot be read is for `verify` */
		job->failed = why.code == ERR_NOMEM;
		return job->failed ? err_nomem(job->e) : 0;
	}

	struct count *c = entry_of(job, pool, rec.owner.ns);

	job->failed = !c;
	if (c && rec.state == LEASE_RESTING)
		c->resting++;
	else if (c)
		c->used++;
	return job->failed;
}

static int count_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct count_job *job = arg;
	struct key prefix = { "a/" };

	counts_clear(job);
	job->e = e;
	return lease_db_scan(l, &prefix, count_lease, job, e) || job->failed ? -1 : 0;
}

static int namespace_compare(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	int c = strcmp(x->pool, y->pool);

	return c ? c : strcmp(x->ns, y->ns);
}

static int namespace_print(const struct count_job *job, struct json **out, struct err *e)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; i < job->n; i++) {
		const struct count *c = &job->counts[i];
		struct json *o = list ? json_push_object(list) : NULL;

		if (!o || json_add_str(o, "pool", c->pool) || json_add_str(o, "namespace", c->ns) ||
		    json_add_int(o, "used", (int64_t)c->used) ||
		    json_add_int(o, "resting", (int64_t)c->resting))
			return err_nomem(e);
	}
	if (!list)
		return err_nomem(e);
	*out = TAKE_PTR(list);
	return 0;
}

int admin_namespaces(struct ipam *m, const char *pool, struct json **out, struct err *e)
{
	struct count_job arg = { .pool = pool };
	struct ipam_job job = { STORE_READ, "LIST", count_in_txn, &arg, NULL };
	int rc = ipam_run(m, &job, e);

	if (rc == 0 && arg.n)
		qsort(arg.counts, arg.n, sizeof(*arg.counts), namespace_compare);
	if (rc == 0)
		rc = namespace_print(&arg, out, e);
	counts_clear(&arg);
	return rc;
}
