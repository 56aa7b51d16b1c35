/* SPDX-License-Identifier: Apache-2.0 */
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

bool report_knows(const char *format);
void report_begin(struct report *r, size_t n);
/* One outcome, as soon as it is there. */
void report_one(struct report *r, const struct outcome *x);
void report_end(struct report *r, const struct outcome *all, size_t n);
const char *level_name(enum level level);
bool is_bad(const struct outcome *x);

#endif
