/* SPDX-License-Identifier: Apache-2.0 */
/* alloc_pools.c: reads the pools of a configuration, and cuts this node's slices out of them. */
#include "ipam/alloc/alloc.h"

#include "ipam/conf/pool.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/node/node_file.h"

/* This node's part of a pool with slices. Only here ADD reads the number of the node. */
static int cut_slice(struct lease_db *l, const char *name, struct source *s, struct err *e)
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

static int load_pool(struct lease_db *l, const char *name, struct source_sets *sets,
		     struct source *out, struct err *e)
{
	struct pool_text def = { .tree = NULL };
	const char *text;
	struct key k;

	key_of_pool(&k, name);
	if (lease_db_get(l, k.s, &text, e))
		return -1;
	if (!text) {
		(void)pool_missing(name, l->ipam->node, e);
		e->code = ERR_CONFIG;
		return -1;
	}
	if (pool_parse(text, k.s, &def, e) || sources_keep(sets, def.tree, e)) {
		e->code = e->code == ERR_NOMEM ? ERR_NOMEM : ERR_STORE;
		return -1;
	}
	if (pool_decode(name, def.def, out, e))
		return -1;
	out->blocks.uid = def.uid;
	return out->slice.size ? cut_slice(l, name, out, e) : 0;
}

int alloc_pools(struct lease_db *l, const struct ipam_conf *conf, struct source_sets *out,
		struct err *e)
{
	auto_sources struct source_sets sets = { .n = 0 };

	for (size_t i = 0; i < conf->n_pools; i++) {
		struct source s = { .label = "" };
		size_t set = 0;

		if (load_pool(l, conf->pools[i], &sets, &s, e))
			return -1;
		while (set < sets.n &&
		       sets.sets[set].items[0].subnet.addr.family != s.subnet.addr.family)
			set++;
		if (sources_add(&sets, set, &s, e))
			return -1;
	}
	*out = sets;
	sets = (struct source_sets){ .n = 0 };
	return 0;
}
