/* SPDX-License-Identifier: Apache-2.0 */
/* long.c: json_parse() with another limit. */
#include "lib/json/long.h"

#include "lib/json/priv.h"

int json_parse_long(const char *text, size_t len, const char *what, struct json **out,
		    struct err *e)
{
	if (len > JSON_LONG_SIZE)
		return err_set(e, ERR_DECODE, 0, "%s: %zu bytes, more than the limit of %d", what,
			       len, JSON_LONG_SIZE);
	return json_scan(text, len, what, e) || json_build(text, len, out, e) ? -1 : 0;
}
