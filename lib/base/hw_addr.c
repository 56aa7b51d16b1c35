/* SPDX-License-Identifier: Apache-2.0 */
/* hw_addr.c: parses, prints and compares hardware addresses of Ethernet and IPoIB. */
#include "lib/base/hw_addr.h"

#include <string.h>

#include "lib/base/parse.h"

#define IPOIB_GID_AT 4 /* the GID's first byte */

struct hw_addr hw_addr_make(const void *bytes, size_t len)
{
	struct hw_addr a = { 0 };

	if (len == 0 || len > HW_ADDR_MAX)
		return a;
	a.len = (uint8_t)len;
	memcpy(a.byte, bytes, len);
	return a;
}

struct hw_addr hw_addr_of_mac(const uint8_t mac[MAC_LEN])
{
	return hw_addr_make(mac, MAC_LEN);
}

bool hw_addr_equal(struct hw_addr a, struct hw_addr b)
{
	size_t from = a.len == HW_ADDR_MAX ? IPOIB_GID_AT : 0;

	return a.len && a.len == b.len && memcmp(a.byte + from, b.byte + from, a.len - from) == 0;
}

bool hw_addr_guid(struct hw_addr a, struct guid *out)
{
	if (a.len != HW_ADDR_MAX)
		return false;
	memcpy(out->byte, a.byte + HW_ADDR_MAX - GUID_LEN, GUID_LEN);
	return true;
}

int hw_addr_parse(const char *s, struct hw_addr *out)
{
	struct hw_addr a = { 0 };
	char sep = '\0';

	for (;;) {
		int octet = hex_octet(s);

		if (octet < 0 || a.len == HW_ADDR_MAX)
			return -1;
		a.byte[a.len++] = (uint8_t)octet;
		s += 2;
		if (*s == '\0')
			break;
		if (a.len == 1)
			sep = *s;
		if ((sep != ':' && sep != '-') || *s++ != sep)
			return -1;
	}
	if (a.len != MAC_LEN && a.len != HW_ADDR_MAX)
		return -1;
	*out = a;
	return 0;
}

static char *format_octets(const uint8_t *bytes, size_t len, char *out)
{
	char *p = out;

	for (size_t i = 0; i < len; i++) {
		if (i)
			*p++ = ':';
		p = hex_octet_put(p, bytes[i]);
	}
	*p = '\0';
	return out;
}

char *hw_addr_format(struct hw_addr a, char out[HW_ADDR_STR_LEN])
{
	return format_octets(a.byte, a.len, out);
}

int parse_mac(const char *s, uint8_t out[MAC_LEN])
{
	struct hw_addr a;

	if (hw_addr_parse(s, &a) || !hw_addr_is_mac(a))
		return -1;
	memcpy(out, a.byte, MAC_LEN);
	return 0;
}

char *mac_format(const uint8_t mac[MAC_LEN], char out[MAC_STR_LEN])
{
	return format_octets(mac, MAC_LEN, out);
}
