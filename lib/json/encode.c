/* SPDX-License-Identifier: Apache-2.0 */
/* encode.c: writes a struct as members of a JSON object, by the table that decodes it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/guid.h"
#include "lib/base/hw_addr.h"
#include "lib/base/pkey.h"
#include "lib/json/json.h"

static uint64_t number_at(const struct json_field *f, const void *at)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (f->kind == J_U32 || f->kind == J_ENUM ? sizeof(v32) : f->size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(v16):
		memcpy(&v16, at, sizeof(v16));
		return v16;
	case sizeof(v32):
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, at, sizeof(v64));
		return v64;
	}
}

static int encode_text(struct json *obj, const struct json_field *f, const char *text)
{
	return f->flags & J_OMIT ? json_add_known(obj, f->key, text)
				 : json_add_str(obj, f->key, text);
}

static int encode_number(struct json *obj, const struct json_field *f, int64_t v)
{
	return f->flags & J_OMIT && v == 0 ? 0 : json_add_int(obj, f->key, v);
}

/* A number as text: J_HEX64 and J_DIGITS. */
static int encode_digits(struct json *obj, const struct json_field *f, const char *at)
{
	uint64_t v = number_at(f, at);
	char text[24];

	(void)snprintf(text, sizeof(text), f->kind == J_HEX64 ? "%016" PRIx64 : "%" PRIu64, v);
	return f->flags & J_OMIT && v == 0 ? 0 : json_add_str(obj, f->key, text);
}

static int encode_enum(struct json *obj, const struct json_field *f, int v)
{
	const struct json_enum *n = f->names;

	while (n->name && n->value != v)
		n++;
	if (!n->name && !(f->flags & J_OMIT))
		return -1;
	return encode_text(obj, f, n->name);
}

static int encode_address(struct json *obj, const struct json_field *f, const void *at)
{
	char text[HW_ADDR_STR_LEN];
	struct hw_addr hw;
	struct guid guid;

	switch ((int)f->kind) {
	case J_MAC:
		return json_add_str(obj, f->key, mac_format(at, text));
	case J_HW_ADDR:
		memcpy(&hw, at, sizeof(hw));
		return json_add_known(obj, f->key, hw_addr_format(hw, text));
	default:
		memcpy(&guid, at, sizeof(guid));
		if (f->flags & J_OMIT && guid_equal(guid, GUID_ZERO))
			return 0;
		return json_add_str(obj, f->key, guid_format(guid, text));
	}
}

static int encode_pkey(struct json *obj, const struct json_field *f, const void *at)
{
	char text[PKEY_STR_LEN];
	uint16_t pkey;

	memcpy(&pkey, at, sizeof(pkey));
	return f->flags & J_OMIT && !pkey ? 0 : json_add_str(obj, f->key, pkey_format(pkey, text));
}

static int encode_list(struct json *obj, const struct json_field *f, const char *in)
{
	const char *item = in + f->offset;
	struct json *list;
	size_t n;

	memcpy(&n, in + f->has, sizeof(n));
	if (f->flags & J_POINTER)
		memcpy(&item, in + f->offset, sizeof(item));
	if (!n && f->flags & J_OMIT)
		return 0;
	list = json_add_array(obj, f->key);
	for (; list && n; n--, item += f->item)
		if (json_encode(json_push_object(list), f->of, item))
			return -1;
	return list ? 0 : -1;
}

static int encode_field(struct json *obj, const struct json_field *f, const char *in)
{
	const char *at = in + f->offset, *text;
	const struct json *node;

	switch (f->kind) {
	case J_STRING:
		memcpy(&text, at, sizeof(text));
		return encode_text(obj, f, text);
	case J_CHARS:
		return encode_text(obj, f, at);
	case J_BOOL:
		return f->flags & J_OMIT && !*at ? 0 : json_add_bool(obj, f->key, *at);
	case J_U32:
	case J_UINT:
	case J_I64:
		return encode_number(obj, f, (int64_t)number_at(f, at));
	case J_CONST:
		return json_add_int(obj, f->key, f->min);
	case J_HEX64:
	case J_DIGITS:
		return encode_digits(obj, f, at);
	case J_ENUM:
		return encode_enum(obj, f, (int)number_at(f, at));
	case J_MAC:
	case J_HW_ADDR:
	case J_GUID:
		return encode_address(obj, f, at);
	case J_PKEY:
		return encode_pkey(obj, f, at);
	case J_OBJECT:
	case J_ARRAY:
	case J_ANY:
		memcpy(&node, at, sizeof(node));
		return json_add_copy(obj, f->key, node);
	case J_NESTED:
		return json_encode(json_add_object(obj, f->key), f->of, at);
	case J_LIST:
		return encode_list(obj, f, in);
	}
	return -1;
}

static bool is_written(const struct json_field *f, const char *in)
{
	unsigned bits = 0;

	if (f->flags & J_IF_BIT)
		memcpy(&bits, in + f->has, sizeof(bits));
	return !(f->flags & J_READ) && (!(f->flags & (J_IF | J_IF_TEXT)) || in[f->has]) &&
	       (!(f->flags & J_IF_BIT) || (bits & f->bit));
}

int json_encode(struct json *obj, const struct json_field *fields, const void *in)
{
	for (const struct json_field *f = fields; f->key; f++)
		if (is_written(f, in) && encode_field(obj, f, in))
			return -1;
	return obj ? 0 : -1;
}

struct json *json_encoded(const struct json_field *fields, const void *in)
{
	auto_json struct json *o = json_new_object();

	return json_encode(o, fields, in) ? NULL : TAKE_PTR(o);
}

char *json_print_fields(const struct json_field *fields, const void *in, bool pretty)
{
	auto_json struct json *o = json_encoded(fields, in);

	return o ? json_print(o, pretty) : NULL;
}
