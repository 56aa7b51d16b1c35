/* SPDX-License-Identifier: Apache-2.0 */
/* near.c: compares words by the slips of a person who types. */
#include "lib/base/near.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/base/base.h"

#define NEAR_MAX 32 /* longer words are taken as far as this */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/*
 * How many insertions, deletions, replacements and swaps of neighbours turn a into b (optimal
 * string alignment).
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][NEAR_MAX + 1];
	char x[NEAR_MAX], y[NEAR_MAX];
	size_t la = strnlen(a, NEAR_MAX), lb = strnlen(b, NEAR_MAX);

	for (size_t i = 0; i < la; i++)
		x[i] = (char)tolower((unsigned char)a[i]);
	for (size_t j = 0; j < lb; j++)
		y[j] = (char)tolower((unsigned char)b[j]);
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *last = rows[(i - 1) % 3], *older = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = min3(row[j - 1] + 1, last[j] + 1,
				      last[j - 1] + (x[i - 1] != y[j - 1]));
			if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] &&
			    older[j - 2] + 1 < row[j])
				row[j] = older[j - 2] + 1;
		}
	}
	return rows[la % 3][lb];
}

/* One slip in a short word, two in a long one; or the beginning of the word. */
static unsigned cost(const char *word, const char *candidate)
{
	size_t len = strlen(word);
	unsigned d = distance(word, candidate);

	if (d <= (len < 6 ? 1u : 2u))
		return d;
	return len > 1 && strncmp(word, candidate, len) == 0 ? 3 : NEAR_MAX;
}

bool near_word(const char *word, const char *candidate, const char **best)
{
	unsigned d = cost(word, candidate);

	if (d >= NEAR_MAX || (*best && cost(word, *best) <= d))
		return false;
	*best = candidate;
	return true;
}

bool near_slip(const char *key, const char *known)
{
	size_t a = strnlen(key, NEAR_MAX), b = strlen(known), n = a < b ? a : b;
	unsigned most = b < 9 ? 1 : 2;

	if (a == NEAR_MAX || a + b - 2 * n > most || !isalpha((unsigned char)*key))
		return false;
	if (b <= 3 && (a == b || strncasecmp(key, known, n) != 0))
		return false;
	return distance(key, known) <= most;
}
