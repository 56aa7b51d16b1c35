/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c: what whole runs of CNI plugins cost. Results are lines of words on stdout.
 *
 * time ROUNDS WARM SUBJECT...: ADD and DEL of every subject in turn, so that what else the machine
 * does hits all alike: "LABEL VERB wall P10 P50 P90 cpu P10 P50 P90" in us.
 * samples ROUNDS WARM SUBJECT...: the same, each by itself: "LABEL VERB sample WALL CPU".
 * memory ROUNDS SUBJECT...: "LABEL VERB largest KIB sum KIB" (medians).
 * crowd PODS PARALLEL SUBJECT: %d in the subject's netns is 0 to PODS - 1: "LABEL crowd failures N
 * duplicates N milliseconds N". "duplicates" counts addresses that two pods got.
 * devices PODS PARALLEL SUBJECT: the same, but it is a device (pciID).
 * fill COUNT PARALLEL SUBJECT: ADD only, COUNT different containers.
 *
 * A subject is LABEL,PROGRAM,CONFIGURATION,NETNS[,HOST-NETNS]; each round has a fresh container id.
 * PROGRAM+OTHER: the other one does DEL, where the program cannot.
 * MEASURE_PAUSE: milliseconds to wait before each run of time and samples. The kernel needs tens of
 * milliseconds to remove a namespace, and holds a lock meanwhile that the next run needs.
 * Wall: CLOCK_MONOTONIC from before the spawn to after the wait. CPU: user and system time of the
 * program and all it waited for. Memory: see harness/watch.c. A call that fails ends the
 * measurement.
 */
#include "conformance/bench/bench.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "conformance/harness/watch.h"

enum { MAX_SUBJECTS = 8, MAX_ENV = 64, OUTPUT = 65536 };

struct subject {
	char text[1024];
	const char *label, *program, *undoer, *conf, *netns;
	int host; /* its network namespace, -1: ours */
};

struct call {
	char env[8][512];
	char *envp[MAX_ENV];
	int in, out;
};

struct sample {
	int64_t wall, cpu; /* us */
};

static void parse_subject(const char *text, struct subject *s)
{
	char *at = s->text;
	const char *host;

	snprintf(s->text, sizeof(s->text), "%s", text);
	s->label = strsep(&at, ",");
	char *programs = strsep(&at, ",");
	s->conf = strsep(&at, ",");
	s->netns = strsep(&at, ",");
	host = strsep(&at, ",");
	if (!s->netns) {
		fprintf(stderr, "measure: not a subject: %s\n", text);
		exit(2);
	}
	s->program = strsep(&programs, "+");
	s->undoer = programs ? programs : s->program;
	s->host = host ? open(host, O_RDONLY | O_CLOEXEC) : -1;
	if (host && s->host < 0)
		fail(host);
}

/* The environment is ours with the CNI variables on top; stdin, stdout are files, nothing blocks.
 */
static void prepare(const struct subject *s, const char *cmd, int id, const char *netns,
		    struct call *c)
{
	size_t n = 0;

	snprintf(c->env[0], sizeof(c->env[0]), "CNI_COMMAND=%s", cmd);
	snprintf(c->env[1], sizeof(c->env[1]), "CNI_CONTAINERID=%s-%d-%d", s->label, getpid(), id);
	snprintf(c->env[2], sizeof(c->env[2]), "CNI_NETNS=%s", netns);
	snprintf(c->env[3], sizeof(c->env[3]), "CNI_IFNAME=net1");
	for (; n < 4; n++)
		c->envp[n] = c->env[n];
	for (char **e = environ; *e && n < MAX_ENV - 1; e++)
		c->envp[n++] = *e;
	c->envp[n] = NULL;
	c->in = open(s->conf, O_RDONLY | O_CLOEXEC);
	c->out = memfd_create("stdout", MFD_CLOEXEC);
	if (c->in < 0 || c->out < 0)
		fail(s->conf);
	if (s->host >= 0 && setns(s->host, CLONE_NEWNET) != 0)
		fail("setns");
}

static void finish(struct call *c)
{
	close(c->in);
	close(c->out);
}

static const char *program_of(const struct subject *s, const char *cmd)
{
	return strcmp(cmd, "DEL") == 0 ? s->undoer : s->program;
}

static pid_t start(const char *program, const struct call *c)
{
	posix_spawn_file_actions_t a;
	char *argv[] = { (char *)(uintptr_t)program, NULL };
	pid_t pid;

	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, c->in, 0);
	posix_spawn_file_actions_adddup2(&a, c->out, 1);
	posix_spawn_file_actions_addopen(&a, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawn(&pid, program, &a, NULL, argv, c->envp);
	if (errno)
		fail(program);
	posix_spawn_file_actions_destroy(&a);
	return pid;
}

static size_t output(const struct call *c, char *buf, size_t size)
{
	ssize_t n = pread(c->out, buf, size - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void must_succeed(const struct subject *s, const char *cmd, const char *text, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	fprintf(stderr, "measure: %s %s failed (status 0x%x): %s\n", s->label, cmd, status, text);
	exit(1);
}

static int64_t cpu_us(const struct rusage *u)
{
	return (int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 + u->ru_utime.tv_usec +
	       u->ru_stime.tv_usec;
}

static void pause_before(void)
{
	const char *text = getenv("MEASURE_PAUSE");
	const long ms = text ? strtol(text, NULL, 10) : 0;
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	if (ms > 0)
		(void)nanosleep(&t, NULL);
}

static struct sample run(const struct subject *s, const char *cmd, int id)
{
	struct sample r;
	struct rusage u;
	struct call c;
	char text[2048];
	int status;

	prepare(s, cmd, id, s->netns, &c);
	pause_before();
	int64_t began = now_us();
	pid_t pid = start(program_of(s, cmd), &c);
	if (wait4(pid, &status, 0, &u) != pid)
		fail("wait4");
	r.wall = now_us() - began;
	r.cpu = cpu_us(&u);
	(void)output(&c, text, sizeof(text));
	must_succeed(s, cmd, text, status);
	finish(&c);
	return r;
}

/* ---- time ---- */

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t quantile(const int64_t *sorted, int n, int percent)
{
	return sorted[(int64_t)(n - 1) * percent / 100];
}

static void print_quantiles(const char *name, int64_t *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	printf(" %s %lld %lld %lld", name, (long long)quantile(v, n, 10),
	       (long long)quantile(v, n, 50), (long long)quantile(v, n, 90));
}

struct series {
	int64_t *wall, *cpu;
};

static void keep(struct series *to, int round, struct sample s)
{
	if (round < 0)
		return;
	to->wall[round] = s.wall;
	to->cpu[round] = s.cpu;
}

static const char *const cmds[] = { "ADD", "DEL" };

static int measure_samples(int rounds, int warm, const struct subject *s, int n)
{
	for (int round = -warm; round < rounds; round++)
		for (int i = 0; i < n * 2; i++) {
			struct sample x = run(&s[i / 2], cmds[i % 2], round + warm);

			if (round >= 0)
				printf("%s %s sample %lld %lld\n", s[i / 2].label, cmds[i % 2],
				       (long long)x.wall, (long long)x.cpu);
		}
	return 0;
}

static int measure_time(int rounds, int warm, const struct subject *s, int n)
{
	struct series got[MAX_SUBJECTS][2];

	for (int i = 0; i < n * 2; i++) {
		got[i / 2][i % 2].wall = calloc((size_t)rounds, sizeof(int64_t));
		got[i / 2][i % 2].cpu = calloc((size_t)rounds, sizeof(int64_t));
		if (!got[i / 2][i % 2].wall || !got[i / 2][i % 2].cpu)
			fail("memory");
	}
	for (int round = -warm; round < rounds; round++)
		for (int i = 0; i < n; i++)
			for (int v = 0; v < 2; v++)
				keep(&got[i][v], round, run(&s[i], cmds[v], round + warm));
	for (int i = 0; i < n * 2; i++) {
		printf("%s %s", s[i / 2].label, cmds[i % 2]);
		print_quantiles("wall", got[i / 2][i % 2].wall, rounds);
		print_quantiles("cpu", got[i / 2][i % 2].cpu, rounds);
		putchar('\n');
	}
	return 0;
}

/* ---- memory ---- */

static char *text_of(int fd)
{
	char *text = calloc(1, OUTPUT);

	if (!text || pread(fd, text, OUTPUT - 1, 0) <= 0)
		fail("configuration");
	return text;
}

static void run_traced(const struct subject *s, const char *cmd, int id, int64_t *largest,
		       int64_t *sum)
{
	struct watched w;
	struct call c;
	auto_exited e;

	prepare(s, cmd, id, s->netns, &c);
	char *conf = text_of(c.in);
	command_watch(
		&(struct command){ .program = program_of(s, cmd), .env = c.envp, .input = conf },
		&w, &e);
	must_succeed(s, cmd, e.out, e.status);
	free(conf);
	finish(&c);
	*largest = w.largest;
	*sum = w.sum;
}

static void memory_of(const struct subject *s, int rounds)
{
	int64_t largest[2][64], sum[2][64];

	rounds = rounds > 64 ? 64 : rounds;
	for (int round = 0; round < rounds; round++)
		for (int v = 0; v < 2; v++)
			run_traced(s, cmds[v], round, &largest[v][round], &sum[v][round]);
	for (int v = 0; v < 2; v++) {
		qsort(largest[v], (size_t)rounds, sizeof(int64_t), compare);
		qsort(sum[v], (size_t)rounds, sizeof(int64_t), compare);
		printf("%s %s largest %lld sum %lld\n", s->label, cmds[v],
		       (long long)largest[v][rounds / 2], (long long)sum[v][rounds / 2]);
	}
}

/* ---- many at once ---- */

struct job {
	pid_t pid;
	int id;
	struct call call;
};

struct crowd {
	const struct subject *s;
	const char *cmd;
	int count, parallel, failures;
	struct job *jobs;      /* parallel of them; pid 0: free */
	const char *key;       /* what must not be the same twice, in quotes */
	char (*addresses)[64]; /* its values, found in results; may be NULL */
	int n_addresses;
};

static void collect(struct crowd *w, const char *text)
{
	for (const char *at = text; (at = strstr(at, w->key)) != NULL;) {
		at += strlen(w->key);
		at += strspn(at, " \t\n:\"");
		snprintf(w->addresses[w->n_addresses++], 64, "%.*s", (int)strcspn(at, "\"/"), at);
	}
}

static void reap(struct crowd *w)
{
	char text[OUTPUT];
	int status, i = 0;
	pid_t pid = wait4(-1, &status, 0, NULL);

	while (i < w->parallel && w->jobs[i].pid != pid)
		i++;
	if (pid < 0 || i == w->parallel)
		return;
	output(&w->jobs[i].call, text, sizeof(text));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		if (w->failures++ < 3)
			fprintf(stderr, "measure: %s %s: %.500s\n", w->s->label, w->cmd, text);
	} else if (w->addresses && w->n_addresses < w->count * 2) {
		collect(w, text);
	}
	finish(&w->jobs[i].call);
	w->jobs[i].pid = 0;
}

/* The netns of a subject may hold one %d. */
static void netns_of(const struct subject *s, int id, char *out, size_t size)
{
	const char *at = strstr(s->netns, "%d");

	if (at)
		snprintf(out, size, "%.*s%d%s", (int)(at - s->netns), s->netns, id, at + 2);
	else
		snprintf(out, size, "%s", s->netns);
}

static void all(struct crowd *w)
{
	char netns[256];
	int busy = 0;

	for (int id = 0; id < w->count || busy; id++) {
		if (id < w->count) {
			struct job *j = w->jobs;

			while (j->pid)
				j++;
			netns_of(w->s, id, netns, sizeof(netns));
			prepare(w->s, w->cmd, id, netns, &j->call);
			j->pid = start(program_of(w->s, w->cmd), &j->call);
			busy++;
		}
		if (busy == w->parallel || id >= w->count - 1) {
			reap(w);
			busy--;
		}
	}
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int duplicates(const struct crowd *w)
{
	int n = 0;

	qsort(w->addresses, (size_t)w->n_addresses, sizeof(*w->addresses), compare_text);
	for (int i = 1; i < w->n_addresses; i++)
		n += strcmp(w->addresses[i - 1], w->addresses[i]) == 0;
	return n;
}

static int measure_crowd(int count, int parallel, const struct subject *s, const char *what)
{
	bool fill = what[0] == 'f';
	struct crowd w = { .s = s, .cmd = "ADD", .count = count, .parallel = parallel };

	w.key = what[0] == 'd' ? "\"pciID\"" : "\"address\"";

	w.jobs = calloc((size_t)parallel + 1, sizeof(*w.jobs));
	w.addresses = fill ? NULL : calloc((size_t)count * 2 + 64, sizeof(*w.addresses));
	if (!w.jobs || (!fill && !w.addresses))
		fail("memory");
	int64_t began = now_us();
	all(&w);
	int64_t took = now_us() - began;
	if (fill)
		return w.failures ? 1 : 0;
	/* Every success must have brought an address. */
	if (w.n_addresses < count - w.failures)
		w.failures += count - w.failures - w.n_addresses;
	w.cmd = "DEL";
	int found = duplicates(&w);
	free(w.addresses);
	w.addresses = NULL;
	all(&w);
	printf("%s crowd failures %d duplicates %d milliseconds %lld\n", s->label, w.failures,
	       found, (long long)took / 1000);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: measure time|samples ROUNDS WARM SUBJECT... |\n"
			"       memory ROUNDS SUBJECT... | crowd|devices PODS PARALLEL SUBJECT |\n"
			"       fill COUNT PARALLEL SUBJECT\n");
	return 2;
}

/* 0 for what is not a number: the callers refuse it. */
static int number(const char *text)
{
	long v = strtol(text, NULL, 10);

	return v > 0 && v < 1000000 ? (int)v : 0;
}

int main(int argc, char **argv)
{
	struct subject s[MAX_SUBJECTS];
	int first = argc > 1 && strcmp(argv[1], "memory") == 0 ? 3 : 4;

	if (argc <= first || argc - first > MAX_SUBJECTS)
		return usage();
	for (int i = first; i < argc; i++)
		parse_subject(argv[i], &s[i - first]);
	int n = argc - first, a = number(argv[2]), b = first == 4 ? number(argv[3]) : 0;
	bool timed = strcmp(argv[1], "time") == 0, sampled = strcmp(argv[1], "samples") == 0;
	if (a < 1 || (first == 4 && b < (timed || sampled ? 0 : 1)))
		return usage();
	if (timed || sampled)
		return timed ? measure_time(a, b, s, n) : measure_samples(a, b, s, n);
	if (strcmp(argv[1], "crowd") == 0 || strcmp(argv[1], "devices") == 0 ||
	    strcmp(argv[1], "fill") == 0)
		return measure_crowd(a, b, s, argv[1]);
	if (strcmp(argv[1], "memory") != 0)
		return usage();
	for (int i = 0; i < n; i++)
		memory_of(&s[i], a);
	return 0;
}
