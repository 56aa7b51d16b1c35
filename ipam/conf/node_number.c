/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_number.c: decodes node.json, and finds the number in a host name. The patterns have neither
 * alternatives nor a step back, so a match takes the time of one pass over both texts. Pure.
 */
#include "ipam/conf/node_number.h"

#include <string.h>

#include "lib/base/parse.h"

#define DIGITS "\\d+"
#define NUMBER "(\\d+)"

struct raw {
	const char *pattern;
	const struct json *labels;
	uint32_t number;
};

static const struct json_field fields[] = {
	{ "number", J_U32, J_AT(struct raw, number) },
	{ "hostnamePattern", J_STRING, J_AT(struct raw, pattern) },
	{ "labels", J_OBJECT, J_AT(struct raw, labels) },
	{ 0 },
};

static bool node_number_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_host_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
	       c == '.' || c == '_';
}

/* The length of what p begins with: digits, the number, or one character; 0: none of these. */
static size_t part_len(const char *p)
{
	if (node_number_begins(p, NUMBER))
		return strlen(NUMBER);
	if (node_number_begins(p, DIGITS))
		return strlen(DIGITS);
	return is_host_char(*p) ? 1 : 0;
}

static int refuse_pattern(const char *pattern, const char *why, struct err *e)
{
	err_set(e, ERR_CONFIG, 0, "hostnamePattern: \"%.100s\" %s", pattern, why);
	return err_hint(e,
			"a pattern is text of the host name with one " NUMBER ", as in gpu-" NUMBER
			" or gpu" NUMBER "-rack" DIGITS "; the number must "
			"differ on every node");
}

static int node_number_check_pattern(const char *pattern, struct err *e)
{
	unsigned numbers = 0;
	size_t len;

	if (strlen(pattern) > NODE_PATTERN_MAX)
		return refuse_pattern(pattern, "is longer than a host name", e);
	for (const char *p = pattern; *p; p += len) {
		len = part_len(p);
		if (!len)
			return refuse_pattern(pattern, "has a character that is not supported", e);
		numbers += len == strlen(NUMBER);
		if (len > 1 &&
		    (is_digit(p[len]) || p[len] == '\\' || node_number_begins(p + len, NUMBER)))
			return refuse_pattern(pattern, "has a digit behind " DIGITS, e);
	}
	return numbers == 1
		       ? 0
		       : refuse_pattern(pattern,
					numbers ? "has more than one " NUMBER : "has no " NUMBER,
					e);
}

/* The digits that the pattern's group finds in name. False: the name does not match. */
static bool match_name(const char *pattern, const char *name, const char **digits, size_t *n)
{
	for (const char *p = pattern; *p;) {
		size_t len = part_len(p),
		       taken = len == 1 ? *name == *p : strspn(name, "0123456789");

		if (!taken)
			return false;
		if (len == strlen(NUMBER)) {
			*digits = name;
			*n = taken;
		}
		p += len;
		name += taken;
	}
	return !*name || *name == '.';
}

static int find_number(const char *pattern, const char *hostname, uint32_t *out, struct err *e)
{
	const char *digits = "";
	size_t n = 0;
	uint64_t v = 0;

	if (!match_name(pattern, hostname, &digits, &n)) {
		err_set(e, ERR_CONFIG, 0,
			"hostnamePattern: \"%.100s\" does not match the host name \"%.100s\"",
			pattern, hostname);
		return err_hint(e,
				"set the number of this node with `railctl ipam node set NUMBER`");
	}
	for (size_t i = 0; i < n && v <= UINT32_MAX; i++)
		v = v * 10 + (uint64_t)(digits[i] - '0');
	if (v > UINT32_MAX)
		return err_set(e, ERR_CONFIG, 0,
			       "hostnamePattern: the number %.*s in the host name is above %u",
			       n > 64 ? 64 : (int)n, digits, UINT32_MAX);
	*out = (uint32_t)v;
	return 0;
}

int node_number_decode(const struct json *n, const char *hostname, struct node_number *out,
		       struct err *e)
{
	struct raw r = { .pattern = NULL };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s", json_type_name(n));
	if (json_decode_known(n, "", fields, &r, e))
		return -1;
	if (json_get(n, "number") ? r.pattern != NULL : !r.pattern && !r.labels)
		return err_set(e, ERR_CONFIG, 0,
			       "needs one of the keys \"number\" and \"hostnamePattern\"");
	if (!json_get(n, "number") && !r.pattern)
		return 1;
	if (r.pattern && (node_number_check_pattern(r.pattern, e) ||
			  find_number(r.pattern, hostname, &r.number, e)))
		return -1;
	*out = (struct node_number){ r.number, r.pattern };
	return 0;
}
