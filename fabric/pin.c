/* SPDX-License-Identifier: Apache-2.0 */
/* pin.c: labels first, then the file, then the cables. */
#include "fabric/pin.h"

#include <stdio.h>
#include <stdlib.h>

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

struct pinning {
	struct pin *pin;
	size_t n;
	bool *used;    /* by pools, labels, the file, or cables */
	bool *taken;   /* by a group of cables */
	size_t *votes; /* room for all groups */
};

/* The number that most nodes of a group of cables have, of those that no larger group has. */
static uint32_t elect_number(struct pinning *p, size_t cables)
{
	uint32_t best = PIN_NONE;

	for (uint32_t i = 0; i < PIN_GROUPS_MAX; i++)
		p->votes[i] = 0;
	for (const struct pin *x = p->pin; x < p->pin + p->n; x++)
		if (x->cables == cables && x->group != PIN_NONE)
			p->votes[x->group]++;
	for (uint32_t i = 0; i < PIN_GROUPS_MAX; i++)
		if (p->votes[i] && !p->taken[i] &&
		    (best == PIN_NONE || p->votes[i] > p->votes[best]))
			best = i;
	return best;
}

static uint32_t free_number(const struct pinning *p)
{
	for (uint32_t i = 0; i < PIN_GROUPS_MAX; i++)
		if (!p->used[i])
			return i;
	return PIN_NONE;
}

static int number_cables(struct pinning *p, size_t cables, struct err *e)
{
	uint32_t number = elect_number(p, cables);

	if (number == PIN_NONE)
		number = free_number(p);
	if (number == PIN_NONE)
		return err_set(e, ERR_CONFIG, 0, "more than %d groups", PIN_GROUPS_MAX);
	p->used[number] = p->taken[number] = true;
	for (struct pin *x = p->pin; x < p->pin + p->n; x++) {
		if (x->cables != cables)
			continue;
		x->seen = number;
		if (x->group == PIN_NONE)
			x->group = number;
	}
	return 0;
}

int pin_groups(struct pin *pin, size_t n, bool *used, struct err *e)
{
	auto_free bool *taken = calloc(PIN_GROUPS_MAX, sizeof(*taken));
	auto_free size_t *votes = calloc(PIN_GROUPS_MAX, sizeof(*votes));
	struct pinning p = { pin, n, used, taken, votes };
	size_t n_cables = 0;

	if (!taken || !votes)
		return err_nomem(e);
	for (struct pin *x = pin; x < pin + n; x++) {
		x->group = x->label != PIN_NONE ? x->label : x->file;
		x->seen = PIN_NONE;
		if (x->group != PIN_NONE)
			used[x->group] = true;
		if (x->cables != FABRIC_NO_GROUP && x->cables >= n_cables)
			n_cables = x->cables + 1;
	}
	for (size_t i = 0; i < n_cables; i++)
		if (number_cables(&p, i, e))
			return -1;
	return 0;
}
