/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_list.c: `rdma-probe list`: devices, ports and GIDs as libibverbs reports them. */
#include <stdio.h>
#include <string.h>

#include "rdma/probe/run.h"

static bool cmd_list_is_wanted(const struct cmd_run *p, const struct verbs_device *d)
{
	const char *wanted = probe_conf(p)->device;

	return !*wanted || strcmp(wanted, d->name) == 0;
}

/* ---- text ---- */

static const char *const not_known = "-";

static int gid_row(struct out_table *t, const struct verbs_gid *g, struct err *e)
{
	char index[16], gid[IP_STR_LEN];

	(void)snprintf(index, sizeof(index), "%u", g->index);
	const struct out_cell cells[] = {
		{ index, OUT_PLAIN },
		{ verbs_gid_format(g->raw, gid), g->here ? OUT_GOOD : OUT_PLAIN },
		{ g->type, OUT_PLAIN },
		{ *g->netdev ? g->netdev : not_known, OUT_PLAIN },
		{ g->here ? "yes" : "no", g->here ? OUT_GOOD : OUT_FAINT },
	};
	return out_row(t, cells, e);
}

static int show_port(const struct out *o, const struct verbs_device *d,
		     const struct verbs_port *port, struct err *e)
{
	static const struct out_column columns[] = { { "INDEX", OUT_RIGHT },
						     { "GID", OUT_SHRINK },
						     { "TYPE", 0 },
						     { "NETDEV", 0 },
						     { "HERE", 0 } };
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };

	out_line(o, OUT_HEAD, "%s port %u (%s): %s, %s, %s, MTU %u", d->name, port->num, d->uverbs,
		 port->state, port->ethernet ? "Ethernet" : "InfiniBand",
		 *port->rate ? port->rate : "rate unknown", port->mtu);
	if (!port->ethernet)
		out_line(o, port->sm_lid ? OUT_PLAIN : OUT_WARN, "LID %u, LMC %u, %s%u%s",
			 port->lid, port->lmc, "subnet manager at LID ", port->sm_lid,
			 port->sm_lid ? "" : ": there is none");
	for (size_t i = 0; i < port->n_gids; i++) {
		if (gid_row(&t, &port->gids[i], e))
			return -1;
	}
	if (port->n_gids)
		out_table(o, &t);
	else
		out_line(o, OUT_WARN, "no GIDs: has its interface an address?");
	return 0;
}

static int show_devices(const struct cmd_run *p, const struct verbs_devices *devices, struct err *e)
{
	for (size_t i = 0; i < devices->n; i++) {
		const struct verbs_device *d = &devices->list[i];
		if (!cmd_list_is_wanted(p, d))
			continue;
		if (d->closed.code)
			out_line(&p->out, OUT_BAD, "%s: %s; %s", d->name, d->closed.msg,
				 d->closed.detail);
		/* Data Direct is rare: only devices that have it say so */
		if (d->direct.answer == VERBS_YES)
			out_line(&p->out, OUT_PLAIN, "%s: Data Direct by %s", d->name,
				 d->direct.bdf);
		for (size_t j = 0; j < d->n_ports; j++) {
			if (show_port(&p->out, d, &d->ports[j], e))
				return -1;
		}
	}
	return 0;
}

/* ---- JSON ---- */

static int json_gid(struct json *list, const struct verbs_gid *g)
{
	struct json *o = json_push_object(list);
	char gid[IP_STR_LEN];

	if (!o || json_add_int(o, "index", g->index) ||
	    json_add_str(o, "gid", verbs_gid_format(g->raw, gid)) ||
	    json_add_str(o, "type", g->type) || json_add_known(o, "netdev", g->netdev) ||
	    json_add_int(o, "ifindex", g->ifindex) || json_add_bool(o, "here", g->here))
		return -1;
	return 0;
}

static int json_port(struct json *list, const struct verbs_port *port)
{
	struct json *o = json_push_object(list), *gids;

	if (!o || json_add_int(o, "port", port->num) || json_add_str(o, "state", port->state) ||
	    json_add_str(o, "linkLayer", port->ethernet ? "Ethernet" : "InfiniBand") ||
	    json_add_known(o, "rate", port->rate) || json_add_int(o, "mtu", port->mtu) ||
	    json_add_int(o, "lid", port->lid) ||
	    (!port->ethernet &&
	     (json_add_int(o, "smLid", port->sm_lid) || json_add_int(o, "lmc", port->lmc))))
		return -1;
	gids = json_add_array(o, "gids");
	for (size_t i = 0; gids && i < port->n_gids; i++) {
		if (json_gid(gids, &port->gids[i]))
			return -1;
	}
	return gids ? 0 : -1;
}

static int json_direct(struct json *device, const struct verbs_direct *d)
{
	static const char *const words[] = {
		[VERBS_YES] = "yes", [VERBS_NO] = "no", [VERBS_NOT_KNOWN] = "unknown"
	};
	struct json *o = json_add_object(device, "dataDirect");

	return !o || json_add_str(o, "answer", words[d->answer]) ||
			       json_add_known(o, "bdf", d->bdf) || json_add_str(o, "why", d->why)
		       ? -1
		       : 0;
}

static int json_device(struct json *list, const struct verbs_device *d)
{
	struct json *o = json_push_object(list), *ports;

	if (!o || json_add_str(o, "device", d->name) || json_add_str(o, "uverbs", d->uverbs) ||
	    json_add_str(o, "error", d->closed.code ? d->closed.msg : NULL) ||
	    json_direct(o, &d->direct))
		return -1;
	ports = json_add_array(o, "ports");
	for (size_t i = 0; ports && i < d->n_ports; i++) {
		if (json_port(ports, &d->ports[i]))
			return -1;
	}
	return ports ? 0 : -1;
}

static int cmd_list_show_json(const struct cmd_run *p, const struct verbs_devices *devices,
			      struct err *e)
{
	auto_json struct json *list = json_new_array();

	if (!list)
		return err_nomem(e);
	for (size_t i = 0; i < devices->n; i++) {
		if (cmd_list_is_wanted(p, &devices->list[i]) &&
		    json_device(list, &devices->list[i]))
			return err_nomem(e);
	}
	return out_json(&p->out, list, e);
}

static int cmd_list_list(struct cmd_run *p, struct err *e)
{
	const char *wanted = probe_conf(p)->device;
	auto_devices struct verbs_devices devices = { 0 };
	size_t n = 0;

	if (verbs_list(&devices, e))
		return -1;
	for (size_t i = 0; i < devices.n; i++)
		n += cmd_list_is_wanted(p, &devices.list[i]);
	if (!n)
		return verbs_none(*wanted ? wanted : NULL, e);
	return p->out.json ? cmd_list_show_json(p, &devices, e) : show_devices(p, &devices, e);
}

const struct cmd probe_list = {
	.name = "list",
	.summary = "list devices, ports and GIDs as libibverbs reports them",
	.about = "HERE shows whether an interface of this network namespace has the GID's address. "
		 "In shared mode a device shows the GIDs of every pod on it.",
	.opts = { conf_which },
	.run = cmd_list_list,
};
