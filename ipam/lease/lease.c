/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c: decodes and prints the values in the store, and compares owners. Pure. */
#include "ipam/lease/lease.h"

#include <stdio.h>
#include <string.h>

static const struct json_enum states[] = {
	{ "leased", LEASE_HELD },
	{ "resting", LEASE_RESTING },
	{ 0 },
};

static const struct json_field state_fields[] = {
	{ "state", J_ENUM, J_AT(struct lease, state), .flags = J_REQUIRED, .names = states },
	{ 0 },
};

const struct json_field owner_fields[] = {
	{ "network", J_STRING, J_AT(struct owner, network), .flags = J_OMIT },
	{ "container", J_STRING, J_AT(struct owner, container), .flags = J_OMIT },
	{ "ifname", J_STRING, J_AT(struct owner, ifname), .flags = J_OMIT },
	{ "namespace", J_STRING, J_AT(struct owner, ns), .flags = J_OMIT },
	{ "pod", J_STRING, J_AT(struct owner, pod), .flags = J_OMIT },
	{ "uid", J_STRING, J_AT(struct owner, uid), .flags = J_OMIT },
	{ 0 },
};

/* Behind those of the owner. */
static const struct json_field rest_fields[] = {
	{ "boot", J_STRING, J_AT(struct lease, boot), .flags = J_OMIT },
	{ "node", J_STRING, J_AT(struct lease, node), .flags = J_OMIT },
	{ "source", J_STRING, J_AT(struct lease, source), .flags = J_OMIT },
	{ "range", J_STRING, J_AT(struct lease, range), .flags = J_OMIT },
	{ "since", J_DIGITS, J_AT(struct lease, since), .flags = J_REQUIRED, .max = INT64_MAX },
	{ "probe", J_BOOL, J_AT(struct lease, probe), .flags = J_OMIT },
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
	struct lease l = { .owner = { "", "", "", "", "", "" },
			   .boot = "",
			   .node = "",
			   .source = "",
			   .range = "" };
	auto_json struct json *tree = NULL;

	if (parse_object(text, what, &tree, e))
		return -1;
	if (json_decode(tree, "lease", state_fields, &l, e) ||
	    json_decode(tree, "lease", owner_fields, &l.owner, e) ||
	    json_decode(tree, "lease", rest_fields, &l, e))
		return refuse_damaged(what, e);
	if (strlen(l.source) > KEY_ID_LEN) {
		err_set(e, ERR_STORE, 0, "source \"%.32s\"", l.source);
		return refuse_damaged(what, e);
	}
	l.tree = TAKE_PTR(tree);
	*out = l;
	return 0;
}

char *lease_print(const struct lease *l)
{
	auto_json struct json *o = json_encoded(state_fields, l);
	struct lease copy = *l;

	copy.since = l->since < 0 ? 0 : l->since;
	if (json_encode(o, owner_fields, &l->owner) || json_encode(o, rest_fields, &copy))
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

#define COUNT_MAX (INT64_C(1) << 52)

struct usage_value {
	struct source_usage u;
	const char *next;
};

static const struct json_field usage_fields[] = {
	{ "used", J_UINT, J_AT(struct usage_value, u.used), .max = COUNT_MAX },
	{ "resting", J_UINT, J_AT(struct usage_value, u.resting), .max = COUNT_MAX },
	{ "forgotten", J_UINT, J_AT(struct usage_value, u.forgotten), .flags = J_OMIT,
	  .max = COUNT_MAX },
	{ "next", J_STRING, J_AT(struct usage_value, next) },
	{ "done", J_BOOL, J_AT(struct usage_value, u.done), .flags = J_OMIT },
	{ 0 },
};

int source_usage_parse(const char *text, const char *what, struct source_usage *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct usage_value v = { .next = NULL };

	if (text && parse_object(text, what, &tree, e))
		return -1;
	if (json_decode(tree, "usage", usage_fields, &v, e))
		return refuse_damaged(what, e);
	/* A malformed cursor only makes the next search start from the beginning. */
	if (!v.next || ip_parse(v.next, &v.u.next))
		v.u.done = false;
	*out = v.u;
	return 0;
}

char *source_usage_print(const struct source_usage *t)
{
	char next[IP_STR_LEN];
	struct usage_value v = { *t, t->next.family ? ip_format(t->next, next) : NULL };

	return json_print_fields(usage_fields, &v, false);
}
