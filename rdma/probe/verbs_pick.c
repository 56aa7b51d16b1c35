/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_pick.c: chooses device, port and GID for an address or for the options. */
#include <errno.h>
#include <string.h>

#include "lib/base/pkey.h"
#include "rdma/probe/verbs_priv.h"

static const char *verbs_pick_name_of(const struct verbs_conn *c)
{
	return ibv_get_device_name(c->ctx->device);
}

int verbs_port_ready(struct verbs_conn *c, struct err *e)
{
	if (ibv_query_port(c->ctx, (uint8_t)c->port, &c->attr)) {
		err_set(e, ERR_UNAVAILABLE, errno, "%s has no port %u", verbs_pick_name_of(c),
			c->port);
		return -1;
	}
	if (c->attr.state == IBV_PORT_ACTIVE)
		return 0;
	err_set(e, ERR_UNAVAILABLE, 0, "port %u of %s is not active", c->port,
		verbs_pick_name_of(c));
	if (c->attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return err_hint(
			e, "is its network interface up, and is there a carrier? \"rdma link\" "
			   "names the interface");
	return err_hint(e, c->attr.state == IBV_PORT_INIT
				   ? "the link is up, and no subnet manager has configured the port"
				   : "does a subnet manager run, and is the cable in?");
}

/* ---- which GID ---- */

static bool gid_fits(const struct verbs_conn *c, const struct ibv_gid_entry *entry)
{
	return !c->plan.pick.port || entry->port_num == c->plan.pick.port;
}

/* The GID of the local address, RoCE v2 first. NULL: there is none. */
static const struct ibv_gid_entry *verbs_pick_by_address(const struct verbs_conn *c,
							 const struct verbs_gid_table *t)
{
	const struct ibv_gid_entry *found = NULL;
	uint8_t raw[16];

	verbs_gid_of(c->plan.pick.local, raw);
	for (size_t i = 0; i < t->n; i++) {
		if (!gid_fits(c, &t->entry[i]) ||
		    memcmp(t->entry[i].gid.raw, raw, sizeof(raw)) != 0)
			continue;
		if (!found || t->entry[i].gid_type == IBV_GID_TYPE_ROCE_V2)
			found = &t->entry[i];
	}
	return found;
}

static const struct ibv_gid_entry *by_index(const struct verbs_conn *c,
					    const struct verbs_gid_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (gid_fits(c, &t->entry[i]) &&
		    t->entry[i].gid_index == (uint32_t)c->plan.pick.gid_index)
			return &t->entry[i];
	}
	return NULL;
}

static bool link_local(const uint8_t raw[16])
{
	return raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80;
}

/* The kernel lets a pod send from another pod's GID, and that pod would get the answers. */
int verbs_judge_index(const struct verbs_conn *c, const struct verbs_gid_table *t, struct err *e)
{
	const struct ibv_gid_entry *entry = by_index(c, t);
	char gid[IP_STR_LEN];

	if (!entry) {
		err_set(e, ERR_UNAVAILABLE, 0, "%s has no GID of index %d", verbs_pick_name_of(c),
			c->plan.pick.gid_index);
		return err_hint(
			e,
			"\"rdma-probe list\" shows the GIDs; without %s the address finds its own",
			c->plan.pick.gid_of_nccl ? "NCCL_IB_GID_INDEX" : "--gid-index");
	}
	if (entry->gid_type == IBV_GID_TYPE_IB || link_local(entry->gid.raw) ||
	    verbs_gid_is_here(entry->gid.raw))
		return 0;
	err_set(e, ERR_UNAVAILABLE, 0,
		"GID %d of %s is %s, which is not an address of this network namespace",
		c->plan.pick.gid_index, verbs_pick_name_of(c),
		verbs_gid_format(entry->gid.raw, gid));
	return err_hint(
		e,
		"another host or pod would get the answers; \"rdma-probe list\" shows which "
		"GIDs are here%s",
		c->plan.pick.gid_of_nccl
			? ". The index is that of NCCL_IB_GID_INDEX: unset it, or --gid-index "
			  "takes another one"
			: "");
}

/* ---- InfiniBand ---- */

/* The LID is the address, and the port's own GID always has index 0. */
static bool take_ib_port(struct verbs_conn *c, unsigned port)
{
	if (ibv_query_port(c->ctx, (uint8_t)port, &c->attr) ||
	    c->attr.link_layer != IBV_LINK_LAYER_INFINIBAND ||
	    ibv_query_gid(c->ctx, (uint8_t)port, 0, &c->gid))
		return false;
	c->port = port;
	c->gid_index = 0;
	return true;
}

/* The port of the IPoIB interface with the local address; false: not on this device. */
static bool take_port_of_local(struct verbs_conn *c)
{
	struct ibv_device_attr attr;
	struct guid guid;

	if (!verbs_guid_of(c->plan.pick.local, &guid) || ibv_query_device(c->ctx, &attr))
		return false;
	for (unsigned port = 1; port <= attr.phys_port_cnt; port++) {
		if (take_ib_port(c, port) && memcmp(c->gid.raw + 8, guid.byte, GUID_LEN) == 0)
			return true;
	}
	return false;
}

static bool use_infiniband(struct verbs_conn *c)
{
	const struct verbs_pick *pick = &c->plan.pick;

	if (pick->device && pick->port)
		return take_ib_port(c, pick->port);
	return take_port_of_local(c) || (pick->device && take_ib_port(c, 1));
}

static int no_partition(const struct verbs_conn *c, struct err *e)
{
	char text[PKEY_STR_LEN];

	err_set(e, ERR_UNAVAILABLE, 0, "port %u of %s is not a member of partition %s", c->port,
		verbs_pick_name_of(c), pkey_format(c->plan.pick.pkey, text));
	if (c->attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return err_hint(e, "RoCE has no partitions: leave --pkey out");
	return err_hint(e, "the subnet manager must add the port's GUID to it; \"railctl rdma list "
			   "--ib\" shows the partitions of the port");
}

/* The queue pair wants the index. The same membership precedes another one of the partition. */
static int choose_partition(struct verbs_conn *c, struct err *e)
{
	uint16_t want = c->plan.pick.pkey;
	int found = -1;

	for (int i = 0; want && i < c->attr.pkey_tbl_len; i++) {
		__be16 raw;

		if (ibv_query_pkey(c->ctx, (uint8_t)c->port, i, &raw))
			continue;

		uint16_t key = ntohs(raw);

		if (key == want || (found < 0 && pkey_partition(key) == pkey_partition(want)))
			found = i;
		if (key == want)
			break;
	}
	if (want && found < 0)
		return no_partition(c, e);
	c->pkey_index = want ? (uint16_t)found : 0;
	return 0;
}

/* ---- a device ---- */

/* Returns 1 if this device fits, 0 if not. */
static int try_device(struct verbs_conn *c, struct err *e)
{
	struct verbs_gid_table table = { 0 };

	if (verbs_gid_table(c->ctx, &table, e))
		return -1;
	auto_free struct ibv_gid_entry *entries = table.entry;
	(void)entries;
	const struct ibv_gid_entry *found = verbs_pick_by_address(c, &table);
	/*
	 * An index is used only for a device that the user named, or that has the address. On
	 * InfiniBand, whose GIDs are no addresses, NCCL does not use it.
	 */
	bool named = c->plan.pick.device && !c->plan.pick.gid_of_nccl;
	if (c->plan.pick.gid_index >= 0 && (named || found)) {
		if (verbs_judge_index(c, &table, e))
			return -1;
		found = by_index(c, &table);
	}
	if (found) {
		c->port = found->port_num;
		c->gid_index = found->gid_index;
		c->gid = found->gid;
	} else if (!use_infiniband(c)) {
		return 0;
	}
	return verbs_port_ready(c, e) || choose_partition(c, e) ? -1 : 1;
}

static int no_gid(const struct verbs_pick *pick, struct err *e)
{
	char ip[IP_STR_LEN];

	ip_format(pick->local, ip);
	if (pick->device)
		err_set(e, ERR_UNAVAILABLE, 0, "RDMA device %s has no GID for %s", pick->device,
			ip);
	else
		err_set(e, ERR_UNAVAILABLE, 0, "no RDMA device has a GID for %s", ip);
	return err_hint(
		e, "a device has GIDs for the addresses of its network interface and of interfaces "
		   "above it; \"rdma-probe list\" shows them, --bind takes another address");
}

static void verbs_pick_free_devices(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

int verbs_choose(struct verbs_conn *c, struct err *e)
{
	const struct verbs_pick *pick = &c->plan.pick;
	struct err closed = { 0 };
	int n = 0;
	auto_clean(verbs_pick_free_devices) struct ibv_device **list = ibv_get_device_list(&n);

	if (!list || n == 0)
		return verbs_none(NULL, e);
	bool seen = false;
	for (int i = 0; i < n; i++) {
		const char *name = ibv_get_device_name(list[i]);
		if (pick->device && strcmp(pick->device, name) != 0)
			continue;
		seen = true;
		c->ctx = ibv_open_device(list[i]);
		if (!c->ctx) {
			(void)verbs_open_error(list[i], errno, &closed);
			continue;
		}
		int rc = try_device(c, e);
		if (rc)
			return rc < 0 ? -1 : 0;
		(void)ibv_close_device(c->ctx);
		c->ctx = NULL;
	}
	if (!seen)
		return verbs_none(pick->device, e);
	if (closed.code)
		return err_pass(e, &closed);
	return no_gid(pick, e);
}
