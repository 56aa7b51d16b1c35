/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.c: stores the members of a JSON object in a struct, by a table of fields. All members
 * are checked before the first one is stored.
 */
#include "lib/json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/guid.h"
#include "lib/base/hw_addr.h"
#include "lib/base/near.h"
#include "lib/base/parse.h"
#include "lib/base/pkey.h"

/* Above this a double does not hold every integer. */
#define MAX_EXACT (INT64_C(1) << 53)

/* One value on its way into a struct, and the words for its errors. */
struct slot {
	const struct json_field *field;
	const struct json *value;
	const char *where;
	void *out; /* NULL: only check */
	struct err *e;
};

static void store_value(const struct slot *s, const void *v, size_t size)
{
	if (s->out)
		memcpy((char *)s->out + s->field->offset, v, size);
}

static int decode_refuse_value(const struct slot *s, enum err_code code, const char *wanted)
{
	char shown[JSON_SHOW_LEN];

	return err_set(s->e, code, 0, "%s%s%s: must be %s, got %s", s->where,
		       s->where[0] ? "." : "", s->field->key, wanted, json_show(s->value, shown));
}

static int decode_string(const struct slot *s)
{
	const struct json_field *f = s->field;
	const char *v = json_str(s->value);

	if (!v)
		return decode_refuse_value(s, ERR_DECODE, "a string");
	size_t len = strlen(v);
	int64_t max = f->max ? f->max : INT64_MAX;
	if (f->kind == J_CHARS && max >= (int64_t)f->size)
		max = (int64_t)f->size - 1;
	if (max != INT64_MAX && (len < (uint64_t)f->min || len > (uint64_t)max)) {
		char wanted[80];

		(void)snprintf(wanted, sizeof(wanted),
			       "a string of %" PRId64 " to %" PRId64 " bytes", f->min, max);
		return decode_refuse_value(s, ERR_CONFIG, wanted);
	}
	if (f->kind == J_CHARS)
		store_value(s, v, len + 1);
	else
		store_value(s, &v, sizeof(v));
	return 0;
}

static int decode_bool(const struct slot *s)
{
	bool v = json_true(s->value);

	if (json_type(s->value) != JSON_BOOL)
		return decode_refuse_value(s, ERR_DECODE, "true or false");
	store_value(s, &v, sizeof(v));
	return 0;
}

static void store_uint(const struct slot *s, uint64_t v)
{
	switch (s->field->size) {
	case sizeof(uint8_t):
		store_value(s, &(uint8_t){ (uint8_t)v }, sizeof(uint8_t));
		return;
	case sizeof(uint16_t):
		store_value(s, &(uint16_t){ (uint16_t)v }, sizeof(uint16_t));
		return;
	case sizeof(uint32_t):
		store_value(s, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t));
		return;
	default:
		store_value(s, &v, sizeof(v));
	}
}

/* J_U32, J_I64, J_UINT and J_CONST. Without bounds of the field, those of the type hold. */
static int decode_int(const struct slot *s)
{
	const struct json_field *f = s->field;
	bool small = f->kind == J_U32, bounded = small || f->kind == J_UINT || f->min || f->max;
	int64_t min = bounded ? f->min : INT64_MIN, max = INT64_MAX;
	double v = json_num(s->value);
	bool whole = json_type(s->value) == JSON_NUMBER && trunc(v) == v;

	if (small || (f->kind == J_UINT && f->size == sizeof(uint32_t)))
		max = f->max ? f->max : UINT32_MAX;
	else if (f->kind == J_UINT && f->size < sizeof(uint32_t))
		max = f->max ? f->max : (1 << (8 * f->size)) - 1;
	else if (f->kind == J_UINT && !f->max)
		max = INT64_MAX;
	else if (bounded && f->max >= f->min)
		max = f->max;
	if (min <= -MAX_EXACT)
		min = 1 - MAX_EXACT;
	if (max >= MAX_EXACT)
		max = MAX_EXACT - 1;
	if (!whole || v < (double)min || v > (double)max) {
		char wanted[80];

		(void)snprintf(wanted, sizeof(wanted),
			       "a whole number from %" PRId64 " to %" PRId64, min, max);
		return decode_refuse_value(s, whole ? ERR_CONFIG : ERR_DECODE, wanted);
	}
	if (small)
		store_value(s, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t));
	else if (f->kind == J_UINT)
		store_uint(s, (uint64_t)v);
	else if (f->kind == J_I64)
		store_value(s, &(int64_t){ (int64_t)v }, sizeof(int64_t));
	return 0;
}

static void list_names(const struct json_enum *names, char *wanted, size_t size)
{
	size_t len = (size_t)snprintf(wanted, size, "one of");

	for (const struct json_enum *n = names; n->name; n++) {
		if (n->name[0] == '\0') /* stands for "not given" */
			continue;
		len += (size_t)snprintf(wanted + len, size - len, "%s%s", len > 6 ? ", " : " ",
					n->name);
		if (len >= size)
			len = size - 1;
	}
}

static int decode_enum(const struct slot *s)
{
	const char *v = json_str(s->value);
	char wanted[400];

	if (!v)
		return decode_refuse_value(s, ERR_DECODE, "a string");
	for (const struct json_enum *n = s->field->names; n->name; n++) {
		if (!strcmp(n->name, v)) {
			store_value(s, &n->value, sizeof(n->value));
			return 0;
		}
	}
	list_names(s->field->names, wanted, sizeof(wanted));
	return decode_refuse_value(s, ERR_FIELD, wanted);
}

static int decode_hw_addr(const struct slot *s)
{
	const char *v = json_str(s->value);
	bool any = s->field->kind == J_HW_ADDR;
	struct hw_addr a;

	if (!v)
		return decode_refuse_value(s, ERR_DECODE, "a string");
	if (*v == '\0')
		return 0;
	if (hw_addr_parse(v, &a) || !(any || hw_addr_is_mac(a)))
		return decode_refuse_value(s, ERR_CONFIG,
					   any ? "a hardware address of 6 or 20 bytes"
					       : "a MAC address like 02:00:5e:10:00:01");
	if (any)
		store_value(s, &a, sizeof(a));
	else
		store_value(s, a.byte, MAC_LEN);
	return 0;
}

static int decode_pkey(const struct slot *s)
{
	const char *text = json_str(s->value);
	double v = json_num(s->value);
	uint16_t pkey = 0;

	if (!text && json_type(s->value) != JSON_NUMBER)
		return decode_refuse_value(s, ERR_DECODE, "a partition key, a string or a number");
	if (text && *text == '\0')
		return 0;
	if (text ? pkey_parse(text, &pkey) != 0
		 : trunc(v) != v || v < 0 || v > UINT16_MAX || !pkey_is_valid((uint64_t)v))
		return decode_refuse_value(
			s, ERR_CONFIG, "a partition key: 0x0001 to 0x7fff, or that with 0x8000");
	if (!text)
		pkey = (uint16_t)v;
	store_value(s, &pkey, sizeof(pkey));
	return 0;
}

static int refuse_text(const struct slot *s, const char *wanted)
{
	char shown[JSON_SHOW_LEN];

	return err_set(s->e, json_str(s->value) ? ERR_CONFIG : ERR_DECODE, 0,
		       "%s%s%s: %s is not %s", s->where, s->where[0] ? "." : "", s->field->key,
		       json_show(s->value, shown), wanted);
}

static int decode_guid(const struct slot *s)
{
	const char *v = json_str(s->value);
	struct guid g;

	if (!v || guid_parse(v, &g))
		return refuse_text(s, "a GUID");
	store_value(s, &g, sizeof(g));
	return 0;
}

/* J_HEX64 and J_DIGITS. */
static int decode_digits(const struct slot *s)
{
	const char *v = json_str(s->value);
	bool hex = s->field->kind == J_HEX64;
	uint64_t most = s->field->max ? (uint64_t)s->field->max : UINT64_MAX, n = 0;

	if (hex && v && strlen(v) == 16 && strspn(v, HEX_DIGITS) == 16)
		n = strtoull(v, NULL, 16);
	else if (hex || !v || parse_u64(v, 0, most, &n))
		return refuse_text(s, hex ? "16 hexadecimal digits" : "a number");
	store_value(s, &n, sizeof(n));
	return 0;
}

/* J_NESTED: an object; J_LIST: an array of objects. */
static int decode_nested(const struct slot *s)
{
	const struct json_field *f = s->field;
	const bool list = f->kind == J_LIST;
	const struct json *it = list ? json_first(s->value) : s->value;
	size_t n = json_len(s->value), most = list ? f->size / f->item : 0, at = f->offset;
	char where[80], wanted[80];

	(void)snprintf(wanted, sizeof(wanted), "an array of at most %zu", most);
	if (list && (json_type(s->value) != JSON_ARRAY || n > most))
		return decode_refuse_value(s, n > most ? ERR_CONFIG : ERR_DECODE, wanted);
	(void)snprintf(where, sizeof(where), "%s%s%s", s->where, s->where[0] ? "." : "", f->key);
	for (; it; it = list ? json_next(it) : NULL, at += f->item) {
		if (json_decode(it, where, f->of, s->out ? (char *)s->out + at : NULL, s->e))
			return -1;
	}
	if (s->out && list)
		memcpy((char *)s->out + f->has, &n, sizeof(n));
	else if (s->out && f->flags & J_IF)
		memcpy((char *)s->out + f->has, &(bool){ true }, sizeof(bool));
	return 0;
}

static int decode_node(const struct slot *s)
{
	enum json_type t = json_type(s->value);

	if (s->field->kind == J_OBJECT && t != JSON_OBJECT)
		return decode_refuse_value(s, ERR_DECODE, "an object");
	if (s->field->kind == J_ARRAY && t != JSON_ARRAY)
		return decode_refuse_value(s, ERR_DECODE, "an array");
	store_value(s, &s->value, sizeof(s->value));
	return 0;
}

static int refuse_missing(const struct json *obj, const struct slot *s)
{
	char wanted[400];

	err_set(s->e, ERR_CONFIG, 0, "%s%s%s: is required, but missing", s->where,
		s->where[0] ? "." : "", s->field->key);
	json_each (it, obj)
		if (near_slip(json_key(it), s->field->key))
			return err_hint(s->e, "\"%.64s\" is there; did you mean \"%s\"?",
					json_key(it), s->field->key);
	if (s->field->kind != J_ENUM)
		return -1;
	list_names(s->field->names, wanted, sizeof(wanted));
	return err_hint(s->e, "it must be %s", wanted);
}

/* Find the field's value in obj, check it, and store it if there is where to. */
static int decode_field(const struct json *obj, struct slot *s)
{
	const struct json_field *f = s->field;
	const struct json *v = json_get(obj, f->key);
	const char *text = (f->flags & J_EMPTY_OK) ? json_str(v) : NULL;

	s->value = text && !*text ? NULL : v;
	if (!s->value)
		return f->flags & J_REQUIRED ? refuse_missing(obj, s) : 0;
	switch (f->kind) {
	case J_STRING:
	case J_CHARS:
		return decode_string(s);
	case J_BOOL:
		return decode_bool(s);
	case J_U32:
	case J_I64:
	case J_UINT:
	case J_CONST:
		return decode_int(s);
	case J_ENUM:
		return decode_enum(s);
	case J_MAC:
	case J_HW_ADDR:
		return decode_hw_addr(s);
	case J_PKEY:
		return decode_pkey(s);
	case J_GUID:
		return decode_guid(s);
	case J_HEX64:
	case J_DIGITS:
		return decode_digits(s);
	case J_NESTED:
	case J_LIST:
		return decode_nested(s);
	case J_OBJECT:
	case J_ARRAY:
	case J_ANY:
		break;
	}
	return decode_node(s);
}

int json_decode(const struct json *obj, const char *where, const struct json_field *fields,
		void *out, struct err *e)
{
	struct slot s = { .where = where, .e = e };

	if (obj && json_type(obj) != JSON_OBJECT) {
		char shown[JSON_SHOW_LEN];

		return err_set(e, ERR_DECODE, 0, "%s%smust be an object, got %s", where,
			       where[0] ? ": " : "", json_show(obj, shown));
	}
	/* The first pass only checks: a failure leaves *out unchanged. */
	for (int pass = 0; pass < (out ? 2 : 1); pass++) {
		for (s.field = fields; s.field->key; s.field++) {
			if (decode_field(obj, &s))
				return -1;
		}
		s.out = out;
	}
	return 0;
}

/* "did you mean", or the whole list. */
static int hint_keys(const struct json_field *const *tables, const char *key, struct err *e)
{
	const char *meant = NULL;
	char keys[400];
	size_t len = 0;

	for (const struct json_field *const *t = tables; *t; t++) {
		for (const struct json_field *f = *t; f->key; f++) {
			(void)near_word(key, f->key, &meant);
			if (len < sizeof(keys))
				len += (size_t)snprintf(keys + len, sizeof(keys) - len, "%s%s",
							len ? ", " : "", f->key);
		}
	}
	return meant ? err_hint(e, "did you mean \"%s\"?", meant)
		     : err_hint(e, "the keys here are %s", keys);
}

static bool decode_is_known(const struct json_field *const *tables, const char *key)
{
	for (; *tables; tables++)
		for (const struct json_field *f = *tables; f->key; f++)
			if (strcmp(f->key, key) == 0)
				return true;
	return false;
}

int json_refuse_unknown_of(const struct json *obj, const char *where,
			   const struct json_field *const *tables, struct err *e)
{
	json_each (it, obj) {
		if (decode_is_known(tables, json_key(it)))
			continue;
		err_set(e, ERR_CONFIG, 0, "%s%s%.64s: there is no such key", where,
			where[0] ? "." : "", json_key(it));
		return hint_keys(tables, json_key(it), e);
	}
	return 0;
}

int json_refuse_unknown(const struct json *obj, const char *where, const struct json_field *fields,
			struct err *e)
{
	const struct json_field *const one[] = { fields, NULL };

	return json_refuse_unknown_of(obj, where, one, e);
}

int json_decode_known(const struct json *obj, const char *where, const struct json_field *fields,
		      void *out, struct err *e)
{
	return json_decode(obj, where, fields, out, e) || json_refuse_unknown(obj, where, fields, e)
		       ? -1
		       : 0;
}
