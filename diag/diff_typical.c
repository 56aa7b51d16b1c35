// SPDX-License-Identifier: Apache-2.0
/* Finds the machine that most others of a cluster equal. */
#include "diag/diff.h"

/* A value that one of the two does not have is no difference. */
static int are_equal(const struct json *a, const struct json *b, bool *out, struct err *e)
{
	auto_findings struct findings all = { 0 };

	if (topo_diff(a, b, TOPO_DIFF_ALL, &all, e))
		return -1;
	*out = all.n == findings_count(&all, FINDING_UNKNOWN);
	return 0;
}

int topo_diff_typical(struct json *const *machine, size_t n, size_t *out, struct err *e)
{
	struct {
		size_t first, n; /* its first machine, and how many are equal to it */
	} group[TOPO_DIFF_MACHINES_MAX];
	size_t groups = 0, best = 0;

	if (n > TOPO_DIFF_MACHINES_MAX)
		return err_set(e, ERR_EXHAUSTED, 0, "more than %d machines",
			       TOPO_DIFF_MACHINES_MAX);
	for (size_t i = 0; i < n; i++) {
		bool equal = false;
		size_t g = 0;

		for (; g < groups && !equal; g += !equal)
			if (are_equal(machine[group[g].first], machine[i], &equal, e))
				return -1;
		if (g == groups) {
			group[g].first = i;
			group[g].n = 0;
			groups++;
		}
		group[g].n++;
		if (group[g].n > group[best].n)
			best = g;
	}
	*out = groups ? group[best].first : 0;
	return 0;
}
