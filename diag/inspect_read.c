/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_read.c: fills the snapshot of a namespace's rails from the kernel. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "diag/inspect.h"
#include "cni/engine/tuning.h"
#include "lib/base/array.h"
#include "lib/device/sysfs.h"

#define ITEMS_MAX 65536

struct reading {
	const struct inspect_from *from;
	struct inspect *s;
	struct inspect_rail *rail; /* whose items are being read */
	struct nl *host, *pod;
	struct err *e;
	bool failed;
};

/* ---- lists ---- */

static int on_rule(const struct rule_spec *r, void *arg)
{
	struct reading *x = arg;

	x->failed = ARRAY_GROW(x->s->rule, x->s->n_rules, ITEMS_MAX, "rules", x->e) != 0;
	if (!x->failed)
		x->s->rule[x->s->n_rules++] = *r;
	return x->failed;
}

static int on_inspect_read_route(const struct route_spec *r, void *arg)
{
	struct reading *x = arg;

	x->failed = ARRAY_GROW(x->s->route, x->s->n_routes, ITEMS_MAX, "routes", x->e) != 0;
	if (!x->failed)
		x->s->route[x->s->n_routes++] = *r;
	return x->failed;
}

static int on_inspect_read_link(const struct link_info *l, void *arg)
{
	struct reading *x = arg;
	struct inspect_name n = { .ifindex = l->ifindex };

	memcpy(n.name, l->name, sizeof(n.name));
	x->failed = ARRAY_GROW(x->s->name, x->s->n_names, ITEMS_MAX, "interfaces", x->e) != 0;
	if (!x->failed)
		x->s->name[x->s->n_names++] = n;
	return x->failed;
}

static int on_inspect_read_addr(const struct addr_info *a, void *arg)
{
	struct reading *x = arg;

	if (ip_is_link_local(a->addr.addr))
		return 0;
	x->failed = ARRAY_GROW(x->rail->addr, x->rail->n_addrs, ITEMS_MAX, "addresses", x->e) != 0;
	if (!x->failed)
		x->rail->addr[x->rail->n_addrs++] = *a;
	return x->failed;
}

/* Those to which ADD makes a route. */
static int on_node_addr(const struct addr_info *a, void *arg)
{
	struct reading *x = arg;

	if (!hostveth_counts(a))
		return 0;
	x->failed = ARRAY_GROW(x->rail->node, x->rail->n_node, ITEMS_MAX, "addresses", x->e) != 0;
	if (!x->failed)
		x->rail->node[x->rail->n_node++] = (struct inspect_way){ .to = a->addr.addr };
	return x->failed;
}

static int on_neigh(const struct neigh_info *n, void *arg)
{
	struct reading *x = arg;

	if (n->state == NEIGH_NO_NEED)
		return 0;
	x->failed =
		ARRAY_GROW(x->rail->neigh, x->rail->n_neighs, ITEMS_MAX, "neighbours", x->e) != 0;
	if (!x->failed)
		x->rail->neigh[x->rail->n_neighs++] = *n;
	return x->failed;
}

/* ---- rails without a record ---- */

/* An address of an interface that no record names is a rail's if a rule leads from it to a table
 * with routes by it. */
static int on_any_addr(const struct addr_info *a, void *arg)
{
	struct reading *x = arg;
	struct inspect *s = x->s;

	for (size_t i = 0; i < s->n_rails; i++)
		if (s->rail[i].link.ifindex == a->ifindex)
			return 0;
	if (!inspect_table_of(s, a->addr.addr, a->ifindex))
		return 0;
	x->failed = ARRAY_GROW(s->rail, s->n_rails, ITEMS_MAX, "rails", x->e) != 0;
	if (!x->failed)
		s->rail[s->n_rails++] =
			(struct inspect_rail){ .ifindex = a->ifindex, .link.ifindex = a->ifindex };
	return x->failed;
}

/* ---- one rail ---- */

/* Without a link of that number or name, link.ifindex is 0. */
static int diag_read_link(struct reading *x, struct inspect_rail *r)
{
	struct link_info link;
	struct err why = { .errnum = ENODEV };

	if ((r->ifindex && nl_link_by_index(x->pod, r->ifindex, &link, &why) == 0) ||
	    (*r->ifname && why.errnum == ENODEV &&
	     nl_link_by_name(x->pod, r->ifname, &link, &why) == 0)) {
		r->link = link;
		memcpy(r->ifname, link.name, sizeof(r->ifname));
		return 0;
	}
	r->link = (struct link_info){ 0 };
	if (why.errnum == ENODEV)
		return 0;
	*x->e = why;
	return -1;
}

/* The interface below, if it is still that of the record: in the namespace of the caller or, for
 * linkInContainer, in the pod. A VF has none below it. */
static int read_master(struct reading *x, struct inspect_rail *r)
{
	struct link_info link;
	struct err ignored;

	if (!*r->master ||
	    nl_link_by_any_name(r->in_container ? x->pod : x->host, r->master, &link, &ignored) ||
	    (r->lower_ifindex && link.ifindex != r->lower_ifindex &&
	     link.lower_ifindex != r->lower_ifindex))
		return 0;
	r->master_mtu = link.mtu;
	if (!r->host_metric || r->in_container)
		return 0;
	return nl_addr_list(x->host, link.ifindex, on_node_addr, x, x->e) || x->failed ? -1 : 0;
}

static void read_filter(struct reading *x, struct inspect_rail *r)
{
	struct link_info end;
	struct err why;

	if (!*r->host_veth ||
	    (nl_link_by_name(x->host, r->host_veth, &end, &why) == 0 &&
	     hostveth_check_senders(x->host, r->host_veth, end.ifindex, &why) == 0))
		return;
	r->filter_unread = why.code != ERR_STATE && why.errnum != ENODEV;
	(void)snprintf(r->filter_why, sizeof(r->filter_why), "%.199s", why.msg);
}

/* *out is -1 for a setting that cannot be read. */
static int read_one_setting(struct reading *x, const char *ifname, enum inspect_setting s, int *out)
{
	const char *path_of = inspect_setting_path(s), *at = strstr(path_of, "%s");
	char path[PATH_MAX];
	struct err why;
	uint64_t v;
	int rc;

	(void)snprintf(path, sizeof(path), "sys/net/%.*s%s%s", (int)(at - path_of), path_of, ifname,
		       at + 2);
	rc = sysfs_read_u64(x->from->ctx->proc, path, &v, &why);
	if (rc && (why.code == ERR_NOMEM || why.errnum == ENOMEM))
		return err_nomem(x->e);
	*out = rc || v > INT_MAX ? -1 : (int)v;
	return 0;
}

/* The caller is in the pod's namespace. */
static int read_settings(void *arg, struct err *e)
{
	struct reading *x = arg;

	x->e = e;
	for (size_t i = 0; i < x->s->n_rails; i++) {
		struct inspect_rail *r = &x->s->rail[i];

		for (int k = 0; k < INSPECT_SETTINGS; k++) {
			const enum inspect_setting key = (enum inspect_setting)k;
			int all = 0, own;

			if ((inspect_setting_has_all(key) &&
			     read_one_setting(x, "all", key, &all)) ||
			    read_one_setting(x, r->link.name, key, &own))
				return -1;
			r->setting[k] = all < 0 || own < 0 ? -1 : all > own ? all : own;
		}
	}
	return 0;
}

/* ---- settings of the configuration ---- */

/* The IPAM's addresses, as far as they are known: those of the record, else those that are there.
 */
static int want_mac(struct inspect_rail *r, const struct tuning_conf *c)
{
	struct cni_ip first[2] = { { .interface = -1 }, { .interface = -1 } };
	struct cni_result ips = { .ips = first, .n_ips = 0 };
	const size_t n = r->n_noted ? r->n_noted : r->n_addrs;
	struct err ignored;

	for (size_t i = 0; i < n && ips.n_ips < 2; i++) {
		const struct ip a = r->n_noted ? r->noted[i] : r->addr[i].addr.addr;

		if (!ips.n_ips || a.family == IP_V4)
			first[ips.n_ips++].address.addr = a;
	}
	return tuning_mac(c, &ips, -1, &r->want_mac, &ignored);
}

/* A setting that cannot be compared has no finding: its driver or kernel does not have it. */
static int read_tuning(struct reading *x, struct inspect_rail *r)
{
	const struct tuning_place at = { .host = x->from->host,
					 .pod = x->from->pod,
					 .pod_nl = x->pod,
					 .proc = x->from->ctx->proc,
					 .ifname = r->link.name,
					 .ifindex = r->link.ifindex };
	struct tuning_conf c;
	struct err why;

	if (!r->config || tuning_read_conf(r->config, &c, &why))
		return 0;
	if (c.has_mac_prefix && want_mac(r, &c))
		r->want_mac = (struct hw_addr){ 0 };
	if (!tuning_is_given(&c) || tuning_check(&c, &at, &why) == 0)
		return 0;
	if (why.code == ERR_STATE)
		(void)snprintf(r->drift, sizeof(r->drift), "%.199s", why.msg);
	return why.code == ERR_NOMEM ? err_nomem(x->e) : 0;
}

/* The calling thread is on the node. A rail without a record may be in its own namespace. */
static int read_of_node(struct reading *x, struct inspect_rail *r)
{
	for (size_t i = 0; i < r->n_addrs && !netns_same(x->from->pod->id, x->from->host->id);
	     i++) {
		int own = nl_addr_is_own(r->addr[i].addr.addr, x->e);

		if (own < 0)
			return -1;
		if (own)
			r->of_node = r->addr[i].addr.addr;
	}
	return 0;
}

static int read_rail(struct reading *x, struct inspect_rail *r)
{
	x->rail = r;
	if (diag_read_link(x, r))
		return -1;
	read_filter(x, r);
	if (read_master(x, r))
		return -1;
	if (!r->link.ifindex)
		return 0;
	if (nl_addr_list(x->pod, r->link.ifindex, on_inspect_read_addr, x, x->e) || x->failed)
		return -1;
	if (nl_neigh_list(x->pod, r->link.ifindex, on_neigh, x, x->e) || x->failed)
		return -1;
	return read_of_node(x, r) ? -1 : read_tuning(x, r);
}

/* ---- all ---- */

static int ask_ways(struct reading *x, struct inspect_way *way, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct inspect_way *w = &way[i];
		struct err why;

		if (nl_route_get(x->pod, w->to, w->from, &w->route, &why) == 0)
			continue;
		if (why.code != ERR_KERNEL) {
			*x->e = why;
			return -1;
		}
		w->errnum = why.errnum;
	}
	return 0;
}

static int ask_all_ways(struct reading *x)
{
	for (size_t i = 0; i < x->s->n_rails; i++)
		if (ask_ways(x, x->s->rail[i].node, x->s->rail[i].n_node))
			return -1;
	return ask_ways(x, x->s->way, x->s->n_ways);
}

static int read_lists(struct reading *x)
{
	struct inspect *s = x->s;

	if (nl_rule_list(x->pod, on_rule, x, x->e) || x->failed ||
	    nl_route_list_all(x->pod, on_inspect_read_route, x, x->e) || x->failed ||
	    nl_link_each(x->pod, NULL, on_inspect_read_link, x, x->e) || x->failed)
		return -1;
	for (size_t i = 0; i < s->n_rails; i++)
		if (diag_read_link(x, &s->rail[i]))
			return -1;
	if (nl_addr_list(x->pod, 0, on_any_addr, x, x->e) || x->failed)
		return -1;
	for (size_t i = 0; i < s->n_rails; i++)
		if (read_rail(x, &s->rail[i]))
			return -1;
	inspect_find_tables(s);
	return inspect_find_ways(s, x->e) || ask_all_ways(x) ? -1 : 0;
}

int inspect_read(const struct inspect_from *from, struct inspect *s, struct err *e)
{
	auto_nl struct nl *host = NULL, *pod = NULL;
	struct reading x = { .from = from, .s = s, .e = e };

	if (nl_open(&host, e) || nl_open_in(from->pod, from->host, &pod, e))
		return -1;
	x.host = host;
	x.pod = pod;
	if (read_lists(&x))
		return err_wrap(e, "rails of the pod");
	return netns_run(from->pod, from->host, read_settings, &x, e);
}
