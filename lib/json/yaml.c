/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.c: block style; scalars that are not plain words are written as JSON, which YAML includes.
 */
#include "lib/json/yaml.h"

#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

#define STEP 2 /* spaces */

/* Words of YAML 1.1 that are not text. */
static bool is_reserved(const char *s)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on",
					     "off",  "null",  "y",   "n" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(s, words[i]) == 0)
			return true;
	return false;
}

/* A letter first, so that it is not a number, date or address. */
static bool yaml_is_plain(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-_./";

	return *s && strchr(letters, *s) && !s[strspn(s, more)] && !is_reserved(s);
}

static void add_scalar(struct text *t, const struct json *n)
{
	const char *s = json_str(n);
	auto_free char *json = NULL;

	if (s && yaml_is_plain(s)) {
		text_add(t, s);
		return;
	}
	json = json_print(n, false); /* also {} and [] */
	text_add(t, json);
}

static void yaml_add_key(struct text *t, const char *key)
{
	if (yaml_is_plain(key)) {
		text_add(t, key);
	} else {
		/* Our keys are ASCII. */
		text_add(t, "\"");
		for (; *key; key++)
			text_addf(t, *key == '"' || *key == '\\' ? "\\%c" : "%c", *key);
		text_add(t, "\"");
	}
	text_add(t, ":");
}

static void yaml_add_node(struct text *t, const struct json *n, unsigned depth, bool indent_first);

/* Behind "key:" or "-". A list below a key is not indented, as kubectl writes it. */
static void yaml_add_value(struct text *t, const struct json *n, unsigned depth)
{
	if (json_len(n) == 0) {
		text_add(t, " ");
		add_scalar(t, n);
		text_add(t, "\n");
		return;
	}
	text_add(t, "\n");
	yaml_add_node(t, n, json_type(n) == JSON_ARRAY ? depth : depth + STEP, true);
}

static void indent(struct text *t, unsigned depth)
{
	text_addf(t, "%*s", (int)depth, "");
}

static void yaml_add_item(struct text *t, const struct json *it, unsigned depth)
{
	text_add(t, "-");
	if (json_len(it) == 0) {
		text_add(t, " ");
		add_scalar(t, it);
		text_add(t, "\n");
		return;
	}
	text_add(t, " ");
	yaml_add_node(t, it, depth + STEP, false);
}

/* indent_first: the first line begins at its depth, and not behind "- ". */
static void yaml_add_node(struct text *t, const struct json *n, unsigned depth, bool indent_first)
{
	bool list = json_type(n) == JSON_ARRAY;

	json_each (it, n) {
		if (indent_first)
			indent(t, depth);
		indent_first = true;
		if (list) {
			yaml_add_item(t, it, depth);
		} else {
			yaml_add_key(t, json_key(it));
			yaml_add_value(t, it, depth);
		}
	}
}

char *json_print_yaml(const struct json *n)
{
	auto_text struct text t = { 0 };

	if (json_len(n) > 0) {
		yaml_add_node(&t, n, 0, true);
	} else {
		add_scalar(&t, n);
		text_add(&t, "\n");
	}
	return text_take(&t);
}
