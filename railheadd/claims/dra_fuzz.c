/* SPDX-License-Identifier: Apache-2.0 */
/* dra_fuzz.c: bytes of a kubelet are a request with good names, or an error. */
#include "railheadd/claims/dra.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct dra_request, r);
	FUZZ_OUT(struct dra_status, s);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(dra_request_decode(data, size, &r, &e), &e, &r, sizeof(r))) {
		MUST(r.n <= DRA_CLAIMS_MAX);
		for (size_t i = 0; i < r.n; i++)
			MUST(id_valid(r.of[i].ns) && id_valid(r.of[i].name) &&
			     id_valid(r.of[i].uid));
		dra_request_clear(&r);
	}
	memset(&e, FUZZ_FILL, sizeof(e));
	if (fuzz_ok(dra_status_decode(data, size, &s, &e), &e, &s, sizeof(s)))
		MUST(memchr(s.error, 0, sizeof(s.error)));
	return 0;
}
