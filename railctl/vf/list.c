/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: `railctl vf list`: PFs and VFs with their owners, as a table or JSON. */
#include <stdio.h>
#include <string.h>

#include "cni/protocol/env.h"
#include "cni/record/part.h"
#include "railctl/vf/vf.h"

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

static int list_as_json(const struct cmd_run *r, const struct inventory *all, struct err *e)
{
	auto_json struct json *array = json_new_array();

	if (!array)
		return err_nomem(e);
	for (size_t i = 0; i < all->n_pfs; i++) {
		const struct pf_view *p = &all->pf[i];

		if (pf_json(r, json_push_object(array), p, e))
			return -1;
		for (size_t k = 0; k < p->n_vfs; k++) {
			if (vf_json(r, json_push_object(array), p, &p->vf[k], e))
				return -1;
		}
	}
	return out_json(&r->out, array, e);
}

/* ---- for people ---- */

static const struct out_column columns[] = {
	{ "DEVICE", 0 },       { "WHAT", 0 },         { "IFNAME", 0 },
	{ "DRIVER", 0 },       { "MAC/GUID", 0 },     { "PF MAC", OUT_SPARE },
	{ "VLAN", OUT_RIGHT }, { "LINK", OUT_SPARE }, { "NUMA", OUT_RIGHT | OUT_SPARE },
	{ "RDMA", OUT_SPARE }, { "USE", 0 },          { "OWNER", OUT_SHRINK },
};

static const char *or_none(const char *text)
{
	return *text ? text : NULL;
}

static const char *number_text(int64_t n, char buf[24])
{
	(void)snprintf(buf, 24, "%lld", (long long)n);
	return n < 0 ? NULL : buf;
}

/* The GUID in an address of IPoIB; else the MAC. */
static const char *address_text(struct hw_addr addr, char buf[HW_ADDR_STR_LEN])
{
	struct guid guid;

	return hw_addr_guid(addr, &guid) ? guid_format(guid, buf)
					 : or_none(hw_addr_format(addr, buf));
}

static int pf_row(struct out_table *t, const struct pf_view *p, struct err *e)
{
	char numa[24], mac[HW_ADDR_STR_LEN], use[48];

	(void)snprintf(use, sizeof(use), "%u/%u VFs", p->count.num, p->count.total);
	const struct out_cell cells[] = {
		{ p->addr, OUT_PLAIN },
		{ "PF", OUT_PLAIN },
		{ or_none(p->netdev.name), OUT_PLAIN },
		{ or_none(p->pci.driver), OUT_PLAIN },
		{ address_text(p->netdev.addr, mac), OUT_PLAIN },
		{ NULL, OUT_PLAIN },
		{ NULL, OUT_PLAIN },
		{ NULL, OUT_PLAIN },
		{ number_text(p->pci.numa_node, numa), OUT_PLAIN },
		{ or_none(p->rdma), OUT_PLAIN },
		{ use, OUT_PLAIN },
		{ NULL, OUT_PLAIN },
	};

	return out_row(t, cells, e);
}

static enum out_style use_style(enum vf_use u)
{
	if (u == VF_FREE)
		return OUT_GOOD;
	return u == VF_IN_USE || u == VF_TAKEN ? OUT_PLAIN : OUT_WARN;
}

static const char *list_owner_text(const struct cmd_run *r, const struct vf_view *v, char *buf,
				   size_t size)
{
	const struct vf_entry *x = &v->entry;
	auto_record struct record whole = { 0 };
	struct record part;
	struct err ignored;
	char id[OUT_ID_LEN];

	if (!x->owned)
		return or_none(v->why);
	if (record_read_part(&r->ctx, &x->owner.key, &whole, &part, &ignored) == 0) {
		const struct cni_pod pod = cni_args_pod(part.args);

		if (*pod.name) {
			(void)snprintf(buf, size, "pod %s/%s (%s, %s)", pod.ns, pod.name,
				       x->owner.key.ifname, x->owner.key.network);
			return buf;
		}
	}
	(void)snprintf(buf, size, "%s/%s/%s", out_id(&r->out, x->owner.key.container, id),
		       x->owner.key.ifname, x->owner.key.network);
	return buf;
}

static int vf_row(const struct cmd_run *r, struct out_table *t, const struct vf_view *v,
		  struct err *e)
{
	char numa[24], vlan[24], mac[HW_ADDR_STR_LEN], pf[HW_ADDR_STR_LEN], what[24],
		owner[OUT_ID_LEN + 320];
	const struct hw_addr at_pf = pf_mac(v);
	bool tagged = (v->pf_side.has & VF_VLAN) && v->pf_side.vlan;
	struct guid guid;
	bool ib = list_guid_of(v, &guid);

	(void)snprintf(what, sizeof(what), "VF %u", v->index);
	const struct out_cell cells[] = {
		{ v->addr, OUT_PLAIN },
		{ what, OUT_PLAIN },
		{ or_none(v->netdev.name), OUT_PLAIN },
		{ or_none(v->pci.driver), OUT_PLAIN },
		{ ib ? guid_format(guid, mac) : address_text(addr_of(v), mac), OUT_PLAIN },
		{ hw_addr_equal(at_pf, addr_of(v)) ? NULL : address_text(at_pf, pf), OUT_PLAIN },
		{ tagged ? number_text(v->pf_side.vlan, vlan) : NULL, OUT_PLAIN },
		{ link_text(&v->pf_side), OUT_PLAIN },
		{ number_text(v->pci.numa_node, numa), OUT_PLAIN },
		{ or_none(v->rdma), OUT_PLAIN },
		{ vf_use_name(v->use), use_style(v->use) },
		{ list_owner_text(r, v, owner, sizeof(owner)), OUT_PLAIN },
	};

	return out_row(t, cells, e);
}

static int as_table(const struct cmd_run *r, const struct inventory *all, struct err *e)
{
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };

	for (size_t i = 0; i < all->n_pfs; i++) {
		const struct pf_view *p = &all->pf[i];

		if (pf_row(&t, p, e))
			return -1;
		for (size_t k = 0; k < p->n_vfs; k++) {
			if (vf_row(r, &t, &p->vf[k], e))
				return -1;
		}
	}
	if (t.n_rows)
		out_table(&r->out, &t);
	else
		out_none(&r->out, "No network card of this host has SR-IOV", r->ctx.sysfs,
			 "bus/pci");
	return 0;
}

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
	return r->out.json ? list_as_json(r, &all, e) : as_table(r, &all, e);
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
