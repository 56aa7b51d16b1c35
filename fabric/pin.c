/* SPDX-License-Identifier: Apache-2.0 */
/* pin.c: labels first, then the file, then the cables. */
#include "fabric/pin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/parse.h"

uint32_t pin_parse(const char *name)
{
	uint64_t n;

	if (!name || name[0] != 'g' || (name[1] == '0' && name[2]) ||
	    parse_u64(name + 1, 0, PIN_GROUPS_MAX - 1, &n))
		return PIN_NONE;
	return (uint32_t)n;
}

const char *pin_name(uint32_t group, char out[PIN_NAME_LEN])
{
	(void)snprintf(out, PIN_NAME_LEN, group == PIN_NONE ? "-" : "g%u", group);
	return out;
}

/* So many nodes of a group of cables have this number. */
struct claim {
	size_t cables, votes;
	uint32_t number;
};

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->cables != y->cables)
		return x->cables < y->cables ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The largest first; else the order of groups, which is by size. */
static int compare_votes(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return x->votes != y->votes ? (x->votes < y->votes ? 1 : -1) : compare_claims(a, b);
}

/* Returns how many there are; claim: room for one of each node. */
static size_t count_votes(const struct pin *pin, size_t n, struct claim *claim)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		if (pin[i].cables != FABRIC_NO_GROUP && pin[i].group != PIN_NONE)
			claim[all++] = (struct claim){ pin[i].cables, 1, pin[i].group };
	qsort(claim, all, sizeof(*claim), compare_claims);
	for (size_t i = 0; i < all; i++) {
		if (kept && compare_claims(&claim[kept - 1], &claim[i]) == 0)
			claim[kept - 1].votes++;
		else
			claim[kept++] = claim[i];
	}
	qsort(claim, kept, sizeof(*claim), compare_votes);
	return kept;
}

static uint32_t free_number(const bool *used)
{
	for (uint32_t i = 0; i < PIN_GROUPS_MAX; i++)
		if (!used[i])
			return i;
	return PIN_NONE;
}

int pin_groups(struct pin *pin, size_t n, bool *used, struct err *e)
{
	auto_free bool *taken = calloc(PIN_GROUPS_MAX, sizeof(*taken));
	auto_free struct claim *claim = calloc(n + 1, sizeof(*claim));
	auto_free uint32_t *number = NULL; /* of each group of cables */
	size_t n_cables = 0, n_claims;

	if (!taken || !claim)
		return err_nomem(e);
	for (struct pin *x = pin; x < pin + n; x++) {
		x->group = x->label != PIN_NONE ? x->label : x->file;
		x->seen = PIN_NONE;
		if (x->group != PIN_NONE)
			used[x->group] = true;
		if (x->cables != FABRIC_NO_GROUP && x->cables >= n_cables)
			n_cables = x->cables + 1;
	}
	number = malloc((n_cables + 1) * sizeof(*number));
	if (!number)
		return err_nomem(e);
	memset(number, 0xff, (n_cables + 1) * sizeof(*number)); /* PIN_NONE */
	n_claims = count_votes(pin, n, claim);
	for (const struct claim *c = claim; c < claim + n_claims; c++) {
		if (number[c->cables] != PIN_NONE || taken[c->number])
			continue;
		number[c->cables] = c->number;
		taken[c->number] = true;
	}
	for (size_t i = 0; i < n_cables; i++) {
		if (number[i] == PIN_NONE)
			number[i] = free_number(used);
		if (number[i] == PIN_NONE)
			return err_set(e, ERR_CONFIG, 0, "more than %d groups", PIN_GROUPS_MAX);
		used[number[i]] = true;
	}
	for (struct pin *x = pin; x < pin + n; x++) {
		if (x->cables != FABRIC_NO_GROUP)
			x->seen = number[x->cables];
		if (x->group == PIN_NONE)
			x->group = x->seen;
	}
	return 0;
}
