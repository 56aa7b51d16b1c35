/* SPDX-License-Identifier: Apache-2.0 */
/* vars.c: the variables about HCAs and GIDs, and the warnings if none gives the right GID. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rdma/env/priv.h"
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
static void vars_name_rails(const struct env_plan *p, char *out, size_t size)
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

	vars_name_rails(p, rails, sizeof(rails));
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

static struct nccl_rule vars_rule_of(const struct env_plan *p, const struct ip_prefix *range)
{
	struct nccl_rule r = { .family = p->family, .version = GID_ROCE_V2 };

	r.has_range = range->len > 0;
	r.range = *range;
	return r;
}

/* NCCL finds the own GID of every rail, and its version does not abort on the way. */
static bool is_right(const struct env_plan *p, const struct ip_prefix *range)
{
	bool aborts =
		p->options->nccl_from && lib_rule_holds(NCCL_ABORTS_ON_TYPE, p->options->nccl);
	struct nccl_rule rule = vars_rule_of(p, range);

	for (size_t i = 0; i < p->n; i++) {
		const struct env_rail *r = &p->rail[i];

		if (r->gid && (nccl_gid_index(r->rail->port, &rule) != r->gid->entry.index ||
			       (aborts && nccl_reads_unknown(r->rail->port, &rule))))
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
static int warn_wrong_gid(const struct env_plan *p, const struct ip_prefix *range, struct env *out,
			  struct err *e)
{
	struct nccl_rule rule = vars_rule_of(p, range);

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

/* In mode shared the next pod may get a GID in the same network, at an index that comes first. */
static struct ip_prefix best_range(const struct env_plan *p)
{
	struct ip_prefix wide = range_of(p, false), exact = range_of(p, true);

	if (p->inventory->mode == RDMA_SHARED && is_right(p, &exact))
		return exact;
	return is_right(p, &wide) ? wide : exact;
}

static int set_range(const struct env_plan *p, struct env *out, struct err *e)
{
	char text[PREFIX_STR_LEN];
	struct ip_prefix range = best_range(p), wide = range_of(p, false);

	if (!is_right(p, &range) && warn_wrong_gid(p, &range, out, e))
		return -1;
	/* The networks have no common prefix, so the range would contain all addresses. */
	if (range.len == 0)
		return 0;
	return env_add(out, e,
		       (struct env_new){ "NCCL_IB_ADDR_RANGE",
					 env_text("%s", ip_format_prefix(range, text)) },
		       range.len == wide.len
			       ? "the networks of all rails; GIDs of other networks are left "
				 "alone"
			       : "for this pod only: the addresses of its rails and as little "
				 "else as can be, because GIDs of others are in their networks");
}

/* "; the version of NCCL is not known", or which it is. */
static const char *version_of(const struct env_plan *p, char out[ENV_TEXT_LEN / 4])
{
	char version[LIB_VERSION_LEN];

	if (!p->options->nccl_from)
		return "; the version of NCCL is not known (--nccl-version)";
	(void)snprintf(out, ENV_TEXT_LEN / 4, "; for NCCL %s (%s)",
		       lib_version_format(p->options->nccl, version), p->options->nccl_from);
	return out;
}

static int set_auto(const struct env_plan *p, struct env *out, struct err *e)
{
	char version[ENV_TEXT_LEN / 4];

	if (env_add(out, e, (struct env_new){ "NCCL_IB_ROCE_VERSION_NUM", env_text("2") },
		    "RoCE v2, which can be routed; NCCL_IB_GID_INDEX is not set because %s%s",
		    !p->common          ? "the index differs from rail to rail"
		    : p->n_roce != p->n ? "ports of InfiniBand have other GIDs at that index"
					: "an index may move while the job runs",
		    version_of(p, version)) ||
	    env_add(out, e,
		    (struct env_new){ "NCCL_IB_ADDR_FAMILY",
				      env_text("%s", p->family == IP_V4 ? "AF_INET" : "AF_INET6") },
		    "every rail has an %s address", p->family == IP_V4 ? "IPv4" : "IPv6"))
		return -1;
	return set_range(p, out, e);
}

/* The reason why this version of NCCL cannot choose a GID itself; NULL: it may. */
static const char *range_fault(const struct env_plan *p)
{
	struct ip_prefix exact = range_of(p, true);
	struct nccl_rule rule = vars_rule_of(p, &exact);

	if (!p->options->nccl_from)
		return NULL;
	if (!lib_rule_holds(NCCL_CHOOSES_GID, p->options->nccl))
		return "it has no NCCL_IB_ADDR_RANGE, which came with 2.21";
	for (size_t i = 0; i < p->n; i++)
		if (p->rail[i].gid && lib_rule_holds(NCCL_ABORTS_ON_TYPE, p->options->nccl) &&
		    nccl_reads_unknown(p->rail[i].rail->port, &rule))
			return "it ends the job if it must compare a GID whose type sysfs does not "
			       "show (fixed in 2.26.2)";
	return NULL;
}

/*
 * The reason for an index although a range would be right; NULL: the range is better. An index is
 * right for every version. A range is right for newer ones, also if the index moves. A network is
 * not enough where other pods may get GIDs in it.
 */
static const char *index_reason(const struct env_plan *p)
{
	struct ip_prefix wide = range_of(p, false), exact = range_of(p, true);
	bool known = p->options->nccl_from, exclusive = p->inventory->mode == RDMA_EXCLUSIVE;
	bool suffices = is_right(p, &wide) || is_right(p, &exact);
	const char *fault = range_fault(p);

	if (fault)
		return fault;
	if (p->options->pin_index)
		return "--pin-index asks for it";
	if (!suffices)
		return "GIDs of others come first in every range";
	/* Ports of InfiniBand have only the first index. */
	if (p->n_roce != p->n)
		return NULL;
	if (!known)
		return "an index is right for every version";
	if (exclusive ? is_right(p, &wide) : exact.len == ip_bits(p->family) && is_right(p, &exact))
		return NULL;
	return "in mode shared other pods may get GIDs in the same range";
}

static int vars_set_index(const struct env_plan *p, const char *reason, struct env *out,
			  struct err *e)
{
	char rail[RAIL_PORT_LEN], ip[IP_STR_LEN], version[ENV_TEXT_LEN / 4];
	const struct env_rail *first = p->rail;

	while (!first->gid)
		first++;
	return env_add(out, e, (struct env_new){ "NCCL_IB_GID_INDEX", env_text("%u", p->index) },
		       "index %u is the RoCE v2 GID of this namespace's own address on every rail "
		       "(%s on %s). It is valid while the interfaces exist; the next pod may have "
		       "another index. Not a range, because %s%s",
		       p->index, env_format_gid(first->gid, ip), rail_port(first->rail, rail),
		       reason, version_of(p, version));
}

int env_set_gids(const struct env_plan *p, struct env *out, struct err *e)
{
	char text[LIB_VERSION_LEN];
	const char *reason;

	if (set_hca(p, out, e))
		return -1;
	if (!p->n_roce)
		return 0;
	reason = index_reason(p);
	if (p->common && reason)
		return vars_set_index(p, reason, out, e);
	if (range_fault(p))
		return env_warn(
			out, e,
			"the rails have different GID indices, and NCCL %s has one for all: "
			"%s. Use a newer NCCL, or give each process one rail (--interface)",
			lib_version_format(p->options->nccl, text), range_fault(p));
	return set_auto(p, out, e);
}
