/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipoib.c: the hooks of the ipoib plugin: its keys, which interface can be the parent of a child,
 * what a child has, and what the kernel's refusals mean.
 */
#include "plugins/ether/ipoib.h"

#include <errno.h>
#include <net/if_arp.h>
#include <string.h>

#include "cni/engine/staged.h"
#include "lib/base/pkey.h"
#include "lib/net/monitor.h"

/* The largest mtu of each mode: 64 KiB and 4 KiB of InfiniBand, less the header of IPoIB. */
#define MAX_MTU_CONNECTED 65520
#define MAX_MTU_DATAGRAM  4092
#define MODE_OF_PARENT    (-1)
#define CARRIER_MS        1000

struct ipoib_conf {
	uint16_t pkey; /* 0: that of the parent */
	int mode;      /* enum link_ipoib_mode, or MODE_OF_PARENT */
	bool umcast;
};

_Static_assert(sizeof(struct ipoib_conf) <= ATTACH_STATE_MAX, "the state is too large");

static const struct json_enum ipoib_modes[] = {
	{ "datagram", IPOIB_DATAGRAM },
	{ "connected", IPOIB_CONNECTED },
	{ "", MODE_OF_PARENT },
	{ 0 },
};

#define FIELD(k, m) .key = k, .offset = offsetof(struct ipoib_conf, m)

static const struct json_field ipoib_fields[] = {
	{ FIELD("pkey", pkey), .kind = J_PKEY },
	{ FIELD("mode", mode), .kind = J_ENUM, .names = ipoib_modes },
	{ FIELD("umcast", umcast), .kind = J_BOOL },
	{ 0 },
};

static void ipoib_defaults(void *state)
{
	*(struct ipoib_conf *)state = (struct ipoib_conf){ .mode = MODE_OF_PARENT };
}

static int ipoib_validate(struct attach *a, struct err *e)
{
	if (a->conf.master.n)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "master: missing: name the IPoIB interface of the port, such as ib0");
}

/* ---- the parent ---- */

static int refuse_child(const struct attach *a, struct err *e)
{
	const struct link_info *m = &a->master;
	struct link_info parent;
	struct err ignored;

	if (nl_link_by_index(attach_master_nl(a), m->lower_ifindex, &parent, &ignored))
		return err_set(e, ERR_CONFIG, 0,
			       "master: %s is a child of another IPoIB interface, and the kernel "
			       "makes no child of a child: name its parent",
			       m->name);
	return err_set(e, ERR_CONFIG, 0,
		       "master: %s is a child of %s, and the kernel makes no child of a child: "
		       "name %s; the key \"pkey\" chooses the partition",
		       m->name, parent.name, parent.name);
}

/* The kernel tells of the lower device of a child only: a parent is its own. */
static int ipoib_check_master(const struct attach *a, struct err *e)
{
	const struct link_info *m = &a->master;

	if (m->type != ARPHRD_INFINIBAND)
		return err_set(
			e, ERR_CONFIG, 0,
			"master: %s is not an IPoIB interface%s%s: name that of an InfiniBand "
			"port, such as ib0",
			m->name, *m->kind ? " but of kind " : "", m->kind);
	if (strcmp(m->kind, "ipoib") != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "master: %s is of type InfiniBand, but of kind \"%s\": name the "
			       "IPoIB interface of the port itself",
			       m->name, m->kind);
	if (m->lower_ifindex && m->lower_ifindex != m->ifindex)
		return refuse_child(a, e);
	return 0;
}

/* ---- what a child has ---- */

static struct ipoib_conf *ipoib_conf_of(const struct attach *a)
{
	return (void *)(uintptr_t)a->state;
}

/*
 * The kernel gives every child the bit of full membership. The port's table of keys decides what
 * membership the port has.
 */
static union link_data ipoib_data_of(const struct attach *a)
{
	const struct ipoib_conf *c = ipoib_conf_of(a);
	const union link_data *parent = &a->master.data;
	uint32_t mode = c->mode == MODE_OF_PARENT ? parent->ipoib.mode : (uint32_t)c->mode;
	uint32_t pkey = c->pkey ? c->pkey : parent->ipoib.pkey;

	return (union link_data){ .ipoib = { .pkey = (pkey | PKEY_FULL_MEMBER) & UINT16_MAX,
					     .mode = mode == IPOIB_CONNECTED ? IPOIB_CONNECTED
									     : IPOIB_DATAGRAM,
					     .umcast = c->umcast } };
}

static uint32_t ipoib_max_mtu(const struct attach *a)
{
	const union link_data child = ipoib_data_of(a);

	if (child.ipoib.mode == IPOIB_CONNECTED)
		return MAX_MTU_CONNECTED;
	/* In datagram mode the parent's is what its port can carry. */
	return a->master.data.ipoib.mode == IPOIB_CONNECTED || a->master.mtu > MAX_MTU_DATAGRAM
		       ? MAX_MTU_DATAGRAM
		       : a->master.mtu;
}

/* For CHECK: the parent may have another mode by then. */
static int note_data(struct attach *a, const union link_data *d, struct err *e)
{
	json_free(a->device);
	a->device = json_new_object();
	if (!a->device || json_add_int(a->device, "pkey", d->ipoib.pkey) ||
	    json_add_int(a->device, "mode", d->ipoib.mode))
		return err_nomem(e);
	return 0;
}

/* ---- ADD ---- */

static void ipoib_explain(const struct attach *a, const union link_data *d, struct err *e)
{
	if (e->code != ERR_KERNEL)
		return;
	if (e->errnum == EINVAL && d->ipoib.mode == IPOIB_CONNECTED)
		(void)err_hint(e, "the device may have no connected mode (mlx5 with enhanced IPoIB "
				  "has none): use \"mode\": \"datagram\"");
	else if (e->errnum == EINVAL && a->conf.mtu)
		(void)err_hint(e, "in datagram mode the mtu is at most that of the port less 4 "
				  "(2044 or 4092)");
	else if (e->errnum == ENODEV)
		(void)err_hint(e,
			       "%s is gone, or its RDMA device is: `railctl rdma list` shows "
			       "the devices",
			       a->master.name);
	else if (e->errnum == ENOMEM || e->errnum == ENOSPC)
		(void)err_hint(e, "each child needs a queue pair, and the device may have none "
				  "left");
}

static int ipoib_create(struct attach *a, struct err *e)
{
	const union link_data d = ipoib_data_of(a);

	if (note_data(a, &d, e))
		return -1;
	if (staged_create(a, (struct link_spec){ .data = d }, e) == 0)
		return 0;
	ipoib_explain(a, &d, e);
	return -1;
}

/*
 * The kernel's ARP is lost if the carrier comes later. It comes when the subnet manager has let the
 * child join the multicast group of its partition.
 */
static int ipoib_carrier_ms(const struct attach *a)
{
	struct err ignored;

	return nl_link_carrier(attach_master_nl(a), a->master.ifindex, &ignored) == 1 ? CARRIER_MS
										      : 0;
}

/* ---- CHECK ---- */

struct noted {
	uint32_t pkey, mode;
};

static const struct json_field of_record[] = {
	{ "pkey", J_U32, J_AT(struct noted, pkey), .max = UINT16_MAX },
	{ "mode", J_U32, J_AT(struct noted, mode), .max = 1 },
	{ 0 },
};

/* Keys that the configuration leaves to the parent are compared with what ADD took. */
static union link_data data_of_add(const struct attach *a)
{
	union link_data d = ipoib_data_of(a);
	struct noted n = { d.ipoib.pkey, d.ipoib.mode };
	auto_record struct record r = { 0 };
	struct err ignored;

	if (attach_read_record(a, &r, &ignored) ||
	    json_decode(r.device, "device", of_record, &n, &ignored))
		return d;
	if (!ipoib_conf_of(a)->pkey)
		d.ipoib.pkey = n.pkey;
	if (ipoib_conf_of(a)->mode == MODE_OF_PARENT)
		d.ipoib.mode = n.mode;
	return d;
}

static int ipoib_check(struct attach *a, struct err *e)
{
	const union link_data want = data_of_add(a);

	if (nl_link_compare_data(&a->link, &want, e))
		return -1;
	if (a->conf.mtu && a->link.mtu != a->conf.mtu)
		return err_set(e, ERR_STATE, 0, "mtu: ipoib %s has %u, %u is asked for",
			       a->link.name, a->link.mtu, a->conf.mtu);
	return 0;
}

const struct attach_type ipoib_type = {
	.name = "ipoib",
	.role = ATTACH_MAKES,
	.kind = "ipoib",
	.fields = ipoib_fields,
	.defaults = ipoib_defaults,
	.validate = ipoib_validate,
	.check_master = ipoib_check_master,
	.max_mtu = ipoib_max_mtu,
	.create = ipoib_create,
	.check = ipoib_check,
	.restore = staged_restore,
	.release = staged_release,
	.carrier_ms = ipoib_carrier_ms,
	.sweep = staged_sweep_network,
	.no_dhcp = true,
	.hides_lower_netns = true,
};
