/* SPDX-License-Identifier: Apache-2.0 */
/* world.h: the sandbox of a worker: its links and pods, calls of plugins in it, and what it holds.
 */
#ifndef CONFORMANCE_FAULTS_WORLD_H
#define CONFORMANCE_FAULTS_WORLD_H

#include "conformance/faults/faults.h"
#include "conformance/faults/fixture.h"
#include "conformance/harness/process.h"

#define WORK   "/run/work"
#define MASTER "mst0"
#define RUN    "/run/railhead"
#define STATE  "/var/lib/railhead"
#define PODS   60 /* p0 ... ; p0 is everybody's */

struct world {
	const struct options *o;
	const struct fixture *fixture;
	const char *bin;  /* programs of the running case */
	char *result;     /* of the last successful ADD; NULL: there was none */
	struct text base; /* how the world is when nothing is attached */
	bool has_kind;    /* the kernel knows the plugin's kind of link */
};

/* world_open - make devices, folders and pods, and take the first snapshot. */
void world_open(struct world *w);
/* world_rebuild - the same again, after a case left something. */
void world_rebuild(struct world *w);
/* world_restore - recreate the master and the pod's namespace if a fault removed them. */
void world_restore(struct world *w);

/* Each VF has its state file from its first use on: attach all of them once. */
void world_use_all(struct world *w);

/* run_quiet - run a shell command without output; returns its exit status. */
int run_quiet(const char *cmd);
/* must - run a shell command that must succeed; a failure ends the program. */
void must(const char *fmt, ...) LIKE(1, 2);
/* pod_add, pod_make, pod_drop - make the namespace of a pod, make it with the interface that the
 * fixture needs in it, remove it. */
void pod_add(unsigned pod);
void pod_make(const struct world *w, unsigned pod);
void pod_drop(unsigned pod);
/* world_program - the path of the plugin's program. */
const char *world_program(const struct world *w);

/* ---- what there is: see harness/snapshot.h ---- */

/* snapshot - append the state of the machine as lines. */
void snapshot(struct world *w, struct text *out);
/* railctl - append the output of railctl, and its exit status if it failed; argv[0] is its name. */
void railctl(const struct world *w, const char *const argv[], struct text *out);

/* ---- one call of a plugin ---- */

struct call {
	enum cni_command cmd;
	enum target target; /* ALONE: the IPAM itself */
	unsigned pod;
	const char *container;  /* NULL: "cid" */
	const char *extra;      /* JSON members put before all others, "" or "\"x\":1," */
	const char *ipam_extra; /* the same, in the ipam section */
	const char *path;       /* CNI_PATH, NULL: the programs */
	const char *program;    /* NULL: by target */
	bool any;               /* whichever interface is free, not one certain */
	bool no_netns;          /* CNI_NETNS="" */
	bool no_prev;
};

struct outcome {
	int status; /* of wait(2) */
	bool timed_out;
	bool reached;    /* the fault was injected */
	int child_crash; /* signal that ended a child, SIGKILL left out; 0: none */
	char *out, *err;
};
void outcome_free(struct outcome *o);
/* The end of a child that was waited for elsewhere, for call_collect. */
void reaped_note(pid_t pid, int status);
/* For prevResult of later calls; NULL: none. */
void world_keep_result(struct world *w, const char *text);
#define auto_outcome __attribute__((cleanup(outcome_free))) struct outcome

/* Start a call that waits for process_release() before it executes. */
void call_start(struct world *w, const struct call *c, struct process *p);
/* Wait for its end. */
void call_collect(const struct world *w, struct process *p, struct outcome *out);
/* The whole of it; keeps the result of a good ADD in w. */
void call_run(struct world *w, const struct call *c, struct outcome *out);

/*
 * call_judge - the promises of every call: an exit, not a signal; in time; a result with 0, one
 * error object otherwise. mute: standard output itself was the fault. false: adds to why.
 */
bool call_judge(const struct call *c, const struct outcome *o, bool mute, struct text *why);
/* Run it; it must succeed and keep the promises. */
bool call_ok(struct world *w, const struct call *c, struct text *why);
/* "exit 1, stdout ..., stderr ..." */
void call_said(const struct outcome *o, struct text *out);

/* Until no process of the programs is left; false: names them in why. */
bool processes_end(struct text *why);

#endif
