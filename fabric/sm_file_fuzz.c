/* SPDX-License-Identifier: Apache-2.0 */
/* sm_file_fuzz.c: the file of a membership that is read is printed and read again. */
#include "fabric/sm_file.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct sm_file, a);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(sm_file_decode((const char *)data, size, &a, &e), &e, &a, sizeof(a)))
		return 0;

	auto_free char *text = sm_file_print(&a);
	auto_sm_file struct sm_file b = { .tree = NULL };

	MUST(text && sm_file_decode(text, strlen(text), &b, &e) == 0);
	MUST(a.x.leaving == b.x.leaving && a.x.since == b.x.since && a.x.tries == b.x.tries);
	MUST(sm_file_is_of(&b, &a.x.member.who) && strcmp(a.boot, b.boot) == 0);
	sm_file_clear(&a);
	return 0;
}
