/* SPDX-License-Identifier: Apache-2.0 */
/* agent_wire.c: requests and answers; what an older or a newer program adds to them is ignored. */
#include "ipam/alloc/agent_wire.h"

#include <stdio.h>
#include <string.h>

#define CALL_MAX 32

static char *agent_wire_print_line(const struct json *n)
{
	auto_free char *text = n ? json_print(n, false) : NULL;
	size_t len = text ? strlen(text) : 0;
	char *line = text ? malloc(len + 2) : NULL;

	if (!line)
		return NULL;
	memcpy(line, text, len);
	memcpy(line + len, "\n", 2);
	return line;
}

struct request {
	uint32_t version;
	const char *call;
	const struct json *args;
};

static const struct json_field version_fields[] = {
	{ "version", J_U32, J_AT(struct request, version), .flags = J_REQUIRED },
	{ 0 },
};

static const struct json_field request_fields[] = {
	{ "call", J_STRING, J_AT(struct request, call), .flags = J_REQUIRED, .min = 1,
	  .max = CALL_MAX },
	{ "args", J_OBJECT, J_AT(struct request, args) },
	{ 0 },
};

static struct json *message(void)
{
	return json_encoded(version_fields, &(struct request){ .version = AGENT_VERSION });
}

char *agent_wire_request(const struct agent_call *c)
{
	const struct request r = { .call = c->call, .args = c->args };
	auto_json struct json *n = message();

	return json_encode(n, request_fields, &r) ? NULL : agent_wire_print_line(n);
}

int agent_wire_read_request(const char *line, size_t len, struct json **tree,
			    struct agent_call *out, struct err *e)
{
	auto_json struct json *n = NULL;
	struct request r = { 0 };

	/* The version first: what else a request of another version has is not known. */
	if (json_parse(line, len, "request", &n, e) ||
	    json_decode(n, "request", version_fields, &r, e))
		return -1;
	if (r.version < AGENT_VERSION_MIN || r.version > AGENT_VERSION) {
		err_set(e, ERR_AGAIN, 0,
			"request.version: the agent speaks %d to %d, the client %u",
			AGENT_VERSION_MIN, AGENT_VERSION, r.version);
		return err_hint(e, "install railheadd and the plugins of one release");
	}
	if (json_decode(n, "request", request_fields, &r, e))
		return -1;
	*out = (struct agent_call){ r.call, r.args };
	*tree = n;
	n = NULL;
	return 0;
}

char *agent_wire_result(const struct json *result)
{
	auto_json struct json *n = message();

	if (!n || (result ? json_add_copy(n, "result", result) : !json_add_object(n, "result")))
		return NULL;
	return agent_wire_print_line(n);
}

struct answer {
	const struct json *result;
	bool failed;
	uint32_t code;
	const char *text, *detail, *identity;
};

static const struct json_field error_fields[] = {
	{ "code", J_U32, J_AT(struct answer, code), .flags = J_REQUIRED, .min = 1, .max = 999 },
	{ "message", J_STRING, J_AT(struct answer, text), .flags = J_REQUIRED },
	{ "detail", J_STRING, J_AT(struct answer, detail), .flags = J_OMIT },
	{ "identity", J_STRING, J_AT(struct answer, identity) },
	{ 0 },
};

static const struct json_field answer_fields[] = {
	{ "result", J_OBJECT, J_AT(struct answer, result) },
	{ "error", J_NESTED, .flags = J_IF, .has = offsetof(struct answer, failed),
	  .of = error_fields },
	{ 0 },
};

char *agent_wire_error(const struct err *e, const char *identity)
{
	const struct answer a = { NULL, true, (uint32_t)e->code, e->msg, e->detail, identity };
	auto_json struct json *n = message();

	return json_encode(n, answer_fields, &a) ? NULL : agent_wire_print_line(n);
}

void agent_wire_identity(const char *line, size_t len, char *out, size_t size)
{
	auto_json struct json *n = NULL;
	const char *text = NULL;
	struct err ignored;

	*out = '\0';
	if (json_parse(line, len, "answer of the agent", &n, &ignored))
		return;
	text = json_str(
		json_get(json_get(n, json_get(n, "error") ? "error" : "result"), "identity"));
	if (text && strlen(text) < size)
		(void)snprintf(out, size, "%s", text);
}

int agent_wire_read_answer(const char *line, size_t len, struct json **result, struct err *e)
{
	auto_json struct json *n = NULL;
	struct answer a = { 0 };

	if (json_parse(line, len, "answer of the agent", &n, e) ||
	    json_decode(n, "answer", answer_fields, &a, e))
		return -1;
	if (a.failed) {
		err_set(e, (enum err_code)a.code, 0, "%s", a.text);
		return a.detail ? err_hint(e, "%s", a.detail) : -1;
	}
	if (!a.result)
		return err_set(e, ERR_CONFIG, 0, "answer of the agent: neither result nor error");
	*result = json_dup(a.result);
	return *result ? 0 : err_nomem(e);
}
