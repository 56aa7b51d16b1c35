/* SPDX-License-Identifier: Apache-2.0 */
/* source.c: makes sources and sets of sources, and applies the policy of a source. Pure. */
#include "ipam/conf/source.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/guid.h"
#include "lib/base/hash.h"

static uint64_t hash_ip(uint64_t h, struct ip a)
{
	uint8_t bytes[16];
	size_t n = ip_to_bytes(a, bytes);

	return hash_add(h, bytes, n);
}

static int drop_address(struct source *s, struct ip a, struct err *e)
{
	return ranges_remove(&s->usable, (struct ip_range){ a, a }, e);
}

/* Equal sources have equal ids on every machine. */
void source_identify(struct source *s)
{
	uint64_t h = hash_ip(HASH_START + s->subnet.len, s->subnet.addr);

	for (size_t i = 0; i < s->usable.n; i++)
		h = hash_ip(hash_ip(h, s->usable.items[i].first), s->usable.items[i].last);
	(void)snprintf(s->id, sizeof(s->id), "%016lx", (unsigned long)h);
}

int source_finish(struct source *s, struct err *e)
{
	if (s->subnet.addr.family == IP_V4 && s->subnet.len < 31 &&
	    (drop_address(s, ip_network(s->subnet), e) || drop_address(s, ip_last(s->subnet), e)))
		return -1;
	/* The subnet-router anycast address: RFC 4291, 2.6.1. A /127 has none: RFC 6164. */
	if (s->subnet.addr.family == IP_V6 && s->subnet.len < 127 && !source_has_guids(s) &&
	    drop_address(s, ip_network(s->subnet), e))
		return -1;
	if (s->gateway.family && drop_address(s, s->gateway, e))
		return -1;
	if (s->usable.n == 0)
		return err_set(e, ERR_CONFIG, 0,
			       "no address is left after excludes, reserved, gateway, network and "
			       "broadcast");
	source_identify(s);
	return 0;
}

#define SOURCES_MAX 65536 /* of one address; pools of a configuration */

void source_clear(struct source *s)
{
	ranges_clear(&s->usable);
}

int sources_add(struct source_sets *sets, size_t set, struct source *s, struct err *e)
{
	if (set == SOURCE_SETS_MAX) {
		source_clear(s);
		return err_set(e, ERR_CONFIG, 0, "more than %d addresses for one interface",
			       SOURCE_SETS_MAX);
	}
	struct source_set *to = &sets->sets[set];
	if (ARRAY_GROW(to->items, to->n, SOURCES_MAX, "ranges for one address", e)) {
		source_clear(s);
		return -1;
	}
	to->items[to->n++] = *s;
	*s = (struct source){ 0 };
	if (set == sets->n)
		sets->n++;
	return 0;
}

int sources_keep(struct source_sets *sets, struct json *tree, struct err *e)
{
	if (ARRAY_GROW(sets->trees, sets->n_trees, SOURCES_MAX, "pools", e)) {
		json_free(tree);
		return -1;
	}
	sets->trees[sets->n_trees++] = tree;
	return 0;
}

void sources_clear(struct source_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t j = 0; j < sets->sets[i].n; j++)
			source_clear(&sets->sets[i].items[j]);
		free(sets->sets[i].items);
	}
	for (size_t i = 0; i < sets->n_trees; i++)
		json_free(sets->trees[i]);
	free(sets->trees);
	*sets = (struct source_sets){ 0 };
}

bool source_has_guids(const struct source *s)
{
	return guid_is_network(s->subnet);
}

const struct source *sources_find(const struct source_set *set, struct ip ip)
{
	for (size_t i = 0; i < set->n; i++) {
		if (ranges_contain(&set->items[i].usable, ip))
			return &set->items[i];
	}
	return NULL;
}

static bool source_is_listed(const struct json *names, const char *ns)
{
	json_each (item, names) {
		if (strcmp(json_str(item), ns) == 0)
			return true;
	}
	return false;
}

int policy_allows(const struct policy *p, const char *label, const char *ns, uint64_t held,
		  struct err *e)
{
	if (p->namespaces && !source_is_listed(p->namespaces, ns))
		return err_set(e, ERR_FORBIDDEN, 0,
			       "%s: namespace \"%.64s\" may not use it; it is not in the pool's "
			       "namespaces",
			       label, ns);
	const struct json *quota = p->quota;
	if (quota && json_type(quota) == JSON_OBJECT) {
		quota = json_get(p->quota, ns);
		if (!quota)
			quota = json_get(p->quota, "*"); /* "default" is a namespace */
	}
	if (quota && (double)held >= json_num(quota))
		return err_set(e, ERR_FORBIDDEN, 0,
			       "%s: namespace \"%.64s\" holds %lu address%s and its quota is %.0f",
			       label, ns, (unsigned long)held, held == 1 ? "" : "es",
			       json_num(quota));
	return 0;
}

int policy_allows_fixed(const struct policy *p, const char *label, const char *ns, struct err *e)
{
	if (!p->fixed_namespaces || source_is_listed(p->fixed_namespaces, ns))
		return 0;
	err_set(e, ERR_FORBIDDEN, 0,
		"%s: namespace \"%.64s\" may not request a certain address; it is not in the "
		"pool's "
		"fixedNamespaces",
		label, ns);
	return err_hint(e, "start the pod without a requested address, or add the namespace there");
}
