/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: a gRPC server for tests, on nghttp2. */
#include "lib/grpc/testing/server.h"

#include <nghttp2/nghttp2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"

struct testing_grpc {
	struct grpc_script script;
	nghttp2_session *session;
	size_t sent;
	char seen[512]; /* "name: value\n" of each header of the call */
};

const void *testing_grpc_frame(const void *message, uint8_t len)
{
	static uint8_t frame[256 + 5];

	memset(frame, 0, 4);
	frame[4] = len;
	if (len)
		memcpy(frame + 5, message, len);
	return frame;
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

/* The two headers at the end of a call. */
static size_t end_headers(const struct grpc_script *s, nghttp2_nv *out)
{
	size_t n = 0;

	if (s->status)
		out[n++] = header("grpc-status", s->status);
	if (s->text)
		out[n++] = header("grpc-message", s->text);
	return n;
}

static ssize_t on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t cap,
		       uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct testing_grpc *g = source->ptr;
	size_t n = g->script.n_body - g->sent;
	nghttp2_nv end[2];

	(void)arg;
	n = n < cap ? n : cap;
	memcpy(buf, (const uint8_t *)g->script.body + g->sent, n);
	g->sent += n;
	if (g->sent < g->script.n_body)
		return (ssize_t)n;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	size_t n_end = end_headers(&g->script, end);
	if (n_end) {
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		ck_assert_int_eq(nghttp2_submit_trailer(session, stream, end, n_end), 0);
	}
	return (ssize_t)n;
}

static void answer(struct testing_grpc *g, int32_t stream)
{
	static const struct grpc_script busy = { .status = "8", .text = "rejected by rate limit" };
	bool refuse = g->script.busy > 0;
	const struct grpc_script *s = refuse ? &busy : &g->script;
	nghttp2_data_provider body = { .source.ptr = g, .read_callback = on_read };
	nghttp2_nv h[4] = { header(":status", s->http_status ? s->http_status : "200") };
	const char *type = s->content_type ? s->content_type : "application/grpc";
	size_t n = 1;

	if (s->silent)
		return;
	if (s->reset) {
		ck_assert_int_eq(nghttp2_submit_rst_stream(g->session, 0, stream, s->reset), 0);
		return;
	}
	if (*type)
		h[n++] = header("content-type", type);
	if (!s->body)
		n += end_headers(s, h + n);
	g->sent = 0;
	ck_assert_int_eq(nghttp2_submit_response(g->session, stream, h, n, s->body ? &body : NULL),
			 0);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)session;
	/* The flag of other frames with this bit is an acknowledgement. */
	if (frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		answer(arg, frame->hd.stream_id);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct testing_grpc *g = arg;
	char line[200];

	(void)session;
	(void)frame;
	(void)flags;
	(void)snprintf(line, sizeof(line), "%.*s: %.*s\n", (int)name_len, name, (int)len, value);
	testing_append(g->seen, sizeof(g->seen), line);
	return 0;
}

struct testing_grpc *testing_grpc_new(const struct grpc_script *s)
{
	struct testing_grpc *g = calloc(1, sizeof(*g));
	nghttp2_session_callbacks *callbacks;

	ck_assert_ptr_nonnull(g);
	g->script = *s;
	ck_assert_int_eq(nghttp2_session_callbacks_new(&callbacks), 0);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	ck_assert_int_eq(nghttp2_session_server_new(&g->session, callbacks, g), 0);
	nghttp2_session_callbacks_del(callbacks);
	ck_assert_int_eq(nghttp2_submit_settings(g->session, 0, NULL, 0), 0);
	return g;
}

void testing_grpc_free(struct testing_grpc *g)
{
	nghttp2_session_del(g->session);
	free(g);
}

void testing_grpc_in(struct testing_grpc *g, const uint8_t *data, size_t len)
{
	ck_assert_int_eq(nghttp2_session_mem_recv(g->session, data, len), (ssize_t)len);
}

size_t testing_grpc_out(struct testing_grpc *g, const uint8_t **data)
{
	ssize_t n = nghttp2_session_mem_send(g->session, data);

	ck_assert_int_ge(n, 0);
	return (size_t)n;
}

const char *testing_grpc_seen(const struct testing_grpc *g)
{
	return g->seen;
}

/* ---- at a socket ---- */

static int listen_at_path(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert(fd >= 0 && strlen(path) < sizeof(at.sun_path));
	memcpy(at.sun_path, path, strlen(path) + 1);
	(void)unlink(path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	return fd;
}

static bool write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static void serve_one(int fd, const struct grpc_script *s)
{
	struct testing_grpc *g = testing_grpc_new(s);
	uint8_t buf[4096];
	const uint8_t *out;

	for (;;) {
		size_t len = testing_grpc_out(g, &out);
		if (len && !write_all(fd, out, len))
			break;
		if (len)
			continue;
		ssize_t n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			break;
		testing_grpc_in(g, buf, (size_t)n);
	}
	testing_grpc_free(g);
}

static pid_t start(int listener)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child)
		(void)close(listener);
	return child;
}

pid_t testing_grpc_serve(const char *path, const struct grpc_script *s)
{
	int listener = listen_at_path(path);
	pid_t child = start(listener);
	struct grpc_script now = *s;

	if (child)
		return child;
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; (void)close(fd)) {
		serve_one(fd, &now);
		now.busy -= now.busy > 0;
	}
	_exit(1);
}

pid_t testing_grpc_raw(const char *path, const void *bytes, size_t len, bool close_it)
{
	int listener = listen_at_path(path);
	pid_t child = start(listener);

	if (child)
		return child;
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
		(void)write_all(fd, bytes, len);
		if (close_it)
			(void)close(fd);
	}
	_exit(1);
}

void testing_grpc_stop(pid_t child)
{
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
