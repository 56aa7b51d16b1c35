/* SPDX-License-Identifier: Apache-2.0 */
/* pkey.c: parses and prints partition keys of InfiniBand. */
#include "lib/base/pkey.h"

#include "lib/base/parse.h"

bool pkey_is_valid(uint64_t v)
{
	return v <= UINT16_MAX && pkey_partition((uint16_t)v) != 0;
}

/* Behind "0x": 1 to 4 digits. */
static int hex_number(const char *digits, uint64_t *out)
{
	uint32_t v;
	size_t n = hex_take(digits, 4, &v);

	if (n == 0 || digits[n] != '\0')
		return -1;
	*out = v;
	return 0;
}

int pkey_parse(const char *s, uint16_t *out)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	uint64_t v;

	if (hex ? hex_number(s + 2, &v) : parse_u64(s, 0, UINT16_MAX, &v))
		return -1;
	if (!pkey_is_valid(v))
		return -1;
	*out = (uint16_t)v;
	return 0;
}

char *pkey_format(uint16_t pkey, char out[PKEY_STR_LEN])
{
	char *p = out;

	*p++ = '0';
	*p++ = 'x';
	p = hex_octet_put(p, (uint8_t)(pkey >> 8));
	(void)hex_octet_put(p, (uint8_t)pkey);
	return out;
}
