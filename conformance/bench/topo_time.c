/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo_time.c: what whole runs of commands cost.
 *
 * usage: topo_time ROUNDS LABEL COMMAND... [-- LABEL COMMAND...]...
 * Each command in turn, ROUNDS times, so that what else the machine does hits all alike; its output
 * goes nowhere. A line for each: "LABEL run wall P10 P50 P90 cpu P10 P50 P90 largest KIB", times in
 * us, KIB the largest resident set of all runs. A command that fails ends the measurement.
 */
#include "conformance/bench/bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "conformance/harness/process.h"

enum { MAX_SUBJECTS = 8 };

struct subject {
	const char *label;
	char **argv;
	int64_t *wall, *cpu; /* us */
	long largest;
};

static int64_t us(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static void run(struct subject *s, int round)
{
	posix_spawn_file_actions_t to;
	struct rusage u;
	int status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_addopen(&to, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	int64_t start = now_us();
	if (!s->argv[0])
		fail(s->label);
	errno = posix_spawnp(&pid, s->argv[0], &to, NULL, s->argv, environ);
	if (errno || wait4(pid, &status, 0, &u) < 0)
		fail(s->argv[0]);
	s->wall[round] = now_us() - start;
	s->cpu[round] = us(u.ru_utime) + us(u.ru_stime);
	if (u.ru_maxrss > s->largest)
		s->largest = u.ru_maxrss;
	posix_spawn_file_actions_destroy(&to);
	if (status) {
		fprintf(stderr, "topo_time: %s failed (status %#x)\n", s->label, (unsigned)status);
		exit(1);
	}
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *what, int64_t *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	printf(" %s %lld %lld %lld", what, (long long)v[n / 10], (long long)v[n / 2],
	       (long long)v[n * 9 / 10]);
}

int main(int argc, char **argv)
{
	struct subject s[MAX_SUBJECTS] = { { 0 } };
	int n = 0, rounds = argc > 3 ? (int)strtol(argv[1], NULL, 10) : 0;

	for (int i = 2; rounds > 0 && i + 1 < argc && n < MAX_SUBJECTS; n++) {
		s[n].label = argv[i++];
		s[n].argv = argv + i;
		s[n].wall = calloc((size_t)rounds, sizeof(int64_t));
		s[n].cpu = calloc((size_t)rounds, sizeof(int64_t));
		if (!s[n].wall || !s[n].cpu)
			fail("memory");
		while (i < argc && strcmp(argv[i], "--") != 0)
			i++;
		if (i < argc)
			argv[i++] = NULL;
	}
	if (n == 0) {
		fprintf(stderr,
			"usage: topo_time ROUNDS LABEL COMMAND... [-- LABEL COMMAND...]...\n");
		return 2;
	}
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < n; i++)
			run(&s[i], round);
	}
	for (int i = 0; i < n; i++) {
		printf("%s run", s[i].label);
		print("wall", s[i].wall, rounds);
		print("cpu", s[i].cpu, rounds);
		printf(" largest %ld\n", s[i].largest);
	}
	return 0;
}
