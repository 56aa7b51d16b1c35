/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: random schedules of the simulated cluster. */
#include "cluster/testing/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 3000

struct schedule {
	uint32_t step[STEPS];
	size_t n;
};

static uint32_t random_step(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

static void draw(struct schedule *s, uint64_t seed)
{
	for (s->n = 0; s->n < STEPS; s->n++)
		s->step[s->n] = random_step(&seed);
}

static bool fails(const struct world_settings *set, const struct schedule *s, struct search *search)
{
	struct world *w = world_new(set);
	const char *bad = NULL;

	for (size_t i = 0; i < s->n && !bad; i++)
		bad = world_step(w, s->step[i]);
	if (!bad)
		bad = world_heal(w);
	if (bad)
		(void)snprintf(search->bad, sizeof(search->bad), "%s", bad);
	world_add_counts(w, &search->counts);
	world_free(w);
	return bad;
}

/* Leave out parts, smaller and smaller ones, as long as what is left fails, too. */
static void shrink(const struct world_settings *set, struct schedule *s, struct search *search)
{
	for (size_t part = s->n / 2; part > 0; part = part > 1 ? part / 2 : 0) {
		for (size_t at = 0; at + part <= s->n;) {
			struct schedule less = { .n = s->n - part };

			for (size_t i = 0; i < less.n; i++)
				less.step[i] = s->step[i < at ? i : i + part];
			if (fails(set, &less, search))
				*s = less;
			else
				at += part;
		}
	}
}

const char *schedule_search(const struct world_settings *settings, struct search *s)
{
	struct world_settings told = *settings;
	static struct schedule one;

	told.trace = true;
	for (unsigned i = 0; i < s->times; i++, s->seed++) {
		draw(&one, s->seed);
		if (!fails(settings, &one, s))
			continue;
		if (s->tell) {
			shrink(settings, &one, s);
			printf("seed %" PRIu64 ", %zu steps:\n", s->seed, one.n);
			(void)fails(&told, &one, s);
		}
		return s->bad;
	}
	return NULL;
}

uint64_t schedule_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}
