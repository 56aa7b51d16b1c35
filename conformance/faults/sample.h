/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: the list of cases, and a representative part of it. */
#ifndef CONFORMANCE_FAULTS_SAMPLE_H
#define CONFORMANCE_FAULTS_SAMPLE_H

#include <stddef.h>

struct cases {
	char **list;
	size_t n, cap;
};

/* cases_add - append a copy of the text of a case. */
void cases_add(struct cases *c, const char *text);
/*
 * cases_sample - keep n of the cases. Each class of faults has a share. In a class, each system
 * call with each errno, each action, scene and race comes once before any comes twice. One seed
 * always chooses the same cases.
 */
void cases_sample(struct cases *c, size_t n, unsigned seed, const char *plugin);

#endif
