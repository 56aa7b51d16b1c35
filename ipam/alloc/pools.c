/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c: reads the pools of a configuration, and cuts this node's slices out of them. A pattern
 * selects all pools of such a name. Pools for other nodes do not count. With matchMaster it
 * keeps only the pools of the network that the node is on.
 */
#include "ipam/alloc/alloc.h"

#include <fnmatch.h>
#include <stdio.h>

#include "ipam/conf/labels.h"
#include "ipam/conf/pool.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/lease/label_db.h"
#include "ipam/lease/pool_db.h"
#include "ipam/conf/node_file.h"
#include "lib/base/text.h"

#define SHOWN_MAX 8 /* subnets in an error */

struct load {
	struct lease_db *l;
	const struct ipam_conf *conf;
	struct source_sets sets;
	struct json *labels; /* of this node; NULL: not read yet */
	struct text others;  /* the first pool for other nodes, as a sentence */
	struct text subnets; /* pools that the master is not on */
	size_t n_subnets;
	bool seen[2], found[2]; /* of IPv4 and IPv6: a pool, one that is used */
	bool elsewhere[2];      /* one for other nodes */
	char *missing;          /* output */
};

static void pools_load_clear(struct load *s)
{
	sources_clear(&s->sets);
	json_free(s->labels);
	text_clear(&s->others);
	text_clear(&s->subnets);
}

/* This node's part of a pool with slices. Only here ADD reads the number of the node. */
static int pools_cut_slice(struct lease_db *l, const char *name, struct source *s, struct err *e)
{
	uint32_t number;
	int rc = node_file_number(l->ipam->ctx, l->ipam->node, &number, e);

	if (rc)
		(void)err_wrap(e, "pool %.100s", name);
	else
		rc = pool_slice_cut(s, number, e);
	if (rc)
		source_clear(s);
	return rc;
}

/* ---- the labels of the node ---- */

static void explain_elsewhere(struct load *d, const char *name, const struct json *nodes)
{
	text_addf(&d->others, "pool %.100s is for nodes with ", name);
	selector_print(nodes, &d->others);
	text_addf(&d->others, "; node %.64s has ", d->l->ipam->node);
	labels_print_asked(nodes, d->labels, &d->others);
}

static int load_labels(struct load *d, struct err *e)
{
	auto_json struct json *cluster = NULL;
	const struct ipam *m = d->l->ipam;

	return label_db_load(d->l, &cluster, e) ||
			       node_labels_load(m->ctx, m->node, cluster, &d->labels, e)
		       ? -1
		       : 0;
}

/* 1: the pool is for other nodes. */
static int check_nodes(struct load *d, const char *name, const struct source *s, struct err *e)
{
	bool v6 = s->subnet.addr.family == IP_V6;

	if (!s->nodes)
		return 0;
	if (!d->labels && load_labels(d, e))
		return err_wrap(e, "pool %.100s", name);
	if (selector_matches(s->nodes, d->labels))
		return 0;
	d->seen[v6] = d->elsewhere[v6] = true;
	if (!d->others.len)
		explain_elsewhere(d, name, s->nodes);
	return 1;
}

static int no_node(struct load *d, enum ip_family family, struct err *e)
{
	if (d->others.failed)
		return err_nomem(e);
	err_set(e, ERR_CONFIG, 0, "ipam.pools: no IPv%d pool is for this node: %.600s", (int)family,
		d->others.s);
	return err_hint(e, "if it should be: `railctl ipam node label NAME=VALUE` on this node, a "
			   "label of its Node in Kubernetes, or \"nodes\" of the pool");
}

/* ---- the network of the node ---- */

static bool master_is_in(const struct ipam_master *m, struct ip_prefix subnet)
{
	for (size_t i = 0; i < m->n; i++) {
		if (ip_in_prefix(subnet, m->addrs[i].addr))
			return true;
	}
	return false;
}

/* True: the pool is used. Without a master (STATUS, import) every pool counts. */
static bool pools_keep(struct load *d, const char *name, const struct source *s)
{
	bool v6 = s->subnet.addr.family == IP_V6;
	char text[PREFIX_STR_LEN];

	d->seen[v6] = true;
	if (!d->conf->master || master_is_in(d->conf->master, s->subnet)) {
		d->found[v6] = true;
		return true;
	}
	if (d->n_subnets++ < SHOWN_MAX)
		text_addf(&d->subnets, "%s%.100s %s", d->subnets.len ? ", " : "", name,
			  ip_format_prefix(s->subnet, text));
	return false;
}

static int no_match(struct load *d, enum ip_family family, struct err *e)
{
	const struct ipam_master *m = d->conf->master;
	auto_text struct text addrs = { 0 };
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; i < m->n; i++)
		text_addf(&addrs, "%s%s", i ? ", " : "", ip_format_prefix(m->addrs[i], text));
	if (addrs.failed || d->subnets.failed)
		return err_nomem(e);
	err_set(e, ERR_CONFIG, 0,
		"ipam.matchMaster: no IPv%d pool has a subnet of master %s (%.200s)", (int)family,
		m->name, addrs.s ? addrs.s : "it has no address");
	return err_hint(e, "pools: %.400s%s", d->subnets.s ? d->subnets.s : "none",
			d->n_subnets > SHOWN_MAX ? ", ..." : "");
}

static int check_match(struct load *d, struct err *e)
{
	for (int v6 = 0; v6 <= 1; v6++) {
		enum ip_family family = v6 ? IP_V6 : IP_V4;

		if (!d->seen[v6] || d->found[v6])
			continue;
		if (d->elsewhere[v6] && !d->n_subnets)
			return no_node(d, family, e);
		return no_match(d, family, e);
	}
	return 0;
}

/* ---- one pool ---- */

/* 1: the pool is for other nodes, or of another network. */
static int pools_load_pool(struct load *d, const char *name, struct source *out, struct err *e)
{
	struct pool_text def = { .tree = NULL };
	const char *text;
	struct key k;

	key_of_pool(&k, name);
	if (lease_db_get(d->l, k.s, &text, e))
		return -1;
	if (!text) {
		(void)pool_missing(name, d->l->ipam->node, e);
		e->code = ERR_CONFIG;
		if (d->missing)
			(void)snprintf(d->missing, KEY_NAME_MAX + 1, "%s", name);
		return -1;
	}
	if (pool_parse(text, k.s, &def, e) || sources_keep(&d->sets, def.tree, e)) {
		e->code = e->code == ERR_NOMEM ? ERR_NOMEM : ERR_STORE;
		return -1;
	}
	if (pool_text_decode(name, &def, out, e))
		return -1;

	int rc = check_nodes(d, name, out, e);
	if (rc || !pools_keep(d, name, out)) {
		source_clear(out);
		return rc ? rc : 1;
	}
	/* STATUS: another leaf group may have no slice for this node */
	if (!out->slice.size || (d->conf->match_master && !d->conf->master))
		return 0;
	return pools_cut_slice(d->l, name, out, e);
}

static bool same_set(const struct source *a, const struct source *b)
{
	return a->subnet.addr.family == b->subnet.addr.family && a->group == b->group;
}

static int pools_add_pool(struct load *d, const char *name, unsigned group, struct err *e)
{
	struct source s = { .label = "" };
	size_t set = 0;
	int rc = pools_load_pool(d, name, &s, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	s.group = group;
	while (set < d->sets.n && !same_set(&d->sets.sets[set].items[0], &s))
		set++;
	return sources_add(&d->sets, set, &s, e);
}

/* ---- names ---- */

static bool was_before(const struct ipam_conf *conf, size_t end, const char *name)
{
	for (size_t i = 0; i < end; i++) {
		if (conf->group[i] == conf->group[end] && fnmatch(conf->pools[i], name, 0) == 0)
			return true;
	}
	return false;
}

/* All pools with a name like this, in the order of the names; each pool once. */
static int add_matching(struct load *d, size_t i, struct err *e)
{
	const char *pattern = d->conf->pools[i];
	auto_keys struct keys all = { .n = 0 };
	struct key prefix = { "d/" };
	bool any = false;

	if (pool_db_keys(d->l, &prefix, &all, e))
		return -1;
	for (size_t k = 0; k < all.n; k++) {
		const char *name = all.items[k].s + 2;

		if (fnmatch(pattern, name, 0) != 0)
			continue;
		any = true;
		if (!was_before(d->conf, i, name) && pools_add_pool(d, name, d->conf->group[i], e))
			return -1;
	}
	if (any)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "ipam.pools: no pool of node %.64s has a name like \"%.100s\"",
		       d->l->ipam->node, pattern);
}

/* Each group needs pools of its own: it is an interface. */
static int end_group(struct load *d, struct err *e)
{
	if (check_match(d, e))
		return -1;
	for (int v6 = 0; v6 <= 1; v6++)
		d->seen[v6] = d->found[v6] = d->elsewhere[v6] = false;
	text_clear(&d->others);
	text_clear(&d->subnets);
	d->n_subnets = 0;
	return 0;
}

int alloc_pools(struct lease_db *l, const struct ipam_conf *conf, struct source_sets *out,
		char *missing, struct err *e)
{
	auto_clean(pools_load_clear) struct load d = { .l = l, .conf = conf };

	d.missing = missing;
	for (size_t i = 0; i < conf->n_pools; i++) {
		if (i && conf->group[i] != conf->group[i - 1] && end_group(&d, e))
			return -1;
		if (ipam_conf_is_pattern(conf->pools[i])) {
			if (add_matching(&d, i, e))
				return -1;
		} else if (!was_before(conf, i, conf->pools[i]) &&
			   pools_add_pool(&d, conf->pools[i], conf->group[i], e)) {
			return -1;
		}
	}
	if (check_match(&d, e))
		return -1;
	*out = d.sets;
	d.sets = (struct source_sets){ .n = 0 };
	return 0;
}

size_t alloc_describe(const struct source *s, char *out, size_t size)
{
	u128 capacity = ranges_capacity(&s->usable);
	char n[32];
	int len;

	if (s->blocks.shared)
		return (size_t)snprintf(out, size, "%s (blocks of this node)", s->label);
	(void)snprintf(n, sizeof(n), "%llu", (unsigned long long)capacity);
	len = snprintf(out, size, "%s (%s address%s)", s->label,
		       capacity > UINT64_MAX ? "more than 2^64" : n, capacity == 1 ? "" : "es");
	return (size_t)len;
}
