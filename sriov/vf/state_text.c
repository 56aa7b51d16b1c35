/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_text.c: a VF state as the text of its file, and back. Pure.
 *
 * The keys "dirty" and "told" are the names of earlier versions. They stay, because an older
 * program must be able to read the file after a downgrade without a reboot.
 */
#include <limits.h>
#include <string.h>

#include "sriov/vf/state.h"

void vf_entry_clear(struct vf_entry *x)
{
	json_free(x->tree);
	*x = (struct vf_entry){ 0 };
}

/* ---- printing ---- */

static int add_pf_side(struct json *o, const struct vf_info *s)
{
	char mac[MAC_STR_LEN], guid[GUID_STR_LEN];

	return ((s->has & VF_NODE_GUID) &&
		json_add_str(o, "nodeGuid", guid_format(s->node_guid, guid))) ||
	       ((s->has & VF_PORT_GUID) &&
		json_add_str(o, "portGuid", guid_format(s->port_guid, guid))) ||
	       json_add_int(o, "told", s->has) || json_add_str(o, "mac", mac_format(s->mac, mac)) ||
	       json_add_int(o, "vlan", s->vlan) || json_add_int(o, "qos", s->qos) ||
	       json_add_int(o, "proto", s->vlan_proto) || json_add_int(o, "minRate", s->min_rate) ||
	       json_add_int(o, "maxRate", s->max_rate) ||
	       json_add_bool(o, "spoofchk", s->spoofchk) || json_add_bool(o, "trust", s->trust) ||
	       json_add_int(o, "linkState", (int64_t)s->link_state);
}

static int add_netdev(struct json *o, const struct vf_baseline *b)
{
	char mac[HW_ADDR_STR_LEN];
	struct json *names;

	if (json_add_str(o, "name", b->name) ||
	    (b->addr.len && json_add_str(o, "mac", hw_addr_format(b->addr, mac))) ||
	    (b->own_mac && json_add_bool(o, "ownMac", true)) || json_add_int(o, "mtu", b->mtu) ||
	    json_add_bool(o, "up", b->up) || !(names = json_add_array(o, "altnames")))
		return -1;
	for (size_t i = 0; i < VF_ALTNAMES_MAX && b->altnames[i][0]; i++) {
		if (json_push_str(names, b->altnames[i]))
			return -1;
	}
	return vf_state_add_settings(o, b);
}

static int add_baseline(struct json *o, const struct vf_baseline *b)
{
	struct json *part = json_add_object(o, "pfSide");

	if (!part || add_pf_side(part, &b->pf_side))
		return -1;
	return b->has_netdev && (!(part = json_add_object(o, "netdev")) || add_netdev(part, b)) ? -1
												: 0;
}

static int add_rdma(struct json *o, const struct vf_rdma *r)
{
	return !o || json_add_int(o, "index", r->index) || json_add_str(o, "name", r->name) ||
	       json_add_str(o, "uverbs", r->uverbs);
}

static int add_owner(struct json *o, const struct vf_owner *w)
{
	return json_add_str(o, "network", w->key.network) ||
	       json_add_str(o, "container", w->key.container) ||
	       json_add_str(o, "ifname", w->key.ifname) || json_add_str(o, "netns", w->netns) ||
	       json_add_int(o, "netnsDev", (int64_t)w->netns_id.dev) ||
	       json_add_int(o, "netnsInode", (int64_t)w->netns_id.ino) ||
	       (w->netns_id.cookie &&
		json_add_int(o, "netnsCookie", (int64_t)w->netns_id.cookie)) ||
	       (w->from.pid_ns && json_add_int(o, "pidNs", (int64_t)w->from.pid_ns)) ||
	       (w->from.mnt_ns && json_add_int(o, "mntNs", (int64_t)w->from.mnt_ns)) ||
	       json_add_int(o, "ifindex", w->ifindex) ||
	       (*w->rdma.name && add_rdma(json_add_object(o, "rdma"), &w->rdma));
}

char *vf_state_print(const struct vf_entry *x)
{
	auto_json struct json *o = json_new_object();
	struct json *part;

	if (!o || json_add_int(o, "version", 1) || json_add_str(o, "vf", x->vf) ||
	    json_add_str(o, "pf", x->pf) || json_add_int(o, "index", x->index) ||
	    json_add_str(o, "boot", x->boot) || json_add_int(o, "life", (int64_t)x->life) ||
	    json_add_int(o, "dirty", x->to_restore) ||
	    (*x->driver && json_add_str(o, "driver", x->driver)) ||
	    (x->base_lost && json_add_bool(o, "baseLost", true)))
		return NULL;
	/* The owner comes before long parts: vf_state_looks_owned() reads only the first bytes. */
	if (x->owned && (!(part = json_add_object(o, "owner")) || add_owner(part, &x->owner)))
		return NULL;
	if (add_baseline(o, &x->base) ||
	    (x->has_left && (!(part = json_add_object(o, "left")) || add_baseline(part, &x->left))))
		return NULL;
	return json_print(o, false);
}

/* ---- decoding ---- */

struct entry_text {
	int64_t version, index, life, to_restore;
	const char *vf, *pf, *boot, *driver;
	const struct json *pf_side, *netdev, *owner, *left;
	bool base_lost;
};

struct left_text {
	const struct json *pf_side, *netdev;
};

struct pf_side_text {
	int64_t has, vlan, qos, proto, min, max, link_state;
	bool spoofchk, trust;
	uint8_t mac[MAC_LEN];
	const char *node_guid, *port_guid;
};

struct netdev_text {
	const char *name;
	const struct json *altnames;
	struct hw_addr addr;
	uint32_t mtu;
	bool up, own_mac;
};

struct owner_text {
	const char *network, *container, *ifname, *netns;
	int64_t dev, ino, cookie, pid_ns, mnt_ns, ifindex;
	const struct json *rdma;
};

struct rdma_text {
	int64_t index;
	const char *name, *uverbs;
};

#define EXACT      (INT64_C(1) << 53)
#define AT(t, m)   .offset = offsetof(struct t, m)
#define MUST(most) .flags = J_REQUIRED, .min = 0, .max = (most)

static const struct json_field entry_fields[] = {
	{ .key = "version", .kind = J_I64, AT(entry_text, version), J_REQUIRED, 1, 1 },
	{ .key = "vf", .kind = J_STRING, AT(entry_text, vf), MUST(PCI_STR_LEN - 1) },
	{ .key = "pf", .kind = J_STRING, AT(entry_text, pf), MUST(PCI_STR_LEN - 1) },
	{ .key = "index", .kind = J_I64, AT(entry_text, index), MUST(65535) },
	{ .key = "boot", .kind = J_STRING, AT(entry_text, boot), MUST(CTX_BOOT_ID_LEN) },
	{ .key = "life", .kind = J_I64, AT(entry_text, life), MUST(EXACT) },
	{ .key = "dirty",
	  .kind = J_I64,
	  AT(entry_text, to_restore),
	  MUST(VF_ALL | VF_UNREACHABLE) },
	{ .key = "driver", .kind = J_STRING, AT(entry_text, driver), .max = PCI_DRIVER_LEN - 1 },
	{ .key = "baseLost", .kind = J_BOOL, AT(entry_text, base_lost) },
	{ .key = "pfSide", .kind = J_OBJECT, AT(entry_text, pf_side), J_REQUIRED },
	{ .key = "netdev", .kind = J_OBJECT, AT(entry_text, netdev) },
	{ .key = "owner", .kind = J_OBJECT, AT(entry_text, owner) },
	{ .key = "left", .kind = J_OBJECT, AT(entry_text, left) },
	{ 0 },
};

static const struct json_field left_fields[] = {
	{ .key = "pfSide", .kind = J_OBJECT, AT(left_text, pf_side), J_REQUIRED },
	{ .key = "netdev", .kind = J_OBJECT, AT(left_text, netdev) },
	{ 0 },
};

static const struct json_field pf_side_fields[] = {
	{ .key = "told", .kind = J_I64, AT(pf_side_text, has), MUST(VF_ALL) },
	{ .key = "mac", .kind = J_MAC, AT(pf_side_text, mac) },
	{ .key = "nodeGuid", .kind = J_STRING, AT(pf_side_text, node_guid) },
	{ .key = "portGuid", .kind = J_STRING, AT(pf_side_text, port_guid) },
	{ .key = "vlan", .kind = J_I64, AT(pf_side_text, vlan), MUST(4095) },
	{ .key = "qos", .kind = J_I64, AT(pf_side_text, qos), MUST(7) },
	{ .key = "proto", .kind = J_I64, AT(pf_side_text, proto), MUST(65535) },
	{ .key = "minRate", .kind = J_I64, AT(pf_side_text, min), MUST(UINT32_MAX) },
	{ .key = "maxRate", .kind = J_I64, AT(pf_side_text, max), MUST(UINT32_MAX) },
	{ .key = "spoofchk", .kind = J_BOOL, AT(pf_side_text, spoofchk) },
	{ .key = "trust", .kind = J_BOOL, AT(pf_side_text, trust) },
	{ .key = "linkState", .kind = J_I64, AT(pf_side_text, link_state), MUST(2) },
	{ 0 },
};

static const struct json_field netdev_fields[] = {
	{ .key = "name", .kind = J_STRING, AT(netdev_text, name), MUST(IFNAME_LEN - 1) },
	{ .key = "mac", .kind = J_HW_ADDR, AT(netdev_text, addr) },
	{ .key = "ownMac", .kind = J_BOOL, AT(netdev_text, own_mac) },
	{ .key = "mtu", .kind = J_U32, AT(netdev_text, mtu) },
	{ .key = "up", .kind = J_BOOL, AT(netdev_text, up) },
	{ .key = "altnames", .kind = J_ARRAY, AT(netdev_text, altnames) },
	{ 0 },
};

static const struct json_field owner_fields[] = {
	{ .key = "network", .kind = J_STRING, AT(owner_text, network), J_REQUIRED },
	{ .key = "container", .kind = J_STRING, AT(owner_text, container), J_REQUIRED },
	{ .key = "ifname", .kind = J_STRING, AT(owner_text, ifname), J_REQUIRED },
	{ .key = "netns", .kind = J_STRING, AT(owner_text, netns), J_REQUIRED },
	{ .key = "netnsDev", .kind = J_I64, AT(owner_text, dev), MUST(EXACT) },
	{ .key = "netnsInode", .kind = J_I64, AT(owner_text, ino), MUST(EXACT) },
	{ .key = "netnsCookie", .kind = J_I64, AT(owner_text, cookie), .max = EXACT },
	{ .key = "pidNs", .kind = J_I64, AT(owner_text, pid_ns), .max = EXACT },
	{ .key = "mntNs", .kind = J_I64, AT(owner_text, mnt_ns), .max = EXACT },
	{ .key = "ifindex", .kind = J_I64, AT(owner_text, ifindex), MUST(INT_MAX) },
	{ .key = "rdma", .kind = J_OBJECT, AT(owner_text, rdma) },
	{ 0 },
};

static const struct json_field rdma_fields[] = {
	{ .key = "index", .kind = J_I64, AT(rdma_text, index), MUST(UINT32_MAX) },
	{ .key = "name", .kind = J_STRING, AT(rdma_text, name), MUST(RDMA_NAME_LEN - 1) },
	{ .key = "uverbs", .kind = J_STRING, AT(rdma_text, uverbs), MUST(RDMA_NAME_LEN - 1) },
	{ 0 },
};

/* A GUID that is missing is zero: the PF has none set. */
static int decode_guid(const char *key, const char *text, struct guid *out, struct err *e)
{
	*out = GUID_ZERO;
	return text && guid_parse(text, out)
		       ? err_set(e, ERR_DECODE, 0, "%s: \"%.64s\" is not a GUID", key, text)
		       : 0;
}

static int decode_pf_side(const struct json *n, struct vf_info *out, struct err *e)
{
	struct pf_side_text t = { 0 };

	if (json_decode(n, "pfSide", pf_side_fields, &t, e))
		return -1;
	*out = (struct vf_info){
		.has = (unsigned)t.has,
		.vlan = (uint32_t)t.vlan,
		.qos = (uint32_t)t.qos,
		.vlan_proto = (uint16_t)t.proto,
		.min_rate = (uint32_t)t.min,
		.max_rate = (uint32_t)t.max,
		.spoofchk = t.spoofchk,
		.trust = t.trust,
		.link_state = (enum vf_link_state)t.link_state,
	};
	memcpy(out->mac, t.mac, MAC_LEN);
	return decode_guid("nodeGuid", t.node_guid, &out->node_guid, e) ||
			       decode_guid("portGuid", t.port_guid, &out->port_guid, e)
		       ? -1
		       : 0;
}

static int decode_altnames(const struct json *list, struct vf_baseline *b, struct err *e)
{
	size_t n = 0;

	json_each (it, list) {
		const char *name = json_str(it);
		if (!name || !*name || strlen(name) >= VF_ALTNAME_LEN || n == VF_ALTNAMES_MAX)
			return err_set(e, ERR_DECODE, 0,
				       "netdev.altnames: at most %d names of 1 to %d bytes",
				       VF_ALTNAMES_MAX, VF_ALTNAME_LEN - 1);
		memcpy(b->altnames[n++], name, strlen(name) + 1);
	}
	return 0;
}

static int decode_netdev(const struct json *n, struct vf_baseline *b, struct err *e)
{
	struct netdev_text t = { 0 };

	if (!n)
		return 0;
	if (json_decode(n, "netdev", netdev_fields, &t, e))
		return -1;
	const char *problem = ifname_problem(t.name);
	if (problem)
		return err_set(e, ERR_DECODE, 0, "netdev.name: \"%.32s\": %s", t.name, problem);
	b->has_netdev = true;
	b->own_mac = t.own_mac;
	b->mtu = t.mtu;
	b->up = t.up;
	b->addr = t.addr;
	memcpy(b->name, t.name, strlen(t.name) + 1);
	return decode_altnames(t.altnames, b, e) || vf_state_read_settings(n, b, e) ? -1 : 0;
}

static int decode_left(const struct json *n, struct vf_entry *x, struct err *e)
{
	struct left_text t = { 0 };

	if (!n)
		return 0;
	x->has_left = true;
	return json_decode(n, "left", left_fields, &t, e) ||
			       decode_pf_side(t.pf_side, &x->left.pf_side, e) ||
			       decode_netdev(t.netdev, &x->left, e)
		       ? -1
		       : 0;
}

static int decode_rdma(const struct json *n, struct vf_rdma *out, struct err *e)
{
	struct rdma_text t = { 0 };

	if (!n)
		return 0;
	if (json_decode(n, "owner.rdma", rdma_fields, &t, e))
		return -1;
	out->index = (uint32_t)t.index;
	memcpy(out->name, t.name, strlen(t.name) + 1);
	memcpy(out->uverbs, t.uverbs, strlen(t.uverbs) + 1);
	return 0;
}

static int decode_owner(const struct json *n, struct vf_entry *x, struct err *e)
{
	struct owner_text t = { 0 };

	if (!n)
		return 0;
	if (json_decode(n, "owner", owner_fields, &t, e))
		return -1;
	x->owned = true;
	x->owner = (struct vf_owner){
		.key = { t.network, t.container, t.ifname },
		.netns = t.netns,
		.netns_id = { (uint64_t)t.dev, (uint64_t)t.ino, (uint64_t)t.cookie },
		.from = { (uint64_t)t.pid_ns, (uint64_t)t.mnt_ns },
		.ifindex = (int)t.ifindex,
	};
	return decode_rdma(t.rdma, &x->owner.rdma, e);
}

static int decode_address(const char *key, const char *text, char out[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse(text, &a))
		return err_set(e, ERR_DECODE, 0, "%s: \"%s\" is not a PCI address", key, text);
	pci_format(a, out);
	return 0;
}

static int decode_all(const struct json *tree, struct vf_entry *x, struct err *e)
{
	struct entry_text t = { 0 };

	if (json_decode(tree, "", entry_fields, &t, e) || decode_address("vf", t.vf, x->vf, e) ||
	    decode_address("pf", t.pf, x->pf, e))
		return -1;
	x->index = (uint32_t)t.index;
	x->life = (uint64_t)t.life;
	x->to_restore = (unsigned)t.to_restore;
	x->base_lost = t.base_lost;
	memcpy(x->boot, t.boot, strlen(t.boot) + 1);
	if (t.driver)
		memcpy(x->driver, t.driver, strlen(t.driver) + 1);
	return decode_pf_side(t.pf_side, &x->base.pf_side, e) ||
			       decode_netdev(t.netdev, &x->base, e) || decode_left(t.left, x, e) ||
			       decode_owner(t.owner, x, e)
		       ? -1
		       : 0;
}

int vf_state_decode(const char *text, size_t len, struct vf_entry *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct vf_entry x = { 0 };

	if (json_parse(text, len, "VF state", &tree, e))
		return -1;
	if (decode_all(tree, &x, e)) {
		e->code = ERR_DECODE; /* not ERR_CONFIG: the file is not a configuration */
		return err_wrap(e, "VF state");
	}
	x.tree = TAKE_PTR(tree);
	*out = x;
	return 0;
}
