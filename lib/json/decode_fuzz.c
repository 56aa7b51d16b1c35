/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_fuzz.c: feeds any JSON text to a table of fields; values stay within the limits of the
 * table.
 */
#include "lib/json/json.h"
#include "lib/base/hw_addr.h"
#include "lib/base/pkey.h"
#include "lib/testing/fuzz.h"

/* clang-format off */
struct all { const char *s; int64_t i; uint32_t u; int e; uint8_t mac[6]; struct hw_addr hw; uint16_t pkey; const struct json *a, *o; };
#define AT(k) #k, .offset = offsetof(struct all, k)
static const struct json_enum words[] = { { "", 0 }, { "one", 1 }, { "two", 2 }, { 0 } };
static const struct json_field fields[] = {
	{ AT(s), .kind = J_STRING, .min = 1, .max = 9 }, { AT(u), .kind = J_U32, .min = 2, .max = 9000 },
	{ AT(i), .kind = J_I64, .min = -5, .max = 5 }, { AT(e), .kind = J_ENUM, .names = words },
	{ AT(mac), .kind = J_MAC }, { AT(hw), .kind = J_HW_ADDR }, { AT(a), .kind = J_ARRAY, .flags = J_REQUIRED },
	{ AT(o), .kind = J_OBJECT }, { AT(pkey), .kind = J_PKEY }, { 0 },
};
/* clang-format on */

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL;
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct all, x);

	if (!json_parse((const char *)data, size, "text", &tree, &e) &&
	    fuzz_ok(json_decode(tree, "t", fields, &x, &e), &e, &x, sizeof(x)))
		MUST((x.hw.len == 0 || x.hw.len == 6 || x.hw.len == 20 || !json_get(tree, "hw")) &&
		     json_type(x.a) == JSON_ARRAY && (!json_get(tree, "u") || x.u - 2 <= 8998) &&
		     (json_type(json_get(tree, "pkey")) != JSON_NUMBER || pkey_is_valid(x.pkey)));
	return 0;
}
