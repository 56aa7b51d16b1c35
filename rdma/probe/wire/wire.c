/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma/probe/wire/wire.h"

#include <string.h>

#define MAGIC 0x52485250u /* "RHRP" */

/* One description of each layout serves both directions. */
struct codec {
	uint8_t *p; /* read when decoding, written otherwise */
	size_t size, at;
	bool decode;
	const char *bad; /* what is wrong, of the first thing that is */
};

static void number(struct codec *c, uint64_t *v, unsigned bytes)
{
	if (c->at + bytes > c->size) {
		c->bad = c->bad ? c->bad : "it is too short";
		return;
	}
	uint64_t got = 0;
	for (unsigned i = 0; i < bytes; i++) {
		uint8_t *byte = &c->p[c->at + i];
		if (!c->decode)
			*byte = (uint8_t)(*v >> (8 * (bytes - 1 - i)));
		got = got << 8 | *byte;
	}
	c->at += bytes;
	*v = got;
}

static void u8(struct codec *c, uint8_t *v)
{
	uint64_t n = *v;

	number(c, &n, 1);
	*v = (uint8_t)n;
}

static void u16(struct codec *c, uint16_t *v)
{
	uint64_t n = *v;

	number(c, &n, 2);
	*v = (uint16_t)n;
}

static void u32(struct codec *c, uint32_t *v)
{
	uint64_t n = *v;

	number(c, &n, 4);
	*v = (uint32_t)n;
}

static void u64(struct codec *c, uint64_t *v)
{
	number(c, v, 8);
}

static void limit(struct codec *c, bool good, const char *what)
{
	if (c->decode && !good && !c->bad)
		c->bad = what;
}

static bool printable(char ch)
{
	return ch >= 0x20 && ch < 0x7f;
}

/* A length and that many bytes; the rest of the array is zero. */
static void text(struct codec *c, char *s, size_t size)
{
	uint16_t len = (uint16_t)strnlen(s, size - 1);

	u16(c, &len);
	if (c->bad || len >= size || c->at + len > c->size) {
		c->bad = c->bad ? c->bad : "a text is too long";
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (!c->decode)
			c->p[c->at + i] = printable(s[i]) ? (uint8_t)s[i] : '?';
		else
			s[i] = (char)c->p[c->at + i];
		limit(c, printable((char)c->p[c->at + i]), "a text is not printable");
	}
	if (c->decode)
		memset(s + len, 0, size - len);
	c->at += len;
}

/* ---- the messages ---- */

static void hello(struct codec *c, struct wire_hello *m)
{
	u8(c, &m->purpose);
	u8(c, &m->cm);
	u8(c, &m->ring_type);
	u16(c, &m->rank);
	u16(c, &m->ranks);
	u32(c, &m->size);
	u32(c, &m->iterations);
	u64(c, &m->seed);
	text(c, m->addr, sizeof(m->addr));
	u16(c, &m->port);
	limit(c, m->purpose >= WIRE_MEASURE && m->purpose <= WIRE_RING, "the purpose is unknown");
	limit(c, m->cm <= 1 && m->ring_type <= 1, "a choice is unknown");
	limit(c, m->size >= 1 && m->size <= WIRE_SIZE_MAX, "the size is out of range");
	limit(c, m->iterations >= 1 && m->iterations <= WIRE_COUNT_MAX,
	      "the iterations are out of range");
	if (m->purpose == WIRE_RING)
		limit(c, m->ranks >= 2 && m->ranks <= WIRE_RANKS_MAX && m->rank < m->ranks,
		      "the rank is out of range");
}

static void path(struct codec *c, struct wire_path *m)
{
	text(c, m->device, sizeof(m->device));
	u8(c, &m->device_port);
	u8(c, &m->mtu);
	for (size_t i = 0; i < sizeof(m->gid); i++)
		u8(c, &m->gid[i]);
	u32(c, &m->gid_index);
	u64(c, &m->card);
	u16(c, &m->lid);
	u32(c, &m->qpn);
	u32(c, &m->psn);
	u16(c, &m->cm_port);
	u32(c, &m->depth);
	u64(c, &m->address);
	u32(c, &m->rkey);
	u64(c, &m->length);
	limit(c, m->mtu >= 1 && m->mtu <= 5, "the MTU is out of range");
	limit(c, m->qpn < 1u << 24 && m->psn < 1u << 24, "a queue pair's number is out of range");
	limit(c, m->depth >= 1, "the depth is out of range");
}

static void flow(struct codec *c, struct wire_flow *f)
{
	u64(c, &f->bytes);
	u64(c, &f->ns);
}

static void result(struct codec *c, struct wire_result *m)
{
	u64(c, &m->lat_count);
	u64(c, &m->lat_min);
	u64(c, &m->lat_p50);
	u64(c, &m->lat_p99);
	u64(c, &m->lat_max);
	for (size_t i = 0; i < WAYS; i++) {
		flow(c, &m->out[i]);
		flow(c, &m->in[i]);
	}
	u64(c, &m->checked);
	u64(c, &m->messages);
	u8(c, &m->one_card);
	limit(c, m->one_card <= 1, "a choice is unknown");
}

static void hop(struct codec *c, struct wire_hop *m)
{
	u16(c, &m->rank);
	u64(c, &m->bytes);
	u64(c, &m->ns);
	u64(c, &m->total_ns);
	u8(c, &m->one_card);
	limit(c, m->one_card <= 1, "a choice is unknown");
	limit(c, m->rank < WIRE_RANKS_MAX, "the rank is out of range");
}

static void fault(struct codec *c, struct wire_fault *m)
{
	u16(c, &m->code);
	text(c, m->text, sizeof(m->text));
}

static void layout(struct codec *c, struct wire_msg *m)
{
	switch (m->type) {
	case WIRE_HELLO:
		hello(c, &m->hello);
		return;
	case WIRE_PATH:
		path(c, &m->path);
		return;
	case WIRE_READY:
		u32(c, &m->ready.n);
		return;
	case WIRE_RESULT:
		result(c, &m->result);
		return;
	case WIRE_FAULT:
		fault(c, &m->fault);
		return;
	case WIRE_HOP:
		hop(c, &m->hop);
		return;
	}
	c->bad = "its type is unknown";
}

static void header(struct codec *c, uint8_t *type, uint32_t *length)
{
	uint32_t magic = MAGIC;
	uint8_t version = WIRE_VERSION;
	uint16_t zero = 0;

	u32(c, &magic);
	u8(c, &version);
	u8(c, type);
	u16(c, &zero);
	u32(c, length);
	limit(c, magic == MAGIC, "it is no rdma-probe that speaks");
	limit(c, version == WIRE_VERSION, "it is an rdma-probe of another version");
	limit(c, zero == 0 && *length <= WIRE_BODY, "its header is wrong");
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the codec writes there */
size_t wire_encode(const struct wire_msg *m, uint8_t *frame)
{
	struct codec c = { frame + WIRE_HEADER, WIRE_BODY, 0, false, NULL };
	struct codec h = { frame, WIRE_HEADER, 0, false, NULL };
	struct wire_msg copy = *m;
	uint8_t type = (uint8_t)m->type;

	layout(&c, &copy);
	uint32_t length = (uint32_t)c.at;
	header(&h, &type, &length);
	return WIRE_HEADER + length;
}

static int bad(struct err *e, const char *why)
{
	return err_set(e, ERR_DECODE, 0, "what the peer sent makes no sense: %s", why);
}

/* Decoding only reads. */
static struct codec reader(const uint8_t *p, size_t size)
{
	return (struct codec){ (uint8_t *)(uintptr_t)p, size, 0, true, NULL };
}

int wire_length(const uint8_t head[WIRE_HEADER], size_t *body, struct err *e)
{
	struct codec h = reader(head, WIRE_HEADER);
	uint32_t n = 0;
	uint8_t type = 0;

	header(&h, &type, &n);
	if (h.bad)
		return bad(e, h.bad);
	*body = n;
	return 0;
}

int wire_decode(const uint8_t *frame, size_t len, struct wire_msg *out, struct err *e)
{
	struct codec h = reader(frame, len);
	struct wire_msg m = { 0 };
	uint32_t length = 0;
	uint8_t type = 0;

	header(&h, &type, &length);
	if (!h.bad && len != WIRE_HEADER + length)
		h.bad = "its length is wrong";
	if (h.bad)
		return bad(e, h.bad);
	struct codec c = reader(frame + WIRE_HEADER, length);
	m.type = (enum wire_type)type;
	layout(&c, &m);
	limit(&c, c.at == length, "it is too long");
	if (c.bad)
		return bad(e, c.bad);
	*out = m;
	return 0;
}

const char *wire_type_name(enum wire_type type)
{
	static const char *const names[] = { "nothing", "HELLO", "PATH", "READY",
					     "RESULT",  "FAULT", "HOP" };

	return (size_t)type < ARRAY_SIZE(names) ? names[type] : "nothing";
}
