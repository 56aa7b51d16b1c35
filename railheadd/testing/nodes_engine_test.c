/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes_engine_test.c: N nodes start at once, and their pods empty pools that fit exactly.
 *
 *	nodes_engine_test STORE FOLDER nodes=N pods=N rails=N block=N [bare=N] [idle=SECONDS]
 *
 * STORE is the URL of etcd, or the path of a kubeconfig. Pool railK has the addresses
 * from 10.K.32.0 on, as many as there are pods. The program prints lines of words. After "phase
 *NAME" it waits for a line, so that a script can read the store's counters. With an idle time there
 * is a pool "warm", too, whose addresses each node keeps ahead.
 */
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "railheadd/testing/plain.h"
#include "railheadd/testing/plain_kube.h"
#include "railheadd/testing/pods.h"

#define SECOND INT64_C(1000000000)
#define SETTLE 15 /* seconds: claims for the pool "warm" */
/* More handshakes at once than that take longer than a client waits. */
#define BARE_CONNECTIONS_MAX 256

struct numbers {
	uint32_t nodes, pods, rails, block, bare, idle;
};

static const struct {
	const char *name;
	size_t offset;
} names[] = {
	{ "nodes=", offsetof(struct numbers, nodes) },
	{ "pods=", offsetof(struct numbers, pods) },
	{ "rails=", offsetof(struct numbers, rails) },
	{ "block=", offsetof(struct numbers, block) },
	{ "bare=", offsetof(struct numbers, bare) },
	{ "idle=", offsetof(struct numbers, idle) },
};

static bool read_number(const char *text, struct numbers *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i].name);

		if (strncmp(text, names[i].name, len) != 0)
			continue;
		uint32_t n = (uint32_t)strtoul(text + len, NULL, 10);
		memcpy((char *)out + names[i].offset, &n, sizeof(n));
		return true;
	}
	return false;
}

static void phase(const char *name)
{
	char line[16];

	printf("phase %s\n", name);
	(void)fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(2);
}

/* ---- the pools ---- */

struct making {
	struct event_base *base;
	uint32_t left;
};

static void made(void *arg, const struct cluster_result *r)
{
	struct making *m = arg;

	if (r->outcome != CLUSTER_OK)
		nodes_fail("pool", &r->err);
	if (--m->left == 0)
		(void)event_base_loopbreak(m->base);
}

/* A pool with the subnet 10.K.0.0/16. */
struct making_of {
	uint32_t k, addresses, block, warm;
};

static void make_pool(struct cluster_store *s, const char *name, const struct making_of *p,
		      struct making *m)
{
	const uint32_t last = 32 * 256 + p->addresses - 1;
	auto_json struct json *value = json_new_object();
	struct cluster_object o = { .kind = CLUSTER_POOL, .value = value };
	struct json *ranges = json_add_array(value, "ranges");
	char range[80], subnet[32];

	(void)snprintf(o.name, sizeof(o.name), "%s", name);
	(void)snprintf(subnet, sizeof(subnet), "10.%u.0.0/16", p->k);
	(void)snprintf(range, sizeof(range), "10.%u.32.0-10.%u.%u.%u", p->k, p->k, last >> 8,
		       last & 255);
	if (json_push_str(ranges, range) || json_add_str(value, "subnet", subnet) ||
	    json_add_int(value, "blockSize", p->block) || json_add_int(value, "warm", p->warm) ||
	    !s->ops->create(s, &o, made, m))
		abort();
	m->left++;
}

static void make_pools(struct event_base *base, const char *url, const struct numbers *n, bool warm)
{
	struct making m = { .base = base };
	struct cluster_store *s = nodes_open_store(base, url);
	char name[16];

	if (warm)
		make_pool(s, "warm", &(struct making_of){ 200, n->nodes * 32, 16, 8 }, &m);
	for (uint32_t k = 0; k < n->rails && !warm; k++) {
		(void)snprintf(name, sizeof(name), "rail%u", k);
		make_pool(s, name, &(struct making_of){ k, n->nodes * n->pods, n->block, 0 }, &m);
	}
	(void)event_base_dispatch(base);
	s->ops->close(s);
}

/* ---- phases ---- */

static int64_t ns_now(void)
{
	struct ctx ctx;

	ctx_init(&ctx, "scale");
	return ctx_since_boot(&ctx);
}

static void run_for(struct event_base *base, int64_t ns)
{
	const struct timeval t = { .tv_sec = ns / SECOND, .tv_usec = ns % SECOND / 1000 };

	(void)event_base_loopexit(base, &t);
	(void)event_base_dispatch(base);
}

static void until_ready(struct nodes *all)
{
	while (!nodes_are_ready(all))
		run_for(all->conf.base, SECOND / 50);
}

static void show_still(evutil_socket_t fd, short what, void *arg)
{
	const struct pods *p = arg;

	(void)fd;
	(void)what;
	(void)fprintf(stderr, "%zu addresses, %zu waits, %zu failures%s%s\n", p->addresses,
		      p->waits, p->failures, p->failures ? ", the last one: " : "",
		      p->failures ? p->last.msg : "");
}

static void run_pods(struct nodes *nodes, const struct numbers *n)
{
	const struct timeval each = { .tv_sec = 5 };
	struct event *still;
	struct pods pods;
	int64_t began;

	phase("pods-begin");
	began = ns_now();
	pods_begin(&pods, &(struct pods_conf){ nodes, n->pods, n->rails });
	still = event_new(nodes->conf.base, -1, EV_PERSIST, show_still, &pods);
	if (!still || event_add(still, &each))
		abort();
	(void)event_base_dispatch(nodes->conf.base);
	printf("pods %zu addresses %zu ms %" PRId64 " waits %zu failures %zu\n", pods.n,
	       pods.addresses, (ns_now() - began) / 1000000, pods.waits, pods.failures);
	printf("add us p50 %" PRId64 " p90 %" PRId64 " p99 %" PRId64 " max %" PRId64 "\n",
	       pods_took(&pods, .5) / 1000, pods_took(&pods, .9) / 1000,
	       pods_took(&pods, .99) / 1000, pods_took(&pods, 1) / 1000);
	event_free(still);
	phase("pods-end");
	pods_end(&pods);
}

static void show_bare(const struct numbers *n, int64_t took)
{
	printf("bare %" PRIu32 " ms %" PRId64 "\n", n->bare, took / 1000000);
	phase("bare-end");
}

/* As many connections as nodes, which stand before the time begins: those of the agents do, too. */
static void run_plain(struct event_base *base, const char *url, const struct numbers *n)
{
	struct plain *p = plain_new(base, url);

	(void)plain_creates(p, n->nodes, n->nodes);
	phase("bare-begin");
	show_bare(n, plain_creates(p, n->bare, n->nodes));
	plain_free(p);
}

static void run_plain_kube(struct event_base *base, const char *kubeconfig, const struct numbers *n)
{
	const uint32_t most = BARE_CONNECTIONS_MAX;
	const uint32_t connections = n->nodes < most ? n->nodes : most;
	struct plain_kube *k = plain_kube_new(base, kubeconfig, connections);

	(void)plain_kube_creates(k, connections);
	phase("bare-begin");
	show_bare(n, plain_kube_creates(k, n->bare));
	plain_kube_free(k);
}

static void raise_limits(void)
{
	/* A node has a store, two watches, and a connection for each request under way. */
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most))
		abort();
	most.rlim_cur = most.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &most))
		abort();
}

static void run(struct event_base *base, const char *url, const char *folder,
		const struct numbers *n)
{
	const struct nodes_conf conf = { .base = base,
					 .url = url,
					 .folder = folder,
					 .n = n->nodes,
					 .rails = n->rails + (n->idle > 0),
					 .renew = 60 * SECOND,
					 .hold = 600 * SECOND };
	struct nodes nodes;
	int64_t began;

	make_pools(base, url, n, false);
	if (n->idle)
		make_pools(base, url, n, true);
	if (n->bare && *url == '/')
		run_plain_kube(base, url, n);
	else if (n->bare)
		run_plain(base, url, n);
	phase("start-begin");
	began = ns_now();
	nodes_begin(&nodes, &conf);
	until_ready(&nodes);
	printf("nodes %" PRIu32 " ms %" PRId64 "\n", n->nodes, (ns_now() - began) / 1000000);
	phase("start-end");
	if (n->idle)
		run_for(base, SETTLE * SECOND);
	run_pods(&nodes, n);
	if (n->idle) {
		phase("idle-begin");
		run_for(base, n->idle * SECOND);
		phase("idle-end");
	}
	nodes_end(&nodes);
}

int main(int argc, char **argv)
{
	struct numbers n = { .nodes = 4, .pods = 1, .rails = 1, .block = 1 };
	struct event_base *base = event_base_new();

	for (int i = 3; i < argc; i++) {
		if (!read_number(argv[i], &n))
			argc = 0;
	}
	if (argc < 3 || !base || n.rails > NODES_RAILS_MAX || n.nodes * n.pods > 32768) {
		(void)fprintf(stderr,
			      "usage: %s STORE FOLDER [nodes=N pods=N rails=N block=N "
			      "bare=N idle=SECONDS]\n",
			      argv[0]);
		return 2;
	}
	raise_limits();
	run(base, argv[1], argv[2], &n);
	event_base_free(base);
	return 0;
}
