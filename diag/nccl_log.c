// SPDX-License-Identifier: Apache-2.0
/* Reads the lines of NCCL that a job printed. */
#include "diag/nccl_log.h"

#include <string.h>

#include "lib/base/array.h"

/* ---- slices ---- */

static const char *nccl_log_find(struct slice s, const char *word)
{
	return s.len ? memmem(s.p, s.len, word, strlen(word)) : NULL;
}

/* The rest behind a word; p NULL: the word is not there. */
static struct slice nccl_log_behind(struct slice s, const char *word)
{
	const char *at = nccl_log_find(s, word);

	if (!at)
		return (struct slice){ NULL, 0 };
	at += strlen(word);
	return (struct slice){ at, s.len - (size_t)(at - s.p) };
}

/* The part before the first of these characters. */
static struct slice until(struct slice s, const char *stop)
{
	size_t n = 0;

	while (n < s.len && !strchr(stop, s.p[n]))
		n++;
	return (struct slice){ s.p, n };
}

static struct slice skip(struct slice s, size_t n)
{
	n = n < s.len ? n : s.len;
	return (struct slice){ s.p + n, s.len - n };
}

/* A decimal number at the beginning; -1: there is none, or it is too large. */
static long nccl_log_take_number(struct slice *s)
{
	long n = 0;
	size_t i = 0;

	for (; i < s->len && s->p[i] >= '0' && s->p[i] <= '9'; i++) {
		n = n * 10 + (s->p[i] - '0');
		if (n > INT32_MAX)
			return -1;
	}
	*s = skip(*s, i);
	return i ? n : -1;
}

/* ---- the beginning of a line: "host:pid:tid [0] NCCL INFO " ---- */

struct line {
	struct slice host, pid, text;
	uint32_t cuda;
};

/* Cut the last word off, which begins behind a space or another `stop`. */
static struct slice last_word(struct slice *s, const char *stop)
{
	struct slice word;
	size_t n = s->len;

	while (n && !strchr(stop, s->p[n - 1]))
		n--;
	word = (struct slice){ s->p + n, s->len - n };
	s->len = n ? n - 1 : 0;
	return word;
}

static bool nccl_log_parse_line(struct slice s, struct line *out)
{
	static const char mark[] = " NCCL INFO ";
	const char *at = nccl_log_find(s, mark);
	struct slice head, word, who;
	long cuda;

	if (!at)
		return false;
	head = (struct slice){ s.p, (size_t)(at - s.p) };
	out->text = skip(s, head.len + strlen(mark));
	word = last_word(&head, " ");
	if (!slice_begins(word, "["))
		return false;
	word = skip(word, 1);
	cuda = nccl_log_take_number(&word);
	who = last_word(&head, " ");
	(void)last_word(&who, ":"); /* the thread */
	out->pid = last_word(&who, ":");
	out->host = last_word(&who, ":>"); /* behind "[1,0]<stdout>:" */
	out->cuda = (uint32_t)cuda;
	return cuda >= 0 && slice_is(word, "]") && out->pid.len && out->host.len;
}

/* ---- processes and GPUs ---- */

static int get_gpu(struct nccl_log *log, const struct line *l, struct nccl_log_gpu **out,
		   struct err *e)
{
	size_t p = log->n_processes, g;

	/* Backwards, because lines of one process follow each other. */
	while (p && !(slice_same(log->process[p - 1].pid, l->pid) &&
		      slice_same(log->process[p - 1].host, l->host)))
		p--;
	if (!p) {
		const struct array_kind kind = { sizeof(*log->process), NCCL_LOG_GPUS_MAX,
						 "processes in the log", ERR_EXHAUSTED };

		if (array_grow(&log->process, log->n_processes, 1, kind, e))
			return -1;
		log->process[log->n_processes++] =
			(struct nccl_log_process){ .host = l->host, .pid = l->pid };
		p = log->n_processes;
	}
	for (g = log->n_gpus; g; g--) {
		if (log->gpu[g - 1].process == p - 1 && log->gpu[g - 1].cuda == l->cuda)
			break;
	}
	if (!g) {
		const struct array_kind kind = { sizeof(*log->gpu), NCCL_LOG_GPUS_MAX,
						 "GPUs in the log", ERR_EXHAUSTED };

		if (array_grow(&log->gpu, log->n_gpus, 1, kind, e))
			return -1;
		log->gpu[log->n_gpus++] =
			(struct nccl_log_gpu){ .process = (uint32_t)(p - 1), .cuda = l->cuda };
		g = log->n_gpus;
	}
	*out = &log->gpu[g - 1];
	return 0;
}

/* ---- messages ---- */

/* "[0]mlx5_0:1/RoCE [1]={[0] a:1/RoCE, [1] b:1/RoCE} [RO]; OOB eth0:10.0.0.1<0>" */
static void take_devices(struct nccl_log_process *p, struct slice s)
{
	s = until(s, ";");
	while (s.len) {
		struct slice name;
		long n;

		s = nccl_log_behind(s, "[");
		if (!s.p)
			return;
		n = nccl_log_take_number(&s);
		if (n < 0 || n >= NCCL_LOG_NETS_MAX || !slice_begins(s, "]"))
			continue;
		s = skip(s, 1);
		if (slice_begins(s, "={")) {
			s = skip(s, 2);
			name = until(s, "}");
		} else {
			name = until(s, ":/ ");
		}
		p->net[n] = name;
		s = skip(s, name.len);
	}
}

/* "NET/IB : Made virtual device [4] name=mlx5_0+mlx5_1 speed=400000 ndevs=2" */
static void take_fused(struct nccl_log_process *p, struct slice s)
{
	long n = nccl_log_take_number(&s);

	s = nccl_log_behind(s, "name=");
	if (s.p && n >= 0 && n < NCCL_LOG_NETS_MAX)
		p->net[n] = until(s, " ");
}

/* "busId 1b000": NCCL's number has 20 bits of domain, 8 of bus, 8 of device and 4 of function. */
static void nccl_log_take_address(struct nccl_log_gpu *g, struct slice s)
{
	uint64_t id = 0;
	size_t i = 0;

	for (; i < s.len && i < 16 && hex_digit(s.p[i]) >= 0; i++)
		id = id << 4 | (uint64_t)hex_digit(s.p[i]);
	if (!i || (id >> 4 & 0xff) > 31 || (id & 0xf) > 7 || id >> 40)
		return;
	g->has_addr = true;
	g->addr = (struct pci_addr){ .domain = (uint32_t)(id >> 20),
				     .bus = (uint8_t)(id >> 12),
				     .dev = (uint8_t)(id >> 4),
				     .fn = (uint8_t)(id & 0xf) };
}

/* "IB/0/GDRDMA", "IB/3(5)/GDRDMA(PCI)/Shared": (5) is the rank whose device sends. */
static void take_connection(struct nccl_log_gpu *g, bool sends, struct slice s)
{
	struct nccl_log_count *count = sends ? &g->sends : &g->receives;
	struct slice net = until(s, "/");
	long n;

	s = skip(s, net.len + 1);
	n = nccl_log_take_number(&s);
	if (n < 0 || n >= NCCL_LOG_NETS_MAX)
		return;
	if (slice_begins(s, "(")) {
		g->through_others++;
		return;
	}
	g->nets |= UINT64_C(1) << n;
	if (nccl_log_find(s, "/GDRDMA"))
		count->gdr++;
	else
		count->no_gdr++;
}

/* "NCCL_IB_HCA set by environment to mlx5", "NCCL_IB_HCA set to mlx5" */
static int take_setting(struct nccl_log *log, struct slice s, struct slice value, struct err *e)
{
	const struct array_kind kind = { sizeof(*log->set), NCCL_LOG_SETS_MAX,
					 "settings in the log", ERR_EXHAUSTED };
	struct slice name = until(s, " ");

	if (value.len && value.p[value.len - 1] == '.')
		value.len--;
	for (size_t i = 0; i < log->n_sets; i++)
		if (slice_same(log->set[i].name, name))
			return 0;
	if (array_grow(&log->set, log->n_sets, 1, kind, e))
		return -1;
	log->set[log->n_sets++] = (struct nccl_log_set){ name, value };
	return 0;
}

/* "2.20.5+cuda12.4", or of RCCL ": 2.30.4-HEAD:2b22ab0" */
static void take_version(struct nccl_log_process *p, struct slice s, bool rccl)
{
	if (slice_begins(s, ": "))
		s = skip(s, strlen(": "));
	p->version = until(s, " ");
	p->rccl = rccl;
}

/*
 * "NCCL version 2.21.5+cuda12.4" alone, or behind what a launcher writes: "[1,0]<stdout>:". Other
 * programs have sentences about it, too: then no version follows.
 */
static void take_bare_version(struct nccl_log *log, struct slice line)
{
	struct slice rest = nccl_log_behind(line, "NCCL version ");

	if (!log->version.p && rest.len && rest.p[0] >= '0' && rest.p[0] <= '9')
		log->version = until(rest, " ");
}

static int take_message(struct nccl_log *log, const struct line *l, struct err *e)
{
	struct nccl_log_process *p;
	struct nccl_log_gpu *g;
	struct slice s = l->text, rest;

	if (get_gpu(log, l, &g, e))
		return -1;
	p = &log->process[g->process];
	if (slice_begins(s, "NCCL_")) {
		rest = nccl_log_behind(s, " set by environment to ");
		rest = rest.p ? rest : nccl_log_behind(s, " set to ");
		return rest.p ? take_setting(log, s, rest, e) : 0;
	}
	if ((rest = nccl_log_behind(s, "Made virtual device [")).p)
		take_fused(p, rest);
	else if ((rest = nccl_log_behind(s, "NET/IB : Using ")).p)
		take_devices(p, rest);
	else if (slice_begins(s, "Using network "))
		p->network = skip(s, strlen("Using network "));
	else if ((rest = nccl_log_behind(s, "CCL version ")).p)
		take_version(p, rest, slice_begins(s, "RCCL"));
	else if (slice_begins(s, "Channel ") && (rest = nccl_log_behind(s, " via NET/")).p)
		take_connection(g, nccl_log_find(s, " [send] "), rest);
	else if (nccl_log_find(s, " nranks ") && (rest = nccl_log_behind(s, " busId ")).p)
		nccl_log_take_address(g, rest);
	return 0;
}

/* ---- the text ---- */

int nccl_log_read(const char *text, size_t len, struct nccl_log *out, struct err *e)
{
	struct slice rest = { text, len }, one;

	while (slice_next(&rest, '\n', &one)) {
		struct line l;

		if (one.len && one.p[one.len - 1] == '\r')
			one.len--;
		if (!nccl_log_parse_line(one, &l)) {
			take_bare_version(out, one);
		} else if (take_message(out, &l, e)) {
			nccl_log_clear(out);
			return -1;
		}
	}
	return 0;
}

void nccl_log_clear(struct nccl_log *log)
{
	free(log->process);
	free(log->gpu);
	free(log->set);
	*log = (struct nccl_log){ 0 };
}
