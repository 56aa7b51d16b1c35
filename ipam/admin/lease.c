/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c: lists leases and networks, and releases leases for an operator. */
#include <string.h>

#include "lib/base/array.h"
#include "ipam/admin/admin.h"
#include "ipam/lease/audit.h"
#include "lib/base/guid.h"

#define LEASES_MAX (1u << 24) /* released by one command */

struct lease_job {
	const struct lease_filter *f;
	const struct lease_db *l;
	struct json *out;          /* of a list */
	struct key_address *items; /* of a release */
	size_t n;
	struct err *e;
	bool failed;
};

static bool unset_or_equal(const char *want, const char *have)
{
	return !want || strcmp(want, have) == 0;
}

static bool filter_matches(const struct lease_filter *f, const struct key_address *a,
			   const struct lease *rec)
{
	const char *pool = key_pool_of(a->scope);

	return unset_or_equal(f->pool, pool ? pool : "") &&
	       unset_or_equal(f->network, rec->owner.network) &&
	       unset_or_equal(f->container, rec->owner.container) &&
	       unset_or_equal(f->ifname, rec->owner.ifname) &&
	       unset_or_equal(f->ns, rec->owner.ns) && unset_or_equal(f->pod, rec->owner.pod) &&
	       (!f->address.family || ip_equal(f->address, a->ip)) &&
	       (f->resting || rec->state == LEASE_HELD);
}

static const char *state_name(const struct lease_db *l, const struct lease *rec)
{
	if (rec->state == LEASE_RESTING)
		return "resting";
	return strcmp(rec->boot, l->ipam->boot) == 0 ? "leased" : "stale";
}

static int lease_add_guid(struct json *o, struct ip ip)
{
	char text[GUID_STR_LEN];

	return guid_is_network((struct ip_prefix){ ip, (uint8_t)ip_bits(ip.family) })
		       ? json_add_str(o, "guid", guid_format(guid_of_gid(ip), text))
		       : 0;
}

static int add_lease(struct lease_job *job, const struct key_address *a, const struct lease *rec)
{
	char ip[IP_STR_LEN], label[KEY_SCOPE_MAX + 32], since[AUDIT_TIME_LEN];
	struct json *o = json_push_object(job->out);

	if (!o || json_add_str(o, "address", ip_format(a->ip, ip)) || lease_add_guid(o, a->ip) ||
	    json_add_str(o, "scope", key_scope_label(a->scope, label, sizeof(label))) ||
	    json_add_known(o, "pool", key_pool_of(a->scope)) ||
	    json_add_str(o, "state", state_name(job->l, rec)) ||
	    json_encode(o, owner_fields, &rec->owner) || json_add_known(o, "node", rec->node) ||
	    json_add_str(o, "since", audit_time(rec->since, since)))
		return -1;
	return 0;
}

static int on_lease(const char *key, const char *value, void *arg)
{
	struct lease_job *job = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err why;

	/* what cannot be read is for `verify` */
	if (key_parse_address(key, &a))
		return 0;
	if (lease_parse(value, key, &rec, &why)) {
		job->failed = why.code == ERR_NOMEM;
		return job->failed ? err_nomem(job->e) : 0;
	}
	if (!filter_matches(job->f, &a, &rec))
		return 0;
	if (job->out) {
		job->failed = add_lease(job, &a, &rec) != 0;
		return job->failed ? err_nomem(job->e) : 0;
	}
	job->failed = ARRAY_GROW(job->items, job->n, LEASES_MAX, "leases", job->e) != 0;
	if (!job->failed)
		job->items[job->n++] = a;
	return job->failed;
}

static int scan_leases(struct lease_db *l, struct lease_job *job, struct err *e)
{
	struct key prefix = { "a/" };

	job->l = l;
	job->e = e;
	return lease_db_scan(l, &prefix, on_lease, job, e) || job->failed ? -1 : 0;
}

static int lease_list_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct lease_job *job = arg;

	json_free(job->out);
	job->out = json_new_array();
	return job->out ? scan_leases(l, job, e) : err_nomem(e);
}

int admin_leases(struct ipam *m, const struct lease_filter *f, struct json **out, struct err *e)
{
	struct lease_job arg = { .f = f };
	struct ipam_job job = { STORE_READ, "LIST", lease_list_in_txn, &arg, NULL };

	return ipam_read(m, &job, &arg.out, out, e);
}

static int release_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct lease_job *job = arg;

	job->n = 0;
	if (scan_leases(l, job, e))
		return -1;
	for (size_t i = 0; i < job->n; i++) {
		if (lease_db_release(l, &job->items[i], l->now, e))
			return -1;
	}
	return 0;
}

int admin_release(struct ipam *m, const struct lease_filter *f, uint64_t *n, struct json **journal,
		  struct err *e)
{
	struct lease_filter held = *f;
	struct lease_job arg = { .f = &held };
	struct ipam_job job = { STORE_RELEASE, "RELEASE", release_in_txn, &arg, journal };

	if (!f->pool && !f->network && !f->container && !f->ifname && !f->ns && !f->pod &&
	    !f->address.family)
		return err_set(e, ERR_CONFIG, 0,
			       "no filter: give an address, a container, a pod or a pool");
	held.resting = false;
	int rc = ipam_run(m, &job, e);
	free(arg.items);
	if (rc)
		return -1;
	*n = arg.n;
	return 0;
}

/* ---- networks ---- */

struct network_job {
	struct json *out;
	bool nomem;
};

/* The usage records of one network follow each other, one for each of its ranges. */
static int add_usage(struct json *out, const char *label, const struct source_usage *t)
{
	struct json *last = json_len(out) ? json_at_mut(out, json_len(out) - 1) : NULL;
	uint64_t used = t->used, resting = t->resting;

	if (last && strcmp(json_str(json_get(last, "network")), label) == 0) {
		used += (uint64_t)json_num(json_get(last, "used"));
		resting += (uint64_t)json_num(json_get(last, "resting"));
		json_del(last, "used");
		json_del(last, "resting");
	} else {
		last = json_push_object(out);
		if (!last || json_add_str(last, "network", label))
			return -1;
	}
	return json_add_int(last, "used", (int64_t)used) ||
			       json_add_int(last, "resting", (int64_t)resting)
		       ? -1
		       : 0;
}

static int on_usage(const char *key, const char *value, void *arg)
{
	struct network_job *job = arg;
	char label[KEY_SCOPE_MAX + 32], scope[KEY_SCOPE_MAX];
	const char *end = strrchr(key, '/');
	struct source_usage t;
	struct err why;

	if (!end || end <= key + 2 || key_pool_of(key + 2) ||
	    slice_copy((struct slice){ key + 2, (size_t)(end - key - 2) }, scope, sizeof(scope)))
		return 0;
	if (source_usage_parse(value, key, &t, &why)) {
		job->nomem = why.code == ERR_NOMEM;
		return job->nomem;
	}
	job->nomem = add_usage(job->out, key_scope_label(scope, label, sizeof(label)), &t) != 0;
	return job->nomem;
}

static int networks_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct network_job *job = arg;
	struct key prefix = { "u/" };

	json_free(job->out);
	job->out = json_new_array();
	if (!job->out)
		return err_nomem(e);
	if (lease_db_scan(l, &prefix, on_usage, job, e))
		return -1;
	return job->nomem ? err_nomem(e) : 0;
}

int admin_networks(struct ipam *m, struct json **out, struct err *e)
{
	struct network_job arg = { .nomem = false };
	struct ipam_job job = { STORE_READ, "LIST", networks_in_txn, &arg, NULL };

	return ipam_read(m, &job, &arg.out, out, e);
}
