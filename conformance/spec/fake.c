/* SPDX-License-Identifier: Apache-2.0 */
/* fake.c: the built-in plugin: finds out what it is, reads its input, runs its base, prints. */
#include "conformance/spec/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/spec/json.h"

static char *slurp(int fd, size_t *len)
{
	size_t size = 1 << 16, used = 0;
	char *buf = malloc(size);
	ssize_t n;

	while (buf && (n = read(fd, buf + used, size - used - 1)) > 0) {
		used += (size_t)n;
		if (size - used < 2) {
			char *more = realloc(buf, size *= 2);
			if (!more)
				break;
			buf = more;
		}
	}
	if (buf)
		buf[used] = '\0';
	*len = used;
	return buf;
}

static char *beside(const struct fake *f, const char *suffix)
{
	char *path = NULL;

	if (asprintf(&path, "%s.%s", f->self, suffix) < 0)
		_exit(2);
	return path;
}

static char *slurp_beside(const struct fake *f, const char *suffix)
{
	size_t len;
	int fd = open(beside(f, suffix), O_RDONLY | O_CLOEXEC);
	char *s = fd < 0 ? NULL : slurp(fd, &len);

	if (fd >= 0)
		close(fd);
	return s;
}

bool fake_is_one(char *self, size_t size)
{
	struct fake f;
	ssize_t n = readlink("/proc/self/exe", self, size - 16);

	if (n <= 0)
		return false;
	self[n] = '\0';
	char *deleted = strstr(self, " (deleted)");
	if (deleted)
		*deleted = '\0';
	(void)snprintf(f.self, sizeof(f.self), "%s", self);
	return access(beside(&f, "base"), F_OK) == 0;
}

static void save(const char *path, const char *data, size_t len, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

	if (fd < 0)
		return;
	(void)!write(fd, data, len);
	close(fd);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* Also finds out whether this call was made before. */
static void log_call(struct fake *f)
{
	char *line = NULL, *suffix = NULL, *log = slurp_beside(f, "log");
	int len = asprintf(&line, "%s %s %s %s\n", f->cmd, jstr(f->conf, "name"),
			   variable("CNI_CONTAINERID"), variable("CNI_IFNAME"));

	if (len < 0)
		return;
	f->again = log && strstr(log, line);
	save(beside(f, "log"), line, (size_t)len, O_APPEND);
	if (f->input && asprintf(&suffix, "%s.stdin", f->cmd) > 0)
		save(beside(f, suffix), f->input, f->input_len, O_TRUNC);
	if (asprintf(&suffix, "%s.env", f->cmd) < 0)
		return;
	save(beside(f, suffix), "", 0, O_TRUNC);
	for (char **e = environ; *e; e++) {
		save(beside(f, suffix), *e, strlen(*e), O_APPEND);
		save(beside(f, suffix), "\n", 1, O_APPEND);
	}
}

static void read_conf(struct fake *f)
{
	bool wanted = strcmp(f->cmd, "VERSION") != 0 && strcmp(f->cmd, "-") != 0;
	char probe;

	if (!wanted && !f->read_input)
		return;
	/* Leave unreadable input to the plugin that this one runs. */
	if (read(0, &probe, 0) < 0)
		return;
	f->input = slurp(0, &f->input_len);
	f->conf = jparse(f->input);
}

static void exec_real(struct fake *f, const char *real, int in, int out)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != f->pid) /* it was killed before the line above */
		_exit(1);
	(void)signal(SIGPIPE, SIG_DFL);
	if (in >= 0)
		dup2(in, 0);
	dup2(out, 1);
	if (f->mute)
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
	f->argv[0] = (char *)real;
	execve(real, f->argv, environ);
	_exit(127);
}

static void run_real(struct fake *f, const char *real)
{
	char *edited = f->conf_changed ? jtext(f->conf) : NULL;
	int in = -1, out = memfd_create("out", MFD_CLOEXEC), status = 0;
	size_t len = edited ? strlen(edited) : f->input_len;

	if (f->input) {
		in = memfd_create("in", MFD_CLOEXEC);
		(void)!write(in, edited ? edited : f->input, len);
		(void)lseek(in, 0, SEEK_SET);
	}
	pid_t pid = fork();
	if (pid == 0)
		exec_real(f, real, in, out);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	f->rc = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
	(void)lseek(out, 0, SEEK_SET);
	f->out = slurp(out, &len);
}

static void run_base(struct fake *f)
{
	char *base = slurp_beside(f, "base");

	if (!base)
		_exit(2);
	base[strcspn(base, "\n")] = '\0';
	if (strcmp(base, "pool") == 0)
		fake_pool(f);
	else if (strcmp(base, "meta") == 0)
		fake_meta(f);
	else
		run_real(f, base);
}

/* If stdout is closed, undo the ADD, as a correct plugin does. */
static void print_all(struct fake *f)
{
	const char *s = f->out;
	size_t len = strlen(s);

	while (len > 0) {
		ssize_t n = write(1, s, len);
		if (n < 0) {
			(void)setenv("CNI_COMMAND", "DEL", 1);
			run_base(f);
			_exit(1);
		}
		s += n;
		len -= (size_t)n;
	}
}

int fake_main(char *self, char **argv)
{
	struct fake f = { .cmd = getenv("CNI_COMMAND"), .argv = argv, .pid = getpid() };
	const char *deaf = variable("FAKE_DEAF");

	(void)snprintf(f.self, sizeof(f.self), "%s", self);
	(void)signal(SIGPIPE, SIG_IGN);
	if (!f.cmd || !*f.cmd)
		f.cmd = "-";
	/* A wrong plugin above asked that this command seem never to have come. */
	if (strstr(deaf, f.cmd))
		return 0;
	char *rules = slurp_beside(&f, "rules");
	f.read_input = rules && strstr(rules, "read");
	read_conf(&f);
	log_call(&f);
	if (rules)
		fake_before(&f, strdup(rules));
	if (!f.done)
		run_base(&f);
	if (rules)
		fake_after(&f, rules);
	if (f.out)
		print_all(&f);
	return f.rc;
}
