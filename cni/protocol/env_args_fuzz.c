/* SPDX-License-Identifier: Apache-2.0 */
/* env_args_fuzz.c: feeds any text to cni_args_get(); the last value of a key counts. */
#include "cni/protocol/env.h"
#include "lib/testing/fuzz.h"

/* CNI_ARGS, then the key that is looked for, on a line of its own. */
FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *args = fuzz_cut(&data, &size), *key = fuzz_cut(&data, &size);
	auto_free char *longer = malloc(strlen(args) + strlen(key) + 4);
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(uint64_t, small);
	char value[9];
	int rc = cni_args_get(args, key, (char *)&small, sizeof(small), &e);

	if (rc <= 0)
		(void)fuzz_ok(rc, rc ? &e : NULL, &small, sizeof(small));
	else
		MUST(strlen((char *)&small) < sizeof(small) && fuzz_untouched(&e, sizeof(e)));
	/* the last one wins, unless the key itself has a separator */
	MUST(longer);
	sprintf(longer, "%s;%s=9", args, key);
	if (!strpbrk(key, ";="))
		MUST(cni_args_get(longer, key, value, sizeof(value), &e) == 1 &&
		     !strcmp(value, "9"));
	return 0;
}
