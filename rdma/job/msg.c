/* SPDX-License-Identifier: Apache-2.0 */
/* msg.c: a job's messages as JSON, and their frames. */
#include "rdma/job/msg.h"

#include <string.h>

/* ---- JSON ---- */

static const struct json_enum types[] = {
	{ "join", JOB_JOIN }, { "prepare", JOB_PREPARE }, { "ready", JOB_READY }, { "go", JOB_GO },
	{ "stop", JOB_STOP }, { "result", JOB_RESULT },   { "end", JOB_END },     { NULL, 0 },
};

static const struct json_enum kinds[] = {
	{ "reach", JUDGE_REACH },
	{ "load", JUDGE_LOAD },
	{ "all", JUDGE_ALL },
	{ NULL, 0 },
};

static const struct json_enum outcomes[] = {
	{ "done", JUDGE_DONE },
	{ "no-small", JUDGE_NO_SMALL },
	{ "no-large", JUDGE_NO_LARGE },
	{ "failed", JUDGE_A_FAILED },
	{ NULL, 0 },
};

#define TEXT(key, type, member)                                                                    \
	{                                                                                          \
		key, J_CHARS, J_AT(type, member), .flags = J_OMIT                                  \
	}
#define NUMBER(key, type, member)                                                                  \
	{                                                                                          \
		key, J_UINT, J_AT(type, member), .flags = J_OMIT                                   \
	}

static const struct json_field rail_fields[] = {
	{ "interface", J_CHARS, J_AT(struct job_rail, interface), .flags = J_REQUIRED, .min = 1,
	  .max = JOB_NAME - 1 },
	TEXT("hca", struct job_rail, hca),
	TEXT("gidKind", struct job_rail, gid_kind),
	TEXT("card", struct job_rail, card),
	TEXT("leaf", struct job_rail, leaf),
	TEXT("memory", struct job_rail, memory),
	TEXT("problem", struct job_rail, problem),
	NUMBER("mtu", struct job_rail, mtu),
	NUMBER("rateMbps", struct job_rail, rate_mbps),
	NUMBER("slotMbps", struct job_rail, slot_mbps),
	NUMBER("slotMaxMbps", struct job_rail, slot_max_mbps),
	NUMBER("class", struct job_rail, tclass),
	{ NULL, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0 },
};

static const struct json_field path_fields[] = {
	{ "path", J_CHARS, J_AT(struct job_path, text), .flags = J_REQUIRED },
	{ NULL, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0 },
};

static const struct json_field msg_fields[] = {
	{ "type", J_ENUM, J_AT(struct job_msg, type), .flags = J_REQUIRED, .names = types },
	{ "rank", J_UINT, J_AT(struct job_msg, rank), .max = JOB_RANKS - 1 },
	{ "ranks", J_UINT, J_AT(struct job_msg, ranks), .flags = J_OMIT, .max = JOB_RANKS },
	TEXT("node", struct job_msg, node),
	TEXT("host", struct job_msg, host),
	TEXT("version", struct job_msg, version),
	{ "rails", J_LIST, J_AT(struct job_msg, rails), .flags = J_OMIT, .of = rail_fields,
	  .item = sizeof(struct job_rail), .has = offsetof(struct job_msg, n_rails) },
	TEXT("busy", struct job_msg, busy),
	{ "blind", J_BOOL, J_AT(struct job_msg, blind), .flags = J_OMIT },
	NUMBER("id", struct job_msg, id),
	{ "kind", J_ENUM, J_AT(struct job_msg, kind), .names = kinds },
	{ "first", J_BOOL, J_AT(struct job_msg, first), .flags = J_OMIT },
	{ "warmMs", J_UINT, J_AT(struct job_msg, warm_ms), .flags = J_OMIT, .max = 60000 },
	{ "runMs", J_UINT, J_AT(struct job_msg, run_ms), .flags = J_OMIT, .max = 60000 },
	{ "label", J_UINT, J_AT(struct job_msg, label), .flags = J_OMIT, .max = 0xfffff },
	TEXT("interface", struct job_msg, interface),
	{ "paths", J_LIST, J_AT(struct job_msg, paths), .flags = J_OMIT, .of = path_fields,
	  .item = sizeof(struct job_path), .has = offsetof(struct job_msg, n_paths) },
	{ "outcome", J_ENUM, J_AT(struct job_msg, outcome), .names = outcomes },
	NUMBER("alone", struct job_msg, alone),
	NUMBER("both", struct job_msg, both),
	{ "noisy", J_BOOL, J_AT(struct job_msg, noisy), .flags = J_OMIT },
	TEXT("counted", struct job_msg, counted),
	TEXT("text", struct job_msg, text),
	{ "status", J_UINT, J_AT(struct job_msg, status), .flags = J_OMIT, .max = 255 },
	{ NULL, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0 },
};

char *job_msg_print(const struct job_msg *m)
{
	return json_print_fields(msg_fields, m, false);
}

int job_msg_parse(const char *text, size_t len, struct job_msg *out, struct err *e)
{
	auto_json struct json *o = NULL;

	memset(out, 0, sizeof(*out));
	return json_parse(text, len, "message", &o, e) ||
			       json_decode(o, "message", msg_fields, out, e)
		       ? -1
		       : 0;
}

/* ---- frames ---- */

void job_key(const uint8_t secret[SHA256_LEN], const uint8_t nonces[2 * JOB_NONCE],
	     uint8_t key[SHA256_LEN])
{
	struct sha256_hmac m;

	sha256_hmac_begin(&m, secret);
	sha256_add(&m.inner, nonces, 2 * JOB_NONCE);
	sha256_hmac_end(&m, key);
}

static void mac(const struct job_way *w, const char *text, size_t len, uint8_t out[SHA256_LEN])
{
	struct sha256_hmac m;
	uint8_t number[9] = { w->from_root };

	for (size_t i = 0; i < 8; i++)
		number[1 + i] = (uint8_t)(w->n >> (56 - 8 * i));
	sha256_hmac_begin(&m, w->key);
	sha256_add(&m.inner, number, sizeof(number));
	sha256_add(&m.inner, text, len);
	sha256_hmac_end(&m, out);
}

void job_seal(struct job_way *w, const char *text, size_t len, uint8_t head[JOB_HEAD])
{
	for (size_t i = 0; i < 4; i++)
		head[i] = (uint8_t)(len >> (24 - 8 * i));
	mac(w, text, len, head + 4);
	w->n++;
}

int job_length(const uint8_t head[JOB_HEAD], size_t *len, struct err *e)
{
	size_t n = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];

	if (n > JOB_MSG_MAX)
		return err_set(e, ERR_DECODE, 0, "a message of %zu bytes: at most %u are allowed",
			       n, JOB_MSG_MAX);
	*len = n;
	return 0;
}

int job_check(struct job_way *w, const uint8_t head[JOB_HEAD], const char *text, size_t len,
	      struct err *e)
{
	uint8_t want[SHA256_LEN], differs = 0;

	mac(w, text, len, want);
	/* All bytes are compared: the time must not say how many were right. */
	for (size_t i = 0; i < SHA256_LEN; i++)
		differs |= want[i] ^ head[4 + i];
	if (differs)
		return err_set(e, ERR_FORBIDDEN, 0, "the message has another key, or came before");
	w->n++;
	return 0;
}
