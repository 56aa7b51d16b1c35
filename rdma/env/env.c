/* SPDX-License-Identifier: Apache-2.0 */
/* env.c: which rails are used, and why the others are not. Their variables are in vars.c. */
#include "rdma/env/env.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "rdma/env/priv.h"

/* ---- the result ---- */

void env_clear(struct env *v)
{
	for (size_t i = 0; i < v->n_vars; i++)
		free(v->var[i].value);
	free(v->warning);
	free(v->left_out);
	free(v->missing);
	*v = (struct env){ 0 };
}

const char *env_value(const struct env *x, const char *name)
{
	for (size_t i = 0; i < x->n_vars; i++)
		if (strcmp(x->var[i].name, name) == 0)
			return x->var[i].value;
	return NULL;
}

#define TEXTS_MAX 65536

printf_like(3, 0) static int push_text(char (**list)[ENV_TEXT_LEN], size_t *n, const char *fmt,
				       va_list ap, struct err *e)
{
	if (ARRAY_GROW(*list, *n, TEXTS_MAX, "remarks", e))
		return -1;
	(void)vsnprintf((*list)[(*n)++], ENV_TEXT_LEN, fmt, ap);
	return 0;
}

int env_warn(struct env *out, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int rc = push_text(&out->warning, &out->n_warnings, fmt, ap, e);
	va_end(ap);
	return rc;
}

printf_like(3, 4) static int leave_out(struct env *out, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int rc = push_text(&out->left_out, &out->n_left_out, fmt, ap, e);
	va_end(ap);
	return rc;
}

/* Add an interface that is left out although it should be a rail. */
printf_like(3, 4) static int warn_missing(struct env *out, struct err *e, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int rc = push_text(&out->left_out, &out->n_left_out, fmt, ap, e) ||
		 push_text(&out->missing, &out->n_missing, fmt, again, e);
	va_end(again);
	va_end(ap);
	return rc ? -1 : 0;
}

/* ---- which rails ---- */

static const char *netdev_name(const struct rdma_rail *r)
{
	return r->netdev ? r->netdev->link.name : "no interface";
}

static bool env_is_named(const struct env_options *o, const struct inv_netdev *d)
{
	for (size_t i = 0; o->interfaces[i]; i++)
		if (d && strcmp(d->link.name, o->interfaces[i]) == 0)
			return true;
	return false;
}

/* The reason why a rail cannot be used, regardless of the others; NULL: it can be used. */
static const char *fault_of(const struct rdma_rail *r)
{
	if (r->port->state != RDMA_PORT_ACTIVE)
		return "its port is not ACTIVE, and NCCL uses no other";
	if (strpbrk(r->device->link.name, ":,=^\n"))
		return "its device's name cannot be written in NCCL_IB_HCA";
	if (r->ambiguous)
		return "another port has the same address under the same name, and a pod does not "
		       "see which port is below the interface: use --netns on the host";
	if (r->port->layer == IB_LAYER_UNKNOWN)
		return "sysfs does not tell whether it is Ethernet or InfiniBand: is /sys that of "
		       "this network namespace?";
	if (r->port->layer == IB_LAYER_ETHERNET && !r->v4 && !r->v6)
		return "its GID table has no RoCE v2 entry of the interface's addresses";
	return NULL;
}

/* The interface of the default route carries the cluster's traffic. It is the last choice. */
static bool is_default(const struct env_plan *p, const struct rdma_rail *r)
{
	return !p->options->interfaces && r->netdev && p->inventory->default_ifindex &&
	       r->netdev->link.ifindex == p->inventory->default_ifindex;
}

static const struct env_rail *user_of(const struct env_plan *p, const struct rdma_rail *r)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rail[i].rail->port == r->port)
			return &p->rail[i];
	return NULL;
}

#define RAILS_MAX 65536

static int consider_rail(struct env_plan *p, const struct rdma_rail *r, struct env *out,
			 struct err *e)
{
	char port[RAIL_PORT_LEN];
	const char *fault = fault_of(r);
	const struct env_rail *user = user_of(p, r);

	rail_port(r, port);
	if (p->options->layer != IB_LAYER_UNKNOWN && p->options->layer != r->port->layer)
		return leave_out(out, e, "%s on %s: its link layer is %s", netdev_name(r), port,
				 ib_link_layer_name(r->port->layer));
	if (p->options->interfaces && !env_is_named(p->options, r->netdev))
		return leave_out(out, e, "%s on %s: not named by --interface", netdev_name(r),
				 port);
	if (fault && rail_is_bare(r) && !p->options->interfaces)
		return leave_out(out, e, "%s on %s: %s", netdev_name(r), port, fault);
	if (fault)
		return warn_missing(out, e, "%s on %s: %s", netdev_name(r), port, fault);
	if (user)
		return leave_out(out, e, "%s on %s: %s uses that port already", netdev_name(r),
				 port, netdev_name(user->rail));
	if (ARRAY_GROW(p->rail, p->n, RAILS_MAX, "rails", e))
		return -1;
	p->rail[p->n++] = (struct env_rail){ .rail = r };
	return 0;
}

static bool has_rail_port(const struct rails *all, const struct inv_netdev *d)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->rail[i].netdev == d)
			return true;
	return false;
}

/*
 * An interface without a port. If it is down or has no address, it has no GIDs, and the pod does
 * not see whether an RDMA device is below it. If it is up with an address, it has no RDMA, unless
 * the host sees an RDMA device below it.
 */
static int consider_rest(const struct env_plan *p, const struct inv_netdev *d, struct env *out,
			 struct err *e)
{
	const char *name = d->link.name;

	if (!(d->link.flags & IFF_UP))
		return warn_missing(out, e, "%s: its link is down", name);
	if (inv_is_ipoib(d))
		return warn_missing(out, e, "%s: no visible port of InfiniBand has its GUID", name);
	if (!d->n_addrs)
		return warn_missing(out, e, "%s: it has no address, and so no GID", name);
	if (p->options->interfaces || d->lower_port)
		return warn_missing(out, e, "%s: no RDMA port has a GID of its addresses", name);
	return leave_out(out, e, "%s: no RDMA port has a GID of its addresses", name);
}

/* Hardware without a port has no RDMA. It is reported only if the caller named it. */
static int choose_rest(struct env_plan *p, const struct rails *all, struct env *out, struct err *e)
{
	const struct rdma_inventory *v = p->inventory;

	for (size_t i = 0; v->n_devices && i < v->n_netdevs; i++) {
		const struct inv_netdev *d = &v->netdev[i];
		bool wanted = p->options->interfaces ? env_is_named(p->options, d)
						     : rail_expected(v, d) && !*d->link.parent;

		if (wanted && !has_rail_port(all, d) && consider_rest(p, d, out, e))
			return -1;
	}
	return 0;
}

/* The rail of the default route is used only if there is no other. */
static int choose_rails(struct env_plan *p, const struct rails *all, struct env *out, struct err *e)
{
	char port[RAIL_PORT_LEN];

	for (size_t i = 0; i < all->n; i++)
		if (!is_default(p, &all->rail[i]) && consider_rail(p, &all->rail[i], out, e))
			return -1;
	bool others = p->n > 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct rdma_rail *r = &all->rail[i];

		if (!is_default(p, r))
			continue;
		if (!others ? consider_rail(p, r, out, e)
			    : leave_out(out, e,
					"%s on %s: it has the default route, and there are other "
					"rails; --interface takes it in",
					netdev_name(r), rail_port(r, port)))
			return -1;
	}
	return 0;
}

static int env_check_names(const struct env_plan *p, struct err *e)
{
	for (size_t i = 0; p->options->interfaces && p->options->interfaces[i]; i++) {
		const char *name = p->options->interfaces[i];
		bool there = false;

		for (size_t d = 0; d < p->inventory->n_netdevs; d++)
			there |= strcmp(p->inventory->netdev[d].link.name, name) == 0;
		if (!there)
			return err_set(e, ERR_CONFIG, 0,
				       "there is no interface \"%.64s\" with an address here",
				       name);
	}
	return 0;
}

static bool has_ib(const struct rdma_inventory *v)
{
	for (size_t i = 0; i < v->n_devices; i++)
		for (size_t p = 0; p < v->device[i].n_ports; p++)
			if (v->device[i].port[p].layer == IB_LAYER_INFINIBAND)
				return true;
	return false;
}

static int refuse_no_rail(const struct env_plan *p, const struct env *out, struct err *e)
{
	const struct rdma_inventory *v = p->inventory;

	if (!v->has_rdma)
		err_set(e, ERR_NOTFOUND, 0, "this kernel has no RDMA");
	else if (!v->n_devices)
		err_set(e, ERR_NOTFOUND, 0, "no RDMA device is visible in this network namespace");
	else
		err_set(e, ERR_NOTFOUND, 0, "no interface here is served by an RDMA device");
	e->errnum = ENODEV;
	for (size_t i = 0; i < out->n_left_out; i++)
		err_hint(e, "%s", out->left_out[i]);
	if (v->mode == RDMA_SHARED && has_ib(v))
		err_hint(e, "in mode shared a port of InfiniBand belongs to the pod that has an "
			    "IPoIB interface of it: attach one with the plugin ipoib, or use VFs "
			    "in mode exclusive");
	return err_hint(e, "\"railctl rdma check\" looks for the reason");
}

static int note_no_rail(const struct env_plan *p, struct env *out, struct err *e)
{
	struct err why;

	if (!p->options->none_is_fine)
		return refuse_no_rail(p, out, e);
	(void)refuse_no_rail(p, out, &why);
	return leave_out(out, e, "there is no rail: %s", why.msg);
}

/* ---- one family for all ---- */

static const struct inv_gid *gid_of(const struct rdma_rail *r, enum ip_family family)
{
	return family == IP_V4 ? r->v4 : r->v6;
}

static bool is_roce(const struct env_rail *r)
{
	return r->rail->port->layer == IB_LAYER_ETHERNET;
}

static size_t count_family(const struct env_plan *p, enum ip_family family)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += is_roce(&p->rail[i]) && gid_of(p->rail[i].rail, family);
	return n;
}

static int drop_other_family(struct env_plan *p, struct env *out, struct err *e)
{
	char port[RAIL_PORT_LEN];
	const char *family = p->family == IP_V4 ? "IPv4" : "IPv6";
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct env_rail r = p->rail[i];

		r.gid = is_roce(&r) ? gid_of(r.rail, p->family) : NULL;
		if (!is_roce(&r) || r.gid) {
			p->rail[kept++] = r;
			continue;
		}
		(void)rail_port(r.rail, port);
		if (leave_out(out, e, "%s on %s: it has no RoCE v2 GID of %s", netdev_name(r.rail),
			      port, family) ||
		    env_warn(
			    out, e,
			    "%s on %s is not used: it has no RoCE v2 GID of %s, and NCCL takes one "
			    "family for all devices",
			    netdev_name(r.rail), port, family))
			return -1;
	}
	p->n = kept;
	return 0;
}

static void look_for_common_index(struct env_plan *p)
{
	p->common = true;
	for (size_t i = 0; i < p->n; i++) {
		const struct inv_gid *g = p->rail[i].gid;

		if (!g)
			continue;
		if (p->n_roce++ == 0)
			p->index = g->entry.index;
		p->common &= g->entry.index == p->index;
	}
	p->common &= p->n_roce > 0;
}

static int plan_rails(struct env_plan *p, const struct rails *all, struct env *out, struct err *e)
{
	if (env_check_names(p, e) || choose_rails(p, all, out, e) || choose_rest(p, all, out, e))
		return -1;
	/* NCCL has one address family for all devices. */
	p->family = p->options->family;
	if (p->family == IP_NONE)
		p->family = count_family(p, IP_V4) >= count_family(p, IP_V6) ? IP_V4 : IP_V6;
	if (drop_other_family(p, out, e))
		return -1;
	if (!p->n)
		return note_no_rail(p, out, e);
	out->n_rails = p->n;
	out->nccl = p->options->nccl;
	out->ucx = p->options->ucx;
	look_for_common_index(p);
	if (p->n_roce == 0 || p->n_roce == p->n)
		return 0;
	return env_warn(out, e,
			"there are rails of InfiniBand and of RoCE, and NCCL connects no port of "
			"one to a port of the other: choose one with --link-layer");
}

/* NVSHMEM chooses a GID as NCCL does, so its variables are those of NCCL under other names. */
static int add_variables(struct env_plan *p, struct env *x, struct err *e)
{
	unsigned want = p->options->libraries;
	bool has_nccl = !want || (want & (ENV_NCCL | ENV_NVSHMEM));

	if ((has_nccl && env_set_gids(p, x, e)) || env_set_ib(p, x, e) || env_set_others(p, x, e) ||
	    ((!want || (want & ENV_UCX)) && env_set_ucx(p, x, e)) ||
	    ((want & ENV_NVSHMEM) && env_set_nvshmem(p, x, e)) ||
	    ((want & ENV_MOONCAKE) && env_set_mooncake(p, x, e)))
		return -1;
	x->libraries = want;
	if (want)
		env_keep(x, want);
	return 0;
}

int env_make(const struct rdma_inventory *v, const struct env_options *o, struct env *out,
	     struct err *e)
{
	auto_rails struct rails all = { 0 };
	auto_env struct env x = { 0 };
	struct env_plan p = { .inventory = v, .options = o };

	if (rails_find(v, &all, e))
		return -1;

	int rc = (o->warning && env_warn(&x, e, "%s", o->warning)) || plan_rails(&p, &all, &x, e);

	if (rc == 0 && p.n)
		rc = add_variables(&p, &x, e);

	free(p.rail);
	if (rc)
		return -1;
	*out = x;
	x = (struct env){ 0 };
	return 0;
}
