/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: one run of a plugin, and when it is killed. Times are in us of CLOCK_MONOTONIC. */
#ifndef CONFORMANCE_SOAK_CALL_H
#define CONFORMANCE_SOAK_CALL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define IFNAME "net1"

enum { ADDRESSES = 2, TEXT = 48 };

/* What a runtime knows of one attachment. */
struct attachment {
	char container[TEXT];
	char netns[TEXT]; /* path, "" before there is one */
	bool gone;        /* the namespace has been removed */
	char address[ADDRESSES][TEXT];
	int n_addresses; /* those that it holds for certain */
};

/* ---- plan.c: all that is random about a cycle follows from the seed and its number ---- */

enum target { NOBODY, PLUGIN, IPAM, BOTH };
struct blow {
	enum target target;
	double when; /* in usual durations of the verb */
};
enum mend { DEL_AGAIN, DEL_WITHOUT_NETNS, DEL_TWICE, LEAVE_TO_GC };
struct plan {
	struct blow add, del;
	enum mend after_add, after_del; /* of a run that was killed */
	bool forget;                    /* a live attachment gets no DEL, but GC */
	bool netns_goes_first;          /* the namespace is removed before DEL */
	bool path_stays;                /* DEL is told its path nevertheless */
	bool renew;                     /* the next cycle gets a new namespace */
};

uint64_t plan_random(uint64_t *state);
struct plan plan_make(uint64_t seed, long cycle, int kill_permille);

/* ---- call.c: one run of a plugin ---- */

enum verb { ADD, DEL, GC, N_VERBS };
struct call {
	pid_t pid; /* 0: none */
	enum verb verb;
	int out;
	int64_t began, ended, due; /* due: when the blow falls; 0: never */
	struct blow blow;
	bool hit;   /* SIGKILL reached a living process */
	int status; /* of wait */
};

struct env {
	char text[5][160]; /* empty ones are left out */
	char *p[7];
};

int64_t now_us(void);
/* fail - the test itself cannot go on: say why (errno) and end. */
void fail(const char *what) __attribute__((noreturn));
void call_env(struct env *v, enum verb verb, const char *bindir, const struct attachment *a);
void call_start(struct call *c, const char *program, const char *conf, struct env *v);
/* call_strike - the blow falls, or is put off when the IPAM is not there yet. */
void call_strike(struct call *c);
/* call_output - what it printed so far, as text. */
void call_output(const struct call *c, char *buf, size_t size);
/* run_program - run a command to its end, its output into buf. Returns its exit status. */
int run_program(const char *const *argv, char *buf, size_t size);

/* ---- trace.c ---- */

struct traced {
	int status;
	long rss;                        /* KiB, peak of the largest process */
	int processes, inherited, holds; /* descriptors above 2: at exec and at the end, most */
};
struct traced trace_run(const char *program, const char *conf, struct env *v);

#endif
