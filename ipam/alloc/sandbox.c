/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c: finds the leases of a pod's earlier sandboxes, and releases those that are gone. */
#include "ipam/alloc/sandbox.h"

#include <string.h>

#define SANDBOXES_MAX 32 /* at most so many are checked; repair handles the others */

struct old {
	const struct source *source;
	struct key_address items[SANDBOXES_MAX];
	size_t n;
};

static int note_address(const char *key, const char *value, void *arg)
{
	struct old *old = arg;

	(void)key;
	if (key_parse_address(value, &old->items[old->n]) == 0 &&
	    ranges_contain(&old->source->usable, old->items[old->n].ip))
		old->n++;
	return old->n == SANDBOXES_MAX;
}

/* True if it is the lease of another container of the same pod. The index alone is not trusted. */
static bool is_old(const struct lease *rec, const struct source *s, const struct owner *o)
{
	bool same_uid = !*rec->owner.uid || !*o->uid || strcmp(rec->owner.uid, o->uid) == 0;

	return rec->state == LEASE_HELD && owner_same_pod(&rec->owner, o) &&
	       strcmp(rec->owner.container, o->container) != 0 && (same_uid || s->policy.sticky);
}

/* 1: released. 0: it stays. */
static int release_gone(const struct sandbox *new, const struct source *s,
			const struct key_address *a, struct err *e)
{
	struct lease_db *l = new->db;
	auto_lease struct lease rec = { .tree = NULL };
	int found = lease_db_of_address(l, a->scope, a->ip, &rec, e);

	if (found <= 0 || !is_old(&rec, s, new->owner))
		return found < 0 ? -1 : 0;

	int gone =
		holder_checks_is_gone(new->checks, l->ipam->holders, l->ipam->ctx, &rec.owner, e);

	if (gone <= 0)
		return gone;
	return lease_db_release(l, a, l->now, e) ? -1 : 1;
}

int sandbox_take_over(const struct sandbox *new, const struct source *s, struct ip *out,
		      struct err *e)
{
	const struct owner *o = new->owner;
	struct old old = { .source = s };
	struct key prefix;

	*out = (struct ip){ .family = IP_NONE };
	if (!owner_has_pod(o))
		return 0;
	key_of_pod(&prefix, s->scope, (const char *const[]){ o->ns, o->pod, o->ifname }, NULL);
	if (lease_db_scan(new->db, &prefix, note_address, &old, e))
		return -1;
	for (size_t i = 0; i < old.n; i++) {
		int released = release_gone(new, s, &old.items[i], e);

		if (released < 0)
			return -1;
		if (released && !out->family)
			*out = old.items[i].ip;
	}
	return 0;
}
