/* SPDX-License-Identifier: Apache-2.0 */
/* gid.c: GIDs as text and as addresses, and the search for one. Pure. */
#include "rdma/device/gid.h"

#include "lib/base/parse.h"

#include <stdio.h>
#include <string.h>

#include "rdma/device/gid_priv.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

int gid_parse(const char *s, struct gid *out)
{
	struct gid g;

	for (size_t i = 0; i < sizeof(g.raw); i++) {
		if (i && i % 2 == 0 && *s++ != ':')
			return -1;

		int octet = hex_octet(s);

		if (octet < 0)
			return -1;
		g.raw[i] = (uint8_t)octet;
		s += 2;
	}
	if (*s)
		return -1;
	*out = g;
	return 0;
}

char *gid_format(const struct gid *g, char out[GID_STR_LEN])
{
	char *p = out;

	for (size_t i = 0; i < sizeof(g->raw); i += 2)
		p += snprintf(p, 6, "%s%02x%02x", i ? ":" : "", g->raw[i], g->raw[i + 1]);
	return out;
}

bool gid_is_zero(const struct gid *g)
{
	static const struct gid zero;

	return gid_equal(g, &zero);
}

bool gid_equal(const struct gid *a, const struct gid *b)
{
	return memcmp(a->raw, b->raw, sizeof(a->raw)) == 0;
}

struct gid gid_of_ip(struct ip a)
{
	struct gid g = { { 0 } };

	if (a.family == IP_V4)
		memcpy(g.raw, mapped, sizeof(mapped));
	if (a.family != IP_NONE)
		(void)ip_to_bytes(a, a.family == IP_V4 ? g.raw + sizeof(mapped) : g.raw);
	return g;
}

struct ip gid_to_ip(const struct gid *g)
{
	bool v4 = memcmp(g->raw, mapped, sizeof(mapped)) == 0;
	size_t at = v4 ? sizeof(mapped) : 0;
	struct ip a = { .family = IP_NONE };

	if (!gid_is_zero(g))
		(void)!ip_from_bytes(g->raw + at, sizeof(g->raw) - at, &a);
	return a;
}

enum gid_type gid_type_parse(const char *s, bool ethernet)
{
	if (strcmp(s, "RoCE v2") == 0)
		return GID_ROCE_V2;
	if (strcmp(s, "IB/RoCE v1") == 0)
		return ethernet ? GID_ROCE_V1 : GID_IB;
	return GID_UNKNOWN;
}

const char *gid_type_name(enum gid_type t)
{
	static const char *const names[] = { "unknown", "IB", "RoCE v1", "RoCE v2" };

	return names[t];
}

/* ---- the search ---- */

struct search {
	const struct gid_source *s;
	const struct gid_want *want;
	struct gid_look look;
	struct err *e;
};

/* Returns 1 if the entry at i fits, 0 if not, -1 on error. *place says what is at i. */
static int try_at(struct search *q, uint32_t i, enum gid_place *place)
{
	struct gid_entry entry = { .index = i };
	const struct gid_want *w = q->want;

	if (q->s->read(q->s->arg, i, &entry.gid, place, q->e))
		return -1;
	if (*place != GID_TAKEN || !gid_equal(&entry.gid, &w->gid))
		return 0;
	if (q->s->describe(q->s->arg, &entry, q->e))
		return -1;
	bool fits = entry.type == w->type &&
		    (!w->netdev || !*entry.netdev || strcmp(entry.netdev, w->netdev) == 0);
	/* If none fits, the newest of the others explains most. */
	if (fits || q->look.found == GID_MISSING || i > q->look.entry.index) {
		q->look.entry = entry;
		q->look.found = fits ? GID_THERE : GID_OTHER;
	}
	return fits;
}

/*
 * A table has holes: indices of addresses that are gone. Both types of an address leave two. So
 * many free indices in a row are not yet taken for the end.
 */
#define WINDOW 4

/* Returns 1 if an index from i to i + WINDOW - 1 is used, 0 if none, -1: error, or found. */
static int gid_is_taken(struct search *q, uint32_t i)
{
	enum gid_place place = GID_FREE;

	for (uint32_t k = 0; k < WINDOW && place == GID_FREE; k++) {
		if (try_at(q, i + k, &place))
			return -1;
	}
	return place == GID_TAKEN;
}

/*
 * Find the end of the used indices: steps that double, then halves. A hole longer than WINDOW may
 * be taken for the end. -1 as is_taken().
 */
static int find_edge(struct search *q, uint32_t *edge)
{
	uint32_t taken = 0, beyond = 1; /* is_taken(taken - 1), not is_taken(beyond - 1) */
	int rc;

	while ((rc = gid_is_taken(q, beyond - 1)) > 0) {
		taken = beyond;
		beyond *= 2;
	}
	while (rc >= 0 && beyond - taken > 1) {
		uint32_t middle = taken + (beyond - taken) / 2;

		rc = gid_is_taken(q, middle - 1);
		*(rc > 0 ? &taken : &beyond) = middle;
	}
	*edge = taken;
	return rc < 0 ? -1 : 0;
}

int gid_search(const struct gid_source *s, const struct gid_want *want, struct gid_look *out,
	       struct err *e)
{
	struct search q = { .s = s, .want = want, .e = e };
	enum gid_place place = GID_TAKEN;
	uint32_t edge = 0;
	int rc = 0;

	if (find_edge(&q, &edge))
		rc = q.look.found == GID_THERE ? 1 : -1;
	for (uint32_t i = edge; rc == 0 && i-- > 0;)
		rc = try_at(&q, i, &place);
	/* The kernel fills holes, but a table with holes has entries behind them. */
	for (uint32_t i = edge; place != GID_END && rc == 0; i++)
		rc = try_at(&q, i, &place);
	if (rc < 0)
		return -1;
	*out = q.look;
	return 0;
}
