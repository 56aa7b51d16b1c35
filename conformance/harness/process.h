/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: one run of a program: its input, its limit of time, its output.
 *
 * Standard input, output and error are memory files, so that no run waits for a pipe. The program
 * leads a process group of its own, inherits no other descriptor and no blocked signal, and dies
 * with the process that started it. A failure of the harness itself ends the program (die).
 */
#ifndef CONFORMANCE_HARNESS_PROCESS_H
#define CONFORMANCE_HARNESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The PATH of programs. */
#define PATH_VARIABLE "PATH=/usr/sbin:/usr/bin:/sbin:/bin"

/* Kinds of standard input. */
enum input_kind {
	INPUT_TEXT,      /* a file with the input */
	INPUT_CLOSED,    /* closed */
	INPUT_HELD,      /* a pipe that is held open and empty */
	INPUT_SLOW,      /* a pipe that gets the input in small pieces */
	INPUT_DIRECTORY, /* a directory: it cannot be read */
};

/* A command to run. All members except program and env may be zero. */
struct command {
	const char *program;     /* path, or a name that is looked up in PATH */
	const char *const *args; /* after the program's name, NULL-terminated; NULL: none */
	char *const *env;        /* the whole environment, NULL-terminated */
	const char *input;       /* NULL: empty */
	size_t input_len;        /* 0: strlen(input) */
	enum input_kind input_kind;
	bool broken_stdout;     /* a pipe without a reader; SIGPIPE is not ignored */
	bool gated;             /* it is executed only after process_release() */
	bool traced;            /* PTRACE_TRACEME: it stops at its exec */
	const char *netns;      /* network namespace to start in, a path; NULL: the own one */
	const char *root, *cwd; /* directories; NULL: the own ones */
};

/* A run that has not been collected. */
struct process {
	pid_t pid;    /* 0: none */
	pid_t writer; /* the process that feeds a pipe; 0: none */
	int gate, out, err;
	int64_t began; /* us of CLOCK_MONOTONIC */
};

/* The outcome of a run. */
struct exited {
	int status;      /* of wait(2) */
	bool timed_out;  /* it reached the limit; its process group was killed */
	int64_t us;      /* from the start to the end */
	long rss_kib;    /* peak memory, of the largest process that was waited for */
	char *out, *err; /* text, owned */
};

/* now_us - microseconds of CLOCK_MONOTONIC. */
int64_t now_us(void);

/* process_start - start a program; end it with process_wait() or process_collect(). */
void process_start(const struct command *c, struct process *p);
/* Let a gated program begin. */
void process_release(struct process *p);
/* The standard output so far; owned by the caller. */
char *process_output(const struct process *p);
/* Wait for the end, and kill the process group after limit_ms; 0: no limit. Frees what p holds. */
void process_wait(struct process *p, long limit_ms, struct exited *e);
/* The same for a process that the caller has waited for; status is what wait(2) said. */
void process_collect(struct process *p, int status, struct exited *e);
/* Start, wait, collect. */
void command_run(const struct command *c, long limit_ms, struct exited *e);
/* Run argv to its end, without a limit: a path, or a name that is looked up in PATH. */
void program_run(const char *netns, const char *const *argv, struct exited *e);
/* It ended by itself, with exit status 0. */
bool exited_well(const struct exited *e);
void exited_free(struct exited *e);
#define auto_exited __attribute__((cleanup(exited_free))) struct exited

#endif
