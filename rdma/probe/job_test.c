/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_test.c: the ranks of a job and rank 0, as processes over loopback. The tests of rails
 * themselves are replaced: job_flow() here answers at once. With JOB_BENCH=RANKS it prints the
 * figures of the control plane instead, for docs/performance.md.
 */
#include "rdma/probe/job.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define MOST       1024
#define SLOW_LABEL 7127u /* the last of 15 */

/* What is wrong with a rank. */
enum rank_fault { FINE, BUSY, ABSENT, WRONG_KEY, DIES, STOPS, SLOW, NO_FLOW, LATE, TWICE, OLDER };

static enum rank_fault faults[MOST];
static unsigned own_rank;

/* ---- instead of devices ---- */

int job_facts(const struct ctx *ctx, const struct conf *c, struct job_own *out, struct err *e)
{
	(void)ctx;
	(void)c;
	(void)e;
	out->join.type = JOB_JOIN;
	out->join.n_rails = 2;
	(void)snprintf(out->join.node, JOB_NAME, "node%u", own_rank);
	if (faults[own_rank] == BUSY)
		(void)snprintf(out->join.busy, JOB_TEXT, "process 7 trains");
	if (faults[own_rank] == OLDER) {
		(void)snprintf(out->join.version, JOB_NAME, "0.1");
		out->join.blind = true;
	}
	for (size_t i = 0; i < 2; i++) {
		struct job_rail *r = &out->join.rails[i];
		*r = (struct job_rail){ .mtu = 4096, .rate_mbps = 8 };
		(void)snprintf(r->interface, JOB_NAME, "rail%zu", i);
		(void)snprintf(r->hca, JOB_NAME, "mlx5_%zu:1", i);
	}
	return 0;
}

void job_counted(const struct ctx *ctx, const struct job_own_rail *rail, char out[JOB_TEXT])
{
	(void)ctx;
	(void)rail;
	if (faults[own_rank] == SLOW)
		(void)snprintf(out, JOB_TEXT, "counted link errors +14");
}

uint64_t job_throttled(void)
{
	return 0;
}

static void answer(int fd, struct job_msg *m, enum job_type type)
{
	m->type = type;
	ck_assert_int_eq(send(fd, m, sizeof(*m), MSG_NOSIGNAL), sizeof(*m));
}

void job_flow(const struct conf *c, const struct job_own_rail *rail, const struct job_msg *prepare,
	      int fd)
{
	static struct job_msg m, got;
	uint32_t id = prepare->id;

	(void)c;
	ck_assert(!prepare->label || strcmp(prepare->interface, "rail0") == 0);
	(void)rail;
	if (faults[own_rank] == NO_FLOW)
		return;
	if (faults[own_rank] == DIES)
		(void)kill(getppid(), SIGKILL);
	if (faults[own_rank] == STOPS)
		(void)kill(getppid(), SIGSTOP);
	m = (struct job_msg){ .id = id, .n_paths = 1 };
	(void)snprintf(m.paths[0].text, JOB_PATH, "path of %u", own_rank);
	answer(fd, &m, JOB_READY);
	if (recv(fd, &got, sizeof(got), 0) != (ssize_t)sizeof(got))
		return;
	ck_assert_int_eq(got.type, JOB_GO);
	ck_assert_uint_eq(got.n_paths, 1);
	ck_assert_str_ne(got.paths[0].text, m.paths[0].text);
	m = (struct job_msg){ .id = id };
	answer(fd, &m, JOB_READY);
	if (recv(fd, &got, sizeof(got), 0) != (ssize_t)sizeof(got))
		return;
	m = (struct job_msg){ .id = id, .outcome = JUDGE_DONE, .alone = 1000000, .both = 900000 };
	if (faults[own_rank] == SLOW)
		m.alone = 400000;
	if (prepare->label)
		m.alone = prepare->label == SLOW_LABEL && prepare->first ? 300000 : prepare->label;
	answer(fd, &m, JOB_RESULT);
}

/* ---- a job ---- */

struct trial {
	struct conf conf;
	struct job_conf job;
	struct job_root root;
	struct err e;
	int rc;
	pid_t pids[MOST];
};

static struct trial run;

static void be_rank(unsigned rank)
{
	static struct job_msg end;
	struct ctx ctx;
	struct err e = { 0 };

	(void)close(run.root.listening);
	own_rank = rank;
	ctx_init(&ctx, "test");
	run.job.rank = rank;
	if (faults[rank] == WRONG_KEY)
		run.job.secret[0]++;
	if (faults[rank] == LATE)
		(void)poll(NULL, 0, 300);
	if (job_rank_run(&run.job, &ctx, &end, &e))
		_exit(99);
	_exit((int)end.status);
}

static void start(unsigned ranks)
{
	const struct ip any = { 0 };

	run.conf = (struct conf){ .gid_index = -1, .timeout_ms = 1000 };
	run.job = (struct job_conf){ .conf = &run.conf,
				     .rank0 = "127.0.0.1:7000",
				     .ranks = ranks,
				     .gather_ms = 20000,
				     .test_ms = 60000 };
	run.root = (struct job_root){ .conf = &run.job };
	run.root.listening = tcp_listen(any, 7000, &run.e);
	ck_assert_msg(run.root.listening >= 0, "%s", run.e.msg);
	for (unsigned i = 0; i < ranks; i++) {
		run.pids[i] = faults[i] == ABSENT ? 0 : fork();
		if (run.pids[i] == 0 && faults[i] != ABSENT)
			be_rank(i);
		if (faults[i] == TWICE && fork() == 0)
			be_rank(i);
	}
}

static void lead(void)
{
	char text[JOB_TEXT] = "failed";

	run.rc = job_root_run(&run.root, &run.e);
	ck_assert_msg(run.rc == 0, "%s", run.e.msg);
	job_summary(&run.root, text);
	job_root_end(&run.root, text);
}

/* The exit status of a rank; 128 and more: a signal. */
static int status_of_rank(unsigned rank)
{
	int status;

	if (faults[rank] == STOPS)
		(void)kill(run.pids[rank], SIGKILL);
	ck_assert_int_eq(waitpid(run.pids[rank], &status, 0), run.pids[rank]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static size_t count_of(enum judge_cause cause)
{
	size_t n = 0;

	for (size_t i = 0; i < run.root.n_findings; i++)
		n += run.root.findings[i].cause == cause;
	return n;
}

START_TEST(a_right_job_ends_well_for_all)
{
	net_enter_new();
	faults[3] = LATE;
	start(6);
	lead();
	ck_assert_uint_eq(run.root.n_findings, 0);
	ck_assert_uint_eq(run.root.status, 0);
	ck_assert(run.root.in_time);
	ck_assert_str_eq(run.root.names[1], "rail1");
	for (unsigned i = 0; i < 6; i++)
		ck_assert_int_eq(status_of_rank(i), 0);
	job_root_clear(&run.root);
}
END_TEST

START_TEST(a_slow_rank_is_named_and_all_end_alike)
{
	net_enter_new();
	faults[2] = SLOW;
	start(8);
	run.job.min_rate = 500000;
	lead();
	ck_assert_uint_eq(run.root.status, PROBE_OUTLIERS);
	ck_assert_uint_eq(count_of(JUDGE_SLOW), 1);
	ck_assert_uint_eq(run.root.findings[0].ends[0].rank, 2);
	ck_assert_uint_eq(run.root.findings[0].ends[0].rail, JUDGE_EVERY);
	ck_assert_str_eq(run.root.members[2].rails[1].counted, "counted link errors +14");
	ck_assert_str_eq(run.root.members[1].rails[1].counted, "");
	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(status_of_rank(i), PROBE_OUTLIERS);
	job_root_clear(&run.root);
}
END_TEST

/* Lines of other nodes and of rails that the job lacks are of the cluster. */
START_TEST(leaves_are_by_interface_or_by_device)
{
	char lines[] =
		"node0 rail0 a\nnode0 mlx5_1 b\n\nnode1 rail0 a\nnode9 rail0 x\nnode1 rail7 x\n"
		"node1 rail1 c";

	net_enter_new();
	start(3);
	run.job.leaves = lines;
	lead();
	ck_assert_uint_eq(run.root.status, 0);
	ck_assert_uint_eq(run.root.n_leaves, 3);
	ck_assert_uint_eq(run.root.ranks[0].rails[0].leaf, run.root.ranks[1].rails[0].leaf);
	ck_assert_str_eq(run.root.leaves[run.root.ranks[0].rails[1].leaf], "b");
	ck_assert_str_eq(run.root.leaves[run.root.ranks[1].rails[1].leaf], "c");
	ck_assert_uint_eq(run.root.ranks[2].rails[0].leaf, JUDGE_NONE);
	ck_assert_uint_eq(run.root.n_notes, 0);
	job_root_clear(&run.root);
}
END_TEST

/* Labels are no evidence for the judge, and only a rail with two leaves has paths to choose. */
START_TEST(flow_labels_go_between_two_leaves_and_are_not_judged)
{
	char lines[] = "node0 rail0 a\nnode1 rail0 a\nnode2 rail0 b\nnode3 rail0 b\n"
		       "node0 rail1 c\nnode1 rail1 c\nnode2 rail1 c\n";
	struct job_labels l;
	uint32_t seen = 0;

	net_enter_new();
	start(4);
	run.job.leaves = lines;
	run.job.labels = 15;
	lead();
	ck_assert_uint_eq(run.root.status, 0);
	ck_assert_uint_eq(run.root.n_findings, 0);
	ck_assert(run.root.in_time);
	job_labels_of(&run.root, 0, &l);
	ck_assert_uint_eq(l.n, 15);
	ck_assert_uint_ne(run.root.ranks[l.a].rails[0].leaf, run.root.ranks[l.b].rails[0].leaf);
	/* The labels are 1, 510, ... 6618, and one with the rate 7127 one way and 300,000 the
	 * other. */
	ck_assert_double_eq(l.slowest, 1);
	ck_assert_double_eq(l.median, 3564);
	ck_assert_double_eq(l.fastest, SLOW_LABEL);
	ck_assert_uint_eq(l.low, 4);
	ck_assert_uint_eq(l.failed, 0);
	/* one without a rate counts in no figure */
	for (size_t i = 0; i < run.root.n_cases; i++)
		if (run.root.cases[i].label == 1 && run.root.cases[i].test.rail == 0)
			run.root.cases[i].result.outcome = JUDGE_A_FAILED;
	job_labels_of(&run.root, 0, &l);
	ck_assert_uint_eq(l.n, 14);
	ck_assert_uint_eq(l.failed, 1);
	ck_assert_double_eq(l.slowest, 510);
	job_labels_of(&run.root, 1, &l);
	ck_assert_uint_eq(l.n, 0);
	for (size_t i = 0; i < run.root.n_cases; i++) {
		const struct job_case *c = &run.root.cases[i];

		ck_assert(!c->label || (c->test.a == run.root.cases[run.root.n_cases - 1].test.a &&
					c->label < 1u << 14));
		seen += c->label != 0;
	}
	ck_assert_uint_eq(seen, 15);
	job_root_clear(&run.root);
}
END_TEST

START_TEST(what_was_not_looked_at_is_said)
{
	char lines[] = "node9 rail0 a\n", wrong[] = "node0 rail0 a\nnode0 rail1\n";

	net_enter_new();
	faults[1] = OLDER;
	start(2);
	run.job.leaves = lines;
	lead();
	ck_assert_uint_eq(run.root.n_notes, 3);
	ck_assert_str_eq(run.root.notes[0],
			 "1 ranks do not know whether other processes use their rails");
	ck_assert_str_eq(run.root.notes[1],
			 "leaves are not known: --leaves has no rail of these nodes");
	ck_assert_str_eq(run.root.notes[2],
			 "ranks have different versions of rdma-probe,  and 0.1");
	job_root_clear(&run.root);
	start(2);
	run.job.leaves = wrong;
	ck_assert_int_eq(job_root_run(&run.root, &run.e), -1);
	ck_assert_str_eq(run.e.msg, "--leaves: line 2 is not \"NODE RAIL LEAF\"");
	job_root_clear(&run.root);
}
END_TEST

START_TEST(who_is_missing_is_named)
{
	char text[JOB_TEXT];

	net_enter_new();
	faults[1] = ABSENT;
	faults[4] = WRONG_KEY;
	start(6);
	run.job.gather_ms = 1000;
	lead();
	job_summary(&run.root, text);
	ck_assert_str_eq(text, "incomplete: 4 of 6 ranks came, missing: 1 4");
	ck_assert_uint_ge(run.root.refused, 1);
	ck_assert_uint_eq(run.root.n_cases, 0);
	for (unsigned i = 0; i < 6; i++) {
		if (i != 1)
			ck_assert_int_eq(status_of_rank(i), i == 4 ? 99 : PROBE_INCOMPLETE);
	}
	job_root_clear(&run.root);
}
END_TEST

START_TEST(a_rank_that_dies_costs_nothing_and_is_named)
{
	int64_t begin;

	net_enter_new();
	faults[5] = DIES;
	start(6);
	begin = ctx_mono_ms();
	lead();
	ck_assert_uint_eq(run.root.status, PROBE_OUTLIERS);
	ck_assert_uint_eq(count_of(JUDGE_BROKEN), 1);
	ck_assert_uint_eq(run.root.findings[0].ends[0].rank, 5);
	ck_assert(run.root.members[5].dead);
	/* No deadline of rank 0 was needed, which is 8 s. */
	ck_assert_int_lt(ctx_mono_ms() - begin, 7000);
	ck_assert_int_eq(status_of_rank(5), 128 + SIGKILL);
	ck_assert_int_eq(status_of_rank(0), PROBE_OUTLIERS);
	job_root_clear(&run.root);
}
END_TEST

START_TEST(a_test_that_crashes_is_the_fault_of_its_rank)
{
	net_enter_new();
	faults[1] = NO_FLOW;
	start(4);
	lead();
	ck_assert_uint_eq(count_of(JUDGE_BROKEN), 1);
	ck_assert_uint_eq(run.root.findings[0].ends[0].rank, 1);
	ck_assert(!run.root.members[1].dead);
	ck_assert_int_eq(status_of_rank(1), PROBE_OUTLIERS);
	job_root_clear(&run.root);
}
END_TEST

START_TEST(rails_in_use_are_not_loaded)
{
	char text[JOB_TEXT];

	net_enter_new();
	faults[2] = BUSY;
	start(4);
	lead();
	job_summary(&run.root, text);
	ck_assert_str_eq(text, "not tested, in use: node2: process 7 trains");
	ck_assert_uint_eq(run.root.status, PROBE_NOTHING);
	ck_assert_uint_eq(run.root.n_cases, 0);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(status_of_rank(i), PROBE_NOTHING);
	job_root_clear(&run.root);
	start(4);
	run.job.in_use = true;
	lead();
	ck_assert_uint_eq(run.root.status, 0);
	ck_assert_uint_gt(run.root.n_cases, 0);
	for (size_t i = 0; i < run.root.n_cases; i++)
		ck_assert_int_eq(run.root.cases[i].test.kind, JUDGE_REACH);
	job_root_clear(&run.root);
}
END_TEST

START_TEST(the_newer_of_two_is_the_rank)
{
	net_enter_new();
	faults[1] = TWICE;
	faults[3] = LATE;
	start(4);
	lead();
	ck_assert_uint_eq(run.root.status, 0);
	ck_assert_uint_eq(run.root.n_findings, 0);
	job_root_clear(&run.root);
}
END_TEST

/* ---- frames that are not of the job ---- */

static int connect_to_root(void)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(7000),
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

START_TEST(what_is_replayed_or_foreign_is_refused)
{
	static struct job_msg join = { .type = JOB_JOIN, .rank = 1, .ranks = 2 };
	uint8_t nonces[2 * JOB_NONCE] = { 0 }, head[JOB_HEAD];
	struct job_way way = { .n = 0 };
	int fds[4];

	net_enter_new();
	faults[1] = ABSENT;
	start(2);
	run.job.gather_ms = 1500;
	for (size_t i = 0; i < 4; i++) {
		auto_free char *text = job_msg_print(&join);
		fds[i] = connect_to_root();
		if (fork())
			continue;
		/* 0: bytes of another program. 1: a right frame of another connection. 2: too long.
		 * 3: silence, which counts as nothing. */
		ck_assert_int_eq(recv(fds[i], nonces, JOB_NONCE, MSG_WAITALL), JOB_NONCE);
		if (i == 1)
			memset(nonces, 7, JOB_NONCE);
		job_key(run.job.secret, nonces, way.key);
		job_seal(&way, text, strlen(text), head);
		if (i == 2)
			head[0] = 0xff;
		if (i < 3) {
			ck_assert_int_eq(send(fds[i], nonces + JOB_NONCE, JOB_NONCE, 0), JOB_NONCE);
			ck_assert_int_eq(send(fds[i],
					      i ? head
						: (const uint8_t *)"GET / HTTP/1.1\r\n"
								   "Host: rank0.example"
								   "\r\n\r\n",
					      JOB_HEAD, 0),
					 JOB_HEAD);
			(void)!send(fds[i], text, strlen(text), MSG_NOSIGNAL);
		}
		_exit(0);
	}
	lead();
	ck_assert_uint_eq(run.root.joined, 1);
	ck_assert_uint_eq(run.root.refused, 3);
	ck_assert_uint_eq(run.root.status, PROBE_INCOMPLETE);
	for (size_t i = 0; i < 4; i++)
		(void)close(fds[i]);
	job_root_clear(&run.root);
}
END_TEST

/* ---- figures ---- */

static void bench(unsigned ranks, enum rank_fault last, unsigned absent)
{
	struct rusage use;
	int64_t begin;

	memset(faults, 0, sizeof(faults));
	faults[ranks - 1] = last;
	for (unsigned i = 0; i < absent; i++)
		faults[1 + 2 * i] = ABSENT;
	begin = ctx_mono_ms();
	start(ranks);
	run.job.gather_ms = absent ? 10000 : 120000;
	run.job.test_ms = 30000;
	lead();
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &use), 0);
	(void)printf(
		"%u ranks, %u missing, last %s: %u came, %zu tests in %.1f s of %.1f s, rank 0 %ld "
		"MB, "
		"%zu findings, status %u\n",
		ranks, absent, last == STOPS ? "stopped" : "fine", run.root.joined,
		run.root.n_cases, run.root.seconds, (double)(ctx_mono_ms() - begin) / 1000,
		use.ru_maxrss / 1024, run.root.n_findings, run.root.status);
	(void)fflush(stdout);
	for (unsigned i = 0; i < ranks; i++) {
		if (run.pids[i])
			(void)status_of_rank(i);
	}
	job_root_clear(&run.root);
}

START_TEST(figures_of_the_control_plane)
{
	const char *text = getenv("JOB_BENCH");
	unsigned ranks = text ? (unsigned)strtoul(text, NULL, 10) : 8;

	net_enter_new();
	ck_assert_uint_le(ranks, MOST);
	bench(ranks, FINE, 0);
	if (!text)
		return;
	bench(ranks, STOPS, 0);
	bench(ranks, FINE, ranks / 2);
}
END_TEST

TEST_PROGRAM("rdma/probe/job", a_right_job_ends_well_for_all,
	     a_slow_rank_is_named_and_all_end_alike, who_is_missing_is_named,
	     leaves_are_by_interface_or_by_device,
	     flow_labels_go_between_two_leaves_and_are_not_judged, what_was_not_looked_at_is_said,
	     a_rank_that_dies_costs_nothing_and_is_named,
	     a_test_that_crashes_is_the_fault_of_its_rank, the_newer_of_two_is_the_rank,
	     rails_in_use_are_not_loaded, what_is_replayed_or_foreign_is_refused,
	     figures_of_the_control_plane)
