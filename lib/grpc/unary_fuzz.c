/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unary_fuzz.c: bytes of a server, at once or one after the other, as the first byte says. Whatever
 * they are, the call ends, goes on, or fails with a good error, and the message keeps its limit.
 */
#include "lib/grpc/unary.h"
#include "lib/testing/fuzz.h"

static int drain(struct grpc_unary *u, struct err *e)
{
	const uint8_t *out;
	size_t n;

	while (!grpc_unary_out(u, &out, &n, e))
		if (!n)
			return 0;
	return -1;
}

FUZZ(const uint8_t *data, size_t size)
{
	const struct grpc_request r = { "/a.B/C", data, size < 3, 32, 1 };
	size_t piece = size > 1 && data[0] % 2 ? size - 1 : 1;
	auto_grpc_answer struct grpc_answer a = { .len = 0 };
	auto_grpc_unary struct grpc_unary *u = NULL;
	struct err e;
	int rc = grpc_unary_new(&r, &u, &e) || drain(u, &e) ? -1 : 0;

	for (size_t at = 1; !rc && at < size && !grpc_unary_is_done(u); at += piece)
		rc = grpc_unary_in(u, data + at, piece, &e) || drain(u, &e) ? -1 : 0;
	if (rc || (grpc_unary_is_done(u) && grpc_unary_take(u, &a, &e)))
		fuzz_error_is_good(&e);
	MUST(a.len <= 32);
	return 0;
}
