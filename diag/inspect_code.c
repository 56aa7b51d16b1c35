/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_code.c: the names of codes and checks. */
#include "diag/inspect_code.h"

static const struct {
	const char *check, *name;
} codes[] = {
#define CODE(name, check, code) { check, code },
	INSPECT_CODES_EACH(CODE)
#undef CODE
};

const char *inspect_code_name(enum inspect_code c)
{
	return codes[c].name;
}

const char *inspect_code_check(enum inspect_code c)
{
	return codes[c].check;
}
