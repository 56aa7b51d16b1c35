/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: reports of a run, in five formats. */
#ifndef CONFORMANCE_SPEC_REPORT_H
#define CONFORMANCE_SPEC_REPORT_H

#include <stdio.h>

#include "conformance/spec/runner.h"

struct report {
	FILE *to;
	const struct order *order;
	const char *format; /* text, tap, junit, markdown, json */
	bool selftest;
	size_t n;
};

/* report_knows - is this the name of a format? */
bool report_knows(const char *format);
/* report_begin, _one, _end - print the head for n outcomes, one outcome when it exists, the sums.
 */
void report_begin(struct report *r, size_t n);
void report_one(struct report *r, const struct outcome *x);
void report_end(struct report *r, const struct outcome *all, size_t n);
const char *level_name(enum level level);
/* is_bad - does this outcome make the run fail? */
bool is_bad(const struct outcome *x);

#endif
