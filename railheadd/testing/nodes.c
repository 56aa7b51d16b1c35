/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c: what railheadd/main.c does for one node, without a socket and without signals. */
#include "railheadd/testing/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/etcd/etcd.h"
#include "cluster/kube/kube.h"

/* As railheadd/main.c. */
#define RETRY INT64_C(100000000)

void nodes_fail(const char *what, const struct err *e)
{
	(void)fprintf(stderr, "%s: %s %s\n", what, e->msg, e->detail);
	exit(2);
}

static void make_folder(const char *path)
{
	struct err e;

	if (mkdir(path, 0755)) {
		(void)err_set(&e, ERR_IO, 0, "mkdir");
		nodes_fail(path, &e);
	}
}

static int open_kube(struct event_base *base, const char *path, struct cluster_store **out,
		     struct err *e)
{
	auto_kube_login struct kube_login login = { 0 };

	if (kube_login_file(path, NULL, &login, e))
		return -1;
	return kube_open(base, &(struct kube_conf){ .login = login }, out, e);
}

struct cluster_store *nodes_open_store(struct event_base *base, const char *url)
{
	const char *const endpoints[] = { url, NULL };
	struct cluster_store *s;
	struct err e;

	if (*url == '/' ? open_kube(base, url, &s, &e)
			: etcd_open(base, &(struct etcd_conf){ .endpoints = endpoints }, &s, &e))
		nodes_fail(url, &e);
	return s;
}

static void begin_node(const struct nodes_conf *c, struct node *n, uint32_t number)
{
	struct driver_conf conf = { .ctx = &n->ctx,
				    .base = c->base,
				    .ipam = &n->ipam,
				    .node = n->name,
				    .hold = c->hold,
				    .renew = c->renew,
				    .retry = RETRY };
	char home[192];
	struct err e;

	(void)snprintf(n->name, sizeof(n->name), "node-%u", number);
	(void)snprintf(home, sizeof(home), "%.96s/%s", c->folder, n->name);
	(void)snprintf(n->run_dir, sizeof(n->run_dir), "%s/run", home);
	(void)snprintf(n->state_dir, sizeof(n->state_dir), "%s/lib", home);
	make_folder(home);
	make_folder(n->run_dir);
	make_folder(n->state_dir);
	ctx_init(&n->ctx, n->name);
	n->ctx.log.level = LOG_LEVEL_WARN;
	n->ctx.run_dir = n->run_dir;
	n->ctx.state_dir = n->state_dir;
	n->ctx.etc_dir = NULL;
	n->ctx.cni_dir = NULL;
	conf.store = nodes_open_store(c->base, c->url);
	if (ipam_open(&n->ctx, NULL, true, &n->ipam, &e) || driver_new(&conf, &n->driver, &e))
		nodes_fail(n->name, &e);
}

void nodes_begin(struct nodes *all, const struct nodes_conf *conf)
{
	*all = (struct nodes){ .conf = *conf, .items = calloc(conf->n, sizeof(*all->items)) };
	if (!all->items)
		abort();
	for (uint32_t i = 0; i < conf->n; i++)
		begin_node(conf, &all->items[i], i);
}

void nodes_end(struct nodes *all)
{
	for (uint32_t i = 0; i < all->conf.n; i++) {
		driver_free(all->items[i].driver);
		ipam_close(&all->items[i].ipam);
	}
	free(all->items);
}

static bool is_ready(const struct nodes_conf *c, struct node *n)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	if (!status || driver_status(n->driver, status, &e))
		return false;
	return strcmp(json_str(json_get(status, "health")), "ok") == 0 &&
	       json_len(json_get(status, "pools")) == c->rails;
}

bool nodes_are_ready(struct nodes *all)
{
	while (all->ready < all->conf.n && is_ready(&all->conf, &all->items[all->ready]))
		all->ready++;
	return all->ready == all->conf.n;
}
