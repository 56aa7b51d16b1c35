/* SPDX-License-Identifier: Apache-2.0 */
/* wire_fuzz.c: feeds frames to wire_decode(). */
#include "lib/testing/fuzz.h"
#include "rdma/probe/wire.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct wire_msg, m);
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(size_t, body);
	uint8_t frame[WIRE_FRAME];

	if (size >= WIRE_HEADER && fuzz_ok(wire_length(data, &body, &e), &e, &body, sizeof(body)))
		MUST(body <= WIRE_BODY);
	memset(&e, FUZZ_FILL, sizeof(e));
	if (fuzz_ok(wire_decode(data, size, &m, &e), &e, &m, sizeof(m))) {
		MUST(wire_encode(&m, frame) == size);
		MUST(!memcmp(frame, data, size));
	}
	return 0;
}
