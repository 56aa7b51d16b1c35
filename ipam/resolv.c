/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/resolv.h"

#include <string.h>

#include "lib/parse.h"

#define WORD_MAX 256

/* Cut the next word off; blanks separate. */
static bool next_word(struct slice *rest, char word[WORD_MAX])
{
	struct slice w = { rest->p, 0 };

	while (rest->len && (*rest->p == ' ' || *rest->p == '\t' || *rest->p == '\r')) {
		rest->p++;
		rest->len--;
	}
	w.p = rest->p;
	while (rest->len && *rest->p != ' ' && *rest->p != '\t' && *rest->p != '\r') {
		rest->p++;
		rest->len--;
		w.len++;
	}
	return w.len && slice_copy(w, word, WORD_MAX) == 0;
}

static struct json *list_of(struct json *dns, const char *key)
{
	struct json *list = json_get_mut(dns, key);

	return list ? list : json_add_array(dns, key);
}

static int add_words(struct json *dns, const char *key, struct slice rest)
{
	char word[WORD_MAX];
	struct json *list = NULL;

	while (next_word(&rest, word)) {
		if (!list && !(list = list_of(dns, key)))
			return -1;
		if (json_push_str(list, word))
			return -1;
	}
	return 0;
}

/* -1: no memory */
static int parse_line(struct json *dns, struct slice line)
{
	char key[WORD_MAX], word[WORD_MAX];

	if (!next_word(&line, key) || *key == '#' || *key == ';')
		return 0;
	if (strcmp(key, "nameserver") == 0 && next_word(&line, word)) {
		struct json *list = list_of(dns, "nameservers");
		return list ? json_push_str(list, word) : -1;
	}
	if (strcmp(key, "domain") == 0 && next_word(&line, word)) {
		json_del(dns, "domain");
		return json_add_str(dns, "domain", word);
	}
	if (strcmp(key, "search") == 0) {
		json_del(dns, "search");
		return add_words(dns, "search", line);
	}
	return strcmp(key, "options") == 0 ? add_words(dns, "options", line) : 0;
}

int resolv_parse(const char *text, size_t len, struct json **out, struct err *e)
{
	auto_json struct json *dns = json_new_object();
	struct slice rest = { text, len }, line;

	if (!utf8_valid(text, len))
		return err_set(e, ERR_CONFIG, 0, "it is not UTF-8 text");
	if (!dns)
		return err_nomem(e);
	while (slice_next(&rest, '\n', &line)) {
		if (parse_line(dns, line))
			return err_nomem(e);
	}
	*out = TAKE_PTR(dns);
	return 0;
}
