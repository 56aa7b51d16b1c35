/* SPDX-License-Identifier: Apache-2.0 */
/* choose_block.c: finds the best block by the index, and an address in it. It reads one block in
 * the usual case.
 */
#include "ipam/alloc/choose.h"

#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/block_index.h"

/* ---- the rule ---- */

static int load_node(struct lease_db *l, struct node_record *out, struct err *e)
{
	const char *text;

	return lease_db_get(l, KEY_NODE, &text, e) || node_value_parse(text, out, e) ? -1 : 0;
}

static bool may_give(struct lease_db *l, const struct source *s, const struct node_record *node)
{
	return node_may_give(node, s->blocks.strict, l->ipam->boot, ctx_since_boot(l->ipam->ctx));
}

/*
 * No host answers a probe for a GUID: only the subnet manager knows it. It refuses the second port.
 */
static bool may_take_marked(const struct source *s, const struct addr_request *request)
{
	return request->probes || source_has_guids(s);
}

struct block_search {
	struct lease_db *l;
	const struct source *s;
	const struct addr_request *request;
	struct node_record node;
	bool probes, cooling;
};

static bool is_for(const struct block_search *h, const struct block_record *r)
{
	return !h->s->blocks.moves || strcmp(r->identity, h->request->identity) == 0;
}

/* The block or the loan may be assigned from in the epoch of the node. */
static bool choose_block_is_usable(const struct block_search *h, const struct block_record *r)
{
	return block_may_give(&h->node, r) && (h->probes || !r->probe) && is_for(h, r);
}

/* 1: addresses of the block may be assigned; *b is its record. */
static int alloc_check_block(const struct block_search *h, struct ip start, struct block_whole *b,
			     struct err *e)
{
	struct key k;
	bool found;

	key_of_block(&k, h->s->scope, start);
	if (block_db_whole(h->l, &k, b, &found, e))
		return -1;
	return found && choose_block_is_usable(h, &b->is);
}

int block_may_choose(struct lease_db *l, const struct source *s, struct ip ip,
		     const struct addr_request *request, struct err *e)
{
	struct block_search h = {
		.l = l, .s = s, .request = request, .probes = may_take_marked(s, request)
	};
	struct block_record loan;
	struct block_whole b;

	if (load_node(l, &h.node, e))
		return -1;
	if (!may_give(l, s, &h.node))
		return 0;
	int rc = alloc_check_block(&h, pool_block_range(s->blocks.bits, ip).first, &b, e);
	if (rc)
		return rc < 0 ? -1 : !block_lends(&b.lends, ip);
	rc = block_loan(l, s->scope, ip, &loan, e);
	return rc > 0 ? choose_block_is_usable(&h, &loan) : rc;
}

/* ---- the cursor ---- */

/* The cursor of the block when ip is taken: the next address that was never used. */
static int choose_block_set_cursor(struct lease_db *l, const struct source *block, struct ip ip,
				   struct addr_choice *c, struct err *e)
{
	struct ip from, next = { .family = IP_NONE };

	if (ranges_after(&block->usable, ip, &from) && block_never_used(l, block, from, &next, e))
		return -1;
	c->done = !next.family;
	c->next = c->done ? ip : next;
	return 0;
}

int block_choose_at(struct lease_db *l, const struct source *s, struct ip ip,
		    struct addr_choice *out, struct err *e)
{
	struct addr_choice c = { .source = s, .ip = ip, .keep_cursor = true };
	auto_clean(source_clear) struct source block = { .label = "" };
	struct ip first = { .family = IP_NONE };
	struct source_usage t;
	struct block_record r;
	int loan;

	loan = block_loan(l, s->scope, ip, &r, e);
	c.is_loan = loan > 0;
	if (c.is_loan)
		*out = c;
	if (loan)
		return loan < 0 ? -1 : 0;
	if (block_source(l, s, pool_block_range(s->blocks.bits, ip).first, &block, e) ||
	    lease_db_usage(l, block.scope, block.id, &t, e))
		return -1;
	if (!t.done && block.usable.n &&
	    block_never_used(l, &block, t.next.family ? t.next : block.usable.items[0].first,
			     &first, e))
		return -1;
	/* The cursor would stay on an address that is not free. */
	if (ip_equal(first, ip)) {
		c.keep_cursor = false;
		if (choose_block_set_cursor(l, &block, ip, &c, e))
			return -1;
	}
	*out = c;
	return 0;
}

/* ---- the search ---- */

/* An address of the block that was never used. */
static int try_never_used(const struct block_search *h, const struct source *block,
			  struct addr_choice *c, struct err *e)
{
	struct ip from, hold = { .family = IP_NONE };
	struct source_usage t;

	if (lease_db_usage(h->l, block->scope, block->id, &t, e))
		return -1;
	if (t.done || !block->usable.n)
		return 0;
	from = t.next.family ? t.next : block->usable.items[0].first;
	for (;;) {
		if (block_never_used(h->l, block, from, &c->ip, e))
			return -1;
		if (!c->ip.family)
			return 0;
		if (!request_avoids(h->request, block, c->ip))
			break;
		/* The address is not for this container, but it is free for the next one. */
		if (!hold.family)
			hold = c->ip;
		if (!ranges_after(&block->usable, c->ip, &from))
			return 0;
	}
	c->next = hold;
	c->done = false;
	return hold.family ? 1 : choose_block_set_cursor(h->l, block, c->ip, c, e) ? -1 : 1;
}

/* The address of the block that rested longest. */
static int try_rested(const struct block_search *h, const struct source *block,
		      struct addr_choice *c, struct err *e)
{
	struct rest_queue q = { .request = h->request, .s = block };

	if (h->cooling ? resting_first(h->l, &q, block->id, 0, e) : resting_rested(h->l, &q, e))
		return -1;
	c->ip = q.ip;
	c->keep_cursor = true;
	return q.ip.family ? 1 : 0;
}

static int try_block(const struct block_search *h, const struct key_free *f, struct addr_choice *c,
		     struct err *e)
{
	auto_clean(source_clear) struct source block = { .label = "" };
	struct block_whole b;
	int rc = alloc_check_block(h, f->start, &b, e);

	if (rc <= 0)
		return rc;
	if (block_source_of(h->s, f->start, &b.lends, &block, e))
		return -1;
	*c = (struct addr_choice){ .source = h->s, .epoch = b.is.epoch, .probe = b.is.probe };
	rc = f->since == 0 ? try_never_used(h, &block, c, e) : 0;
	return rc ? rc : try_rested(h, &block, c, e);
}

/* Blocks in the order of the index. After the first one that cools down, all others do. */
static int search_blocks(const struct block_search *h, struct addr_choice *out, struct err *e)
{
	struct block_query q = { .scope = h->s->scope, .epoch = h->node.epoch };
	const int64_t future = resting_future(h->l, h->s);
	struct key_free f;
	struct key last;

	for (;;) {
		bool found;

		if (block_next(h->l, &q, &f, &found, e))
			return -1;
		if (!found)
			return 0;
		key_of_free(&last, q.scope, &f);
		q.after = &last;
		if (f.since && !h->cooling && q.since < future &&
		    !lease_db_has_rested(f.since, h->l->now, h->s->policy.cooldown)) {
			q.since = future;
			continue;
		}
		int rc = try_block(h, &f, out, e);
		if (rc)
			return rc;
	}
}

/* ---- loans ---- */

struct loan_search {
	const struct block_search *h;
	struct ip ip; /* IP_NONE: nothing found */
};

static int take_loan(const struct block_record *r, void *arg)
{
	struct loan_search *s = arg;
	const struct ip ip = block_key_ip(&r->key);
	bool fits = choose_block_is_usable(s->h, r) && !request_avoids(s->h->request, s->h->s, ip);

	if (fits)
		s->ip = ip;
	return fits;
}

/* Addresses that other nodes lend: only if no block of this node has one. They are few. */
static int search_loans(const struct block_search *h, struct addr_choice *out, struct err *e)
{
	struct loan_search s = { .h = h, .ip = { .family = IP_NONE } };
	const struct loan_query q = { h->s, &h->node,
				      h->cooling ? LEASE_DB_ANY_REST : h->s->policy.cooldown,
				      take_loan, &s };

	if (block_free_loans(h->l, &q, e))
		return -1;
	*out = (struct addr_choice){
		.source = h->s, .ip = s.ip, .keep_cursor = true, .is_loan = true
	};
	return s.ip.family ? 1 : 0;
}

static int search(struct block_search *h, struct addr_choice *out, struct err *e)
{
	struct addr_choice c;

	if (load_node(h->l, &h->node, e))
		return -1;
	if (!may_give(h->l, h->s, &h->node))
		return 0;
	int rc = search_blocks(h, &c, e);
	if (rc == 0)
		rc = search_loans(h, &c, e);
	if (rc > 0)
		*out = c;
	return rc;
}

int block_choose(struct lease_db *l, const struct source *s, const struct addr_request *request,
		 struct addr_choice *out, struct err *e)
{
	struct block_search h = {
		.l = l, .s = s, .request = request, .probes = may_take_marked(s, request)
	};

	return search(&h, out, e);
}

int block_choose_cooling(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out, struct err *e)
{
	struct block_search h = { .l = l,
				  .s = s,
				  .request = request,
				  .probes = may_take_marked(s, request),
				  .cooling = true };

	return s->policy.strict ? 0 : search(&h, out, e);
}

/* ---- errors ---- */

int block_refuse_alone(const struct source *s, struct err *e)
{
	err_set(e, ERR_CONFIG, 0,
		"%s: it has blockSize, but it is not a pool of a cluster, so this node has no "
		"block of it",
		s->label);
	return err_hint(e, "create the pool in the cluster, with railheadd on each node; or use "
			   "\"slice\" instead of \"blockSize\"");
}

int block_refuse_nobody(const struct source *s, const struct owner *o, struct err *e)
{
	char identity[IDENTITY_LEN];

	block_identity(o, identity);
	if (*identity)
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"%s: its addresses belong to pods (sticky, blockSize 1), and the runtime names no "
		"pod",
		s->label);
	return err_hint(e, "set K8S_POD_NAMESPACE and K8S_POD_NAME in CNI_ARGS, or use a pool "
			   "without \"sticky\"");
}

/* The node may not assign at all. */
static int refuse_node(struct lease_db *l, const struct source *s, const struct node_record *node,
		       struct err *e)
{
	if (node->epoch > 0 && !strcmp(node->boot, l->ipam->boot))
		err_set(e, ERR_AGAIN, 0,
			"%s: fence \"strict\": the node agent could not renew its heartbeat in "
			"time, so this node assigns nothing",
			s->label);
	else
		err_set(e, ERR_AGAIN, 0,
			"%s: the node agent has not confirmed the blocks of this node since it "
			"booted",
			s->label);
	return err_hint(e,
			"look whether railheadd runs on this node and reaches the cluster store");
}

int block_refuse(struct lease_db *l, const struct source *s, struct err *e)
{
	struct node_record node;

	if (load_node(l, &node, e))
		return -1;
	if (!may_give(l, s, &node))
		return refuse_node(l, s, &node, e);
	err_set(e, ERR_EXHAUSTED, 0, "%s: no block of this node has an address to assign",
		s->label);
	return err_hint(e, "`railctl ipam blocks` shows the blocks, and `railctl ipam lease list` "
			   "the owners of their addresses");
}

/* -1: e says to whom this node lends the address, or why that is not known. */
static int refuse_lent(struct lease_db *l, const struct source *s, struct ip ip, struct err *e)
{
	const struct loan *lent;
	char text[IP_STR_LEN];
	struct block_whole b;
	struct key k;
	bool found;

	key_of_block(&k, s->scope, pool_block_range(s->blocks.bits, ip).first);
	if (block_db_whole(l, &k, &b, &found, e))
		return -1;
	lent = found ? block_lends(&b.lends, ip) : NULL;
	if (!lent)
		return 0;
	err_set(e, ERR_BUSY, 0, "address %s of %s is lent to node %s", ip_format(ip, text),
		s->label, lent->to.node);
	return err_hint(e, "it comes back when the pod there has ended; `railctl ipam blocks` "
			   "shows what is lent");
}

int block_refuse_address(struct lease_db *l, const struct source *s, struct ip ip, struct err *e)
{
	struct node_record node;
	char text[IP_STR_LEN];

	if (load_node(l, &node, e))
		return -1;
	if (!may_give(l, s, &node))
		return refuse_node(l, s, &node, e);
	if (s->blocks.moves) {
		err_set(e, ERR_BUSY, 0,
			"address %s of %s is not the address of this pod: each one of this pool "
			"belongs to one pod (sticky, blockSize 1)",
			ip_format(ip, text), s->label);
		return err_hint(e, "leave the address out, or use a pool without \"sticky\"");
	}
	if (refuse_lent(l, s, ip, e))
		return -1;
	err_set(e, ERR_BUSY, 0, "address %s of %s is in a block that this node may not use now",
		ip_format(ip, text), s->label);
	return err_hint(e, "`railctl ipam blocks` shows the blocks of this node");
}
