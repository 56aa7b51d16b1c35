/* SPDX-License-Identifier: Apache-2.0 */
/* link_kind.c: writes, reads and compares the attributes of each kind of link, by one table. */
#include "lib/net/link_priv.h"

#include <errno.h>
#include <arpa/inet.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/nl_msg.h"

_Static_assert((int)MACVLAN_PRIVATE == MACVLAN_MODE_PRIVATE, "macvlan mode private");
_Static_assert((int)MACVLAN_VEPA == MACVLAN_MODE_VEPA, "macvlan mode vepa");
_Static_assert((int)MACVLAN_BRIDGE == MACVLAN_MODE_BRIDGE, "macvlan mode bridge");
_Static_assert((int)MACVLAN_PASSTHRU == MACVLAN_MODE_PASSTHRU, "macvlan mode passthru");
_Static_assert((int)IPVLAN_L2 == IPVLAN_MODE_L2, "ipvlan mode l2");
_Static_assert((int)IPVLAN_L3 == IPVLAN_MODE_L3, "ipvlan mode l3");
_Static_assert((int)IPVLAN_L3S == IPVLAN_MODE_L3S, "ipvlan mode l3s");
_Static_assert((int)IPVLAN_PRIVATE == IPVLAN_F_PRIVATE, "ipvlan flag private");
_Static_assert((int)IPVLAN_VEPA == IPVLAN_F_VEPA, "ipvlan flag vepa");
_Static_assert((int)IPOIB_DATAGRAM == IPOIB_MODE_DATAGRAM, "ipoib mode datagram");
_Static_assert((int)IPOIB_CONNECTED == IPOIB_MODE_CONNECTED, "ipoib mode connected");

#define LINK_ATTRS_MAX 4

/* One attribute of IFLA_INFO_DATA: a number in the byte order of the host, or of the network. */
struct link_attr {
	const char *name; /* in errors; NULL ends the list */
	int type;         /* IFLA_MACVLAN_MODE, ... */
	size_t size;      /* 1, 2 or 4 bytes */
	size_t offset;    /* of a uint32_t in union link_data */
	/* A 0 is not written: the kernel chooses, and its value is not compared. */
	bool is_request;
	bool is_hex; /* people write it so: in errors it has the form 0x8001 */
	bool is_net; /* 2 bytes in the byte order of the network */
};

struct link_kind {
	const char *name; /* IFLA_INFO_KIND */
	struct link_attr attr[LINK_ATTRS_MAX + 1];
};

#define AT(member) offsetof(union link_data, member)

static const struct link_kind kinds[] = {
	{ "macvlan",
	  { { "mode", IFLA_MACVLAN_MODE, 4, AT(macvlan.mode), false, false, false },
	    { "bcqueuelen", IFLA_MACVLAN_BC_QUEUE_LEN, 4, AT(macvlan.bcqueuelen), true, false,
	      false } } },
	{ "ipvlan",
	  { { "mode", IFLA_IPVLAN_MODE, 2, AT(ipvlan.mode), false, false, false },
	    { "flag", IFLA_IPVLAN_FLAGS, 2, AT(ipvlan.flag), false, false, false } } },
	{ "ipoib",
	  { { "pkey", IFLA_IPOIB_PKEY, 2, AT(ipoib.pkey), false, true, false },
	    { "mode", IFLA_IPOIB_MODE, 2, AT(ipoib.mode), false, false, false },
	    { "umcast", IFLA_IPOIB_UMCAST, 2, AT(ipoib.umcast), false, false, false } } },
	{ "vlan",
	  { { "id", IFLA_VLAN_ID, 2, AT(vlan.id), false, false, false },
	    { "protocol", IFLA_VLAN_PROTOCOL, 2, AT(vlan.protocol), false, true, true } } },
	{ "bond",
	  { { "mode", IFLA_BOND_MODE, 1, AT(bond.mode), false, false, false },
	    { "miimon", IFLA_BOND_MIIMON, 4, AT(bond.miimon), false, false, false },
	    { "xmit_hash_policy", IFLA_BOND_XMIT_HASH_POLICY, 1, AT(bond.xmit_hash_policy), false,
	      false, false },
	    { "lacp_rate", IFLA_BOND_AD_LACP_RATE, 1, AT(bond.lacp_rate), false, false, false } } },
	{ "vrf", { { "table", IFLA_VRF_TABLE, 4, AT(vrf.table), false, false, false } } },
};

const struct link_kind *link_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

int link_kind_require(const char *name, const struct link_kind **out, struct err *e)
{
	const struct link_kind *kind = link_kind_find(name);
	char known[256] = "";
	size_t len = 0;

	if (kind) {
		*out = kind;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
					kinds[i].name);
	err_set(e, ERR_FIELD, EOPNOTSUPP, "kind of link \"%s\"", name);
	return err_hint(e, "known kinds: %s", known);
}

static uint32_t link_kind_value_of(const struct link_attr *a, const union link_data *data)
{
	uint32_t v;

	memcpy(&v, (const char *)data + a->offset, sizeof(v));
	return v;
}

static void put_value(struct nl_req *rq, const struct link_attr *a, uint32_t v)
{
	const uint8_t byte = (uint8_t)v;

	if (a->size == sizeof(byte))
		nl_req_put(rq, a->type, &byte, sizeof(byte));
	else if (a->size == sizeof(uint16_t))
		nl_req_put_u16(rq, a->type, a->is_net ? htons((uint16_t)v) : (uint16_t)v);
	else
		nl_req_put_u32(rq, a->type, v);
}

static uint32_t get_value(const struct link_attr *a, const struct nlattr *is)
{
	if (a->size == sizeof(uint8_t))
		return nla_get_u8(is);
	if (a->size == sizeof(uint16_t))
		return a->is_net ? ntohs(nla_get_u16(is)) : nla_get_u16(is);
	return nla_get_u32(is);
}

void link_kind_put(struct nl_req *rq, const struct link_kind *kind, const union link_data *data)
{
	struct nlattr *info = nl_req_nest(rq, IFLA_LINKINFO);

	nl_req_put_str(rq, IFLA_INFO_KIND, kind->name);

	struct nlattr *nest = nl_req_nest(rq, IFLA_INFO_DATA);

	for (const struct link_attr *a = kind->attr; a->name; a++) {
		uint32_t v = link_kind_value_of(a, data);

		if ((a->is_request && v == 0) || v == LINK_DATA_UNKNOWN)
			continue;
		put_value(rq, a, v);
	}
	nl_req_nest_end(rq, nest);
	nl_req_nest_end(rq, info);
}

int link_kind_parse(const struct link_kind *kind, const struct nlattr *data, union link_data *out)
{
	union link_data found = *out;

	for (const struct link_attr *a = kind->attr; a->name; a++) {
		const struct nlattr *is = nla_find(nla_data(data), nla_len(data), a->type);

		if (!is || a->is_request)
			continue;
		if ((size_t)nla_len(is) < a->size)
			return -1;

		uint32_t v = get_value(a, is);

		memcpy((char *)&found + a->offset, &v, sizeof(v));
	}
	*out = found;
	return 0;
}

#define VALUE_LEN 16

static const char *show_value(const struct link_attr *a, uint32_t v, char out[VALUE_LEN])
{
	(void)snprintf(out, VALUE_LEN, a->is_hex ? "0x%04x" : "%u", v);
	return out;
}

int nl_link_compare_data(const struct link_info *is, const union link_data *want, struct err *e)
{
	const struct link_kind *kind;
	char has[VALUE_LEN], wanted[VALUE_LEN];

	if (link_kind_require(is->kind, &kind, e))
		return err_wrap(e, "interface %s", is->name);
	for (const struct link_attr *a = kind->attr; a->name; a++) {
		uint32_t now = link_kind_value_of(a, &is->data),
			 asked = link_kind_value_of(a, want);

		if (a->is_request || asked == LINK_DATA_UNKNOWN || now == asked)
			continue;
		if (now == LINK_DATA_UNKNOWN)
			return err_set(e, ERR_STATE, 0,
				       "%s: the kernel does not report it for %s %s; %s is asked "
				       "for",
				       a->name, kind->name, is->name, show_value(a, asked, wanted));
		return err_set(e, ERR_STATE, 0, "%s: %s %s has %s, %s is asked for", a->name,
			       kind->name, is->name, show_value(a, now, has),
			       show_value(a, asked, wanted));
	}
	return 0;
}
