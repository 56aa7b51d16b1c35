/* SPDX-License-Identifier: Apache-2.0 */
/* master_find.c: looks up the interface that the key "master" names. */
#include "cni/uplink/master.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int absent(struct err *e, const char *fmt, ...) printf_like(2, 3);
static int absent(struct err *e, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(e, ERR_CONFIG, 0, "%s", text);
	e->errnum = ENODEV;
	return -1;
}

static int master_find_by_name(const struct master_place *p, const char *name,
			       struct link_info *out, struct err *e)
{
	struct err why;

	if (nl_link_by_any_name(p->nl, name, out, &why) == 0)
		return 0;
	if (why.errnum == ENODEV)
		return absent(e, "there is no interface \"%.127s\" %s", name, p->where);
	return err_pass(e, &why);
}

/*
 * sysfs shows the interfaces of the namespace in which it was mounted. The kernel says which
 * function an interface belongs to (Linux 5.14), so another one of that name is noticed.
 */
static int by_pci(const struct master_place *p, const char *pci, struct link_info *out,
		  struct err *e)
{
	char name[IFNAME_LEN];
	struct link_info link;
	struct err why;

	if (pci_pf_netdev(p->ctx->sysfs, pci, name, &why)) {
		if (why.code == ERR_NOTFOUND)
			return absent(e, "%.200s", why.msg);
		return err_pass(e, &why);
	}
	if (master_find_by_name(p, name, &link, e))
		return -1;
	if (*link.parent && strcmp(link.parent, pci) != 0)
		return absent(e, "interface %s is that of %s here, not of %s", name, link.parent,
			      pci);
	*out = link;
	return 0;
}

static int by_rail(struct master_place *p, uint32_t number, struct link_info *out, struct err *e)
{
	const struct rail_list *l = &p->rails;
	const struct rail_entry *rail;

	if (!p->has_rails && rail_list_load(p->ctx, &p->rails, e))
		return -1;
	p->has_rails = true;
	rail = rail_list_find(l, number);
	if (rail_list_find_dead(l, number))
		return absent(e, "rail %u is the card at %s by %s, which has no interface", number,
			      rail_list_find_dead(l, number)->pci, l->source);
	if (!rail)
		return absent(e,
			      "this node has %zu rails with an interface by its %s, and no rail %u",
			      l->n, l->source, number);
	return master_find_by_name(p, rail->ifname, out, e)
		       ? err_wrap(e, "rail %u by %s", number, l->source)
		       : 0;
}

/* ---- by the MAC address ---- */

struct mac_search {
	struct hw_addr mac;
	struct link_info found;
	unsigned n, n_permanent;
};

/* To the kernel the peer of a veth is its lower device. */
static bool stands_on_another(const struct link_info *link)
{
	return link->lower_ifindex && strcmp(link->kind, "veth") != 0;
}

/* A port and the bond or bridge above it often have one address: they are one card. */
static void take_found(struct mac_search *s, const struct link_info *link)
{
	if (s->n && link->upper_ifindex && link->upper_ifindex == s->found.ifindex)
		return;
	if (s->n && s->found.upper_ifindex != link->ifindex)
		s->n++;
	else
		s->found = *link;
	s->n += s->n == 0;
}

/*
 * A bond and its members have one address, and so has a VLAN with its lower device. So the address
 * that a card was made with counts more than the one that it has.
 */
static int match_mac(const struct link_info *link, void *arg)
{
	struct mac_search *s = arg;
	const bool permanent = hw_addr_equal(link->perm_addr, s->mac);

	/* The kernel gives an ipvlan the permanent address of its lower device. */
	if (stands_on_another(link))
		return 0;
	if (permanent && s->n_permanent++ == 0)
		s->found = *link;
	if (!permanent && hw_addr_equal(link->addr, s->mac) && !s->n_permanent)
		take_found(s, link);
	return 0;
}

/*
 * A port of a bond, a team or a bridge carries no interface of a pod: the kernel gives its frames
 * to the one above it. That one is the card then.
 */
static int take_upper(const struct master_place *p, struct link_info *link, struct err *e)
{
	static const char *const kinds[] = { "bond", "team", "bridge" };
	struct link_info upper;
	struct err why;

	if (!link->upper_ifindex)
		return 0;
	if (nl_link_by_index(p->nl, link->upper_ifindex, &upper, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(upper.kind, kinds[i]) == 0)
			*link = upper;
	return 0;
}

static int by_mac(const struct master_place *p, struct hw_addr mac, struct link_info *out,
		  struct err *e)
{
	struct mac_search s = { .mac = mac };
	char text[HW_ADDR_STR_LEN];
	unsigned n;

	if (nl_link_each(p->nl, NULL, match_mac, &s, e))
		return -1;
	n = s.n_permanent ? s.n_permanent : s.n;
	if (n == 0)
		return absent(e, "no interface %s has the address %s", p->where,
			      hw_addr_format(mac, text));
	if (n > 1)
		return absent(e, "%u interfaces %s have the address %s", n, p->where,
			      hw_addr_format(mac, text));
	if (!p->ports && take_upper(p, &s.found, e))
		return -1;
	*out = s.found;
	return 0;
}

/* ---- candidates ---- */

int master_look(struct master_place *p, const struct master_candidate *c, struct link_info *out,
		struct err *e)
{
	switch (c->form) {
	case MASTER_NAME:
		return master_find_by_name(p, c->text, out, e);
	case MASTER_PCI:
		return by_pci(p, c->pci, out, e);
	case MASTER_RAIL:
		return by_rail(p, c->rail, out, e);
	case MASTER_MAC:
		return by_mac(p, c->mac, out, e);
	case MASTER_ON_DEMAND:
		break;
	}
	return err_set(e, ERR_CONFIG, 0, "\"%.64s\": unknown form", c->text);
}

/* The error of a candidate that decides: it is the only one, or it may be present. */
static int master_find_explain(const struct master_place *p, const struct master_conf *c, size_t i,
			       struct err *e)
{
	const struct master_candidate *x = &c->candidate[i];

	if (e->errnum == ENODEV) {
		(void)err_wrap(e, "%s", p->from ? p->from : "master");
		return x->form == MASTER_NAME ? err_hint(e, "`ip -brief link` lists the interfaces")
					      : -1;
	}
	return c->n == 1 ? err_wrap(e, "master \"%.127s\"", x->text)
			 : err_wrap(e, "master[%zu] \"%.127s\"", i, x->text);
}

int master_find(struct master_place *p, const struct master_conf *c, struct link_info *out,
		struct err *e)
{
	struct err none, why;

	err_set(&none, ERR_CONFIG, 0, "master: none of %zu candidates is present %s", c->n,
		p->where);
	none.errnum = ENODEV;
	for (size_t i = 0; i < c->n; i++) {
		if (master_look(p, &c->candidate[i], out, &why) == 0)
			return 0;
		if (why.errnum != ENODEV || c->n == 1) {
			*e = why;
			return master_find_explain(p, c, i, e);
		}
		(void)err_hint(&none, "\"%.127s\": %s", c->candidate[i].text, why.msg);
	}
	return err_pass(e, &none);
}
