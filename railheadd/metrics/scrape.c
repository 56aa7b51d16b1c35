/* SPDX-License-Identifier: Apache-2.0 */
/* scrape.c: all that matters of a request: its first line, and whether it accepts OpenMetrics. */
#include "railheadd/metrics/scrape.h"

#include <string.h>
#include <strings.h>

#define ACCEPT "accept:"

/* The line at text is the header Accept, and names the type. */
static bool accepts_open(const char *text, size_t len)
{
	static const char type[] = "application/openmetrics-text";

	return len > strlen(ACCEPT) && strncasecmp(text, ACCEPT, strlen(ACCEPT)) == 0 &&
	       memmem(text, len, type, sizeof(type) - 1) != NULL;
}

static unsigned status_of(const char *line, size_t len)
{
	const char *target = memchr(line, ' ', len);
	const char *version =
		target ? memchr(target + 1, ' ', len - (size_t)(target + 1 - line)) : NULL;
	size_t n;

	if (!version || strncmp(version, " HTTP/1.", 8) != 0)
		return 400;
	if (strncmp(line, "GET ", 4) != 0)
		return 405;
	n = (size_t)(version - target - 1);
	if (memchr(target + 1, '?', n))
		n = (size_t)((const char *)memchr(target + 1, '?', n) - target - 1);
	return n == strlen("/metrics") && memcmp(target + 1, "/metrics", n) == 0 ? 200 : 404;
}

struct scrape scrape_parse(const char *text)
{
	size_t len = strcspn(text, "\r\n");
	struct scrape s = { .status = status_of(text, len) };

	while (text[len]) {
		text += len + strspn(text + len, "\r\n");
		len = strcspn(text, "\r\n");
		s.open = s.open || accepts_open(text, len);
	}
	return s;
}
