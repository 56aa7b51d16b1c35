/* SPDX-License-Identifier: Apache-2.0 */
/* agent_client.c: one connection for each request; no wait is longer than the deadline. */
#include "ipam/alloc/agent_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/base/text.h"
#include "lib/sys/listen.h"

/* The agent may need this time beside the wait that it was asked for. */
#define GRACE_MS 500
/* The agent answers at once that it was asked. */
#define REPAIR_MS 200
#define POOLS_MS  90000
/* It reads the pools, and one block after the other. */
#define FIND_MS 120000

static int no_agent(const char *path, int errnum, struct err *e)
{
	err_set(e, ERR_AGAIN, errnum, "no node agent answers at %s", path);
	if (errnum == EACCES)
		return -1;
	return err_hint(e,
			"start it: `systemctl start railheadd`, or see `journalctl -u railheadd`");
}

static int address_of(const struct ctx *ctx, struct sockaddr_un *out, struct err *e)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int n = snprintf(out->sun_path, sizeof(out->sun_path), "%s/" AGENT_SOCKET, ctx->run_dir);

	if (n < 0 || (size_t)n >= sizeof(out->sun_path))
		return err_set(e, ERR_CONFIG, 0, "%.200s/" AGENT_SOCKET ": the path is too long",
			       ctx->run_dir);
	return 0;
}

static int check_peer(int fd, const char *path, struct err *e)
{
	if (peer_check(fd, e) == 0)
		return 0;
	err_wrap(e, "%s", path);
	return e->code == ERR_FORBIDDEN ? err_hint(e, "remove that file and start railheadd again")
					: -1;
}

/* 0: it is ready for `events`. */
static int agent_client_wait_for(int fd, short events, int64_t until, const char *path,
				 struct err *e)
{
	for (;;) {
		int64_t left = until - ctx_mono_ms();
		struct pollfd p = { .fd = fd, .events = events };
		int n = left > 0 ? poll(&p, 1, (int)left) : 0;

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_set(e, ERR_IO, errno, "%s: wait", path);
		if (n == 0)
			return no_agent(path, ETIMEDOUT, e);
	}
}

static int send_line(int fd, const char *line, int64_t until, const char *path, struct err *e)
{
	for (size_t left = strlen(line); left;) {
		ssize_t n = send(fd, line, left, MSG_NOSIGNAL);

		if (n >= 0) {
			line += n;
			left -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (agent_client_wait_for(fd, POLLOUT, until, path, e))
				return -1;
		} else if (errno != EINTR) {
			return no_agent(path, errno, e);
		}
	}
	return 0;
}

/* Until the line break. An agent that ends in between gives no answer. */
static int receive_line(int fd, int64_t until, const char *path, struct text *out, struct err *e)
{
	char buf[4096];

	for (;;) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);
		const char *end = n > 0 ? memchr(buf, '\n', (size_t)n) : NULL;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (agent_client_wait_for(fd, POLLIN, until, path, e))
				return -1;
			continue;
		}
		if (n <= 0)
			return no_agent(path, n ? errno : ECONNRESET, e);
		text_add_len(out, buf, end ? (size_t)(end - buf) : (size_t)n);
		if (out->failed)
			return err_nomem(e);
		if (out->len > AGENT_ANSWER_MAX)
			return err_set(e, ERR_DECODE, 0, "%s: the answer has more than %d bytes",
				       path, AGENT_ANSWER_MAX);
		if (end)
			return 0;
	}
}

/* The line of the answer, which the caller clears. */
static int agent_client_exchange(const struct ctx *ctx, const struct agent_call *call,
				 int64_t wait_ms, struct text *answer, struct err *e)
{
	int64_t until = ctx_mono_ms() + wait_ms;
	struct sockaddr_un at;

	if (address_of(ctx, &at, e))
		return -1;
	auto_free char *line = agent_wire_request(call);
	if (!line)
		return err_nomem(e);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "socket");
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return no_agent(at.sun_path, errno, e);
	return check_peer(fd, at.sun_path, e) || send_line(fd, line, until, at.sun_path, e) ||
			       receive_line(fd, until, at.sun_path, answer, e)
		       ? -1
		       : 0;
}

int agent_client_call(const struct ctx *ctx, const struct agent_call *call, int64_t wait_ms,
		      struct json **result, struct err *e)
{
	auto_text struct text answer = { .s = NULL };

	if (agent_client_exchange(ctx, call, wait_ms, &answer, e))
		return -1;
	return agent_wire_read_answer(answer.s ? answer.s : "", answer.len, result, e);
}

int agent_client_need(const struct ctx *ctx, const struct agent_need *need, struct err *e)
{
	auto_json struct json *args = json_new_object(), *result = NULL;
	auto_text struct text answer = { .s = NULL };
	char is_of[AGENT_IDENTITY_LEN];

	if (!args || json_add_str(args, "pool", need->pool) ||
	    (need->identity && json_add_str(args, "identity", need->identity)) ||
	    json_add_int(args, "addresses", need->addresses) ||
	    json_add_int(args, "waitMs", need->wait_ms))
		return err_nomem(e);
	if (agent_client_exchange(ctx, &(struct agent_call){ "need", args },
				  need->wait_ms + GRACE_MS, &answer, e))
		return -1;
	agent_wire_identity(answer.s ? answer.s : "", answer.len, is_of, sizeof(is_of));
	if (*is_of && need->is_of)
		memcpy(need->is_of, is_of, sizeof(is_of));
	return agent_wire_read_answer(answer.s ? answer.s : "", answer.len, &result, e);
}

int agent_client_need_address(const struct ctx *ctx, const char *pool, struct ip ip,
			      int64_t wait_ms, struct err *e)
{
	auto_json struct json *args = json_new_object(), *result = NULL;
	char text[IP_STR_LEN];

	if (!args || json_add_str(args, "pool", pool) ||
	    json_add_str(args, "address", ip_format(ip, text)) ||
	    json_add_int(args, "waitMs", wait_ms))
		return err_nomem(e);
	return agent_client_call(ctx, &(struct agent_call){ "need-address", args },
				 wait_ms + GRACE_MS, &result, e);
}

int agent_client_pools(const struct ctx *ctx, struct json **answer, struct err *e)
{
	return agent_client_call(ctx, &(struct agent_call){ "pools", NULL }, POOLS_MS, answer, e);
}

int agent_client_find(const struct ctx *ctx, const char *address, struct json **answer,
		      struct err *e)
{
	auto_json struct json *args = json_new_object();

	if (!args || json_add_str(args, "address", address))
		return err_nomem(e);
	return agent_client_call(ctx, &(struct agent_call){ "find", args }, FIND_MS, answer, e);
}

void agent_client_repair(const struct ctx *ctx)
{
	auto_json struct json *result = NULL;
	struct err ignored;

	(void)!agent_client_call(ctx, &(struct agent_call){ "repair", NULL }, REPAIR_MS, &result,
				 &ignored);
}

void agent_client_tell(const struct ctx *ctx, enum hint_after after, int64_t since,
		       const struct err *failed)
{
	int64_t micros = (ctx_since_boot(ctx) - since) / 1000;
	struct hint h = { .after = after, .outcome = HINT_DONE };

	if (failed)
		h.outcome = failed->code == ERR_EXHAUSTED ? HINT_FULL : HINT_FAILED;
	h.micros = micros > UINT32_MAX ? UINT32_MAX : (uint32_t)micros;
	hint_send(ctx, &h);
}
