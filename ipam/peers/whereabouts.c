/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whereabouts.c: reads the leases of whereabouts from JSON text. The list of a cluster, or one
 * range, can be longer than the JSON parser accepts. So this file splits both at brackets and
 * commas, and parses each allocation by itself.
 */
#include "ipam/peers/whereabouts.h"

#include <string.h>

#include "lib/json/json.h"
#include "lib/base/parse.h"

/* ---- splitting JSON text ---- */

static void skip_space(struct slice *s)
{
	while (s->len && strchr(" \t\r\n", *s->p))
		*s = (struct slice){ s->p + 1, s->len - 1 };
}

/* The length of the value at the start of s; 0: it does not end. */
static size_t value_len(struct slice s)
{
	size_t depth = 0, i = 0;
	bool quoted = false;

	for (; i < s.len; i++) {
		char c = s.p[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && depth == 0 && strchr(",]} \t\r\n", c))
			return i;
		else if (!quoted && (c == '}' || c == ']'))
			depth--;
		else
			continue;
		if (!quoted && depth == 0 && strchr("\"}]", c))
			return i + 1;
	}
	return quoted || depth || i > s.len ? 0 : s.len;
}

/* Takes the first value off *rest. */
static bool cut_value(struct slice *rest, struct slice *value)
{
	skip_space(rest);
	size_t n = value_len(*rest);

	if (n == 0)
		return false;
	*value = (struct slice){ rest->p, n };
	*rest = (struct slice){ rest->p + n, rest->len - n };
	skip_space(rest);
	return true;
}

struct pool_reader {
	struct slice rest;
	bool object, bad;
};

/* The inside of an object or array; empty for any other value. */
static struct pool_reader walk_into(struct slice value, char open)
{
	struct pool_reader w = { { NULL, 0 }, open == '{', false };

	if (value.len >= 2 && *value.p == open)
		w.rest = (struct slice){ value.p + 1, value.len - 2 };
	skip_space(&w.rest);
	return w;
}

static bool skip_char(struct slice *s, char c)
{
	if (!s->len || *s->p != c)
		return false;
	*s = (struct slice){ s->p + 1, s->len - 1 };
	return true;
}

/* The next member or element. key has its quotes, and is empty in an array. */
static bool walk_next(struct pool_reader *w, struct slice *key, struct slice *value)
{
	*key = (struct slice){ NULL, 0 };
	if (w->bad || !w->rest.len)
		return false;
	w->bad = (w->object &&
		  (!cut_value(&w->rest, key) || *key->p != '"' || !skip_char(&w->rest, ':'))) ||
		 !cut_value(&w->rest, value) || (w->rest.len && !skip_char(&w->rest, ','));
	return !w->bad;
}

static bool find_member(struct slice object, const char *quoted, struct slice *value)
{
	struct pool_reader w = walk_into(object, '{');
	struct slice key;

	while (walk_next(&w, &key, value)) {
		if (slice_is(key, quoted))
			return true;
	}
	*value = (struct slice){ NULL, 0 };
	return false;
}

/* Strings with escapes are refused: no name or address needs them. */
static int unquote(struct slice s, char *out, size_t size)
{
	if (s.len < 2 || *s.p != '"' || memchr(s.p, '\\', s.len))
		return -1;
	return slice_copy((struct slice){ s.p + 1, s.len - 2 }, out, size);
}

/* ---- one range ---- */

struct reader {
	struct ip_prefix range; /* host bits kept: offsets count from there */
	whereabouts_fn fn;
	void *arg;
	struct err *e;
};

static int parse_offset(const char *text, u128 *out)
{
	const u128 most = ~(u128)0;
	u128 v = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (*text < '0' || *text > '9' || v > (most - digit) / 10)
			return -1;
		v = v * 10 + digit;
	}
	*out = v;
	return 0;
}

static void copy_member(const struct json *n, const char *key, char *out, size_t size)
{
	const char *text = json_str(json_get(n, key));

	if (!text || slice_copy((struct slice){ text, strlen(text) }, out, size))
		*out = '\0';
}

static int read_allocation(const struct reader *r, struct slice key, struct slice value)
{
	struct whereabouts_lease l = { .container = "" };
	auto_json struct json *n = NULL;
	char offset[48], ref[2 * WHEREABOUTS_NAME_MAX];
	u128 distance;

	if (unquote(key, offset, sizeof(offset)) || parse_offset(offset, &distance) ||
	    distance > ip_last(r->range).v - r->range.addr.v)
		return 0;
	l.ip = (struct ip){ r->range.addr.family, r->range.addr.v + distance };
	if (json_parse(value.p, value.len, "allocation", &n, r->e))
		return err_wrap(r->e, "the allocation at offset %s", offset);
	copy_member(n, "id", l.container, sizeof(l.container));
	copy_member(n, "ifname", l.ifname, sizeof(l.ifname));
	copy_member(n, "podref", ref, sizeof(ref));
	if (!id_valid(l.container))
		return 0;
	if (ifname_problem(l.ifname))
		*l.ifname = '\0';
	const char *slash = strchr(ref, '/');
	if (!slash || slash == ref || !slash[1] ||
	    slice_copy((struct slice){ ref, (size_t)(slash - ref) }, l.ns, sizeof(l.ns)) ||
	    slice_copy((struct slice){ slash + 1, strlen(slash + 1) }, l.pod, sizeof(l.pod)))
		*l.ns = *l.pod = '\0';
	return r->fn(&l, r->arg, r->e);
}

static int refuse_pool(struct err *e, const char *what)
{
	err_set(e, ERR_CONFIG, 0, "%s", what);
	return err_hint(e, "give it the output of `kubectl get ippools.whereabouts.cni.cncf.io -A "
			   "-o json`");
}

static int read_pool(struct reader *r, struct slice pool)
{
	struct slice spec, range, allocations, key, value;
	char text[PREFIX_STR_LEN + 1];

	if (!find_member(pool, "\"spec\"", &spec) || !find_member(spec, "\"range\"", &range))
		return refuse_pool(r->e, "an item is not an IPPool: it has no spec.range");
	if (unquote(range, text, sizeof(text)) || ip_parse_prefix(text, &r->range))
		return refuse_pool(r->e, "the spec.range of an item is not a network in CIDR form");
	if (!find_member(spec, "\"allocations\"", &allocations) || slice_is(allocations, "null"))
		return 0;
	struct pool_reader w = walk_into(allocations, '{');
	while (walk_next(&w, &key, &value)) {
		int rc = read_allocation(r, key, value);

		if (rc)
			return rc;
	}
	return w.bad || *allocations.p != '{'
		       ? refuse_pool(r->e, "spec.allocations is not an object")
		       : 0;
}

int whereabouts_each(const char *text, size_t len, whereabouts_fn fn, void *arg, struct err *e)
{
	struct slice rest = { text, len }, all, items, key, pool;
	struct reader r = { .fn = fn, .arg = arg, .e = e };

	if (!cut_value(&rest, &all) || rest.len || *all.p != '{')
		return refuse_pool(e, "the text is not one JSON object");
	if (!find_member(all, "\"items\"", &items))
		return read_pool(&r, all);
	struct pool_reader w = walk_into(items, '[');
	while (walk_next(&w, &key, &pool)) {
		int rc = read_pool(&r, pool);

		if (rc)
			return rc;
	}
	return w.bad || *items.p != '[' ? refuse_pool(e, "items is not a JSON array") : 0;
}
