/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.c: checks first, then rewrites all records of the pool that name a source. */
#include "ipam/lease/adopt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/lease/block_index.h"
#include "ipam/lease/pool_db.h"
#include "ipam/conf/node_file.h"
#include "lib/base/array.h"

#define BLOCKS_MAX (1u << 20)

/* A block with leases of this node. */
struct adopted {
	struct ip start;
	uint64_t held, cooling, resting; /* resting: with the cooling ones */
};

struct job {
	struct pool_adopt *adopt;
	struct source whole; /* by the cluster's definition */
	char scope[KEY_SCOPE_MAX];
	struct adopted *blocks; /* in order of addresses; owned */
	size_t n;
};

/* ---- leases of others in the subnet ---- */

struct foreign {
	const struct job *job;
	struct err *e;
	bool failed;
};

static int see_foreign(const char *key, const char *value, void *arg)
{
	struct foreign *f = arg;
	const struct job *job = f->job;
	auto_lease struct lease rec = { .tree = NULL };
	char text[IP_STR_LEN], label[KEY_SCOPE_MAX + 32];
	struct key_address a;
	struct err why;

	if (key_parse_address(key, &a) || strcmp(a.scope, job->scope) == 0 ||
	    !ip_in_prefix(job->whole.subnet, a.ip))
		return 0;
	f->failed = true;
	if (lease_parse(value, key, &rec, &why)) {
		*f->e = why;
		return 1;
	}
	if (rec.state != LEASE_HELD) {
		f->failed = false;
		return 0;
	}
	err_set(f->e, ERR_BUSY, 0, "pool %s: %s in its subnet is leased as an address of %.200s",
		job->adopt->def->name, ip_format(a.ip, text),
		key_scope_label(a.scope, label, sizeof(label)));
	(void)err_hint(f->e, "it belongs to container %.64s (pod %.63s/%.100s): delete that pod",
		       rec.owner.container, rec.owner.ns, rec.owner.pod);
	return 1;
}

static int check_foreign(struct lease_db *l, const struct job *job, struct err *e)
{
	struct foreign f = { .job = job, .e = e };
	const struct key all = { "a/" };

	if (pool_db_check_overlap(l, job->adopt->def->name, &job->whole, e))
		return -1;
	return lease_db_scan(l, &all, see_foreign, &f, e) || f.failed ? -1 : 0;
}

/* ---- the pool of this node ---- */

static int adopt_check_own(const struct job *job, const struct source *own, struct err *e)
{
	const struct ip_prefix *a = &own->subnet, *b = &job->whole.subnet;
	char was[PREFIX_STR_LEN], now[PREFIX_STR_LEN];

	if (ip_equal(a->addr, b->addr) && a->len == b->len)
		return 0;
	err_set(e, ERR_BUSY, 0,
		"pool %s: its subnet is %s on this node and %s in the cluster, so that leases "
		"cannot be moved",
		job->adopt->def->name, ip_format_prefix(*a, was), ip_format_prefix(*b, now));
	return err_hint(e, "make the shared pool with the subnet of the nodes");
}

/* A node without a number assigns nothing of its slices; its old leases still count. */
static int adopt_cut_own(struct lease_db *l, const struct job *job, struct source *own,
			 struct err *e)
{
	uint32_t number;

	if (!own->slice.size)
		return 0;
	if (node_file_number(l->ipam->ctx, l->ipam->node, &number, e) ||
	    pool_slice_cut(own, number, e))
		return err_wrap(e, "pool %s", job->adopt->def->name);
	return 0;
}

static int adopt_add_range(struct json *list, const struct ip_range *r)
{
	char first[IP_STR_LEN], last[IP_STR_LEN], text[2 * IP_STR_LEN + 1];

	(void)snprintf(text, sizeof(text), "%s-%s", ip_format(r->first, first),
		       ip_format(r->last, last));
	return json_push_str(list, text);
}

static struct json *ranges_of(const struct source *own)
{
	struct json *list = json_new_array();

	for (size_t i = 0; list && i < own->usable.n; i++) {
		if (adopt_add_range(list, &own->usable.items[i])) {
			json_free(list);
			return NULL;
		}
	}
	return list;
}

/* The cluster's definition with the addresses of this node. Takes ranges over. */
static int make_local(struct job *job, struct json *ranges, struct err *e)
{
	struct json *local = json_dup(job->adopt->def->definition);

	if (!local) {
		json_free(ranges);
		return err_nomem(e);
	}
	json_del(local, "ranges");
	if (json_put(local, "ranges", ranges)) {
		json_free(local);
		return err_nomem(e);
	}
	job->adopt->local = local;
	return 0;
}

/* ---- leases ---- */

static struct adopted *block_at(struct job *job, struct ip ip, struct err *e)
{
	struct ip start = pool_block_range(job->whole.blocks.bits, ip).first;

	if (job->n && ip_equal(job->blocks[job->n - 1].start, start))
		return &job->blocks[job->n - 1];
	if (ARRAY_GROW(job->blocks, job->n, BLOCKS_MAX, "blocks", e))
		return NULL;
	job->blocks[job->n] = (struct adopted){ .start = start };
	return &job->blocks[job->n++];
}

static int adopt_refuse_outside(const struct job *job, struct ip ip, struct err *e)
{
	char text[IP_STR_LEN];

	return err_set(e, ERR_BUSY, 0,
		       "pool %s: %s is leased as an address of it, and is not in its subnet",
		       job->adopt->def->name, ip_format(ip, text));
}

/* Keys come in the order of addresses, so the leases of a block follow each other. */
static int adopt_count_lease(struct lease_db *l, struct job *job, const struct key *k,
			     struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct adopted *b;
	bool found;

	if (key_parse_address(k->s, &a) || lease_db_lease(l, k->s, &rec, &found, e))
		return err_wrap(e, "pool %s", job->adopt->def->name);
	if (!ip_in_prefix(job->whole.subnet, a.ip))
		return rec.state == LEASE_HELD ? adopt_refuse_outside(job, a.ip, e) : 0;
	b = block_at(job, a.ip, e);
	if (!b)
		return -1;
	if (rec.state == LEASE_HELD)
		b->held++;
	else if (!lease_db_has_rested(rec.since, l->now, job->whole.policy.cooldown))
		b->cooling++;
	b->resting += rec.state != LEASE_HELD;
	return 0;
}

/* Blocks without a held or cooling lease are not claimed: their resting leases are forgotten. */
static void keep_needed(struct job *job)
{
	size_t kept = 0;

	for (size_t i = 0; i < job->n; i++) {
		if (job->blocks[i].held || job->blocks[i].cooling)
			job->blocks[kept++] = job->blocks[i];
	}
	job->n = kept;
}

static int by_start(const void *a, const void *b)
{
	const struct adopted *x = a, *y = b;

	return ip_cmp(x->start, y->start);
}

static bool adopt_is_needed(const struct job *job, struct ip ip)
{
	struct adopted key = { .start = pool_block_range(job->whole.blocks.bits, ip).first };

	return job->n && bsearch(&key, job->blocks, job->n, sizeof(key), by_start);
}

static int move_lease(struct lease_db *l, const struct job *job, const struct key *k, struct err *e)
{
	char id[KEY_ID_LEN + 1];
	struct key_address a;

	if (key_parse_address(k->s, &a) || !adopt_is_needed(job, a.ip))
		return 0;
	pool_block_id(pool_block_range(job->whole.blocks.bits, a.ip).first, id);
	return pool_db_move_lease(l, k, id, e);
}

static int forget_others(struct lease_db *l, const struct job *job, const struct keys *keys,
			 struct err *e)
{
	struct key_address a;

	for (size_t i = 0; i < keys->n; i++) {
		if (key_parse_address(keys->items[i].s, &a) == 0 && !adopt_is_needed(job, a.ip) &&
		    lease_db_forget(l, &a, e))
			return -1;
	}
	return 0;
}

/* The records of sources are written again for blocks. */
static int move_leases(struct lease_db *l, struct job *job, const struct keys *keys, struct err *e)
{
	const char *pool = job->adopt->def->name;

	if (forget_others(l, job, keys, e) || pool_db_delete_kind(l, 'r', pool, e) ||
	    pool_db_delete_kind(l, 'u', pool, e))
		return -1;
	for (size_t i = 0; i < keys->n; i++) {
		const char *there;

		if (lease_db_get(l, keys->items[i].s, &there, e) ||
		    (there && move_lease(l, job, &keys->items[i], e)))
			return -1;
	}
	return 0;
}

/* ---- blocks ---- */

/* The record is in no index: nothing is assigned from the block before it is granted. */
static int put_block(struct lease_db *l, const struct job *job, const struct adopted *b,
		     const struct source *local, struct err *e)
{
	const struct source_usage t = { .used = b->held, .resting = b->resting };
	struct block_record r = { .key = { .start = b->start },
				  .state = BLOCK_CONTESTED,
				  .token = job->adopt->random(job->adopt->arg),
				  .since = l->now };
	char id[KEY_ID_LEN + 1];
	struct key usage, block;

	(void)snprintf(r.key.pool, sizeof(r.key.pool), "%s", job->adopt->def->name);
	key_of_usage(&usage, job->scope, pool_block_id(b->start, id));
	block_value_key(&r.key, &block);
	return lease_db_put(l, usage.s, source_usage_print(&t), e) ||
			       block_cursor_set(l, local, b->start, e) ||
			       lease_db_put(l, block.s, block_value_print(&r), e)
		       ? -1
		       : 0;
}

static int put_blocks(struct lease_db *l, const struct job *job, struct err *e)
{
	auto_clean(source_clear) struct source local = { .label = "" };

	if (pool_decode(job->adopt->def->name, job->adopt->local, &local, e) ||
	    pool_reserve(&local, job->adopt->def->reserved, e))
		return -1;
	for (size_t i = 0; i < job->n; i++) {
		if (put_block(l, job, &job->blocks[i], &local, e))
			return -1;
	}
	return 0;
}

static int put_definition(struct lease_db *l, const struct job *job, struct err *e)
{
	const struct shared_pool_def *d = job->adopt->def;
	const struct pool_text t = { NULL, job->adopt->local, d->uid, d->generation, d->reserved };
	struct key k;

	key_of_pool(&k, d->name);
	lease_db_sync(l);
	return lease_db_put(l, k.s, pool_record_shared(&t), e);
}

/* ---- the transaction ---- */

static int move_all(struct lease_db *l, struct job *job, struct source *own, struct err *e)
{
	auto_keys struct keys keys = { .n = 0 };
	struct key prefix;

	key_of_pool_addresses(&prefix, job->adopt->def->name);
	if (adopt_check_own(job, own, e) || adopt_cut_own(l, job, own, e) ||
	    make_local(job, ranges_of(own), e) || pool_db_keys(l, &prefix, &keys, e))
		return -1;
	for (size_t i = 0; i < keys.n; i++) {
		if (adopt_count_lease(l, job, &keys.items[i], e))
			return -1;
	}
	keep_needed(job);
	if (move_leases(l, job, &keys, e) || put_definition(l, job, e) || put_blocks(l, job, e))
		return -1;
	job->adopt->moved = true;
	return 0;
}

/* The leases were moved before. The definition may have changed in another key: see pool_adopt().
 */
static int make_again(struct job *job, const struct pool_entry *old, struct err *e)
{
	const struct shared_pool_def *d = job->adopt->def;
	const struct json *ranges = json_get(old->text.def, "ranges");

	if (strcmp(old->source.blocks.uid, d->uid) != 0 ||
	    old->source.blocks.state != POOL_ADOPTING)
		return err_set(e, ERR_BUSY, 0, "pool %s: this node has it %s uid %s", d->name,
			       old->source.blocks.state == POOL_ADOPTING ? "with" : "open, or with",
			       old->source.blocks.uid);
	return make_local(job, json_dup(ranges), e);
}

static int adopt_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct job *job = arg;
	auto_pool_entry struct pool_entry old = { .text = { .tree = NULL } };
	bool found;

	json_free(job->adopt->local);
	job->adopt->local = NULL;
	job->adopt->moved = false;
	job->n = 0;
	if (pool_db_load(l, job->adopt->def->name, &old, &found, e) || check_foreign(l, job, e))
		return -1;
	if (!found)
		return 0;
	return old.source.blocks.uid ? make_again(job, &old, e) : move_all(l, job, &old.source, e);
}

int pool_adopt(struct ipam *m, struct pool_adopt *a, struct err *e)
{
	struct shared_pool_view v = { .source = { .label = "" } };
	struct job arg = { .adopt = a };
	struct ipam_job job = { STORE_WRITE, "POOL", adopt_in_txn, &arg, NULL };

	a->local = NULL;
	a->moved = false;
	if (shared_pool_decode(a->def, &v, e))
		return -1;
	arg.whole = v.source;
	key_scope(arg.scope, 'p', a->def->name);
	int rc = ipam_run(m, &job, e);
	free(arg.blocks);
	shared_pool_view_clear(&v);
	if (rc == 0 && a->local && !a->moved)
		rc = shared_pool_put(m,
				     &(struct shared_pool_def){ a->def->name, a->def->uid,
								a->def->generation, a->local,
								a->def->reserved },
				     e);
	if (rc == 0)
		return 0;
	json_free(a->local);
	a->local = NULL;
	return -1;
}
