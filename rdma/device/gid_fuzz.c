/* SPDX-License-Identifier: Apache-2.0 */
/* gid_fuzz.c: feeds text to gid_parse() and gid_type_parse(). */
#include <strings.h>

#include "lib/testing/fuzz.h"
#include "rdma/device/gid.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	char out[GID_STR_LEN];
	struct gid again;
	FUZZ_OUT(struct gid, g);

	(void)gid_type_name(gid_type_parse(text, size % 2));
	if (!fuzz_ok(gid_parse(text, &g), NULL, &g, sizeof(g)))
		return 0;
	MUST(strcasecmp(gid_format(&g, out), text) == 0 && gid_parse(out, &again) == 0);
	struct ip a = gid_to_ip(&g);
	again = gid_of_ip(a);
	MUST(gid_equal(&again, &g) && gid_is_zero(&g) == (a.family == IP_NONE));
	return 0;
}
