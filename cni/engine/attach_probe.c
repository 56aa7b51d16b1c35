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
#include "cni/probe/probe.h"
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

/* 1: the pod's interface is up and can send; 0: it has no carrier, so no host can answer. */
static int set_link_up(struct attach *a, struct err *e)
{
	const struct inuse_place at = attach_inuse_place(a);
	auto_nl_monitor struct nl_monitor *links = NULL;

	if (nl_monitor_open(NL_WATCH_LINKS, &links, e))
		return -1;
	a->is_up = true;
	if (inuse_set_up(&at, e))
		return err_wrap(e, "set %s up", a->link.name);
	int64_t patience = a->type->carrier_ms ? a->type->carrier_ms(a) : 0;
	return nl_link_wait_carrier(a->pod_nl, links, a->link.ifindex, ctx_mono_ms() + patience, e);
}

struct inquiry {
	const struct link_info *link; /* that asks */
	struct nl *nl;                /* of its namespace */
	struct attach *down;          /* whose interface it is, to be set up first; or NULL */
	int rounds;
	struct probe_question *questions;
	size_t n;
	struct address_user *found; /* as of probe_run() */
	bool asked;                 /* output: the link had carrier */
};

static int inquiry_make(struct inquiry *q, size_t most, struct err *e)
{
	q->questions = calloc(most, sizeof(*q->questions));
	q->found = calloc(most, sizeof(*q->found));
	return q->questions && q->found ? 0 : err_nomem(e);
}

static void inquiry_clear(struct inquiry *q)
{
	free(q->questions);
	free(q->found);
}
#define auto_inquiry auto_clean(inquiry_clear)

/* In the namespace of the interface that asks. */
static int ask(void *arg, struct err *e)
{
	struct inquiry *q = arg;
	const struct probe_link where = { q->link->ifindex, q->link->name, q->link->addr.byte,
					  q->rounds };
	int rc = q->down ? set_link_up(q->down, e) : nl_link_carrier(q->nl, q->link->ifindex, e);

	q->asked = rc > 0;
	return q->asked ? probe_run(&where, q->questions, q->n, q->found, e) : rc;
}

static int refuse_conflict(const struct attach *a, const struct address_user *found, int n,
			   struct probe_answer *out, struct err *e)
{
	char addr[IP_STR_LEN], mac[MAC_STR_LEN];
	size_t len = 0;

	(void)err_set(e, ERR_CONFLICT, 0, "probe: address %s is in use by %s on the network of %s",
		      ip_format(found[0].addr, addr), mac_format(found[0].mac, mac),
		      probing_link(a)->name);
	for (int i = 0; i < n; i++) {
		ip_format(found[i].addr, addr);
		if (len + strlen(addr) + 2 > sizeof(out->conflict))
			break;
		len += (size_t)snprintf(out->conflict + len, sizeof(out->conflict) - len, "%s%s",
					len ? "," : "", addr);
		if (i)
			(void)err_hint(e, "address %s is in use by %s", addr,
				       mac_format(found[i].mac, mac));
	}
	return err_hint(e, "find who has that MAC address; the next ADD gets another address, if "
			   "the IPAM has one");
}

/* A warning for the key "probe". The address of a machine that may live is not used unprobed. */
static int accept_no_carrier(const struct attach *a, const struct cni_result *r, struct err *e)
{
	if (!attach_has_marks(r) && !a->conf.probe.strict) {
		log_warn(&a->call->ctx.log,
			 "probe: %s has no carrier: nobody was asked for its addresses",
			 a->link.name);
		return 0;
	}
	err_set(e, ERR_AGAIN, 0,
		attach_has_marks(r) ? "probe: %s has no carrier, and its address was taken from a "
				      "node that did not give it up"
				    : "probe: %s has no carrier: nobody was asked for its "
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
	if (a->no_link || a->link.flags & IFF_NOARP)
		return false;
	if (!link_is_ethernet(link))
		log_warn(&a->call->ctx.log, "probe: %s is no Ethernet: nobody was asked",
			 link->name);
	return link_is_ethernet(link);
}

int attach_probe(struct attach *a, const struct cni_result *r, struct probe_answer *out,
		 struct err *e)
{
	const bool all = a->conf.probe.address;
	const struct link_info *link = probing_link(a);
	auto_inquiry struct inquiry q = { .link = link,
					  .nl = attach_master_nl(a),
					  .down = link == &a->link ? a : NULL,
					  .rounds = PROBE_ROUNDS };

	if ((!all && !attach_has_marks(r)) || !r->n_ips || !is_askable(a, link))
		return 0;
	if (inquiry_make(&q, r->n_ips, e))
		return -1;
	for (size_t i = 0; i < r->n_ips; i++) {
		if (all || r->ips[i].probe)
			q.questions[q.n++].addr = r->ips[i].address.addr;
	}
	int n = netns_run(probing_netns(a), &a->host, ask, &q, e);
	out->asked = q.asked;
	if (n > 0)
		return refuse_conflict(a, q.found, n, out, e);
	return n == 0 && !q.asked ? accept_no_carrier(a, r, e) : n;
}

/* ---- gateways ---- */

/* Each gateway once, asked from the first address that has it. */
static void add_gateways(const struct cni_result *r, struct inquiry *q)
{
	for (size_t i = 0; i < r->n_ips; i++) {
		const struct cni_ip *x = &r->ips[i];
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

static bool has_answered(const struct inquiry *q, int n, struct ip gateway)
{
	for (int i = 0; i < n; i++)
		if (ip_equal(q->found[i].addr, gateway))
			return true;
	return false;
}

/* A warning for each gateway without an answer, or the error that names all of them. */
static int report_silent(const struct attach *a, const struct inquiry *q, int n, struct err *e)
{
	const bool strict = a->conf.probe.strict;
	char text[IP_STR_LEN];
	int silent = 0;

	for (size_t i = 0; i < q->n; i++) {
		const char *ip = ip_format(q->questions[i].addr, text);

		if (has_answered(q, n, q->questions[i].addr))
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

int attach_probe_gateways(const struct attach *a, const struct cni_result *r, struct err *e)
{
	auto_inquiry struct inquiry q = { .link = &a->link,
					  .nl = a->pod_nl,
					  .rounds = PROBE_GATEWAY_ROUNDS };

	if (!a->conf.probe.gateway || !r->n_ips || !is_askable(a, &a->link))
		return 0;
	if (inquiry_make(&q, r->n_ips, e))
		return -1;
	add_gateways(r, &q);
	if (!q.n)
		return 0;
	int n = netns_run(&a->pod, &a->host, ask, &q, e);
	if (n < 0)
		return -1;
	return q.asked ? report_silent(a, &q, n, e) : report_no_carrier(a, e);
}
