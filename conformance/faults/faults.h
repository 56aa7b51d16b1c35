/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h: what one case is, and how it is judged.
 *
 * The parent plans the cases and distributes them. Each worker has a sandbox of its own, runs one
 * case after the other, and answers with a verdict. A case is a text such as "add macvlan
 * openat:ENOSPC:12".
 */
#ifndef CONFORMANCE_FAULTS_FAULTS_H
#define CONFORMANCE_FAULTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/harness/text.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- cases ---- */

enum cni_command { ADD, DEL, CHECK, GC };
/* Which process the fault is for: the plugin, the IPAM that it runs, the IPAM run by us. */
enum target { PLUGIN, CHILD, ALONE };

struct fault {
	enum cni_command cmd;
	enum target target;
	char call[24]; /* a system call, or malloc, clock, scene, race */
	/* An errno (EIO; EIO+: from then on; EIO/3: and another one 3 calls later), KILL, @action,
	 * or the name of a scene. */
	char what[32];
	unsigned nth; /* of such calls of that process, from 1; of a race: the round */
	char recovery[12];
};

/* fault_parse - the text of a case as a fault. Returns false if it is not the text of a case. */
bool fault_parse(const char *text, const char *plugin, struct fault *out);
/* fault_print - the opposite. */
void fault_print(const struct fault *f, const char *plugin, char *out, size_t size);
/* The row of the table that it counts in. */
const char *fault_class(const struct fault *f);
extern const char *const fault_classes[];
extern const size_t fault_n_classes;
extern const char *const cmd_words[], *const cmd_names[];

/* The outcome of a case. */
enum verdict { SURVIVED, LEAKED, NOT_REACHED, NOT_HERE };
struct judgement {
	enum verdict verdict;
	bool needed_recovery; /* an ADD left something for DEL or its like */
	struct text evidence; /* why not; one line each */
};

/* ---- system calls ---- */

/* NULL: unknown. */
const char *call_name(long nr);
/* Space-separated names of errnos, "" when it cannot plausibly fail. */
const char *call_errnos(long nr);
/* -1: unknown. */
long call_number(const char *name);
/* 0: unknown. */
int errno_number(const char *name);

/* Pseudo calls of programs built with lane/wrap.c. */
#define CALL_MALLOC 100000
#define CALL_CLOCK  100001

/* ---- the roles ---- */

struct options {
	const char *bin, *lane; /* folders of programs; lane: NULL when there is none */
	const char *plugin;
	const char *only; /* NULL: all cases */
	const char *sandbox;
	unsigned sample; /* 0: all cases */
	unsigned seed;   /* which ones */
	unsigned workers;
	unsigned crowd; /* processes that race, at most */
	unsigned limit; /* seconds that a call may take */
	bool list;
};

/* worker_main - read cases from standard input, run them, print a verdict for each. */
int worker_main(const struct options *o);
/* parent_main - plan, distribute, report. Both return the exit status of the program. */
int parent_main(const struct options *o);

#endif
