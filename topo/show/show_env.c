/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that make NCCL, UCX and NVSHMEM use the GPUs' own HCAs. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "topo/show/show_priv.h"

/* The variables for a set of GPUs. */
struct env {
	struct {
		const char *name; /* a literal, as why */
		char *value;      /* owned */
		const char *why;
	} var[4];
	size_t n;
};

/* ---- whose HCAs ---- */

/* The HCAs assigned to the GPUs in want[], each once, in the order of the GPUs. */
static uint32_t *collect_shares(const struct topo_view *v, const bool *want, size_t *n)
{
	uint32_t *list = calloc(v->m->n_hcas + 1, sizeof(*list));
	auto_free bool *seen = calloc(v->m->n_hcas + 1, sizeof(*seen));

	*n = 0;
	if (!list || !seen) {
		free(list);
		return NULL;
	}
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		const struct topo_gpu_choice *c = &v->choice->gpu[g];

		for (size_t i = 0; want[g] && i < c->n_share; i++) {
			if (!seen[c->share[i]])
				list[(*n)++] = c->share[i];
			seen[c->share[i]] = true;
		}
	}
	return list;
}

static void put_ports(const struct topo_hca *h, struct text *to, const char **comma)
{
	size_t named = 0;

	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].active == TOPO_NO)
			continue;
		text_addf(to, "%s%s:%u", *comma, h->name, h->port[i].port);
		*comma = ",";
		named++;
	}
	if (named)
		return;
	text_addf(to, "%s%s:1", *comma, h->name);
	*comma = ",";
}

/* "mlx5_0:1,mlx5_1:1"; NULL: no memory. */
static char *device_list(const struct topo_machine *m, const uint32_t *hca, size_t n)
{
	const char *comma = "";
	auto_text struct text text = { 0 };

	for (size_t i = 0; i < n; i++)
		put_ports(&m->hca[hca[i]], &text, &comma);
	return text_take(&text);
}

/* NCCL uses the path of device 00 on the bus of a VF; the prediction says if that is wrong. */
static bool is_displaced(const struct topo_view *v, uint32_t hca)
{
	for (size_t i = 0; i < v->nccl->n_nets; i++) {
		const struct nccl_net *net = &v->nccl->net[i];
		for (uint32_t k = 0; k < nccl_net_parts(net); k++) {
			struct nccl_hca_port part = nccl_net_part(net, k);
			if (part.hca == hca && part.displaced)
				return true;
		}
	}
	return false;
}

/* ---- variables ---- */

static int put_var(struct env *e, const char *name, char *value, const char *why)
{
	if (!value)
		return -1;
	e->var[e->n].name = name;
	e->var[e->n].value = value;
	e->var[e->n].why = why;
	e->n++;
	return 0;
}

static char *exact_list(const char *devices)
{
	char *text;

	return asprintf(&text, "=%s", devices) < 0 ? NULL : text;
}

static void env_clear(struct env *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->var[i].value);
	*e = (struct env){ 0 };
}
#define auto_env auto_clean(env_clear)

/* The variables for the GPUs in want[]; none if they have no nearest HCA. -1: no memory. */
static int make_env(const struct topo_view *v, const bool *want, struct env *out)
{
	size_t n;
	auto_free uint32_t *hca = collect_shares(v, want, &n);
	auto_free char *devices = hca ? device_list(v->m, hca, n) : NULL;
	bool misled = false;

	*out = (struct env){ 0 };
	if (!devices)
		return -1;
	for (size_t i = 0; i < n; i++)
		misled |= is_displaced(v, hca[i]);
	if (!n)
		return 0;
	if (put_var(out, "NCCL_IB_HCA", exact_list(devices),
		    "these and no others: = forbids that mlx5_1 also means mlx5_10") ||
	    (misled &&
	     put_var(out, "NCCL_IB_MERGE_VFS", strdup("0"),
		     "else NCCL looks for a VF at device 00 of its bus, where its card is not")) ||
	    put_var(out, "UCX_NET_DEVICES", strdup(devices), "the same for UCX") ||
	    put_var(out, "NVSHMEM_HCA_LIST", strdup(devices), "the same for NVSHMEM")) {
		env_clear(out);
		return -1;
	}
	return 0;
}

/* ---- as shell ---- */

/* Quote s as one word of a POSIX shell. */
static void put_quoted(const char *s, FILE *to)
{
	fputc('\'', to);
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", to);
		else
			fputc(*s, to);
	}
	fputc('\'', to);
}

static void put_env(const struct env *e, FILE *to)
{
	for (size_t i = 0; i < e->n; i++) {
		fprintf(to, "export %s=", e->var[i].name);
		put_quoted(e->var[i].value, to);
		fputc('\n', to);
	}
}

/* A comment, because a shell reads the output. */
static void put_none(const struct topo_view *v, FILE *to)
{
	fprintf(to, "# %s: nothing to set\n",
		!show_count_gpus(v) ? "no GPU" : "no HCA is nearest to any of the GPUs");
}

static int put_each(const struct topo_view *v, bool *want, FILE *to)
{
	char bdf[PCI_STR_LEN];

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		auto_env struct env one = { 0 };

		if (!show_has_gpu(v, g))
			continue;
		want[g] = true;
		if (make_env(v, want, &one))
			return -1;
		want[g] = false;
		fprintf(to, "# GPU %d, %s%s\n", v->m->gpu[g].index, show_gpu_bdf(v->m, g, bdf),
			one.n ? "" : ": no HCA is nearest to it");
		put_env(&one, to);
	}
	return 0;
}

static bool *all_gpus(const struct topo_view *v)
{
	bool *want = calloc(v->m->n_gpus + 1, sizeof(*want));

	for (size_t g = 0; want && g < v->m->n_gpus; g++)
		want[g] = show_has_gpu(v, g);
	return want;
}

int show_env(const struct topo_view *v, bool each, FILE *to, struct err *e)
{
	auto_free bool *want = all_gpus(v);
	auto_env struct env all = { 0 };

	if (!want || make_env(v, want, &all))
		return err_nomem(e);
	if (!all.n)
		put_none(v, to);
	if (!each) {
		put_env(&all, to);
		return show_finish(to, e);
	}
	memset(want, 0, v->m->n_gpus * sizeof(*want));
	return put_each(v, want, to) ? err_nomem(e) : show_finish(to, e);
}

/* ---- as JSON ---- */

static int add_env(struct json *o, const struct env *env)
{
	struct json *list = json_add_array(o, "env");

	if (!list)
		return -1;
	for (size_t i = 0; i < env->n; i++) {
		struct json *var = json_push_object(list);

		if (!var || json_add_str(var, "name", env->var[i].name) ||
		    json_add_str(var, "value", env->var[i].value) ||
		    json_add_str(var, "why", env->var[i].why))
			return -1;
	}
	return 0;
}

static int add_each(struct json *o, const struct topo_view *v, bool *want)
{
	struct json *list = json_add_array(o, "gpus");
	char bdf[PCI_STR_LEN];

	if (!list)
		return -1;
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		auto_env struct env one = { 0 };
		struct json *gpu;

		if (!show_has_gpu(v, g))
			continue;
		want[g] = true;
		gpu = json_push_object(list);
		if (!gpu || make_env(v, want, &one) ||
		    json_add_int(gpu, "index", v->m->gpu[g].index) ||
		    json_add_str(gpu, "bdf", show_gpu_bdf(v->m, g, bdf)) || add_env(gpu, &one))
			return -1;
		want[g] = false;
	}
	return 0;
}

struct json *show_env_json(const struct topo_view *v)
{
	auto_json struct json *o = json_new_object();
	auto_free bool *want = all_gpus(v);
	auto_env struct env all = { 0 };

	if (!o || !want || make_env(v, want, &all) || add_env(o, &all))
		return NULL;
	memset(want, 0, v->m->n_gpus * sizeof(*want));
	if (add_each(o, v, want))
		return NULL;
	return TAKE_PTR(o);
}
