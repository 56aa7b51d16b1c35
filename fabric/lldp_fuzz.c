/* SPDX-License-Identifier: Apache-2.0 */
/* lldp_fuzz.c: any frame; what is read of it is printable. */
#include "fabric/lldp.h"

#include "lib/testing/fuzz.h"

static void is_text(const char *s, size_t size)
{
	size_t len = strnlen(s, size);

	MUST(len < size);
	for (size_t i = 0; i < len; i++)
		MUST(s[i] >= 0x20 && s[i] < 0x7f);
}

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct lldp_frame, f);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(lldp_parse(data, size, &f, &e), &e, &f, sizeof(f)))
		return 0;
	is_text(f.chassis, sizeof(f.chassis));
	is_text(f.port, sizeof(f.port));
	is_text(f.port_name, sizeof(f.port_name));
	is_text(f.system_name, sizeof(f.system_name));
	MUST(*f.port && *f.chassis && *f.port_name);
	return 0;
}
