/* SPDX-License-Identifier: Apache-2.0 */
/* markup.c: the only place that writes text of files, devices and neighbours into markup. */
#include "lib/cli/markup.h"

#include <string.h>

#include "lib/base/parse.h"

/* U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: text could look like another one. */
static bool is_direction(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (s[0] != 0xe2 || (s[1] != 0x80 && s[1] != 0x81))
		return false;
	return s[1] == 0x80 ? s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae)
			    : s[2] >= 0xa6 && s[2] <= 0xa9;
}

void markup_put(const char *text, FILE *to)
{
	bool whole = utf8_valid(text, strlen(text));

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (whole && is_direction(text)) {
			fputc('?', to);
			text += 2;
		} else if (c == '&')
			fputs("&amp;", to);
		else if (c == '<')
			fputs("&lt;", to);
		else if (c == '>')
			fputs("&gt;", to);
		else if (c == '"')
			fputs("&quot;", to);
		else if (c == '\'')
			fputs("&#39;", to);
		else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !whole))
			fputc('?', to);
		else
			fputc(c, to);
	}
}

void markup_put_short(const char *text, size_t n, FILE *to)
{
	char buf[4 * MARKUP_SHORT_MAX + 4] = "";
	size_t len = 0, i = 0;

	if (n > MARKUP_SHORT_MAX)
		n = MARKUP_SHORT_MAX;
	for (; text[len] && i < n && len < sizeof(buf) - 4; i++)
		do {
			buf[len] = text[len];
			len++;
		} while (len < sizeof(buf) - 4 && ((unsigned char)text[len] & 0xc0) == 0x80);
	if (text[len]) {
		while (len && ((unsigned char)buf[--len] & 0xc0) == 0x80)
			;
		(void)strcpy(buf + len, "\xe2\x80\xa6");
	} else {
		buf[len] = '\0';
	}
	markup_put(buf, to);
}
