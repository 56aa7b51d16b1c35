/* SPDX-License-Identifier: Apache-2.0 */
/* pool_db.c: reads, compares and deletes pools in a transaction. */
#include "ipam/lease/pool_db.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

#define KEYS_MAX (1u << 24)

void pool_entry_clear(struct pool_entry *p)
{
	source_clear(&p->source);
	pool_text_clear(&p->text);
}

int pool_db_load(struct lease_db *l, const char *name, struct pool_entry *out, bool *found,
		 struct err *e)
{
	const char *text;
	struct key k;

	key_of_pool(&k, name);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	*found = text != NULL;
	if (!text || pool_load(name, text, &out->text, &out->source, e) == 0)
		return 0;
	if (e->code != ERR_NOMEM)
		e->code = ERR_STORE;
	return -1;
}

/* ---- overlaps ---- */

struct overlap_scan {
	const char *name;
	const struct source *s;
	struct err *e;
	bool failed;
};

static int lease_see_pool(const char *key, const char *value, void *arg)
{
	struct overlap_scan *o = arg;
	auto_pool_entry struct pool_entry other = { .text = { .tree = NULL } };
	char a[IP_STR_LEN], b[IP_STR_LEN];
	struct ip_range both;
	struct err why;

	if (strcmp(key + 2, o->name) == 0)
		return 0;
	if (pool_load(key + 2, value, &other.text, &other.source, &why)) {
		if (why.code != ERR_NOMEM)
			return 0;
		*o->e = why;
		o->failed = true;
	} else if (ranges_overlap(&other.source.usable, &o->s->usable, &both)) {
		err_set(o->e, ERR_BUSY, 0, "pool %s overlaps with %s in %s-%s", o->name,
			other.source.label, ip_format(both.first, a), ip_format(both.last, b));
		o->failed = true;
	}
	return o->failed;
}

int pool_db_check_overlap(struct lease_db *l, const char *name, const struct source *s,
			  struct err *e)
{
	struct overlap_scan scan = { .name = name, .s = s, .e = e };
	const struct key all = { "d/" };

	return lease_db_scan(l, &all, lease_see_pool, &scan, e) || scan.failed ? -1 : 0;
}

static int pool_db_see_lease(const char *key, const char *value, void *arg)
{
	struct overlap_scan *o = arg;
	auto_lease struct lease rec = { .tree = NULL };
	char text[IP_STR_LEN];
	struct key_address a;
	struct err ignored;

	if (key_parse_address(key, &a) || !key_pool_of(a.scope) ||
	    strcmp(key_pool_of(a.scope), o->name) == 0 || !ranges_contain(&o->s->usable, a.ip))
		return 0;
	/* a record that cannot be read may be a living pod's */
	if (lease_parse(value, key, &rec, &ignored) == 0 && rec.state != LEASE_HELD)
		return 0;
	err_set(o->e, ERR_BUSY, 0,
		"pool %s would assign %s, which a pod has as an address of pool %s", o->name,
		ip_format(a.ip, text), key_pool_of(a.scope));
	(void)err_hint(o->e, "delete the pod first; `railctl ipam lease list --pool %s` shows it",
		       key_pool_of(a.scope));
	o->failed = true;
	return 1;
}

int pool_db_check_living(struct lease_db *l, const char *name, const struct source *s,
			 struct err *e)
{
	struct overlap_scan scan = { .name = name, .s = s, .e = e };
	const struct key pools = { "a/p/" };

	return lease_db_scan(l, &pools, pool_db_see_lease, &scan, e) || scan.failed ? -1 : 0;
}

/* ---- the records of a pool ---- */

void keys_clear(struct keys *k)
{
	free(k->items);
	*k = (struct keys){ .n = 0 };
}

static int collect_key(const char *key, const char *value, void *arg)
{
	struct keys *k = arg;

	(void)value;
	if (ARRAY_GROW(k->items, k->n, KEYS_MAX, "records of a pool", k->e)) {
		k->failed = true;
		return 1;
	}
	(void)snprintf(k->items[k->n++].s, sizeof(struct key), "%s", key);
	return 0;
}

int pool_db_keys(struct lease_db *l, const struct key *prefix, struct keys *out, struct err *e)
{
	out->e = e;
	return lease_db_scan(l, prefix, collect_key, out, e) || out->failed ? -1 : 0;
}

static int pool_db_count_held(const char *key, const char *value, void *arg)
{
	uint64_t *held = arg;
	struct lease rec = { .tree = NULL };
	struct err ignored;

	/* what cannot be read may be in use */
	if (lease_parse(value, key, &rec, &ignored) || rec.state == LEASE_HELD)
		++*held;
	lease_clear(&rec);
	return 0;
}

int pool_db_held(struct lease_db *l, const char *name, uint64_t *out, struct err *e)
{
	struct key addresses;

	*out = 0;
	key_of_pool_addresses(&addresses, name);
	return lease_db_scan(l, &addresses, pool_db_count_held, out, e);
}

/* Every key that begins with kind/p/<pool>/. */
int pool_db_delete_kind(struct lease_db *l, char kind, const char *pool, struct err *e)
{
	auto_keys struct keys keys = { .n = 0 };
	struct key prefix;

	(void)snprintf(prefix.s, sizeof(prefix.s), "%c/p/%.100s/", kind, pool);
	int rc = pool_db_keys(l, &prefix, &keys, e);
	for (size_t i = 0; rc == 0 && i < keys.n; i++)
		rc = lease_db_del(l, keys.items[i].s, e);
	return rc;
}

int pool_db_move_lease(struct lease_db *l, const struct key *k, const char *source, struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct key rest;
	bool found;

	if (key_parse_address(k->s, &a) || lease_db_lease(l, k->s, &rec, &found, e))
		return -1;
	rec.source = source;
	rec.range = "";
	if (lease_db_put(l, k->s, lease_print(&rec), e))
		return -1;
	if (rec.state == LEASE_HELD)
		return 0;
	key_of_rest(&rest, a.scope, source, rec.since, &a.ip);
	return l->t->store->ops->put(l->t, rest.s, "", e);
}

/* Through the lease database, so that owners lose their addresses too. */
static int pool_db_release_all(struct lease_db *l, const char *pool, struct err *e)
{
	auto_keys struct keys keys = { .n = 0 };
	struct key_address a;
	struct key prefix;

	key_of_pool_addresses(&prefix, pool);
	int rc = pool_db_keys(l, &prefix, &keys, e);
	for (size_t i = 0; rc == 0 && i < keys.n; i++) {
		if (key_parse_address(keys.items[i].s, &a) == 0)
			rc = lease_db_release(l, &a, l->now, e);
	}
	return rc;
}

int pool_db_delete(struct lease_db *l, const char *name, struct err *e)
{
	static const char kinds[] = "airsuqbfl";
	struct key k;

	if (pool_db_release_all(l, name, e))
		return -1;
	for (const char *kind = kinds; *kind; kind++) {
		if (pool_db_delete_kind(l, *kind, name, e))
			return -1;
	}
	key_of_pool(&k, name);
	lease_db_sync(l);
	return lease_db_del(l, k.s, e);
}
