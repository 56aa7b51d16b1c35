/* SPDX-License-Identifier: Apache-2.0 */
/* env_vars.c: the variables about HCAs and GIDs, and the warnings if none gives the right GID. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rdma/env/env_priv.h"
#include "rdma/env/nccl.h"

/* the limit of NCCL (MAX_IB_DEVS) */
#define NCCL_DEVICES_MAX 32

char *env_text(const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *text = n < 0 ? NULL : malloc((size_t)n + 1);

	if (text)
		(void)vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return text;
}

char *env_join(const struct env_plan *p, const char *prefix)
{
	char *text = malloc(strlen(prefix) + p->n * RAIL_PORT_LEN + 1), port[RAIL_PORT_LEN];

	if (!text)
		return NULL;

	char *end = stpcpy(text, prefix);

	for (size_t i = 0; i < p->n; i++) {
		if (i)
			*end++ = ',';
		end = stpcpy(end, rail_port(p->rail[i].rail, port));
	}
	return text;
}

int env_add(struct env *out, struct err *e, struct env_new n, const char *why, ...)
{
	struct env_var *v = &out->var[out->n_vars];
	va_list ap;

	if (!n.value)
		return err_nomem(e);
	if (out->n_vars == ENV_VARS_MAX) {
		free(n.value);
		return err_set(e, ERR_CONFIG, 0, "more than %d variables", ENV_VARS_MAX);
	}
	*v = (struct env_var){ .name = n.name, .value = n.value };
	out->n_vars++;
	va_start(ap, why);
	(void)vsnprintf(v->why, sizeof(v->why), why, ap);
	va_end(ap);
	return 0;
}

/* "net1 on mlx5_0:1, net2 on mlx5_1:1": the interfaces with their ports, as many as fit. */
static void name_rails(const struct env_plan *p, char *out, size_t size)
{
	char port[RAIL_PORT_LEN];
	size_t len = 0;

	*out = '\0';
	for (size_t i = 0; i < p->n && len < size; i++) {
		const struct rdma_rail *r = p->rail[i].rail;

		len += (size_t)snprintf(out + len, size - len, "%s%s on %s", i ? ", " : "",
					r->netdev ? r->netdev->link.name : "no interface",
					rail_port(r, port));
	}
}

static int set_hca(const struct env_plan *p, struct env *out, struct err *e)
{
	char rails[ENV_TEXT_LEN / 2];

	name_rails(p, rails, sizeof(rails));
	if (p->n > NCCL_DEVICES_MAX &&
	    env_warn(out, e, "%zu rails, of which NCCL uses %d", p->n, NCCL_DEVICES_MAX))
		return -1;
	return env_add(out, e, (struct env_new){ "NCCL_IB_HCA", env_join(p, "=") },
		       "the ports of this namespace's own rails: %s; with \"=\" names match whole, "
		       "without it mlx5_1 is mlx5_10 as well",
		       rails);
}

/* ---- GIDs ---- */

char *env_format_gid(const struct inv_gid *g, char out[IP_STR_LEN])
{
	return ip_format(gid_to_ip(&g->entry.gid), out);
}

static int set_index(const struct env_plan *p, struct env *out, struct err *e)
{
	char rail[RAIL_PORT_LEN], ip[IP_STR_LEN];
	const struct env_rail *first = p->rail;

	while (!first->gid)
		first++;
	return env_add(out, e, (struct env_new){ "NCCL_IB_GID_INDEX", env_text("%u", p->index) },
		       "index %u is the RoCE v2 GID of this namespace's own address on every rail "
		       "(%s on %s). It is valid while the interfaces exist; the next pod may have "
		       "another index",
		       p->index, env_format_gid(first->gid, ip), rail_port(first->rail, rail));
}

static struct nccl_rule rule_of(const struct env_plan *p, const struct ip_prefix *range)
{
	struct nccl_rule r = { .family = p->family, .version = GID_ROCE_V2 };

	r.has_range = range->len > 0;
	r.range = *range;
	return r;
}

static bool selects_own_gids(const struct env_plan *p, const struct ip_prefix *range)
{
	struct nccl_rule rule = rule_of(p, range);

	for (size_t i = 0; i < p->n; i++) {
		const struct env_rail *r = &p->rail[i];

		if (r->gid && nccl_gid_index(r->rail->port, &rule) != r->gid->entry.index)
			return false;
	}
	return true;
}

/* The smallest prefix that contains both. */
static struct ip_prefix covering_prefix(struct ip_prefix a, struct ip_prefix b)
{
	struct ip_prefix c = a;

	c.len = a.len < b.len ? a.len : b.len;
	while (c.len > 0 && !ip_in_prefix(c, b.addr))
		c.len--;
	return c;
}

struct ip_prefix env_network(const struct env_rail *r)
{
	struct ip a = gid_to_ip(&r->gid->entry.gid);
	const struct inv_netdev *d = r->rail->netdev;
	struct ip_prefix p = { a, (uint8_t)ip_bits(a.family) };

	for (size_t i = 0; d && i < d->n_addrs; i++)
		if (ip_equal(d->addr[i].addr, a))
			return d->addr[i];
	return p;
}

/* The range of the networks of all rails, or with exact of their addresses only. */
static struct ip_prefix range_of(const struct env_plan *p, bool exact)
{
	struct ip_prefix range = { .len = 0 };
	bool first = true;

	for (size_t i = 0; i < p->n; i++) {
		if (!p->rail[i].gid)
			continue;

		struct ip_prefix one = env_network(&p->rail[i]);

		if (exact)
			one.len = (uint8_t)ip_bits(p->family);
		range = first ? one : covering_prefix(range, one);
		first = false;
	}
	range.addr = ip_network(range);
	return range;
}

/* Warn for each rail where NCCL would still take another GID. */
static int warn_astray(const struct env_plan *p, const struct ip_prefix *range, struct env *out,
		       struct err *e)
{
	struct nccl_rule rule = rule_of(p, range);

	for (size_t i = 0; i < p->n; i++) {
		const struct env_rail *r = &p->rail[i];
		char port[RAIL_PORT_LEN], own[IP_STR_LEN], other[IP_STR_LEN] = "nothing";
		uint32_t taken = r->gid ? nccl_gid_index(r->rail->port, &rule) : 0;
		const struct inv_gid *g = inv_gid_at(r->rail->port, taken);

		if (!r->gid || taken == r->gid->entry.index)
			continue;
		if (g)
			(void)env_format_gid(g, other);
		if (env_warn(out, e,
			     "on %s NCCL will take GID index %u (%s) and not %u (%s). The rails "
			     "have different indices, and other pods have addresses in the same "
			     "range. Give each process one rail (--interface), or give the pod VFs",
			     rail_port(r->rail, port), taken, other, r->gid->entry.index,
			     env_format_gid(r->gid, own)))
			return -1;
	}
	return 0;
}

static int set_range(const struct env_plan *p, struct env *out, struct err *e)
{
	char text[PREFIX_STR_LEN];
	struct ip_prefix wide = range_of(p, false), exact = range_of(p, true);
	bool wide_is_right = selects_own_gids(p, &wide);
	const struct ip_prefix *range = wide_is_right ? &wide : &exact;

	if (!wide_is_right && !selects_own_gids(p, &exact) && warn_astray(p, &exact, out, e))
		return -1;
	/* The networks have no common prefix, so the range would contain all addresses. */
	if (range->len == 0)
		return 0;
	return env_add(out, e,
		       (struct env_new){ "NCCL_IB_ADDR_RANGE",
					 env_text("%s", ip_format_prefix(*range, text)) },
		       wide_is_right
			       ? "the networks of all rails; GIDs of other networks are left "
				 "alone"
			       : "the addresses of this pod's rails and as little else as can "
				 "be: in their networks GIDs of others come first");
}

static int set_auto(const struct env_plan *p, struct env *out, struct err *e)
{
	if (env_add(out, e, (struct env_new){ "NCCL_IB_ROCE_VERSION_NUM", env_text("2") },
		    "RoCE v2, which can be routed; NCCL_IB_GID_INDEX is not set because %s",
		    p->common ? "an index may move while the job runs"
			      : "the index differs from rail to rail") ||
	    env_add(out, e,
		    (struct env_new){ "NCCL_IB_ADDR_FAMILY",
				      env_text("%s", p->family == IP_V4 ? "AF_INET" : "AF_INET6") },
		    "every rail has an %s address", p->family == IP_V4 ? "IPv4" : "IPv6"))
		return -1;
	return set_range(p, out, e);
}

static bool range_suffices(const struct env_plan *p)
{
	struct ip_prefix wide = range_of(p, false), exact = range_of(p, true);

	return selects_own_gids(p, &wide) || selects_own_gids(p, &exact);
}

static bool is_above(const struct env_rail *r)
{
	return r->gid && r->rail->netdev && !r->rail->own;
}

/* The reason why this version of NCCL must not choose a GID by itself; NULL: it may. */
static const char *range_fault(const struct env_plan *p)
{
	struct lib_version v = p->options->nccl;

	if (!lib_rule_holds(NCCL_CHOOSES_GID, v))
		return "it has no NCCL_IB_ADDR_RANGE, which came with 2.21";
	for (size_t i = 0; i < p->n; i++)
		if (is_above(&p->rail[i]) && p->inventory->mode == RDMA_SHARED &&
		    lib_rule_holds(NCCL_ABORTS_ON_TYPE, v))
			return "it aborts in a pod with macvlan or ipvlan if it chooses a GID "
			       "itself: it reads the type of other pods' GIDs, which gives EINVAL "
			       "(fixed in 2.26.2)";
	return NULL;
}

int env_set_gids(const struct env_plan *p, struct env *out, struct err *e)
{
	const char *fault = range_fault(p);
	bool by_range = !fault && !p->options->pin_index && range_suffices(p);
	char text[LIB_VERSION_LEN];

	if (set_hca(p, out, e))
		return -1;
	if (!p->n_roce)
		return 0;
	/* An index may move while the job runs; family and range lead to the GID wherever it is. */
	if (p->common && !by_range)
		return set_index(p, out, e);
	if (fault)
		return env_warn(
			out, e,
			"the rails have different GID indices, and NCCL %s has one for all: "
			"%s. Use a newer NCCL, or give each process one rail (--interface)",
			lib_version_format(p->options->nccl, text), fault);
	return set_auto(p, out, e);
}
