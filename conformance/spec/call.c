/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one run of the plugin. Its stdin and outputs are memory files, so no call waits for a
 * pipe. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include "conformance/spec/box.h"
#include "conformance/spec/json.h"

enum { LIMIT_MS = 15000, SLOW_PIECES = 20, SLOW_PAUSE_US = 2000 };

static const char *input_of(struct t *t, size_t *len)
{
	if (!t->raw) {
		char *json = jtext(t->conf);
		*len = json ? strlen(json) : 0;
		return json ? json : "";
	}
	*len = t->raw_len ? t->raw_len : strlen(t->raw);
	return t->raw;
}

static int memory_file(const char *content, size_t len)
{
	int fd = memfd_create("cni", MFD_CLOEXEC);

	if (fd < 0 || write(fd, content, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0)
		broken("memory file");
	return fd;
}

/* A process that feeds the plugin piece by piece, or holds the pipe open without a word. */
static pid_t start_writer(struct t *t, int to, int other)
{
	size_t len;
	const char *input = input_of(t, &len);
	pid_t pid = fork();

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(other);
	if (t->how.in == IN_HELD)
		pause();
	for (size_t done = 0; done < len;) {
		size_t piece = len / SLOW_PIECES + 1;
		if (piece > len - done)
			piece = len - done;
		ssize_t n = write(to, input + done, piece);
		if (n < 0)
			break;
		done += (size_t)n;
		usleep(SLOW_PAUSE_US);
	}
	_exit(0);
}

static void open_input(struct t *t, struct job *j)
{
	int pipefd[2];
	size_t len;

	switch (t->how.in) {
	case IN_FILE: {
		const char *input = input_of(t, &len);
		j->in = memory_file(input, len);
		break;
	}
	case IN_CLOSED:
		break;
	case IN_DIRECTORY:
		j->in = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		break;
	case IN_HELD:
	case IN_SLOW:
		if (pipe2(pipefd, O_CLOEXEC))
			broken("pipe");
		j->in = pipefd[0];
		j->writer = start_writer(t, pipefd[1], pipefd[0]);
		close(pipefd[1]);
		break;
	}
}

static int broken_pipe(void)
{
	int pipefd[2];

	if (pipe2(pipefd, O_CLOEXEC))
		broken("pipe");
	close(pipefd[0]);
	return pipefd[1];
}

static void env_add(char **env, size_t *n, const char *name, const char *value)
{
	if (value)
		env[(*n)++] = text("%s=%s", name, value);
}

static char **environment(const struct t *t, const char *verb)
{
	char **env = calloc(32, sizeof(*env));
	size_t n = 0;

	if (!env)
		broken("memory");
	env_add(env, &n, "CNI_COMMAND", verb);
	env_add(env, &n, "CNI_CONTAINERID", t->cid);
	env_add(env, &n, "CNI_NETNS", t->ns);
	env_add(env, &n, "CNI_IFNAME", t->ifname);
	env_add(env, &n, "CNI_ARGS", t->args);
	env_add(env, &n, "CNI_PATH", t->path);
	env_add(env, &n, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
	for (size_t i = 0; i < sizeof(t->env) / sizeof(t->env[0]) && t->env[i]; i++)
		env[n++] = text("%s", t->env[i]);
	return env;
}

static void exec_plugin(struct t *t, const struct job *j, char **env)
{
	char *argv[] = { (char *)t->plugin, (char *)t->how.argument, NULL };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (t->how.in_pod && enter(t->ns))
		_exit(126);
	if (t->how.root && (chroot(t->how.root) || chdir("/")))
		_exit(126);
	if (t->how.cwd && chdir(t->how.cwd))
		_exit(126);
	if (j->in >= 0)
		dup2(j->in, 0);
	else
		close(0);
	dup2(j->out, 1);
	dup2(j->err, 2);
	(void)signal(SIGPIPE, SIG_DFL);
	execve(t->plugin, argv, env);
	_exit(127);
}

struct job job_start(struct t *t, const char *verb)
{
	struct job j = { .in = -1, .writer = 0, .verb = verb };
	char **env = environment(t, verb);

	open_input(t, &j);
	j.out = t->how.broken_stdout ? broken_pipe() : memory_file("", 0);
	j.err = memory_file("", 0);
	j.begin = now_ms();
	j.pid = fork();
	if (j.pid < 0)
		broken("fork");
	if (j.pid == 0)
		exec_plugin(t, &j, env);
	return j;
}

static char *read_back(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *buf = size >= 0 ? calloc(1, (size_t)size + 1) : NULL;

	if (!buf)
		return calloc(1, 1);
	if (pread(fd, buf, (size_t)size, 0) != size)
		*buf = '\0';
	return buf;
}

/* Also the kill: at the time asked for, or when the plugin hangs. */
static void await(struct t *t, struct job *j, struct rusage *usage)
{
	struct pollfd p = { .fd = pidfd_of(j->pid), .events = POLLIN };
	double limit = t->facts->slower * LIMIT_MS;
	int status = 0;

	t->overdue = 0;
	if (t->how.kill_after_us)
		usleep((useconds_t)t->how.kill_after_us);
	else if (poll(&p, 1, (int)limit) == 0)
		t->overdue = limit;
	if (t->how.kill_after_us || t->overdue > 0)
		(void)kill(j->pid, SIGKILL);
	while (wait4(j->pid, &status, 0, usage) < 0 && errno == EINTR)
		;
	if (p.fd >= 0)
		close(p.fd);
	t->rc = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	if (j->writer > 0) {
		(void)kill(j->writer, SIGKILL);
		(void)waitpid(j->writer, NULL, 0);
	}
}

/* One line that says what was done and what came of it. */
static char *tell(const struct t *t, const struct job *j)
{
	size_t len = 0;
	char **env = environment(t, j->verb);
	const char *input = t->raw ? t->raw : jtext(t->conf);
	char *line = text("%s", "");

	for (; env[len]; len++) {
		if (strncmp(env[len], "PATH=", 5) != 0)
			line = text("%s%s'%.120s'", line, len ? " " : "", env[len]);
	}
	return text("env %s | stdin %.700s | exit %d%s | stdout %.500s | stderr %.300s", line,
		    input ? one_line(input) : "", t->rc,
		    t->overdue > 0 ? " (killed at the limit)" : "", one_line(t->out),
		    one_line(t->err));
}

void job_end(struct t *t, struct job *j)
{
	struct rusage usage = { 0 };

	await(t, j, &usage);
	t->ms = now_ms() - j->begin;
	t->rss_kib = usage.ru_maxrss;
	t->out = t->how.broken_stdout ? text("%s", "") : read_back(j->out);
	t->err = read_back(j->err);
	t->doc = jparse(t->out);
	t->said = tell(t, j);
	if (j->verb && strcmp(j->verb, "ADD") == 0 && t->rc == 0 && t->doc)
		t->result = t->doc;
	close(j->in);
	close(j->out);
	close(j->err);
}

/* A wrong plugin's real one dies a moment after it. We are the first process: it is our child then.
 */
static void await_orphans(void)
{
	for (int i = 0; i < 200 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
		usleep(1000);
}

void run(struct t *t, const char *verb)
{
	struct job j = job_start(t, verb);

	job_end(t, &j);
	if (t->how.kill_after_us && strcmp(t->plugin, t->real) != 0)
		await_orphans();
	memset(&t->how, 0, sizeof(t->how));
}

void run_net(struct t *t, const char *verb)
{
	struct t saved = *t;

	t->cid = t->ns = t->ifname = t->args = NULL;
	run(t, verb);
	t->cid = saved.cid;
	t->ns = saved.ns;
	t->ifname = saved.ifname;
	t->args = saved.args;
}
