/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h: run one program, or a function in a child of its own: input from memory, output
 * collected, a deadline.
 *
 * The child's stderr is ours, unless the request joins it to the output. Its stdin is a sealed
 * memory file, so that no pipe can fill and block both sides. It dies with us (PR_SET_PDEATHSIG):
 * an ADD of the IPAM must not finish after the runtime killed the plugin and ran its DEL. (The
 * kernel counts the calling thread as the parent: start it from a thread that stays.)
 *
 * The child has no descriptors but stdin, stdout and stderr, whatever our own caller left open.
 *
 * The child leads a process group, which exists when exec_start returns. After the deadline that
 * whole group is killed. A descendant that left the group (setsid, setpgid) keeps running.
 *
 * A function runs in a forked child: it has a copy of our memory and the request's environment. It
 * saves what starting a program costs.
 */
#ifndef RAILHEAD_LIB_SYS_EXEC_H
#define RAILHEAD_LIB_SYS_EXEC_H

#include <sys/types.h>

#include "lib/base/err.h"

#define EXEC_MAX_OUTPUT (1024 * 1024)

struct exec_req {
	const char *path;            /* program; argv is just its last component */
	int (*run)(const void *arg); /* instead of executing path: returns the exit status */
	const void *arg;
	char *const *envp; /* NULL-terminated */
	const char *input;
	size_t input_len;
	int timeout_ms;   /* from exec_start to the end of the child */
	bool join_stderr; /* what it prints on stderr belongs to the output, too */
};

struct exec_child {
	pid_t pid;  /* 0: none or already reaped */
	int out_fd; /* -1: none */
	int64_t deadline_ms;
	const char *path; /* borrowed from the request, for errors */
};

struct exec_result {
	char *output; /* NUL-terminated, owned by the caller */
	size_t len;
	int status; /* as of waitpid */
};

/* exec_start - the caller must call exec_finish or exec_kill. ERR_DELEGATE when it cannot start. */
int exec_start(const struct exec_req *req, struct exec_child *child, struct err *e) must_check;

/*
 * exec_finish - read the output to its end and reap. A child past its deadline, or that prints more
 * than EXEC_MAX_OUTPUT, is killed and reaped and gives ERR_DELEGATE (errnum ETIMEDOUT, EFBIG).
 * A child that exits non-zero or by a signal is *not* an error here: look at status.
 */
int exec_finish(struct exec_child *child, struct exec_result *res, struct err *e) must_check;

/* exec_kill - SIGKILL to the child's group, and reap the child; nothing happens when there is no
 * child. Fits auto_clean(). */
void exec_kill(struct exec_child *child);

/*
 * The same in two steps that never wait, for a loop: the kernel may hold a child for long.
 * exec_send_kill - SIGKILL to the child's group. exec_try_reap - false: the child has not ended;
 * otherwise there is none any more, and its output is closed.
 */
void exec_send_kill(const struct exec_child *child);
bool exec_try_reap(struct exec_child *child) must_check;

/*
 * exec_memory - a file in memory for what a child reads or prints, empty, close-on-exec, and no
 * standard stream. The name is for people who look into /proc. -1: errno.
 */
int exec_memory(const char *name);

#endif
