/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c: three bounds for each power of ten, up to the time that an ADD waits for the agent.
 */
#include "ipam/alloc/histogram.h"

const uint32_t histogram_bounds[HISTOGRAM_BOUNDS] = {
	50,    100,   200,    500,    1000,   2000,    5000,     10000,
	20000, 50000, 100000, 200000, 500000, 1000000, 20000000,
};

void histogram_observe(struct histogram *h, uint32_t micros)
{
	size_t i = 0;

	while (i < HISTOGRAM_BOUNDS && micros > histogram_bounds[i])
		i++;
	h->n[i]++;
	h->sum += micros;
}
