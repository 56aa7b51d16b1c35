/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: the list of cases, and a part of it that stands for all. */
#ifndef CONFORMANCE_FAULTS_SAMPLE_H
#define CONFORMANCE_FAULTS_SAMPLE_H

#include <stddef.h>

struct cases {
	char **list;
	size_t n, cap;
};

void cases_add(struct cases *c, const char *text);
/*
 * cases_sample - n of them: each class of faults has its share; of a class each system call with
 * each errno, each action, scene and race comes once before any comes twice. The same each time;
 * others with another seed.
 */
void cases_sample(struct cases *c, size_t n, unsigned seed, const char *plugin);

#endif
