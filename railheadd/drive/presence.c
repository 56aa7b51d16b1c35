/* SPDX-License-Identifier: Apache-2.0 */
/* presence.c: reads the object of this node, and writes it if it differs from what runs here. */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "cluster/protocol/object_json.h"
#include "railheadd/drive/driver_parts.h"
#include "railheadd/drive/driver_priv.h"

#define AGAIN_S 5   /* after a failure, and up to as much again: many nodes begin together */
#define LOOK_S  600 /* an operator may have deleted the object, or the store was restored */

struct presence {
	struct driver *driver;
	struct cluster_node is;
	struct event *timer;
	struct cluster_call *call; /* NULL: the timer runs */
};

static void look_after(struct presence *p, unsigned seconds)
{
	struct timeval t = { .tv_sec = seconds +
				       (unsigned)(driver_random(p->driver) % (seconds + 1)) };

	(void)event_add(p->timer, &t);
}

static void written(void *arg, const struct cluster_result *r)
{
	struct presence *p = arg;

	p->call = NULL;
	look_after(p, r->outcome == CLUSTER_OK ? LOOK_S : AGAIN_S);
}

static void write_node(struct presence *p, const struct cluster_object *old)
{
	struct cluster_store *s = p->driver->conf.store;
	auto_json struct json *value = node_to_json(&p->is);
	struct cluster_object o = { .kind = CLUSTER_NODE, .value = value };

	(void)snprintf(o.name, sizeof(o.name), "%s", p->driver->conf.node);
	(void)snprintf(o.node, sizeof(o.node), "%s", p->driver->conf.node);
	if (old)
		o.at = old->at;
	if (value)
		p->call =
			old ? s->ops->update(s, &o, written, p) : s->ops->create(s, &o, written, p);
	if (!p->call)
		look_after(p, AGAIN_S);
}

static bool is_same(const struct cluster_node *a, const struct cluster_node *b)
{
	return strcmp(a->holder, b->holder) == 0 && strcmp(a->boot, b->boot) == 0 &&
	       strcmp(a->machine, b->machine) == 0 && strcmp(a->version, b->version) == 0 &&
	       a->forgotten == b->forgotten;
}

static void was_read(void *arg, const struct cluster_result *r)
{
	struct presence *p = arg;
	struct cluster_node there;
	struct err ignored;

	p->call = NULL;
	if (r->outcome == CLUSTER_NOT_FOUND)
		write_node(p, NULL);
	else if (r->outcome != CLUSTER_OK)
		look_after(p, AGAIN_S);
	else if (node_from_json(r->object->value, "node", &there, &ignored) ||
		 !is_same(&there, &p->is))
		write_node(p, r->object);
	else
		look_after(p, LOOK_S);
}

/* While another machine has our name, the object may be that one's. */
static void look(evutil_socket_t fd, short what, void *arg)
{
	struct presence *p = arg;
	struct cluster_store *s = p->driver->conf.store;

	(void)fd;
	(void)what;
	if (agent_health(p->driver->agent) == AGENT_OK)
		p->call = s->ops->get(s, CLUSTER_NODE, p->driver->conf.node, was_read, p);
	if (!p->call)
		look_after(p, AGAIN_S);
}

int presence_new(struct driver *d, const struct cluster_node *node, struct presence **out,
		 struct err *e)
{
	struct presence *p = calloc(1, sizeof(*p));
	struct timeval soon = { .tv_sec = 1 };

	if (!p || !(p->timer = evtimer_new(d->conf.base, look, p))) {
		free(p);
		return err_nomem(e);
	}
	p->driver = d;
	p->is = *node;
	(void)event_add(p->timer, &soon);
	*out = p;
	return 0;
}

void presence_free(struct presence *p)
{
	if (!p)
		return;
	if (p->call)
		p->driver->conf.store->ops->cancel(p->call);
	event_free(p->timer);
	free(p);
}
