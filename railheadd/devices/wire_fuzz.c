/* SPDX-License-Identifier: Apache-2.0 */
/* wire_fuzz.c: bytes of a kubelet are a request with good limits, or an error. */
#include "railheadd/devices/wire.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct wire_preferred, p);
	FUZZ_OUT(struct wire_allocate, a);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(wire_preferred_decode(data, size, &p, &e), &e, &p, sizeof(p))) {
		MUST(p.n <= WIRE_CONTAINERS_MAX);
		for (size_t i = 0; i < p.n; i++)
			MUST(p.of[i].size > 0);
		wire_preferred_clear(&p);
	}
	memset(&e, FUZZ_FILL, sizeof(e));
	if (fuzz_ok(wire_allocate_decode(data, size, &a, &e), &e, &a, sizeof(a))) {
		struct proto_bytes b = wire_preferred_answer(a.of, a.n);

		MUST(a.n <= WIRE_CONTAINERS_MAX && b.data && b.len <= size);
		free(b.data);
		wire_allocate_clear(&a);
	}
	return 0;
}
