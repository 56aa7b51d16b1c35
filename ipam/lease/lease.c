/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c: decodes and prints the values in the store, and compares owners. Pure. */
#include "ipam/lease/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct json_enum states[] = {
	{ "leased", LEASE_HELD },
	{ "resting", LEASE_RESTING },
	{ 0 },
};

struct raw {
	struct lease l;
	int state;
	const char *since;
};

#define TEXT(k, field)                                                                             \
	{                                                                                          \
		.key = k, .kind = J_STRING, .offset = offsetof(struct raw, field)                  \
	}

static const struct json_field fields[] = {
	{ .key = "state",
	  .kind = J_ENUM,
	  .offset = offsetof(struct raw, state),
	  .names = states,
	  .flags = J_REQUIRED },
	{ .key = "since",
	  .kind = J_STRING,
	  .offset = offsetof(struct raw, since),
	  .flags = J_REQUIRED },
	TEXT("network", l.owner.network),
	TEXT("container", l.owner.container),
	TEXT("ifname", l.owner.ifname),
	TEXT("namespace", l.owner.ns),
	TEXT("pod", l.owner.pod),
	TEXT("uid", l.owner.uid),
	TEXT("boot", l.boot),
	TEXT("node", l.node),
	TEXT("source", l.source),
	TEXT("range", l.range),
	{ .key = "probe", .kind = J_BOOL, .offset = offsetof(struct raw, l.probe) },
	{ 0 },
};

/* Every malformed record is ERR_STORE, whatever is wrong with it. */
static int refuse_damaged(const char *what, struct err *e)
{
	if (e->code == ERR_NOMEM)
		return -1;
	err_wrap(e, "the store's record %s is damaged", what);
	e->code = ERR_STORE;
	return err_hint(e, "run `railctl ipam verify --repair`");
}

static int parse_object(const char *text, const char *what, struct json **out, struct err *e)
{
	auto_json struct json *tree = NULL;

	if (json_parse(text, strlen(text), what, &tree, e))
		return refuse_damaged(what, e);
	if (json_type(tree) != JSON_OBJECT) {
		err_set(e, ERR_STORE, 0, "it is %s", json_type_name(tree));
		return refuse_damaged(what, e);
	}
	*out = TAKE_PTR(tree);
	return 0;
}

int lease_parse(const char *text, const char *what, struct lease *out, struct err *e)
{
	struct raw r = { .l = { .owner = { "", "", "", "", "", "" },
				.boot = "",
				.node = "",
				.source = "",
				.range = "" } };
	auto_json struct json *tree = NULL;
	uint64_t since;

	if (parse_object(text, what, &tree, e))
		return -1;
	if (json_decode(tree, "lease", fields, &r, e))
		return refuse_damaged(what, e);
	if (parse_u64(r.since, 0, INT64_MAX, &since) || strlen(r.l.source) > KEY_ID_LEN) {
		err_set(e, ERR_STORE, 0, "since \"%.32s\", source \"%.32s\"", r.since, r.l.source);
		return refuse_damaged(what, e);
	}
	r.l.state = r.state == LEASE_HELD ? LEASE_HELD : LEASE_RESTING;
	r.l.since = (int64_t)since;
	r.l.tree = TAKE_PTR(tree);
	*out = r.l;
	return 0;
}

static int add_text(struct json *o, const char *key, const char *s)
{
	return *s ? json_add_str(o, key, s) : 0;
}

char *lease_print(const struct lease *l)
{
	auto_json struct json *o = json_new_object();
	char since[24];

	(void)snprintf(since, sizeof(since), "%" PRId64, l->since < 0 ? 0 : l->since);
	if (!o || json_add_str(o, "state", states[l->state].name) ||
	    add_text(o, "network", l->owner.network) ||
	    add_text(o, "container", l->owner.container) ||
	    add_text(o, "ifname", l->owner.ifname) || add_text(o, "namespace", l->owner.ns) ||
	    add_text(o, "pod", l->owner.pod) || add_text(o, "uid", l->owner.uid) ||
	    add_text(o, "boot", l->boot) || add_text(o, "node", l->node) ||
	    add_text(o, "source", l->source) || add_text(o, "range", l->range ? l->range : "") ||
	    json_add_str(o, "since", since) || (l->probe && json_add_bool(o, "probe", true)))
		return NULL;
	return json_print(o, false);
}

void lease_clear(struct lease *l)
{
	json_free(l->tree);
	*l = (struct lease){ 0 };
}

char *owner_interface(const char *ifname, char out[OWNER_NAME_SIZE])
{
	const char *suffix = strstr(ifname, OWNER_GUID);
	const int len = suffix ? (int)(suffix - ifname) : (int)strlen(ifname);

	(void)snprintf(out, OWNER_NAME_SIZE, "%.*s", len, ifname);
	return out;
}

char *owner_of_guid(const char *ifname, char out[OWNER_NAME_SIZE])
{
	(void)snprintf(out, OWNER_NAME_SIZE, "%.15s" OWNER_GUID, ifname);
	return out;
}

bool owner_is_of_guid(const char *ifname)
{
	return strstr(ifname, OWNER_GUID) != NULL;
}

bool owner_same(const struct owner *a, const struct owner *b)
{
	return strcmp(a->network, b->network) == 0 && strcmp(a->container, b->container) == 0 &&
	       strcmp(a->ifname, b->ifname) == 0;
}

bool owner_has_pod(const struct owner *o)
{
	return *o->ns && *o->pod;
}

bool owner_same_pod(const struct owner *a, const struct owner *b)
{
	return owner_has_pod(a) && strcmp(a->ns, b->ns) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->ifname, b->ifname) == 0;
}

void lease_names_add(struct lease_names *names, struct ip ip, const struct owner *o)
{
	static const struct owner unknown = { .container = "unknown", .ns = "", .pod = "" };
	size_t len = strlen(names->text);
	char text[IP_STR_LEN];

	if (names->n++ >= LEASE_NAMES_MAX)
		return;
	o = o ? o : &unknown;
	(void)snprintf(names->text + len, sizeof(names->text) - len, "%s%s (%.64s%s%.64s)",
		       len ? ", " : "", ip_format(ip, text), *o->pod ? o->ns : "container",
		       *o->pod ? "/" : " ", *o->pod ? o->pod : o->container);
}

int key_list_parse(const char *text, const char *what, struct key_list *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	size_t i = 0;

	if (json_parse(text, strlen(text), what, &tree, e))
		return refuse_damaged(what, e);
	if (json_type(tree) != JSON_ARRAY || json_len(tree) > LEASE_KEYS_MAX) {
		err_set(e, ERR_STORE, 0, "it is %s of %zu", json_type_name(tree), json_len(tree));
		return refuse_damaged(what, e);
	}
	json_each (item, tree) {
		const char *s = json_str(item);

		if (!s || strlen(s) > STORE_KEY_MAX) {
			err_set(e, ERR_STORE, 0, "item %zu is not a key", i);
			return refuse_damaged(what, e);
		}
		i++;
	}
	out->n = 0;
	json_each (item, tree)
		(void)snprintf(out->items[out->n++].s, sizeof(struct key), "%s", json_str(item));
	return 0;
}

char *key_list_print(const struct key_list *l)
{
	auto_json struct json *list = json_new_array();

	if (!list)
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		if (json_push_str(list, l->items[i].s))
			return NULL;
	}
	return json_print(list, false);
}

static size_t key_list_find(const struct key_list *l, const char *key)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->items[i].s, key) != 0)
		i++;
	return i;
}

void key_list_remove(struct key_list *l, const char *key)
{
	size_t i = key_list_find(l, key);

	if (i == l->n)
		return;
	l->n--;
	memmove(&l->items[i], &l->items[i + 1], (l->n - i) * sizeof(struct key));
}

int key_list_add(struct key_list *l, const char *key)
{
	if (key_list_find(l, key) < l->n)
		return 0;
	if (l->n == LEASE_KEYS_MAX)
		return -1;
	(void)snprintf(l->items[l->n++].s, sizeof(struct key), "%s", key);
	return 0;
}

#define COUNT(k, field)                                                                            \
	{                                                                                          \
		.key = k, .kind = J_I64, .offset = offsetof(struct usage_raw, field), .min = 0,    \
		.max = INT64_C(1) << 52                                                            \
	}

struct usage_raw {
	int64_t used, resting, forgotten;
	const char *next;
	bool done;
};

static const struct json_field usage_fields[] = {
	COUNT("used", used),
	COUNT("resting", resting),
	COUNT("forgotten", forgotten),
	{ .key = "next", .kind = J_STRING, .offset = offsetof(struct usage_raw, next) },
	{ .key = "done", .kind = J_BOOL, .offset = offsetof(struct usage_raw, done) },
	{ 0 },
};

int source_usage_parse(const char *text, const char *what, struct source_usage *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct usage_raw r = { 0 };
	struct source_usage t = { 0 };

	if (!text) {
		*out = t;
		return 0;
	}
	if (parse_object(text, what, &tree, e))
		return -1;
	if (json_decode(tree, "usage", usage_fields, &r, e))
		return refuse_damaged(what, e);
	t.used = (uint64_t)r.used;
	t.resting = (uint64_t)r.resting;
	t.forgotten = (uint64_t)r.forgotten;
	/* A malformed cursor only makes the next search start from the beginning. */
	if (r.next && ip_parse(r.next, &t.next) == 0)
		t.done = r.done;
	*out = t;
	return 0;
}

char *source_usage_print(const struct source_usage *t)
{
	auto_json struct json *o = json_new_object();
	char next[IP_STR_LEN];

	if (!o || json_add_int(o, "used", (int64_t)t->used) ||
	    json_add_int(o, "resting", (int64_t)t->resting))
		return NULL;
	if (t->forgotten && json_add_int(o, "forgotten", (int64_t)t->forgotten))
		return NULL;
	if (t->next.family && json_add_str(o, "next", ip_format(t->next, next)))
		return NULL;
	if (t->done && json_add_bool(o, "done", true))
		return NULL;
	return json_print(o, false);
}
