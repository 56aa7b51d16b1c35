/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: the one door to JSON. cJSON appears only in json.c.
 *
 * Input is bounded in size and depth, must be valid UTF-8 without \u0000, and is consumed whole.
 * Keys match exactly, case included, unless case.h says otherwise; of duplicate keys the
 * last wins (CNI-016). Numbers are doubles and range-checked on the way into integers. A node is
 * owned by its tree; only a root is freed.
 */
#ifndef RAILHEAD_LIB_JSON_JSON_H
#define RAILHEAD_LIB_JSON_JSON_H

#include "lib/base/err.h"

struct json; /* opaque: any node of a tree */

#define JSON_MAX_SIZE  (1024 * 1024)
#define JSON_MAX_DEPTH 32
enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* ---- reading ---- */

/*
 * json_parse - parse len bytes. In errors the text has the name what ("network configuration").
 * ERR_DECODE with the byte offset on bad syntax, size, depth or encoding. Free with json_free().
 */
int json_parse(const char *text, size_t len, const char *what, struct json **out,
	       struct err *e) must_check;
void json_free(struct json *root);
static inline void json_freep(struct json **p)
{
	json_free(*p);
}
#define auto_json auto_clean(json_freep)

enum json_type json_type(const struct json *n);
const char *json_type_name(const struct json *n);                     /* "a string", "an array" */
const struct json *json_get(const struct json *obj, const char *key); /* NULL: absent or null */
const char *json_str(const struct json *n); /* NULL unless a string; lives as long as the tree */
/* The string that obj has as key; "" or otherwise unless it is a string. Lives as the tree. */
const char *json_text(const struct json *obj, const char *key);
const char *json_text_or(const struct json *obj, const char *key, const char *otherwise);
double json_num(const struct json *n); /* 0 unless a number */
bool json_true(const struct json *n);
size_t json_len(const struct json *n);      /* elements of an array or object, else 0 */
const char *json_key(const struct json *n); /* of an object's member */
bool json_same(const struct json *a, const struct json *b); /* keys in any order; 15 digits */
const struct json *json_first(const struct json *n);
const struct json *json_next(const struct json *n);

/* Iterate over array elements or object members; n may be NULL. */
#define json_each(it, n) for (const struct json *it = json_first(n); it; it = json_next(it))

/* ---- structs by table, in both directions ---- */

enum json_kind {
	J_STRING, /* const char *, borrowed from the tree; min/max: length in bytes when max != 0 */
	J_BOOL,   /* bool */
	J_U32,    /* uint32_t, min <= v <= max (max 0: no limit) */
	J_I64,  /* int64_t, |v| < 2^53, within min..max when either is set (max < min: no limit) */
	J_ENUM, /* int, by names[]; a wrong word is ERR_FIELD and lists the right ones (but "") */
	J_MAC,  /* uint8_t[6]; "" counts as absent, as in the reference plugins */
	J_HW_ADDR, /* struct hw_addr; "" counts as absent */
	J_PKEY,    /* uint16_t: "0x8001" or a number (lib/base/pkey.h); "" counts as absent */
	J_OBJECT,  /* const struct json *, must be an object */
	J_ARRAY,   /* const struct json *, must be an array */
	J_ANY,     /* const struct json * */
	/* These need .size, which J_AT() sets. */
	J_CHARS, /* char[size]; min/max: length in bytes, max 0: what fits */
	J_UINT, /* an integer of size bytes, not negative; min..max, max 0: what fits, below 2^53 */
	J_GUID, /* struct guid, as guid_parse() reads it */
	J_HEX64,  /* uint64_t as 16 hexadecimal digits in a string */
	J_DIGITS, /* uint64_t or int64_t as decimal digits in a string, at most max if not 0 */
	J_CONST,  /* a number that no member has: min..max is accepted, min is written */
	J_NESTED, /* an object with a table of its own, .of; its offsets begin at .offset */
	/*
	 * An array of such objects: T[] of .size bytes in all, .item bytes each. Their number is
	 * the size_t at .has.
	 */
	J_LIST,
};

struct json_enum {
	const char *name; /* NULL ends the table */
	int value;
};

#define J_REQUIRED 1u /* absent or null is ERR_CONFIG */
#define J_EMPTY_OK 2u /* "" counts as absent, as for Go, which cannot tell the two apart */
/* Of writing. A string or a node that is NULL, and an empty hardware address, are never written. */
#define J_OMIT    4u   /* 0, false, "", a list of none: not written */
#define J_READ    8u   /* never written: the caller does that */
#define J_IF      16u  /* written if the bool at .has is true; decoding a J_NESTED sets it */
#define J_IF_TEXT 32u  /* written if the text at .has is not "" */
#define J_IF_BIT  64u  /* written if the unsigned at .has has .bit */
#define J_POINTER 128u /* a J_LIST at .offset is a T *, and is only written */

#define J_AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
struct json_field {
	const char *key; /* NULL ends the table */
	enum json_kind kind;
	size_t offset;
	unsigned flags;
	int64_t min, max;
	const struct json_enum *names;
	const struct json_field *of; /* J_NESTED, J_LIST: the table of each object */
	size_t size, item, has;
	unsigned bit;
};

/*
 * json_decode - fill out from obj by table; out NULL: only check. Absent and null leave the field
 * unchanged; unknown keys are ignored (CNI-017); obj NULL has no keys. Errors name the key as
 * "where.key" and quote the value. ERR_DECODE: wrong type, such as 1.5 for an integer. ERR_CONFIG:
 * value out of range, bad MAC or missing key. ERR_FIELD: unknown word.
 */
int json_decode(const struct json *obj, const char *where, const struct json_field *fields,
		void *out, struct err *e) must_check;

/*
 * json_encode - the reverse: add the members of the table to obj, in the order of the table. -1: no
 * memory; obj NULL is that, too. json_encoded - as a new object, owned by the caller.
 * json_print_fields - as its text, see json_print(). NULL: no memory.
 */
int json_encode(struct json *obj, const struct json_field *fields, const void *in) must_check;
struct json *json_encoded(const struct json_field *fields, const void *in);
char *json_print_fields(const struct json_field *fields, const void *in, bool pretty);

/*
 * json_refuse_unknown - ERR_CONFIG naming the first key of obj that the table does not have, and
 * the nearest key that it has: for files that a person writes, where a slip should not go
 * unnoticed.
 */
int json_refuse_unknown(const struct json *obj, const char *where, const struct json_field *fields,
			struct err *e) must_check;
/* json_decode_known - json_decode(), and then json_refuse_unknown(). */
int json_decode_known(const struct json *obj, const char *where, const struct json_field *fields,
		      void *out, struct err *e) must_check;
/* json_refuse_unknown_of - the same for an object that several tables describe; NULL ends them. */
int json_refuse_unknown_of(const struct json *obj, const char *where,
			   const struct json_field *const *tables, struct err *e) must_check;

/* ---- building; each returns 0, or -1 when memory is out (add with || and one err_nomem()) ---- */

struct json *json_new_object(void); /* empty, owned by the caller; NULL when memory is out */
struct json *json_new_array(void);  /* the same */
int json_add_str(struct json *obj, const char *key, const char *s) must_check; /* NULL: nothing */
int json_add_known(struct json *obj, const char *key,
		   const char *s) must_check; /* NULL, "": nothing */
/* Up to 2^53 exactly; beyond that the nearest double: write larger ones as strings. */
int json_add_int(struct json *obj, const char *key, int64_t v) must_check;
int json_add_bool(struct json *obj, const char *key, bool v) must_check;
int json_add_num(struct json *obj, const char *key, double v) must_check; /* null if not finite */
int json_add_null(struct json *obj, const char *key) must_check;
int json_add_or_null(struct json *obj, const char *key,
		     const char *s) must_check;                  /* NULL, "": null */
struct json *json_add_object(struct json *obj, const char *key); /* NULL: no memory */
struct json *json_add_array(struct json *obj, const char *key);
int json_add_copy(struct json *obj, const char *key, const struct json *n) must_check; /* same */
/* Takes ownership of n in any case, also on failure; n NULL fails. Replaces an equal key. */
int json_put(struct json *obj, const char *key, struct json *n) must_check;
void json_del(struct json *obj, const char *key); /* absent is fine */
int json_push_str(struct json *arr, const char *s) must_check;
int json_push_int(struct json *arr, int64_t v) must_check; /* as json_add_int */
struct json *json_push_object(struct json *arr);
int json_push(struct json *arr, struct json *n) must_check; /* takes ownership of n */
struct json *json_dup(const struct json *n);
/* Mutable access for trees that we own (an edited prevResult). */
struct json *json_get_mut(struct json *obj, const char *key);
struct json *json_at_mut(struct json *arr, size_t i);

/*
 * json_print - text with NUL, freed with free(). pretty: one value a line, indented by tabs; no
 * line break at the end. Always valid UTF-8: bytes that are not become U+FFFD. NULL: no memory.
 */
char *json_print(const struct json *n, bool pretty);

/*
 * json_show - a value as an error message quotes it: a scalar as JSON, long strings cut with "...",
 * containers by their kind ("an object"). Returns out.
 */
#define JSON_SHOW_LEN 72
char *json_show(const struct json *n, char out[JSON_SHOW_LEN]);

#endif
