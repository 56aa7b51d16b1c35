/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd.c: the store and the life of its calls. A user may cancel any call and close the store from
 * any callback, so both live until the last callback has returned.
 */
#include "cluster/etcd/etcd.h"

#include <string.h>

#include "cluster/etcd/etcd_priv.h"

#define TIMEOUT_MS 5000
#define PAGE       200
#define ENDPOINTS  16

static void etcd_free(struct etcd *s)
{
	http_free(s->http);
	for (size_t i = 0; i < s->n_endpoints; i++)
		free(s->endpoints[i]);
	free(s->endpoints);
	free(s->prefix);
	free(s->user);
	free(s->password);
	free(s->token);
	free(s);
}

static void call_free(struct cluster_call *c)
{
	free(c->body);
	free(c->bytes);
	etcd_kv_clear(&c->was);
	free(c);
}

static void on_later(void *arg)
{
	struct cluster_call *c = arg;

	etcd_end(c, c->result.outcome, NULL);
}

struct cluster_call *etcd_call_new(struct etcd *s, void (*report)(struct cluster_call *c),
				   void *arg)
{
	struct cluster_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->later = http_later_new(s->http, on_later, c);
	if (!c->later) {
		free(c);
		return NULL;
	}
	c->etcd = s;
	c->report = report;
	c->arg = arg;
	TAILQ_INSERT_TAIL(&s->calls, c, all);
	return c;
}

void etcd_call_done(struct cluster_call *c)
{
	c->done(c->arg, &c->result);
}

void etcd_enter(struct cluster_call *c)
{
	c->busy++;
	c->etcd->busy++;
}

void etcd_leave(struct cluster_call *c)
{
	struct etcd *s = c->etcd;

	c->busy--;
	s->busy--;
	if (c->dead && !c->busy)
		call_free(c);
	if (s->closed && !s->busy)
		etcd_free(s);
}

void etcd_drop(struct cluster_call *c)
{
	if (c->dead)
		return;
	c->dead = true;
	TAILQ_REMOVE(&c->etcd->calls, c, all);
	if (c->http)
		http_cancel(TAKE_PTR(c->http));
	http_later_free(TAKE_PTR(c->later));
	if (!c->busy)
		call_free(c);
}

void etcd_end(struct cluster_call *c, enum cluster_outcome outcome,
	      const struct cluster_object *object)
{
	etcd_enter(c);
	c->result.outcome = outcome;
	c->result.object = object;
	c->report(c);
	etcd_drop(c);
	etcd_leave(c);
}

void etcd_end_later(struct cluster_call *c, enum cluster_outcome outcome)
{
	c->result.outcome = outcome;
	if (c->http)
		http_cancel(TAKE_PTR(c->http));
	http_later_call(c->later);
}

void etcd_bad_name(struct cluster_call *c, const char *name)
{
	(void)err_set(&c->result.err, ERR_CONFIG, 0,
		      "\"%s\" is not the name of an object: small letters, digits, '-' and '.'",
		      name);
	etcd_end_later(c, CLUSTER_REFUSED);
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

static void etcd_close(struct cluster_store *store)
{
	struct etcd *s = (struct etcd *)store;
	struct cluster_call *c;

	while ((c = TAILQ_FIRST(&s->calls)))
		etcd_drop(c);
	s->closed = true;
	if (!s->busy)
		etcd_free(s);
}

static const struct cluster_store_ops ops = {
	.name = "etcd",
	.get = etcd_get,
	.list = etcd_list,
	.watch = etcd_watch,
	.create = etcd_create,
	.update = etcd_update,
	.remove = etcd_remove,
	.cancel = etcd_drop,
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

static int copy_text(char **to, const char *text)
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
		if (copy_text(&s->endpoints[i], endpoints[i]))
			return -1;
	return 0;
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
	s->store.ops = &ops;
	TAILQ_INIT(&s->calls);
	s->timeout_ms = conf->timeout_ms ? conf->timeout_ms : TIMEOUT_MS;
	s->page = conf->page ? conf->page : PAGE;
	s->stray = conf->stray;
	s->stray_arg = conf->stray_arg;
	if (copy_endpoints(s, conf->endpoints) ||
	    copy_text(&s->prefix, conf->prefix ? conf->prefix : ETCD_DEFAULT_PREFIX) ||
	    copy_text(&s->user, conf->user) || copy_text(&s->password, conf->password)) {
		etcd_free(s);
		return err_nomem(e);
	}
	if (http_new(base, false, &s->http, e) || http_set_tls(s->http, &conf->tls, e)) {
		etcd_free(s);
		return -1;
	}
	*out = &s->store;
	return 0;
}

int etcd_set_tls(struct cluster_store *s, const struct http_tls *tls, struct err *e)
{
	return http_set_tls(((struct etcd *)s)->http, tls, e);
}
