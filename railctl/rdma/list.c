/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c: `railctl rdma list`: devices with their ports. With --gids their GIDs, with --ib
 * what the subnet manager gave the ports of InfiniBand.
 */
#include <stdio.h>

#include "railctl/rdma/rdma.h"
#include "railctl/rdma/ib.h"
#include "railctl/rdma/pod.h"
#include "rdma/inventory/json.h"

/* ---- ports ---- */

static const struct out_column port_columns[] = {
	{ "DEVICE", OUT_SHRINK }, { "PORT", OUT_RIGHT }, { "STATE", 0 },
	{ "LAYER", 0 },           { "RATE", OUT_RIGHT }, { "MTU", OUT_RIGHT },
	{ "NETDEV", 0 },          { "PCI", OUT_SPARE },  { "NUMA", OUT_RIGHT | OUT_SPARE },
	{ "DRIVER", OUT_SPARE },  { "GIDS", OUT_RIGHT },
};

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

/* GIDs of this namespace, and all: "2/14". On InfiniBand a GID belongs to the port: only "1". */
static const char *count_gids(const struct inv_port *p, char out[24])
{
	size_t here = 0;

	if (!p->has_gids)
		return NULL;
	if (p->layer == IB_LAYER_INFINIBAND) {
		(void)snprintf(out, 24, "%zu", p->n_gids);
		return out;
	}
	for (size_t i = 0; i < p->n_gids; i++)
		here += p->gid[i].here;
	(void)snprintf(out, 24, "%zu/%zu", here, p->n_gids);
	return out;
}

static int list_add_port(struct out_table *t, const struct inv_device *d, const struct inv_port *p,
			 struct err *e)
{
	char port[RDMA_NUMBER_LEN], rate[16], mtu[RDMA_NUMBER_LEN], numa[RDMA_NUMBER_LEN];
	char gids[24];
	const struct out_cell cells[] = {
		{ d->link.name, OUT_PLAIN },
		{ rdma_number_text(p->port, port), OUT_PLAIN },
		{ rdma_port_state_name(p->state),
		  p->state == RDMA_PORT_ACTIVE ? OUT_GOOD : OUT_BAD },
		{ ib_link_layer_name(p->layer), OUT_PLAIN },
		{ rdma_rate_text(p->rate_mbps, rate), OUT_PLAIN },
		{ p->netdev_mtu ? rdma_number_text(p->netdev_mtu, mtu) : NULL, OUT_PLAIN },
		{ or_null(p->netdev), OUT_PLAIN },
		{ or_null(d->bus), OUT_PLAIN },
		{ rdma_number_text(d->numa_node, numa), OUT_PLAIN },
		{ or_null(d->driver), OUT_PLAIN },
		{ count_gids(p, gids), OUT_PLAIN },
	};

	return out_row(t, cells, e);
}

/* ---- GIDs ---- */

static const struct out_column gid_columns[] = {
	{ "DEVICE", OUT_SHRINK }, { "PORT", OUT_RIGHT }, { "INDEX", OUT_RIGHT },  { "TYPE", 0 },
	{ "GID", OUT_SHRINK },    { "NETDEV", 0 },       { "OWNER", OUT_SHRINK },
};

static int add_gid(struct out_table *t, const struct inv_device *d, const struct inv_port *p,
		   const struct inv_gid *g, struct err *e)
{
	char port[RDMA_NUMBER_LEN], index[RDMA_NUMBER_LEN], ip[IP_STR_LEN];
	const struct out_cell cells[] = {
		{ d->link.name, OUT_PLAIN },
		{ rdma_number_text(p->port, port), OUT_PLAIN },
		{ rdma_number_text(g->entry.index, index), OUT_PLAIN },
		{ gid_type_name(g->entry.type), OUT_PLAIN },
		{ ip_format(gid_to_ip(&g->entry.gid), ip), OUT_PLAIN },
		{ or_null(g->entry.netdev), OUT_PLAIN },
		{ g->here ? "here" : or_null(g->netns), g->here ? OUT_GOOD : OUT_PLAIN },
	};

	return out_row(t, cells, e);
}

/* ---- the command ---- */

enum view { VIEW_PORTS, VIEW_GIDS, VIEW_IB };

static int add_rows(struct out_table *t, enum view view, const struct inv_device *d,
		    const struct inv_port *p, struct err *e)
{
	switch (view) {
	case VIEW_PORTS:
		return list_add_port(t, d, p, e);
	case VIEW_IB:
		return rdma_ib_row(t, d, p, e);
	case VIEW_GIDS:
		for (size_t g = 0; g < p->n_gids; g++) {
			if (add_gid(t, d, p, &p->gid[g], e))
				return -1;
		}
	}
	return 0;
}

static int fill_table(struct out_table *t, const struct rdma_inventory *v, enum view view,
		      struct err *e)
{
	for (size_t i = 0; i < v->n_devices; i++) {
		const struct inv_device *d = &v->device[i];

		for (const struct inv_port *p = d->port; p < d->port + d->n_ports; p++) {
			if (add_rows(t, view, d, p, e))
				return -1;
		}
	}
	return 0;
}

static int list_show_table(const struct cmd_run *r, const struct rdma_inventory *v, struct err *e)
{
	static const struct out_table views[] = {
		[VIEW_PORTS] = { .columns = port_columns, .n_columns = ARRAY_SIZE(port_columns) },
		[VIEW_GIDS] = { .columns = gid_columns, .n_columns = ARRAY_SIZE(gid_columns) },
		[VIEW_IB] = { .columns = rdma_ib_columns, .n_columns = RDMA_IB_COLUMNS },
	};
	enum view view = opt_is_set(&r->opts, "gids") ? VIEW_GIDS
			 : opt_is_set(&r->opts, "ib") ? VIEW_IB
						      : VIEW_PORTS;
	auto_table struct out_table t = views[view];

	if (fill_table(&t, v, view, e))
		return -1;
	if (t.n_rows)
		out_table(&r->out, &t);
	else if (v->n_devices)
		out_line(&r->out, OUT_PLAIN, "%s",
			 view == VIEW_IB ? "No InfiniBand ports." : "No GIDs.");
	else
		out_line(&r->out, OUT_PLAIN, "No RDMA devices%s.",
			 v->has_rdma ? "" : ": this kernel has no RDMA");
	return 0;
}

static int list_run(struct cmd_run *r, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	int pid;

	if (opt_is_set(&r->opts, "gids") && opt_is_set(&r->opts, "ib"))
		return cmd_usage(r, e, "--gids and --ib exclude each other");
	if (rdma_pod_read(r, &pid, &v, e))
		return -1;
	if (!r->out.json)
		return list_show_table(r, &v, e);

	auto_json struct json *array = inventory_json(&v);

	return array ? out_json(&r->out, array, e) : err_nomem(e);
}

static const struct opt options[] = {
	RDMA_OPT_NETNS,
	{ "gids", NULL, "the GIDs of all ports and their owners", 0 },
	{ "ib", NULL, "the LIDs, GUIDs and partition keys of InfiniBand ports", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rdma list",
	"railctl rdma list --gids --json",
	"railctl rdma list --ib",
	NULL,
};

const struct cmd rdma_list_cmd = {
	.name = "list",
	.summary = "list the RDMA devices of a network namespace, with their ports and GIDs",
	.about =
		"GIDS shows how many of a port's GIDs are addresses of this namespace, and how "
		"many GIDs exist. MTU and NETDEV are those of the port's own interface, if it is "
		"in this namespace. OWNER is \"here\", or the namespace that has the address, if "
		"the caller may look into other namespaces.\n\nWith --ib each line is a port of "
		"InfiniBand. PKEYS are the partition keys with their indices. LID and SM-LID are 0 "
		"if no subnet manager has configured the port.",
	.opts = { options },
	.examples = examples,
	.run = list_run,
};
