/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: the list of cases, and a part of it that stands for all. */
#ifndef CONFORMANCE_FAULTS_SAMPLE_H
#define CONFORMANCE_FAULTS_SAMPLE_H

#include <stddef.h>

struct cases {
	char **list;
	size_t n, room;
};

void cases_add(struct cases *c, const char *text);
/* Keep one of each system call with each errno, each action, scene and race, if n allows for that;
 * then every so many-th up to n. The same each time; others with another seed. */
void cases_sample(struct cases *c, size_t n, unsigned seed);

#endif
