/* SPDX-License-Identifier: Apache-2.0 */
/* guid.c: parses, prints and compares GUIDs of InfiniBand. */
#include "lib/base/guid.h"

#include <string.h>

#include "lib/base/parse.h"

/* group: octets between two separators sep. */
static int parse_groups(const char *s, size_t group, char sep, struct guid *out)
{
	struct guid g;

	for (size_t i = 0; i < GUID_LEN; i++, s += 2) {
		if (i && i % group == 0 && *s++ != sep)
			return -1;
		int octet = hex_octet(s);

		if (octet < 0)
			return -1;
		g.byte[i] = (uint8_t)octet;
	}
	if (*s)
		return -1;
	*out = g;
	return 0;
}

int guid_parse(const char *s, struct guid *out)
{
	if (!parse_groups(s, 1, ':', out) || !parse_groups(s, 1, '-', out) ||
	    !parse_groups(s, 2, ':', out) || !parse_groups(s, 2, '.', out))
		return 0;
	return -1;
}

char *guid_format(struct guid g, char out[GUID_STR_LEN])
{
	char *p = out;

	for (size_t i = 0; i < GUID_LEN; i++) {
		if (i)
			*p++ = ':';
		p = hex_octet_put(p, g.byte[i]);
	}
	return out;
}

bool guid_is_usable(struct guid g)
{
	return !guid_equal(g, GUID_ZERO) && !guid_equal(g, GUID_ALL_ONE);
}

bool guid_equal(struct guid a, struct guid b)
{
	return memcmp(a.byte, b.byte, GUID_LEN) == 0;
}

struct guid guid_of_number(uint64_t number)
{
	struct guid g;

	for (size_t i = GUID_LEN; i-- > 0; number >>= 8)
		g.byte[i] = (uint8_t)number;
	return g;
}

uint64_t guid_number(struct guid g)
{
	uint64_t number = 0;

	for (size_t i = 0; i < GUID_LEN; i++)
		number = number << 8 | g.byte[i];
	return number;
}

/* ---- GIDs: InfiniBand Architecture Specification, 4.1.1: the default GID prefix ---- */

#define DEFAULT_PREFIX ((u128)0xfe80000000000000 << 64)

struct ip guid_gid(struct guid g)
{
	return (struct ip){ IP_V6, DEFAULT_PREFIX | guid_number(g) };
}

struct guid guid_of_gid(struct ip gid)
{
	return guid_of_number((uint64_t)gid.v);
}

bool guid_is_network(struct ip_prefix net)
{
	return net.addr.family == IP_V6 && net.len >= 64 &&
	       net.addr.v >> 64 == DEFAULT_PREFIX >> 64;
}
