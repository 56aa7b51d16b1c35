/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.c: the container runtimes of many nodes, which start their pods at once.
 *
 *	runtime ADD-LIMIT DEL-LIMIT NODES PODS RAILS PROGRAM CONFIGURATION [FOLDER]
 *
 * Each pod calls PROGRAM (an IPAM plugin) once for each rail, one rail after the other. The name of
 * the configuration is CONFIGURATION and the number of the rail. A runtime repeats an ADD that
 * failed after a second. At the end each pod calls DEL for what it got. A phase ends after its
 * LIMIT, in seconds; its programs that still run are killed. With a FOLDER node N has its store and
 * its records in FOLDER/N/lib and FOLDER/N/run. For each phase one line:
 *
 *	VERB addresses N of N ms N p50 US p99 US max US failures N cpu MS duplicates N
 *
 * The times are those of successful calls, from the first try on; cpu is that of the programs.
 * After this line the program waits for a line, so that a script can read counters.
 */
#include "conformance/bench/bench.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define AGAIN_US  INT64_C(1000000)
#define RAILS_MAX 128

struct pod {
	int node, number;
	int rail;  /* the next one */
	pid_t pid; /* 0: no program runs */
	int out;
	int64_t began, due; /* of this rail, us; began 0: no try was made */
	char address[RAILS_MAX][48];
};

struct runtime {
	int nodes, each, rails;
	int64_t limit[2]; /* of ADD and DEL, us */
	const char *program, *conf;
	int *mounts; /* of each node a mount namespace; NULL: ours */
	struct pod *pods;
	int n, running, done;
	const char *verb;
	int64_t *took, cpu;
	int n_took, failures;
};

static int64_t us_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- nodes ---- */

static void bind_one(const char *folder, int node, const char *what, const char *over)
{
	char from[512];

	snprintf(from, sizeof(from), "%s/%d/%s", folder, node, what);
	if (mount(from, over, NULL, MS_BIND, NULL))
		fail(from);
}

/* The namespace lives as long as its descriptor. */
static int open_node(const char *folder, int node)
{
	const int ours = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	int its;

	if (ours < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		fail("a mount namespace");
	bind_one(folder, node, "lib", "/var/lib/railhead");
	bind_one(folder, node, "run", "/run/railhead");
	its = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (its < 0 || setns(ours, CLONE_NEWNS))
		fail("back to the first mount namespace");
	close(ours);
	return its;
}

/* ---- one call ---- */

/* In the child. */
static void run_program(const struct runtime *r, const struct pod *p)
{
	char conf[512], env[8][256];
	char *argv[] = { (char *)(uintptr_t)r->program, NULL };
	char *envp[9] = { NULL };
	sigset_t none;
	int in, err = open("/dev/null", O_WRONLY);

	snprintf(conf, sizeof(conf), "%s%d", r->conf, p->rail);
	in = open(conf, O_RDONLY);
	if (in < 0 || err < 0 || (r->mounts && setns(r->mounts[p->node], CLONE_NEWNS)))
		_exit(125);
	snprintf(env[0], sizeof(env[0]), "CNI_COMMAND=%s", r->verb);
	snprintf(env[1], sizeof(env[1]), "CNI_CONTAINERID=pod-%d", p->number);
	snprintf(env[2], sizeof(env[2]), "CNI_NETNS=/run/netns/pod");
	snprintf(env[3], sizeof(env[3]), "CNI_IFNAME=net%d", p->rail + 1);
	snprintf(env[4], sizeof(env[4]),
		 "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=pod-%d;"
		 "K8S_POD_UID=pod-%d;K8S_POD_INFRA_CONTAINER_ID=pod-%d",
		 p->number, p->number, p->number);
	snprintf(env[5], sizeof(env[5]), "CNI_PATH=/opt/cni/bin");
	snprintf(env[6], sizeof(env[6]), "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	snprintf(env[7], sizeof(env[7]), "NODENAME=node-%d", p->node);
	for (int i = 0; i < 8; i++)
		envp[i] = env[i];
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) == 0 && dup2(p->out, 1) == 1 && dup2(err, 2) == 2)
		(void)execve(r->program, argv, envp);
	_exit(126);
}

static void begin_call(struct runtime *r, struct pod *p)
{
	if (!p->began)
		p->began = us_now();
	p->out = memfd_create("stdout", MFD_CLOEXEC);
	if (p->out < 0)
		fail("memfd");
	p->pid = fork();
	if (p->pid < 0)
		fail("fork");
	if (p->pid == 0)
		run_program(r, p);
	r->running++;
}

static void keep_address(struct pod *p, const char *text)
{
	const char *at = strstr(text, "\"address\"");

	if (!at)
		return;
	at += strlen("\"address\"");
	at += strspn(at, " \t\n:\"");
	snprintf(p->address[p->rail], sizeof(p->address[0]), "%.*s", (int)strcspn(at, "\"/"), at);
}

static bool has_next(const struct runtime *r, struct pod *p)
{
	/* DEL is for what ADD brought. */
	while (p->rail < r->rails && r->verb[0] == 'D' && !*p->address[p->rail])
		p->rail++;
	return p->rail < r->rails;
}

static void call_failed(struct runtime *r, struct pod *p, const char *text)
{
	if (r->failures++ < 3)
		fprintf(stderr, "runtime: %s of pod %d, rail %d: %.300s\n", r->verb, p->number,
			p->rail, text);
	p->due = us_now() + AGAIN_US;
}

static void end_call(struct runtime *r, struct pod *p, int status)
{
	char text[8192];
	ssize_t n = pread(p->out, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(p->out);
	p->pid = 0;
	r->running--;
	if (r->verb[0] == 'A')
		keep_address(p, text);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !*p->address[p->rail]) {
		*p->address[p->rail] = '\0';
		call_failed(r, p, text);
		return;
	}
	r->took[r->n_took++] = us_now() - p->began;
	p->began = p->due = 0;
	p->rail++;
	r->done += !has_next(r, p);
}

/* ---- a phase ---- */

static bool reap_one(struct runtime *r)
{
	struct rusage u;
	int status, i = 0;
	const pid_t pid = wait4(-1, &status, WNOHANG, &u);

	if (pid <= 0)
		return false;
	r->cpu += (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec +
		  u.ru_stime.tv_usec;
	while (i < r->n && r->pods[i].pid != pid)
		i++;
	if (i < r->n)
		end_call(r, &r->pods[i], status);
	return true;
}

/* Begin what is due; returns when the next call is. */
static int64_t begin_due(struct runtime *r)
{
	const int64_t now = us_now();
	int64_t next = now + AGAIN_US;

	for (int i = 0; i < r->n; i++) {
		struct pod *p = &r->pods[i];

		if (p->pid || !has_next(r, p))
			continue;
		if (p->due <= now)
			begin_call(r, p);
		else if (p->due < next)
			next = p->due;
	}
	return next;
}

static void kill_rest(struct runtime *r)
{
	for (int i = 0; i < r->n; i++) {
		struct pod *p = &r->pods[i];

		if (!p->pid)
			continue;
		(void)kill(p->pid, SIGKILL);
		(void)waitpid(p->pid, NULL, 0);
		close(p->out);
		p->pid = 0;
	}
	r->running = 0;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int duplicates(const struct runtime *r)
{
	const char **all = calloc((size_t)(r->n * r->rails) + 1, sizeof(*all));
	int n = 0, found = 0;

	if (!all)
		fail("memory");
	for (int i = 0; i < r->n * r->rails; i++) {
		const char *a = r->pods[i / r->rails].address[i % r->rails];

		if (*a)
			all[n++] = a;
	}
	qsort(all, (size_t)n, sizeof(*all), compare_text);
	for (int i = 1; i < n; i++)
		found += strcmp(all[i - 1], all[i]) == 0;
	free(all);
	return found;
}

static void show(struct runtime *r, int of, int64_t took)
{
	char line[16];
	const int n = r->n_took;

	qsort(r->took, (size_t)n, sizeof(*r->took), compare_times);
	printf("%s addresses %d of %d ms %lld p50 %lld p99 %lld max %lld failures %d cpu %lld "
	       "duplicates %d\n",
	       r->verb, n, of, (long long)took / 1000, (long long)(n ? r->took[(n - 1) / 2] : 0),
	       (long long)(n ? r->took[(int64_t)(n - 1) * 99 / 100] : 0),
	       (long long)(n ? r->took[n - 1] : 0), r->failures, (long long)r->cpu / 1000,
	       duplicates(r));
	(void)fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(2);
}

static void run_phase(struct runtime *r, const char *verb, int64_t limit)
{
	const int64_t began = us_now(), end = began + limit;
	sigset_t child;
	int of = 0;

	r->verb = verb;
	r->done = r->n_took = r->failures = 0;
	r->cpu = 0;
	for (int i = 0; i < r->n; i++) {
		struct pod *p = &r->pods[i];

		p->rail = 0;
		p->began = p->due = 0;
		for (int k = 0; k < r->rails; k++)
			of += verb[0] == 'A' || *p->address[k];
		r->done += !has_next(r, p);
	}
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (r->done < r->n && us_now() < end) {
		int64_t wait = begin_due(r);

		wait = (wait < end ? wait : end) - us_now();
		wait = wait > 0 ? wait : 0;
		const struct timespec t = { wait / 1000000, wait % 1000000 * 1000 };

		(void)sigtimedwait(&child, NULL, &t);
		while (reap_one(r))
			;
	}
	const int64_t took = us_now() - began;

	kill_rest(r);
	show(r, of, took);
}

static int number(const char *text)
{
	const long v = strtol(text, NULL, 10);

	return v > 0 && v < 100000 ? (int)v : 0;
}

/* The numbers in front of PROGRAM, in their order. */
static bool read_numbers(char **argv, struct runtime *r)
{
	r->limit[0] = number(argv[1]) * INT64_C(1000000);
	r->limit[1] = number(argv[2]) * INT64_C(1000000);
	r->nodes = number(argv[3]);
	r->each = number(argv[4]);
	r->rails = number(argv[5]);
	return r->limit[0] && r->limit[1] && r->nodes && r->each && r->rails &&
	       r->rails <= RAILS_MAX;
}

static void make_pods(struct runtime *r)
{
	r->n = r->nodes * r->each;
	r->pods = calloc((size_t)r->n, sizeof(*r->pods));
	r->took = calloc((size_t)r->n * (size_t)r->rails, sizeof(*r->took));
	if (!r->pods || !r->took)
		fail("memory");
	for (int i = 0; i < r->n; i++) {
		r->pods[i].node = i % r->nodes;
		r->pods[i].number = i;
	}
}

int main(int argc, char **argv)
{
	struct runtime r = { 0 };
	sigset_t child;

	if (argc < 8 || !read_numbers(argv, &r)) {
		fprintf(stderr, "usage: runtime ADD-LIMIT DEL-LIMIT NODES PODS RAILS PROGRAM "
				"CONFIGURATION [FOLDER]\n");
		return 2;
	}
	r.program = argv[6];
	r.conf = argv[7];
	make_pods(&r);
	if (argc > 8 && !(r.mounts = calloc((size_t)r.nodes, sizeof(*r.mounts))))
		fail("memory");
	for (int i = 0; i < r.nodes && r.mounts; i++)
		r.mounts[i] = open_node(argv[8], i);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	run_phase(&r, "ADD", r.limit[0]);
	run_phase(&r, "DEL", r.limit[1]);
	return 0;
}
