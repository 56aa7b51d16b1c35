/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_list.c: `railctl rdma list`: devices with their ports. With --gids their GIDs, with --ib
 * what the subnet manager gave the ports of InfiniBand.
 */
#include "railctl/device/rdma_list.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/guid.h"
#include "lib/cli/list.h"
#include "lib/device/ib_port.h"
#include "railctl/device/rdma.h"
#include "railctl/device/pod.h"
#include "rdma/inventory/json.h"

/* ---- cells ---- */

static struct out_cell list_state(const struct json *n)
{
	const char *state = json_str(n);

	return (struct out_cell){ state, state && strcmp(state, rdma_port_state_name(
									RDMA_PORT_ACTIVE)) == 0
						 ? OUT_GOOD
						 : OUT_BAD };
}

static struct out_cell list_rate(const struct cmd_run *r, const struct json *mbps,
				 char buf[LIST_TEXT_LEN])
{
	char number[IB_RATE_LEN];

	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%sG", ib_rate_text((uint32_t)json_num(mbps), number));
	return (struct out_cell){ mbps ? buf : NULL, OUT_PLAIN };
}

static bool is_ib(const struct json *port)
{
	return strcmp(json_text(port, "linkLayer"), ib_link_layer_name(IB_LAYER_INFINIBAND)) == 0;
}

/* GIDs of this namespace, and all: "2/14". On InfiniBand a GID belongs to the port: only "1". */
static struct out_cell list_gids(const struct cmd_run *r, const struct json *port,
				 char buf[LIST_TEXT_LEN])
{
	const struct json *gids = json_get(port, "gids");
	size_t here = 0;

	(void)r;
	if (!gids)
		return (struct out_cell){ NULL, OUT_PLAIN };
	json_each (gid, gids)
		here += json_true(json_get(gid, "here"));
	if (is_ib(port))
		(void)snprintf(buf, LIST_TEXT_LEN, "%zu", json_len(gids));
	else
		(void)snprintf(buf, LIST_TEXT_LEN, "%zu/%zu", here, json_len(gids));
	return (struct out_cell){ buf, OUT_PLAIN };
}

static struct out_cell list_owner(const struct json *gid)
{
	return json_true(json_get(gid, "here"))
		       ? (struct out_cell){ "here", OUT_GOOD }
		       : (struct out_cell){ json_str(json_get(gid, "netns")), OUT_PLAIN };
}

/* A LID of 0 is not an assigned LID, and without a subnet manager there is none. */
static struct out_cell list_lid(const struct cmd_run *r, const struct json *n,
				char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%.0f", json_num(n));
	return (struct out_cell){ n ? buf : NULL, json_num(n) > 0 ? OUT_PLAIN : OUT_BAD };
}

static struct out_cell list_guid(const struct json *n)
{
	struct guid guid;
	bool usable = json_str(n) && guid_parse(json_str(n), &guid) == 0 && guid_is_usable(guid);

	return (struct out_cell){ json_str(n), usable || !n ? OUT_PLAIN : OUT_BAD };
}

/* "0:0xffff 1:0x8001": the entries of the table with their indices; with "..." if there are more.
 */
static struct out_cell list_pkeys(const struct cmd_run *r, const struct json *pkeys,
				  char buf[LIST_TEXT_LEN])
{
	size_t len = 0;

	(void)r;
	*buf = '\0';
	json_each (p, pkeys) {
		if (len + 24 >= LIST_TEXT_LEN) {
			(void)strcpy(buf + len, " ...");
			break;
		}
		len += (size_t)snprintf(buf + len, LIST_TEXT_LEN - len, "%s%.0f:%s", len ? " " : "",
					json_num(json_get(p, "index")), json_text(p, "pkey"));
	}
	return (struct out_cell){ buf, OUT_PLAIN };
}

/* ---- tables ---- */

static const struct list_column port_columns[] = {
	{ .title = "DEVICE", OUT_SHRINK, "device" },
	{ .title = "PORT", OUT_RIGHT, "port" },
	{ .title = "STATE", 0, "state", .word = list_state },
	{ .title = "LAYER", 0, "linkLayer" },
	{ .title = "RATE", OUT_RIGHT, "rateMbps", .cell = list_rate },
	{ .title = "MTU", OUT_RIGHT, "mtu" },
	{ .title = "NETDEV", 0, "ifName" },
	{ .title = "PCI", OUT_SPARE, "pciAddress" },
	{ .title = "NUMA", OUT_RIGHT | OUT_SPARE, "numaNode" },
	{ .title = "DRIVER", OUT_SPARE, "driver" },
	{ .title = "GIDS", OUT_RIGHT, .cell = list_gids },
	{ .title = NULL },
};

static const struct list_column gid_columns[] = {
	{ .title = "DEVICE", OUT_SHRINK, "device" },
	{ .title = "PORT", OUT_RIGHT, "port" },
	{ .title = "INDEX", OUT_RIGHT, "index" },
	{ .title = "TYPE", 0, "type" },
	{ .title = "GID", OUT_SHRINK, "address" },
	{ .title = "NETDEV", 0, "ifName" },
	{ .title = "OWNER", OUT_SHRINK, .word = list_owner },
	{ .title = NULL },
};

static const struct list_column ib_columns[] = {
	{ .title = "DEVICE", OUT_SHRINK, "device" },
	{ .title = "PORT", OUT_RIGHT, "port" },
	{ .title = "STATE", 0, "state", .word = list_state },
	{ .title = "PHYSICAL", 0, "physicalState" },
	{ .title = "RATE", OUT_RIGHT, "rateMbps", .cell = list_rate },
	{ .title = "LID", OUT_RIGHT, "lid", .cell = list_lid },
	{ .title = "LMC", OUT_RIGHT, "lmc" },
	{ .title = "SM-LID", OUT_RIGHT, "smLid", .cell = list_lid },
	{ .title = "NODE-GUID", OUT_SPARE, "nodeGuid", .word = list_guid },
	{ .title = "PORT-GUID", 0, "portGuid", .word = list_guid },
	{ .title = "PKEYS", OUT_SHRINK, "pkeys", .cell = list_pkeys },
	{ .title = NULL },
};

/* A row with members of the device, too. -1: no memory. */
static int push_row(struct json *rows, const struct json *item, const struct json *device,
		    const struct json *port)
{
	static const char *const keys[] = { "pciAddress", "numaNode", "driver", "nodeGuid" };
	struct json *row = json_dup(item);

	if (!row || json_push(rows, row) ||
	    json_add_str(row, "device", json_text(device, "name")) ||
	    (item != port && json_add_copy(row, "port", json_get(port, "port"))))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_add_copy(row, keys[i], json_get(device, keys[i])))
			return -1;
	return 0;
}

static struct json *rows_of(const struct json *devices, enum rdma_list_view view)
{
	auto_json struct json *rows = json_new_array();

	json_each (device, devices) {
		json_each (port, json_get(device, "ports")) {
			const bool shown =
				view == RDMA_VIEW_PORTS || (view == RDMA_VIEW_IB && is_ib(port));

			if (!rows || (shown && push_row(rows, port, device, port)))
				return NULL;
			json_each (gid, view == RDMA_VIEW_GIDS ? json_get(port, "gids") : NULL)
				if (push_row(rows, gid, device, port))
					return NULL;
		}
	}
	return TAKE_PTR(rows);
}

int rdma_list_print(const struct cmd_run *r, const struct json *devices, enum rdma_list_view view,
		    struct err *e)
{
	static const struct list_column *const columns[] = { [RDMA_VIEW_PORTS] = port_columns,
							     [RDMA_VIEW_GIDS] = gid_columns,
							     [RDMA_VIEW_IB] = ib_columns };
	auto_json struct json *rows = rows_of(devices, view);

	if (!rows)
		return err_nomem(e);
	if (json_len(rows))
		return list_print(r, columns[view], rows, e);
	out_line(&r->out, OUT_PLAIN, "%s",
		 view == RDMA_VIEW_IB ? "No InfiniBand ports." : "No GIDs.");
	return 0;
}

/* ---- the command ---- */

static int list_run(struct cmd_run *r, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	int pid;

	if (opt_is_set(&r->opts, "gids") && opt_is_set(&r->opts, "ib"))
		return cmd_usage(r, e, "--gids and --ib exclude each other");
	if (rdma_pod_read(r, &pid, &v, e))
		return -1;

	auto_json struct json *array = inventory_json(&v);

	if (!array)
		return err_nomem(e);
	if (r->out.json)
		return out_json(&r->out, array, e);
	if (v.n_devices)
		return rdma_list_print(r, array,
				       opt_is_set(&r->opts, "gids") ? RDMA_VIEW_GIDS
				       : opt_is_set(&r->opts, "ib") ? RDMA_VIEW_IB
								    : RDMA_VIEW_PORTS,
				       e);
	out_line(&r->out, OUT_PLAIN, "No RDMA devices%s.",
		 v.has_rdma ? "" : ": this kernel has no RDMA");
	return 0;
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
