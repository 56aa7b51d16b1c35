/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_job.c: `rdma-probe job`: do the rails carry this job, and which of them do not. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/base/parse.h"
#include "rdma/probe/job.h"

#define KEY_MAX    4096u
#define LEAVES_MAX (4u << 20)
#define WORDS_MAX  4096u
#define GATHER_S   120
#define TEST_S     30
#define PIECE      262144u /* four queue pairs of a rail have 2 MiB of memory */

static const struct opt options[] = {
	{ "rank0", "HOST[:PORT]", "where rank 0 is (rank 0 itself: the address to listen on)", 0 },
	{ "rank", "N", "the own rank, from 0 (default: JOB_COMPLETION_INDEX)", 0 },
	{ "ranks", "N", "the number of ranks, up to 1024", 0 },
	{ "node", "NAME", "the name of the own node (default: NODE_NAME, else the host name)", 0 },
	{ "key-file", "FILE",
	  "the key of the job; \"-\": standard input up to a form feed, and the program ends when "
	  "it is closed (default: RAILHEAD_JOB_KEY)",
	  0 },
	{ "leaves", "FILE",
	  "rank 0: lines \"NODE RAIL LEAF\", where each rail is plugged in; RAIL is an "
	  "interface or an RDMA device; \"-\": standard input, behind the key",
	  0 },
	{ "gather", "SECONDS", "how long to wait for all ranks (default: 120)", 0 },
	{ "seconds", "SECONDS", "how long to test (default: 30)", 0 },
	{ "in-use", NULL, "test reach alone, also while other processes use the rails", 0 },
	{ "min-gbps", "N", "a slow rail fails below this rate (default: it only warns)", 0 },
	{ "memory", "KIND",
	  "of tests of rates: host, cuda (of a GPU), or auto (cuda where it can be; default: host)",
	  0 },
	{ "labels", "N", "afterwards, each rail across leaves by 1 to 32 flow labels; not judged",
	  0 },
	{ "device", "NAME", "rails of this RDMA device only", 0 },
	{ "size", "BYTES", "size of a write, up to 256K (default: 256K)", 0 },
	{ "tc", "N", "traffic class, 0 to 255 (default: NCCL_IB_TC, else that of the system)", 0 },
	{ NULL, NULL, NULL, 0 },
};

/* ---- options ---- */

struct bounds {
	const char *name;
	uint64_t min, max;
};

static int number(struct cmd_run *p, struct bounds b, uint64_t *out, struct err *e)
{
	const char *text = opt_get(&p->opts, b.name);

	if (text && parse_u64(text, b.min, b.max, out))
		return cmd_usage(p, e, "option --%s \"%.32s\" must be %llu to %llu", b.name, text,
				 (unsigned long long)b.min, (unsigned long long)b.max);
	return 0;
}

/*
 * Whoever has the other end of standard input stops the test by closing it: "kubectl exec" was
 * interrupted. A child waits for that.
 */
static int watch_stdin(struct err *e)
{
	char more[256];
	pid_t parent = getpid();

	switch (fork()) {
	case -1:
		return err_set(e, ERR_IO, errno,
			       "starting the process that watches standard input");
	case 0:
		/* The parent may have ended before: the child of an exec would keep its output
		 * open. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent && read(STDIN_FILENO, more, sizeof(more)) > 0)
			;
		if (getppid() == parent)
			(void)kill(parent, SIGTERM);
		_exit(0);
	default:
		return 0;
	}
}

/* The key is hashed: it may have any length. */
static int read_key(struct cmd_run *p, uint8_t out[SHA256_LEN], struct err *e)
{
	const char *path = opt_get(&p->opts, "key-file"), *text = getenv("RAILHEAD_JOB_KEY");
	const struct cmd_input in = { path, "--key-file ", KEY_MAX };
	auto_free char *file = NULL;
	size_t len = text ? strlen(text) : 0;

	if (path && strcmp(path, "-") == 0 && p->opts.n_words)
		return cmd_usage(p, e, "--key-file -: standard input belongs to the command");
	if (path) {
		if (cmd_read(&in, &file, &len, e))
			return -1;
		text = file;
	}
	/* A file that a person wrote ends with a newline. */
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	if (!len)
		return cmd_usage(p, e,
				 "job needs a key that all ranks share: --key-file FILE, or the "
				 "variable RAILHEAD_JOB_KEY");
	sha256(text, len, out);
	return 0;
}

static int read_memory(struct cmd_run *p, struct job_conf *c, struct err *e)
{
	static const char *const kinds[] = {
		[JOB_MEMORY_HOST] = "host", [JOB_MEMORY_AUTO] = "auto", [JOB_MEMORY_CUDA] = "cuda"
	};
	const char *text = opt_get(&p->opts, "memory");

	for (size_t i = 0; text && i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(text, kinds[i]) == 0) {
			c->memory = (enum job_memory)i;
			return 0;
		}
	}
	return text ? cmd_usage(p, e, "option --memory \"%.32s\" is not host, auto or cuda", text)
		    : 0;
}

static int read_conf(struct cmd_run *p, struct job_conf *c, struct err *e)
{
	const char *index = getenv("JOB_COMPLETION_INDEX"), *key = opt_get(&p->opts, "key-file");
	const struct cmd_input leaves = { opt_get(&p->opts, "leaves"), "--leaves ", LEAVES_MAX };
	size_t len;
	uint64_t ranks = 0, rank = JOB_RANKS, gather = GATHER_S, seconds = TEST_S, gbps = 0,
		 labels = 0;

	c->rank0 = opt_get(&p->opts, "rank0");
	c->node = opt_get(&p->opts, "node");
	c->in_use = opt_is_set(&p->opts, "in-use");
	if (index && parse_u64(index, 0, JOB_RANKS - 1, &rank))
		return cmd_usage(p, e, "JOB_COMPLETION_INDEX \"%.32s\" is not a rank", index);
	if (number(p, (struct bounds){ "ranks", 2, JOB_RANKS }, &ranks, e) ||
	    number(p, (struct bounds){ "rank", 0, JOB_RANKS - 1 }, &rank, e) ||
	    number(p, (struct bounds){ "gather", 1, 3600 }, &gather, e) ||
	    number(p, (struct bounds){ "seconds", 5, 3600 }, &seconds, e) ||
	    number(p, (struct bounds){ "labels", 1, JOB_LABELS }, &labels, e) ||
	    number(p, (struct bounds){ "min-gbps", 1, 100000 }, &gbps, e))
		return -1;
	if (labels && c->in_use)
		return cmd_usage(p, e, "--labels loads the rails: it cannot be with --in-use");
	if (!c->rank0 || !ranks)
		return cmd_usage(p, e, "job needs --rank0 HOST and --ranks N");
	if (rank >= ranks)
		return cmd_usage(p, e,
				 "job needs --rank N, from 0 to %llu, or JOB_COMPLETION_INDEX",
				 (unsigned long long)ranks - 1);
	c->rank = (uint32_t)rank;
	c->ranks = (uint32_t)ranks;
	c->gather_ms = (int)gather * 1000;
	c->test_ms = (int)seconds * 1000;
	if (read_memory(p, c, e))
		return -1;
	c->labels = (uint32_t)labels;
	c->min_rate = (double)gbps * 1e9 / 8;
	if (read_key(p, c->secret, e) || (leaves.path && cmd_read(&leaves, &c->leaves, &len, e)))
		return -1;
	return key && strcmp(key, "-") == 0 ? watch_stdin(e) : 0;
}

/* ---- rank 0 ---- */

static int listen_at(const struct job_conf *c, struct peer *at, struct err *e)
{
	const char *colon = strrchr(c->rank0, ':');
	uint64_t port = PEERS_PORT;
	struct err ignored = { 0 };

	/* A name is for the other ranks: this one listens at all of its addresses. */
	if (peer_parse(c->rank0, PEERS_PORT, at, &ignored)) {
		at->addr = (struct ip){ 0 };
		if (colon && parse_u64(colon + 1, 1, 65535, &port))
			return err_set(e, ERR_CONFIG, 0,
				       "--rank0 %.128s: the port is not 1 to 65535", c->rank0);
		at->port = (uint16_t)port;
	}
	return tcp_listen(at->addr, at->port, e);
}

/* The rank beside: its own process, which ends when this one does. */
static pid_t start_rank(const struct job_conf *c, const struct ctx *ctx, const struct peer *at)
{
	char self[PEER_TEXT_LEN + 8];
	pid_t parent = getpid(), pid = fork();
	struct job_conf own = *c;
	struct job_msg *end;
	struct err e = { 0 };

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	end = calloc(1, sizeof(*end));
	if (at->addr.family == IP_NONE)
		(void)snprintf(self, sizeof(self), "127.0.0.1:%u", at->port);
	else
		(void)snprintf(self, sizeof(self), "%s", c->rank0);
	own.rank0 = self;
	if (end && getppid() == parent && job_rank_run(&own, ctx, end, &e))
		out_complain("rdma-probe", &e);
	_exit(0);
}

static int lead(struct cmd_run *p, const struct job_conf *c, struct err *e)
{
	struct job_root r = { .conf = c, .listening = -1 };
	char text[JOB_TEXT] = "rank 0 failed";
	struct peer at;
	int rc = -1;

	r.listening = listen_at(c, &at, e);
	if (r.listening < 0)
		return -1;
	r.status = CMD_FAILED;
	r.own = start_rank(c, &p->ctx, &at);
	if (r.own < 0)
		err_set(e, ERR_IO, errno, "starting the process of rank 0");
	else
		rc = job_root_run(&r, e);
	r.when = p->ctx.now(p->ctx.clock);
	if (!rc)
		job_summary(&r, text);
	job_root_end(&r, text);
	if (!rc)
		rc = job_show(&p->out, &r, e);
	p->status = (int)r.status;
	job_root_clear(&r);
	if (r.own > 0)
		(void)waitpid(r.own, NULL, 0);
	return rc;
}

/* ---- another rank ---- */

static int follow(struct cmd_run *p, const struct job_conf *c, struct err *e)
{
	auto_free struct job_msg *end = calloc(1, sizeof(*end));

	if (!end)
		return err_nomem(e);
	if (job_rank_run(c, &p->ctx, end, e))
		return -1;
	p->status = (int)end->status;
	if (!p->out.json)
		out_line(&p->out, end->status ? OUT_BAD : OUT_GOOD, "rank %u: %s", c->rank,
			 end->text);
	return 0;
}

/* ---- as a gate ---- */

/* The command of the job, which takes the place of this process. */
static int run_command(const struct cmd_run *p, struct err *e)
{
	auto_free char **argv = calloc(p->opts.n_words + 1, sizeof(*argv));

	if (!argv)
		return err_nomem(e);
	memcpy(argv, p->opts.words, p->opts.n_words * sizeof(*argv));
	(void)fflush(NULL);
	(void)execvp(argv[0], argv);
	return err_set(e, ERR_IO, errno, "cannot run %.128s", argv[0]);
}

static int run_job(struct cmd_run *p, struct err *e)
{
	struct conf own = *probe_conf(p);
	struct job_conf c = { .conf = &own };
	int rc;

	if (!opt_is_set(&p->opts, "size"))
		own.size = PIECE;
	if (own.size > PIECE)
		return cmd_usage(p, e, "option --size %u must be up to 256K", own.size);
	if (read_conf(p, &c, e))
		return -1;
	/* Standard output belongs to the command. */
	if (p->opts.n_words)
		p->out.to = stderr;
	rc = c.rank ? follow(p, &c, e) : lead(p, &c, e);
	free(c.leaves);
	if (rc)
		return -1;
	return p->opts.n_words && p->status == CMD_OK ? run_command(p, e) : 0;
}

const struct cmd probe_job = {
	.name = "job",
	.summary = "say whether the rails carry a job, and which of them do not",
	.words = "[-- COMMAND...]",
	.max_words = WORDS_MAX,
	.about =
		"Run it on every rank. Rank 0 leads, and prints the verdict. Rails are tested for "
		"reach, then for rates with changing partners, one rail at a time and all at once. "
		"Exit status 7: a rail fails. 8: not all ranks came. COMMAND runs if the rails "
		"carry the "
		"job, instead of this program.",
	.opts = { options },
	.run = run_job,
};
