/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_look.c: reads the rails, their bonds, and the addresses that this host sends from. */
#include "railheadd/watch/neighbour_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/pci.h"
#include "lib/device/sysfs.h"
#include "lib/device/vf.h"
#include "lib/base/text.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "railheadd/watch/look.h"
#include "railheadd/watch/neighbour_table.h"
#include "topo/read/rail_list.h"
#include "topo/read/rail_survey.h"

struct look {
	const struct ctx *ctx;
	struct nl *nl;
	struct rail_list rails;
	struct rail_survey survey;  /* empty: the machine cannot be read */
	const char *rdma;           /* the mode of the host; NULL: not known */
	int ifindex[RAIL_LIST_MAX]; /* of each rail; 0: no such interface, or one without cable */
	struct json *ports, *macs;  /* borrowed */
	struct err *e;
};

static int add_mac(const struct look *l, const uint8_t mac[MAC_LEN])
{
	char text[MAC_STR_LEN];

	return json_push_str(l->macs, mac_format(mac, text)) ? err_nomem(l->e) : 0;
}

/* The addresses that the PF gives to its VFs: a VF with another one is caught by its driver. */
static int add_vf_macs(const struct look *l, const struct link_info *link)
{
	static const uint8_t none[MAC_LEN];
	struct pci_sriov s;
	struct err why;
	int rc = 0;

	if (!*link->parent || pci_sriov(l->ctx->sysfs, link->parent, &s, &why) || !s.num)
		return 0;

	auto_free struct vf_info *vf = calloc(s.num, sizeof(*vf));

	if (!vf)
		return err_nomem(l->e);
	if (nl_vf_list(l->nl, link->ifindex, s.num, vf, l->e))
		return -1;
	for (uint32_t i = 0; i < s.num && rc == 0; i++)
		if (vf[i].has & VF_MAC && memcmp(vf[i].mac, none, MAC_LEN) != 0)
			rc = add_mac(l, vf[i].mac);
	return rc;
}

/* True if a software switch of this host takes what comes in before others see it. */
static bool is_switched(const struct look *l, const struct link_info *link)
{
	struct link_info upper;
	struct err why;

	return link->upper_ifindex &&
	       nl_link_by_index(l->nl, link->upper_ifindex, &upper, &why) == 0 &&
	       strcmp(upper.kind, "openvswitch") == 0;
}

/* Mbit/s; 0: the driver does not say, or there is no carrier. */
static uint32_t speed_of(const struct look *l, const struct link_info *link)
{
	char path[sizeof("class/net//speed") + IFNAME_LEN];
	uint64_t mbps;
	struct err why;

	(void)snprintf(path, sizeof(path), "class/net/%s/speed", link->name);
	return sysfs_read_u64(l->ctx->sysfs, path, &mbps, &why) || mbps > UINT32_MAX
		       ? 0
		       : (uint32_t)mbps;
}

/* ---- the addresses of a rail ---- */

struct rail_addresses {
	struct text text; /* owned */
	size_t n;
	bool dynamic, routing;
};

static void rail_addresses_clear(struct rail_addresses *a)
{
	text_clear(&a->text);
}

static int on_address(const struct addr_info *x, void *arg)
{
	struct rail_addresses *a = arg;
	char text[PREFIX_STR_LEN];

	if (ip_is_link_local(x->addr.addr))
		return 0;
	a->dynamic = a->dynamic || x->limited;
	if (a->n < NEIGHBOUR_ADDRESSES_MAX)
		text_addf(&a->text, "%s%s", a->n ? " " : "", ip_format_prefix(x->addr, text));
	a->n++;
	return 0;
}

static int on_route(const struct route_spec *r, void *arg)
{
	struct rail_addresses *a = arg;

	a->dynamic = a->dynamic || r->maker == ROUTE_DYNAMIC;
	a->routing = a->routing || r->maker == ROUTE_BY_ROUTING;
	return 0;
}

/* The bond has them, if the rail is one: its members have none. */
static int add_addresses(const struct look *l, size_t rail, struct json *o)
{
	auto_clean(rail_addresses_clear) struct rail_addresses a = { .n = 0 };

	if (nl_addr_list(l->nl, l->ifindex[rail], on_address, &a, l->e) ||
	    nl_route_list(l->nl, l->ifindex[rail], on_route, &a, l->e))
		return -1;
	if (a.text.failed || (a.n && json_add_str(o, "addresses", a.text.s)) ||
	    ((a.dynamic || a.routing) &&
	     json_add_str(o, "by", a.routing ? NEIGHBOUR_BY_ROUTING : NEIGHBOUR_BY_DYNAMIC)))
		return err_nomem(l->e);
	return 0;
}

/* A rail has a cable of Ethernet, or one of InfiniBand, which is known by the GUID of its port. */
static bool has_cable(const struct link_info *link)
{
	return link_is_ethernet(link) || link_is_ipoib(link);
}

static int add_port_guid(const struct link_info *link, struct json *o)
{
	char text[GUID_STR_LEN];
	struct guid guid;

	return link_is_ipoib(link) && hw_addr_guid(link->addr, &guid)
		       ? json_add_str(o, "guid", guid_format(guid, text))
		       : 0;
}

/* ---- the card of a rail ---- */

/* By the interface, or by its function: a bond has one device for two of them. *port: its number.
 * TOPO_NONE: it has no RDMA device here. */
static uint32_t find_card(const struct topo_machine *m, const char *ifname, const char *pci,
			  uint32_t *port)
{
	struct pci_addr a;
	const uint32_t at = *pci && pci_parse_loose(pci, &a) == 0 ? topo_find_pci(m, a) : TOPO_NONE;

	for (uint32_t i = 0; i < m->n_hcas; i++)
		for (size_t k = 0; k < m->hca[i].n_ports; k++)
			if (strcmp(m->hca[i].port[k].netdev, ifname) == 0) {
				*port = m->hca[i].port[k].port;
				return i;
			}
	*port = 1;
	for (uint32_t i = 0; i < m->n_hcas && at != TOPO_NONE; i++)
		if (m->hca[i].pci == at || m->hca[i].second == at)
			return i;
	return TOPO_NONE;
}

static int add_gpus(const struct rail_survey *s, uint32_t hca, struct json *o)
{
	auto_text struct text t = { 0 };

	for (size_t i = 0; i < s->choice.n_gpus; i++)
		for (size_t k = 0; k < s->choice.gpu[i].n_share; k++)
			if (s->choice.gpu[i].share[k] == hca)
				text_addf(&t, "%s%d", t.len ? " " : "", s->m.gpu[i].index);
	if (t.failed)
		return -1;
	return t.len && t.len < NEIGHBOUR_GPUS_LEN ? json_add_str(o, "gpus", t.s) : 0;
}

static int add_card(const struct look *l, const struct link_info *link, struct json *o)
{
	char pci[PCI_STR_LEN], hca[NEIGHBOUR_HCA_LEN];
	uint32_t port, card;
	struct err why;

	if (pci_of_netdev(l->ctx->sysfs, link->name, pci, &why))
		*pci = '\0';
	if (json_add_known(o, "pci", pci))
		return -1;
	card = find_card(&l->survey.m, link->name, pci, &port);
	if (card == TOPO_NONE)
		return 0;
	(void)snprintf(hca, sizeof(hca), port == 1 ? "%.63s" : "%.63s:%u",
		       l->survey.m.hca[card].name, port);
	return json_add_str(o, "hca", hca) || (l->rdma && json_add_str(o, "rdma", l->rdma)) ||
			       add_gpus(&l->survey, card, o)
		       ? -1
		       : 0;
}

/* A fact that cannot be read is left out. */
static void read_machine(struct look *l)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;
	struct err why;

	if (rail_survey_read(l->ctx, true, &l->survey, &why))
		l->survey = (struct rail_survey){ .pinned = false };
	if (nl_rdma_open(&nl, &why) == 0 && nl_rdma_sys_get(nl, &sys, &why) == 0)
		l->rdma = rdma_mode_name(sys.mode);
}

static void look_clear(struct look *l)
{
	rail_survey_clear(&l->survey);
}

static int add_neighbour_port(const struct look *l, size_t rail, const struct link_info *link)
{
	struct json *o = json_push_object(l->ports);

	if (!o || json_add_int(o, "rail", l->rails.rail[rail].number) ||
	    json_add_str(o, "interface", link->name) || json_add_int(o, "index", link->ifindex) ||
	    (link->ifindex != l->ifindex[rail] &&
	     json_add_str(o, "bond", l->rails.rail[rail].ifname)) ||
	    json_add_int(o, "downs", link->carrier_downs) ||
	    json_add_int(o, "mbps", speed_of(l, link)) || json_add_int(o, "mtu", link->mtu) ||
	    (is_switched(l, link) && json_add_bool(o, "switch", true)) || add_port_guid(link, o) ||
	    add_card(l, link, o))
		return err_nomem(l->e);
	return add_addresses(l, rail, o);
}

static int look_at_link(const struct link_info *link, void *arg)
{
	const struct look *l = arg;

	if (!has_cable(link))
		return 0;
	if (hw_addr_is_mac(link->addr) && add_mac(l, link->addr.byte))
		return -1;
	if (link_is_ethernet(link) && add_vf_macs(l, link))
		return -1;
	for (size_t i = 0; i < l->rails.n; i++) {
		bool is_rail = l->ifindex[i] == link->ifindex;

		/* A bond itself hears nothing of its own: its members do. */
		if ((is_rail && strcmp(link->kind, "bond") != 0) ||
		    (l->ifindex[i] && l->ifindex[i] == link->upper_ifindex && !*link->kind))
			return add_neighbour_port(l, i, link);
	}
	return 0;
}

int neighbour_look(const struct ctx *ctx, struct nl *nl, struct json **out, struct err *e)
{
	auto_json struct json *all = json_new_object();
	struct err failed = { .code = 0 };
	auto_clean(look_clear) struct look l = { .ctx = ctx, .nl = nl, .e = &failed };

	l.ports = json_add_array(all, "ports");
	l.macs = json_add_array(all, "macs");
	if (!l.ports || !l.macs)
		return err_nomem(e);
	if (rail_list_load(ctx, &l.rails, e))
		return -1;
	read_machine(&l);
	for (size_t i = 0; i < l.rails.n; i++) {
		struct link_info link;
		struct err why;

		if (nl_link_by_name(nl, l.rails.rail[i].ifname, &link, &why) == 0 &&
		    has_cable(&link))
			l.ifindex[i] = link.ifindex;
	}
	if (nl_link_each(nl, NULL, look_at_link, &l, e))
		return -1;
	if (failed.code)
		return err_pass(e, &failed);
	*out = TAKE_PTR(all);
	return 0;
}

static int look_now(const struct ctx *ctx, struct json **out, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	return nl_open(&nl, e) || neighbour_look(ctx, nl, out, e) ? -1 : 0;
}

int neighbour_look_main(const struct ctx *ctx)
{
	auto_json struct json *look = NULL;
	struct err e;

	if (look_now(ctx, &look, &e))
		return look_print(NULL, &e);
	return look_print(look, NULL);
}
