/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c: NCCL's choice of a GID, entry by entry. */
#include "rdma/env/nccl.h"

#include <string.h>

#include "lib/base/array.h"

const struct inv_gid *inv_gid_at(const struct inv_port *p, uint32_t index)
{
	const size_t at = ARRAY_PLACE(i, p->n_gids, p->gid[i].entry.index < index);

	return at < p->n_gids && p->gid[at].entry.index == index ? &p->gid[at] : NULL;
}

/* An index of the table as NCCL sees it. */
struct place {
	struct gid gid;
	enum gid_type type;
};

static struct place place_at(const struct inv_port *p, uint32_t index)
{
	const struct inv_gid *g = inv_gid_at(p, index);

	if (!g)
		return (struct place){ .type = GID_UNKNOWN };
	return (struct place){ g->entry.gid, g->entry.type };
}

/* For NCCL a free index is an IPv6 entry. */
static enum ip_family family_of(const struct place *at)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t multicast[12] = { 0xff, 0x0e, [10] = 0xff, [11] = 0xff };

	return memcmp(at->gid.raw, mapped, 12) == 0 || memcmp(at->gid.raw, multicast, 12) == 0
		       ? IP_V4
		       : IP_V6;
}

/* Neither free nor link-local. */
static bool is_valid(const struct place *at)
{
	static const uint8_t local[8] = { 0xfe, 0x80 };

	return !gid_is_zero(&at->gid) && memcmp(at->gid.raw, local, 8) != 0;
}

/* For IPv4, NCCL compares only the last four bytes. */
static bool in_range(const struct place *at, const struct nccl_rule *r)
{
	struct ip a;

	if (!r->has_range || r->range.len == 0)
		return true;
	if (r->family == IP_V4)
		return ip_from_bytes(at->gid.raw + 12, 4, &a) == 0 && ip_in_prefix(r->range, a);
	return ip_from_bytes(at->gid.raw, 16, &a) == 0 && ip_in_prefix(r->range, a);
}

static bool nccl_is_better(const struct place *now, const struct place *next,
			   const struct nccl_rule *r)
{
	enum ip_family family = family_of(next);

	if (family != r->family || !in_range(next, r))
		return false;
	if (family != family_of(now))
		return true;
	return is_valid(next) && next->type == r->version &&
	       (now->type != next->type || !is_valid(now));
}

/* An entry that is there, without a type that can be read. */
static bool is_unreadable(const struct place *at)
{
	return !gid_is_zero(&at->gid) && at->type == GID_UNKNOWN;
}

static bool compares_types(const struct place *now, const struct place *next,
			   const struct nccl_rule *r)
{
	return family_of(next) == r->family && family_of(now) == r->family && in_range(next, r) &&
	       is_valid(next);
}

struct choice {
	uint32_t index;
	bool reads_unknown;
};

static struct choice nccl_choose(const struct inv_port *p, const struct nccl_rule *r)
{
	/* One index more than the last, because a table has free indices at its end. */
	uint32_t end = p->n_gids ? p->gid[p->n_gids - 1].entry.index + 2 : 0;
	struct choice c = { 0 };
	struct place now = place_at(p, 0);

	for (uint32_t i = 1; i < end; i++) {
		struct place next = place_at(p, i);

		c.reads_unknown |= compares_types(&now, &next, r) &&
				   (is_unreadable(&now) || is_unreadable(&next));
		if (!nccl_is_better(&now, &next, r))
			continue;
		now = next;
		c.index = i;
	}
	return c;
}

uint32_t nccl_gid_index(const struct inv_port *p, const struct nccl_rule *r)
{
	return nccl_choose(p, r).index;
}

bool nccl_reads_unknown(const struct inv_port *p, const struct nccl_rule *r)
{
	return nccl_choose(p, r).reads_unknown;
}
