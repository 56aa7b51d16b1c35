/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_probe.c: asks the network for the addresses of a result before ADD uses them: for all of
 * them with the key "probe", else for those that the IPAM marked. Then asks their gateways.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni/engine/attach_priv.h"
#include "cni/engine/probe.h"
#include "lib/net/monitor.h"

/* The interface that asks: the pod's, or the master where only the master receives the answers. */
static const struct link_info *probing_link(const struct attach *a)
{
	return a->type->shares_mac ? &a->master : &a->link;
}

static const struct netns *probing_netns(const struct attach *a)
{
	return a->type->shares_mac && !a->conf.in_container ? &a->host : &a->pod;
}

/* The questions of one interface. */
struct inquiry {
	struct attach *a;
	const struct cni_result *ips;
	const struct link_info *link; /* that asks */
	struct nl *nl;                /* of its namespace */
	bool sets_up;                 /* the pod's interface, which is down */
	struct probe_question *questions;
	struct address_user *found; /* as of struct probe_inquiry */
	size_t n;
	int n_found;
	bool asked; /* output: the link had carrier */
};

/* All interfaces of an ADD, which ask at the same time. */
struct inquiries {
	struct inquiry *one; /* owned */
	size_t n;
	int rounds;
};

static void inquiries_clear(struct inquiries *q)
{
	for (size_t i = 0; i < q->n; i++) {
		free(q->one[i].questions);
		free(q->one[i].found);
	}
	free(q->one);
}
#define auto_inquiries auto_clean(inquiries_clear)

/* Room for the next interface; its questions are added by the caller. */
static struct inquiry *add_inquiry(struct inquiries *q, const struct attach_part *part)
{
	const size_t most = part->ips->n_ips;
	struct inquiry *x = &q->one[q->n++];

	*x = (struct inquiry){ .a = part->a, .ips = part->ips };
	x->questions = calloc(most, sizeof(*x->questions));
	x->found = calloc(most, sizeof(*x->found));
	return x->questions && x->found ? x : NULL;
}

/* ---- in the namespace of the interfaces that ask ---- */

/* All of them first: each then has its carrier while another one is waited for. */
static int set_links_up(const struct inquiries *q, struct err *e)
{
	for (size_t i = 0; i < q->n; i++) {
		struct attach *a = q->one[i].a;

		if (!q->one[i].sets_up)
			continue;
		const struct inuse_place at = attach_inuse_place(a);

		a->is_up = true;
		if (inuse_set_up(&at, e))
			return err_wrap(e, "set %s up", a->link.name);
	}
	return 0;
}

/* 1: it can send; 0: it has no carrier, so no host can answer. */
static int wait_carrier(const struct inquiry *x, struct nl_monitor *links, struct err *e)
{
	const struct attach *a = x->a;

	if (!x->sets_up)
		return nl_link_carrier(x->nl, x->link->ifindex, e);
	int64_t patience = a->type->carrier_ms ? a->type->carrier_ms(a) : 0;
	return nl_link_wait_carrier(x->nl, links, x->link->ifindex, ctx_mono_ms() + patience, e);
}

static int attach_probe_ask(void *arg, struct err *e)
{
	struct inquiries *q = arg;
	auto_nl_monitor struct nl_monitor *links = NULL;
	struct probe_inquiry on_wire[PROBE_LINKS_MAX];
	size_t which[PROBE_LINKS_MAX], n = 0;

	if (nl_monitor_open(NL_WATCH_LINKS, &links, e) || set_links_up(q, e))
		return -1;
	for (size_t i = 0; i < q->n; i++) {
		struct inquiry *x = &q->one[i];
		int rc = wait_carrier(x, links, e);

		if (rc < 0)
			return -1;
		x->asked = rc > 0;
		if (!x->asked)
			continue;
		which[n] = i;
		on_wire[n++] = (struct probe_inquiry){
			{ x->link->ifindex, x->link->name, x->link->addr.byte, q->rounds },
			x->questions,
			x->n,
			x->found,
			0,
		};
	}
	if (n && probe_run_all(on_wire, n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		q->one[which[i]].n_found = on_wire[i].n_found;
	return 0;
}

/* ---- answers ---- */

static void add_conflict(struct probe_answer *out, const char *addr)
{
	size_t len = strlen(out->conflict);

	if (len + strlen(addr) + 2 <= sizeof(out->conflict))
		(void)snprintf(out->conflict + len, sizeof(out->conflict) - len, "%s%s",
			       len ? "," : "", addr);
}

/* The first one is the error, the others are hints. */
static int refuse_conflicts(const struct inquiries *q, struct probe_answer *out, struct err *e)
{
	char addr[IP_STR_LEN], mac[MAC_STR_LEN];
	int n = 0;

	for (size_t i = 0; i < q->n; i++) {
		const struct inquiry *x = &q->one[i];

		for (int k = 0; k < x->n_found; k++) {
			ip_format(x->found[k].addr, addr);
			mac_format(x->found[k].mac, mac);
			add_conflict(out, addr);
			if (n++)
				(void)err_hint(e, "address %s is in use by %s", addr, mac);
			else
				err_set(e, ERR_CONFLICT, 0,
					"probe: address %s is in use by %s on the network of %s",
					addr, mac, x->link->name);
		}
	}
	return n ? err_hint(e, "find who has that MAC address; the next ADD gets another address, "
			       "if the IPAM has one")
		 : 0;
}

/* A warning for the key "probe". The address of a machine that may live is not used unprobed. */
static int accept_no_carrier(const struct attach *a, const struct cni_result *r, struct err *e)
{
	if (!attach_has_marks(r) && !a->conf.probe.strict) {
		log_warn(&a->call->ctx.log,
			 "probe: %s has no carrier: no ARP or ND probe was sent for its addresses",
			 a->link.name);
		return 0;
	}
	err_set(e, ERR_AGAIN, 0,
		attach_has_marks(r)
			? "probe: %s has no carrier, and its address was taken from a "
			  "node that did not give it up"
			: "probe: %s has no carrier: no ARP or ND probe was sent for its "
			  "addresses",
		a->link.name);
	return err_hint(e,
			"connect the master of %s: the next ADD asks the network for the address",
			a->link.name);
}

bool attach_can_probe(const struct attach *a)
{
	return !a->no_link && a->call->conf.version >= CNI_030;
}

bool attach_has_marks(const struct cni_result *r)
{
	for (size_t i = 0; i < r->n_ips; i++) {
		if (r->ips[i].probe)
			return true;
	}
	return false;
}

/* True if hosts on the network can answer at all. */
static bool is_askable(const struct attach *a, const struct link_info *link)
{
	if (a->no_link)
		log_warn(&a->call->ctx.log,
			 "probe: %s has no interface in the pod: no ARP or ND probe was sent",
			 a->pci_id ? a->pci_id : "the device");
	if (a->no_link || a->link.flags & IFF_NOARP)
		return false;
	if (!link_is_ethernet(link))
		log_warn(&a->call->ctx.log,
			 "probe: %s is not Ethernet: no ARP or ND probe was sent", link->name);
	return link_is_ethernet(link);
}

/* 1: there is something to ask; -1: no memory. */
static int add_questions(struct inquiries *q, const struct attach_part *part, struct err *e)
{
	struct attach *a = part->a;
	const struct link_info *link = probing_link(a);
	const bool all = a->conf.probe.address;
	struct inquiry *x;

	if ((!all && !attach_has_marks(part->ips)) || !part->ips->n_ips || !is_askable(a, link))
		return 0;
	x = add_inquiry(q, part);
	if (!x)
		return err_nomem(e);
	x->link = link;
	x->nl = attach_master_nl(a);
	x->sets_up = link == &a->link;
	if (x->sets_up)
		x->nl = a->pod_nl;
	for (size_t i = 0; i < part->ips->n_ips; i++)
		if (all || part->ips->ips[i].probe)
			x->questions[x->n++].addr = part->ips->ips[i].address.addr;
	return 1;
}

int attach_probe(const struct attach_part *parts, size_t n, struct probe_answer *out, struct err *e)
{
	auto_inquiries struct inquiries q = { calloc(n + 1, sizeof(*q.one)), 0, PROBE_ROUNDS };

	if (!q.one)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++)
		if (add_questions(&q, &parts[i], e) < 0)
			return -1;
	if (!q.n)
		return 0;
	/* All are of one kind: they ask in the pod, or all of them on the host. */
	if (netns_run(probing_netns(parts->a), &parts->a->host, attach_probe_ask, &q, e))
		return -1;
	for (size_t i = 0; i < q.n; i++)
		out->asked |= q.one[i].asked;
	if (refuse_conflicts(&q, out, e))
		return -1;
	for (size_t i = 0; i < q.n; i++)
		if (!q.one[i].asked && accept_no_carrier(q.one[i].a, q.one[i].ips, e))
			return -1;
	return 0;
}

/* ---- gateways ---- */

/* Each gateway once, asked from the first address that has it. */
static void add_gateways(struct inquiry *q)
{
	for (size_t i = 0; i < q->ips->n_ips; i++) {
		const struct cni_ip *x = &q->ips->ips[i];
		bool is_new = x->gateway.family == x->address.addr.family;

		for (size_t k = 0; is_new && k < q->n; k++)
			is_new = !ip_equal(q->questions[k].addr, x->gateway);
		if (is_new)
			q->questions[q->n++] = (struct probe_question){ .addr = x->gateway,
									.from = x->address.addr };
	}
}

/* What the rail is on, for words: its master, or the card. */
static const char *below(const struct attach *a)
{
	if (a->below && *a->below)
		return a->below;
	return *a->master.name ? a->master.name : a->pci_id ? a->pci_id : "its master";
}

static bool has_answered(const struct inquiry *q, struct ip gateway)
{
	for (int i = 0; i < q->n_found; i++)
		if (ip_equal(q->found[i].addr, gateway))
			return true;
	return false;
}

/* A warning for each gateway without an answer, or the error that names all of them. */
static int report_silent(const struct inquiry *q, struct err *e)
{
	const struct attach *a = q->a;
	const bool strict = a->conf.probe.strict;
	char text[IP_STR_LEN];
	int silent = 0;

	for (size_t i = 0; i < q->n; i++) {
		const char *ip = ip_format(q->questions[i].addr, text);

		if (has_answered(q, q->questions[i].addr))
			continue;
		if (!strict)
			log_warn(&a->call->ctx.log,
				 "probe: gateway %s of %s on %s does not answer: look at link and "
				 "VLAN of %s, and at the gateway",
				 ip, a->link.name, below(a), below(a));
		else if (silent)
			(void)err_hint(e, "gateway %s does not answer either", ip);
		else
			err_set(e, ERR_AGAIN, 0, "probe: gateway %s of %s on %s does not answer",
				ip, a->link.name, below(a));
		silent++;
	}
	if (!strict || !silent)
		return 0;
	return err_hint(e,
			"look at link and VLAN of %s, at the port of its switch, at the gateway, "
			"and at the gateway's address in the pool",
			below(a));
}

static int report_no_carrier(const struct attach *a, struct err *e)
{
	if (!a->conf.probe.strict) {
		log_warn(&a->call->ctx.log,
			 "probe: %s on %s has no carrier: its gateways were not asked",
			 a->link.name, below(a));
		return 0;
	}
	err_set(e, ERR_AGAIN, 0, "probe: %s on %s has no carrier: its gateways were not asked",
		a->link.name, below(a));
	return err_hint(e, "connect %s, or leave out \"strict\"", below(a));
}

int attach_probe_gateways(const struct attach_part *parts, size_t n, struct err *e)
{
	auto_inquiries struct inquiries q = { calloc(n + 1, sizeof(*q.one)), 0,
					      PROBE_GATEWAY_ROUNDS };

	if (!q.one)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		struct attach *a = parts[i].a;
		struct inquiry *x;

		if (!a->conf.probe.gateway || !parts[i].ips->n_ips || !is_askable(a, &a->link))
			continue;
		x = add_inquiry(&q, &parts[i]);
		if (!x)
			return err_nomem(e);
		x->link = &a->link;
		x->nl = a->pod_nl;
		add_gateways(x);
	}
	if (!q.n)
		return 0;
	if (netns_run(&parts->a->pod, &parts->a->host, attach_probe_ask, &q, e))
		return -1;
	for (size_t i = 0; i < q.n; i++)
		if (q.one[i].n && (q.one[i].asked ? report_silent(&q.one[i], e)
						  : report_no_carrier(q.one[i].a, e)))
			return -1;
	return 0;
}
