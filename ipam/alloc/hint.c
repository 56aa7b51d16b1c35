/* SPDX-License-Identifier: Apache-2.0 */
/* hint.c: datagrams to the agent. Whatever goes wrong, the ADD or DEL is done already. */
#include "ipam/alloc/hint.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/json/json.h"

static const struct json_enum afters[] = {
	[HINT_ADD] = { "add", HINT_ADD },
	[HINT_DEL] = { "del", HINT_DEL },
	{ NULL, 0 },
};

static const struct json_enum outcomes[] = {
	[HINT_DONE] = { "done", HINT_DONE },
	[HINT_FULL] = { "full", HINT_FULL },
	[HINT_FAILED] = { "failed", HINT_FAILED },
	{ NULL, 0 },
};

const char *hint_outcome_name(enum hint_outcome outcome)
{
	return outcomes[outcome].name;
}

/* Without a tree of JSON: an ADD pays for it. No value needs an escape. */
size_t hint_write(const struct hint *h, char out[HINT_MAX])
{
	return (size_t)snprintf(
		out, HINT_MAX, "{\"version\":%d,\"after\":\"%s\",\"outcome\":\"%s\",\"micros\":%u}",
		HINT_VERSION, afters[h->after].name, outcomes[h->outcome].name, h->micros);
}

static const struct json_field version_fields[] = {
	{ "version", J_U32, .flags = J_REQUIRED },
	{ 0 },
};

static const struct json_field fields[] = {
	{ "after", J_ENUM, J_AT(struct hint, after), .flags = J_REQUIRED, .names = afters },
	{ "outcome", J_ENUM, J_AT(struct hint, outcome), .flags = J_REQUIRED, .names = outcomes },
	{ "micros", J_UINT, J_AT(struct hint, micros), .flags = J_REQUIRED },
	{ 0 },
};

int hint_read(const char *text, size_t len, struct hint *out, struct err *e)
{
	auto_json struct json *n = NULL;
	struct hint h = { .micros = 0 };
	uint32_t version = 0;

	/* The version first: what else a hint of another version has is not known. */
	if (json_parse(text, len, "hint", &n, e) ||
	    json_decode(n, "hint", version_fields, &version, e))
		return -1;
	if (version != HINT_VERSION)
		return err_set(e, ERR_VERSION, 0, "hint.version: it is %u, not %d", version,
			       HINT_VERSION);
	if (json_decode(n, "hint", fields, &h, e))
		return -1;
	*out = h;
	return 0;
}

void hint_send(const struct ctx *ctx, const struct hint *h)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" HINT_SOCKET, ctx->run_dir);
	char text[HINT_MAX];

	if (n < 0 || (size_t)n >= sizeof(at.sun_path))
		return;
	auto_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		(void)!sendto(fd, text, hint_write(h, text), MSG_DONTWAIT | MSG_NOSIGNAL,
			      (const struct sockaddr *)&at, sizeof(at));
}
