/* SPDX-License-Identifier: Apache-2.0 */
/* scrape_fuzz.c: any bytes get one of the four answers. */
#include "railheadd/metrics/scrape.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	struct scrape s = scrape_parse(text);

	MUST(s.status == 200 || s.status == 400 || s.status == 404 || s.status == 405);
	MUST(s.status != 200 || strncmp(text, "GET /metrics", 12) == 0);
	return 0;
}
