/* SPDX-License-Identifier: Apache-2.0 */
/* vf_list.c: `railctl vf list`: PFs and VFs with their owners, as a table or JSON. */
#include <stdio.h>
#include <string.h>

#include "cni/protocol/env.h"
#include "cni/record/part.h"
#include "lib/cli/list.h"
#include "railctl/device/vf.h"

static const uint8_t no_mac[MAC_LEN];

/* The MAC that its PF knows; without one, no address. */
static struct hw_addr pf_mac(const struct vf_view *v)
{
	bool known = (v->pf_side.has & VF_MAC) && memcmp(v->pf_side.mac, no_mac, MAC_LEN) != 0;

	return known ? hw_addr_of_mac(v->pf_side.mac) : (struct hw_addr){ 0 };
}

/* The address of its interface; without an interface, the one that its PF knows. */
static struct hw_addr addr_of(const struct vf_view *v)
{
	return v->netdev.addr.len ? v->netdev.addr : pf_mac(v);
}

/* ---- for programs: the names are those of DRANET's attributes, where it has one ---- */

static int list_add_hex(struct json *o, const char *key, unsigned value)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "0x%04x", value);
	return json_add_str(o, key, text);
}

static int add_mac(struct json *o, const char *key, struct hw_addr addr)
{
	char text[HW_ADDR_STR_LEN];

	return addr.len ? json_add_str(o, key, hw_addr_format(addr, text)) : 0;
}

static int list_add_guid(struct json *o, const char *key, bool known, struct guid g)
{
	char text[GUID_STR_LEN];

	return known ? json_add_str(o, key, guid_format(g, text)) : 0;
}

/* The GUID of its driver, if it has an interface; else what its PF gives to the next driver. */
static bool list_guid_of(const struct vf_view *v, struct guid *out)
{
	if (hw_addr_guid(v->netdev.addr, out))
		return true;
	*out = v->pf_side.port_guid;
	return v->pf_side.has & VF_PORT_GUID;
}

static int add_pci(const struct cmd_run *r, struct json *o, const char *addr,
		   const struct pci_info *p)
{
	char root[PCI_ROOT_LEN] = "";
	struct err none;

	if (pci_root(r->ctx.sysfs, addr, root, &none) == 0 && json_add_str(o, "pcieRoot", root))
		return -1;
	return json_add_str(o, "pciAddress", addr) || list_add_hex(o, "pciVendor", p->vendor) ||
	       list_add_hex(o, "pciDevice", p->device) ||
	       (p->numa_node >= 0 && json_add_int(o, "numaNode", p->numa_node)) ||
	       (*p->driver && json_add_str(o, "driver", p->driver));
}

static int list_add_netdev(struct json *o, const struct netdev_view *d)
{
	if (!*d->name)
		return 0;
	if (json_add_str(o, "ifName", d->name))
		return -1;
	return d->ifindex &&
	       (json_add_int(o, "mtu", d->mtu) || json_add_str(o, "state", d->up ? "up" : "down"));
}

static int add_rdma(struct json *o, const char *rdma)
{
	return json_add_bool(o, "rdma", *rdma) || (*rdma && json_add_str(o, "rdmaDevice", rdma));
}

/* NULL: the driver does not report it. */
static const char *link_text(const struct vf_info *s)
{
	static const char *const states[] = {
		[VF_LINK_AUTO] = "auto", [VF_LINK_ENABLE] = "enable", [VF_LINK_DISABLE] = "disable"
	};

	return (s->has & VF_LINK_STATE) && s->link_state < ARRAY_SIZE(states)
		       ? states[s->link_state]
		       : NULL;
}

static int add_pf_side(struct json *o, const struct vf_info *s)
{
	return list_add_guid(o, "pfNodeGuid", s->has & VF_NODE_GUID, s->node_guid) ||
	       list_add_guid(o, "pfPortGuid", s->has & VF_PORT_GUID, s->port_guid) ||
	       ((s->has & VF_VLAN) &&
		(json_add_int(o, "vlan", s->vlan) || json_add_int(o, "vlanQoS", s->qos))) ||
	       ((s->has & VF_RATE) && (json_add_int(o, "minTxRate", s->min_rate) ||
				       json_add_int(o, "maxTxRate", s->max_rate))) ||
	       ((s->has & VF_SPOOFCHK) && json_add_bool(o, "spoofchk", s->spoofchk)) ||
	       ((s->has & VF_TRUST) && json_add_bool(o, "trust", s->trust)) ||
	       (link_text(s) && json_add_str(o, "linkState", link_text(s)));
}

/* The record has the pod and, if the plugin chose the VF by its distance to GPUs, the reason. */
static int list_add_recorded(const struct cmd_run *r, struct json *o, const struct vf_entry *x)
{
	auto_record struct record whole = { 0 };
	struct record part;
	struct err ignored;

	if (record_read_part(&r->ctx, &x->owner.key, &whole, &part, &ignored))
		return 0;
	const struct cni_pod pod = cni_args_pod(part.args);
	return json_add_known(o, "namespace", pod.ns) || json_add_known(o, "pod", pod.name) ||
	       json_add_copy(o, "near", json_get(part.device, "near"));
}

static int list_add_owner(const struct cmd_run *r, struct json *o, const struct vf_entry *x)
{
	struct json *w;

	if (!x->owned)
		return 0;
	w = json_add_object(o, "owner");
	return !w || json_add_str(w, "network", x->owner.key.network) ||
	       json_add_str(w, "container", x->owner.key.container) ||
	       json_add_str(w, "ifname", x->owner.key.ifname) ||
	       json_add_str(w, "netns", x->owner.netns) ||
	       (*x->owner.rdma.name && json_add_str(w, "rdma", x->owner.rdma.name)) ||
	       list_add_recorded(r, w, x);
}

static int pf_json(const struct cmd_run *r, struct json *o, const struct pf_view *p, struct err *e)
{
	struct guid guid = GUID_ZERO;
	bool ib = hw_addr_guid(p->netdev.addr, &guid);

	if (!o || add_pci(r, o, p->addr, &p->pci) || list_add_netdev(o, &p->netdev) ||
	    add_mac(o, "mac", p->netdev.addr) || list_add_guid(o, "portGuid", ib, guid) ||
	    add_rdma(o, p->rdma) || json_add_bool(o, "sriov", true) ||
	    json_add_int(o, "sriovVfs", p->count.num) ||
	    json_add_int(o, "sriovTotalVfs", p->count.total))
		return err_nomem(e);
	return 0;
}

static int vf_json(const struct cmd_run *r, struct json *o, const struct pf_view *p,
		   const struct vf_view *v, struct err *e)
{
	struct guid guid = GUID_ZERO;
	bool ib = list_guid_of(v, &guid);

	if (!o || add_pci(r, o, v->addr, &v->pci) || list_add_netdev(o, &v->netdev) ||
	    add_mac(o, "mac", addr_of(v)) || add_mac(o, "pfMac", pf_mac(v)) ||
	    list_add_guid(o, "portGuid", ib, guid) || add_rdma(o, v->rdma) ||
	    json_add_bool(o, "sriov", false) || json_add_bool(o, "isSriovVf", true) ||
	    json_add_int(o, "vfID", v->index) ||
	    (*p->netdev.name && json_add_str(o, "pfName", p->netdev.name)) ||
	    json_add_str(o, "pfPciAddress", p->addr) || add_pf_side(o, &v->pf_side) ||
	    json_add_str(o, "use", vf_use_name(v->use)) ||
	    (*v->why && json_add_str(o, "why", v->why)) || list_add_owner(r, o, &v->entry))
		return err_nomem(e);
	return 0;
}

static struct json *list_json(const struct cmd_run *r, const struct inventory *all, struct err *e)
{
	auto_json struct json *array = json_new_array();

	if (!array)
		err_nomem(e);
	for (size_t i = 0; array && i < all->n_pfs; i++) {
		const struct pf_view *p = &all->pf[i];

		if (pf_json(r, json_push_object(array), p, e))
			return NULL;
		for (size_t k = 0; k < p->n_vfs; k++)
			if (vf_json(r, json_push_object(array), p, &p->vf[k], e))
				return NULL;
	}
	return TAKE_PTR(array);
}

/* ---- for people ---- */

static struct out_cell list_what(const struct cmd_run *r, const struct json *vf_id,
				 char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, vf_id ? "VF %.0f" : "PF", json_num(vf_id));
	return (struct out_cell){ buf, OUT_PLAIN };
}

/* If it is another one than that of the interface. */
static struct out_cell list_pf_mac(const struct json *o)
{
	const char *mac = json_text(o, "pfMac");

	return (struct out_cell){ strcmp(mac, json_text(o, "mac")) ? mac : NULL, OUT_PLAIN };
}

static struct out_cell list_vlan(const struct cmd_run *r, const struct json *vlan,
				 char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%.0f", json_num(vlan));
	return (struct out_cell){ json_num(vlan) > 0 ? buf : NULL, OUT_PLAIN };
}

static struct out_cell list_use(const struct cmd_run *r, const struct json *o,
				char buf[LIST_TEXT_LEN])
{
	const char *use = json_str(json_get(o, "use"));

	(void)r;
	if (!use) {
		(void)snprintf(buf, LIST_TEXT_LEN, "%.0f/%.0f VFs",
			       json_num(json_get(o, "sriovVfs")),
			       json_num(json_get(o, "sriovTotalVfs")));
		return (struct out_cell){ buf, OUT_PLAIN };
	}
	if (strcmp(use, vf_use_name(VF_FREE)) == 0)
		return (struct out_cell){ use, OUT_GOOD };
	return (struct out_cell){ use, strcmp(use, vf_use_name(VF_IN_USE)) == 0 ||
						       strcmp(use, vf_use_name(VF_TAKEN)) == 0
					       ? OUT_PLAIN
					       : OUT_WARN };
}

static struct out_cell list_owner(const struct cmd_run *r, const struct json *o,
				  char buf[LIST_TEXT_LEN])
{
	const struct json *w = json_get(o, "owner");
	const char *ifname = json_text(w, "ifname"), *network = json_text(w, "network");
	char id[OUT_ID_LEN];

	if (!w)
		return (struct out_cell){ json_str(json_get(o, "why")), OUT_PLAIN };
	if (json_get(w, "pod"))
		(void)snprintf(buf, LIST_TEXT_LEN, "pod %s/%s (%s, %s)", json_text(w, "namespace"),
			       json_text(w, "pod"), ifname, network);
	else
		(void)snprintf(buf, LIST_TEXT_LEN, "%s/%s/%s",
			       out_id(&r->out, json_text(w, "container"), id), ifname, network);
	return (struct out_cell){ buf, OUT_PLAIN };
}

static const struct list_column columns[] = {
	{ .title = "DEVICE", 0, "pciAddress" },
	{ .title = "WHAT", 0, "vfID", .cell = list_what },
	{ .title = "IFNAME", 0, "ifName" },
	{ .title = "DRIVER", 0, "driver" },
	{ .title = "MAC/GUID", 0, "portGuid", .other = "mac" },
	{ .title = "PF MAC", OUT_SPARE, .word = list_pf_mac },
	{ .title = "VLAN", OUT_RIGHT, "vlan", .cell = list_vlan },
	{ .title = "LINK", OUT_SPARE, "linkState" },
	{ .title = "NUMA", OUT_RIGHT | OUT_SPARE, "numaNode" },
	{ .title = "RDMA", OUT_SPARE, "rdmaDevice" },
	{ .title = "USE", 0, .cell = list_use },
	{ .title = "OWNER", OUT_SHRINK, .cell = list_owner },
	{ .title = NULL },
};

static int list_read_one(const struct cmd_run *r, struct nl *nl, const char *name,
			 struct inventory *all, struct err *e)
{
	char addr[PCI_STR_LEN];

	if (inventory_find_pf(&r->ctx, name, addr, e))
		return -1;
	all->pf = calloc(1, sizeof(*all->pf));
	if (!all->pf)
		return err_nomem(e);
	if (inventory_pf(&r->ctx, nl, addr, &all->pf[0], e))
		return -1;
	all->n_pfs = 1;
	return 0;
}

static int vf_list_run(struct cmd_run *r, struct err *e)
{
	auto_inventory struct inventory all = { 0 };
	auto_nl struct nl *nl = NULL;
	const char *pf = opt_get(&r->opts, "pf");

	if (nl_open(&nl, e) ||
	    (pf ? list_read_one(r, nl, pf, &all, e) : inventory_read(&r->ctx, nl, &all, e)))
		return -1;

	auto_json struct json *list = list_json(r, &all, e);

	if (!list)
		return -1;
	if (r->out.json)
		return out_json(&r->out, list, e);
	if (json_len(list))
		return list_print(r, columns, list, e);
	out_none(&r->out, "No network card of this host has SR-IOV", r->ctx.sysfs, "bus/pci");
	return 0;
}

static const struct opt opts[] = {
	{ "pf", "PF", "only this one and its VFs: an interface or a PCI address", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl vf list",
	"railctl vf list --pf ens3f0 --json",
	NULL,
};

const struct cmd cmd_vf_list = {
	.name = "list",
	.summary = "list the network cards with SR-IOV, their VFs and the owners",
	.about = "USE is one of these. free. in-use: an attachment or the host uses it (see "
		 "OWNER). owner-gone, unrepaired: repair restores it. elsewhere: its interface is "
		 "in "
		 "a network namespace, and no plugin put it there. damaged: its record cannot be "
		 "read.",
	.opts = { opts },
	.examples = examples,
	.run = vf_list_run,
};
