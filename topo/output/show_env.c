/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that make NCCL, UCX and NVSHMEM use the GPUs' own HCAs. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/rdma/version.h"
#include "topo/output/show_priv.h"

/* The variables for a set of GPUs. */
struct env {
	struct {
		const char *name; /* a literal */
		char *value;      /* owned */
		const char *why;  /* a literal, or why_ucx */
		bool always;      /* why is printed without --explain, too */
	} var[8];
	size_t n;
	char why_ucx[160];
};

/* ---- whose HCAs ---- */

/* HCAs, each once. */
struct shares {
	uint32_t *hca; /* owned */
	size_t n;
};

static void shares_clear(struct shares *s)
{
	free(s->hca);
}
#define auto_shares auto_clean(shares_clear)

/* The HCAs assigned to the GPUs in want[], in the order of the GPUs. -1: no memory. */
static int collect_shares(const struct topo_view *v, const bool *want, struct shares *out)
{
	uint32_t *list = calloc(v->m->n_hcas + 1, sizeof(*list));
	auto_free bool *seen = calloc(v->m->n_hcas + 1, sizeof(*seen));

	*out = (struct shares){ .hca = list };
	if (!list || !seen)
		return -1;
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		const struct topo_gpu_choice *c = &v->choice->gpu[g];

		for (size_t i = 0; want[g] && i < c->n_share; i++) {
			if (!seen[c->share[i]])
				list[out->n++] = c->share[i];
			seen[c->share[i]] = true;
		}
	}
	return 0;
}

#define VENDOR_AMAZON 0x1d0f

static bool is_efa(const struct topo_machine *m, uint32_t hca)
{
	const struct topo_hca *h = &m->hca[hca];
	const struct topo_pci *p = h->pci == TOPO_NONE ? NULL : &m->pci[h->pci];

	return p && p->has_ids && p->vendor == VENDOR_AMAZON;
}

static bool is_of_file(const struct topo_machine *m)
{
	return m->source == TOPO_NCCL_XML || m->source == TOPO_RCCL_XML;
}

const char *show_why_unnamed(const struct topo_machine *m, uint32_t hca)
{
	const struct topo_hca *h = &m->hca[hca];
	bool file = is_of_file(m);

	if (is_efa(m, hca))
		return "EFA: the plugin aws-ofi-nccl assigns these devices itself; "
		       "NCCL_IB_HCA does not select them, and NVSHMEM has libfabric for them";
	if (m->skeleton)
		return "the file does not name the devices";
	if (file && strchr(h->name, '+'))
		return "NCCL made one device of several: the file has no ports of them";
	return topo_is_socket(m, hca) ? "an interface for sockets: no RDMA device" : NULL;
}

/*
 * UCX uses EFA by its transport srd (src/uct/ib/efa/srd), as RDMA device and port like any other:
 * "rdmap16s27:1". The nets of a file have the names that the plugin of NCCL gives them.
 */
static bool ucx_names(const struct topo_machine *m, uint32_t hca)
{
	return !show_why_unnamed(m, hca) || (is_efa(m, hca) && !is_of_file(m));
}

static bool nccl_names(const struct topo_machine *m, uint32_t hca)
{
	return !show_why_unnamed(m, hca);
}

/* The port of an RDMA device. NCCL's files count on for functions of one card: mlx5_1 at function 1
 * has port 2 there (ncclIbGetPhysProperties), and port 1 in reality. */
static uint32_t real_port(const struct topo_machine *m, uint32_t hca, uint32_t port)
{
	const struct topo_hca *h = &m->hca[hca];
	uint32_t before = 0;

	if (m->source != TOPO_NCCL_XML || h->pci == TOPO_NONE)
		return port;
	for (uint32_t i = 0; i < hca; i++) {
		uint32_t other = m->hca[i].pci;
		before += other != TOPO_NONE && strcmp(m->hca[i].name, h->name) != 0 &&
			  topo_pci_order(m, other) >> 8 == topo_pci_order(m, h->pci) >> 8;
	}
	return port > before ? port - before : port;
}

static void put_ports(const struct topo_machine *m, uint32_t hca, struct text *to,
		      const char **comma)
{
	const struct topo_hca *h = &m->hca[hca];
	size_t named = 0;

	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].active == TOPO_NO)
			continue;
		text_addf(to, "%s%s:%u", *comma, h->name, real_port(m, hca, h->port[i].port));
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
		put_ports(m, hca[i], &text, &comma);
	return text_take(&text);
}

/* NCCL uses the path of device 00 on the bus of a VF; the prediction says if that is wrong. */
static bool show_env_is_displaced(const struct topo_view *v, uint32_t hca)
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
	e->var[e->n].always = false;
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

/* The names before are not this one: a file can have an HCA and its Data Direct function. */
static bool show_env_is_new(const struct topo_machine *m, const uint32_t *hca, size_t n,
			    uint32_t which)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(m->hca[hca[i]].name, m->hca[which].name))
			return false;
	}
	return true;
}

typedef bool (*names_fn)(const struct topo_machine *m, uint32_t hca);

/* Those of all that a library can name. -1: no memory. */
static int pick_named(const struct topo_machine *m, const struct shares *all, names_fn can,
		      struct shares *out)
{
	uint32_t *hca = calloc(all->n + 1, sizeof(*hca));

	*out = (struct shares){ .hca = hca };
	for (size_t i = 0; hca && i < all->n; i++) {
		if (can(m, all->hca[i]) && show_env_is_new(m, hca, out->n, all->hca[i]))
			hca[out->n++] = all->hca[i];
	}
	return hca ? 0 : -1;
}

static size_t count_ports(const struct topo_hca *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_ports; i++)
		n += h->port[i].active != TOPO_NO;
	return n ? n : 1;
}

/*
 * With NVSHMEM_ENABLE_NIC_PE_MAPPING=1, process number k (the k-th GPU) takes entry k of the list,
 * modulo its length. Without it each takes the nearest one. So the list must have one port for each
 * GPU, in their order, or it is that of a single GPU.
 */
static bool is_by_gpu(const struct topo_view *v, const bool *want, const uint32_t *hca, size_t n)
{
	size_t gpus = 0;
	bool exact = true;

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		const struct topo_gpu_choice *c = &v->choice->gpu[g];
		if (!want[g])
			continue;
		exact = exact && gpus < n && c->n_share == 1 && c->share[0] == hca[gpus] &&
			count_ports(&v->m->hca[hca[gpus]]) == 1;
		gpus++;
	}
	return gpus == 1 || (exact && gpus == n);
}

/* Those of UCX for the HCAs in all. -1: no memory. */
static int put_ucx(const struct topo_machine *m, const struct shares *all, struct env *out)
{
	auto_shares struct shares named = { 0 };
	char since[LIB_RULE_LEN];
	bool efa = false;

	if (pick_named(m, all, ucx_names, &named))
		return -1;
	for (size_t i = 0; i < named.n; i++)
		efa |= is_efa(m, named.hca[i]);
	(void)snprintf(out->why_ucx, sizeof(out->why_ucx),
		       efa ? "%s: its transport srd uses EFA; do not set it for an earlier one, "
			     "which may need TCP"
			   : "the same for UCX",
		       lib_rule_versions(UCX_HAS_EFA, since));
	if (!named.n)
		return 0;
	if (put_var(out, "UCX_NET_DEVICES", device_list(m, named.hca, named.n), out->why_ucx))
		return -1;
	out->var[out->n - 1].always = efa;
	return 0;
}

/* Those of NCCL for these HCAs. -1: no memory. */
static int put_nccl(const struct topo_view *v, const struct shares *named, struct env *out)
{
	auto_free char *devices = device_list(v->m, named->hca, named->n);
	bool misled = false;

	for (size_t i = 0; i < named->n; i++)
		misled |= show_env_is_displaced(v, named->hca[i]);
	return !devices ||
			       put_var(out, "NCCL_IB_HCA", exact_list(devices),
				       "these and no others: = forbids that mlx5_1 also means "
				       "mlx5_10") ||
			       (misled && put_var(out, "NCCL_IB_MERGE_VFS", strdup("0"),
						  "else NCCL looks for a VF at device 00 of its "
						  "bus, where its card is not"))
		       ? -1
		       : 0;
}

/* Those of NVSHMEM for these HCAs of the GPUs in want[]. -1: no memory. */
static int put_nvshmem(const struct topo_view *v, const bool *want, const struct shares *named,
		       struct env *out)
{
	return put_var(out, "NVSHMEM_HCA_LIST", device_list(v->m, named->hca, named->n),
		       "the same for NVSHMEM") ||
			       (is_by_gpu(v, want, named->hca, named->n) &&
				put_var(out, "NVSHMEM_ENABLE_NIC_PE_MAPPING", strdup("1"),
					"process number k takes device k of the list"))
		       ? -1
		       : 0;
}

/* The variables for the GPUs in want[], which share all; none if these have no names. -1: no
 * memory. */
static int output_make_env(const struct topo_view *v, const bool *want, const struct shares *all,
			   struct env *out)
{
	auto_shares struct shares named = { 0 };

	*out = (struct env){ 0 };
	if (pick_named(v->m, all, nccl_names, &named) || (named.n && put_nccl(v, &named, out)) ||
	    put_ucx(v->m, all, out) || (named.n && put_nvshmem(v, want, &named, out))) {
		env_clear(out);
		return -1;
	}
	return 0;
}

/* The variables of one GPU. want[] has a place for each, and none is set. */
static int make_one(const struct topo_view *v, bool *want, size_t g, struct env *out)
{
	auto_shares struct shares all = { 0 };

	want[g] = true;
	int rc = collect_shares(v, want, &all) || output_make_env(v, want, &all, out) ? -1 : 0;
	want[g] = false;
	return rc;
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

static void put_env(const struct env *e, bool explain, FILE *to)
{
	for (size_t i = 0; i < e->n; i++) {
		if (explain || e->var[i].always)
			fprintf(to, "# %s\n", e->var[i].why);
		fprintf(to, "export %s=", e->var[i].name);
		put_quoted(e->var[i].value, to);
		fputc('\n', to);
	}
}

/* A comment, because a shell reads the output. */
static void put_none(const struct topo_view *v, bool left_out, FILE *to)
{
	fprintf(to, "# %s: nothing to set\n",
		!show_count_gpus(v) ? "no GPU"
		: left_out          ? "no other HCA is nearest to a GPU"
				    : "no HCA is nearest to any of the GPUs");
}

/* A comment for each reason, with the HCAs that the variables leave out. True: there are some. */
static bool put_unnamed(const struct topo_machine *m, const struct shares *all, FILE *to)
{
	const char *last = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const char *why = show_why_unnamed(m, all->hca[i]);
		if (!why)
			continue;
		if (last != why)
			fprintf(to, "%s# left out%s (%s): ", last ? "\n" : "",
				ucx_names(m, all->hca[i]) ? " of NCCL_IB_HCA and NVSHMEM_HCA_LIST"
							  : "",
				why);
		fprintf(to, "%s%s", last == why ? ", " : "", m->hca[all->hca[i]].name);
		last = why;
	}
	if (last)
		fputc('\n', to);
	return last;
}

static int put_each(const struct topo_view *v, bool *want, bool explain, FILE *to)
{
	char bdf[PCI_STR_LEN];

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		auto_env struct env one = { 0 };

		if (!show_has_gpu(v, g))
			continue;
		if (make_one(v, want, g, &one))
			return -1;
		fprintf(to, "# GPU %d, %s%s\n", v->m->gpu[g].index, show_gpu_bdf(v->m, g, bdf),
			one.n ? "" : ": no HCA is nearest to it");
		put_env(&one, explain, to);
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

/* A comment with the GPUs whose choice by NCCL is not certain. */
static void put_uncertain(const struct topo_view *v, FILE *to)
{
	const char *sep = "# GPU ";

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		if (!show_has_gpu(v, g) || !nccl_is_uncertain(v->nccl, g))
			continue;
		fprintf(to, "%s%d", sep, v->m->gpu[g].index);
		sep = ", ";
	}
	if (*sep == ',')
		fprintf(to, ": %s\n", show_why_uncertain(v->nccl));
}

int show_env(const struct topo_view *v, unsigned how, FILE *to, struct err *e)
{
	auto_free bool *want = all_gpus(v);
	auto_shares struct shares all = { 0 };
	auto_env struct env env = { 0 };
	bool left_out, explain = how & SHOW_EXPLAIN;

	if (!want || collect_shares(v, want, &all) || output_make_env(v, want, &all, &env))
		return err_nomem(e);
	left_out = put_unnamed(v->m, &all, to);
	if (!env.n)
		put_none(v, left_out, to);
	if (explain)
		put_uncertain(v, to);
	if (!(how & SHOW_EACH)) {
		put_env(&env, explain, to);
		return show_finish(to, e);
	}
	memset(want, 0, v->m->n_gpus * sizeof(*want));
	return put_each(v, want, explain, to) ? err_nomem(e) : show_finish(to, e);
}

/* ---- as JSON ---- */

static int output_add_env(struct json *o, const struct env *env)
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
		gpu = json_push_object(list);
		if (!gpu || make_one(v, want, g, &one) ||
		    json_add_int(gpu, "index", v->m->gpu[g].index) ||
		    json_add_str(gpu, "bdf", show_gpu_bdf(v->m, g, bdf)) ||
		    output_add_env(gpu, &one))
			return -1;
	}
	return 0;
}

struct json *show_env_json(const struct topo_view *v)
{
	auto_json struct json *o = json_new_object();
	auto_free bool *want = all_gpus(v);
	auto_shares struct shares all = { 0 };
	auto_env struct env env = { 0 };

	if (!o || !want || collect_shares(v, want, &all) || output_make_env(v, want, &all, &env) ||
	    output_add_env(o, &env))
		return NULL;
	memset(want, 0, v->m->n_gpus * sizeof(*want));
	if (add_each(o, v, want))
		return NULL;
	return TAKE_PTR(o);
}
