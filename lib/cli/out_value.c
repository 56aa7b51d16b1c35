/* SPDX-License-Identifier: Apache-2.0 */
/* out_value.c: formats times, amounts, shares and text from files as people read them. Pure. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "lib/base/parse.h"
#include "lib/cli/out.h"

#define NS_PER_S INT64_C(1000000000)

/* Bytes of the character at s; 0 for one that is not shown as it is (C0, C1, DEL, not UTF-8). */
static size_t shown_len(const char *s)
{
	unsigned char c = (unsigned char)*s;

	if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0))
		return 0;
	return utf8_char(s, strnlen(s, 4));
}

char *out_clean(const char *text)
{
	char *clean = malloc(4 * strlen(text) + 1), *end = clean;

	if (!clean)
		return NULL;
	while (*text) {
		size_t n = shown_len(text);
		if (n) {
			end = mempcpy(end, text, n);
			text += n;
			continue;
		}
		unsigned char c = (unsigned char)*text++;
		*end++ = '\\';
		*end++ = 'x';
		end = hex_octet_put(end, c);
	}
	*end = '\0';
	return clean;
}

size_t out_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

char *out_age(int64_t ns, char buf[OUT_TIME_LEN])
{
	int64_t s = ns > 0 ? ns / NS_PER_S : 0;
	const char *unit = "s";

	if (s >= 2 * 86400) {
		s /= 86400;
		unit = "d";
	} else if (s >= 2 * 3600) {
		s /= 3600;
		unit = "h";
	} else if (s >= 2 * 60) {
		s /= 60;
		unit = "m";
	}
	(void)snprintf(buf, OUT_TIME_LEN, "%lld%s", (long long)s, unit);
	return buf;
}

char *out_time(int64_t ns, char buf[OUT_TIME_LEN])
{
	time_t s = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (!gmtime_r(&s, &tm) || !strftime(buf, OUT_TIME_LEN, "%Y-%m-%dT%H:%M:%SZ", &tm))
		buf[0] = '\0';
	return buf;
}

char *out_amount(double n, char *buf, size_t size)
{
	double power = n > 0 ? log2(n) : 0, whole = round(power);

	if (n <= 0x1p53)
		(void)snprintf(buf, size, "%.0f", n);
	else if (fabs(power - whole) < 0.05)
		(void)snprintf(buf, size, "~2^%.0f", whole);
	else
		(void)snprintf(buf, size, "~2^%.1f", power);
	return buf;
}

char *out_percent(double share, char *buf, size_t size)
{
	double percent = 100 * share;
	const char *bound = "";

	if (percent > 0 && percent < 1) {
		bound = "<";
		percent = 1;
	} else if (percent > 99 && percent < 100) {
		bound = ">";
		percent = 99;
	}
	(void)snprintf(buf, size, "%s%.0f%%", bound, percent);
	return buf;
}

char *out_bar(double share, unsigned width, char buf[OUT_BAR_MAX])
{
	unsigned inner = width < 3 ? 1 : width - 2;

	if (inner > OUT_BAR_MAX - 3)
		inner = OUT_BAR_MAX - 3;
	double exact = share * inner;
	unsigned marks = exact > inner ? inner : exact > 0 ? (unsigned)(exact + 0.5) : 0;
	if (share > 0 && marks == 0)
		marks = 1;
	if (share < 1 && marks == inner && inner > 1)
		marks = inner - 1;
	buf[0] = '[';
	memset(buf + 1, '#', marks);
	memset(buf + 1 + marks, '.', inner - marks);
	memcpy(buf + 1 + inner, "]", 2);
	return buf;
}
