/* SPDX-License-Identifier: Apache-2.0 */
/* held.c: an ADD of an owner that has its addresses already. */
#include <string.h>

#include "ipam/alloc/priv.h"

int alloc_load_held(struct lease_db *l, const struct owner *o, struct alloc_held *out,
		    struct err *e)
{
	struct key_list list;

	if (lease_db_owned(l, o, &list, e))
		return -1;
	out->n = 0;
	for (size_t i = 0; i < list.n; i++) {
		auto_lease struct lease rec = { .tree = NULL };
		bool found = false;

		if (key_parse_address(list.items[i].s, &out->items[i]) == 0 &&
		    lease_db_lease(l, list.items[i].s, &rec, &found, e))
			return -1;
		if (!found || rec.state != LEASE_HELD || !owner_same(&rec.owner, o)) {
			err_set(e, ERR_STORE, 0, "the store's records of container %.64s disagree",
				o->container);
			return err_hint(e, "repair them with `railctl ipam verify --repair`");
		}
		out->n++;
	}
	return 0;
}

static bool has_requested(const struct request *r, const struct alloc_held *h)
{
	for (size_t i = 0; i < r->n_want; i++) {
		bool has = false;

		for (size_t j = 0; j < h->n; j++)
			has = has || ip_equal(h->items[j].ip, r->want[i]);
		if (!has)
			return false;
	}
	return true;
}

static const struct source *held_find_source(const struct source_set *set,
					     const struct key_address *a)
{
	const struct source *s = sources_find(set, a->ip);

	return s && strcmp(s->scope, a->scope) == 0 ? s : NULL;
}

/* Each set must be the source of exactly one of the addresses. */
static bool match_held(const struct source_sets *sets, const struct alloc_held *h,
		       struct grant *grants)
{
	bool used[LEASE_KEYS_MAX] = { false };

	for (size_t i = 0; i < sets->n; i++) {
		const struct source *s = NULL;

		for (size_t j = 0; j < h->n && !s; j++) {
			if (used[j])
				continue;
			s = held_find_source(&sets->sets[i], &h->items[j]);
			if (!s)
				continue;
			used[j] = true;
			grants[i] = (struct grant){ .ip = h->items[j].ip, .source = s };
		}
		if (!s)
			return false;
	}
	return h->n == sets->n;
}

int alloc_return_held(const struct source_sets *sets, const struct request *r,
		      const struct alloc_held *h, struct alloc_result *out, struct err *e)
{
	char text[IP_STR_LEN];

	if (!match_held(sets, h, out->grants) || !has_requested(r, h)) {
		err_set(e, ERR_BUSY, 0,
			"container %.64s, interface %.32s holds %s%s, which does not fit this "
			"configuration",
			r->owner.container, r->owner.ifname, ip_format(h->items[0].ip, text),
			h->n > 1 ? " and others" : "");
		return err_hint(e, "run DEL for it first, with the same network name");
	}
	out->n = sets->n;
	out->repeated = true;
	return 0;
}
