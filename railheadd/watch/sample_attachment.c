/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_attachment.c: who has which RDMA port.
 *
 * In mode exclusive a pod has the devices in its namespace. In mode shared it has a port alone if
 * the interface of the port is in the pod. Below a macvlan, ipvlan or VLAN it shares the port.
 */
#include <stdio.h>

#include "cni/protocol/env.h"
#include "railheadd/watch/sample_priv.h"
#include "rdma/device/device.h"
#include "plugins/stale.h"

struct attachment {
	struct sample *s;
	const struct record *r;
	struct json *o;
	struct cni_pod pod; /* "": not known */
	const struct netns *netns;
	struct nl *rdma;   /* of the pod */
	const char *sysfs; /* of the pod */
	const struct rdma_link *link;
	int rc;
};

static int set_port(struct attachment *a, const char *device, uint32_t port, bool own)
{
	return json_add_str(a->o, "device", device) || json_add_int(a->o, "port", port) ||
			       json_add_bool(a->o, "own", own)
		       ? err_nomem(a->s->e)
		       : 0;
}

/* ---- devices in the pod ---- */

static int on_pod_port(const struct rdma_port *p, void *arg)
{
	struct attachment *a = arg;
	bool mine = p->ifindex && p->ifindex == a->r->ifindex;
	const struct sample_port one = { .sysfs = a->sysfs,
					 .device = a->link->name,
					 .port = p->port,
					 .netdev = mine ? a->r->key.ifname : "",
					 .ns = a->pod.ns,
					 .pod = a->pod.name };

	a->rc = sample_port_add(a->s, &one) || (mine && set_port(a, a->link->name, p->port, true))
			? -1
			: 0;
	return a->rc;
}

static int on_pod_device(const struct rdma_link *link, void *arg)
{
	struct attachment *a = arg;
	struct err why;

	a->link = link;
	if (nl_rdma_ports(a->rdma, link->index, on_pod_port, a, &why) && why.code == ERR_NOMEM)
		a->rc = err_nomem(a->s->e);
	return a->rc;
}

static int add_devices_of_pod(struct attachment *a)
{
	const struct sample_from *from = a->s->from;
	auto_nl struct nl *rdma = NULL;
	auto_fd int root = -1;
	char path[32];
	struct err why;

	if (nl_rdma_open_in(a->netns, &a->s->host, &rdma, &why))
		return why.code == ERR_NOMEM ? err_nomem(a->s->e) : 0;
	root = from->sysfs_of(a->netns, &a->s->host, &why);
	if (root < 0)
		return why.code == ERR_NOMEM ? err_nomem(a->s->e) : 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	a->sysfs = path;
	a->rdma = rdma;
	if (nl_rdma_list(rdma, on_pod_device, a, &why) && why.code == ERR_NOMEM)
		a->rc = err_nomem(a->s->e);
	a->sysfs = NULL;
	a->rdma = NULL;
	return a->rc;
}

/* ---- ports that the host sees ---- */

static int sample_attachment_find_port(struct attachment *a)
{
	struct sample *s = a->s;
	auto_nl struct nl *pod_nl = NULL;
	struct rdma_serving port;
	struct err why;

	if (nl_open_in(a->netns, &s->host, &pod_nl, &why))
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	const struct rdma_view view = { s->from->ctx, &s->host, a->netns, s->nl, pod_nl, s->rdma };

	if (rdma_of_netdev(&view, a->r->key.ifname, &port, &why))
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	return set_port(a, port.link.name, port.port, port.own);
}

/* ---- records ---- */

static int find_devices(struct attachment *a)
{
	auto_netns struct netns ns = { .fd = -1 };
	struct err why;

	/* A path that leads to another namespace by now says nothing of this pod. */
	if (!a->s->rdma || netns_open(a->r->netns, &ns, &why) || !netns_same(ns.id, a->r->netns_id))
		return 0;
	a->netns = &ns;
	int rc = a->s->mode == RDMA_EXCLUSIVE ? add_devices_of_pod(a)
					      : sample_attachment_find_port(a);

	a->netns = NULL;
	return rc;
}

static int add_attachment(struct attachment *a, bool chained)
{
	const struct record *r = a->r;

	a->pod = cni_args_pod(r->args);
	a->o = json_push_object(a->s->attachments);
	return !a->o || json_add_str(a->o, "plugin", r->plugin) ||
			       json_add_str(a->o, "network", r->key.network) ||
			       json_add_str(a->o, "container", r->key.container) ||
			       json_add_str(a->o, "interface", r->key.ifname) ||
			       json_add_str(a->o, "namespace", a->pod.ns) ||
			       json_add_str(a->o, "pod", a->pod.name) ||
			       json_add_bool(a->o, "chained", chained)
		       ? err_nomem(a->s->e)
		       : 0;
}

static int on_sample_attachment_record(const struct ctx *place, const struct record *r, void *arg)
{
	struct sample *s = arg;
	bool chained = place != s->from->ctx; /* the record of rdma, which made no interface */
	struct attachment a = { .s = s, .r = r };

	if (!r->tree || r->name_mismatch)
		return 0;
	if (s->n_attachments == SAMPLE_ATTACHMENTS_MAX) {
		s->left_out++;
		return 0;
	}
	s->n_attachments++;
	if (add_attachment(&a, chained) || (!chained && find_devices(&a)) ||
	    (*r->master && sample_interface_add(s, r->master)))
		s->failed = true;
	return s->failed;
}

int sample_attachments(struct sample *s)
{
	struct err why;

	if (stale_each(s->from->ctx, NULL, on_sample_attachment_record, s, &why) &&
	    why.code == ERR_NOMEM)
		return err_nomem(s->e);
	return s->failed ? -1 : 0;
}
