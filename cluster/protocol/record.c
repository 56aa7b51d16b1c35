/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: whether two parties or blocks are the same, and whether a node may assign an address.
 */
#include "cluster/protocol/record.h"

#include <string.h>

bool block_key_equal(const struct block_key *a, const struct block_key *b)
{
	return ip_equal(a->start, b->start) && strcmp(a->pool, b->pool) == 0;
}

bool party_equal(const struct block_party *a, const struct block_party *b)
{
	return a->token == b->token && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->holder, b->holder) == 0;
}

bool node_may_give(const struct node_record *node, const char *boot, int64_t now)
{
	return node->epoch > 0 && now < node->give_until && strcmp(node->boot, boot) == 0;
}

bool block_may_give(const struct node_record *node, const struct block_record *r)
{
	return r->state == BLOCK_GRANTED && r->epoch == node->epoch;
}
