/* SPDX-License-Identifier: Apache-2.0 */
/* json_long.c: json_parse() with another limit. */
#include "lib/json/json_long.h"

#include "lib/json/json_priv.h"

int json_parse_long(const char *text, size_t len, const char *what, struct json **out,
		    struct err *e)
{
	const struct json_text t = { text, len, JSON_LONG_SIZE };

	return json_parse_within(&t, what, out, e);
}
