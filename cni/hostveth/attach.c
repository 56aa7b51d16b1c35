/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c: joins the pod and its node by a veth pair, and undoes that. */
#include "cni/hostveth/attach.h"

#include <stdlib.h>

#include "lib/base/array.h"

/* ---- addresses of the node that a rail cannot reach ---- */

struct node_list {
	struct hostveth_node *out;
	bool failed;
};

static int keep_address(const struct addr_info *info, void *arg)
{
	struct node_list *l = arg;
	struct err why; /* only memory can be missing */

	if (!hostveth_counts(info))
		return 0;
	l->failed = ARRAY_GROW(l->out->addr, l->out->n, SIZE_MAX, "addresses", &why) != 0;
	if (!l->failed)
		l->out->addr[l->out->n++] = info->addr.addr;
	return l->failed;
}

/* Those of the master: a macvlan or ipvlan never talks to it. */
static int add_node_addresses(struct attach_host *h, int master, struct err *e)
{
	struct node_list l = { .out = &h->node };

	if (!master)
		return 0;
	if (nl_addr_list(h->sides.node, master, keep_address, &l, e))
		return -1;
	return l.failed ? err_nomem(e) : 0;
}

/* ---- ADD ---- */

int attach_host_take(struct attach_host *h, int ifindex, int master, const struct cni_result *ips,
		     struct err *e)
{
	if (!h->ifindex)
		h->ifindex = ifindex;
	for (size_t i = 0; i < ips->n_ips; i++) {
		struct cni_ip x = ips->ips[i];

		x.interface = master;
		if (cni_result_add_ip(&h->ips, &x, e))
			return -1;
	}
	for (size_t i = 0; i < ips->n_routes; i++)
		if (cni_result_add_route(&h->ips, &ips->routes[i], e))
			return -1;
	return add_node_addresses(h, master, e);
}

int attach_host_refuse(const struct attach_host *h, bool pool, struct err *e)
{
	const struct hostveth_claim c = { h->conf, &h->ips, pool };

	return h->ips.n_ips ? hostveth_refuse(h->sides.node, &c, e) : 0;
}

void attach_host_clear(struct attach_host *h)
{
	cni_result_clear(&h->ips);
	free(h->node.addr);
	json_free(h->note);
}

int attach_host_note(struct attach_host *h, struct err *e)
{
	struct hostveth_id id;
	struct link_info end;

	if (hostveth_find(&h->sides, &id, &end, e))
		return -1;
	h->note = hostveth_note(id.name, (uint32_t)h->ifindex, h->conf, &h->ips);
	return h->note ? 0 : err_nomem(e);
}

int attach_host_apply(const struct attach_host *h, struct err *e)
{
	const struct hostveth_request w = { h->conf, &h->ips, &h->node, (uint32_t)h->ifindex };

	return hostveth_add(&h->sides, &w, e);
}

int attach_host_undo(const struct attach_host *h, struct err *e)
{
	return hostveth_remove(&h->sides, h->note, e);
}

/* ---- DEL without a record ---- */

struct own_list {
	struct cni_result ips;
	struct err *e;
	bool failed;
};

static int keep_own(const struct addr_info *info, void *arg)
{
	struct own_list *l = arg;
	const struct cni_ip ip = { .address = info->addr };

	l->failed = !info->given && cni_result_add_ip(&l->ips, &ip, l->e);
	return l->failed;
}

int attach_host_remove_of(const struct hostveth_sides *at, int ifindex, struct err *e)
{
	auto_nl struct nl *node = NULL;
	struct hostveth_sides s = *at;
	struct own_list l = { .e = e };
	auto_json struct json *note = NULL;
	struct hostveth_id id;
	struct link_info end;

	if (nl_open(&node, e))
		return -1;
	s.node = node;
	if (hostveth_find(&s, &id, &end, e))
		return -1;
	if (!end.ifindex)
		return 0;
	int rc = nl_addr_list(s.pod, ifindex, keep_own, &l, e) || l.failed ? -1 : 0;
	if (rc == 0) {
		note = hostveth_note(id.name, (uint32_t)ifindex, NULL, &l.ips);
		rc = note ? hostveth_remove(&s, note, e) : err_nomem(e);
	}
	cni_result_clear(&l.ips);
	return rc;
}

/* ---- CHECK ---- */

/* The node may have got other addresses since: they are not compared. */
int attach_host_check(const struct attach_host *h, const struct json *note, struct err *e)
{
	const struct hostveth_node none = { .n = 0 };
	auto_result struct cni_result ips = { 0 };
	const struct hostveth_request w = { h->conf, &ips, &none, hostveth_noted_metric(note) };

	if (!hostveth_noted_name(note))
		return 0;
	return hostveth_noted_ips(note, &ips, e) || hostveth_check(&h->sides, &w, e) ? -1 : 0;
}
