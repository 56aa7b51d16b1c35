/* SPDX-License-Identifier: Apache-2.0 */
/* receipt_fuzz.c: a receipt that is read is printed and read again, and its names stay in the
 * folder. */
#include "install/receipt.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct receipt, a);
	FUZZ_OUT(struct err, e);
	struct receipt b;

	if (!fuzz_ok(receipt_decode((const char *)data, size, &a, &e), &e, &a, sizeof(a)))
		return 0;

	auto_free char *text = receipt_print(&a);

	MUST(text && receipt_decode(text, strlen(text), &b, &e) == 0);
	MUST(a.changing == b.changing && a.n == b.n && a.n <= RECEIPT_PROGRAMS);
	MUST(strcmp(a.version, b.version) == 0 && strcmp(a.build, b.build) == 0);
	MUST(strcmp(a.chain, b.chain) == 0);
	for (size_t i = 0; i < a.n; i++) {
		MUST(program_name_valid(a.program[i].name));
		MUST(!strchr(a.program[i].name, '/') && *a.program[i].name != '.');
		MUST(strcmp(a.program[i].name, b.program[i].name) == 0);
		MUST(strcmp(a.program[i].sha256, b.program[i].sha256) == 0);
	}
	return 0;
}
