/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_request_fuzz.c: any answer of UFM is done, or an error of one line. */
#include "fabric/ufm_request.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *body = fuzz_text(data, size);
	FUZZ_OUT(struct err, a);
	FUZZ_OUT(struct err, b);

	MUST(ufm_judge(SM_ADD, 500, body, &a) == -1);
	fuzz_error_is_good(&a);
	if (ufm_list_judge(200, body, 0x8001, &b))
		fuzz_error_is_good(&b);
	return 0;
}
