/* SPDX-License-Identifier: Apache-2.0 */
/* read.c: reads records in a transaction, and decodes them. */
#include "ipam/lease/read.h"

bool lease_db_has_rested(int64_t since, int64_t now, int64_t cooldown)
{
	int64_t future = cooldown > LEASE_DB_CONFLICT_NS ? cooldown : LEASE_DB_CONFLICT_NS;

	return since <= now - cooldown || since > now + future;
}

void lease_db_sync(struct lease_db *l)
{
	l->t->store->ops->keep(l->t);
}

int lease_db_get(struct lease_db *l, const char *key, const char **value, struct err *e)
{
	return l->t->store->ops->get(l->t, key, value, e);
}

int lease_db_del(struct lease_db *l, const char *key, struct err *e)
{
	return l->t->store->ops->del(l->t, key, e);
}

int lease_db_scan(struct lease_db *l, const struct key *prefix, store_fn fn, void *arg,
		  struct err *e)
{
	return lease_db_scan_from(l, (struct store_span){ prefix->s, NULL }, fn, arg, e);
}

int lease_db_scan_from(struct lease_db *l, struct store_span span, store_fn fn, void *arg,
		       struct err *e)
{
	return l->t->store->ops->scan(l->t, span, fn, arg, e);
}

int lease_db_put(struct lease_db *l, const char *key, char *text, struct err *e)
{
	if (!text)
		return err_nomem(e);
	int rc = l->t->store->ops->put(l->t, key, text, e);
	free(text);
	return rc;
}

int lease_db_lease(struct lease_db *l, const char *key, struct lease *out, bool *found,
		   struct err *e)
{
	const char *text;

	if (lease_db_get(l, key, &text, e))
		return -1;
	if (text && lease_parse(text, key, out, e))
		return -1;
	*found = text != NULL;
	return 0;
}

int lease_db_of_address(struct lease_db *l, const char *scope, struct ip ip, struct lease *out,
			struct err *e)
{
	struct key k;
	bool found;

	key_of_address(&k, scope, ip);
	return lease_db_lease(l, k.s, out, &found, e) ? -1 : found;
}

int lease_db_is_free(struct lease_db *l, const struct key_address *a, int64_t cooldown,
		     struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	int found = lease_db_of_address(l, a->scope, a->ip, &rec, e);

	if (found <= 0)
		return found ? -1 : 1;
	return rec.state != LEASE_HELD &&
	       (cooldown == LEASE_DB_ANY_REST || lease_db_has_rested(rec.since, l->now, cooldown));
}

int lease_db_list(struct lease_db *l, const struct key *k, struct key_list *out, struct err *e)
{
	const char *text;

	if (lease_db_get(l, k->s, &text, e))
		return -1;
	out->n = 0;
	return text ? key_list_parse(text, k->s, out, e) : 0;
}

int lease_db_owned(struct lease_db *l, const struct owner *o, struct key_list *out, struct err *e)
{
	struct key k;

	key_of_owner(&k, o->container, o->ifname, o->network);
	return lease_db_list(l, &k, out, e);
}

int lease_db_usage(struct lease_db *l, const char *scope, const char *source,
		   struct source_usage *out, struct err *e)
{
	const char *text;
	struct key k;

	key_of_usage(&k, scope, source);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	return source_usage_parse(text, k.s, out, e);
}

int lease_db_quota(struct lease_db *l, const char *scope, const char *ns, uint64_t *out,
		   struct err *e)
{
	const char *text;
	struct key k;

	key_of_quota(&k, scope, ns);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	if (!text) {
		*out = 0;
		return 0;
	}
	if (parse_u64(text, 0, INT64_MAX, out))
		return err_set(e, ERR_STORE, 0, "the store's record %.200s is damaged: \"%.32s\"",
			       k.s, text);
	return 0;
}

bool lease_db_sticky_key(struct key *k, const char *scope, const struct owner *o)
{
	key_of_sticky(k, scope, (const char *const[]){ o->ns, o->pod, o->ifname });
	return owner_has_pod(o);
}

int lease_db_sticky(struct lease_db *l, const char *scope, const struct owner *o,
		    struct key_list *out, struct err *e)
{
	struct key k;

	out->n = 0;
	return lease_db_sticky_key(&k, scope, o) ? lease_db_list(l, &k, out, e) : 0;
}
