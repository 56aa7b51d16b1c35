/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.h: the tests that each cluster store must pass, against the real engine.
 *
 * The test program of an engine is X_engine_test.c. It does not run with the unit tests:
 * conformance/cluster-store/ starts the engine and runs it.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_CONTRACT_H
#define RAILHEAD_CLUSTER_TESTING_CONTRACT_H

#include "cluster/testing/calls.h"
#include "lib/testing/testing.h"

struct contract_engine {
	const char *name;
	int (*open)(struct event_base *base, unsigned timeout_ms, struct cluster_store **out,
		    struct err *e);
	bool forgets; /* after a restart, revisions from before it are expired */
};

/* The test program of an engine sets it, before the tests run. */
extern const struct contract_engine *contract_engine;

/* contract_add - add the tests to a suite, each as a case of its own name. */
void contract_add(Suite *suite);

/* contract_test - add one more test. */
void contract_test(Suite *suite, const TTest *test);

/*
 * engine_open, engine_close - a store in a loop of its own, with enough time for a busy machine.
 * engine_open_within - for tests of a silent engine.
 */
struct calls engine_open(void);
struct calls engine_open_within(unsigned timeout_ms);
void engine_close(struct calls *c);

/*
 * engine_control - run $CLUSTER_CONTROL with this word: stop, cont (SIGSTOP, SIGCONT), kill,
 * start (which waits until it is ready), compact (no older revision can be read).
 */
void engine_control(const char *word);

#endif
