/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c: checks labels, compares them with what a pool asks for, and prints both. Pure. */
#include "ipam/conf/labels.h"

#include <string.h>

#define SHOWN_MAX 4 /* values of one label in a message */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool labels_is_word(const char *s, size_t len)
{
	if (!len || len > LABEL_NAME_MAX || !is_alnum(s[0]) || !is_alnum(s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_alnum(s[i]) && !strchr("-_.", s[i]))
			return false;
	}
	return true;
}

/* A DNS subdomain: labels of small letters, digits and '-', with dots between them. */
static bool is_prefix(const char *s, size_t len)
{
	char before = '.';

	if (!len || len > LABEL_PREFIX_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool letter = is_alnum(s[i]) && !(s[i] >= 'A' && s[i] <= 'Z');

		if (!letter &&
		    (!strchr("-.", s[i]) || before == '.' || (s[i] == '.' && before == '-')))
			return false;
		before = s[i];
	}
	return before != '.' && before != '-';
}

bool label_is_name(const char *text)
{
	const char *slash = strchr(text, '/');

	if (slash && !is_prefix(text, (size_t)(slash - text)))
		return false;
	text = slash ? slash + 1 : text;
	return labels_is_word(text, strlen(text));
}

bool label_is_value(const char *text)
{
	return !*text || labels_is_word(text, strlen(text));
}

static int labels_check_name(const struct json *item, const char *where, struct err *e)
{
	if (label_is_name(json_key(item)))
		return 0;
	err_set(e, ERR_CONFIG, 0, "%s: \"%.100s\" is not the name of a label", where,
		json_key(item));
	return err_hint(e, "a name is like \"leaf\" or \"example.org/leaf\": letters, digits, '-', "
			   "'_' and '.', at most 63");
}

static int labels_check_value(const struct json *value, const struct json *item, const char *where,
			      struct err *e)
{
	const char *text = json_str(value);

	if (!text)
		return err_set(e, ERR_DECODE, 0, "%s.%.100s: must be a string, got %s", where,
			       json_key(item), json_type_name(value));
	if (label_is_value(text))
		return 0;
	err_set(e, ERR_CONFIG, 0, "%s.%.100s: \"%.100s\" is not the value of a label", where,
		json_key(item), text);
	return err_hint(e, "a value has letters, digits, '-', '_' and '.', at most 63, and begins "
			   "and ends with a letter or a digit");
}

static int check_object(const struct json *n, const char *where, size_t max, struct err *e)
{
	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object of labels, got %s", where,
			       json_type_name(n));
	if (json_len(n) > max)
		return err_set(e, ERR_CONFIG, 0, "%s: has %zu labels, at most %zu are possible",
			       where, json_len(n), max);
	return 0;
}

int labels_check(const struct json *n, const char *where, struct err *e)
{
	if (!n)
		return 0;
	if (check_object(n, where, LABELS_MAX, e))
		return -1;
	json_each (item, n) {
		if (labels_check_name(item, where, e) || labels_check_value(item, item, where, e))
			return -1;
	}
	return 0;
}

static int check_values(const struct json *item, const char *where, struct err *e)
{
	if (json_type(item) != JSON_ARRAY)
		return labels_check_value(item, item, where, e);
	if (!json_len(item) || json_len(item) > LABEL_VALUES_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s.%.100s: has %zu values, must have 1 to %d",
			       where, json_key(item), json_len(item), LABEL_VALUES_MAX);
	json_each (value, item) {
		if (labels_check_value(value, item, where, e))
			return -1;
	}
	return 0;
}

int selector_check(const struct json *n, const char *where, struct err *e)
{
	if (!n)
		return 0;
	if (check_object(n, where, LABELS_PER_POOL, e))
		return -1;
	json_each (item, n) {
		if (labels_check_name(item, where, e) || check_values(item, where, e))
			return -1;
	}
	if (json_len(n))
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: has no label; leave it out for all nodes", where);
}

/* ---- compare ---- */

static bool is_one_of(const char *have, const struct json *values)
{
	const char *text = json_str(values);

	if (text)
		return strcmp(text, have) == 0;
	json_each (value, values) {
		if (strcmp(json_str(value), have) == 0)
			return true;
	}
	return false;
}

bool selector_matches(const struct json *selector, const struct json *labels)
{
	json_each (item, selector) {
		const char *have = json_str(json_get(labels, json_key(item)));

		if (!have || !is_one_of(have, item))
			return false;
	}
	return true;
}

/* ---- print ---- */

static void print_values(const struct json *item, struct text *out)
{
	const char *one = json_str(item);
	size_t i = 0;

	if (one) {
		text_addf(out, "%s", one);
		return;
	}
	json_each (value, item) {
		if (i == SHOWN_MAX) {
			text_addf(out, " or %zu more", json_len(item) - i);
			return;
		}
		text_addf(out, "%s%s", i++ ? " or " : "", json_str(value));
	}
}

void selector_print(const struct json *selector, struct text *out)
{
	bool any = false;

	json_each (item, selector) {
		text_addf(out, "%s%s=", any ? ", " : "", json_key(item));
		print_values(item, out);
		any = true;
	}
}

void labels_print_asked(const struct json *selector, const struct json *labels, struct text *out)
{
	bool any = false;

	json_each (item, selector) {
		const char *have = json_str(json_get(labels, json_key(item)));

		if (have)
			text_addf(out, "%s%s=%s", any ? ", " : "", json_key(item), have);
		else
			text_addf(out, "%sno label %s", any ? ", " : "", json_key(item));
		any = true;
	}
}
