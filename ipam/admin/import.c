/* SPDX-License-Identifier: Apache-2.0 */
/* import.c: leases addresses that another IPAM assigned, each for the source that has it. */
#include "ipam/admin/import.h"

#include <stdio.h>

#include "ipam/alloc/alloc.h"
#include "ipam/alloc/choose.h"
#include "ipam/alloc/overlap.h"

struct import_job {
	struct import *x;
	bool done; /* of a dry run: it came to its end */
};

/* The source whose usable addresses contain ip, else the one whose subnet does. */
static const struct source *find_source(const struct source_sets *sets, struct ip ip)
{
	for (size_t i = 0; i < sets->n; i++) {
		const struct source *s = sources_find(&sets->sets[i], ip);

		if (s)
			return s;
	}
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t j = 0; j < sets->sets[i].n; j++) {
			if (ip_in_prefix(sets->sets[i].items[j].subnet, ip))
				return &sets->sets[i].items[j];
		}
	}
	return NULL;
}

/* it->state changes if another owner has the lease, or this owner has it already. */
static int look_at_lease(struct lease_db *l, const struct source *s, struct import_item *it,
			 struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	int found = lease_db_of_address(l, s->scope, it->ip, &rec, e);

	if (found <= 0 || rec.state != LEASE_HELD)
		return found < 0 ? -1 : 0;
	if (owner_same(&rec.owner, &it->owner)) {
		it->state = IMPORT_OURS;
		return 0;
	}
	it->state = IMPORT_LEFT;
	(void)snprintf(it->why, sizeof(it->why),
		       "it is leased to container %.64s, interface %.32s of network %.100s",
		       rec.owner.container, rec.owner.ifname, rec.owner.network);
	return 0;
}

/* The interface can have the address as a lease of another pool or network. One lease is enough. */
static int look_at_owner(struct lease_db *l, struct import_item *it, struct err *e)
{
	char label[KEY_SCOPE_MAX + 32];
	struct key_list list;
	struct key_address a;

	if (lease_db_owned(l, &it->owner, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		if (key_parse_address(list.items[i].s, &a) || !ip_equal(a.ip, it->ip))
			continue;
		it->state = IMPORT_LEFT;
		(void)snprintf(it->why, sizeof(it->why),
			       "this interface holds it as an address of %.200s already",
			       key_scope_label(a.scope, label, sizeof(label)));
		return 0;
	}
	if (list.n < LEASE_KEYS_MAX)
		return 0;
	it->state = IMPORT_LEFT;
	(void)snprintf(it->why, sizeof(it->why), "this interface holds %d addresses already",
		       LEASE_KEYS_MAX);
	return 0;
}

static int import_check_overlap(struct overlap *other, const struct source *s,
				struct import_item *it, struct err *e)
{
	if (!overlap_in_use(other, s, it->ip))
		return 0;
	if (other->failed)
		return err_pass(e, &other->e);
	it->state = IMPORT_LEFT;
	(void)snprintf(it->why, sizeof(it->why), "it is held outside of %.128s", s->label);
	return 0;
}

/* In a pool with blocks, another node may assign the addresses of other blocks. */
static int import_check_block(struct lease_db *l, const struct source *s, struct import_item *it,
			      struct err *e)
{
	const struct addr_request any = { .probes = true };
	int rc = s->blocks.shared ? block_may_choose(l, s, it->ip, &any, e) : 1;

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	it->state = IMPORT_LEFT;
	(void)snprintf(it->why, sizeof(it->why),
		       "it is in no block of %.128s that this node may use", s->label);
	return 0;
}

/* As for a requested address: the cursor of the search stays. */
static int assign_lease(struct lease_db *l, const struct source *s, const struct import_item *it,
			struct err *e)
{
	struct addr_choice c = { .source = s, .ip = it->ip, .keep_cursor = true };

	if (s->blocks.shared && block_choose_at(l, s, it->ip, &c, e))
		return -1;
	return lease_db_assign(l, &c, &it->owner, e);
}

static int import_one(struct lease_db *l, struct overlap *other, const struct source *s,
		      struct import_item *it, struct err *e)
{
	it->state = IMPORT_NEW;
	(void)key_scope_label(s->scope, it->from, sizeof(it->from));
	if (!l)
		return 0;
	if (look_at_lease(l, s, it, e) || (it->state == IMPORT_NEW && look_at_owner(l, it, e)) ||
	    (it->state == IMPORT_NEW && import_check_overlap(other, s, it, e)) ||
	    (it->state == IMPORT_NEW && import_check_block(l, s, it, e)))
		return -1;
	return it->state == IMPORT_NEW ? assign_lease(l, s, it, e) : 0;
}

/* l NULL: there is no store. */
static int import_all(struct lease_db *l, struct import *x, const struct source_sets *sets,
		      struct err *e)
{
	auto_overlap struct overlap other = { .l = l, .files = { .dir = -1 } };

	if (l && x->look_at_files && overlap_open(&other, l, x->conf->data_dir, x->network, e))
		return -1;
	for (size_t i = 0; i < x->n; i++) {
		struct import_item *it = &x->items[i];
		const struct source *s = find_source(sets, it->ip);

		*it->from = *it->why = '\0';
		if (!s) {
			it->state = IMPORT_OUTSIDE;
			(void)snprintf(it->why, sizeof(it->why),
				       "it is in no subnet of this configuration");
		} else if (import_one(l, &other, s, it, e)) {
			return -1;
		}
	}
	return 0;
}

static int import_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	auto_sources struct source_sets pools = { .n = 0 };
	struct import_job *job = arg;
	const struct ipam_conf *conf = job->x->conf;

	if ((conf->n_pools && alloc_pools(l, conf, &pools, NULL, e)) ||
	    import_all(l, job->x, conf->n_pools ? &pools : &conf->fixed, e))
		return -1;
	if (!job->x->dry_run)
		return 0;
	job->done = true;
	return err_set(e, ERR_STATE, 0, "a dry run");
}

int import_leases(struct ipam *m, struct import *x, struct json **journal, struct err *e)
{
	struct import_job arg = { .x = x };
	struct ipam_job job = { STORE_WRITE, "IMPORT", import_in_txn, &arg, journal };

	if (!m)
		return import_all(NULL, x, &x->conf->fixed, e);
	if (ipam_run(m, &job, e) == 0 || arg.done)
		return 0;
	return -1;
}
