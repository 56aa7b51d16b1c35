/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: an inventory as JSON, for `railctl rdma list --json`. Pure. */
#include "rdma/inventory/json.h"

static int json_add_gid(struct json *list, const struct inv_gid *g)
{
	struct json *o = json_push_object(list);
	char raw[GID_STR_LEN], ip[IP_STR_LEN];

	return !o || json_add_int(o, "index", g->entry.index) ||
			       json_add_str(o, "gid", gid_format(&g->entry.gid, raw)) ||
			       json_add_str(o, "address",
					    ip_format(gid_to_ip(&g->entry.gid), ip)) ||
			       json_add_str(o, "type", gid_type_name(g->entry.type)) ||
			       (*g->entry.netdev && json_add_str(o, "ifName", g->entry.netdev)) ||
			       json_add_bool(o, "here", g->here) ||
			       (*g->netns && json_add_str(o, "netns", g->netns))
		       ? -1
		       : 0;
}

static int add_pkeys(struct json *o, const struct inv_port *p)
{
	struct json *list = p->has_pkeys ? json_add_array(o, "pkeys") : o;
	char text[PKEY_STR_LEN];

	for (size_t i = 0; list && p->has_pkeys && i < p->n_pkeys; i++) {
		struct json *one = json_push_object(list);

		if (!one || json_add_int(one, "index", p->pkey[i].index) ||
		    json_add_str(one, "pkey", pkey_format(p->pkey[i].pkey, text)))
			return -1;
	}
	return list ? 0 : -1;
}

/* The members that only a port of InfiniBand has. */
static int add_subnet(struct json *o, const struct inv_port *p)
{
	char text[GUID_STR_LEN];
	struct guid guid;

	if (inv_port_guid(p, &guid) && json_add_str(o, "portGuid", guid_format(guid, text)))
		return -1;
	if (!p->subnet.known)
		return add_pkeys(o, p);
	return json_add_int(o, "lid", p->subnet.lid) ||
			       json_add_int(o, "smLid", p->subnet.sm_lid) ||
			       json_add_int(o, "lmc", p->subnet.lmc) ||
			       json_add_str(o, "subnetPrefix",
					    guid_format(guid_of_number(p->subnet.prefix), text)) ||
			       add_pkeys(o, p)
		       ? -1
		       : 0;
}

static int json_add_port(struct json *list, const struct inv_port *p)
{
	struct json *o = json_push_object(list);
	uint32_t mtu = p->layer == IB_LAYER_ETHERNET ? inv_rdma_mtu(p->netdev_mtu) : 0;

	if (!o || json_add_int(o, "port", p->port) ||
	    json_add_str(o, "state", rdma_port_state_name(p->state)) ||
	    (p->phys_state &&
	     json_add_str(o, "physicalState", ib_phys_state_name(p->phys_state))) ||
	    json_add_str(o, "linkLayer", ib_link_layer_name(p->layer)) ||
	    (p->rate_mbps && json_add_int(o, "rateMbps", p->rate_mbps)) ||
	    (*p->netdev && json_add_str(o, "ifName", p->netdev)) ||
	    (p->netdev_mtu && json_add_int(o, "mtu", p->netdev_mtu)) ||
	    (mtu && json_add_int(o, "rdmaMtu", mtu)) || add_subnet(o, p))
		return -1;
	if (!p->has_gids)
		return 0;
	struct json *gids = json_add_array(o, "gids");
	for (size_t i = 0; gids && i < p->n_gids; i++) {
		if (json_add_gid(gids, &p->gid[i]))
			return -1;
	}
	return gids ? 0 : -1;
}

static int add_uverbs(struct json *o, const struct rdma_chardev *c)
{
	struct json *u = *c->name ? json_add_object(o, "uverbs") : o;

	if (!*c->name)
		return 0;
	return !u || json_add_str(u, "name", c->name) || json_add_int(u, "major", c->major) ||
			       json_add_int(u, "minor", c->minor)
		       ? -1
		       : 0;
}

static int json_add_guid(struct json *o, uint64_t guid)
{
	char text[GUID_STR_LEN];

	return guid ? json_add_str(o, "nodeGuid", guid_format(guid_of_number(guid), text)) : 0;
}

static int json_add_device(struct json *list, const struct inv_device *d)
{
	struct json *o = json_push_object(list);

	if (!o || json_add_str(o, "name", d->link.name) ||
	    json_add_int(o, "index", d->link.index) ||
	    (*d->link.protocol && json_add_str(o, "protocol", d->link.protocol)) ||
	    (*d->driver && json_add_str(o, "driver", d->driver)) ||
	    (*d->bus && json_add_str(o, "pciAddress", d->bus)) || json_add_bool(o, "vf", d->vf) ||
	    (d->numa_node >= 0 && json_add_int(o, "numaNode", d->numa_node)) ||
	    json_add_guid(o, d->link.node_guid) ||
	    (*d->link.fw_version && json_add_str(o, "firmware", d->link.fw_version)) ||
	    add_uverbs(o, &d->uverbs))
		return -1;

	struct json *ports = json_add_array(o, "ports");

	for (size_t i = 0; ports && i < d->n_ports; i++)
		if (json_add_port(ports, &d->port[i]))
			return -1;
	return ports ? 0 : -1;
}

struct json *inventory_json(const struct rdma_inventory *v)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < v->n_devices; i++)
		if (json_add_device(list, &v->device[i]))
			return NULL;
	return TAKE_PTR(list);
}
