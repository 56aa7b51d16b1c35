/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_probe.c: asks the network for the addresses of a result before ADD uses them: for all of
 * them with the key "probe", else for those that the IPAM marked.
 */
#include <net/if.h>
#include <stdio.h>
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

/* 1: the pod's interface is up and can send; 0: it has no carrier, so no host can answer. */
static int set_link_up(struct attach *a, struct err *e)
{
	auto_nl_monitor struct nl_monitor *links = NULL;

	if (nl_monitor_open(NL_WATCH_LINKS, &links, e))
		return -1;
	a->is_up = true;
	if (nl_link_set_up(a->pod_nl, a->link.ifindex, e))
		return err_wrap(e, "set %s up", a->link.name);
	int64_t patience = a->type->carrier_ms ? a->type->carrier_ms(a) : 0;
	return nl_link_wait_carrier(a->pod_nl, links, a->link.ifindex, ctx_mono_ms() + patience, e);
}

struct question {
	struct ip *addrs;
	size_t n;
	struct address_user *found; /* as of probe_run() */
	bool asked;                 /* output: the link had carrier */
};

/* In the namespace of the interface that asks; afterwards the host's is entered again. */
static int probe_in_netns(struct attach *a, struct question *q, struct err *e)
{
	const struct link_info *link = probing_link(a);
	const struct probe_link where = { link->ifindex, link->name, link->addr.byte };
	struct err stuck;

	if (netns_enter(probing_netns(a), e))
		return -1;
	int rc = link == &a->link ? set_link_up(a, e)
				  : nl_link_carrier(attach_master_nl(a), link->ifindex, e);
	q->asked = rc > 0;
	if (q->asked)
		rc = probe_run(&where, q->addrs, q->n, q->found, e);
	if (netns_enter(&a->host, &stuck)) {
		if (rc >= 0)
			*e = stuck;
		return -1;
	}
	return rc;
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
	if (!attach_has_marks(r)) {
		log_warn(&a->call->ctx.log,
			 "probe: %s has no carrier: nobody was asked for its addresses",
			 a->link.name);
		return 0;
	}
	err_set(e, ERR_AGAIN, 0,
		"probe: %s has no carrier, and its address was taken from a node that did not give "
		"it up",
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
static bool is_askable(const struct attach *a)
{
	const struct link_info *link = probing_link(a);

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
	const bool all = a->conf.probe;
	struct question q = { .n = 0 };

	if ((!all && !attach_has_marks(r)) || !r->n_ips || !is_askable(a))
		return 0;
	auto_free struct ip *addrs = calloc(r->n_ips, sizeof(*addrs));
	auto_free struct address_user *found = calloc(r->n_ips, sizeof(*found));
	if (!addrs || !found)
		return err_nomem(e);
	q.addrs = addrs;
	q.found = found;
	for (size_t i = 0; i < r->n_ips; i++) {
		if (all || r->ips[i].probe)
			addrs[q.n++] = r->ips[i].address.addr;
	}
	int n = probe_in_netns(a, &q, e);
	out->asked = q.asked;
	if (n > 0)
		return refuse_conflict(a, found, n, out, e);
	return n == 0 && !q.asked ? accept_no_carrier(a, r, e) : n;
}
