/* SPDX-License-Identifier: Apache-2.0 */
/* runner.h: run the items, several at a time, each in a box of its own. */
#ifndef CONFORMANCE_SPEC_RUNNER_H
#define CONFORMANCE_SPEC_RUNNER_H

#include "conformance/spec/spec.h"

struct order {
	const struct profile *profile;
	const char *plugin; /* absolute; "@meta": the chained plugin that is built in */
	const char *path;   /* further folders of CNI_PATH, or NULL */
	const char *self;
	unsigned jobs;
	struct facts facts;
};

/* Ask the plugin for its versions and the kernel for its kind of link. */
void runner_probe(struct order *o);
/* Run all, a few beside each other; done() is called in the order of the outcomes. */
void runner_run(const struct order *o, struct outcome *outcomes, size_t n,
		void (*done)(const struct outcome *one, void *arg), void *arg);

#endif
