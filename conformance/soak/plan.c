/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: all random choices of a cycle, from the seed and the number of the cycle. */
#include "conformance/soak/call.h"

/* splitmix64 */
uint64_t plan_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int below(uint64_t *state, int n)
{
	return (int)(plan_random(state) % (uint64_t)n);
}

static struct blow choose_blow(uint64_t *state, int kill_permille)
{
	static const enum target targets[] = { PLUGIN, PLUGIN, IPAM, BOTH };
	struct blow b = { .target = targets[below(state, 4)], .when = below(state, 1000) / 1000.0 };

	/* Drawn always, so that what follows does not depend on it. */
	if (below(state, 1000) >= kill_permille)
		b.target = NOBODY;
	return b;
}

struct plan plan_make(uint64_t seed, long cycle, int kill_permille)
{
	uint64_t state = seed + (uint64_t)cycle * 0xd1342543de82ef95u;
	struct plan p = { .add = choose_blow(&state, kill_permille),
			  .del = choose_blow(&state, kill_permille) };

	p.after_add = (enum retry_mode)below(&state, 4);
	p.after_del = (enum retry_mode)below(&state, 4);
	p.forget = below(&state, 50) == 0;
	p.netns_goes_first = below(&state, 16) == 0;
	p.path_stays = below(&state, 2) == 0;
	p.renew = below(&state, 16) == 0;
	return p;
}
