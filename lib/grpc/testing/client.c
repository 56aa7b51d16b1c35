/* SPDX-License-Identifier: Apache-2.0 */
/* client.c: a gRPC client for tests, on nghttp2. */
#include "lib/grpc/testing/client.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

struct sending {
	struct testing_request request;
	size_t sent;
};

struct testing_client {
	nghttp2_session *session;
	size_t n;
	int32_t stream[TESTING_CALLS_MAX];
	struct sending sending[TESTING_CALLS_MAX];
	struct testing_call got[TESTING_CALLS_MAX];
};

static struct testing_call *call_of(struct testing_client *c, int32_t stream)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->stream[i] == stream)
			return &c->got[i];
	}
	return NULL;
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

static ssize_t on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t cap,
		       uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct sending *s = source->ptr;
	size_t n = s->request.n_body - s->sent;

	(void)session;
	(void)stream;
	(void)arg;
	n = n < cap ? n : cap;
	if (n)
		memcpy(buf, (const uint8_t *)s->request.body + s->sent, n);
	s->sent += n;
	if (n == 0 && s->request.open)
		return NGHTTP2_ERR_DEFERRED;
	if (s->sent == s->request.n_body && !s->request.open)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct testing_call *got = call_of(arg, frame->hd.stream_id);
	char line[400];

	(void)session;
	(void)flags;
	ck_assert_ptr_nonnull(got);
	(void)snprintf(line, sizeof(line), "%.*s: %.*s\n", (int)name_len, name, (int)len, value);
	testing_append(got->headers, sizeof(got->headers), line);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
		   size_t len, void *arg)
{
	struct testing_call *got = call_of(arg, stream);
	size_t room;

	(void)session;
	(void)flags;
	ck_assert_ptr_nonnull(got);
	room = got->n_body < sizeof(got->body) ? sizeof(got->body) - got->n_body : 0;
	memcpy(got->body + sizeof(got->body) - room, data, len < room ? len : room);
	got->n_body += len;
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
	struct testing_call *got = call_of(arg, stream);

	(void)session;
	ck_assert_ptr_nonnull(got);
	got->closed = true;
	got->reset = code;
	return 0;
}

struct testing_client *testing_client_new(uint32_t window)
{
	const nghttp2_settings_entry settings = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window };
	struct testing_client *c = calloc(1, sizeof(*c));
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;

	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(nghttp2_session_callbacks_new(&callbacks), 0);
	ck_assert_int_eq(nghttp2_option_new(&option), 0);
	nghttp2_option_set_no_auto_window_update(option, window > 0);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	ck_assert_int_eq(nghttp2_session_client_new2(&c->session, callbacks, c, option), 0);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_option_del(option);
	ck_assert_int_eq(nghttp2_submit_settings(c->session, 0, &settings, window > 0), 0);
	return c;
}

void testing_client_free(struct testing_client *c)
{
	nghttp2_session_del(c->session);
	free(c);
}

size_t testing_client_call(struct testing_client *c, const struct testing_request *r)
{
	struct sending *s = &c->sending[c->n];
	nghttp2_data_provider body = { .source.ptr = s, .read_callback = on_read };
	const nghttp2_nv h[] = {
		header(":method", r->method ? r->method : "POST"),
		header(":scheme", "http"),
		header(":path", r->path ? r->path : "/"),
		header(":authority", "localhost"),
		header("content-type", r->type ? r->type : "application/grpc"),
		header("te", "trailers"),
	};

	ck_assert_uint_lt(c->n, TESTING_CALLS_MAX);
	s->request = *r;
	int32_t stream = nghttp2_submit_request(c->session, NULL, h, ARRAY_SIZE(h),
						r->body || r->open ? &body : NULL, NULL);
	ck_assert_int_gt(stream, 0);
	c->stream[c->n] = stream;
	return c->n++;
}

void testing_client_cancel(struct testing_client *c, size_t call)
{
	ck_assert_int_eq(nghttp2_submit_rst_stream(c->session, 0, c->stream[call], NGHTTP2_CANCEL),
			 0);
}

void testing_client_goaway(struct testing_client *c)
{
	ck_assert_int_eq(nghttp2_submit_goaway(c->session, 0, 0, NGHTTP2_NO_ERROR, NULL, 0), 0);
}

void testing_client_read(struct testing_client *c, size_t len)
{
	for (size_t i = 0; i < c->n; i++)
		(void)nghttp2_session_consume(c->session, c->stream[i], len);
}

size_t testing_client_out(struct testing_client *c, const uint8_t **data)
{
	ssize_t n = nghttp2_session_mem_send(c->session, data);

	ck_assert_int_ge(n, 0);
	return (size_t)n;
}

void testing_client_in(struct testing_client *c, const uint8_t *data, size_t len)
{
	ck_assert_int_eq(nghttp2_session_mem_recv(c->session, data, len), (ssize_t)len);
}

const struct testing_call *testing_client_got(const struct testing_client *c, size_t call)
{
	ck_assert_uint_lt(call, c->n);
	return &c->got[call];
}
