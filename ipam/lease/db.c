/* SPDX-License-Identifier: Apache-2.0 */
/* db.c: reads the records of the lease database, and writes them together. */
#include "ipam/lease/db.h"

#include <inttypes.h>
#include <stdio.h>

#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/block_index.h"

/* An empty list needs no record. */
static int put_list(struct lease_db *l, const struct key *k, const struct key_list *list,
		    struct err *e)
{
	if (list->n == 0)
		return lease_db_del(l, k->s, e);
	return lease_db_put(l, k->s, key_list_print(list), e);
}

static int put_usage(struct lease_db *l, const char *scope, const char *source,
		     const struct source_usage *t, struct err *e)
{
	struct key k;

	key_of_usage(&k, scope, source);
	return lease_db_put(l, k.s, source_usage_print(t), e);
}

/* Only pools have quotas, so only they are counted by namespace. */
static int count_quota(struct lease_db *l, const char *scope, const char *ns, bool up,
		       struct err *e)
{
	uint64_t held;
	struct key k;
	char *text = NULL;

	if (!key_pool_of(scope))
		return 0;
	if (lease_db_quota(l, scope, ns, &held, e))
		return -1;
	if (!up && held == 0)
		return 0;
	held = up ? held + 1 : held - 1;
	key_of_quota(&k, scope, ns);
	if (held == 0)
		return lease_db_del(l, k.s, e);
	if (asprintf(&text, "%" PRIu64, held) < 0)
		return err_nomem(e);
	return lease_db_put(l, k.s, text, e);
}

/* ---- sticky addresses ---- */

/*
 * 1: an address that the pod had stays in its sticky list, beside the address of c. It stays if it
 * is from another source, or if an earlier sandbox of the pod still holds it. 0: it does not stay.
 */
static int stays_sticky(struct lease_db *l, const struct addr_choice *c, const struct owner *o,
			const char *address, struct err *e)
{
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	bool found;

	if (key_parse_address(address, &a))
		return 0;
	if (!ranges_contain(&c->source->usable, a.ip))
		return 1;
	if (lease_db_lease(l, address, &rec, &found, e))
		return -1;
	return found && rec.state == LEASE_HELD && owner_same_pod(&rec.owner, o);
}

/*
 * The address of c replaces those that the pod had from this source before. An address that an
 * earlier sandbox of the pod still holds stays first, so that the next start finds it after the
 * DEL.
 */
static int write_sticky(struct lease_db *l, const struct addr_choice *c, const struct owner *o,
			const struct key *address, struct err *e)
{
	const struct source *s = c->source;
	struct key_list old, list = { .n = 0 };
	struct key k;

	if (!s->policy.sticky || !lease_db_sticky_key(&k, s->scope, o))
		return 0;
	if (lease_db_list(l, &k, &old, e))
		return -1;
	for (size_t i = 0; i < old.n; i++) {
		int kept = stays_sticky(l, c, o, old.items[i].s, e);

		if (kept < 0)
			return -1;
		if (kept && key_list_add(&list, old.items[i].s))
			break;
	}
	/* A full list has addresses of ranges that no longer exist: drop them. */
	if (key_list_add(&list, address->s)) {
		list.n = 0;
		(void)!key_list_add(&list, address->s);
	}
	return put_list(l, &k, &list, e);
}

/* The address goes to another pod, so it leaves the sticky list of its last owner. */
static int remove_sticky(struct lease_db *l, const struct key_address *a, const struct key *address,
			 const struct owner *last, struct err *e)
{
	struct key_list list;
	struct key k;

	if (!lease_db_sticky_key(&k, a->scope, last))
		return 0;
	if (lease_db_list(l, &k, &list, e))
		return -1;
	size_t before = list.n;
	key_list_remove(&list, address->s);
	return list.n < before ? put_list(l, &k, &list, e) : 0;
}

/* ---- journal ---- */

int owner_json(struct json *obj, const struct owner *o)
{
	return json_encode(json_add_object(obj, "owner"), owner_fields, o);
}

/* Adds a line to the journal, if there is one. */
static int journal_add(struct lease_db *l, const char *what, const struct key_address *a,
		       const struct owner *o, struct err *e)
{
	char text[IP_STR_LEN], label[KEY_SCOPE_MAX + 32];

	if (!l->journal)
		return 0;
	struct json *line = json_push_object(l->journal);
	if (!line || json_add_str(line, "verb", what) || json_add_str(line, "by", l->by) ||
	    json_add_str(line, "address", ip_format(a->ip, text)) ||
	    json_add_str(line, "pool", key_scope_log(a->scope, label, sizeof(label))) ||
	    owner_json(line, o) || json_add_str(line, "result", "ok"))
		return err_nomem(e);
	return 0;
}

/* ---- the writes ---- */

/* Deletes the rest record of a resting lease, and updates the usage. */
static int stop_rest(struct lease_db *l, const struct key_address *a, const struct lease *rec,
		     bool forgotten, struct err *e)
{
	struct source_usage t;
	struct key k;

	key_of_rest(&k, a->scope, rec->source, rec->since, &a->ip);
	if (lease_db_del(l, k.s, e) || lease_db_usage(l, a->scope, rec->source, &t, e))
		return -1;
	if (t.resting)
		t.resting--;
	if (forgotten)
		t.forgotten++;
	return put_usage(l, a->scope, rec->source, &t, e);
}

/*
 * Removes the records of the last owner of an address that is assigned again to the owner of
 * `next`. An address that a pod had here was probed before, or its mark says that it was not.
 */
static int clear_past(struct lease_db *l, const struct key_address *a, const struct key *k,
		      struct lease *next, struct err *e)
{
	auto_lease struct lease past = { 0 };
	const struct owner *o = &next->owner;
	bool found;

	if (lease_db_lease(l, k->s, &past, &found, e))
		return -1;
	if (!found)
		return 0;
	next->probe = past.probe;
	if (past.state == LEASE_HELD)
		return err_set(e, ERR_BUSY, 0,
			       "the address is held by container %.64s, interface %.32s",
			       past.owner.container, past.owner.ifname);
	if (stop_rest(l, a, &past, false, e))
		return -1;
	return owner_same_pod(&past.owner, o) ? 0 : remove_sticky(l, a, k, &past.owner, e);
}

static int count_taken(struct lease_db *l, const struct addr_choice *c, const char *id,
		       struct err *e)
{
	struct source_usage t;

	if (lease_db_usage(l, c->source->scope, id, &t, e))
		return -1;
	t.used++;
	if (!c->keep_cursor) {
		t.next = c->next;
		t.done = c->done;
	}
	if (c->restarted)
		t.forgotten = 0;
	t.forgotten += c->skipped;
	return put_usage(l, c->source->scope, id, &t, e);
}

static int add_owned(struct lease_db *l, const struct owner *o, const struct key *address,
		     struct err *e)
{
	struct key_list list;
	struct key k;

	key_of_owner(&k, o->container, o->ifname, o->network);
	if (lease_db_list(l, &k, &list, e))
		return -1;
	if (key_list_add(&list, address->s))
		return err_set(e, ERR_CONFIG, 0, "more than %d addresses for one interface",
			       LEASE_KEYS_MAX);
	return put_list(l, &k, &list, e);
}

/* The record i/ of a pod's address. address NULL: delete it. */
static int set_by_pod(struct lease_db *l, const struct key_address *a, const struct owner *o,
		      const struct key *address, struct err *e)
{
	struct key k;

	if (!owner_has_pod(o))
		return 0;
	key_of_pod(&k, a->scope, (const char *const[]){ o->ns, o->pod, o->ifname }, &a->ip);
	return address ? l->t->store->ops->put(l->t, k.s, address->s, e) : lease_db_del(l, k.s, e);
}

/* In a pool with blocks, each block is a source of its own. */
static const char *source_id(const struct source *s, struct ip ip, char block[KEY_ID_LEN + 1])
{
	if (!s->blocks.shared)
		return s->id;
	return pool_block_id(pool_block_range(s->blocks.bits, ip).first, block);
}

/* The block of a loan has no record here: the loan has the mark itself. */
static int db_is_marked(struct lease_db *l, const struct addr_choice *c,
			const struct block_place *place, bool *probe, struct err *e)
{
	struct block_record loan = { .probe = false };

	if (c->is_loan && block_loan(l, c->source->scope, c->ip, &loan, e) < 0)
		return -1;
	*probe = place->probe || loan.probe;
	return 0;
}

static int begin_place(struct lease_db *l, const struct addr_choice *c, const struct lease *rec,
		       struct block_place *out, struct err *e)
{
	struct key_address a = { .ip = c->ip };

	(void)snprintf(a.scope, sizeof(a.scope), "%s", c->source->scope);
	*out = (struct block_place){ .epoch = c->epoch, .probe = c->probe };
	return c->epoch ? block_place_begin_known(l, &a, rec->source, out, e)
			: block_place_begin(l, &a, rec->source, out, e);
}

int lease_db_assign(struct lease_db *l, const struct addr_choice *c, const struct owner *o,
		    struct err *e)
{
	const struct source *s = c->source;
	char block[KEY_ID_LEN + 1];
	struct lease rec = { .state = LEASE_HELD,
			     .owner = *o,
			     .boot = l->ipam->boot,
			     .node = l->ipam->node,
			     .source = source_id(s, c->ip, block),
			     .range = s->range,
			     .since = l->now };
	struct key_address a = { .ip = c->ip };
	struct block_place place;
	struct key k;

	(void)snprintf(a.scope, sizeof(a.scope), "%s", s->scope);
	key_of_address(&k, a.scope, a.ip);
	if (begin_place(l, c, &rec, &place, e) || db_is_marked(l, c, &place, &rec.probe, e))
		return -1;
	if (clear_past(l, &a, &k, &rec, e) || lease_db_put(l, k.s, lease_print(&rec), e) ||
	    add_owned(l, o, &k, e) || set_by_pod(l, &a, o, &k, e) ||
	    count_taken(l, c, rec.source, e) || count_quota(l, a.scope, o->ns, true, e) ||
	    write_sticky(l, c, o, &k, e) || block_place_end(l, &place, e))
		return -1;
	return journal_add(l, "allocate", &a, o, e);
}

int lease_db_probed(struct lease_db *l, const struct key_address *a, struct err *e)
{
	auto_lease struct lease rec = { 0 };
	int found = lease_db_of_address(l, a->scope, a->ip, &rec, e);
	struct key k;

	if (found <= 0 || !rec.probe)
		return found < 0 ? -1 : 0;
	rec.probe = false;
	key_of_address(&k, a->scope, a->ip);
	return lease_db_put(l, k.s, lease_print(&rec), e);
}

struct first {
	struct key_address a;
	bool found;
};

static int first_rest(const char *key, const char *value, void *arg)
{
	struct first *f = arg;
	char source[KEY_ID_LEN + 1];
	int64_t since;

	(void)value;
	f->found = key_parse_rest(key, &f->a, source, &since) == 0;
	return 1;
}

int lease_db_forget(struct lease_db *l, const struct key_address *a, struct err *e)
{
	auto_lease struct lease rec = { 0 };
	int found = lease_db_of_address(l, a->scope, a->ip, &rec, e);
	struct key k;

	if (found <= 0 || rec.state != LEASE_RESTING)
		return found < 0 ? -1 : 0;
	key_of_address(&k, a->scope, a->ip);
	if (stop_rest(l, a, &rec, true, e) || remove_sticky(l, a, &k, &rec.owner, e))
		return -1;
	return lease_db_del(l, k.s, e);
}

/*
 * A large pool gives every new pod an address that was never used, so its records would grow
 * without end. So the address that has rested longest is forgotten.
 */
static int forget_oldest(struct lease_db *l, const char *scope, const char *source, struct err *e)
{
	struct first f = { .found = false };
	struct key k;

	key_of_rests(&k, scope, source);
	if (lease_db_scan(l, &k, first_rest, &f, e))
		return -1;
	return f.found ? lease_db_forget(l, &f.a, e) : 0;
}

static int count_released(struct lease_db *l, const struct key_address *a, const struct lease *rec,
			  struct err *e)
{
	struct source_usage t;
	struct ip start;

	if (count_quota(l, a->scope, rec->owner.ns, false, e) ||
	    lease_db_usage(l, a->scope, rec->source, &t, e))
		return -1;
	if (t.used)
		t.used--;
	t.resting++;
	if (put_usage(l, a->scope, rec->source, &t, e))
		return -1;
	/* A block is small, and its cursor never goes back. */
	if (t.resting <= l->ipam->rest_max || pool_block_of(rec->source, a->ip, &start))
		return 0;
	return forget_oldest(l, a->scope, rec->source, e);
}

static int remove_owned(struct lease_db *l, const struct owner *o, const struct key *address,
			struct err *e)
{
	struct key_list list;
	struct key k;

	key_of_owner(&k, o->container, o->ifname, o->network);
	if (lease_db_list(l, &k, &list, e))
		return -1;
	key_list_remove(&list, address->s);
	return put_list(l, &k, &list, e);
}

int lease_db_release(struct lease_db *l, const struct key_address *a, int64_t since, struct err *e)
{
	auto_lease struct lease rec = { 0 };
	int found = lease_db_of_address(l, a->scope, a->ip, &rec, e);
	struct block_place place;
	struct key k, rest;

	if (found <= 0 || rec.state != LEASE_HELD)
		return found < 0 ? -1 : 0;
	key_of_address(&k, a->scope, a->ip);
	rec.state = LEASE_RESTING;
	rec.since = since < 0 ? 0 : since;
	rec.boot = rec.node = "";
	key_of_rest(&rest, a->scope, rec.source, rec.since, &a->ip);
	if (block_place_begin(l, a, rec.source, &place, e) || remove_owned(l, &rec.owner, &k, e) ||
	    set_by_pod(l, a, &rec.owner, NULL, e) || lease_db_put(l, k.s, lease_print(&rec), e) ||
	    l->t->store->ops->put(l->t, rest.s, "", e) || count_released(l, a, &rec, e) ||
	    block_place_end(l, &place, e))
		return -1;
	return journal_add(l, "release", a, &rec.owner, e);
}
