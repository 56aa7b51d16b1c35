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

static const struct json_field pf_side_fields[] = {
	{ "nodeGuid", J_GUID, J_AT(struct vf_info, node_guid), .flags = J_IF_BIT,
	  .has = offsetof(struct vf_info, has), .bit = VF_NODE_GUID },
	{ "portGuid", J_GUID, J_AT(struct vf_info, port_guid), .flags = J_IF_BIT,
	  .has = offsetof(struct vf_info, has), .bit = VF_PORT_GUID },
	{ "told", J_UINT, J_AT(struct vf_info, has), .flags = J_REQUIRED, .max = VF_ALL },
	{ "mac", J_MAC, J_AT(struct vf_info, mac) },
	{ "vlan", J_UINT, J_AT(struct vf_info, vlan), .flags = J_REQUIRED, .max = 4095 },
	{ "qos", J_UINT, J_AT(struct vf_info, qos), .flags = J_REQUIRED, .max = 7 },
	{ "proto", J_UINT, J_AT(struct vf_info, vlan_proto), .flags = J_REQUIRED },
	{ "minRate", J_UINT, J_AT(struct vf_info, min_rate), .flags = J_REQUIRED },
	{ "maxRate", J_UINT, J_AT(struct vf_info, max_rate), .flags = J_REQUIRED },
	{ "spoofchk", J_BOOL, J_AT(struct vf_info, spoofchk) },
	{ "trust", J_BOOL, J_AT(struct vf_info, trust) },
	{ "linkState", J_UINT, J_AT(struct vf_info, link_state), .flags = J_REQUIRED, .max = 2 },
	{ 0 },
};

/* Behind them stand the alternative names and the settings. */
static const struct json_field netdev_fields[] = {
	{ "name", J_CHARS, J_AT(struct vf_baseline, name), .flags = J_REQUIRED },
	{ "mac", J_HW_ADDR, J_AT(struct vf_baseline, addr) },
	{ "ownMac", J_BOOL, J_AT(struct vf_baseline, own_mac), .flags = J_OMIT },
	{ "mtu", J_UINT, J_AT(struct vf_baseline, mtu) },
	{ "up", J_BOOL, J_AT(struct vf_baseline, up) },
	{ 0 },
};

static const struct json_field baseline_fields[] = {
	{ "pfSide", J_NESTED, J_AT(struct vf_baseline, pf_side), .flags = J_REQUIRED,
	  .of = pf_side_fields },
	{ "netdev", J_NESTED, .flags = J_IF, .has = offsetof(struct vf_baseline, has_netdev),
	  .of = netdev_fields },
	{ 0 },
};

static const struct json_field rdma_fields[] = {
	{ "index", J_UINT, J_AT(struct vf_rdma, index), .flags = J_REQUIRED },
	{ "name", J_CHARS, J_AT(struct vf_rdma, name), .flags = J_REQUIRED },
	{ "uverbs", J_CHARS, J_AT(struct vf_rdma, uverbs), .flags = J_REQUIRED },
	{ 0 },
};

static const struct json_field owner_fields[] = {
	{ "network", J_STRING, J_AT(struct vf_owner, key.network), .flags = J_REQUIRED },
	{ "container", J_STRING, J_AT(struct vf_owner, key.container), .flags = J_REQUIRED },
	{ "ifname", J_STRING, J_AT(struct vf_owner, key.ifname), .flags = J_REQUIRED },
	{ "netns", J_STRING, J_AT(struct vf_owner, netns), .flags = J_REQUIRED },
	{ "netnsDev", J_UINT, J_AT(struct vf_owner, netns_id.dev), .flags = J_REQUIRED },
	{ "netnsInode", J_UINT, J_AT(struct vf_owner, netns_id.ino), .flags = J_REQUIRED },
	{ "netnsCookie", J_UINT, J_AT(struct vf_owner, netns_id.cookie), .flags = J_OMIT },
	{ "pidNs", J_UINT, J_AT(struct vf_owner, from.pid_ns), .flags = J_OMIT },
	{ "mntNs", J_UINT, J_AT(struct vf_owner, from.mnt_ns), .flags = J_OMIT },
	{ "ifindex", J_UINT, J_AT(struct vf_owner, ifindex), .flags = J_REQUIRED, .max = INT_MAX },
	{ "rdma", J_NESTED, J_AT(struct vf_owner, rdma), .flags = J_IF_TEXT,
	  .has = offsetof(struct vf_owner, rdma.name), .of = rdma_fields },
	{ 0 },
};

/* The owner comes before long parts: vf_state_looks_owned() reads only the first bytes. */
static const struct json_field entry_fields[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 1, .max = 1 },
	{ "vf", J_CHARS, J_AT(struct vf_entry, vf), .flags = J_REQUIRED },
	{ "pf", J_CHARS, J_AT(struct vf_entry, pf), .flags = J_REQUIRED },
	{ "index", J_UINT, J_AT(struct vf_entry, index), .flags = J_REQUIRED, .max = 65535 },
	{ "boot", J_CHARS, J_AT(struct vf_entry, boot), .flags = J_REQUIRED },
	{ "life", J_UINT, J_AT(struct vf_entry, life), .flags = J_REQUIRED },
	{ "dirty", J_UINT, J_AT(struct vf_entry, to_restore), .flags = J_REQUIRED,
	  .max = VF_ALL | VF_UNREACHABLE },
	{ "driver", J_CHARS, J_AT(struct vf_entry, driver), .flags = J_OMIT },
	{ "baseLost", J_BOOL, J_AT(struct vf_entry, base_lost), .flags = J_OMIT },
	{ "owner", J_NESTED, J_AT(struct vf_entry, owner), .flags = J_IF,
	  .has = offsetof(struct vf_entry, owned), .of = owner_fields },
	{ 0 },
};

static const struct json_field left_fields[] = {
	{ "left", J_NESTED, J_AT(struct vf_entry, left), .flags = J_IF,
	  .has = offsetof(struct vf_entry, has_left), .of = baseline_fields },
	{ 0 },
};

/* ---- printing ---- */

/* o: the object of b, which has the rest already. */
static int add_netdev_rest(struct json *o, const struct vf_baseline *b)
{
	struct json *netdev = json_get_mut(o, "netdev"), *names;

	if (!b->has_netdev)
		return 0;
	if (!(names = json_add_array(netdev, "altnames")))
		return -1;
	for (size_t i = 0; i < VF_ALTNAMES_MAX && b->altnames[i][0]; i++) {
		if (json_push_str(names, b->altnames[i]))
			return -1;
	}
	return vf_state_add_settings(netdev, b);
}

char *vf_state_print(const struct vf_entry *x)
{
	auto_json struct json *o = json_encoded(entry_fields, x);

	if (json_encode(o, baseline_fields, &x->base) || add_netdev_rest(o, &x->base) ||
	    json_encode(o, left_fields, x) ||
	    (x->has_left && add_netdev_rest(json_get_mut(o, "left"), &x->left)))
		return NULL;
	return json_print(o, false);
}

/* ---- decoding ---- */

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

/* o: the object of b. */
static int decode_netdev_rest(const struct json *o, struct vf_baseline *b, struct err *e)
{
	const struct json *netdev = json_get(o, "netdev");
	const struct json *names = json_get(netdev, "altnames");

	if (!netdev)
		return 0;
	const char *problem = ifname_problem(b->name);
	if (problem)
		return err_set(e, ERR_DECODE, 0, "netdev.name: \"%.32s\": %s", b->name, problem);
	if (names && json_type(names) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "netdev.altnames: is not an array");
	return decode_altnames(names, b, e) || vf_state_read_settings(netdev, b, e) ? -1 : 0;
}

static int decode_address(const char *key, char text[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse(text, &a))
		return err_set(e, ERR_DECODE, 0, "%s: \"%s\" is not a PCI address", key, text);
	pci_format(a, text);
	return 0;
}

static int state_text_decode_all(const struct json *tree, struct vf_entry *x, struct err *e)
{
	return json_decode(tree, "", entry_fields, x, e) || decode_address("vf", x->vf, e) ||
			       decode_address("pf", x->pf, e) ||
			       json_decode(tree, "", baseline_fields, &x->base, e) ||
			       decode_netdev_rest(tree, &x->base, e) ||
			       json_decode(tree, "", left_fields, x, e) ||
			       decode_netdev_rest(json_get(tree, "left"), &x->left, e)
		       ? -1
		       : 0;
}

int vf_state_decode(const char *text, size_t len, struct vf_entry *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct vf_entry x = { 0 };

	if (json_parse(text, len, "VF state", &tree, e))
		return -1;
	if (state_text_decode_all(tree, &x, e)) {
		e->code = ERR_DECODE; /* not ERR_CONFIG: the file is not a configuration */
		return err_wrap(e, "VF state");
	}
	x.tree = TAKE_PTR(tree);
	*out = x;
	return 0;
}
