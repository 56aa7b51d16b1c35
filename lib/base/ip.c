/* SPDX-License-Identifier: Apache-2.0 */
/* ip.c: parses, prints, orders and masks IP addresses, prefixes and ranges. */
#include "lib/base/ip.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"

/* ::ffff:0:0/96, the IPv4-mapped addresses (RFC 4291 section 2.5.5.2) */
#define V4_MAPPED 0xffff

static struct slice slice_of(const char *s)
{
	/* a longer text is not an address in any case */
	return (struct slice){ s, strnlen(s, 2 * PREFIX_STR_LEN) };
}

static int parse_addr(struct slice s, struct ip *out)
{
	char text[IP_STR_LEN];
	uint8_t b[16];

	if (slice_copy(s, text, sizeof(text)))
		return -1;
	/* glibc takes neither leading zeros nor zones here: ip_test.c holds it to that */
	if (inet_pton(AF_INET, text, b) == 1)
		return ip_from_bytes(b, 4, out);
	if (inet_pton(AF_INET6, text, b) == 1)
		return ip_from_bytes(b, 16, out);
	return -1;
}

/* Cut s at its only sep. False when there is none; then s is left alone. */
static bool cut_at(struct slice *s, char sep, struct slice *tail)
{
	struct slice rest = *s, head;

	(void)slice_next(&rest, sep, &head);
	if (!rest.p)
		return false;
	*s = head;
	*tail = rest;
	return true;
}

static int parse_prefix(struct slice s, struct ip_prefix *out)
{
	struct ip_prefix p;
	struct slice len;
	char text[4];
	uint64_t n;

	if (!cut_at(&s, '/', &len) || parse_addr(s, &p.addr))
		return -1;
	/* "/08" is refused: nobody knows what was meant */
	if (slice_copy(len, text, sizeof(text)) || (text[0] == '0' && text[1]) ||
	    parse_u64(text, 0, ip_bits(p.addr.family), &n))
		return -1;
	p.len = (uint8_t)n;
	*out = p;
	return 0;
}

int ip_drop_zeros(const char *text, char out[PREFIX_STR_LEN])
{
	size_t n = 0;
	bool inside = false; /* a number has begun */

	if (strchr(text, ':')) /* IPv6: leading zeros are allowed */
		return slice_copy(slice_of(text), out, PREFIX_STR_LEN);
	for (const char *c = text; *c; c++) {
		if (*c == '0' && !inside && c[1] >= '0' && c[1] <= '9')
			continue;
		inside = *c >= '0' && *c <= '9';
		if (n + 1 >= PREFIX_STR_LEN)
			return -1;
		out[n++] = *c;
	}
	out[n] = '\0';
	return 0;
}

int ip_parse(const char *s, struct ip *out)
{
	return parse_addr(slice_of(s), out);
}

struct ip ip_unmap(struct ip a)
{
	if (a.family == IP_V6 && a.v >> 32 == 0xffff)
		return (struct ip){ IP_V4, (uint32_t)a.v };
	return a;
}

int ip_parse_prefix(const char *s, struct ip_prefix *out)
{
	return parse_prefix(slice_of(s), out);
}

int ip_parse_range(const char *s, struct ip_range *out)
{
	struct slice head = slice_of(s), tail;
	struct ip_range r;
	struct ip_prefix p;

	if (!parse_prefix(head, &p)) {
		*out = (struct ip_range){ ip_network(p), ip_last(p) };
		return 0;
	}
	if (!cut_at(&head, '-', &tail))
		tail = head;
	if (parse_addr(head, &r.first) || parse_addr(tail, &r.last))
		return -1;
	if (r.first.family != r.last.family || r.first.v > r.last.v)
		return -1;
	*out = r;
	return 0;
}

static uint16_t ipv6_group(u128 v, int i)
{
	return (uint16_t)(v >> (112 - 16 * i));
}

/* The first of the longest runs of two or more zero groups (RFC 5952 section 4.2). */
static int longest_zeros(u128 v, int *len)
{
	int best = -1;

	*len = 1;
	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && ipv6_group(v, i + n) == 0)
			n++;
		if (n > *len) {
			best = i;
			*len = n;
		}
	}
	return best;
}

static char *format_v4(u128 v, char *out, size_t size)
{
	unsigned a = (unsigned)v;

	(void)snprintf(out, size, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	return out;
}

static char *format_v6(u128 v, char out[IP_STR_LEN])
{
	int zeros, start = longest_zeros(v, &zeros);
	size_t len = 0;

	for (int i = 0; i < 8; i++) {
		const char *colon = i > 0 && i != start + zeros ? ":" : "";

		if (i == start) {
			len += (size_t)snprintf(out + len, IP_STR_LEN - len, "::");
			i += zeros - 1;
			continue;
		}
		len += (size_t)snprintf(out + len, IP_STR_LEN - len, "%s%x", colon,
					ipv6_group(v, i));
	}
	return out;
}

char *ip_format(struct ip a, char out[IP_STR_LEN])
{
	static const char mapped[] = "::ffff:";

	out[0] = '\0';
	switch (a.family) {
	case IP_V4:
		return format_v4(a.v, out, IP_STR_LEN);
	case IP_V6:
		if (a.v >> 32 != V4_MAPPED)
			return format_v6(a.v, out);
		memcpy(out, mapped, sizeof(mapped));
		(void)format_v4(a.v, out + sizeof(mapped) - 1, IP_STR_LEN - sizeof(mapped) + 1);
		return out;
	case IP_NONE:
		break;
	}
	return out;
}

char *ip_format_prefix(struct ip_prefix p, char out[PREFIX_STR_LEN])
{
	char addr[IP_STR_LEN];

	(void)snprintf(out, PREFIX_STR_LEN, "%s/%u", ip_format(p.addr, addr), p.len);
	return out;
}

size_t ip_to_bytes(struct ip a, uint8_t out[16])
{
	size_t len = ip_bits(a.family) / 8;

	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(a.v >> 8 * (len - 1 - i));
	return len;
}

int ip_from_bytes(const uint8_t *b, size_t len, struct ip *out)
{
	u128 v = 0;

	if (len != 4 && len != 16)
		return -1;
	for (size_t i = 0; i < len; i++)
		v = v << 8 | b[i];
	*out = (struct ip){ len == 4 ? IP_V4 : IP_V6, v };
	return 0;
}

unsigned ip_bits(enum ip_family f)
{
	return f == IP_V4 ? 32 : f == IP_V6 ? 128 : 0;
}

/* All bits of an address of that family. */
static u128 all_ones(enum ip_family f)
{
	unsigned bits = ip_bits(f);

	return bits ? ~(u128)0 >> (128 - bits) : 0;
}

/* The host bits below a prefix length. The cases avoid a shift by the whole width: undefined. */
static u128 host_bits(enum ip_family f, unsigned len)
{
	if (len >= ip_bits(f))
		return 0;
	return len ? all_ones(f) >> len : all_ones(f);
}

u128 ip_mask(enum ip_family f, unsigned len)
{
	return all_ones(f) & ~host_bits(f, len);
}

int ip_cmp(struct ip a, struct ip b)
{
	if (a.family != b.family)
		return a.family < b.family ? -1 : 1;
	return (a.v > b.v) - (a.v < b.v);
}

bool ip_equal(struct ip a, struct ip b)
{
	return ip_cmp(a, b) == 0;
}

struct ip ip_network(struct ip_prefix p)
{
	return (struct ip){ p.addr.family, p.addr.v & ip_mask(p.addr.family, p.len) };
}

struct ip ip_last(struct ip_prefix p)
{
	return (struct ip){ p.addr.family, p.addr.v | host_bits(p.addr.family, p.len) };
}

bool ip_in_prefix(struct ip_prefix p, struct ip a)
{
	return a.family == p.addr.family && !((a.v ^ p.addr.v) & ip_mask(a.family, p.len));
}

bool ip_same_network(struct ip_prefix a, struct ip_prefix b)
{
	return a.len == b.len && ip_equal(ip_network(a), ip_network(b));
}

bool ip_is_link_local(struct ip a)
{
	return a.family == IP_V6 && (unsigned)(a.v >> 118) == 0x3fa;
}
