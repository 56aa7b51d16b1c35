/* SPDX-License-Identifier: Apache-2.0 */
/* pool_blocks.c: decodes the keys of a pool with blocks, and cuts a block out of a pool. Pure. */
#include "ipam/conf/pool_blocks.h"

#include <stdio.h>
#include <string.h>

#define IDLE_DEFAULT 600
#define KEEP_DEFAULT 86400
#define ID_BITS      60 /* of a block's start, in its id */

struct raw {
	int64_t size, warm, idle, keep;
	int strict, state;
};

static const struct json_enum states[] = { { "open", POOL_OPEN },
					   { "adopting", POOL_ADOPTING },
					   { 0 } };
static const struct json_enum fences[] = { { "off", false }, { "strict", true }, { 0 } };

#define NUMBER(k, field, least, most)                                                              \
	{                                                                                          \
		k, J_I64, J_AT(struct raw, field), .min = (least), .max = (most)                   \
	}

const struct json_field pool_blocks_fields[] = {
	NUMBER("blockSize", size, 1, POOL_BLOCK_SIZE_MAX),
	NUMBER("warm", warm, 0, INT64_C(1) << 32),
	NUMBER("idle", idle, 0, SOURCE_COOLDOWN_MAX),
	{ "state", J_ENUM, J_AT(struct raw, state), .names = states },
	NUMBER("stickyKeep", keep, 1, SOURCE_COOLDOWN_MAX),
	{ "fence", J_ENUM, J_AT(struct raw, strict), .names = fences },
	{ 0 },
};

enum pool_state pool_state_of(const struct json *definition)
{
	const char *text = json_str(json_get(definition, "state"));
	const struct json_enum *s = states;

	while (text && s->name && strcmp(s->name, text) != 0)
		s++;
	return text && s->name ? (enum pool_state)s->value : POOL_OPEN;
}

/* Objects of Kubernetes are named after the pool. */
static bool is_dns_label(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= POOL_SHARED_NAME_MAX && name[0] != '-' && name[len - 1] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int pool_blocks_check_alone(const struct json *def, struct err *e)
{
	for (const struct json_field *f = pool_blocks_fields; f->key; f++) {
		if (json_get(def, f->key))
			return err_set(e, ERR_CONFIG, 0,
				       "%s: only a pool with blocks has it; add \"blockSize\"",
				       f->key);
	}
	return 0;
}

/* If blocks have several addresses, a pod gets its own one again on its node only. */
static int decode_moves(const struct json *def, const struct raw *r, struct pool_blocks *out,
			struct err *e)
{
	out->moves = r->size == 1 && json_true(json_get(def, "sticky"));
	if (!out->moves && r->keep)
		return err_set(e, ERR_CONFIG, 0,
			       "stickyKeep: only a pool with \"sticky\" and \"blockSize\": 1 "
			       "has it");
	if (!out->moves)
		return 0;
	out->keep = (r->keep ? r->keep : KEEP_DEFAULT) * 1000000000;
	/* Each block is for one pod: none is kept ahead, and an unused one is parked at once. */
	out->warm = 0;
	out->idle = 0;
	return 0;
}

static int check_size(const struct raw *r, struct ip_prefix subnet, unsigned *bits, struct err *e)
{
	unsigned host = ip_bits(subnet.addr.family) - subnet.len;

	if (r->size & (r->size - 1))
		return err_set(e, ERR_CONFIG, 0,
			       "blockSize: %lld is not a power of two from 1 to %d",
			       (long long)r->size, POOL_BLOCK_SIZE_MAX);
	*bits = (unsigned)__builtin_ctzll((unsigned long long)r->size);
	if (*bits > host)
		return err_set(e, ERR_CONFIG, 0,
			       "blockSize: %lld is more than the subnet has addresses",
			       (long long)r->size);
	return 0;
}

int pool_blocks_decode(const char *name, const struct json *def, struct ip_prefix subnet,
		       struct pool_blocks *out, struct err *e)
{
	struct raw r = { .warm = -1, .idle = IDLE_DEFAULT };
	unsigned bits = 0;

	*out = (struct pool_blocks){ .shared = false };
	if (!json_get(def, "blockSize"))
		return pool_blocks_check_alone(def, e);
	if (json_decode(def, "pool", pool_blocks_fields, &r, e) || check_size(&r, subnet, &bits, e))
		return -1;
	if (!is_dns_label(name))
		return err_set(e, ERR_CONFIG, 0,
			       "blockSize: the name \"%.100s\" of a pool with blocks must be at "
			       "most %d lower-case letters, digits and '-'",
			       name, POOL_SHARED_NAME_MAX);
	*out = (struct pool_blocks){
		.shared = true,
		.bits = bits,
		.warm = (uint64_t)(r.warm < 0 ? r.size : r.warm),
		.idle = r.idle * 1000000000,
		.strict = r.strict,
		.state = (enum pool_state)r.state,
	};
	return decode_moves(def, &r, out, e);
}

struct ip_range pool_block_range(unsigned bits, struct ip a)
{
	u128 rest = ((u128)1 << bits) - 1;

	return (struct ip_range){ { a.family, a.v & ~rest }, { a.family, a.v | rest } };
}

char *pool_block_id(struct ip start, char out[KEY_ID_LEN + 1])
{
	(void)snprintf(out, KEY_ID_LEN + 1, "x%015llx",
		       (unsigned long long)start.v & ((1ULL << ID_BITS) - 1));
	return out;
}

bool pool_block_of(const char *id, struct ip a, struct ip *start)
{
	u128 low = ((u128)1 << ID_BITS) - 1, v = 0;

	if (*id != 'x' || strspn(id + 1, HEX_DIGITS) != ID_BITS / 4 || id[1 + ID_BITS / 4])
		return false;
	for (const char *p = id + 1; *p; p++)
		v = v << 4 | (unsigned)hex_digit_lower(*p);
	*start = (struct ip){ a.family, (a.v & ~low) | v };
	return start->v <= a.v && a.v - start->v < POOL_BLOCK_SIZE_MAX;
}

int pool_block_source(const struct source *pool, struct ip start, struct source *out, struct err *e)
{
	struct source s = *pool;

	s.usable = (struct ranges){ .n = 0 };
	if (ranges_copy_in(&pool->usable, pool_block_range(pool->blocks.bits, start), &s.usable,
			   e)) {
		ranges_clear(&s.usable);
		return -1;
	}
	pool_block_id(start, s.id);
	*out = s;
	return 0;
}
