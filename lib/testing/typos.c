/* SPDX-License-Identifier: Apache-2.0 */
/* typos.c: mistypes the keys of a text, one at a time. */
#include "lib/testing/typos.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/testing/testing.h"

struct key {
	const char *p;
	size_t len;
};

/* The next string with a colon behind it, from *at on. No key of ours has an escape. */
static bool next_key(const char **at, struct key *out)
{
	for (const char *open = strchr(*at, '"'); open; open = strchr(*at, '"')) {
		const char *close = open + 1;

		while (*close != '"')
			close += *close == '\\' ? 2 : 1;
		*out = (struct key){ open + 1, (size_t)(close - open) - 1 };
		*at = close + 1;
		if ((*at)[strspn(*at, " \t\n")] == ':')
			return true;
	}
	return false;
}

static bool is_word(const char *text, const char *const *also, const char *word)
{
	const char *at = text;

	for (struct key k; next_key(&at, &k);)
		if (strlen(word) == k.len && strncasecmp(word, k.p, k.len) == 0)
			return true;
	for (; also && *also; also++)
		if (strcasecmp(word, *also) == 0)
			return true;
	return false;
}

/* kind 0 to 3. False: it is the same word then. */
static bool mistype(struct key k, size_t i, int kind, char out[128])
{
	const char *rest = k.p + i + 1;
	const int left = (int)(k.len - i - 1);
	const char c = k.p[i];

	if (kind == 0)
		(void)snprintf(out, 128, "%.*s%c%.*s", (int)i, k.p, c == 'q' ? 'j' : 'q', left,
			       rest);
	else if (kind == 1)
		(void)snprintf(out, 128, "%.*s%.*s", (int)i, k.p, left, rest);
	else if (kind == 2)
		(void)snprintf(out, 128, "%.*s%c%c%.*s", (int)i, k.p, c, c, left, rest);
	else if (left == 0 || *rest == c)
		return false;
	else
		(void)snprintf(out, 128, "%.*s%c%c%.*s", (int)i, k.p, *rest, c, left - 1, rest + 1);
	return true;
}

size_t typos_all_told(const char *text, const char *const *also, typos_fn fn, void *arg)
{
	const char *at = text;
	size_t n = 0, size = strlen(text) + 128;
	char word[128], *typo = malloc(size);

	ck_assert_ptr_nonnull(typo);
	ck_assert_msg(!fn(text, arg), "the reader says something about the right text: %s", text);
	for (struct key k; next_key(&at, &k);) {
		(void)snprintf(word, sizeof(word), "%.*s", (int)k.len, k.p);
		if (is_word("", also, word))
			continue;
		for (size_t i = 0; i < 4 * k.len; i++) {
			if (!mistype(k, i / 4, (int)(i % 4), word) || is_word(text, also, word))
				continue;
			(void)snprintf(typo, size, "%.*s%s%s", (int)(k.p - text), text, word,
				       k.p + k.len);
			if (!fn(typo, arg))
				ck_abort_msg("\"%s\" for \"%.*s\": not a word about it", word,
					     (int)k.len, k.p);
			n++;
		}
	}
	free(typo);
	return n;
}
