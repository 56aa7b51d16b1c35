/* SPDX-License-Identifier: Apache-2.0 */
/* delegate_fuzz.c: feed any output of a delegate: a result or an error must come of it. */
#include "cni/protocol/delegate.h"
#include "lib/testing/fuzz.h"

/* The first byte is the exit status. */
FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data + !!size, size - !!size);
	const struct exec_result res = { text, size - !!size, (size ? *data : 1) << 8 };
	FUZZ_OUT(struct err, e);

	MUST(!fuzz_ok(delegate_pass_on("host-local", &res, &e), &e, NULL, 0));
	MUST(e.code != ERR_DELEGATE || strstr(e.msg, "host-local") || strstr(text, "105"));
	return 0;
}
