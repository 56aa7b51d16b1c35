/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h: stop a plugin at one system call of one of its processes, and inject a fault.
 *
 * This is like strace --inject, but it distinguishes processes: the plugin, and its first child,
 * which is the IPAM. Later children get no fault. Each process counts each system call from 1.
 */
#ifndef CONFORMANCE_FAULTS_TRACE_H
#define CONFORMANCE_FAULTS_TRACE_H

#include "conformance/faults/world.h"

enum how {
	LET_GO, /* only watched */
	FAIL,   /* returns -errnum, not executed */
	SLAY,   /* SIGKILL instead of the call */
	STOP,   /* act(arg) is called, then it goes on */
	ANSWER, /* all calls of nr, in all processes, return value */
};

struct inject {
	enum how how;
	int role; /* 0: the plugin, or the IPAM run alone; 1: the IPAM it runs */
	long nr;
	unsigned nth;
	int errnum;
	bool forever;    /* FAIL: all calls of nr from then on, in all processes */
	unsigned second; /* FAIL: so many calls after it that can fail, that one does; 0: none */
	long second_nr;  /* out: which one that was, and how it failed; 0: none came */
	int second_errnum;
	long value;
	void (*act)(void *arg);
	void *arg;
	bool has_stdout; /* out: the call was a write to standard output */
};

/* For planning: each call seen, in order. */
struct step {
	int role;
	long nr;
	unsigned nth;
	bool writes; /* openat: for writing, or to create */
};
struct steps {
	struct step *list;
	size_t n, cap;
};

/* trace_run - run the call with the fault; in: NULL for none. steps: append each system call, or
 * NULL. */
void trace_run(struct world *w, const struct call *c, struct inject *in, struct steps *steps,
	       struct outcome *out);

#endif
