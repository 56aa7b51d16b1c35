/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd.c: the store: its copy of the configuration, and the parts of a call that all calls have.
 */
#include "cluster/etcd/etcd.h"

#include <string.h>

#include "cluster/etcd/priv.h"

#define TIMEOUT_MS 5000
#define PAGE       200
#define ENDPOINTS  16

static void etcd_free(struct call_store *base)
{
	struct etcd *s = (struct etcd *)base;

	http_free(base->http);
	for (size_t i = 0; i < s->n_endpoints; i++)
		free(s->endpoints[i]);
	free(s->endpoints);
	free(s->prefix);
	free(s->user);
	free(s->password);
	free(s->token);
	free(s);
}

static void etcd_call_free(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	free(c->body);
	free(c->bytes);
	free(c->copies);
	etcd_kv_clear(&c->was);
	free(c);
}

struct cluster_call *etcd_call_new(struct etcd *s, void (*report)(struct call *c), void *arg)
{
	struct cluster_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->etcd = s;
	c->arg = arg;
	c->call.report = report;
	c->call.free = etcd_call_free;
	if (!call_begin(&s->base, &c->call))
		return c;
	free(c);
	return NULL;
}

void etcd_call_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	c->done(c->arg, &call->result);
}

bool etcd_stray(struct cluster_call *c, const struct err *e)
{
	struct etcd *s = c->etcd;

	if (e->code == ERR_NOMEM)
		return false;
	if (s->stray)
		s->stray(s->stray_arg, e);
	return true;
}

/* ---- open and close ---- */

static void etcd_cancel(struct cluster_call *c)
{
	call_drop(&c->call);
}

static void etcd_close(struct cluster_store *store)
{
	call_close((struct call_store *)store);
}

static const struct cluster_store_ops ops = {
	.name = "etcd",
	.lists_ranges = true,
	.get = etcd_get,
	.list = etcd_list,
	.watch = etcd_watch,
	.create = etcd_create,
	.update = etcd_update,
	.remove = etcd_remove,
	.drop_copies = etcd_drop_copies,
	.cancel = etcd_cancel,
	.close = etcd_close,
};

static int check_endpoint(const char *endpoint, struct err *e)
{
	const char *host = strstr(endpoint, "://");

	if ((strncmp(endpoint, "http://", 7) != 0 && strncmp(endpoint, "https://", 8) != 0) ||
	    !host[3] || strpbrk(host + 3, "/?#@ \t\r\n"))
		return err_set(e, ERR_CONFIG, 0,
			       "etcd endpoint \"%s\": write it as https://10.0.0.1:2379", endpoint);
	return 0;
}

static int check_conf(const struct etcd_conf *conf, struct err *e)
{
	size_t n = 0;

	for (; conf->endpoints && conf->endpoints[n]; n++)
		if (check_endpoint(conf->endpoints[n], e))
			return -1;
	if (!n || n > ENDPOINTS)
		return err_set(e, ERR_CONFIG, 0, "etcd has %zu endpoints: name 1 to %d", n,
			       ENDPOINTS);
	if (conf->prefix && !etcd_prefix_valid(conf->prefix))
		return err_set(e, ERR_CONFIG, 0,
			       "etcd prefix \"%s\": begin and end it with '/', at most %d bytes",
			       conf->prefix, ETCD_PREFIX_MAX);
	if (!conf->user != !conf->password)
		return err_set(e, ERR_CONFIG, 0, "etcd: name a user and a password, or neither");
	return 0;
}

static int etcd_copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -1 : 0;
}

static int copy_endpoints(struct etcd *s, const char *const *endpoints)
{
	s->endpoints = calloc(ENDPOINTS, sizeof(*s->endpoints));
	if (!s->endpoints)
		return -1;
	for (size_t i = 0; endpoints[i]; i++, s->n_endpoints++)
		if (etcd_copy_text(&s->endpoints[i], endpoints[i]))
			return -1;
	return 0;
}

/* Without memory the old ones stay until the next request. */
void etcd_renew(struct etcd *s)
{
	struct etcd_login now;
	unsigned seen = s->login_of ? s->login_of(s->login_arg, &now) : s->login_seen;
	struct err ignored;
	char *password;

	if (seen == s->login_seen || etcd_copy_text(&password, now.password))
		return;
	if (http_set_tls(s->base.http, &now.tls, &ignored)) {
		free(password);
		return;
	}
	free(s->password);
	s->password = password;
	s->login_seen = seen;
}

int etcd_open(struct event_base *base, const struct etcd_conf *conf, struct cluster_store **out,
	      struct err *e)
{
	struct etcd *s;

	if (check_conf(conf, e))
		return -1;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	s->base.store.ops = &ops;
	s->base.free = etcd_free;
	TAILQ_INIT(&s->base.calls);
	s->timeout_ms = conf->timeout_ms ? conf->timeout_ms : TIMEOUT_MS;
	s->page = conf->page ? conf->page : PAGE;
	s->stray = conf->stray;
	s->stray_arg = conf->stray_arg;
	s->login_of = conf->login;
	s->login_arg = conf->login_arg;
	if (copy_endpoints(s, conf->endpoints) ||
	    etcd_copy_text(&s->prefix, conf->prefix ? conf->prefix : ETCD_DEFAULT_PREFIX) ||
	    etcd_copy_text(&s->user, conf->user) || etcd_copy_text(&s->password, conf->password)) {
		etcd_free(&s->base);
		return err_nomem(e);
	}
	if (http_new(base, false, &s->base.http, e) || http_set_tls(s->base.http, &conf->tls, e)) {
		etcd_free(&s->base);
		return -1;
	}
	*out = &s->base.store;
	return 0;
}
