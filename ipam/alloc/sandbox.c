/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c: finds the leases of a pod's earlier sandboxes, and releases those that are gone. */
#include "ipam/alloc/sandbox.h"

#include <stdio.h>
#include <string.h>

#include "ipam/lease/block_value.h"

#define SANDBOXES_MAX 32 /* at most so many are checked; repair handles the others */

struct old {
	const struct source *source;
	const char *identity; /* items are addresses of its block; NULL: of the pod */
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

/* A block of such a pool has one address. A damaged record is found by `verify`. */
static int note_block(const char *key, const char *value, void *arg)
{
	struct old *old = arg;
	struct block_record r;
	struct err ignored;

	if (block_value_parse(key, value, &r, &ignored) || r.key.one || !*r.identity ||
	    strcmp(r.identity, old->identity) != 0)
		return 0;
	(void)snprintf(old->items[0].scope, sizeof(old->items[0].scope), "%s", old->source->scope);
	old->items[0].ip = r.key.start;
	old->n = 1;
	return 1;
}

/* True if it is the lease of another container of the same pod. The index alone is not trusted. */
static bool is_old(const struct lease *rec, const struct source *s, const struct owner *o)
{
	bool same_uid = !*rec->owner.uid || !*o->uid || strcmp(rec->owner.uid, o->uid) == 0;

	return rec->state == LEASE_HELD && owner_same_pod(&rec->owner, o) &&
	       strcmp(rec->owner.container, o->container) != 0 && (same_uid || s->policy.sticky);
}

/* The same for an address of the block of the identity, see sandbox.h. */
static bool is_of_machine(const struct lease *rec, const struct owner *o)
{
	return rec->state == LEASE_HELD && strcmp(rec->owner.ns, o->ns) == 0 &&
	       strcmp(rec->owner.ifname, o->ifname) == 0 &&
	       strcmp(rec->owner.container, o->container) != 0;
}

/* 1: released. 0: it stays. */
static int release_gone(const struct sandbox *new, const struct old *old,
			const struct key_address *a, struct err *e)
{
	struct lease_db *l = new->db;
	auto_lease struct lease rec = { .tree = NULL };
	int found = lease_db_of_address(l, a->scope, a->ip, &rec, e);

	if (found <= 0 || !(old->identity ? is_of_machine(&rec, new->owner)
					  : is_old(&rec, old->source, new->owner)))
		return found < 0 ? -1 : 0;

	int gone =
		holder_checks_is_gone(new->checks, l->ipam->holders, l->ipam->ctx, &rec.owner, e);

	if (gone <= 0)
		return gone;
	return lease_db_release(l, a, l->now, e) ? -1 : 1;
}

static int release_all(const struct sandbox *new, const struct old *old, struct ip *out,
		       struct err *e)
{
	for (size_t i = 0; i < old->n; i++) {
		int released = release_gone(new, old, &old->items[i], e);

		if (released < 0)
			return -1;
		if (released && !out->family)
			*out = old->items[i].ip;
	}
	return 0;
}

int sandbox_take_over(const struct sandbox *new, const struct source *s, struct ip *out,
		      struct err *e)
{
	const struct owner *o = new->owner;
	struct old old = { .source = s };
	char own[IDENTITY_LEN];
	struct key prefix;

	*out = (struct ip){ .family = IP_NONE };
	if (!owner_has_pod(o))
		return 0;
	key_of_pod(&prefix, s->scope, (const char *const[]){ o->ns, o->pod, o->ifname }, NULL);
	if (lease_db_scan(new->db, &prefix, note_address, &old, e) ||
	    release_all(new, &old, out, e))
		return -1;
	block_identity(o, own);
	if (!s->blocks.moves || out->family || strcmp(own, new->identity) == 0)
		return 0;
	old = (struct old){ .source = s, .identity = new->identity };
	key_of_blocks(&prefix, s->scope);
	return lease_db_scan(new->db, &prefix, note_block, &old, e) ||
			       release_all(new, &old, out, e)
		       ? -1
		       : 0;
}
