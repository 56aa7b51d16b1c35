/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.c: prints a tree as JSON text, with exact integers: cJSON's own printer writes 2^53 - 1
 * as 9.00719925474099e+15.
 */
#include "lib/json/json.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"

#define TWO_POW_63     9223372036854775808.0
#define NUMBER_STR_LEN 32
#define PRINT_FIRST    512
#define PRINT_MAX      ((size_t)1 << 30)

/* Text growing on the heap, or in a fixed buffer that is cut. */
struct out {
	char *buf;
	size_t len, size;
	bool fixed, pretty, failed;
};

static void out_bytes(struct out *o, const char *s, size_t len)
{
	size_t need = o->len + len + 1; /* with the NUL */
	struct err ignored;             /* the caller reports only `failed` */

	if (o->failed)
		return;
	if (need > o->size) {
		if (need < PRINT_FIRST)
			need = PRINT_FIRST;
		o->failed = o->fixed || ARRAY_GROW_BY(o->buf, o->size, need - o->size, PRINT_MAX,
						      "bytes of JSON", &ignored);
		if (o->failed)
			return;
		o->size = array_room(need);
	}
	memcpy(o->buf + o->len, s, len);
	o->len += len;
	o->buf[o->len] = '\0';
}

static void out_text(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

/*
 * The text for the character at s, where JSON or a terminal needs another one; else "". Returns the
 * number of bytes in s that it stands for.
 */
static size_t escape_char(const char *s, size_t len, char esc[8])
{
	static const char shorts[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
	const char *found = strchr(shorts, *s);
	size_t n = utf8_char(s, len);

	*esc = '\0';
	if (n == 0) /* the replacement character: output is always UTF-8 */
		(void)snprintf(esc, 8, "\\ufffd");
	else if (found)
		(void)snprintf(esc, 8, "\\%c", letters[found - shorts]);
	else if ((unsigned char)*s < 0x20 || *s == 0x7f)
		(void)snprintf(esc, 8, "\\u%04x", (unsigned char)*s);
	return n ? n : 1;
}

static void out_string(struct out *o, const char *s)
{
	size_t len = strlen(s), n;
	char esc[8];

	out_bytes(o, "\"", 1);
	while (len > 0 && !o->failed) {
		for (n = 0; n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\';)
			n++;
		*esc = '\0';
		/* A text of fixed size is cut between characters, so each is written by itself. */
		if (n == 0 || o->fixed)
			n = escape_char(s, len, esc);
		out_bytes(o, *esc ? esc : s, *esc ? strlen(esc) : n);
		s += n;
		len -= n;
	}
	out_bytes(o, "\"", 1);
}

/* Integers in full, else the shortest text that reads back as the same number. */
static void out_number(struct out *o, double d)
{
	char buf[NUMBER_STR_LEN];

	if (d > -TWO_POW_63 && d < TWO_POW_63 && (double)(int64_t)d == d) {
		(void)snprintf(buf, sizeof(buf), "%lld", (long long)d);
	} else {
		for (int digits = 15; digits <= 17; digits++) {
			(void)snprintf(buf, sizeof(buf), "%.*g", digits, d);
			if (strtod(buf, NULL) == d)
				break;
		}
	}
	out_bytes(o, buf, strlen(buf));
}

static void out_line(struct out *o, unsigned depth)
{
	if (!o->pretty)
		return;
	out_text(o, "\n");
	while (depth-- > 0)
		out_text(o, "\t");
}

/* Anything but an array or an object. */
static void out_scalar(struct out *o, const struct json *n)
{
	switch (json_type(n)) {
	case JSON_NULL:
		out_text(o, "null");
		break;
	case JSON_BOOL:
		out_text(o, json_true(n) ? "true" : "false");
		break;
	case JSON_NUMBER:
		out_number(o, json_num(n));
		break;
	case JSON_STRING:
		out_string(o, json_str(n));
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
}

static void out_value(struct out *o, const struct json *n, unsigned depth)
{
	bool object = json_type(n) == JSON_OBJECT;

	if (!object && json_type(n) != JSON_ARRAY) {
		out_scalar(o, n);
		return;
	}
	out_text(o, object ? "{" : "[");
	json_each (it, n) {
		if (it != json_first(n))
			out_text(o, ",");
		out_line(o, depth + 1);
		if (object) {
			out_string(o, json_key(it));
			out_text(o, o->pretty ? ": " : ":");
		}
		out_value(o, it, depth + 1);
	}
	if (json_first(n))
		out_line(o, depth);
	out_text(o, object ? "}" : "]");
}

char *json_print(const struct json *n, bool pretty)
{
	struct out o = { .pretty = pretty };

	out_value(&o, n, 0);
	if (o.failed) {
		free(o.buf);
		return NULL;
	}
	return o.buf;
}

char *json_show(const struct json *n, char out[JSON_SHOW_LEN])
{
	/* three bytes are kept back for the dots */
	struct out o = { .buf = out, .size = JSON_SHOW_LEN - 3, .fixed = true };

	out[0] = '\0';
	if (json_type(n) == JSON_ARRAY || json_type(n) == JSON_OBJECT)
		out_text(&o, json_type_name(n));
	else
		out_scalar(&o, n);
	if (o.failed)
		memcpy(out + o.len, "...", 4);
	return out;
}
