/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child shares our memory until it executes (CLONE_VM | CLONE_VFORK): no page tables are
 * copied, and it can leave the reason of a failure where we find it. In return it must not touch
 * anything but its own stack and the plan, so everything it needs is made ready before.
 *
 * A function (req->run) changes memory, so it runs in a copy of our memory: fork().
 */
#include "lib/sys/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/base/ctx.h"
#include "lib/sys/fs.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3; sysctl vm.memfd_noexec=2 insists on it */
#endif

#define CHILD_STACK (32 * 1024)

struct plan {
	const struct exec_req *req;
	char *argv[2];
	int in, out;
	pid_t parent;
	struct sigaction dfl;
	sigset_t none;
	volatile int errnum; /* why the child could not execute */
};

/* A descriptor that is 0, 1 or 2 would be overwritten, or closed on exec, under the child's feet.
 */
static int above_stdio(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;

	int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int errnum = errno;

	(void)close(fd);
	errno = errnum;
	return high;
}

int exec_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return above_stdio(fd);
}

static int make_input(const struct exec_req *req, int *out, struct err *e)
{
	auto_fd int fd = exec_memory("stdin");

	if (fd < 0)
		return err_set(e, ERR_DELEGATE, errno, "create the input of %s", req->path);
	if (fs_write_fd(fd, req->input, req->input_len, e))
		return err_wrap(e, "input of %s", req->path);
	if (lseek(fd, 0, SEEK_SET) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return err_set(e, ERR_DELEGATE, errno, "seal the input of %s", req->path);
	*out = TAKE_FD(fd);
	return 0;
}

static int make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	fds[0] = above_stdio(fds[0]);
	fds[1] = above_stdio(fds[1]);
	return fds[0] < 0 || fds[1] < 0 ? -1 : 0;
}

/* In the child, on its own stack, all signals blocked. -1: errno. */
static int become_child(const struct plan *p)
{
	/* What is ignored stays ignored over exec: a plugin expects SIGPIPE to be as usual. */
	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &p->dfl, NULL);
	/* its own group: past its deadline it ends with all that it started */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || setpgid(0, 0))
		return -1;
	/* Our parent may have died before that call, and then no signal comes. */
	if (getppid() != p->parent) {
		errno = ESRCH;
		return -1;
	}
	if (dup2(p->in, STDIN_FILENO) < 0 || dup2(p->out, STDOUT_FILENO) < 0 ||
	    (p->req->join_stderr && dup2(p->out, STDERR_FILENO) < 0))
		return -1;
	/* Those that our caller left open, and in a function also ours: the lock of a record. */
	closefrom(STDERR_FILENO + 1);
	return sigprocmask(SIG_SETMASK, &p->none, NULL);
}

static int child_main(void *arg)
{
	struct plan *p = arg;

	/* The bare call: a coverage build replaces execve() by code that allocates. */
	if (become_child(p) == 0)
		(void)syscall(SYS_execve, p->req->path, p->argv, p->req->envp);
	p->errnum = errno;
	/* clone() makes that the exit status; _exit() would have sanitizers look for our stack. */
	return 127;
}

/*
 * With SIGCHLD ignored, as some parent may have left it, the kernel throws the exit status away. A
 * handler or the default stands.
 */
static void keep_exit_status(void)
{
	struct sigaction sa;

	if (sigaction(SIGCHLD, NULL, &sa) == 0 &&
	    (sa.sa_handler == SIG_IGN || (sa.sa_flags & SA_NOCLDWAIT))) {
		sa.sa_flags &= ~SA_NOCLDWAIT;
		if (sa.sa_handler == SIG_IGN)
			sa.sa_handler = SIG_DFL;
		(void)sigaction(SIGCHLD, &sa, NULL);
	}
}

/* What execve() does besides loading a program: environment and name become the program's. */
static _Noreturn void run_function(const struct plan *p)
{
	if (become_child(p))
		_exit(127);
	environ = (char **)p->req->envp;
	(void)prctl(PR_SET_NAME, p->argv[0]);
	_exit(p->req->run(p->req->arg));
}

static pid_t fork_function(const struct plan *p)
{
	pid_t pid = fork();

	if (pid == 0)
		run_function(p);
	/* Both make the group: whoever kills it at once must find it. */
	if (pid > 0)
		(void)setpgid(pid, pid);
	return pid;
}

static pid_t spawn(struct plan *p)
{
	char stack[CHILD_STACK] __attribute__((aligned(16)));
	sigset_t all, old;

	sigfillset(&all);
	sigemptyset(&p->none);
	p->dfl.sa_handler = SIG_DFL;
	p->parent = getpid();
	keep_exit_status();

	/* One of our handlers must not run in the child: it would change our memory. */
	(void)sigprocmask(SIG_SETMASK, &all, &old);

	pid_t pid = p->req->run ? fork_function(p)
				: clone(child_main, stack + sizeof(stack),
					CLONE_VM | CLONE_VFORK | SIGCHLD, p);
	int errnum = pid < 0 ? errno : p->errnum;

	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	if (pid > 0 && errnum)
		exec_kill(&(struct exec_child){ .pid = pid, .out_fd = -1 });
	errno = errnum;
	return errnum ? -1 : pid;
}

int exec_start(const struct exec_req *req, struct exec_child *child, struct err *e)
{
	const char *slash = strrchr(req->path, '/');
	auto_fd int in = -1;
	int fds[2] = { -1, -1 };

	if (make_input(req, &in, e))
		return -1;

	int rc = make_pipe(fds);
	auto_fd int out_read = fds[0], out_write = fds[1];

	if (rc)
		return err_set(e, ERR_DELEGATE, errno, "create the output of %s", req->path);

	struct plan plan = {
		.req = req,
		.argv = { (char *)(slash ? slash + 1 : req->path), NULL },
		.in = in,
		.out = out_write,
	};
	int64_t deadline = ctx_mono_ms() + req->timeout_ms;
	pid_t pid = spawn(&plan);

	if (pid < 0)
		return err_set(e, ERR_DELEGATE, errno, "run %s", req->path);
	*child = (struct exec_child){
		.pid = pid,
		.out_fd = TAKE_FD(out_read),
		.deadline_ms = deadline,
		.path = req->path,
	};
	return 0;
}
