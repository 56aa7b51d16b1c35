/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c: a connection of a server on a session of nghttp2. The library owns the state of
 * HTTP/2 and the windows of flow control; this file keeps the calls and their messages.
 */
#include "lib/grpc/session.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "lib/grpc/memory.h"
#include "lib/grpc/message.h"

#define HEADERS_MAX 8192 /* bytes of the headers of a call, by SETTINGS */

/* A message with its prefix. */
struct framed {
	uint8_t *bytes; /* owned; NULL: none */
	size_t len, sent;
};

struct grpc_call {
	TAILQ_ENTRY(grpc_call) all;
	struct grpc_session *session;
	int32_t stream;

	const struct grpc_method *method; /* NULL: the path has none */
	bool is_post, is_grpc;
	struct grpc_message request;

	bool begun;               /* the method has the request, or the call was refused before */
	bool answers;             /* headers of the answer are submitted */
	bool waits;               /* nghttp2 asks for no bytes until go_on() */
	bool ended;               /* status is set */
	struct framed now, next;  /* being sent; to be sent then */
	void (*gone)(void *what); /* NULL: there is nothing to tell */
	void *what;
	struct grpc_status status;
};
TAILQ_HEAD(grpc_calls, grpc_call);

struct grpc_session {
	struct grpc_session_conf conf;
	struct memory memory;
	nghttp2_session *http;
	struct grpc_calls calls;
	bool failed;     /* no memory for an answer */
	char words[160]; /* nghttp2's last complaint; "": none */
};

static nghttp2_nv session_header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

/* ---- the answer ---- */

struct end_headers {
	char code[12];
	char text[GRPC_ENCODED_LEN];
};

/* The headers with which a call ends; they refer to texts. Returns how many. */
static size_t end_headers(const struct grpc_status *s, struct end_headers *texts, nghttp2_nv *out)
{
	(void)snprintf(texts->code, sizeof(texts->code), "%u", s->code);
	grpc_status_encode(s->text, texts->text);
	out[0] = session_header("grpc-status", texts->code);
	out[1] = session_header("grpc-message", texts->text);
	return *s->text ? 2 : 1;
}

static void session_note(struct grpc_session *s, int rc)
{
	s->failed |= rc != 0;
}

static void take_next(struct grpc_call *c)
{
	free(c->now.bytes);
	c->now = c->next;
	c->next = (struct framed){ .len = 0 };
}

static bool has_bytes(const struct grpc_call *c)
{
	return c->now.sent < c->now.len || c->next.len;
}

static ssize_t on_read(nghttp2_session *http, int32_t stream, uint8_t *buf, size_t cap,
		       uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct grpc_call *c = source->ptr;
	struct end_headers texts;
	nghttp2_nv end[2];
	size_t n = 0;

	(void)arg;
	while (n < cap && has_bytes(c)) {
		if (c->now.sent == c->now.len)
			take_next(c);
		size_t more = c->now.len - c->now.sent;

		more = more < cap - n ? more : cap - n;
		memcpy(buf + n, c->now.bytes + c->now.sent, more);
		c->now.sent += more;
		n += more;
	}
	if (c->ended && !has_bytes(c)) {
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		session_note(c->session,
			     nghttp2_submit_trailer(http, stream, end,
						    end_headers(&c->status, &texts, end)));
	} else if (n == 0) {
		c->waits = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	return (ssize_t)n;
}

/* The answer goes on: its headers are submitted once. */
static void go_on(struct grpc_call *c)
{
	nghttp2_data_provider body = { .source.ptr = c, .read_callback = on_read };
	nghttp2_nv h[4] = { session_header(":status", "200"),
			    session_header("content-type", "application/grpc") };
	struct grpc_session *s = c->session;
	struct end_headers texts;
	bool only_status = c->ended && !has_bytes(c);

	if (c->waits) {
		c->waits = false;
		session_note(s, nghttp2_session_resume_data(s->http, c->stream));
	} else if (!c->answers) {
		size_t n = 2 + (only_status ? end_headers(&c->status, &texts, h + 2) : 0);

		c->answers = true;
		session_note(s, nghttp2_submit_response(s->http, c->stream, h, n,
							only_status ? NULL : &body));
	}
	s->conf.wake(s->conf.waker);
}

int grpc_call_send(struct grpc_call *c, const uint8_t *message, size_t len)
{
	struct framed f = { len > UINT32_MAX ? NULL : malloc(GRPC_PREFIX_LEN + len),
			    GRPC_PREFIX_LEN + len, 0 };

	if (!f.bytes) {
		c->session->failed = true;
		c->session->conf.wake(c->session->conf.waker);
		return -1;
	}
	grpc_message_prefix((uint32_t)len, f.bytes);
	if (len)
		memcpy(f.bytes + GRPC_PREFIX_LEN, message, len);
	free(c->next.bytes);
	c->next = f;
	go_on(c);
	return 0;
}

void grpc_call_end(struct grpc_call *c, const struct grpc_status *status)
{
	c->gone = NULL;
	c->ended = true;
	c->status = *status;
	go_on(c);
}

void grpc_call_answer(struct grpc_call *c, const uint8_t *message, size_t len)
{
	static const struct grpc_status ok = { .code = GRPC_OK };

	if (grpc_call_send(c, message, len) == 0)
		grpc_call_end(c, &ok);
	c->gone = NULL;
}

void grpc_call_refuse(struct grpc_call *c, const struct err *why)
{
	struct grpc_status status;

	grpc_status_of(why, &status);
	grpc_call_end(c, &status);
}

void grpc_call_later(struct grpc_call *c, void (*gone)(void *what), void *what)
{
	c->gone = gone;
	c->what = what;
}

/* ---- the request ---- */

static bool is_text(const uint8_t *bytes, size_t len, const char *want)
{
	return len == strlen(want) && memcmp(bytes, want, len) == 0;
}

static struct grpc_call *call_of(struct grpc_session *s, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(s->http, stream);
}

static int on_begin(nghttp2_session *http, const nghttp2_frame *frame, void *arg)
{
	struct grpc_session *s = arg;
	struct grpc_call *c;

	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c) {
		s->failed = true;
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	c->session = s;
	c->stream = frame->hd.stream_id;
	c->request.max = s->conf.service->max_request;
	TAILQ_INSERT_TAIL(&s->calls, c, all);
	session_note(s, nghttp2_session_set_stream_user_data(http, c->stream, c));
	return 0;
}

static int on_header(nghttp2_session *http, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	static const char type[] = "application/grpc";
	struct grpc_session *s = arg;
	struct grpc_call *c = call_of(s, frame->hd.stream_id);

	(void)http;
	(void)flags;
	if (!c || c->begun)
		return 0;
	if (is_text(name, name_len, ":path")) {
		const struct grpc_method *m = s->conf.service->methods;

		while (m->path && !is_text(value, len, m->path))
			m++;
		c->method = m->path ? m : NULL;
	} else if (is_text(name, name_len, ":method")) {
		c->is_post = is_text(value, len, "POST");
	} else if (is_text(name, name_len, "content-type")) {
		c->is_grpc = len >= sizeof(type) - 1 && !memcmp(value, type, sizeof(type) - 1);
	}
	return 0;
}

static void session_refuse(struct grpc_call *c, enum grpc_code code, const char *why)
{
	struct grpc_status status = { .code = code };

	c->begun = true;
	(void)snprintf(status.text, sizeof(status.text), "%.255s", why);
	grpc_call_end(c, &status);
}

/* All headers of the request are there. */
static void look_at_headers(struct grpc_call *c)
{
	const nghttp2_nv no_grpc = session_header(":status", "415");
	struct grpc_session *s = c->session;

	if (!c->is_post || !c->is_grpc) {
		c->begun = c->answers = true;
		session_note(s, nghttp2_submit_response(s->http, c->stream, &no_grpc, 1, NULL));
	} else if (!c->method) {
		session_refuse(c, GRPC_UNIMPLEMENTED, "unknown method");
	}
}

static void begin_call(struct grpc_call *c)
{
	if (c->begun)
		return;
	if (!grpc_message_is_whole(&c->request)) {
		session_refuse(c, GRPC_INTERNAL, "the request has no whole message");
		return;
	}
	c->begun = true;
	c->method->fn(c->session->conf.arg, c, c->request.data, c->request.n);
	grpc_message_clear(&c->request);
}

static int on_data(nghttp2_session *http, uint8_t flags, int32_t stream, const uint8_t *data,
		   size_t len, void *arg)
{
	struct grpc_call *c = call_of(arg, stream);
	struct err e;

	(void)http;
	(void)flags;
	if (!c || c->begun || grpc_message_add(&c->request, data, len, &e) == 0)
		return 0;
	if (e.code == ERR_NOMEM)
		c->session->failed = true;
	/* doc/compression.md of gRPC: a server refuses so what it cannot decompress. */
	session_refuse(c,
		       c->request.prefix[0]              ? GRPC_UNIMPLEMENTED
		       : c->request.len > c->request.max ? GRPC_RESOURCE_EXHAUSTED
							 : GRPC_INTERNAL,
		       e.msg);
	return 0;
}

static int on_frame(nghttp2_session *http, const nghttp2_frame *frame, void *arg)
{
	struct grpc_call *c;

	(void)http;
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	c = call_of(arg, frame->hd.stream_id);
	if (!c)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		look_at_headers(c);
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		begin_call(c);
	return 0;
}

/* A call that was refused early: the client need not send the rest (RFC 9113, 8.1). */
static int on_sent(nghttp2_session *http, const nghttp2_frame *frame, void *arg)
{
	int32_t stream = frame->hd.stream_id;

	if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
	    nghttp2_session_get_stream_remote_close(http, stream) == 0)
		session_note(arg, nghttp2_submit_rst_stream(http, NGHTTP2_FLAG_NONE, stream,
							    NGHTTP2_NO_ERROR));
	return 0;
}

static void free_call(struct grpc_call *c)
{
	TAILQ_REMOVE(&c->session->calls, c, all);
	if (c->gone)
		c->gone(c->what);
	grpc_message_clear(&c->request);
	free(c->now.bytes);
	free(c->next.bytes);
	free(c);
}

static int on_close(nghttp2_session *http, int32_t stream, uint32_t code, void *arg)
{
	struct grpc_call *c = call_of(arg, stream);

	(void)http;
	(void)code;
	if (c)
		free_call(c);
	return 0;
}

static int on_complaint(nghttp2_session *http, int code, const char *words, size_t len, void *arg)
{
	struct grpc_session *s = arg;

	(void)http;
	(void)code;
	(void)snprintf(s->words, sizeof(s->words), "%.*s", (int)(len < 159 ? len : 159), words);
	return 0;
}

/* ---- the session ---- */

static int set_callbacks(nghttp2_session_callbacks **out)
{
	int rc = nghttp2_session_callbacks_new(out);

	if (rc)
		return rc;
	nghttp2_session_callbacks_set_on_begin_headers_callback(*out, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(*out, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(*out, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(*out, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(*out, on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(*out, on_close);
	nghttp2_session_callbacks_set_error_callback2(*out, on_complaint);
	return 0;
}

/* The error of a code of nghttp2. */
static int end_session(const struct grpc_session *s, int64_t code, struct err *e)
{
	if (s->failed || s->memory.failed || code == NGHTTP2_ERR_NOMEM)
		return err_nomem(e);
	return err_set(e, ERR_IO, 0, "HTTP/2: %s",
		       *s->words ? s->words : nghttp2_strerror((int)code));
}

static int submit_settings(struct grpc_session *s)
{
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, s->conf.service->max_calls },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_MAX },
	};

	return nghttp2_submit_settings(s->http, NGHTTP2_FLAG_NONE, settings, ARRAY_SIZE(settings));
}

int grpc_session_new(const struct grpc_session_conf *conf, struct grpc_session **out, struct err *e)
{
	nghttp2_mem mem = { NULL, memory_malloc, memory_free, memory_calloc, memory_realloc };
	auto_grpc_session struct grpc_session *s = calloc(1, sizeof(*s));
	nghttp2_session_callbacks *callbacks = NULL;

	if (!s)
		return err_nomem(e);
	s->conf = *conf;
	TAILQ_INIT(&s->calls);
	mem.mem_user_data = &s->memory;
	int rc = set_callbacks(&callbacks);
	if (!rc)
		rc = nghttp2_session_server_new3(&s->http, callbacks, s, NULL, &mem);
	nghttp2_session_callbacks_del(callbacks);
	if (!rc)
		rc = submit_settings(s);
	if (rc)
		return end_session(s, rc, e);
	*out = TAKE_PTR(s);
	return 0;
}

void grpc_session_free(struct grpc_session *s)
{
	if (!s)
		return;
	/* The library does not close the streams that are open. */
	while (!TAILQ_EMPTY(&s->calls))
		free_call(TAILQ_FIRST(&s->calls));
	nghttp2_session_del(s->http);
	free(s);
}

int grpc_session_in(struct grpc_session *s, const uint8_t *data, size_t len, struct err *e)
{
	ssize_t n = nghttp2_session_mem_recv(s->http, data, len);

	return n < 0 || s->failed || s->memory.failed ? end_session(s, n, e) : 0;
}

int grpc_session_out(struct grpc_session *s, const uint8_t **data, size_t *len, struct err *e)
{
	const uint8_t *bytes = NULL;
	ssize_t n = nghttp2_session_mem_send(s->http, &bytes);

	if (n < 0 || s->failed || s->memory.failed)
		return end_session(s, n, e);
	*data = bytes;
	*len = (size_t)n;
	return 0;
}

bool grpc_session_is_over(const struct grpc_session *s)
{
	return !nghttp2_session_want_read(s->http) && !nghttp2_session_want_write(s->http);
}
