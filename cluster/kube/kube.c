/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube.c: the store: its copy of the configuration, and the parts of a call that all calls have.
 */
#include "cluster/kube/kube.h"

#include <stdio.h>
#include <string.h>

#include "cluster/kube/priv.h"
#include "cluster/kube/kubeconfig.h"
#include "cluster/store/cluster_name.h"
#include "lib/base/ctx.h"

#define TIMEOUT_MS 5000
#define PAGE       200
/* Types of an older release lack a field until an operator applies the new ones. */
#define FIELD_AGAIN_MS (10 * 60 * 1000)

struct kube *kube_store(const struct cluster_call *c)
{
	return (struct kube *)c->call.store;
}

/* ---- calls ---- */

static void kube_call_free(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	free(c->url);
	free(c->body);
	free(c->token);
	free(c->more);
	free(c->without);
	free(c->untested);
	json_free(c->was);
	free(c);
}

struct cluster_call *kube_call_new(struct cluster_store *s, void (*report)(struct call *c),
				   void *arg)
{
	struct cluster_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->call.report = report;
	c->call.free = kube_call_free;
	c->arg = arg;
	if (!call_begin((struct call_store *)s, &c->call))
		return c;
	free(c);
	return NULL;
}

void kube_call_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	c->done(c->arg, &call->result);
}

bool kube_select(struct cluster_call *c, const struct cluster_selector *which)
{
	int64_t now = ctx_mono_ms();
	const struct kube *s = kube_store(c);
	const char *bad;

	if (!cluster_selector_valid(which, &bad)) {
		call_bad_name(&c->call, bad);
		return false;
	}
	c->kind = which->kind;
	(void)snprintf(c->prefix, sizeof(c->prefix), "%s", which->prefix ? which->prefix : "");
	(void)snprintf(c->node, sizeof(c->node), "%s", which->node ? which->node : "");
	c->where = (struct kube_where){ .kind = which->kind };
	if (*c->node && now >= s->no_node[c->kind])
		c->where.node = c->node;
	if (c->kind == CLUSTER_BLOCK && cluster_prefix_pool(c->prefix, c->pool) &&
	    now >= s->no_pool)
		c->where.pool = c->pool;
	if (c->kind == CLUSTER_BLOCK && now >= s->no_uid)
		c->where.without = c->without = kube_without(which->without, which->n_without);
	return true;
}

bool kube_widen(struct cluster_call *c)
{
	int64_t until = ctx_mono_ms() + FIELD_AGAIN_MS;
	struct kube *s = kube_store(c);

	/* The youngest field first. A heartbeat and a Node are selected by their name. */
	if (c->where.without) {
		c->where.without = NULL;
		s->no_uid = until;
	} else if (c->where.pool) {
		c->where.pool = NULL;
		s->no_pool = until;
	} else if (c->where.node && c->kind != CLUSTER_HEARTBEAT && c->kind != CLUSTER_KUBE_NODE) {
		c->where.node = NULL;
		s->no_node[c->kind] = until;
	} else {
		return false;
	}
	if (s->conf.unselected)
		s->conf.unselected(s->conf.arg, &c->call.result.err);
	return true;
}

bool kube_has_prefix(const struct cluster_call *c, const struct cluster_object *o)
{
	return strncmp(o->name, c->prefix, strlen(c->prefix)) == 0;
}

bool kube_has_node(const struct cluster_call *c, const struct cluster_object *o)
{
	return !*c->node || strcmp(o->node, c->node) == 0;
}

bool kube_stray(struct cluster_call *c, const struct err *e)
{
	const struct kube_conf *conf = &kube_store(c)->conf;

	if (e->code == ERR_NOMEM)
		return false;
	if (conf->stray)
		conf->stray(conf->arg, e);
	return true;
}

/* ---- open and close ---- */

static void kube_free(struct call_store *base)
{
	struct kube *s = (struct kube *)base;

	http_free(base->http);
	kube_login_clear(&s->conf.login);
	free(s);
}

static void kube_cancel(struct cluster_call *c)
{
	call_drop(&c->call);
}

static void kube_close(struct cluster_store *s)
{
	call_close((struct call_store *)s);
}

static const struct cluster_store_ops ops = {
	.name = "kubernetes",
	.has_nodes = true,
	.get = kube_get,
	.list = kube_list,
	.watch = kube_watch,
	.create = kube_create,
	.update = kube_update,
	.remove = kube_remove,
	.tell = kube_tell,
	.report = kube_report,
	.cancel = kube_cancel,
	.close = kube_close,
};

int kube_login_check(const struct kube_login *l, struct err *e)
{
	auto_free char *server = kubeconfig_server("server", l->server, e);

	if (!server)
		return -1;
	if (strcmp(server, l->server) != 0)
		return err_set(e, ERR_CONFIG, 0, "server \"%s\": write it without '/' at its end",
			       l->server);
	if (!strncmp(server, "http://", 7) && (l->token || l->token_file || l->cert))
		return err_set(
			e, ERR_CONFIG, 0,
			"server \"%s\": TLS is missing, so the network would see the credentials; "
			"use https://",
			l->server);
	if (!l->cert != !l->key)
		return err_set(e, ERR_CONFIG, 0,
			       "Kubernetes: name a client certificate and its key, or neither");
	if (l->namespace && !cluster_name_valid(l->namespace))
		return err_set(e, ERR_CONFIG, 0, "namespace \"%s\" is not a Kubernetes name",
			       l->namespace);
	return 0;
}

static int copy_login(struct kube_login *to, const struct kube_login *from)
{
	if (kube_login_copy(to, from))
		return -1;
	if (!to->namespace)
		to->namespace = strdup(KUBE_DEFAULT_NAMESPACE);
	return to->namespace ? 0 : -1;
}

static int kube_set_tls(struct kube *s, struct err *e)
{
	const struct kube_login *l = &s->conf.login;

	return http_set_tls(s->base.http, &(struct http_tls){ l->ca, l->cert, l->key }, e);
}

void kube_renew(struct kube *s)
{
	struct err e;
	int rc = kube_login_renew(&s->conf.login, &e);

	if (rc == 0)
		return;
	if (rc > 0 && kube_set_tls(s, &e))
		rc = -1;
	if (s->conf.renewed)
		s->conf.renewed(s->conf.arg, rc < 0 ? &e : NULL);
}

int kube_open(struct event_base *base, const struct kube_conf *conf, struct cluster_store **out,
	      struct err *e)
{
	struct kube *s;

	if (kube_login_check(&conf->login, e))
		return -1;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	s->base.store.ops = &ops;
	s->base.free = kube_free;
	TAILQ_INIT(&s->base.calls);
	s->conf = *conf;
	s->conf.login = (struct kube_login){ 0 };
	s->conf.timeout_ms = conf->timeout_ms ? conf->timeout_ms : TIMEOUT_MS;
	s->conf.page = conf->page ? conf->page : PAGE;
	if (copy_login(&s->conf.login, &conf->login)) {
		kube_free(&s->base);
		return err_nomem(e);
	}
	s->place = (struct kube_place){ s->conf.login.server, s->conf.login.namespace };
	if (http_new(base, false, &s->base.http, e) || kube_set_tls(s, e)) {
		kube_free(&s->base);
		return -1;
	}
	*out = &s->base.store;
	return 0;
}
