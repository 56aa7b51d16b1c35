/* SPDX-License-Identifier: Apache-2.0 */
/* plain_kube.c: each connection creates its blocks one after the other; nothing is read or kept. */
#include "railheadd/testing/plain_kube.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ipam/block/object_json.h"
#include "railheadd/testing/nodes.h"

struct connection {
	struct plain_kube *all;
	struct cluster_store *store;
};

struct plain_kube {
	struct event_base *base;
	struct connection *connections;
	uint32_t n_connections;
	uint32_t block; /* the next one */
	uint32_t begun, done, n;
};

static void begin_next(struct connection *c);

static void created(void *arg, const struct cluster_result *r)
{
	struct connection *c = arg;
	struct plain_kube *p = c->all;

	if (r->outcome != CLUSTER_OK)
		nodes_fail("plain client", &r->err);
	if (++p->done == p->n)
		(void)event_base_loopbreak(p->base);
	else if (p->begun < p->n)
		begin_next(c);
}

static void begin_next(struct connection *c)
{
	struct block b = { .owner = { .node = "plain", .token = 1 }, .pool_uid = "plain" };
	auto_json struct json *value = block_to_json(&b);
	struct cluster_object o = { .kind = CLUSTER_BLOCK, .node = "plain", .value = value };

	/* From 10.250.0.0 on: no pool of the test has it. */
	(void)snprintf(o.name, sizeof(o.name), "plain-%024d0afa%04" PRIx32, 0, c->all->block++);
	c->all->begun++;
	if (!value || !c->store->ops->create(c->store, &o, created, c))
		abort();
}

struct plain_kube *plain_kube_new(struct event_base *base, const char *where, uint32_t connections)
{
	struct plain_kube *p = calloc(1, sizeof(*p));

	if (!p || !(p->connections = calloc(connections, sizeof(*p->connections))))
		abort();
	p->base = base;
	p->n_connections = connections;
	for (uint32_t i = 0; i < connections; i++)
		p->connections[i] = (struct connection){ p, nodes_open_store(base, where) };
	return p;
}

void plain_kube_free(struct plain_kube *p)
{
	for (uint32_t i = 0; i < p->n_connections; i++)
		p->connections[i].store->ops->close(p->connections[i].store);
	free(p->connections);
	free(p);
}

int64_t plain_kube_creates(struct plain_kube *p, uint32_t n)
{
	struct ctx ctx;
	int64_t began;

	ctx_init(&ctx, "plain");
	began = ctx_since_boot(&ctx);
	p->begun = p->done = 0;
	p->n = n;
	for (uint32_t i = 0; i < p->n_connections && p->begun < n; i++)
		begin_next(&p->connections[i]);
	(void)event_base_dispatch(p->base);
	return ctx_since_boot(&ctx) - began;
}
