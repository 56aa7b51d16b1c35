/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_fuzz.c: bytes of a client, at once or one after the other, as the first byte says.
 * Whatever they are, the connection goes on or ends with a good error, calls have their limit, and
 * the end of each call is told once.
 */
#include "lib/testing/fuzz.h"
#include "lib/grpc/testing/service.h"

FUZZ(const uint8_t *data, size_t size)
{
	size_t piece = size > 1 && data[0] % 2 ? size - 1 : 1, n;
	struct testing_service t = { .begun = 0 };
	const struct grpc_session_conf conf = testing_service_conf(&t);
	struct grpc_session *s = NULL;
	const uint8_t *out;
	struct err e;
	int rc = grpc_session_new(&conf, &s, &e);

	for (size_t at = 1; !rc && at < size; at += piece) {
		rc = grpc_session_in(s, data + at, piece, &e);
		for (n = 1; !rc && n;)
			rc = grpc_session_out(s, &out, &n, &e);
		MUST(t.open <= TESTING_CALLS);
	}
	if (rc)
		fuzz_error_is_good(&e);
	grpc_session_free(s);
	MUST(t.open == 0);
	return 0;
}
