/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: one run of a plugin, and when it is killed. Times are in us of CLOCK_MONOTONIC. */
#ifndef CONFORMANCE_SOAK_CALL_H
#define CONFORMANCE_SOAK_CALL_H

#include "conformance/harness/process.h"

#define IFNAME "net1"

enum { ADDRESSES = 2, TEXT = 48 };

/* The data that a runtime keeps for one attachment. */
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
	double when; /* in usual durations of the command */
};
enum retry_mode { DEL_AGAIN, DEL_WITHOUT_NETNS, DEL_TWICE, LEAVE_TO_GC };
struct plan {
	struct blow add, del;
	enum retry_mode after_add, after_del; /* after a killed run */
	bool forget;                          /* a live attachment gets no DEL, but GC */
	bool netns_goes_first;                /* the namespace is removed before DEL */
	bool path_stays;                      /* DEL still gets its path */
	bool renew;                           /* the next cycle gets a new namespace */
};

/* plan_random - the next number of the generator (splitmix64). */
uint64_t plan_random(uint64_t *state);
/* plan_make - the choices for one cycle. Equal arguments give equal plans. */
struct plan plan_make(uint64_t seed, long cycle, int kill_permille);

/* ---- call.c: one run of a plugin ---- */

enum cni_command { ADD, DEL, GC, N_COMMANDS };
struct call {
	struct process process; /* pid 0: none */
	struct exited exited;   /* after the end */
	enum cni_command cmd;
	int64_t due; /* when the blow falls; 0: never */
	struct blow blow;
	bool hit; /* SIGKILL reached a living process */
};

/* A run of a plugin; a: the attachment, NULL for a call without one. */
struct order {
	const char *bindir, *program, *conf; /* conf: text */
	enum cni_command cmd;
	const struct attachment *a;
};

/* fail - the test itself cannot go on: say why (errno) and end. */
void fail(const char *what) __attribute__((noreturn));
void call_start(struct call *c, const struct order *o);
/* The process has been waited for, with that status. */
void call_ended(struct call *c, int status);
void call_free(struct call *c);
/* call_strike - the blow falls, or is put off when the IPAM is not there yet. */
void call_strike(struct call *c);
/* Run it to its end, with a look at its processes; returns whether it succeeded. */
struct watched;
bool call_watch(const struct order *o, struct watched *w);

#endif
