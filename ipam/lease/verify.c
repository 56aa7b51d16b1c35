/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c: reads all records of the store, compares them with the leases, and repairs what
 * differs. Each see_*() function visits the records of one kind.
 */
#include "ipam/lease/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/lease/index.h"
#include "lib/base/array.h"

#define STRINGS_MAX (1u << 27)

struct strings {
	char **items;
	size_t n;
};

struct check {
	struct verify *v;
	struct lease_db *l;
	struct lease_index want, have;
	struct strings known;   /* keys of good lease records, in order */
	struct strings orphans; /* address key and owner key in turn */
	struct strings lost;    /* keys of lease records that cannot be read */
	struct strings bad;     /* keys of other records that repair deletes or rebuilds */
	struct strings sticky;  /* keys of sticky records that name foreign addresses */
	struct source_sets pools;
	struct err *e;
	bool failed;
};

static void clear_strings(struct strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i]);
	free(s->items);
}

static void clear_check(struct check *c)
{
	lease_index_clear(&c->want);
	lease_index_clear(&c->have);
	clear_strings(&c->known);
	clear_strings(&c->orphans);
	clear_strings(&c->lost);
	clear_strings(&c->bad);
	clear_strings(&c->sticky);
	sources_clear(&c->pools);
}
#define auto_check auto_clean(clear_check)

static int add_string(struct strings *s, const char *text, struct err *e)
{
	if (ARRAY_GROW(s->items, s->n, STRINGS_MAX, "records to repair", e))
		return -1;
	s->items[s->n] = strdup(text);
	if (!s->items[s->n])
		return err_nomem(e);
	s->n++;
	return 0;
}

static void report_problem(struct check *c, bool repaired, const char *fmt, ...) printf_like(3, 4);
static void report_problem(struct check *c, bool repaired, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->v->problems++;
	if (!repaired)
		c->v->left++;
	if (c->v->found)
		c->v->found(text, c->v->arg);
}

/* The return value of a scan's function: it stops the scan if rc is an error. */
static int stop_scan(struct check *c, int rc)
{
	c->failed = c->failed || rc != 0;
	return rc;
}

/* Reports a damaged record. Running out of memory is an error instead: the record may be good. */
static int note_unreadable(struct check *c, struct strings *to, const char *key,
			   const struct err *why)
{
	if (why->code == ERR_NOMEM) {
		*c->e = *why;
		return stop_scan(c, -1);
	}
	report_problem(c, true, "%s", why->msg);
	return stop_scan(c, add_string(to, key, c->e));
}

/* ---- leases ---- */

static int verify_see_lease(const char *key, const char *value, void *arg)
{
	struct check *c = arg;
	auto_lease struct lease rec = { .tree = NULL };
	struct key_address a;
	struct err why;

	if (key_parse_address(key, &a)) {
		report_problem(c, true, "%s: is not the key of an address", key);
		return stop_scan(c, add_string(&c->lost, key, c->e));
	}
	if (lease_parse(value, key, &rec, &why))
		return note_unreadable(c, &c->lost, key, &why);
	if (rec.state == LEASE_HELD)
		c->v->held++;
	else
		c->v->resting++;
	return stop_scan(c, add_string(&c->known, key, c->e) ||
				    lease_index_add_lease(&c->want, &a, &rec, c->e));
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- records that follow from leases ---- */

/* Finds addresses in an owner's list that have no lease. */
static int see_orphans(struct check *c, const char *key, const struct key_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *address = list->items[i].s;
		struct key_address a;

		if ((c->known.n && bsearch(&address, c->known.items, c->known.n, sizeof(char *),
					   compare_strings)) ||
		    key_parse_address(address, &a))
			continue;
		report_problem(c, true, "%s: names %s, which has no lease record", key,
			       list->items[i].s);
		if (add_string(&c->orphans, list->items[i].s, c->e) ||
		    add_string(&c->orphans, key, c->e))
			return -1;
	}
	return 0;
}

static int see_derived(const char *key, const char *value, void *arg)
{
	struct check *c = arg;
	struct key_owner owner;
	struct key_list list;
	struct err why;

	if (*key == 'o' && key_parse_owner(key, &owner) == 0) {
		if (key_list_parse(value, key, &list, &why))
			return note_unreadable(c, &c->bad, key, &why);
		if (see_orphans(c, key, &list))
			return stop_scan(c, -1);
	}
	if (lease_index_add_record(&c->have, key, value, &why))
		return note_unreadable(c, &c->bad, key, &why);
	return 0;
}

/* ---- sticky records ---- */

/* 1: the pod of this sticky record had that address last. 0: another. -1: an error. */
static int sticky_holds(struct check *c, const char *key, const char *address)
{
	auto_lease struct lease rec = { .tree = NULL };
	const struct owner *o = &rec.owner;
	struct key_address a;
	const char *text;
	struct err why;
	struct key k;

	if (lease_db_get(c->l, address, &text, c->e))
		return -1;
	if (!text || key_parse_address(address, &a))
		return 0;
	if (lease_parse(text, address, &rec, &why)) {
		*c->e = why;
		return why.code == ERR_NOMEM ? -1 : 0;
	}
	key_of_sticky(&k, a.scope, (const char *const[]){ o->ns, o->pod, o->ifname });
	return strcmp(k.s, key) == 0;
}

static int see_sticky(const char *key, const char *value, void *arg)
{
	struct check *c = arg;
	struct key_list list;
	struct err why;

	if (key_list_parse(value, key, &list, &why))
		return note_unreadable(c, &c->bad, key, &why);
	for (size_t i = 0; i < list.n; i++) {
		int rc = *list.items[i].s ? sticky_holds(c, key, list.items[i].s) : 0;

		if (rc < 0)
			return stop_scan(c, -1);
		if (rc)
			continue;
		report_problem(c, true, "%s: names %s, which another pod has had since", key,
			       list.items[i].s);
		return stop_scan(c, add_string(&c->sticky, key, c->e));
	}
	return 0;
}

/* ---- pools ---- */

static int verify_see_pool(const char *key, const char *value, void *arg)
{
	struct check *c = arg;
	struct pool_text def = { .tree = NULL };
	struct source s = { .label = "" };
	struct ip_range both;
	struct err why;

	c->v->pools++;
	if (pool_parse(value, key, &def, &why) || pool_text_decode(key + 2, &def, &s, &why)) {
		json_free(def.tree);
		if (why.code == ERR_NOMEM) {
			*c->e = why;
			return stop_scan(c, -1);
		}
		report_problem(c, false, "%s: %s", key, why.msg);
		return 0;
	}
	for (size_t i = 0; i < c->pools.n_trees; i++) {
		const struct source *other = &c->pools.sets[0].items[i];
		if (ranges_overlap(&other->usable, &s.usable, &both))
			report_problem(c, false, "%s overlaps with %s", s.label, other->label);
	}
	if (sources_keep(&c->pools, def.tree, c->e)) {
		source_clear(&s);
		return stop_scan(c, -1);
	}
	return stop_scan(c, sources_add(&c->pools, 0, &s, c->e));
}

static int see_unknown(const char *key, const char *value, void *arg)
{
	struct check *c = arg;

	(void)value;
	if (!strchr("aoirdsuqmbfl", *key) || (key[1] != '/'))
		report_problem(c, false, "%s: unknown kind of key", key);
	return 0;
}

static int scan_prefix(struct check *c, const char *prefix, store_fn fn)
{
	struct key k;

	(void)snprintf(k.s, sizeof(k.s), "%s", prefix);
	if (lease_db_scan(c->l, &k, fn, c, c->e))
		return -1;
	return c->failed ? -1 : 0;
}

/* ---- repair ---- */

/* The block of an address, if its pool has blocks; else "". */
static const char *source_of(const struct check *c, const struct key_address *a,
			     char id[KEY_ID_LEN + 1])
{
	for (size_t i = 0; i < c->pools.n_trees; i++) {
		const struct source *s = &c->pools.sets[0].items[i];

		if (s->blocks.shared && strcmp(s->scope, a->scope) == 0)
			return pool_block_id(pool_block_range(s->blocks.bits, a->ip).first, id);
	}
	return "";
}

/* Writes a lease for an address in an owner's list. Only the owner's key is known. */
static int adopt_lease(struct check *c, const char *address, const char *owner_key)
{
	char id[KEY_ID_LEN + 1];
	struct key_owner who;
	struct key_address a;
	struct lease rec = { .state = LEASE_HELD,
			     .boot = c->l->ipam->boot,
			     .node = c->l->ipam->node,
			     .since = c->l->now };

	if (key_parse_owner(owner_key, &who) || key_parse_address(address, &a))
		return 0;
	rec.source = source_of(c, &a, id);
	rec.owner = (struct owner){ who.network, who.container, who.ifname, "", "", "" };
	if (c->v->repair && lease_db_put(c->l, address, lease_print(&rec), c->e))
		return -1;
	return lease_index_add_lease(&c->want, &a, &rec, c->e);
}

static int rebuild_record(struct check *c, const char *key)
{
	char *text;

	if (!c->v->repair)
		return 0;
	if (lease_index_record(&c->want, key, &text, c->e))
		return -1;
	return text ? lease_db_put(c->l, key, text, c->e) : lease_db_del(c->l, key, c->e);
}

static int see_difference(const struct lease_index_entry *f, uint64_t want, uint64_t have,
			  void *arg)
{
	struct check *c = arg;

	/* An earlier version did not write the records i/: that is not damage. */
	if (*f->key == 'i' && !c->l->indexed)
		return add_string(&c->bad, f->key, c->e);
	report_problem(c, true, "%s%s%s: recorded %" PRIu64 " times, the leases say %" PRIu64,
		       f->key, *f->detail ? " " : "", f->detail, have, want);
	return add_string(&c->bad, f->key, c->e);
}

static int delete_all(struct check *c, const struct strings *keys)
{
	for (size_t i = 0; c->v->repair && i < keys->n; i++) {
		if (lease_db_del(c->l, keys->items[i], c->e))
			return -1;
	}
	return 0;
}

/* If two owners name an address, the first one keeps it. The other one's list loses it. */
static int adopt_orphans(struct check *c)
{
	char *const *items = c->orphans.items;

	for (size_t i = 0; i + 1 < c->orphans.n; i += 2) {
		size_t j = 0;

		while (strcmp(items[j], items[i]) != 0)
			j += 2;
		if (j == i && adopt_lease(c, items[i], items[i + 1]))
			return -1;
	}
	return 0;
}

/* A repair can free an address before a cursor, so every search starts from the beginning. */
static int reset_cursor(const char *key, const char *value, void *arg)
{
	struct check *c = arg;

	(void)value;
	return stop_scan(c, add_string(&c->bad, key, c->e));
}

static void verify_note_block(void *arg, bool repaired, const char *text)
{
	report_problem(arg, repaired, "%s", text);
}

int verify_lease_db(struct lease_db *l, struct verify *v, struct err *e)
{
	auto_check struct check c = { .v = v, .l = l, .e = e };
	static const char *const derived[] = { "i/", "o/", "q/", "r/", "u/" };

	v->held = v->resting = v->pools = v->problems = v->left = 0;
	if (scan_prefix(&c, "a/", verify_see_lease))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(derived); i++) {
		if (scan_prefix(&c, derived[i], see_derived))
			return -1;
	}
	if (scan_prefix(&c, "s/", see_sticky) || scan_prefix(&c, "d/", verify_see_pool) ||
	    scan_prefix(&c, "", see_unknown))
		return -1;
	/* Delete damaged leases first: adopt_orphans() may write a new one for the address. */
	if (delete_all(&c, &c.lost) || (!v->all_gone && adopt_orphans(&c)))
		return -1;
	lease_index_sort(&c.want);
	lease_index_sort(&c.have);
	if (lease_index_compare(&c.want, &c.have, see_difference, &c))
		return -1;
	if (v->problems > v->left && v->repair && scan_prefix(&c, "u/", reset_cursor))
		return -1;
	for (size_t i = 0; i < c.bad.n; i++) {
		if (rebuild_record(&c, c.bad.items[i]))
			return -1;
	}
	const struct verify_blocks blocks = { v->repair, v->problems > v->left, verify_note_block,
					      &c };
	return delete_all(&c, &c.sticky) || verify_blocks(l, &blocks, e) ? -1 : 0;
}
