/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c: reads, looks up, builds and changes JSON trees. It is the only file that includes
 * cJSON. Its parser and its tree are used; its printer is not, because that rounds integers
 * above 10^15 (see print.c).
 */
#include "lib/json/json.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/near.h"
#include "lib/json/case.h"
#include "lib/json/priv.h"

struct json {
	cJSON c;
};

static struct json *from_cjson(cJSON *c)
{
	return (struct json *)c;
}

static cJSON *to_cjson(struct json *n)
{
	return (cJSON *)n;
}

int json_build(const char *text, size_t len, struct json **out, struct err *e)
{
	cJSON *c = cJSON_ParseWithLength(text, len);

	if (!c)
		return err_nomem(e);
	*out = from_cjson(c);
	return 0;
}

int json_parse(const char *text, size_t len, const char *what, struct json **out, struct err *e)
{
	if (len > JSON_MAX_SIZE)
		return err_set(e, ERR_DECODE, 0, "%s: %zu bytes, more than the limit of %d", what,
			       len, JSON_MAX_SIZE);
	return json_scan(text, len, what, e) || json_build(text, len, out, e) ? -1 : 0;
}

void json_free(struct json *root)
{
	cJSON_Delete(to_cjson(root));
}

enum json_type json_type(const struct json *n)
{
	switch (n ? n->c.type & 0xff : cJSON_NULL) {
	case cJSON_True:
	case cJSON_False:
		return JSON_BOOL;
	case cJSON_Number:
		return JSON_NUMBER;
	case cJSON_String:
		return JSON_STRING;
	case cJSON_Array:
		return JSON_ARRAY;
	case cJSON_Object:
		return JSON_OBJECT;
	default:
		return JSON_NULL;
	}
}

const char *json_type_name(const struct json *n)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",       [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
	};

	return names[json_type(n)];
}

/* Bits of cJSON's type that cJSON itself leaves alone. */
#define FOLDS   (1 << 16) /* object: keys in another case are taken, too */
#define FOLDED  (1 << 17) /* member: its key was in another case and has been rewritten */
#define CLASHES (1 << 18) /* member: another spelling of its key was taken */
#define READ    (1 << 19) /* member: its key was asked for */
#define ASKED   (1 << 20) /* object: any key was asked for */
#define SLIP    (1 << 21) /* member: a key was asked for that is nearly the same */
#define NOMEM   (1 << 22) /* object: there was no memory for such a key */

/* The next character of a key, as Go folds it: U+017F is an s and U+212A a k. */
static int next_folded(const char **key)
{
	const char *s = *key;

	if (strncmp(s, "\xc5\xbf", 2) == 0) {
		*key += 2;
		return 's';
	}
	if (strncmp(s, "\xe2\x84\xaa", 3) == 0) {
		*key += 3;
		return 'k';
	}
	*key += 1;
	return tolower((unsigned char)*s);
}

static bool same_but_case(const char *a, const char *b)
{
	int c;

	do {
		c = next_folded(&a);
		if (c != next_folded(&b))
			return false;
	} while (c);
	return true;
}

/* The last member of that key, from the back: cJSON keeps the last child as prev of the first. */
static cJSON *find_exact(const struct json *obj, const char *key)
{
	cJSON *first = obj->c.child, *c = first->prev;

	for (; strcmp(c->string, key) != 0; c = c->prev)
		if (c == first)
			return NULL;
	return c;
}

/*
 * The keys that were asked for and nearly given, each with a line break, are the text of the
 * object; cJSON has none there.
 */
static void note_slips(cJSON *obj, const char *key)
{
	bool any = false;

	for (cJSON *c = obj->child; c; c = c->next) {
		if (c->type & (READ | SLIP) || !near_slip(c->string, key))
			continue;
		any = true;
		c->type |= SLIP;
	}
	if (!any)
		return;
	size_t old = obj->valuestring ? strlen(obj->valuestring) : 0;
	char *text = realloc(obj->valuestring, old + strlen(key) + 2);
	if (!text) {
		obj->type |= NOMEM;
		return;
	}
	(void)stpcpy(stpcpy(text + old, key), "\n");
	obj->valuestring = text;
}

/*
 * The exact key, or the last member of that key in another case, which gets the key asked for: it
 * is never longer than the one in the text. Members that lose to another one are marked.
 */
static cJSON *find_folded(cJSON *obj, const char *key)
{
	cJSON *first = obj->child, *exact = NULL, *other = NULL, *c = first;

	do {
		c = c->prev;
		if (!same_but_case(c->string, key))
			continue;
		c->type |= READ;
		if (strcmp(c->string, key) == 0)
			exact = exact ? exact : c;
		else if (other)
			c->type |= CLASHES;
		else
			other = c;
	} while (c != first);
	if (exact && other)
		other->type |= CLASHES;
	if (exact || !other)
		return exact;
	memcpy(other->string, key, strlen(key) + 1);
	other->type |= FOLDED;
	return other;
}

static cJSON *json_find_member(const struct json *obj, const char *key)
{
	if (json_type(obj) != JSON_OBJECT || !obj->c.child)
		return NULL;
	if (!(obj->c.type & FOLDS))
		return find_exact(obj, key);
	cJSON *o = (cJSON *)&obj->c, *c = find_folded(o, key); /* it gets marks, as members do */
	o->type |= ASKED;
	note_slips(o, key);
	return c;
}

size_t json_fold_case(struct json *root)
{
	size_t most = 0, n = 0;

	for (cJSON *c = root ? root->c.child : NULL; c; c = c->next) {
		size_t below = json_fold_case(from_cjson(c));

		n++;
		most = below > most ? below : most;
	}
	if (json_type(root) != JSON_OBJECT)
		return most;
	root->c.type |= FOLDS;
	return n > most ? n : most;
}

/* The path of the member at hand, and who wants to know. */
struct key_scan {
	char path[256];
	json_key_fn fn;
	void *arg;
};

/* The key that was asked for and is nearly this one. */
static const char *find_meant(const cJSON *obj, const char *key, char out[64])
{
	const char *line = obj->valuestring;

	for (size_t len; line && *line; line += len + 1) {
		len = strcspn(line, "\n");
		(void)snprintf(out, 64, "%.*s", (int)len, line);
		if (near_slip(key, out))
			return out;
	}
	return "";
}

static int report_key(const cJSON *obj, cJSON *c, const struct key_scan *s)
{
	struct json_key key = { JSON_KEY_UNREAD, s->path, "", from_cjson(c) };
	char meant[64];

	if (c->type & (FOLDED | CLASHES))
		key.finding = c->type & CLASHES ? JSON_KEY_CLASH : JSON_KEY_CASE;
	else if (c->type & READ || !(obj->type & ASKED))
		return 0;
	if (c->type & SLIP && key.finding == JSON_KEY_UNREAD) {
		key.finding = JSON_KEY_SLIP;
		key.meant = find_meant(obj, c->string, meant);
	}
	return s->fn(&key, s->arg);
}

static int scan_keys(const struct json *n, struct key_scan *s, size_t len)
{
	bool object = json_type(n) == JSON_OBJECT;
	size_t i = 0;

	if (object && n->c.type & NOMEM)
		return s->fn(&(struct json_key){ JSON_KEY_NOMEM, s->path, "", n }, s->arg);
	for (cJSON *c = n ? n->c.child : NULL; c; c = c->next) {
		size_t left = sizeof(s->path) - len;
		int m = object ? snprintf(s->path + len, left, "%s%s", len ? "." : "", c->string)
			       : snprintf(s->path + len, left, "[%zu]", i++);
		size_t end = m < 0 || (size_t)m >= left ? sizeof(s->path) - 1 : len + (size_t)m;
		int rc = object ? report_key(&n->c, c, s) : 0;

		if (rc == 0)
			rc = scan_keys(from_cjson(c), s, end);
		if (rc)
			return rc;
	}
	return 0;
}

int json_each_key(const struct json *root, json_key_fn fn, void *arg)
{
	struct key_scan s = { .path = "", .fn = fn, .arg = arg };

	return scan_keys(root, &s, 0);
}

const struct json *json_get(const struct json *obj, const char *key)
{
	cJSON *c = json_find_member(obj, key);

	return c && !cJSON_IsNull(c) ? from_cjson(c) : NULL;
}

struct json *json_get_mut(struct json *obj, const char *key)
{
	cJSON *c = json_find_member(obj, key);

	return c && !cJSON_IsNull(c) ? from_cjson(c) : NULL;
}

const char *json_str(const struct json *n)
{
	return json_type(n) == JSON_STRING ? n->c.valuestring : NULL;
}

const char *json_text_or(const struct json *obj, const char *key, const char *otherwise)
{
	const char *text = json_str(json_get(obj, key));

	return text ? text : otherwise;
}

const char *json_text(const struct json *obj, const char *key)
{
	return json_text_or(obj, key, "");
}

double json_num(const struct json *n)
{
	return json_type(n) == JSON_NUMBER ? n->c.valuedouble : 0;
}

bool json_true(const struct json *n)
{
	return n && cJSON_IsTrue(&n->c);
}

size_t json_len(const struct json *n)
{
	size_t len = 0;

	json_each (it, n)
		len++;
	return len;
}

const char *json_key(const struct json *n)
{
	return n ? n->c.string : NULL;
}

bool json_same(const struct json *a, const struct json *b)
{
	return a && b ? cJSON_Compare(&a->c, &b->c, true) : a == b;
}

const struct json *json_first(const struct json *n)
{
	return n ? from_cjson(n->c.child) : NULL;
}

const struct json *json_next(const struct json *n)
{
	return n ? from_cjson(n->c.next) : NULL;
}

struct json *json_new_object(void)
{
	return from_cjson(cJSON_CreateObject());
}

struct json *json_new_array(void)
{
	return from_cjson(cJSON_CreateArray());
}

struct json *json_dup(const struct json *n)
{
	return n ? from_cjson(cJSON_Duplicate(&n->c, true)) : NULL;
}

/* Add as last member; takes ownership of c in any case. */
static cJSON *json_add_member(struct json *obj, const char *key, cJSON *c)
{
	if (json_type(obj) == JSON_OBJECT && cJSON_AddItemToObject(&obj->c, key, c))
		return c;
	cJSON_Delete(c);
	return NULL;
}

static cJSON *append_item(struct json *arr, cJSON *c)
{
	if (json_type(arr) == JSON_ARRAY && cJSON_AddItemToArray(&arr->c, c))
		return c;
	cJSON_Delete(c);
	return NULL;
}

int json_add_str(struct json *obj, const char *key, const char *s)
{
	if (!s)
		return 0;
	return json_add_member(obj, key, cJSON_CreateString(s)) ? 0 : -1;
}

int json_add_known(struct json *obj, const char *key, const char *s)
{
	return s && *s ? json_add_str(obj, key, s) : 0;
}

int json_add_int(struct json *obj, const char *key, int64_t v)
{
	return json_add_member(obj, key, cJSON_CreateNumber((double)v)) ? 0 : -1;
}

int json_add_bool(struct json *obj, const char *key, bool v)
{
	return json_add_member(obj, key, cJSON_CreateBool(v)) ? 0 : -1;
}

int json_add_num(struct json *obj, const char *key, double v)
{
	return json_add_member(obj, key, isfinite(v) ? cJSON_CreateNumber(v) : cJSON_CreateNull())
		       ? 0
		       : -1;
}

int json_add_null(struct json *obj, const char *key)
{
	return json_add_member(obj, key, cJSON_CreateNull()) ? 0 : -1;
}

int json_add_or_null(struct json *obj, const char *key, const char *s)
{
	return s && *s ? json_add_str(obj, key, s) : json_add_null(obj, key);
}

struct json *json_add_object(struct json *obj, const char *key)
{
	return from_cjson(json_add_member(obj, key, cJSON_CreateObject()));
}

struct json *json_add_array(struct json *obj, const char *key)
{
	return from_cjson(json_add_member(obj, key, cJSON_CreateArray()));
}

int json_add_copy(struct json *obj, const char *key, const struct json *n)
{
	if (!n)
		return 0;
	return json_add_member(obj, key, to_cjson(json_dup(n))) ? 0 : -1;
}

/* Delete the members of that key that stand before end; NULL: all of them. */
static void del_before(struct json *obj, const char *key, const cJSON *end)
{
	for (cJSON *c = obj->c.child, *next; c != end; c = next) {
		next = c->next;
		if (!strcmp(c->string, key))
			cJSON_Delete(cJSON_DetachItemViaPointer(&obj->c, c));
	}
}

int json_put(struct json *obj, const char *key, struct json *n)
{
	const cJSON *c = json_add_member(obj, key, to_cjson(n));

	if (!c)
		return -1;
	del_before(obj, key, c);
	return 0;
}

void json_del(struct json *obj, const char *key)
{
	if (json_type(obj) == JSON_OBJECT)
		del_before(obj, key, NULL);
}

int json_push_str(struct json *arr, const char *s)
{
	return append_item(arr, cJSON_CreateString(s)) ? 0 : -1;
}

int json_push_int(struct json *arr, int64_t v)
{
	return append_item(arr, cJSON_CreateNumber((double)v)) ? 0 : -1;
}

struct json *json_push_object(struct json *arr)
{
	return from_cjson(append_item(arr, cJSON_CreateObject()));
}

int json_push(struct json *arr, struct json *n)
{
	return append_item(arr, to_cjson(n)) ? 0 : -1;
}

struct json *json_at_mut(struct json *arr, size_t i)
{
	cJSON *c = json_type(arr) == JSON_ARRAY ? arr->c.child : NULL;

	for (; c && i > 0; i--)
		c = c->next;
	return from_cjson(c);
}
