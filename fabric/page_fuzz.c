/* SPDX-License-Identifier: Apache-2.0 */
/* page_fuzz.c: any answers; the page is bounded, and has as many tags as without markup in them. */
#include "fabric/page.h"

#include <stdlib.h>

#include "lib/testing/fuzz.h"

/* How many "<" the page has; 0: there is none. The text is changed. */
static size_t tags(char *text)
{
	auto_page struct page p = { .n = 0 };
	const struct fabric_groups g = { .n = 0 };
	const struct page_facts f = { &p, &g, NULL, NULL, 0, "", "", "", NULL, false, 0 };
	auto_free char *out = NULL;
	size_t len, n = 0;
	struct err e;

	if (page_read(&p, text, &e) || page_compare(&p, &e) || page_draw(&f, &out, &len, &e))
		return 0;
	MUST(len <= PAGE_MAX && strlen(out) == len && utf8_valid(out, len));
	for (const char *at = out; (at = strchr(at, '<')); at++)
		n++;
	return n;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size), *plain = fuzz_text(data, size);

	for (char *c = plain; (c = strpbrk(c, "<>&\"'"));)
		*c ^= 0x20;
	MUST(tags(text) == tags(plain));
	return 0;
}
