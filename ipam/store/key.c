/* SPDX-License-Identifier: Apache-2.0 */
/* key.c: builds and parses the keys of the store, and the names of scopes. Pure. */
#include "ipam/store/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/parse.h"

#define HEX_V4 8
#define HEX_V6 32

/* A key that is being built. len counts also the characters that do not fit. */
struct text {
	char *s;
	size_t size, len;
	/* Hashes of all characters. A record that is found under a hash is checked again. */
	uint64_t h1, h2;
};

static void add_char(struct text *t, char c)
{
	if (t->len + 1 < t->size) {
		t->s[t->len] = c;
		t->s[t->len + 1] = '\0';
	}
	t->len++;
	t->h1 = hash_add(t->h1, &c, 1);
	t->h2 = hash_add(t->h2 + 1, &c, 1);
}

static void add_str(struct text *t, const char *s)
{
	for (; *s; s++)
		add_char(t, *s);
}

static bool key_is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

static void key_add_part(struct text *t, const char *s)
{
	for (; *s; s++) {
		if (key_is_plain(*s)) {
			add_char(t, *s);
			continue;
		}
		add_char(t, '%');
		add_char(t, HEX_DIGITS[(uint8_t)*s >> 4]);
		add_char(t, HEX_DIGITS[(uint8_t)*s & 15]);
	}
}

static struct text start_key(struct key *k, const char *head)
{
	struct text t = { k->s, sizeof(k->s), 0, HASH_START, 0x9ae16a3b2f90404fu };

	k->s[0] = '\0';
	add_str(&t, head);
	return t;
}

static void finish_key(struct key *k, const struct text *t)
{
	if (t->len > STORE_KEY_MAX)
		(void)snprintf(k->s, sizeof(k->s), "%c/#%016" PRIx64 "%016" PRIx64, k->s[0], t->h1,
			       t->h2);
}

static void add_hex(struct text *t, u128 v, unsigned digits)
{
	while (digits > 0)
		add_char(t, HEX_DIGITS[(v >> (4 * --digits)) & 15]);
}

static void key_add_ip(struct text *t, struct ip ip)
{
	add_str(t, ip.family == IP_V4 ? "4/" : "6/");
	add_hex(t, ip.v, ip.family == IP_V4 ? HEX_V4 : HEX_V6);
}

void key_of_addresses(struct key *k, const char *scope, enum ip_family f)
{
	struct text t = start_key(k, "a/");

	add_str(&t, scope);
	add_str(&t, f == IP_V4 ? "/4/" : "/6/");
	finish_key(k, &t);
}

void key_of_address(struct key *k, const char *scope, struct ip ip)
{
	struct text t = start_key(k, "a/");

	add_str(&t, scope);
	add_str(&t, "/");
	key_add_ip(&t, ip);
	finish_key(k, &t);
}

void key_of_owner(struct key *k, const char *container, const char *ifname, const char *network)
{
	struct text t = start_key(k, "o/");

	key_add_part(&t, container);
	add_str(&t, "/");
	key_add_part(&t, ifname);
	add_str(&t, "/");
	key_add_part(&t, network);
	finish_key(k, &t);
}

void key_of_container(struct key *k, const char *container)
{
	struct text t = start_key(k, "o/");

	key_add_part(&t, container);
	add_str(&t, "/");
	finish_key(k, &t);
}

void key_of_rests(struct key *k, const char *scope, const char *source)
{
	struct text t = start_key(k, "r/");

	add_str(&t, scope);
	add_str(&t, "/");
	add_str(&t, source);
	add_str(&t, "/");
	finish_key(k, &t);
}

void key_of_rest(struct key *k, const char *scope, const char *source, int64_t since,
		 const struct ip *ip)
{
	struct text t = start_key(k, "r/");

	add_str(&t, scope);
	add_str(&t, "/");
	add_str(&t, source);
	add_str(&t, "/");
	add_hex(&t, since < 0 ? 0 : (u128)since, 16);
	add_str(&t, "/");
	if (ip)
		key_add_ip(&t, *ip);
	finish_key(k, &t);
}

void key_of_sticky(struct key *k, const char *scope, const char *const pod[3])
{
	struct text t = start_key(k, "s/");

	add_str(&t, scope);
	for (int i = 0; i < 3; i++) {
		add_str(&t, "/");
		key_add_part(&t, pod[i]);
	}
	finish_key(k, &t);
}

void key_of_pod(struct key *k, const char *scope, const char *const pod[3], const struct ip *ip)
{
	struct text t = start_key(k, "i/");

	add_str(&t, scope);
	for (int i = 0; i < 3; i++) {
		add_str(&t, "/");
		key_add_part(&t, pod[i]);
	}
	add_str(&t, "/");
	if (ip)
		key_add_ip(&t, *ip);
	finish_key(k, &t);
}

void key_of_usage(struct key *k, const char *scope, const char *source)
{
	struct text t = start_key(k, "u/");

	add_str(&t, scope);
	add_str(&t, "/");
	add_str(&t, source);
	finish_key(k, &t);
}

void key_of_quota(struct key *k, const char *scope, const char *ns)
{
	struct text t = start_key(k, "q/");

	add_str(&t, scope);
	add_str(&t, "/");
	key_add_part(&t, ns);
	finish_key(k, &t);
}

void key_of_pool(struct key *k, const char *name)
{
	struct text t = start_key(k, "d/");

	key_add_part(&t, name);
	finish_key(k, &t);
}

static void ip_in_scope(struct key *k, const char *letter, const char *scope, const struct ip *ip)
{
	struct text t = start_key(k, letter);

	add_str(&t, scope);
	add_str(&t, "/");
	if (ip)
		key_add_ip(&t, *ip);
	finish_key(k, &t);
}

void key_of_block(struct key *k, const char *scope, struct ip start)
{
	ip_in_scope(k, "b/", scope, &start);
}

void key_of_blocks(struct key *k, const char *scope)
{
	ip_in_scope(k, "b/", scope, NULL);
}

void key_of_loan(struct key *k, const char *scope, struct ip ip)
{
	ip_in_scope(k, "l/", scope, &ip);
}

void key_of_loans(struct key *k, const char *scope)
{
	ip_in_scope(k, "l/", scope, NULL);
}

static struct text start_free(struct key *k, const char *scope, uint64_t epoch)
{
	struct text t = start_key(k, "f/");

	add_str(&t, scope);
	add_str(&t, "/");
	add_hex(&t, epoch, 16);
	add_str(&t, "/");
	return t;
}

void key_of_frees(struct key *k, const char *scope, uint64_t epoch)
{
	struct text t = start_free(k, scope, epoch);

	finish_key(k, &t);
}

void key_of_free_from(struct key *k, const char *scope, uint64_t epoch, int64_t since)
{
	struct text t = start_free(k, scope, epoch);

	add_hex(&t, since < 0 ? 0 : (u128)since, 16);
	finish_key(k, &t);
}

void key_of_free(struct key *k, const char *scope, const struct key_free *f)
{
	struct text t = start_free(k, scope, f->epoch);

	add_hex(&t, f->since < 0 ? 0 : (u128)f->since, 16);
	add_str(&t, "/");
	key_add_ip(&t, f->start);
	finish_key(k, &t);
}

void key_of_pool_addresses(struct key *k, const char *name)
{
	(void)snprintf(k->s, sizeof(k->s), "a/p/%.100s/", name);
}

static int parse_hex(struct slice s, size_t digits, u128 *out)
{
	u128 v = 0;

	if (s.len != digits)
		return -1;
	for (size_t i = 0; i < digits; i++) {
		int d = hex_digit_lower(s.p[i]);
		if (d < 0)
			return -1;
		v = v * 16 + (unsigned)d;
	}
	*out = v;
	return 0;
}

/* Cut the last part off, with its separator. */
static int pop_part(struct slice *s, struct slice *part)
{
	for (size_t i = s->len; i > 0; i--) {
		if (s->p[i - 1] == '/') {
			*part = (struct slice){ s->p + i, s->len - i };
			s->len = i - 1;
			return 0;
		}
	}
	return -1;
}

static int pop_ip(struct slice *s, struct ip *out)
{
	struct slice hex, family;

	if (pop_part(s, &hex) || pop_part(s, &family) || family.len != 1)
		return -1;
	out->family = *family.p == '4' ? IP_V4 : IP_V6;
	if (*family.p != '4' && *family.p != '6')
		return -1;
	return parse_hex(hex, *family.p == '4' ? HEX_V4 : HEX_V6, &out->v);
}

static int key_body(const char *key, char kind, struct slice *out)
{
	if (key[0] != kind || key[1] != '/')
		return -1;
	*out = (struct slice){ key + 2, strlen(key + 2) };
	return 0;
}

static int parse_ip_key(const char *key, char kind, struct key_address *out)
{
	struct slice s;
	struct ip ip;

	if (key_body(key, kind, &s) || pop_ip(&s, &ip) || s.len < 2 || s.p[1] != '/' ||
	    slice_copy(s, out->scope, sizeof(out->scope)))
		return -1;
	out->ip = ip;
	return 0;
}

int key_parse_address(const char *key, struct key_address *out)
{
	return parse_ip_key(key, 'a', out);
}

int key_parse_block(const char *key, struct key_address *out)
{
	return parse_ip_key(key, 'b', out);
}

int key_parse_loan(const char *key, struct key_address *out)
{
	return parse_ip_key(key, 'l', out);
}

int key_parse_free(const char *key, char scope[KEY_SCOPE_MAX], struct key_free *out)
{
	struct slice s, time, epoch;
	struct key_free f;
	u128 t, n;

	if (key_body(key, 'f', &s) || pop_ip(&s, &f.start) || pop_part(&s, &time) ||
	    pop_part(&s, &epoch) || parse_hex(time, 16, &t) || parse_hex(epoch, 16, &n) ||
	    t > INT64_MAX || s.len < 2 || s.p[1] != '/' || slice_copy(s, scope, KEY_SCOPE_MAX))
		return -1;
	f.since = (int64_t)t;
	f.epoch = (uint64_t)n;
	*out = f;
	return 0;
}

int key_parse_rest(const char *key, struct key_address *out, char source[KEY_ID_LEN + 1],
		   int64_t *since)
{
	struct slice s, time, id;
	struct ip ip;
	u128 t;

	if (key_body(key, 'r', &s) || pop_ip(&s, &ip) || pop_part(&s, &time) || pop_part(&s, &id) ||
	    parse_hex(time, 16, &t) || t > INT64_MAX || id.len > KEY_ID_LEN || s.len < 2 ||
	    s.p[1] != '/' || slice_copy(s, out->scope, sizeof(out->scope)) ||
	    slice_copy(id, source, KEY_ID_LEN + 1))
		return -1;
	out->ip = ip;
	*since = (int64_t)t;
	return 0;
}

static int unescape_part(struct slice s, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		if (c == '%') {
			u128 v;
			if (i + 2 >= s.len || parse_hex((struct slice){ s.p + i + 1, 2 }, 2, &v) ||
			    v == 0)
				return -1;
			c = (char)v;
			i += 2;
		}
		if (n + 1 >= size)
			return -1;
		out[n++] = c;
	}
	out[n] = '\0';
	return 0;
}

int key_parse_owner(const char *key, struct key_owner *out)
{
	struct slice s, container, ifname, network, extra;
	struct key_owner o;

	if (key_body(key, 'o', &s) || !slice_next(&s, '/', &container) ||
	    !slice_next(&s, '/', &ifname) || !slice_next(&s, '/', &network) ||
	    slice_next(&s, '/', &extra))
		return -1;
	if (unescape_part(container, o.container, sizeof(o.container)) ||
	    unescape_part(ifname, o.ifname, sizeof(o.ifname)) ||
	    unescape_part(network, o.network, sizeof(o.network)))
		return -1;
	*out = o;
	return 0;
}

char *key_scope(char out[KEY_SCOPE_MAX], char kind, const char *name)
{
	(void)snprintf(out, KEY_SCOPE_MAX, "%c/%.200s", kind, name);
	return out;
}

char *key_scope_range(char out[KEY_SCOPE_MAX], const char *name, struct ip_range r)
{
	struct key k;
	struct text t = start_key(&k, "");
	unsigned digits = r.first.family == IP_V4 ? HEX_V4 : HEX_V6;

	add_hex(&t, r.first.v, digits);
	add_char(&t, '-');
	add_hex(&t, r.last.v, digits);
	(void)snprintf(out, KEY_SCOPE_MAX, "x/%.200s/%.80s", name, k.s);
	return out;
}

char *key_scope_label(const char *scope, char *out, size_t size)
{
	const char *name = scope[0] && scope[1] ? scope + 2 : "";

	if (*scope == 'p')
		(void)snprintf(out, size, "pool %s", name);
	else if (*scope == 'n')
		(void)snprintf(out, size, "network %s", name);
	else
		(void)snprintf(out, size, "whereabouts %s", *name ? name : "(no network_name)");
	return out;
}

const char *key_pool_of(const char *scope)
{
	return scope[0] == 'p' && scope[1] == '/' ? scope + 2 : NULL;
}

const char *key_scope_log(const char *scope, char *out, size_t size)
{
	const char *pool = key_pool_of(scope);

	return pool ? pool : key_scope_label(scope, out, size);
}
