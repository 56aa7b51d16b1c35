/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_check.c: sorts the held leases of a pool by a new definition: in this node's part, in the
 * slice of another node, or in none. Only the second kind can become an address held twice.
 */
#include "ipam/admin/slice_check.h"

#include <inttypes.h>

#include "ipam/conf/pool_slice.h"

/*
 * The grid decides, not the usable addresses: an address that the pool masks today may be usable
 * tomorrow, and the node with its slice would assign it.
 */
static bool is_elsewhere(const struct slice_check *c, struct ip ip)
{
	uint64_t number;

	return pool_slice_of(c->own, ip, &number) && number != c->number;
}

/* A record that cannot be read may be a living pod's. */
static int slice_check_see_lease(const char *key, const char *value, void *arg)
{
	struct slice_check *c = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err ignored;

	if (key_parse_address(key, &a) || ranges_contain(&c->own->usable, a.ip))
		return 0;
	bool readable = !lease_parse(value, key, &rec, &ignored);
	if (readable && rec.state != LEASE_HELD)
		return 0;
	lease_names_add(is_elsewhere(c, a.ip) ? &c->elsewhere : &c->outside, a.ip,
			readable ? &rec.owner : NULL);
	return 0;
}

int slice_check_leases(struct lease_db *l, struct slice_check *c, struct err *e)
{
	struct key addresses;

	c->elsewhere = c->outside = (struct lease_names){ .n = 0 };
	key_of_pool_addresses(&addresses, c->name);
	return lease_db_scan(l, &addresses, slice_check_see_lease, c, e);
}

int slice_refuse_elsewhere(const struct slice_check *c, struct err *e)
{
	const struct lease_names *names = &c->elsewhere;

	err_set(e, ERR_BUSY, 0,
		"pool %.100s: %" PRIu64 " leased address%s would be in the slice of another node: "
		"%s%s",
		c->name, names->n, names->n == 1 ? "" : "es", names->text,
		names->n > LEASE_NAMES_MAX ? ", ..." : "");
	err_hint(e, "the other node would assign it too: delete the pods first, or keep the "
		    "number that has their addresses, if no other node has it");
	return err_hint(e,
			"give the definition to no new node before that; `railctl ipam lease list "
			"--pool %.100s` shows the leases",
			c->name);
}

bool slice_same_grid(const struct source *a, const struct source *b)
{
	return a->slice.size == b->slice.size &&
	       (!a->slice.size || ip_equal(a->slice.start, b->slice.start));
}

int slice_check_moved(const struct slice_move *m, struct err *e)
{
	const struct ranges *want = &m->to->own->usable;
	char a[IP_STR_LEN], b[IP_STR_LEN];
	size_t i = 0;

	if (slice_same_grid(m->from, m->to->own))
		return 0;
	while (i < want->n && ranges_cover(m->have, want->items[i]))
		i++;
	if (i == want->n)
		return 0;
	err_set(e, ERR_BUSY, 0,
		"pool %.100s: this node would get addresses that it did not have, in %s-%s",
		m->to->name, ip_format(want->items[i].first, a), ip_format(want->items[i].last, b));
	err_hint(e, "by the old definition another node may have leases there: apply the new one "
		    "on every node while no pod uses the pool");
	return err_hint(e, "--force says that no other node has a lease in these addresses");
}
