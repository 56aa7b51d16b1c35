/* SPDX-License-Identifier: Apache-2.0 */
/*
 * against.c: `railctl ipam verify --against`: do two nodes assign the same addresses?
 *
 * The stores of two nodes do not know of each other. An address that is leased on both, or leased
 * there and in a range of here, means that the ranges overlap.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "ipam/conf/pool_slice.h"
#include "railctl/ipam/verify.h"

#define LISTS_MAX (256U << 20) /* bytes of a file */

struct mine {
	struct ip ip;
	const struct json *lease;
};

struct compare {
	const struct against *a;
	struct findings *f;
	struct err *e;
	struct json *leases; /* owned: leases of this node, also resting ones */
	struct mine *items;  /* owned: the same, sorted by address */
	size_t n_items;
	struct source_sets pools; /* the pools of this node, in one set */
	bool *overlaps;           /* owned: for each pool, whether its overlap was reported */
	uint64_t n_leases, n_pools, n_same, n_overlaps;
};

static void compare_clear(struct compare *c)
{
	json_free(c->leases);
	free(c->items);
	free(c->overlaps);
	sources_clear(&c->pools);
}

/* ---- what is here ---- */

static int against_by_address(const void *a, const void *b)
{
	const struct mine *x = a, *y = b;

	return ip_cmp(x->ip, y->ip);
}

static int load_leases(struct compare *c)
{
	const struct lease_filter all = { .resting = true };

	if (admin_leases(c->a->ipam, &all, &c->leases, c->e))
		return -1;
	c->items = calloc(json_len(c->leases) + 1, sizeof(*c->items));
	if (!c->items)
		return err_nomem(c->e);
	json_each (lease, c->leases) {
		struct mine *m = &c->items[c->n_items];

		m->lease = lease;
		if (ip_parse(json_text(lease, "address"), &m->ip) == 0)
			c->n_items++;
	}
	qsort(c->items, c->n_items, sizeof(*c->items), against_by_address);
	return 0;
}

/* The addresses that the pool's node assigns: of its slice, if the pool has slices. */
static int decode_part(const struct json *pool, struct source *out, struct err *e)
{
	double number = -1;
	const struct json *n = json_get(json_get(pool, "slice"), "number");

	if (json_type(n) == JSON_NUMBER && json_num(n) >= 0 && json_num(n) <= UINT32_MAX)
		number = json_num(n);
	if (pool_decode(json_text(pool, "name"), json_get(pool, "definition"), out, e))
		return -1;
	if (out->slice.size && number < 0)
		ranges_clear(&out->usable);
	if (number < 0 || pool_slice_cut(out, (uint32_t)number, e) == 0)
		return 0;
	source_clear(out);
	return -1;
}

/* A pool with an unreadable definition assigns no addresses; `verify` itself reports it. */
static int against_load_pool(struct compare *c, const struct json *pool)
{
	struct source s = { .label = "" };
	struct err why;

	if (decode_part(pool, &s, &why)) {
		if (why.code != ERR_NOMEM)
			return 0;
		*c->e = why;
		return -1;
	}
	return sources_add(&c->pools, 0, &s, c->e);
}

static int load_pools(struct compare *c)
{
	struct json *pools = NULL;

	if (admin_pools(c->a->ipam, NULL, &pools, c->e) || sources_keep(&c->pools, pools, c->e))
		return -1;
	json_each (pool, pools) {
		if (against_load_pool(c, pool))
			return -1;
	}
	c->overlaps = calloc(json_len(pools) + 1, sizeof(*c->overlaps));
	return c->overlaps ? 0 : err_nomem(c->e);
}

/* ---- one lease of there ---- */

static bool against_is_held(const struct json *lease)
{
	return strcmp(json_text(lease, "state"), "leased") == 0;
}

/* Two pools must never overlap. Ranges without a pool must not overlap within one network. */
static bool same_wire(const struct json *a, const struct json *b)
{
	if (*json_text(a, "pool") && *json_text(b, "pool"))
		return true;
	return strcmp(json_text(a, "scope"), json_text(b, "scope")) == 0;
}

static void describe_lease(const struct json *lease, char *buf, size_t size)
{
	const char *pod = json_text(lease, "pod"), *node = json_text(lease, "node");

	(void)snprintf(buf, size, "%s%.64s%s%.200s, %s%.100s%s%.100s", *node ? "node " : "", node,
		       *node ? ", " : "", json_text(lease, "scope"), *pod ? "pod " : "container ",
		       *pod ? json_text(lease, "namespace") : json_text(lease, "container"),
		       *pod ? "/" : "", pod);
}

static int against_refuse_own(const struct compare *c)
{
	err_set(c->e, ERR_CONFIG, 0, "--against %.200s: the list is of this node itself",
		c->a->path);
	return err_hint(c->e, "make it on the other node: `railctl ipam lease list --resting "
			      "--json`");
}

/* The same lease of the same container, and the nodes have one name: it is the same store. */
static bool is_own(const struct json *a, const struct json *b)
{
	static const char *const keys[] = { "node", "container", "ifname", "scope", "since" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(json_text(a, keys[i]), json_text(b, keys[i])) != 0)
			return false;
	}
	return *json_text(a, "node") != '\0';
}

/* Returns 1 if it reported the address. A resting address shows only that both nodes assign it. */
static int compare_twins(struct compare *c, const struct json *ours, const struct json *theirs)
{
	char a[600], b[600];

	if (!same_wire(ours, theirs))
		return 0;
	if (is_own(ours, theirs))
		return against_refuse_own(c);
	describe_lease(ours, a, sizeof(a));
	describe_lease(theirs, b, sizeof(b));
	if (against_is_held(ours) && against_is_held(theirs)) {
		c->n_same++;
		finding_set_value(findings_add(c->f, "against", FINDING_FAIL),
				  "%s is leased on both nodes: here (%s) and there (%s)",
				  json_text(ours, "address"), a, b);
	} else {
		c->n_overlaps++;
		finding_set_value(findings_add(c->f, "against", FINDING_FAIL),
				  "%s was given on both nodes: here (%s) and there (%s)",
				  json_text(ours, "address"), a, b);
	}
	return 1;
}

static const struct mine *against_first_of(const struct compare *c, struct ip ip)
{
	size_t lo = 0, hi = c->n_items;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (ip_cmp(c->items[mid].ip, ip) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return c->items + lo;
}

/* The lease is of the pool of the cluster that this node has, too. */
static bool against_is_shared(const struct source *s, const struct json *theirs)
{
	const char *pool = key_pool_of(s->scope);

	return s->blocks.shared && pool && strcmp(pool, json_text(theirs, "pool")) == 0;
}

/* One report for each pool of this node, because more addresses show the same overlap. */
static void compare_range(struct compare *c, struct ip ip, const struct json *theirs)
{
	const struct source_set *set = &c->pools.sets[0];
	char b[600];

	if (!*json_text(theirs, "pool"))
		return;
	for (size_t i = 0; c->pools.n && i < set->n; i++) {
		if (c->overlaps[i] || !ranges_contain(&set->items[i].usable, ip) ||
		    against_is_shared(&set->items[i], theirs))
			continue;
		c->overlaps[i] = true;
		c->n_overlaps++;
		describe_lease(theirs, b, sizeof(b));
		finding_set_value(findings_add(c->f, "against", FINDING_FAIL),
				  "%s of here gives %s too, which is given there (%s)",
				  set->items[i].label, json_text(theirs, "address"), b);
	}
}

static int compare_lease(struct compare *c, const struct json *theirs)
{
	const struct mine *end = c->items + c->n_items;
	struct ip ip;
	int said = 0;

	c->n_leases++;
	if (ip_parse(json_text(theirs, "address"), &ip))
		return err_set(c->e, ERR_CONFIG, 0, "--against %.200s: \"%.64s\" is not an address",
			       c->a->path, json_text(theirs, "address"));
	for (const struct mine *m = against_first_of(c, ip); m < end && ip_equal(m->ip, ip); m++) {
		int rc = compare_twins(c, m->lease, theirs);
		if (rc < 0)
			return -1;
		said |= rc;
	}
	if (!said)
		compare_range(c, ip, theirs);
	return 0;
}

/* ---- one pool of there ---- */

static int compare_pool(struct compare *c, const struct json *pool)
{
	const struct source_set *set = &c->pools.sets[0];
	char a[IP_STR_LEN], b[IP_STR_LEN];
	struct source theirs = { .label = "" };
	struct ip_range both;

	c->n_pools++;
	if (decode_part(pool, &theirs, c->e))
		return err_wrap(c->e, "--against %.200s", c->a->path);
	for (size_t i = 0; c->pools.n && i < set->n; i++) {
		/* Both have the same pool of the cluster; each assigns from its own blocks. */
		if (theirs.blocks.shared && set->items[i].blocks.shared &&
		    strcmp(theirs.label, set->items[i].label) == 0)
			continue;
		if (!ranges_overlap(&set->items[i].usable, &theirs.usable, &both))
			continue;
		c->overlaps[i] = true;
		c->n_overlaps++;
		finding_set_value(findings_add(c->f, "against", FINDING_FAIL),
				  "%s of here and %s of there overlap in %s-%s",
				  set->items[i].label, theirs.label, ip_format(both.first, a),
				  ip_format(both.last, b));
	}
	source_clear(&theirs);
	return 0;
}

/* ---- the file ---- */

static int compare_item(struct compare *c, struct slice text)
{
	auto_json struct json *o = NULL;

	if (json_parse(text.p, text.len, "list", &o, c->e))
		return err_wrap(c->e, "--against %.200s", c->a->path);
	if (json_get(o, "address"))
		return compare_lease(c, o);
	if (json_get(o, "definition"))
		return compare_pool(c, o);
	err_set(c->e, ERR_CONFIG, 0, "--against %.200s: neither leases nor pools", c->a->path);
	return err_hint(c->e, "it takes what `railctl ipam lease list --resting --json` and "
			      "`railctl ipam pool list --json` print on the other node");
}

/* Cut the text from an opening brace to its closing brace; false: there is none. */
static bool cut_object(struct slice *rest, struct slice *object)
{
	size_t depth = 0, i = 0;
	bool quoted = false;

	for (; i < rest->len; i++) {
		char ch = rest->p[i];

		if (quoted && ch == '\\')
			i++;
		else if (ch == '"')
			quoted = !quoted;
		else if (!quoted && ch == '{')
			depth++;
		else if (!quoted && ch == '}' && --depth == 0)
			break;
	}
	if (i >= rest->len)
		return false;
	*object = (struct slice){ rest->p, i + 1 };
	*rest = (struct slice){ rest->p + i + 1, rest->len - i - 1 };
	return true;
}

/* The list of a node may be longer than one JSON text may be, so parse each element alone. */
static int against_compare_lists(struct compare *c, struct slice rest)
{
	bool lists = false;

	while (rest.len) {
		struct slice object;
		char ch = *rest.p;

		if (strchr(" \t\r\n[],", ch)) {
			lists = lists || ch == '[';
			rest = (struct slice){ rest.p + 1, rest.len - 1 };
			continue;
		}
		if (ch != '{' || !cut_object(&rest, &object))
			break;
		if (compare_item(c, object))
			return -1;
	}
	if (lists && !rest.len)
		return 0;
	return err_set(c->e, ERR_CONFIG, 0, "--against %.200s: not a whole list in JSON",
		       c->a->path);
}

static struct json *compare_summary(const struct compare *c)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "from", c->a->path) ||
	    json_add_int(o, "leases", (int64_t)c->n_leases) ||
	    json_add_int(o, "pools", (int64_t)c->n_pools) ||
	    json_add_int(o, "leasedOnBoth", (int64_t)c->n_same) ||
	    json_add_int(o, "overlaps", (int64_t)c->n_overlaps))
		return NULL;
	return TAKE_PTR(o);
}

int compare_with_lists(const struct against *a, struct findings *f, struct json **out,
		       struct err *e)
{
	auto_clean(compare_clear) struct compare c = { .a = a, .f = f, .e = e };
	auto_free char *text = NULL;
	size_t len = 0;

	if (cmd_read(&(struct cmd_input){ a->path, "--against ", LISTS_MAX }, &text, &len, e) ||
	    load_leases(&c) || load_pools(&c) ||
	    against_compare_lists(&c, (struct slice){ text, len }))
		return -1;
	*out = compare_summary(&c);
	return *out ? 0 : err_nomem(e);
}
