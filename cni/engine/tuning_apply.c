/* SPDX-License-Identifier: Apache-2.0 */
/* tuning_apply.c: gives the pod's interface its settings, and compares them. */
#include <errno.h>
#include <string.h>

#include "cni/engine/tuning.h"
#include "lib/device/ethtool.h"
#include "lib/device/sysfs.h"

/* The keys of the configuration, for errors. */
static const char *const number_keys[LINK_NUMBERS] = {
	[LINK_TXQLEN] = "txQueueLen",           [LINK_GSO_SIZE] = "gso.maxSize",
	[LINK_GRO_SIZE] = "gro.maxSize",        [LINK_GSO_V4_SIZE] = "gso.ipv4MaxSize",
	[LINK_GRO_V4_SIZE] = "gro.ipv4MaxSize",
};

/* ---- sysctl variables ---- */

static int explain_sysctl(const struct tuning_sysctl *s, struct err *e)
{
	if (e->errnum == ENOENT)
		err_hint(e, "this kernel has no such variable for the interface");
	return err_wrap(e, "sysctl.%s: \"%s\"", s->key, s->value);
}

int tuning_set_sysctls(const struct tuning_conf *c, const char *proc, const char *ifname,
		       struct err *e)
{
	char path[TUNING_PATH_LEN], now[TUNING_VALUE_LEN];
	struct err ignored;

	for (size_t i = 0; i < c->n_sysctls; i++) {
		const struct tuning_sysctl *s = &c->sysctl[i];

		if (tuning_path(s->key, ifname, path))
			return err_set(e, ERR_FIELD, EINVAL, "sysctl.%s of interface \"%.16s\"",
				       s->key, ifname);
		if (sysfs_read(proc, path, now, sizeof(now), &ignored) == 0 &&
		    strcmp(now, s->value) == 0)
			continue;
		if (sysfs_write(proc, path, s->value, e))
			return explain_sysctl(s, e);
	}
	return 0;
}

static int check_sysctls(const struct tuning_conf *c, const struct tuning_place *at, struct err *e)
{
	char path[TUNING_PATH_LEN], now[TUNING_VALUE_LEN];

	for (size_t i = 0; i < c->n_sysctls; i++) {
		const struct tuning_sysctl *s = &c->sysctl[i];

		if (tuning_path(s->key, at->ifname, path))
			return err_set(e, ERR_FIELD, EINVAL, "sysctl.%s of interface \"%.16s\"",
				       s->key, at->ifname);
		if (sysfs_read(at->proc, path, now, sizeof(now), e))
			return explain_sysctl(s, e);
		if (strcmp(now, s->value) != 0)
			return err_set(e, ERR_STATE, 0,
				       "interface %s: sysctl.%s is \"%.64s\", configured is \"%s\"",
				       at->ifname, s->key, now, s->value);
	}
	return 0;
}

/* ---- numbers of the link ---- */

struct refusal {
	const struct tuning_conf *c;
	struct err *e; /* the first one */
	bool any;
};

static void tuning_apply_note_refusal(const char *what, const struct err *why, void *arg)
{
	struct refusal *r = arg;

	if (r->any)
		return;
	r->any = true;
	*r->e = *why;
	for (size_t i = 0; i < LINK_NUMBERS; i++)
		if (strcmp(what, link_number_name((enum link_number)i)) == 0)
			(void)err_wrap(r->e, "%s: %u", number_keys[i], r->c->number[i]);
}

static int tuning_apply_refuse_unknown(const struct tuning_conf *c, unsigned has, struct err *e)
{
	for (size_t i = 0; i < LINK_NUMBERS; i++)
		if (c->has & ~has & 1u << i)
			return err_set(e, ERR_CONFIG, EOPNOTSUPP,
				       "%s: %u: this kernel has no such setting", number_keys[i],
				       c->number[i]);
	return 0;
}

static int set_numbers(const struct tuning_conf *c, const struct tuning_place *at, struct err *e)
{
	struct refusal r = { .c = c, .e = e };
	struct link_settings is, want;

	if (!c->has)
		return 0;
	if (nl_settings_get(at->pod_nl, at->ifindex, &is, e) ||
	    tuning_apply_refuse_unknown(c, is.has, e))
		return -1;
	want = is;
	for (size_t i = 0; i < LINK_NUMBERS; i++) {
		if (!(c->has & 1u << i))
			continue;
		want.number[i] = c->number[i];
		/* Set also what stands already: another one of them may change it on the way. */
		is.number[i] = ~c->number[i];
	}
	nl_settings_set(at->pod_nl, at->ifindex,
			&(struct settings_change){ &is, &want, tuning_apply_note_refusal, &r });
	return r.any ? -1 : 0;
}

static int check_numbers(const struct tuning_conf *c, const struct tuning_place *at, struct err *e)
{
	struct link_settings is;

	if (!c->has)
		return 0;
	if (nl_settings_get(at->pod_nl, at->ifindex, &is, e))
		return -1;
	for (size_t i = 0; i < LINK_NUMBERS; i++)
		if (c->has & 1u << i && is.number[i] != c->number[i])
			return err_set(e, ERR_STATE, 0, "interface %s: %s is %u, configured is %u",
				       at->ifname, number_keys[i], is.number[i], c->number[i]);
	return 0;
}

/* ---- rings ---- */

/* One of the two, for errors. */
struct ring {
	const char *key;
	uint32_t want, is, max;
};

struct ring_pair {
	struct ring ring[2];
};

static struct ring_pair pair_of(const struct tuning_conf *c, const struct ethtool_rings *is)
{
	return (struct ring_pair){ { { "rings.rx", c->rx_ring, is->rx, is->rx_max },
				     { "rings.tx", c->tx_ring, is->tx, is->tx_max } } };
}

static int read_rings(const struct tuning_conf *c, const struct tuning_place *at,
		      struct ring_pair *out, struct err *e)
{
	struct ethtool_rings is;

	if (ethtool_get_rings(at->ifname, &is, e))
		return err_wrap(e, "rings");
	*out = pair_of(c, &is);
	return 0;
}

static int refuse_more_than_max(const struct ring_pair *p, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->ring); i++)
		if (p->ring[i].want > p->ring[i].max)
			return err_set(e, ERR_CONFIG, 0,
				       "%s: %u is more than the %u that the driver can have",
				       p->ring[i].key, p->ring[i].want, p->ring[i].max);
	return 0;
}

/* CHECK compares numbers, so that one which the driver rounds would never be right. */
static int refuse_rounded(const struct ring_pair *p, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->ring); i++)
		if (p->ring[i].want && p->ring[i].want != p->ring[i].is)
			return err_set(e, ERR_CONFIG, 0,
				       "%s: the driver rounds %u to %u: write that number",
				       p->ring[i].key, p->ring[i].want, p->ring[i].is);
	return 0;
}

static int set_rings(const struct tuning_conf *c, const struct tuning_place *at, struct err *e)
{
	struct ring_pair p;

	if (!c->rx_ring && !c->tx_ring)
		return 0;
	if (read_rings(c, at, &p, e) || refuse_more_than_max(&p, e))
		return -1;
	if (ethtool_set_rings(at->ifname, c->rx_ring, c->tx_ring, e))
		return err_wrap(e, "rings.rx: %u, rings.tx: %u", c->rx_ring, c->tx_ring);
	return read_rings(c, at, &p, e) || refuse_rounded(&p, e) ? -1 : 0;
}

static int tuning_apply_check_rings(const struct tuning_conf *c, const struct tuning_place *at,
				    struct err *e)
{
	struct ring_pair p;

	if (!c->rx_ring && !c->tx_ring)
		return 0;
	if (read_rings(c, at, &p, e))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(p.ring); i++)
		if (p.ring[i].want && p.ring[i].want != p.ring[i].is)
			return err_set(e, ERR_STATE, 0, "interface %s: %s is %u, configured is %u",
				       at->ifname, p.ring[i].key, p.ring[i].is, p.ring[i].want);
	return 0;
}

/* ---- in the pod ---- */

/* ethtool's ioctl finds an interface by its name where the caller is. */
struct inside {
	const struct tuning_conf *c;
	const struct tuning_place *at;
};

static int apply_inside(void *arg, struct err *e)
{
	const struct inside *x = arg;

	return set_rings(x->c, x->at, e) || tuning_set_sysctls(x->c, x->at->proc, x->at->ifname, e)
		       ? -1
		       : 0;
}

static int check_inside(void *arg, struct err *e)
{
	const struct inside *x = arg;

	return tuning_apply_check_rings(x->c, x->at, e) || check_sysctls(x->c, x->at, e) ? -1 : 0;
}

static int in_pod(netns_fn fn, const struct tuning_conf *c, const struct tuning_place *at,
		  struct err *e)
{
	if (!c->n_sysctls && !c->rx_ring && !c->tx_ring)
		return 0;
	return netns_run(at->pod, at->host, fn, &(struct inside){ c, at }, e);
}

int tuning_apply(const struct tuning_conf *c, const struct tuning_place *at, struct err *e)
{
	return set_numbers(c, at, e) || in_pod(apply_inside, c, at, e) ? -1 : 0;
}

int tuning_check(const struct tuning_conf *c, const struct tuning_place *at, struct err *e)
{
	return check_numbers(c, at, e) || in_pod(check_inside, c, at, e) ? -1 : 0;
}
