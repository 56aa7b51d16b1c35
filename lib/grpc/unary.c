/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unary.c: a unary call as a client on a session of nghttp2. The library owns the state of HTTP/2;
 * this file fills the request, and keeps the headers and the message of the answer.
 */
#include "lib/grpc/unary.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

#include "lib/grpc/memory.h"
#include "lib/grpc/message.h"

/* A window for each answer of the usual size, so that the peer does not wait for updates. */
#define WINDOW      (1 << 20)
#define TIMEOUT_MAX 99999999 /* grpc-timeout has at most 8 digits */

struct grpc_unary {
	const struct grpc_request *request;
	struct memory memory;
	nghttp2_session *session;
	int32_t stream;
	size_t sent; /* bytes of prefix and message */
	uint8_t prefix[GRPC_PREFIX_LEN];

	uint32_t http_status; /* 0: not received */
	bool is_grpc;         /* the content type says so */
	bool has_status;
	struct grpc_status status;
	struct grpc_message message;

	bool done;
	uint32_t reset; /* error code with which the stream was closed */
	bool failed;    /* error has the reason */
	struct err error;
	char words[160]; /* nghttp2's last complaint; "": none */
};

/* ---- the request ---- */

static ssize_t on_unary_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t cap,
			     uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct grpc_unary *u = source->ptr;
	const struct grpc_request *r = u->request;
	size_t n = 0;

	(void)session;
	(void)stream;
	(void)arg;
	while (n < cap && u->sent < GRPC_PREFIX_LEN)
		buf[n++] = u->prefix[u->sent++];
	size_t at = u->sent - GRPC_PREFIX_LEN, more = r->len - at;
	if (u->sent >= GRPC_PREFIX_LEN && more) {
		more = more < cap - n ? more : cap - n;
		memcpy(buf + n, r->message + at, more);
		n += more;
		u->sent += more;
	}
	if (u->sent == GRPC_PREFIX_LEN + (size_t)r->len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static nghttp2_nv unary_header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

/* The code of nghttp2, 0 if all went well. */
static int submit(struct grpc_unary *u)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW },
	};
	const uint32_t ms = u->request->timeout_ms;
	nghttp2_data_provider body = { .source.ptr = u, .read_callback = on_unary_read };
	char timeout[16];

	(void)snprintf(timeout, sizeof(timeout), "%um", ms < TIMEOUT_MAX ? ms : TIMEOUT_MAX);
	const nghttp2_nv headers[] = {
		unary_header(":method", "POST"),
		unary_header(":scheme", "http"),
		unary_header(":path", u->request->path),
		unary_header(":authority", "localhost"),
		unary_header("content-type", "application/grpc"),
		unary_header("te", "trailers"),
		unary_header("grpc-timeout", timeout),
	};
	int rc = nghttp2_submit_settings(u->session, NGHTTP2_FLAG_NONE, settings,
					 ARRAY_SIZE(settings));
	if (!rc)
		rc = nghttp2_session_set_local_window_size(u->session, NGHTTP2_FLAG_NONE, 0,
							   WINDOW);
	if (!rc)
		u->stream = nghttp2_submit_request(u->session, NULL, headers, ARRAY_SIZE(headers),
						   &body, NULL);
	return rc ? rc : u->stream < 0 ? u->stream : 0;
}

/* ---- the answer ---- */

static bool unary_is_named(const uint8_t *name, size_t len, const char *want)
{
	return len == strlen(want) && memcmp(name, want, len) == 0;
}

static int fail_callback(struct grpc_unary *u)
{
	u->failed = true;
	return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_unary_header(nghttp2_session *session, const nghttp2_frame *frame,
			   const uint8_t *name, size_t name_len, const uint8_t *value, size_t len,
			   uint8_t flags, void *arg)
{
	static const char type[] = "application/grpc";
	struct grpc_unary *u = arg;
	const char *text = (const char *)value;

	(void)session;
	(void)flags;
	if (frame->hd.stream_id != u->stream)
		return 0;
	if (unary_is_named(name, name_len, ":status")) {
		if (grpc_status_parse(text, len, &u->http_status))
			u->http_status = 0;
	} else if (unary_is_named(name, name_len, "content-type")) {
		u->is_grpc = len >= sizeof(type) - 1 && !memcmp(text, type, sizeof(type) - 1);
	} else if (unary_is_named(name, name_len, "grpc-status")) {
		u->has_status = grpc_status_parse(text, len, &u->status.code) == 0;
	} else if (unary_is_named(name, name_len, "grpc-message")) {
		grpc_status_text(text, len, u->status.text);
	}
	return 0;
}

static int on_unary_data(nghttp2_session *session, uint8_t flags, int32_t stream,
			 const uint8_t *data, size_t len, void *arg)
{
	struct grpc_unary *u = arg;

	(void)session;
	(void)flags;
	if (stream != u->stream)
		return 0;
	return grpc_message_add(&u->message, data, len, &u->error) ? fail_callback(u) : 0;
}

static int on_unary_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
	struct grpc_unary *u = arg;

	(void)session;
	if (stream == u->stream) {
		u->done = true;
		u->reset = code;
	}
	return 0;
}

/* The library goes on after such a complaint, and ends the call if it must. */
static int on_unary_complaint(nghttp2_session *session, int code, const char *words, size_t len,
			      void *arg)
{
	struct grpc_unary *u = arg;

	(void)session;
	(void)code;
	(void)snprintf(u->words, sizeof(u->words), "%.*s", (int)(len < 159 ? len : 159), words);
	return 0;
}

/* ---- the session ---- */

static int unary_set_callbacks(nghttp2_session_callbacks **out)
{
	int rc = nghttp2_session_callbacks_new(out);

	if (rc)
		return rc;
	nghttp2_session_callbacks_set_on_header_callback(*out, on_unary_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(*out, on_unary_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(*out, on_unary_close);
	nghttp2_session_callbacks_set_error_callback2(*out, on_unary_complaint);
	return 0;
}

/* The error of a code of nghttp2. */
static int unary_refuse(const struct grpc_unary *u, int64_t code, struct err *e)
{
	if (u->failed)
		return err_pass(e, &u->error);
	if (u->memory.failed || code == NGHTTP2_ERR_NOMEM)
		return err_nomem(e);
	return err_set(e, ERR_IO, 0, "HTTP/2: %s",
		       *u->words ? u->words : nghttp2_strerror((int)code));
}

int grpc_unary_new(const struct grpc_request *r, struct grpc_unary **out, struct err *e)
{
	nghttp2_mem mem = { NULL, memory_malloc, memory_free, memory_calloc, memory_realloc };
	auto_grpc_unary struct grpc_unary *u = calloc(1, sizeof(*u));
	nghttp2_session_callbacks *callbacks = NULL;

	if (!u)
		return err_nomem(e);
	u->request = r;
	mem.mem_user_data = &u->memory;
	u->message.max = r->max_answer;
	grpc_message_prefix(r->len, u->prefix);
	int rc = unary_set_callbacks(&callbacks);
	if (!rc)
		rc = nghttp2_session_client_new3(&u->session, callbacks, u, NULL, &mem);
	nghttp2_session_callbacks_del(callbacks);
	if (!rc)
		rc = submit(u);
	if (rc)
		return unary_refuse(u, rc, e);
	*out = TAKE_PTR(u);
	return 0;
}

void grpc_unary_free(struct grpc_unary *u)
{
	if (!u)
		return;
	nghttp2_session_del(u->session);
	grpc_message_clear(&u->message);
	free(u);
}

int grpc_unary_out(struct grpc_unary *u, const uint8_t **data, size_t *len, struct err *e)
{
	const uint8_t *bytes = NULL;
	ssize_t n = nghttp2_session_mem_send(u->session, &bytes);

	if (n < 0)
		return unary_refuse(u, n, e);
	/* The library has said farewell: the peer does not speak HTTP/2. */
	if (n == 0 && !u->done && !nghttp2_session_want_read(u->session))
		return unary_refuse(u, NGHTTP2_ERR_PROTO, e);
	*data = bytes;
	*len = (size_t)n;
	return 0;
}

int grpc_unary_in(struct grpc_unary *u, const uint8_t *data, size_t len, struct err *e)
{
	ssize_t n = nghttp2_session_mem_recv(u->session, data, len);

	return n < 0 ? unary_refuse(u, n, e) : 0;
}

bool grpc_unary_is_done(const struct grpc_unary *u)
{
	return u->done;
}

int grpc_unary_take(struct grpc_unary *u, struct grpc_answer *out, struct err *e)
{
	if (u->memory.failed)
		return err_nomem(e);
	if (u->http_status && u->http_status != 200)
		return err_set(e, ERR_IO, 0, "HTTP status %u: this is not a gRPC server",
			       u->http_status);
	if (u->http_status && !u->is_grpc)
		return err_set(
			e, ERR_IO, 0,
			"the content type is not application/grpc: this is not a gRPC server");
	if (!u->has_status)
		return err_set(e, u->reset == NGHTTP2_REFUSED_STREAM ? ERR_AGAIN : ERR_IO, 0,
			       "the call ended without a grpc-status (HTTP/2: %s)%s%s",
			       nghttp2_http2_strerror(u->reset), *u->words ? ": " : "", u->words);
	if (u->status.code == GRPC_OK && !grpc_message_is_whole(&u->message))
		return err_set(e, ERR_IO, 0, "the answer has no whole message");
	*out = (struct grpc_answer){ .status = u->status };
	if (u->status.code == GRPC_OK) {
		out->len = u->message.n;
		out->message = TAKE_PTR(u->message.data);
	}
	return 0;
}

void grpc_answer_clear(struct grpc_answer *a)
{
	free(a->message);
	*a = (struct grpc_answer){ .len = 0 };
}
