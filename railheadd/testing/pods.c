/* SPDX-License-Identifier: Apache-2.0 */
/* pods.c: each pod is a timer that fires when its next ADD may begin. */
#include "railheadd/testing/pods.h"

#include <event2/event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipam/alloc/alloc.h"
#include "lib/sys/timer.h"

/* A runtime tries again after about a second. */
#define AGAIN_MS 1000

struct pod {
	struct pods *all;
	struct node *node;
	char name[48];
	uint32_t rail;  /* the next one */
	unsigned tries; /* of this ADD */
	int64_t began;  /* this rail, ns */
	struct timer *timer;
};

static void soon(const struct pod *p, unsigned ms)
{
	if (timer_arm(p->timer, ms))
		abort();
}

/* The ADD is not kept waiting here: only what it lacks is noted. */
static int note_lack(const struct ctx *ctx, const struct agent_need *need, struct err *e)
{
	struct node *n = (struct node *)((uintptr_t)ctx - offsetof(struct node, ctx));

	(void)snprintf(n->lacking, sizeof(n->lacking), "%s", need->pool);
	return err_set(e, ERR_AGAIN, 0, "wait");
}

static int add_address(struct pod *p, struct err *e)
{
	char pool[32], ifname[16];
	const struct ipam_conf conf = { .pools = { pool }, .n_pools = 1 };
	const struct request request = { .owner = { .network = "rails",
						    .container = p->name,
						    .ifname = ifname,
						    .ns = "scale",
						    .pod = p->name,
						    .uid = p->name } };
	const struct alloc_add add = {
		.conf = &conf, .request = &request, .need = note_lack, .probes = true
	};
	auto_alloc struct alloc_result result = { .n = 0 };

	(void)snprintf(pool, sizeof(pool), "rail%u", p->rail);
	(void)snprintf(ifname, sizeof(ifname), "net%u", p->rail);
	p->node->lacking[0] = '\0';
	return alloc_add(&p->node->ipam, &add, &result, NULL, e);
}

static void failed(struct pod *p, const struct err *why)
{
	p->all->failures++;
	p->all->last = *why;
	p->tries = 0;
	soon(p, AGAIN_MS);
}

static void agent_answered(void *arg, const struct err *why)
{
	struct pod *p = arg;

	if (why)
		failed(p, why);
	else
		soon(p, 0);
}

static void assigned(struct pod *p)
{
	struct pods *all = p->all;

	all->took[all->addresses++] = ctx_since_boot(&p->node->ctx) - p->began;
	p->began = 0;
	p->tries = 0;
	if (++p->rail < all->conf.rails)
		soon(p, 0);
	else if (++all->done == all->n)
		(void)event_base_loopbreak(all->conf.nodes->conf.base);
}

static void due(void *arg)
{
	struct pod *p = arg;
	struct err e;

	if (!p->began)
		p->began = ctx_since_boot(&p->node->ctx);
	if (add_address(p, &e) == 0) {
		assigned(p);
		return;
	}
	if (!*p->node->lacking || p->tries++ == ALLOC_NEED_TRIES) {
		failed(p, &e);
		return;
	}

	const struct driver_need_ask ask = { .pool = p->node->lacking,
					     .addresses = 1,
					     .wait_ms = ALLOC_NEED_MS };

	p->all->waits++;
	if (!driver_need(p->node->driver, &ask, agent_answered, p))
		abort();
}

void pods_begin(struct pods *all, const struct pods_conf *conf)
{
	struct nodes *nodes = conf->nodes;

	*all = (struct pods){ .conf = *conf, .n = (size_t)nodes->conf.n * conf->each };
	all->items = calloc(all->n, sizeof(*all->items));
	all->took = calloc(all->n * conf->rails, sizeof(*all->took));
	if (!all->items || !all->took)
		abort();
	for (size_t i = 0; i < all->n; i++) {
		struct pod *p = &all->items[i];

		p->all = all;
		p->node = &nodes->items[i % nodes->conf.n];
		(void)snprintf(p->name, sizeof(p->name), "pod-%zu", i);
		p->timer = timer_new(nodes->conf.base, due, p);
		if (!p->timer)
			abort();
		soon(p, 0);
	}
}

void pods_end(struct pods *all)
{
	for (size_t i = 0; i < all->n; i++)
		timer_free(all->items[i].timer);
	free(all->items);
	free(all->took);
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int64_t pods_took(struct pods *all, double share)
{
	qsort(all->took, all->addresses, sizeof(*all->took), compare_times);
	return all->addresses ? all->took[(size_t)((double)(all->addresses - 1) * share)] : 0;
}
