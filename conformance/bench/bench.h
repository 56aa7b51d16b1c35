/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h: what the programs of the bench have in common. */
#ifndef CONFORMANCE_BENCH_BENCH_H
#define CONFORMANCE_BENCH_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* fail - say what failed and why (errno), and end the program: half a measurement is none. */
static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

#endif
