/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucx_vars.c: the variables of UCX, and the warnings if none gives the right GID.
 *
 * UCX has one GID index for all devices, and refuses it beside UCX_IB_ROCE_SUBNETS. The networks
 * stay right if an index moves while a job runs, so they come first. UCX before 1.18 has only the
 * index, so that is the choice if the version is not known.
 */
#include <string.h>

#include "lib/base/text.h"
#include "rdma/env/priv.h"
#include "rdma/env/ucx.h"

/* The networks of all rails; exact: their addresses. The caller frees it. NULL: no memory. */
static struct ip_prefix *subnets_of(const struct env_plan *p, bool exact, size_t *n)
{
	struct ip_prefix *all = calloc(p->n + 1, sizeof(*all));

	*n = 0;
	for (size_t i = 0; all && i < p->n; i++) {
		if (!p->rail[i].gid)
			continue;

		struct ip_prefix one = env_network(&p->rail[i]);
		size_t k = 0;

		if (exact)
			one.len = (uint8_t)ip_bits(one.addr.family);
		one.addr = ip_network(one);
		while (k < *n && !(all[k].len == one.len && ip_equal(all[k].addr, one.addr)))
			k++;
		if (k == *n)
			all[(*n)++] = one;
	}
	return all;
}

static struct ucx_rule ucx_env_rule_of(const struct env_plan *p)
{
	struct ucx_rule r = { .local_last = lib_rule_holds(UCX_SKIPS_LOCAL, p->options->ucx) };

	return r;
}

/* Networks are one list for all ports, so the GID may be that of another interface on a port. */
static bool is_of_rail(const struct inv_gid *g, const struct env_rail *rail)
{
	return g == rail->gid ||
	       (g && g->here && strcmp(g->entry.netdev, rail->gid->entry.netdev) == 0);
}

/* Each rail gets a GID of its own interface. */
static bool selects_rails(const struct env_plan *p, const struct ucx_rule *r)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct env_rail *rail = &p->rail[i];

		if (rail->gid && !is_of_rail(ucx_gid(rail->rail->port, r), rail))
			return false;
	}
	return true;
}

static char *format_subnets(const struct ip_prefix *subnet, size_t n)
{
	auto_text struct text t = { 0 };
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; i < n; i++) {
		text_add(&t, i ? "," : "");
		text_add(&t, ip_format_prefix(subnet[i], text));
	}
	return text_take(&t);
}

/* Returns 1 if the networks select the rails and were added, 0 if they do not select them. */
static int try_subnets(const struct env_plan *p, bool exact, struct env *out, struct err *e)
{
	struct ucx_rule r = ucx_env_rule_of(p);
	auto_free struct ip_prefix *subnet = subnets_of(p, exact, &r.n_subnets);

	if (!subnet)
		return err_nomem(e);
	r.subnet = subnet;
	if (!selects_rails(p, &r))
		return 0;
	return env_add(out, e,
		       (struct env_new){ "UCX_IB_ROCE_SUBNETS",
					 format_subnets(subnet, r.n_subnets) },
		       "%s, for UCX since 1.18, which takes the first RoCE v2 GID of them on "
		       "each port. They stay right if its index moves",
		       exact ? "for this pod only: the addresses of its rails, because GIDs of "
			       "others may come first in their networks"
			     : "the networks of the rails")
		       ? -1
		       : 1;
}

static int warn_others(const struct env_plan *p, const char *remedy, struct env *out, struct err *e)
{
	struct ucx_rule rule = ucx_env_rule_of(p);

	for (size_t i = 0; i < p->n; i++) {
		const struct env_rail *r = &p->rail[i];
		const struct inv_gid *g = r->gid ? ucx_gid(r->rail->port, &rule) : NULL;
		char port[RAIL_PORT_LEN], ip[IP_STR_LEN];

		if (!g || g->here || g == r->gid)
			continue;
		if (env_warn(out, e,
			     "UCX has one GID index for all devices, and here they differ: on %s "
			     "it may take index %u (%s), which is not ours%s",
			     rail_port(r->rail, port), g->entry.index, env_format_gid(g, ip),
			     remedy))
			return -1;
	}
	return 0;
}

static int set_index(const struct env_plan *p, struct env *out, struct err *e)
{
	return env_add(out, e, (struct env_new){ "UCX_IB_GID_INDEX", env_text("%u", p->index) },
		       "the index of the own GID on every rail, for UCX%s",
		       p->options->ucx_from ? ", which would take another GID"
					    : "; it is right for every version");
}

static int set_gid(const struct env_plan *p, struct env *out, struct err *e)
{
	struct ucx_rule alone = ucx_env_rule_of(p);
	bool has_subnets = p->family == IP_V4 && lib_rule_holds(UCX_HAS_SUBNETS, p->options->ucx);
	/* One for all devices: an index of RoCE would be wrong for InfiniBand. */
	bool has_index = p->common && p->n_roce == p->n;
	int rc = 0;

	if (has_index && !p->options->ucx_from)
		return set_index(p, out, e);
	for (int exact = p->inventory->mode == RDMA_SHARED; has_subnets && rc == 0 && exact < 2;
	     exact++)
		rc = try_subnets(p, exact, out, e);
	if (rc < 0 || (rc && p->options->ucx_from))
		return rc < 0 ? -1 : 0;
	if (rc)
		return warn_others(p,
				   ". UCX_IB_ROCE_SUBNETS helps since UCX 1.18: with --ucx-version "
				   "this warning goes",
				   out, e);
	if (p->options->ucx_from && selects_rails(p, &alone))
		return 0;
	return has_index ? set_index(p, out, e) : warn_others(p, "", out, e);
}

int env_set_ucx(const struct env_plan *p, struct env *out, struct err *e)
{
	if (env_add(out, e, (struct env_new){ "UCX_NET_DEVICES", env_join(p, "") },
		    "the same ports, for UCX") ||
	    (p->n_roce && set_gid(p, out, e)))
		return -1;
	return env_number(out, "UCX_IB_TRAFFIC_CLASS", p->tc, e,
			  lib_rule_holds(UCX_TAKES_DRIVER_TC, p->options->ucx)
				  ? "the same, for UCX, which has the driver's class without it, "
				    "else 106"
				  : "the same, for UCX, which has 106 without it") ||
			       env_number(out, "UCX_IB_SL", p->options->sl, e, "the same, for UCX")
		       ? -1
		       : 0;
}
