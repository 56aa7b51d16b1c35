// SPDX-License-Identifier: Apache-2.0
/*
 * Compares a prediction with testdata/expected, line by line, and two predictions with each other.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"

#define LINE_LEN 2048

struct comparing {
	const struct topo_machine *m;
	const struct nccl_prediction *a;
	struct nccl_tally *t;
	uint32_t gpu;
};

static void count(struct nccl_tally *t, const char *want, const char *got)
{
	t->lines++;
	if (!strcmp(want, got))
		t->agree++;
	else if (!*t->first)
		(void)snprintf(t->first, sizeof(t->first), "expected \"%.100s\", not \"%.100s\"",
			       want, got);
}

static uint32_t net_named(const struct comparing *c, const char *name)
{
	for (uint32_t i = 0; i < c->a->n_nets; i++) {
		if (!strcmp(c->m->hca[c->a->net[i].hca].name, name))
			return i;
	}
	return TOPO_NONE;
}

static void path_line(const struct comparing *c, const char *line)
{
	char name[64], bdf[32], got[LINE_LEN] = "no such net";

	ck_assert_int_eq(sscanf(line, "  net %63s bdf=%31s", name, bdf), 2);
	uint32_t n = net_named(c, name);
	if (n != TOPO_NONE) {
		const struct nccl_net_path *w = &c->a->gpu[c->gpu].path[n];
		(void)snprintf(got, sizeof(got),
			       "  net %s bdf=%s path=%s bw=%.1f hops=%u gdr_read=%d gdr_write=%d",
			       name, bdf, nccl_path_name(w->type), w->bw, w->hops, w->gdr_read,
			       w->gdr_write);
	}
	count(c->t, line, got);
}

static void list(const struct comparing *c, const uint32_t *net, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		testing_append(out, LINE_LEN, i ? "," : "");
		testing_append(out, LINE_LEN, c->m->hca[c->a->net[net[i]].hca].name);
	}
}

static void choice_line(const struct comparing *c, const char *line, bool paths)
{
	const struct nccl_gpu *g = &c->a->gpu[c->gpu];
	char got[LINE_LEN] = "", want[LINE_LEN];
	const char *bw = strstr(line, " bw="), *nets = strstr(line, " nets=");

	if (!strncmp(line, "  channels=", 11)) {
		testing_append(got, sizeof(got), "  channels=");
		list(c, g->channel, g->n_channels, got);
		count(c->t, line, got);
		return;
	}
	(void)snprintf(got, sizeof(got), "  local type=%s", nccl_path_name(g->type));
	if (paths)
		(void)snprintf(got, sizeof(got), "  local type=%s bw=%.1f", nccl_path_name(g->type),
			       g->bw);
	testing_append(got, sizeof(got), " nets=");
	list(c, g->local, g->n_local, got);
	(void)snprintf(want, sizeof(want), "%.*s%s", (int)((paths ? nets : bw) - line), line, nets);
	count(c->t, want, got);
}

static void one_line(struct comparing *c, const char *line, int what)
{
	char bdf[32];
	struct pci_addr addr;

	if (sscanf(line, "gpu rank=%*d dev=%*d bdf=%31s", bdf) == 1) {
		ck_assert_int_eq(pci_parse(bdf, &addr), 0);
		c->gpu = topo_find_gpu(c->m, addr);
		ck_assert_uint_ne(c->gpu, TOPO_NONE);
	} else if (!strncmp(line, "  net ", 6)) {
		if (what & TALLY_PATHS)
			path_line(c, line);
	} else if (!strncmp(line, "  ", 2)) {
		if (what & TALLY_CHOICE)
			choice_line(c, line, what & TALLY_PATHS);
	}
}

void nccl_compare(const char *name, const struct topo_machine *m, const struct nccl_prediction *a,
		  int what, struct nccl_tally *t)
{
	struct comparing c = { m, a, t, TOPO_NONE };
	char file[256];

	(void)snprintf(file, sizeof(file), "expected/%s.txt", name);
	char *text = topo_text(file), *rest = text;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		one_line(&c, line, what);
	free(text);
}

void nccl_add_nets(const struct topo_machine *m, const struct nccl_prediction *a, struct text *out)
{
	char name[NCCL_NET_NAME_LEN];

	for (size_t i = 0; i < a->n_nets; i++)
		text_addf(out, "%s%s", i ? " " : "", nccl_net_name(m, &a->net[i], name));
}

void nccl_add_local(const struct topo_machine *m, const struct nccl_prediction *a, size_t gpu,
		    struct text *out)
{
	const struct nccl_gpu *g = &a->gpu[gpu];
	char name[NCCL_NET_NAME_LEN];

	for (size_t i = 0; i < g->n_local; i++)
		text_addf(out, " %s", nccl_net_name(m, &a->net[g->local[i]], name));
	text_addf(out, " %s", nccl_path_name(g->type));
}

void nccl_add_answer(const struct topo_machine *m, const struct nccl_prediction *a,
		     struct text *out)
{
	nccl_add_nets(m, a, out);
	for (size_t g = 0; g < a->n_gpus; g++) {
		text_addf(out, g ? "," : ":");
		nccl_add_local(m, a, g, out);
	}
}

static bool same_path(const struct nccl_net_path *x, const struct nccl_net_path *y)
{
	return x->type == y->type && x->bw == y->bw && x->hops == y->hops &&
	       x->gdr_read == y->gdr_read && x->gdr_write == y->gdr_write && x->via == y->via;
}

static bool same_choice(const struct nccl_gpu *x, const struct nccl_gpu *y)
{
	return x->type == y->type && x->bw == y->bw && x->gdr == y->gdr &&
	       x->n_local == y->n_local && x->n_channels == y->n_channels &&
	       !memcmp(x->local, y->local, x->n_local * sizeof(*x->local)) &&
	       !memcmp(x->channel, y->channel, x->n_channels * sizeof(*x->channel));
}

bool nccl_same(const struct nccl_prediction *x, const struct nccl_prediction *y)
{
	if (x->n_nets != y->n_nets || x->n_gpus != y->n_gpus)
		return false;
	for (size_t g = 0; g < x->n_gpus; g++) {
		for (size_t n = 0; n < x->n_nets; n++) {
			if (!same_path(&x->gpu[g].path[n], &y->gpu[g].path[n]))
				return false;
		}
		if (!same_choice(&x->gpu[g], &y->gpu[g]))
			return false;
	}
	return true;
}
