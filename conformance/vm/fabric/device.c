// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * device.c: the RDMA device of a function: what it says about itself and its port, and what the
 * PF's does with VFs. The kernel's ib_ipoib makes the interface of type 32 on it.
 */
#include <linux/if_link.h>
#include <rdma/ib_mad.h>
#include "conformance/vm/fabric/wire.h"

struct fab_ucontext {
	struct ib_ucontext ib;
};

static struct fab_device *to_fab(struct ib_device *ib)
{
	return container_of(ib, struct fab_device, ib);
}

static struct fab_function *function(struct ib_device *ib)
{
	return to_fab(ib)->function;
}

union ib_gid fab_gid(u64 guid)
{
	union ib_gid gid;

	gid.global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid.global.interface_id = cpu_to_be64(guid);
	return gid;
}

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct fab_function *f = function(ib);

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = 1ULL << 32;
	attr->sys_image_guid = cpu_to_be64((f->pf ?: f)->node_guid);
	attr->vendor_id = 0xfab1;
	attr->vendor_part_id = f->pf ? 2 : 1;
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = 1 << 16;
	attr->max_qp_wr = 1 << 14;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	attr->max_send_sge = attr->max_recv_sge = 32;
	attr->max_cq = 1 << 16;
	attr->max_cqe = 1 << 22;
	attr->max_mr = attr->max_pd = attr->max_ah = 1 << 16;
	attr->max_mcast_grp = attr->max_mcast_qp_attach = attr->max_total_mcast_qp_attach = 1 << 16;
	attr->max_pkeys = FAB_PKEYS;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct fab_function *f = function(ib);
	int err = fab_fault(f, FAB_QUERY_PORT);

	attr->state = fab_state(f);
	attr->phys_state = attr->state == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_DISABLED
						       : IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = FAB_GIDS;
	attr->pkey_tbl_len = FAB_PKEYS;
	attr->port_cap_flags = IB_PORT_SYS_IMAGE_GUID_SUP | IB_PORT_CM_SUP;
	attr->max_msg_sz = 1 << 30;
	attr->lid = f->lid;
	attr->sm_lid = f->sm_lid;
	attr->max_vl_num = 4;
	attr->subnet_timeout = 18;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_HDR;
	return err;
}

static int modify_port(struct ib_device *ib, u32 port, int mask, struct ib_port_modify *props)
{
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = FAB_PKEYS;
	immutable->gid_tbl_len = FAB_GIDS;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	/* The kernel takes the subnet's prefix from the last of them. */
	*gid = fab_gid(index ? 0 : to_fab(ib)->port_guid);
	return fab_fault(function(ib), FAB_QUERY_GID);
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index >= FAB_PKEYS)
		return -EINVAL;
	*pkey = function(ib)->pkeys[index];
	return fab_fault(function(ib), FAB_QUERY_PKEY);
}

/* ib_ipoib asks this before it makes an interface. -EOPNOTSUPP: it makes one of its own. */
static int rdma_netdev_get_params(struct ib_device *ib, u32 port, enum rdma_netdev_t type,
				  struct rdma_netdev_alloc_params *params)
{
	return fab_fault(function(ib), FAB_INTERFACE) ?: -EOPNOTSUPP;
}

static void get_dev_fw_str(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "1.0.0");
}

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return fab_fault(function(context->device), FAB_UCONTEXT);
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

/* With this the kernel moves the device between network namespaces. Users have no memory of the
 * device. */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

/* ---- VFs, asked for through the PF's interface ---- */

static struct fab_function *vf_of(struct ib_device *ib, int vf)
{
	struct fab_function *f = function(ib);

	return f->pf || vf < 0 || vf >= pci_num_vf(to_pci_dev(ib->dev.parent)) ? NULL : f + 1 + vf;
}

static int set_vf_guid(struct ib_device *ib, int vf, u32 port, u64 guid, int type)
{
	struct fab_function *f = vf_of(ib, vf);
	bool node = type == IFLA_VF_IB_NODE_GUID;
	int err;

	if (!f)
		return -EINVAL;
	err = fab_fault(f, node ? FAB_SET_NODE_GUID : FAB_SET_PORT_GUID);
	if (err)
		return err;
	if (node)
		f->node_guid = f->set_node_guid = guid;
	else
		f->port_guid = f->set_port_guid = guid;
	return 0;
}

static int get_vf_guid(struct ib_device *ib, int vf, u32 port, struct ifla_vf_guid *node,
		       struct ifla_vf_guid *port_guid)
{
	struct fab_function *f = vf_of(ib, vf);

	if (!f)
		return -EINVAL;
	node->guid = f->set_node_guid;
	port_guid->guid = f->set_port_guid;
	return fab_fault(f, FAB_GET_VF_GUID);
}

static int get_vf_config(struct ib_device *ib, int vf, u32 port, struct ifla_vf_info *info)
{
	struct fab_function *f = vf_of(ib, vf);

	if (!f)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	info->linkstate = f->link;
	return fab_fault(f, FAB_GET_VF_CONFIG);
}

static int get_vf_stats(struct ib_device *ib, int vf, u32 port, struct ifla_vf_stats *stats)
{
	return 0;
}

static int set_vf_link_state(struct ib_device *ib, int vf, u32 port, int state)
{
	struct fab_function *f = vf_of(ib, vf);
	int err;

	if (!f || state < IFLA_VF_LINK_STATE_AUTO || state > IFLA_VF_LINK_STATE_DISABLE)
		return -EINVAL;
	err = fab_fault(f, FAB_SET_VF_LINK);
	if (err || f->link == state)
		return err;
	f->link = state;
	fab_event(f, fab_state(f) == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	return 0;
}

/* libibverbs opens a device only if one of its drivers knows it. siw's asks the device for nothing
 * of its own until a program makes a completion queue, and Debian's kernels have no siw. */
static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = 1,
	.query_device = query_device,
	.query_port = query_port,
	.modify_port = modify_port,
	.get_port_immutable = get_port_immutable,
	.get_link_layer = get_link_layer,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.rdma_netdev_get_params = rdma_netdev_get_params,
	.get_dev_fw_str = get_dev_fw_str,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, fab_ucontext, ib),
};

static const struct ib_device_ops vf_ops = {
	.set_vf_guid = set_vf_guid,
	.get_vf_guid = get_vf_guid,
	.get_vf_config = get_vf_config,
	.get_vf_stats = get_vf_stats,
	.set_vf_link_state = set_vf_link_state,
};

static void dispatch(struct fab_function *f, enum ib_event_type type)
{
	struct ib_event event = { .event = type, .element.port_num = FAB_PORT };
	unsigned long flags;

	spin_lock_irqsave(&fab_lock, flags);
	if (f->device && f->device->registered) {
		event.device = &f->device->ib;
		ib_dispatch_event(&event);
	}
	spin_unlock_irqrestore(&fab_lock, flags);
}

void fab_event(struct fab_function *f, enum ib_event_type event)
{
	int i;

	dispatch(f, event);
	if (f->pf || (event != IB_EVENT_PORT_ACTIVE && event != IB_EVENT_PORT_ERR))
		return;
	for (i = 1; i <= fab_vfs(); i++)
		if (!f[i].state && f[i].link == IFLA_VF_LINK_STATE_AUTO)
			dispatch(f + i, event);
}

/* set_device: the device that messages to this function reach, or none. */
static void set_device(struct fab_function *f, struct fab_device *d, bool registered)
{
	unsigned long flags;

	spin_lock_irqsave(&fab_lock, flags);
	f->device = d;
	if (d)
		d->registered = registered;
	spin_unlock_irqrestore(&fab_lock, flags);
}

int fab_device_add(struct fab_function *f, struct pci_dev *pdev)
{
	struct fab_device *d = ib_alloc_device(fab_device, ib);
	int err;

	if (!d)
		return -ENOMEM;
	d->function = f;
	d->node_guid = f->node_guid;
	d->port_guid = f->port_guid;
	d->ib.node_type = RDMA_NODE_IB_CA;
	d->ib.node_guid = cpu_to_be64(d->node_guid);
	d->ib.phys_port_cnt = 1;
	d->ib.num_comp_vectors = 1;
	d->ib.dev.parent = &pdev->dev;
	strscpy(d->ib.node_desc, "fabric", sizeof(d->ib.node_desc));
	ib_set_device_ops(&d->ib, &device_ops);
	ib_set_device_ops(&d->ib, &fab_queue_ops);
	if (!f->pf)
		ib_set_device_ops(&d->ib, &vf_ops);
	err = fab_fault(f, FAB_REGISTER);
	if (err)
		goto failed;
	set_device(f, d, false);
	/* Without a device for DMA the addresses in work requests are the kernel's own. */
	err = ib_register_device(&d->ib, "fabric_%d", NULL);
	set_device(f, err ? NULL : d, true);
	if (!err)
		return 0;
failed:
	ib_dealloc_device(&d->ib);
	return err;
}

void fab_device_remove(struct fab_function *f)
{
	struct fab_device *d = f->device;

	set_device(f, d, false);
	ib_unregister_device(&d->ib);
	set_device(f, NULL, false);
	ib_dealloc_device(&d->ib);
}
