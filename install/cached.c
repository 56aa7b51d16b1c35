/* SPDX-License-Identifier: Apache-2.0 */
/* cached.c: reads libcni's files, and looks for our programs in the configurations that they have.
 */
#include "install/cached.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ipam/peers/cnicache.h"
#include "lib/base/hash.h"

struct look {
	const char *folder;
	const struct receipt *ours;
	const struct recorded *recorded;
	struct needed *to;
};

uint64_t recorded_key(const struct record_key *k)
{
	uint64_t h = HASH_START;

	h = hash_add(h, k->network, strlen(k->network) + 1);
	h = hash_add(h, k->container, strlen(k->container) + 1);
	return hash_add_text(h, k->ifname);
}

/* ---- the programs of a configuration ---- */

static bool add_program(const struct look *l, const char *type)
{
	if (!receipt_find(l->ours, type))
		return false;
	needed_add_program(l->to, type);
	return true;
}

/*
 * A plugin may pass a configuration on: "ipam", "delegates" of Multus, "delegate" of flannel. Any
 * object with our type counts, wherever it is: to keep a program in vain does no harm.
 */
static bool add_programs(const struct look *l, const struct json *conf)
{
	bool any = json_type(conf) == JSON_OBJECT && add_program(l, json_text(conf, "type"));

	json_each (member, conf)
		any |= add_programs(l, member);
	return any;
}

/* ---- one file ---- */

static bool cached_has_record(const struct look *l, const struct cnicache_entry *x)
{
	const struct record_key key = { x->network, x->container, x->ifname };
	uint64_t h = recorded_key(&key);

	for (size_t i = 0; i < l->recorded->n; i++) {
		if (l->recorded->key[i] == h)
			return true;
	}
	return false;
}

static void cached_add_unknown(const struct look *l, const char *name, const struct err *why)
{
	char what[320];

	(void)snprintf(what, sizeof(what), "%s/%.200s (%.80s)", l->folder, name, why->msg);
	needed_add_all(l->to, what);
	needed_add_cached(l->to, what);
}

static int cached_look_at(const struct cnicache_file *f, void *arg, struct err *e)
{
	struct look *l = arg;
	struct cnicache_entry who = { .file = "" };
	auto_json struct json *config = NULL;
	struct err why;
	char what[320];

	if (!f->text) {
		if (f->why->errnum != ENOENT) /* else its DEL has ended */
			cached_add_unknown(l, f->name, f->why);
		return 0;
	}
	if (cnicache_config(f->text, f->len, &config, &why)) {
		if (why.code == ERR_NOMEM)
			return err_nomem(e);
		cached_add_unknown(l, f->name, &why);
		return 0;
	}
	if (!add_programs(l, config) ||
	    (cnicache_parse(f->text, f->len, &who) == 0 && cached_has_record(l, &who)))
		return 0;
	(void)snprintf(what, sizeof(what), "%s/%.200s", l->folder, f->name);
	needed_add_cached(l->to, what);
	return 0;
}

int cached_load(const struct ctx *ctx, const struct receipt *ours, const struct recorded *recorded,
		struct needed *x, struct err *e)
{
	static const char *const folders[] = { CNICACHE_RUNTIME, CNICACHE_MULTUS };
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		struct look l = { folders[i], ours, recorded, x };
		int rc = cnicache_each(ctx, folders[i], cached_look_at, &l, e);

		if (rc < 0)
			return -1;
		any |= rc == 0;
	}
	x->no_cache = !any;
	x->cni_dir = ctx->cni_dir;
	return 0;
}
