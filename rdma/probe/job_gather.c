/* SPDX-License-Identifier: Apache-2.0 */
/* job_gather.c: rank 0 waits for the ranks, and numbers their rails, leaves and models. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/array.h"
#include "rdma/probe/job.h"

#define LOOK_MS  500 /* how often to look whether the own rank has ended */
#define LATE_MAX 64u /* connections that have not said yet which rank they are */

/* ---- who came ---- */

struct gather {
	struct job_root *r;
	struct job_link waiting[LATE_MAX];
	struct job_msg msg;
};

static void refuse(struct gather *g, struct job_link *l)
{
	g->r->refused++;
	job_link_close(l);
}

/* A rank that comes twice was restarted: the new one counts. */
static int seat(struct gather *g, struct job_link *l, struct err *e)
{
	struct job_root *r = g->r;
	const struct job_msg *m = &g->msg;

	if (m->type != JOB_JOIN || m->ranks != r->conf->ranks || m->rank >= m->ranks) {
		refuse(g, l);
		return 0;
	}
	struct job_member *member = &r->members[m->rank];
	struct job_rail *rails = calloc(m->n_rails + 1, sizeof(*rails));
	if (!rails)
		return err_nomem(e);
	memcpy(rails, m->rails, m->n_rails * sizeof(*rails));
	if (member->joined) {
		job_link_close(&member->link);
		free(member->rails);
	} else {
		r->joined++;
	}
	*member = (struct job_member){
		.link = *l, .joined = true, .rails = rails, .n_rails = m->n_rails
	};
	memcpy(member->node, m->node, sizeof(member->node));
	memcpy(member->host, m->host, sizeof(member->host));
	memcpy(member->version, m->version, sizeof(member->version));
	memcpy(member->busy, m->busy, sizeof(member->busy));
	member->blind = m->blind;
	*l = (struct job_link){ .fd = -1 };
	return 0;
}

/* If all places are taken by connections that say nothing, the oldest goes. */
static struct job_link *free_place(struct gather *g)
{
	for (size_t i = 0; i < LATE_MAX; i++) {
		if (g->waiting[i].fd < 0)
			return &g->waiting[i];
	}
	refuse(g, &g->waiting[0]);
	memmove(g->waiting, g->waiting + 1, (LATE_MAX - 1) * sizeof(*g->waiting));
	return &g->waiting[LATE_MAX - 1];
}

static void take_one(struct gather *g)
{
	const struct tcp_wait wait = { .listening = g->r->listening };
	struct tcp tcp = TCP_NONE;
	struct err why = { 0 };

	if (tcp_accept(&wait, &tcp, &why))
		return;
	struct job_link *l = free_place(g);
	if (job_link_open(l, tcp.fd, true, g->r->conf->secret, &why))
		refuse(g, l);
}

static int gather_step(struct gather *g, int wait_ms, struct err *e)
{
	struct pollfd p[LATE_MAX + 1] = { { .fd = g->r->listening, .events = POLLIN } };

	for (size_t i = 0; i < LATE_MAX; i++)
		p[i + 1] = (struct pollfd){ .fd = g->waiting[i].fd, .events = POLLIN };
	(void)poll(p, LATE_MAX + 1, wait_ms);
	for (size_t i = 0; i < LATE_MAX; i++) {
		struct err why = { 0 };
		if (!p[i + 1].revents)
			continue;
		int rc = job_link_read(&g->waiting[i], &g->msg, &why);
		if (rc < 0)
			refuse(g, &g->waiting[i]);
		if (rc > 0 && seat(g, &g->waiting[i], e))
			return -1;
	}
	if (p[0].revents)
		take_one(g);
	return 0;
}

/* Without rank 0 the others would come in vain. */
static bool has_ended(struct job_root *r)
{
	if (r->own > 0 && waitpid(r->own, NULL, WNOHANG) == r->own) {
		r->own = 0;
		return true;
	}
	return false;
}

int job_gather(struct job_root *r, struct err *e)
{
	auto_free struct gather *g = calloc(1, sizeof(*g));
	int64_t end = ctx_mono_ms() + r->conf->gather_ms, left;
	int rc = 0;

	if (!g)
		return err_nomem(e);
	g->r = r;
	for (size_t i = 0; i < LATE_MAX; i++)
		g->waiting[i].fd = -1;
	while (!rc && r->joined < r->conf->ranks && !has_ended(r) &&
	       (left = end - ctx_mono_ms()) > 0)
		rc = gather_step(g, left < LOOK_MS ? (int)left : LOOK_MS, e);
	for (size_t i = 0; i < LATE_MAX; i++)
		job_link_close(&g->waiting[i]);
	(void)close(r->listening);
	r->listening = -1;
	return rc;
}

/* ---- what the judge is told ---- */

/* The number of a text among those before it. Texts without characters are number 0. */
static uint16_t number_of(char (**names)[JOB_NAME], size_t *n, const char *text, struct err *e)
{
	for (size_t i = 0; i < *n; i++) {
		if (strncmp((*names)[i], text, JOB_NAME) == 0)
			return (uint16_t)i;
	}
	if (ARRAY_GROW(*names, *n, UINT16_MAX - 1u, "names", e))
		return JUDGE_NONE;
	(void)snprintf((*names)[*n], JOB_NAME, "%s", text);
	return (uint16_t)(*n)++;
}

/* "rail10" comes behind "rail9". */
static int order_names(const void *a, const void *b)
{
	size_t x = strlen(a), y = strlen(b);

	return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

static int name_rails(struct job_root *r, struct err *e)
{
	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		for (size_t k = 0; k < r->members[i].n_rails; k++) {
			const char *name = r->members[i].rails[k].interface;
			size_t at = 0;
			while (at < r->n_rails && strcmp(r->names[at], name) != 0)
				at++;
			if (at == JOB_RAILS)
				return err_set(e, ERR_CONFIG, 0,
					       "the ranks have more than %u rails of different "
					       "names, such as %s and %s",
					       JOB_RAILS, r->names[0], name);
			if (at == r->n_rails)
				(void)snprintf(r->names[r->n_rails++], JOB_NAME, "%s", name);
		}
	}
	qsort(r->names, r->n_rails, sizeof(*r->names), order_names);
	return 0;
}

static uint64_t bytes_of(uint32_t mbps)
{
	return (uint64_t)mbps * 125000u;
}

struct tables {
	struct job_root *r;
	char (*models)[JOB_NAME];
	char (*gids)[JOB_NAME];
	size_t n_models, n_gids;
};

static int tell_rail(struct tables *t, const struct job_member *m, const struct job_rail *x,
		     struct judge_rail *out, struct err *e)
{
	uint32_t slot = x->slot_max_mbps ? x->slot_max_mbps : x->slot_mbps;
	char model[JOB_NAME];

	/* A slot that runs below what it can is a finding, not another model. */
	(void)snprintf(model, sizeof(model), "%.24s|%.16s|%u", m->host, x->card, slot);
	*out = (struct judge_rail){
		.present = true,
		.leaf = JUDGE_NONE,
		.model = number_of(&t->models, &t->n_models, model, e),
		.gid = number_of(&t->gids, &t->n_gids, x->gid_kind, e),
		.tclass = x->tclass,
		.mtu = x->mtu,
		.nominal = bytes_of(x->rate_mbps),
		.pcie_low = x->slot_mbps < x->slot_max_mbps,
	};
	if (x->slot_mbps && x->slot_mbps < x->rate_mbps)
		out->nominal = bytes_of(x->slot_mbps);
	if (*x->leaf)
		out->leaf = number_of(&t->r->leaves, &t->r->n_leaves, x->leaf, e);
	return out->model == JUDGE_NONE || out->gid == JUDGE_NONE ||
			       (*x->leaf && out->leaf == JUDGE_NONE)
		       ? -1
		       : 0;
}

static int tell_all(struct job_root *r, struct tables *t, struct err *e)
{
	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		const struct job_member *m = &r->members[i];
		r->ranks[i].here = m->joined;
		for (size_t k = 0; k < m->n_rails; k++) {
			size_t at = 0;
			while (at < r->n_rails && strcmp(r->names[at], m->rails[k].interface) != 0)
				at++;
			if (at < r->n_rails &&
			    tell_rail(t, m, &m->rails[k], &r->ranks[i].rails[at], e))
				return -1;
		}
	}
	return 0;
}

/* ---- leaves ---- */

/* By its interface, or by its RDMA device: that of a node and of its pods may be one. */
static bool is_rail(const struct job_rail *x, const char *name)
{
	size_t n = strlen(name);

	return strcmp(x->interface, name) == 0 || strcmp(x->hca, name) == 0 ||
	       (strncmp(x->hca, name, n) == 0 && strcmp(x->hca + n, ":1") == 0);
}

/* A node that is not of the job, or a rail that it lacks, is no mistake: the file is of a cluster.
 */
static void set_leaf(struct job_root *r, const char *node, const char *rail, const char *leaf)
{
	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		struct job_member *m = &r->members[i];
		for (size_t k = 0; k < m->n_rails && strcmp(m->node, node) == 0; k++) {
			if (is_rail(&m->rails[k], rail))
				(void)snprintf(m->rails[k].leaf, JOB_NAME, "%s", leaf);
		}
	}
}

static int read_leaves(struct job_root *r, struct err *e)
{
	char node[JOB_NAME], rail[JOB_NAME], leaf[JOB_NAME], more[2];
	size_t line = 0;

	for (char *at = r->conf->leaves, *next; at && *at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		line++;
		int n = sscanf(at, "%63s %63s %63s %1s", node, rail, leaf, more);
		if (n == 3)
			set_leaf(r, node, rail, leaf);
		else if (n > 0)
			return err_set(e, ERR_CONFIG, 0,
				       "--leaves: line %zu is not \"NODE RAIL LEAF\"", line);
	}
	return 0;
}

/* ---- notes ---- */

static void __attribute__((format(printf, 2, 3))) note(struct job_root *r, const char *text, ...)
{
	va_list ap;

	va_start(ap, text);
	(void)vsnprintf(r->notes[r->n_notes++], JOB_TEXT, text, ap);
	va_end(ap);
}

static void take_notes(struct job_root *r)
{
	const struct job_member *first = &r->members[0], *other = NULL;
	uint32_t blind = 0;

	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		const struct job_member *m = &r->members[i];
		blind += m->blind;
		if (m->joined && strcmp(m->version, first->version) != 0)
			other = m;
	}
	if (blind)
		note(r, "%u ranks do not know whether other processes use their rails", blind);
	if (r->conf->leaves && !r->n_leaves)
		note(r, "leaves are not known: --leaves has no rail of these nodes");
	if (other && first->joined)
		note(r, "ranks have different versions of rdma-probe, %.32s and %.32s",
		     first->version, other->version);
}

int job_tell_judge(struct job_root *r, struct err *e)
{
	struct tables t = { .r = r };

	if (read_leaves(r, e) || name_rails(r, e))
		return -1;
	r->ranks = calloc(r->conf->ranks, sizeof(*r->ranks));
	if (!r->ranks)
		return err_nomem(e);
	int rc = tell_all(r, &t, e);
	if (!rc)
		take_notes(r);
	free(t.models);
	free(t.gids);
	return rc;
}
