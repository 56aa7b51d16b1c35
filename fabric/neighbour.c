/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour.c: who is believed. */
#include "fabric/neighbour.h"

#include <string.h>

static int64_t ttl_ms(const struct neighbour_heard *h)
{
	return (int64_t)h->frame.ttl * 1000;
}

/* The same port of the same switch. Its other texts may change. */
static bool is_same_port(const struct lldp_frame *a, const struct lldp_frame *b)
{
	return strcmp(a->chassis, b->chassis) == 0 && strcmp(a->port, b->port) == 0;
}

bool neighbour_is_overdue(const struct neighbour *n, int64_t now)
{
	return !n->known || now - n->held.at > 2 * ttl_ms(&n->held);
}

enum neighbour_news neighbour_hear(struct neighbour *n, const struct lldp_frame *frame, int64_t now)
{
	struct neighbour_heard heard = { *frame, now };

	if (frame->ttl == 0)
		return NEIGHBOUR_SAME;
	if (n->known && is_same_port(frame, &n->held.frame)) {
		n->held = heard;
		n->lost = false;
		return NEIGHBOUR_SAME;
	}
	if (n->lost || neighbour_is_overdue(n, now)) {
		*n = (struct neighbour){ .known = true, .held = heard };
		return NEIGHBOUR_NEW;
	}

	bool first = !n->contested || !is_same_port(frame, &n->other.frame);

	n->contested = true;
	n->other = heard;
	return first ? NEIGHBOUR_CONFLICT : NEIGHBOUR_SAME;
}

void neighbour_lose(struct neighbour *n)
{
	n->lost = true;
}

enum neighbour_state neighbour_state(const struct neighbour *n, int64_t now)
{
	if (!n->known)
		return NEIGHBOUR_UNKNOWN;
	if (n->contested && now - n->other.at <= ttl_ms(&n->other))
		return NEIGHBOUR_CONTESTED;
	return n->lost || now - n->held.at > ttl_ms(&n->held) ? NEIGHBOUR_SILENT : NEIGHBOUR_HEARD;
}

const char *neighbour_state_name(enum neighbour_state s)
{
	static const char *const name[] = { "unknown", "heard", "silent", "contested" };

	return name[s];
}
