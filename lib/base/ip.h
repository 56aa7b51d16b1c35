/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip.h: IPv4 and IPv6 addresses, prefixes and ranges as numbers. Pure.
 *
 * An address is a family and a 128-bit number in host order (IPv4 in the low 32 bits), so that
 * arithmetic and order are plain. IPv4-mapped IPv6 text (::ffff:a.b.c.d) is kept as IPv6; readers
 * of configurations call ip_unmap().
 */
#ifndef RAILHEAD_LIB_BASE_IP_H
#define RAILHEAD_LIB_BASE_IP_H

#include "lib/base/base.h"

__extension__ typedef unsigned __int128 u128;

enum ip_family { IP_NONE = 0, IP_V4 = 4, IP_V6 = 6 };

struct ip {
	enum ip_family family;
	u128 v;
};

struct ip_prefix {
	struct ip addr; /* host bits kept */
	uint8_t len;    /* 0..32 or 0..128 */
};

struct ip_range {
	struct ip first, last; /* both included, same family, first <= last */
};

#define IP_STR_LEN     46
#define PREFIX_STR_LEN 50

/* ip_parse - dotted quad (no leading zeros) or RFC 4291 text; no zone. -1 if it is neither. */
int ip_parse(const char *s, struct ip *out) must_check;

/* ip_unmap - IPv4-mapped IPv6 as IPv4: for programs in Go the two are one address. */
struct ip ip_unmap(struct ip a);

/*
 * ip_drop_zeros - text without leading zeros in the decimal numbers of an IPv4 address or prefix,
 * as some programs accept them (k8s.io/utils/net). -1: the text is too long for an address.
 */
int ip_drop_zeros(const char *text, char out[PREFIX_STR_LEN]) must_check;
/* ip_parse_prefix - "addr/len"; the length is required and has no leading zeros. */
int ip_parse_prefix(const char *s, struct ip_prefix *out) must_check;

/* ip_parse_range - "a", "a-b" or "addr/len" (the whole network). first <= last is checked. */
int ip_parse_range(const char *s, struct ip_range *out) must_check;

/* ip_format - RFC 5952 text; IPv4-mapped as ::ffff:a.b.c.d; "" for IP_NONE. Both return out. */
char *ip_format(struct ip a, char out[IP_STR_LEN]);
char *ip_format_prefix(struct ip_prefix p, char out[PREFIX_STR_LEN]);

/* ip_to_bytes - network order; writes 4 or 16 bytes, returns how many. */
size_t ip_to_bytes(struct ip a, uint8_t out[16]);
/* ip_from_bytes - len 4 or 16, else -1. */
int ip_from_bytes(const uint8_t *b, size_t len, struct ip *out) must_check;

unsigned ip_bits(enum ip_family f);           /* 32 or 128 */
u128 ip_mask(enum ip_family f, unsigned len); /* e.g. (v4, 24) -> 0xffffff00; len is capped */

/* -1, 0, 1; IPv4 sorts before IPv6. */
int ip_cmp(struct ip a, struct ip b);
bool ip_equal(struct ip a, struct ip b);

struct ip ip_network(struct ip_prefix p); /* first address of the prefix */
struct ip ip_last(struct ip_prefix p);    /* last address of the prefix */
bool ip_in_prefix(struct ip_prefix p, struct ip a);
bool ip_same_network(struct ip_prefix a, struct ip_prefix b); /* host bits do not count */
bool ip_is_link_local(struct ip a); /* in fe80::/10, which every interface with IPv6 has */

#endif
