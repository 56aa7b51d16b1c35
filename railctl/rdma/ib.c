/* SPDX-License-Identifier: Apache-2.0 */
/* ib.c: the table of InfiniBand ports of `railctl rdma list --ib`. Pure. */
#include "railctl/rdma/ib.h"

#include <stdio.h>
#include <string.h>

#include "lib/device/ib_port.h"

const char *rdma_rate_text(uint32_t mbps, char out[16])
{
	char number[IB_RATE_LEN];

	if (!mbps)
		return NULL;
	(void)snprintf(out, 16, "%.14sG", ib_rate_text(mbps, number));
	return out;
}

const char *rdma_number_text(int64_t n, char out[RDMA_NUMBER_LEN])
{
	if (n < 0)
		return NULL;
	(void)snprintf(out, RDMA_NUMBER_LEN, "%lld", (long long)n);
	return out;
}

const struct out_column rdma_ib_columns[RDMA_IB_COLUMNS] = {
	{ "DEVICE", OUT_SHRINK }, { "PORT", OUT_RIGHT },   { "STATE", 0 },
	{ "PHYSICAL", 0 },        { "RATE", OUT_RIGHT },   { "LID", OUT_RIGHT },
	{ "LMC", OUT_RIGHT },     { "SM-LID", OUT_RIGHT }, { "NODE-GUID", OUT_SPARE },
	{ "PORT-GUID", 0 },       { "PKEYS", OUT_SHRINK },
};

/* "0:0xffff 1:0x8001": the entries of the table with their indices; with "..." if there are more.
 */
#define PKEYS_LEN 512
static const char *list_pkeys(const struct inv_port *p, char out[PKEYS_LEN])
{
	char text[PKEY_STR_LEN];
	size_t len = 0, i;

	for (i = 0; i < p->n_pkeys && len + 24 < PKEYS_LEN; i++)
		len += (size_t)snprintf(out + len, PKEYS_LEN - len, "%s%u:%s", i ? " " : "",
					p->pkey[i].index, pkey_format(p->pkey[i].pkey, text));
	if (i < p->n_pkeys)
		(void)strcpy(out + len, " ...");
	return len ? out : NULL;
}

/* A LID of 0 is not an assigned LID, and without a subnet manager there is none. */
static struct out_cell lid_cell(const struct inv_port *p, uint32_t lid, char text[RDMA_NUMBER_LEN])
{
	if (!p->subnet.known)
		return (struct out_cell){ NULL, OUT_PLAIN };
	return (struct out_cell){ rdma_number_text(lid, text), lid ? OUT_PLAIN : OUT_BAD };
}

static struct out_cell guid_cell(bool known, struct guid g, char text[GUID_STR_LEN])
{
	if (!known)
		return (struct out_cell){ NULL, OUT_PLAIN };
	return (struct out_cell){ guid_format(g, text), guid_is_usable(g) ? OUT_PLAIN : OUT_BAD };
}

int rdma_ib_row(struct out_table *t, const struct inv_device *d, const struct inv_port *p,
		struct err *e)
{
	char port[RDMA_NUMBER_LEN], rate[16], lid[RDMA_NUMBER_LEN], lmc[RDMA_NUMBER_LEN];
	char sm[RDMA_NUMBER_LEN], node_guid[GUID_STR_LEN], port_guid[GUID_STR_LEN];
	char pkeys[PKEYS_LEN];
	struct guid guid = GUID_ZERO;
	bool has_guid = inv_port_guid(p, &guid);
	const struct out_cell cells[] = {
		{ d->link.name, OUT_PLAIN },
		{ rdma_number_text(p->port, port), OUT_PLAIN },
		{ rdma_port_state_name(p->state),
		  p->state == RDMA_PORT_ACTIVE ? OUT_GOOD : OUT_BAD },
		{ p->phys_state ? ib_phys_state_name(p->phys_state) : NULL, OUT_PLAIN },
		{ rdma_rate_text(p->rate_mbps, rate), OUT_PLAIN },
		lid_cell(p, p->subnet.lid, lid),
		{ p->subnet.known ? rdma_number_text(p->subnet.lmc, lmc) : NULL, OUT_PLAIN },
		lid_cell(p, p->subnet.sm_lid, sm),
		guid_cell(true, guid_of_number(d->link.node_guid), node_guid),
		guid_cell(has_guid, guid, port_guid),
		{ list_pkeys(p, pkeys), OUT_PLAIN },
	};

	return p->layer == IB_LAYER_INFINIBAND ? out_row(t, cells, e) : 0;
}
