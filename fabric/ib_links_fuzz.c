/* SPDX-License-Identifier: Apache-2.0 */
/* ib_links_fuzz.c: any file; each link is found by its adapter, and names are printable. */
#include "fabric/ib_links.h"

#include <stdlib.h>

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct ib_links, l);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(ib_links_read((const char *)data, size, &l, &e), &e, &l, sizeof(l)))
		return 0;
	MUST(l.n);
	for (size_t i = 0; i < l.n; i++) {
		MUST(ib_links_find(&l, l.link[i].adapter) == &l.link[i]);
		MUST(strlen(l.link[i].leaf) == GUID_STR_LEN - 1 && *l.link[i].leaf_name);
		MUST(strtoul(l.link[i].port, NULL, 10) - 1 < 255);
		MUST(strnlen(l.link[i].leaf_name, IB_NAME_MAX) < IB_NAME_MAX);
		for (const char *c = l.link[i].leaf_name; *c; c++)
			MUST(*c >= 0x20 && *c < 0x7f);
	}
	ib_links_clear(&l);
	return 0;
}
