/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c: run a plugin under ptrace, count the system calls of each process, and inject the fault.
 */
#include "conformance/faults/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "conformance/faults/lane/wrap.h"
#include "conformance/faults/registers.h"

/* linux/errno.h keeps these from programs; only a tracer sees them. Between: ERESTARTNOINTR. */
#define ERESTARTSYS    512
#define ERESTARTNOHAND 514

#define PROCESSES 8
#define DISTINCT  64
#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

struct tracee {
	pid_t pid;
	int role;
	bool counting; /* from its first exec on, or its birth */
	bool spoiled;  /* the running call is to return answer */
	bool restarts; /* the kernel begins the call nr again */
	long nr;       /* the call that runs, or the last one */
	long answer;
	long brk; /* the last known end of the heap */
	struct {
		long nr;
		unsigned n;
	} seen[DISTINCT];
};

struct session {
	struct world *w;
	struct inject *in;
	struct steps *steps;
	struct outcome *out;
	struct tracee t[PROCESSES];
	size_t n;
	int roles;
	pid_t main;
	int main_status;
	bool main_ended;
	unsigned after; /* calls that could fail since the first fault */
};

static volatile sig_atomic_t alarmed;

static void on_alarm(int sig)
{
	(void)sig;
	alarmed = 1;
}

static struct tracee *find(struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->t[i].pid == pid)
			return &s->t[i];
	}
	return NULL;
}

static struct tracee *enter(struct session *s, pid_t pid)
{
	if (s->n == PROCESSES)
		die("more than %d processes in one call", PROCESSES);
	struct tracee *t = &s->t[s->n++];
	*t = (struct tracee){
		.pid = pid, .role = s->roles++, .counting = pid != s->main, .nr = -1
	};
	return t;
}

/* Before its first stop: if its parent ends first, let_go_of_rest() must know its pid. */
static void enter_child(struct session *s, const struct tracee *parent)
{
	unsigned long pid;

	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) == 0 && !find(s, (pid_t)pid))
		(void)enter(s, (pid_t)pid);
}

static unsigned count(struct tracee *t, long nr)
{
	for (size_t i = 0; i < DISTINCT; i++) {
		if (t->seen[i].n == 0)
			t->seen[i].nr = nr;
		if (t->seen[i].nr == nr)
			return ++t->seen[i].n;
	}
	die("more than %d different system calls", DISTINCT);
}

static void note(struct steps *s, struct step step)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 512;
		s->list = realloc(s->list, s->cap * sizeof(*s->list));
		if (!s->list)
			die("out of memory");
	}
	s->list[s->n++] = step;
}

/* Our questions have numbers of their own; -1: not a call to count. */
static long number_of(const struct __ptrace_syscall_info *i)
{
	long nr = (long)i->entry.nr;

	if (nr == SYS_getpriority && i->entry.args[0] == ASK_MALLOC)
		return CALL_MALLOC;
	if (nr == SYS_getpriority && i->entry.args[0] == ASK_CLOCK)
		return CALL_CLOCK;
	/* only a question, which cannot fail */
	if (nr == SYS_brk && i->entry.args[0] == 0)
		return -1;
	return nr;
}

/* What strace does: the number becomes one that does not exist, the answer is put in at the end.
 * A close is carried out all the same, as the kernel does before it reports an error. */
static void spoil(struct tracee *t, long nr, long answer)
{
	t->spoiled = true;
	t->answer = nr == SYS_brk ? t->brk : answer;
	if (nr != SYS_close)
		registers_skip(t->pid);
}

static void inject(struct session *s, struct tracee *t, long nr,
		   const struct __ptrace_syscall_info *i)
{
	struct inject *in = s->in;

	s->out->reached = true;
	in->has_stdout |= (nr == SYS_write || nr == SYS_writev) && i->entry.args[0] == 1;
	switch (in->how) {
	case LET_GO:
		break;
	case FAIL:
		spoil(t, nr, -in->errnum);
		break;
	case ANSWER:
		spoil(t, nr, in->value);
		break;
	case SLAY:
		(void)kill(t->pid, SIGKILL);
		break;
	case STOP:
		in->act(in->arg);
		break;
	}
}

/* One of the call's plausible errnos, by turns; "not there" might be believed. 0: it cannot fail.
 */
static int second_errno(long nr, unsigned turn)
{
	char all[128], *save;
	int list[16];
	unsigned n = 0;

	(void)snprintf(all, sizeof(all), "%s", call_name(nr) ? call_errnos(nr) : "");
	for (char *e = strtok_r(all, " ", &save); e && n < COUNT(list);
	     e = strtok_r(NULL, " ", &save)) {
		if (strcmp(e, "ENOENT") != 0)
			list[n++] = errno_number(e);
	}
	return n ? list[turn % n] : 0;
}

/* Faults after the first one. */
static void inject_more(struct session *s, struct tracee *t, long nr,
			const struct __ptrace_syscall_info *i)
{
	struct inject *in = s->in;
	int e = second_errno(nr, in->nth + in->second);

	if (in->forever && nr == in->nr) {
		inject(s, t, nr, i);
	} else if (in->second && e && ++s->after == in->second) {
		in->has_stdout |= (nr == SYS_write || nr == SYS_writev) && i->entry.args[0] == 1;
		in->second_nr = nr;
		in->second_errnum = e;
		spoil(t, nr, -e);
	}
}

static void at_entry(struct session *s, struct tracee *t, const struct __ptrace_syscall_info *i)
{
	const struct inject *in = s->in;
	long nr = number_of(i);

	if (nr < 0)
		return;
	unsigned n = count(t, nr);
	if (s->steps)
		note(s->steps, (struct step){ t->role, nr, n,
					      (i->entry.args[2] & (O_ACCMODE | O_CREAT)) != 0 });
	bool mine = !s->out->reached && t->role == in->role && n == in->nth;
	if (nr == in->nr && (mine || in->how == ANSWER))
		inject(s, t, nr, i);
	else if (s->out->reached && in->how == FAIL)
		inject_more(s, t, nr, i);
}

/*
 * The kernel begins a write to a sysctl of the network again while others hold the lock of all
 * links (RTNL). The program makes one call, so one is counted.
 */
static bool will_restart(long rval)
{
	return rval <= -ERESTARTSYS && rval >= -ERESTARTNOHAND;
}

static void at_call(struct session *s, struct tracee *t)
{
	struct __ptrace_syscall_info i;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(i), &i) <= 0)
		return; /* killed meanwhile */
	if (i.op == PTRACE_SYSCALL_INFO_ENTRY) {
		bool again = t->restarts && t->nr == (long)i.entry.nr;

		t->nr = (long)i.entry.nr;
		if (t->counting && !again)
			at_entry(s, t, &i);
	} else if (i.op == PTRACE_SYSCALL_INFO_EXIT) {
		t->restarts = !t->spoiled && will_restart((long)i.exit.rval);
		if (t->spoiled)
			registers_return(t->pid, t->answer);
		else if (t->nr == SYS_brk)
			t->brk = (long)i.exit.rval;
		t->spoiled = false;
	}
}

static void at_stop(struct session *s, struct tracee *t, int status)
{
	const struct inject *in = s->in;
	int sig = WSTOPSIG(status), event = status >> 16;

	if (sig == (SIGTRAP | 0x80)) {
		at_call(s, t);
		sig = 0;
	} else if (event) {
		if (event == PTRACE_EVENT_EXEC)
			t->counting = true;
		else if (event != PTRACE_EVENT_STOP)
			enter_child(s, t);
		sig = 0;
	}
	/* Once no fault is left to inject, the process runs on without stops. */
	bool more = in->how == ANSWER || in->forever || s->after < in->second;
	bool done = s->out->reached && !t->spoiled && !more && !s->steps;
	(void)ptrace(done ? PTRACE_CONT : PTRACE_SYSCALL, t->pid, NULL, sig);
}

static void at_end(struct session *s, struct tracee *t, int status)
{
	if (t->pid == s->main) {
		s->main_ended = true;
		s->main_status = status;
	} else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
		s->out->child_crash = WTERMSIG(status);
	}
	*t = s->t[--s->n];
}

/* Processes that still run after the plugin's end continue without a tracer. */
static void let_go_of_rest(struct session *s)
{
	int status;

	for (size_t i = 0; i < s->n; i++) {
		pid_t pid = s->t[i].pid;
		(void)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
			(void)ptrace(PTRACE_DETACH, pid, NULL,
				     status >> 16 ? 0 : WSTOPSIG(status) & 0x7f);
	}
}

static void loop(struct session *s)
{
	int status;

	while (!s->main_ended) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR && alarmed) {
			s->out->timed_out = true;
			for (size_t i = 0; i < s->n; i++)
				(void)kill(s->t[i].pid, SIGKILL);
			alarmed = 0;
			continue;
		}
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			die("waitpid: %s", strerror(errno));
		struct tracee *t = find(s, pid);
		if (!t && WIFSTOPPED(status))
			t = enter(s, pid);
		if (!t)
			reaped_note(pid, status);
		else if (WIFSTOPPED(status))
			at_stop(s, t, status);
		else
			at_end(s, t, status);
	}
}

void trace_run(struct world *w, const struct call *c, struct inject *in, struct steps *steps,
	       struct outcome *out)
{
	struct session s = { .w = w, .in = in, .steps = steps, .out = out };
	const struct sigaction sa = { .sa_handler = on_alarm };
	struct process p;

	*out = (struct outcome){ .status = 0 };
	(void)sigaction(SIGALRM, &sa, NULL);
	call_start(w, c, &p);
	s.main = p.pid;
	(void)enter(&s, p.pid);
	if (ptrace(PTRACE_SEIZE, p.pid, NULL, OPTIONS))
		die("ptrace: %s", strerror(errno));
	alarmed = 0;
	(void)alarm(w->o->limit);
	process_release(&p);
	loop(&s);
	(void)alarm(0);
	let_go_of_rest(&s);
	reaped_note(s.main, s.main_status);
	call_collect(w, &p, out);
}
