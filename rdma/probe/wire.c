/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: encodes and decodes each message by a table of its members. */
#include "rdma/probe/wire.h"

#include <string.h>

#define MAGIC 0x52485250u /* "RHRP" */

/* One description of each layout serves both directions. */
struct codec {
	uint8_t *p; /* read when decoding, written otherwise */
	size_t size, at;
	bool decode;
	const char *bad; /* the first error, or NULL */
};

static void code_number(struct codec *c, uint64_t *v, unsigned bytes)
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

static void code_u8(struct codec *c, uint8_t *v)
{
	uint64_t n = *v;

	code_number(c, &n, 1);
	*v = (uint8_t)n;
}

static void code_u16(struct codec *c, uint16_t *v)
{
	uint64_t n = *v;

	code_number(c, &n, 2);
	*v = (uint16_t)n;
}

static void code_u32(struct codec *c, uint32_t *v)
{
	uint64_t n = *v;

	code_number(c, &n, 4);
	*v = (uint32_t)n;
}

static void code_u64(struct codec *c, uint64_t *v)
{
	code_number(c, v, 8);
}

static void check_limit(struct codec *c, bool good, const char *what)
{
	if (c->decode && !good && !c->bad)
		c->bad = what;
}

static bool is_printable(char ch)
{
	return ch >= 0x20 && ch < 0x7f;
}

/* A length and that many bytes; the rest of the array is zero. */
static void code_text(struct codec *c, char *s, size_t size)
{
	uint16_t len = (uint16_t)strnlen(s, size - 1);

	code_u16(c, &len);
	if (c->bad || len >= size || c->at + len > c->size) {
		c->bad = c->bad ? c->bad : "a text is too long";
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (!c->decode)
			c->p[c->at + i] = is_printable(s[i]) ? (uint8_t)s[i] : '?';
		else
			s[i] = (char)c->p[c->at + i];
		check_limit(c, is_printable((char)c->p[c->at + i]), "a text is not printable");
	}
	if (c->decode)
		memset(s + len, 0, size - len);
	c->at += len;
}

/* ---- the messages ---- */

static void code_hello(struct codec *c, struct wire_hello *m)
{
	code_u8(c, &m->cm);
	code_u32(c, &m->size);
	code_u32(c, &m->iterations);
	code_u64(c, &m->seed);
	code_u16(c, &m->pkey);
	code_u8(c, &m->sl);
	code_u8(c, &m->has_tc);
	code_u8(c, &m->tc);
	check_limit(c, m->sl <= 15, "the service level is out of range");
	check_limit(c, m->cm <= 1 && m->has_tc <= 1, "a choice is unknown");
	check_limit(c, m->size >= 1 && m->size <= WIRE_SIZE_MAX, "the size is out of range");
	check_limit(c, m->iterations >= 1 && m->iterations <= WIRE_COUNT_MAX,
		    "the iterations are out of range");
}

static void code_path(struct codec *c, struct wire_path *m)
{
	code_text(c, m->device, sizeof(m->device));
	code_u8(c, &m->device_port);
	code_u8(c, &m->mtu);
	for (size_t i = 0; i < sizeof(m->gid); i++)
		code_u8(c, &m->gid[i]);
	code_u32(c, &m->gid_index);
	code_u64(c, &m->card);
	code_u16(c, &m->lid);
	code_u32(c, &m->qpn);
	code_u32(c, &m->psn);
	code_u16(c, &m->cm_port);
	code_u32(c, &m->depth);
	code_u64(c, &m->address);
	code_u32(c, &m->rkey);
	code_u64(c, &m->length);
	check_limit(c, m->mtu >= 1 && m->mtu <= 5, "the MTU is out of range");
	check_limit(c, m->qpn < 1u << 24 && m->psn < 1u << 24,
		    "a queue pair's number is out of range");
	check_limit(c, m->depth >= 1, "the depth is out of range");
}

static void code_flow(struct codec *c, struct wire_flow *f)
{
	code_u64(c, &f->bytes);
	code_u64(c, &f->ns);
}

static void code_result(struct codec *c, struct wire_result *m)
{
	code_u64(c, &m->lat_count);
	code_u64(c, &m->lat_min);
	code_u64(c, &m->lat_p50);
	code_u64(c, &m->lat_p99);
	code_u64(c, &m->lat_max);
	for (size_t i = 0; i < WAYS; i++)
		code_flow(c, &m->out[i]);
	code_u64(c, &m->checked);
	code_u64(c, &m->messages);
}

static void code_body(struct codec *c, struct wire_msg *m)
{
	switch (m->type) {
	case WIRE_HELLO:
		code_hello(c, &m->hello);
		return;
	case WIRE_PATH:
		code_path(c, &m->path);
		return;
	case WIRE_READY:
		code_u32(c, &m->ready.n);
		return;
	case WIRE_RESULT:
		code_result(c, &m->result);
		return;
	case WIRE_FAULT:
		code_u16(c, &m->fault.code);
		code_text(c, m->fault.text, sizeof(m->fault.text));
		return;
	}
	c->bad = "its type is unknown";
}

static void code_header(struct codec *c, uint8_t *type, uint32_t *length)
{
	uint32_t magic = MAGIC;
	uint8_t version = WIRE_VERSION;
	uint16_t zero = 0;

	code_u32(c, &magic);
	code_u8(c, &version);
	code_u8(c, type);
	code_u16(c, &zero);
	code_u32(c, length);
	check_limit(c, magic == MAGIC, "it is not an rdma-probe that speaks");
	check_limit(c, version == WIRE_VERSION,
		    "it is an rdma-probe of another version: install one release at both ends");
	check_limit(c, zero == 0 && *length <= WIRE_BODY, "its header is wrong");
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the codec writes there */
size_t wire_encode(const struct wire_msg *m, uint8_t *frame)
{
	struct codec c = { frame + WIRE_HEADER, WIRE_BODY, 0, false, NULL };
	struct codec h = { frame, WIRE_HEADER, 0, false, NULL };
	struct wire_msg copy = *m;
	uint8_t type = (uint8_t)m->type;

	code_body(&c, &copy);
	uint32_t length = (uint32_t)c.at;
	code_header(&h, &type, &length);
	return WIRE_HEADER + length;
}

static int refuse_message(struct err *e, const char *why)
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

	code_header(&h, &type, &n);
	if (h.bad)
		return refuse_message(e, h.bad);
	*body = n;
	return 0;
}

int wire_decode(const uint8_t *frame, size_t len, struct wire_msg *out, struct err *e)
{
	struct codec h = reader(frame, len);
	struct wire_msg m = { 0 };
	uint32_t length = 0;
	uint8_t type = 0;

	code_header(&h, &type, &length);
	if (!h.bad && len != WIRE_HEADER + length)
		h.bad = "its length is wrong";
	if (h.bad)
		return refuse_message(e, h.bad);
	struct codec c = reader(frame + WIRE_HEADER, length);
	m.type = (enum wire_type)type;
	code_body(&c, &m);
	check_limit(&c, c.at == length, "it is too long");
	if (c.bad)
		return refuse_message(e, c.bad);
	*out = m;
	return 0;
}

const char *wire_type_name(enum wire_type type)
{
	static const char *const names[] = {
		"nothing", "HELLO", "PATH", "READY", "RESULT", "FAULT"
	};

	return (size_t)type < ARRAY_SIZE(names) ? names[type] : "nothing";
}
