/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c: refuses text that is not JSON, or exceeds a limit, before cJSON reads it. */
#include "lib/json/priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/json/json.h"
#include "lib/base/parse.h"

struct scan {
	const char *text, *p, *end;
	const char *what;
	struct err *e;
};

static int scan_value(struct scan *s, unsigned depth);

#define PLACE_LEN 64

/* "line 3, column 7"; of a text with one line, "byte 6". */
static const char *scan_place_of(const struct scan *s, char out[PLACE_LEN])
{
	const char *begin = s->text;
	size_t line = 1;

	if (!memchr(s->text, '\n', (size_t)(s->end - s->text))) {
		(void)snprintf(out, PLACE_LEN, "byte %td", s->p - s->text);
		return out;
	}
	for (const char *c = s->text; c < s->p; c++) {
		if (*c == '\n') {
			line++;
			begin = c + 1;
		}
	}
	(void)snprintf(out, PLACE_LEN, "line %zu, column %td", line, s->p - begin + 1);
	return out;
}

/* The byte at the cursor, -1 at the end. */
static int peek(const struct scan *s)
{
	return s->p < s->end ? (unsigned char)*s->p : -1;
}

static bool peek_digit(const struct scan *s)
{
	return peek(s) >= '0' && peek(s) <= '9';
}

static bool accept(struct scan *s, char c)
{
	if (peek(s) != c)
		return false;
	s->p++;
	return true;
}

static void scan_skip_space(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static int scan_expected(const struct scan *s, const char *wanted)
{
	char found[24], place[PLACE_LEN];
	int c = peek(s);

	if (c < 0)
		(void)snprintf(found, sizeof(found), "the end of the text");
	else if (c > 0x20 && c < 0x7f)
		(void)snprintf(found, sizeof(found), "'%c'", c);
	else
		(void)snprintf(found, sizeof(found), "byte 0x%02x", (unsigned)c);
	return err_set(s->e, ERR_DECODE, 0, "%s: %s: expected %s, found %s", s->what,
		       scan_place_of(s, place), wanted, found);
}

static int scan_literal(struct scan *s, const char *word)
{
	for (; *word; word++)
		if (!accept(s, *word))
			return scan_expected(s, "true, false or null");
	return 0;
}

static int scan_digits(struct scan *s)
{
	if (!peek_digit(s))
		return scan_expected(s, "a digit");
	while (peek_digit(s))
		s->p++;
	return 0;
}

static int scan_check_number(struct scan *s, const char *start, bool exponent)
{
	char buf[JSON_MAX_NUMBER + 1], place[PLACE_LEN];
	size_t len = (size_t)(s->p - start);

	if (len > JSON_MAX_NUMBER) {
		s->p = start;
		return err_set(s->e, ERR_DECODE, 0,
			       "%s: %s: a number of %zu characters, more than %d", s->what,
			       scan_place_of(s, place), len, JSON_MAX_NUMBER);
	}
	if (!exponent) /* 63 digits alone cannot leave the range of a double */
		return 0;
	memcpy(buf, start, len);
	buf[len] = '\0';
	if (isfinite(strtod(buf, NULL)))
		return 0;
	s->p = start;
	return err_set(s->e, ERR_DECODE, 0, "%s: %s: the number %s is too large", s->what,
		       scan_place_of(s, place), buf);
}

static int scan_number(struct scan *s)
{
	const char *start = s->p;
	bool exponent = false;

	(void)accept(s, '-');
	if (!accept(s, '0') && scan_digits(s))
		return -1;
	if (accept(s, '.') && scan_digits(s))
		return -1;
	if (accept(s, 'e') || accept(s, 'E')) {
		exponent = true;
		if (!accept(s, '+'))
			(void)accept(s, '-');
		if (scan_digits(s))
			return -1;
	}
	return scan_check_number(s, start, exponent);
}

/* Four hexadecimal digits behind "\u". */
static int scan_hex4(struct scan *s, unsigned *out)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++, s->p++) {
		int c = peek(s);

		if (c >= '0' && c <= '9')
			v = v << 4 | (unsigned)(c - '0');
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			v = v << 4 | (unsigned)((c | 0x20) - 'a' + 10);
		else
			return scan_expected(s, "four hexadecimal digits after \\u");
	}
	*out = v;
	return 0;
}

static int scan_unicode_escape(struct scan *s)
{
	unsigned high = 0, low = 0;
	char place[PLACE_LEN];

	if (scan_hex4(s, &high))
		return -1;
	if (high == 0) {
		s->p -= 6;
		return err_set(s->e, ERR_DECODE, 0,
			       "%s: %s: the character \\u0000 is not supported", s->what,
			       scan_place_of(s, place));
	}
	if (high < 0xd800 || high > 0xdfff)
		return 0;
	if (high <= 0xdbff && accept(s, '\\') && accept(s, 'u')) {
		if (scan_hex4(s, &low))
			return -1;
		if (low >= 0xdc00 && low <= 0xdfff)
			return 0;
	}
	return err_set(s->e, ERR_DECODE, 0, "%s: %s: half a surrogate pair, \\u%04x", s->what,
		       scan_place_of(s, place), high);
}

static int scan_string(struct scan *s)
{
	for (s->p++;; s->p++) {
		while (s->p < s->end && *s->p != '"' && *s->p != '\\' &&
		       (unsigned char)*s->p >= 0x20)
			s->p++;
		if (accept(s, '"'))
			return 0;
		if (peek(s) < 0)
			return scan_expected(s, "the '\"' that ends the string");
		if (!accept(s, '\\'))
			return scan_expected(s, "a control character to be escaped");
		if (accept(s, 'u')) {
			if (scan_unicode_escape(s))
				return -1;
			s->p--;
		} else if (peek(s) <= 0 || !strchr("\"\\/bfnrt", peek(s))) {
			return scan_expected(s, "one of \"\\/bfnrtu after a backslash");
		}
	}
}

static int scan_member(struct scan *s, unsigned depth)
{
	scan_skip_space(s);
	if (peek(s) != '"')
		return scan_expected(s, "a key in double quotes");
	if (scan_string(s))
		return -1;
	scan_skip_space(s);
	if (!accept(s, ':'))
		return scan_expected(s, "':' after a key");
	return scan_value(s, depth);
}

/* An object or array, from behind its opening bracket. */
static int scan_container(struct scan *s, char close, unsigned depth)
{
	bool object = close == '}';
	char place[PLACE_LEN];

	if (depth > JSON_MAX_DEPTH) {
		s->p--;
		return err_set(s->e, ERR_DECODE, 0, "%s: %s: nested deeper than %d levels", s->what,
			       scan_place_of(s, place), JSON_MAX_DEPTH);
	}
	scan_skip_space(s);
	if (accept(s, close))
		return 0;
	do {
		if (object ? scan_member(s, depth) : scan_value(s, depth))
			return -1;
		scan_skip_space(s);
	} while (accept(s, ','));
	if (!accept(s, close))
		return scan_expected(s, object ? "',' or '}'" : "',' or ']'");
	return 0;
}

static int scan_value(struct scan *s, unsigned depth)
{
	scan_skip_space(s);
	switch (peek(s)) {
	case '{':
		s->p++;
		return scan_container(s, '}', depth + 1);
	case '[':
		s->p++;
		return scan_container(s, ']', depth + 1);
	case '"':
		return scan_string(s);
	case 't':
		return scan_literal(s, "true");
	case 'f':
		return scan_literal(s, "false");
	case 'n':
		return scan_literal(s, "null");
	default:
		if (peek(s) == '-' || peek_digit(s))
			return scan_number(s);
		return scan_expected(s, "a value");
	}
}

/* Checks of the whole text. */
static int scan_bytes(struct scan *s)
{
	static const char bom[] = "\xef\xbb\xbf";
	size_t len = (size_t)(s->end - s->text), good;
	char place[PLACE_LEN];

	if (len >= 3 && !memcmp(s->text, bom, 3))
		return err_set(s->e, ERR_DECODE, 0,
			       "%s: begins with a byte order mark: save it as UTF-8 without one",
			       s->what);
	good = utf8_prefix(s->text, len);
	if (good < len) {
		s->p = s->text + good;
		return err_set(s->e, ERR_DECODE, 0, "%s: %s: 0x%02x is not UTF-8", s->what,
			       scan_place_of(s, place), (unsigned char)*s->p);
	}
	scan_skip_space(s);
	if (s->p == s->end)
		return err_set(s->e, ERR_DECODE, 0, "%s is empty", s->what);
	return 0;
}

/* "# comment", "---", "- item" or "key: value". */
static bool looks_like_yaml(const struct scan *s)
{
	const char *p = s->text;

	while (p < s->end && (isalnum((unsigned char)*p) || (*p && strchr("._-/", *p))))
		p++;
	if (p == s->text)
		return p < s->end && *p == '#';
	return p < s->end && (*p == ':' || (*s->text == '-' && (*p == '\n' || *p == ' ')));
}

int json_scan(const char *text, size_t len, const char *what, struct err *e)
{
	struct scan s = { .text = text, .p = text, .end = text + len, .what = what, .e = e };

	if (scan_bytes(&s) || scan_value(&s, 0))
		return looks_like_yaml(&s)
			       ? err_hint(e, "this looks like YAML, and only JSON is "
					     "read here: `kubectl create --dry-run=client "
					     "-o json -f FILE` converts objects")
			       : -1;
	scan_skip_space(&s);
	if (s.p < s.end)
		return scan_expected(&s, "nothing after the value");
	return 0;
}
