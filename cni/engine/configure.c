/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configure.c: gives the pod's interface its addresses and routes, sets it up, waits for duplicate
 * address detection, and announces the addresses.
 */
#include <errno.h>
#include <net/if.h>
#include <time.h>

#include "cni/engine/announce.h"
#include "cni/engine/attach_priv.h"
#include "lib/net/addr.h"
#include "lib/net/monitor.h"
#include "lib/device/sysfs.h"

#define DAD_TIMEOUT_MS 10000
#define MAX_DAD        64
#define READY_MS       1000 /* the kernel looks after links once a second */

static bool has_family(const struct cni_result *r, enum ip_family f)
{
	for (size_t i = 0; i < r->n_ips; i++) {
		if (r->ips[i].address.addr.family == f)
			return true;
	}
	return false;
}

/*
 * IPv6 may be switched off in the pod (Docker's default), and addresses must survive a link that
 * flaps. Nothing undoes this. The interface's settings end with it or when it leaves the pod. lo
 * keeps IPv6, because another interface of the pod may need it.
 */
static int enable_v6(const struct attach *a, struct err *e)
{
	const char *proc = a->call->ctx.proc, *ifname = a->call->env.ifname;
	struct err ignored;

	if (sysctl_net_path(proc, "lo", "ipv6/disable_ipv6", "0", &ignored))
		log_debug(&a->call->ctx.log, "%s", ignored.msg);
	if (sysctl_net_path(proc, ifname, "ipv6/disable_ipv6", "0", e) ||
	    sysctl_net_path(proc, ifname, "ipv6/keep_addr_on_down", "1", e))
		return err_wrap(e, "an IPv6 address was assigned, but IPv6 cannot be enabled");
	return 0;
}

static int configure_add_addresses(const struct attach *a, const struct cni_result *r,
				   struct err *e)
{
	const struct inuse_place at = attach_inuse_place(a);
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; i < r->n_ips; i++) {
		if (inuse_add_address(&at, r->ips[i].address, !a->conf.dad, e))
			return err_wrap(e, "add address %s to %s",
					ip_format_prefix(r->ips[i].address, text), a->link.name);
	}
	return 0;
}

static int configure_add_route(const struct attach *a, const struct cni_result *r,
			       const struct cni_route *x, struct err *e)
{
	const struct route_spec spec = routing_route(r, x, a->link.ifindex);
	char text[PREFIX_STR_LEN];
	struct err why;

	if (nl_route_add(a->pod_nl, &spec, &why) == 0 || why.errnum == EEXIST)
		return 0;
	*e = why;
	return err_wrap(e, "add route %s to %s", ip_format_prefix(x->dst, text), a->link.name);
}

static int configure_add_routes(const struct attach *a, const struct cni_result *r, struct err *e)
{
	const struct routing_place at = { a->link.ifindex, a->table };
	auto_routing_plan struct routing_plan plan = { 0 };

	for (size_t i = 0; i < r->n_routes; i++) {
		if (routing_keeps_main(&a->conf.routing, &r->routes[i]) &&
		    configure_add_route(a, r, &r->routes[i], e))
			return -1;
	}
	log_debug(&a->call->ctx.log, "%s: %zu routes", a->link.name, r->n_routes);
	if (!a->table)
		return 0;
	if (routing_plan(&a->conf.routing, r, &at, &plan, e) || routing_apply(a->pod_nl, &plan, e))
		return -1;
	log_debug(&a->call->ctx.log, "%s: table %u, %zu rules", a->link.name, a->table,
		  plan.n_rules);
	return 0;
}

static int wait_dad(const struct attach *a, struct nl_monitor *mon, const struct cni_result *r,
		    struct err *e)
{
	struct ip_prefix want[MAX_DAD];
	size_t n = 0;

	for (size_t i = 0; i < r->n_ips && n < MAX_DAD; i++) {
		if (r->ips[i].address.addr.family == IP_V6)
			want[n++] = r->ips[i].address;
	}

	const struct dad_wait wait = { a->link.ifindex, want, n, DAD_TIMEOUT_MS };

	return nl_addr_wait_dad(a->pod_nl, mon, &wait, e);
}

/* ---- announcing ---- */

/* Whether other hosts need an announcement: an ipvlan in mode l3 has no neighbours. */
static bool can_announce(const struct attach *a, const struct cni_result *r)
{
	return r->n_ips && !(a->link.flags & IFF_NOARP) &&
	       (link_is_ethernet(&a->link) || link_is_ipoib(&a->link));
}

/*
 * The link had no carrier when it went up. An attachment without announcement works: its neighbours
 * find out a little later.
 */
static void announce_late(const struct attach *a, const struct cni_result *r,
			  struct nl_monitor *links)
{
	const struct log *log = &a->call->ctx.log;
	struct err e;
	int rc = nl_link_wait_carrier(a->pod_nl, links, a->link.ifindex, 0, &e);
	int patience = rc == 0 && a->type->carrier_ms ? a->type->carrier_ms(a) : 0;

	if (patience > 0)
		rc = nl_link_wait_carrier(a->pod_nl, links, a->link.ifindex,
					  ctx_mono_ms() + patience, &e);
	if (rc == 0)
		log_info(log, "%s has no carrier yet: its addresses are not announced",
			 a->link.name);
	if (rc > 0 && has_family(r, IP_V4))
		rc = announce_v4(&a->link, r->ips, r->n_ips, &e);
	if (rc < 0)
		log_warn(log, "%s", e.msg);
}

/*
 * A driver may say that it has carrier before the kernel has taken notice; IPv6 has no route for
 * all nodes until then.
 */
static int announce_when_ready(const struct attach *a, struct ip addr, int64_t deadline_ms,
			       struct err *e)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct err ignored;

	while (announce_v6(&a->link, addr, e)) {
		if (e->errnum != ENETUNREACH || ctx_mono_ms() >= deadline_ms ||
		    nl_link_carrier(a->pod_nl, a->link.ifindex, &ignored) != 1)
			return -1;
		(void)nanosleep(&nap, NULL);
	}
	return 0;
}

static void announce(const struct attach *a, const struct cni_result *r)
{
	const int64_t deadline = ctx_mono_ms() + READY_MS;
	struct err e;

	for (size_t i = 0; i < r->n_ips; i++) {
		if (r->ips[i].address.addr.family == IP_V6 &&
		    announce_when_ready(a, r->ips[i].address.addr, deadline, &e))
			log_warn(&a->call->ctx.log, "%s", e.msg);
	}
}

/* ---- all of it ---- */

/*
 * A link that we make has carrier from the start. The driver of a device may need a moment. If it
 * does, the announcements of the kernel were lost, and *mute is set.
 */
static int set_up(const struct attach *a, struct nl_monitor *links, bool *mute, struct err *e)
{
	const struct inuse_place at = attach_inuse_place(a);
	int carrier = 1;

	/* An interface that was up before it had addresses announced none. */
	*mute = a->is_up;
	if (a->is_up)
		return 0;
	if (inuse_set_up(&at, e))
		return err_wrap(e, "set %s up", a->link.name);
	if (links)
		carrier = nl_link_rose_with_carrier(links, a->link.ifindex, e);
	*mute = carrier == 0;
	return carrier < 0 ? -1 : 0;
}

/* One interface on its way. */
struct configuring {
	struct attach *a;
	const struct cni_result *r;
	struct nl_monitor *addrs, *links; /* owned */
	bool mute;
};

static int bring_up(struct configuring *c, struct err *e)
{
	const struct attach *a = c->a;
	bool v4 = has_family(c->r, IP_V4), v6 = has_family(c->r, IP_V6);

	if (v6 && (tuning_refuse_v6(&a->conf.tuning, e) || enable_v6(a, e)))
		return -1;
	if (a->table && routing_set_up_link(a->call->ctx.proc, a->link.name, v6, e))
		return -1;
	/* Without detection the kernel would tell of an address as well as we do. */
	announce_prepare(&a->call->ctx, a->link.name, v4, v6 && a->conf.dad);
	if (a->type->claim)
		announce_moved(&a->call->ctx, a->link.name, false);
	if (v6 && a->conf.dad && nl_monitor_open(NL_WATCH_ADDR6, &c->addrs, e))
		return -1;
	if (configure_add_addresses(a, c->r, e))
		return -1;
	if (can_announce(a, c->r) && (a->type->carrier_ms || a->is_up) &&
	    nl_monitor_open(NL_WATCH_LINKS, &c->links, e))
		return -1;
	if (set_up(a, c->links, &c->mute, e))
		return -1;
	log_debug(&a->call->ctx.log, "%s: %zu addresses, up%s", a->link.name, c->r->n_ips,
		  c->mute && !a->is_up ? ", no carrier yet" : "");
	if (a->type->claim)
		announce_moved(&a->call->ctx, a->link.name, true);
	/* The configuration counts more than the values that were set here. */
	return tuning_set_sysctls(&a->conf.tuning, a->call->ctx.proc, a->link.name, e);
}

static int complete(struct configuring *c, struct err *e)
{
	if (c->addrs && wait_dad(c->a, c->addrs, c->r, e))
		return -1;
	if (configure_add_routes(c->a, c->r, e))
		return -1;
	if (c->mute && c->links)
		announce_late(c->a, c->r, c->links);
	if (!c->addrs && can_announce(c->a, c->r))
		announce(c->a, c->r);
	return 0;
}

struct configuring_all {
	struct configuring one[ATTACH_PARTS_MAX];
	size_t n;
};

/* All go up before the first is waited for: the waits for carrier and detection are one. */
static int configure_inside(void *arg, struct err *e)
{
	struct configuring_all *all = arg;

	for (size_t i = 0; i < all->n; i++)
		if (bring_up(&all->one[i], e))
			return -1;
	for (size_t i = 0; i < all->n; i++)
		if (complete(&all->one[i], e))
			return -1;
	return 0;
}

/* Whatever comes next, the IPAM's DEL included, belongs to the host's namespace. */
int attach_configure(const struct attach_part *parts, size_t n, struct err *e)
{
	struct configuring_all all = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		if (!parts[i].a->no_link)
			all.one[all.n++] =
				(struct configuring){ .a = parts[i].a, .r = parts[i].ips };
	if (!all.n)
		return 0;
	int rc = netns_run(&parts->a->pod, &parts->a->host, configure_inside, &all, e);
	for (size_t i = 0; i < all.n; i++) {
		nl_monitor_close(all.one[i].addrs);
		nl_monitor_close(all.one[i].links);
	}
	return rc;
}
