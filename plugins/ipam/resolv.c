/* SPDX-License-Identifier: Apache-2.0 */
/* resolv.c: reads the lines of a resolv.conf file into a JSON object. Pure. */
#include "plugins/ipam/resolv.h"

#include <string.h>

#include "lib/base/parse.h"

#define WORD_MAX 256

/* Takes the next word off *rest. Blanks separate words. */
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

struct resolv {
	struct json *nameservers, *search, *options; /* arrays */
	char domain[WORD_MAX];
};

static void resolv_clear(struct resolv *r)
{
	json_free(r->nameservers);
	json_free(r->search);
	json_free(r->options);
}

static int add_words(struct json *list, struct slice rest)
{
	char word[WORD_MAX];

	while (next_word(&rest, word)) {
		if (json_push_str(list, word))
			return -1;
	}
	return 0;
}

/* -1: no memory */
static int resolv_parse_line(struct resolv *r, struct slice line)
{
	char key[WORD_MAX], word[WORD_MAX];

	if (!next_word(&line, key))
		return 0;
	if (strcmp(key, "nameserver") == 0 && next_word(&line, word))
		return json_push_str(r->nameservers, word);
	if (strcmp(key, "domain") == 0 && next_word(&line, word))
		memcpy(r->domain, word, sizeof(word));
	if (strcmp(key, "search") == 0) {
		json_free(r->search);
		r->search = json_new_array();
		return r->search ? add_words(r->search, line) : -1;
	}
	return strcmp(key, "options") == 0 ? add_words(r->options, line) : 0;
}

static int resolv_put_list(struct json *dns, const char *key, struct json **list)
{
	return json_len(*list) ? json_put(dns, key, TAKE_PTR(*list)) : 0;
}

int resolv_parse(const char *text, size_t len, struct json **out, struct err *e)
{
	auto_clean(resolv_clear) struct resolv r = { json_new_array(), json_new_array(),
						     json_new_array(), "" };
	auto_json struct json *dns = json_new_object();
	struct slice rest = { text, len }, line;

	if (!utf8_valid(text, len) || memchr(text, '\0', len))
		return err_set(e, ERR_CONFIG, 0, "it is not UTF-8 text");
	if (!dns || !r.nameservers || !r.search || !r.options)
		return err_nomem(e);
	while (slice_next(&rest, '\n', &line)) {
		if (resolv_parse_line(&r, line))
			return err_nomem(e);
	}
	if (resolv_put_list(dns, "nameservers", &r.nameservers) ||
	    (*r.domain && json_add_str(dns, "domain", r.domain)) ||
	    resolv_put_list(dns, "search", &r.search) ||
	    resolv_put_list(dns, "options", &r.options))
		return err_nomem(e);
	*out = TAKE_PTR(dns);
	return 0;
}
