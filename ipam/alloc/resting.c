/* SPDX-License-Identifier: Apache-2.0 */
/* resting.c: reads the queue of a source: the address that has rested longest comes first. */
#include "ipam/alloc/resting.h"

bool request_owns(const struct addr_request *request, struct ip ip)
{
	for (size_t i = 0; i < request->n_avoid; i++) {
		if (ip_equal(request->avoid[i], ip))
			return true;
	}
	return false;
}

bool request_avoids(const struct addr_request *request, const struct source *s, struct ip ip)
{
	return request_owns(request, ip) || overlap_in_use(request->overlap, s, ip);
}

int64_t resting_future(const struct lease_db *l, const struct source *s)
{
	int64_t cooldown = s->policy.cooldown;

	return l->now + (cooldown > LEASE_DB_CONFLICT_NS ? cooldown : LEASE_DB_CONFLICT_NS) + 1;
}

static int take_first(const char *key, const char *value, void *arg)
{
	struct rest_queue *q = arg;
	char source[KEY_ID_LEN + 1];
	struct key_address a;

	(void)value;
	if (key_parse_rest(key, &a, source, &q->since) || !ranges_contain(&q->s->usable, a.ip) ||
	    request_avoids(q->request, q->s, a.ip))
		return 0;
	q->ip = a.ip;
	return 1;
}

int resting_first(struct lease_db *l, struct rest_queue *q, const char *id, int64_t from,
		  struct err *e)
{
	struct key prefix, start;

	q->ip.family = IP_NONE;
	key_of_rests(&prefix, q->s->scope, id);
	key_of_rest(&start, q->s->scope, id, from, NULL);
	return lease_db_scan_from(l, (struct store_span){ prefix.s, start.s }, take_first, q, e);
}

int resting_rested(struct lease_db *l, struct rest_queue *q, struct err *e)
{
	if (resting_first(l, q, q->s->id, 0, e))
		return -1;
	if (!q->ip.family || lease_db_has_rested(q->since, l->now, q->s->policy.cooldown))
		return 0;
	/* After those that cool down there may be some with a time before the clock was set back.
	 */
	return resting_first(l, q, q->s->id, resting_future(l, q->s), e);
}
