/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that make NCCL, UCX and NVSHMEM use the GPUs' own HCAs. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/rdma/version.h"
#include "topo/output/show_priv.h"

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

/* Why no variable of NCCL or NVSHMEM can name this HCA; NULL: one can. */
static const char *why_unnamed(const struct topo_machine *m, uint32_t hca)
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
	return !why_unnamed(m, hca) || (is_efa(m, hca) && !is_of_file(m));
}

static bool nccl_names(const struct topo_machine *m, uint32_t hca)
{
	return !why_unnamed(m, hca);
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

/* The value is one word of a POSIX shell. */
static void put_var(FILE *to, const char *name, const char *before, const char *value)
{
	fprintf(to, "export %s='%s", name, before);
	for (; *value; value++) {
		if (*value == '\'')
			fputs("'\\''", to);
		else
			fputc(*value, to);
	}
	fputs("'\n", to);
}

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
static int put_ucx(const struct topo_machine *m, const struct shares *all, FILE *to)
{
	auto_shares struct shares named = { 0 };
	char since[LIB_RULE_LEN];
	bool efa = false;

	if (pick_named(m, all, ucx_names, &named))
		return -1;
	if (!named.n)
		return 0;
	auto_free char *devices = device_list(m, named.hca, named.n);
	if (!devices)
		return -1;
	for (size_t i = 0; i < named.n; i++)
		efa |= is_efa(m, named.hca[i]);
	if (efa)
		fprintf(to,
			"# %s: its transport srd uses EFA; do not set it for an earlier one, which "
			"may need TCP\n",
			lib_rule_versions(UCX_HAS_EFA, since));
	put_var(to, "UCX_NET_DEVICES", "", devices);
	return 0;
}

/* The variables for the GPUs in want[], which share all; none if these have no names. -1: no
 * memory. */
static int put_env(const struct topo_view *v, const bool *want, const struct shares *all, FILE *to)
{
	auto_shares struct shares named = { 0 };
	bool misled = false;

	if (pick_named(v->m, all, nccl_names, &named))
		return -1;
	auto_free char *devices = device_list(v->m, named.hca, named.n);
	for (size_t i = 0; i < named.n; i++)
		misled |= show_env_is_displaced(v, named.hca[i]);
	if (named.n && !devices)
		return -1;
	/* "=": without it, mlx5_1 also means mlx5_10 */
	if (named.n)
		put_var(to, "NCCL_IB_HCA", "=", devices);
	if (misled)
		put_var(to, "NCCL_IB_MERGE_VFS", "", "0");
	if (put_ucx(v->m, all, to))
		return -1;
	if (named.n)
		put_var(to, "NVSHMEM_HCA_LIST", "", devices);
	if (named.n && is_by_gpu(v, want, named.hca, named.n))
		put_var(to, "NVSHMEM_ENABLE_NIC_PE_MAPPING", "", "1");
	return 0;
}

/* A variable can name one of these HCAs: UCX names all that NCCL and NVSHMEM name. */
static bool has_named(const struct topo_machine *m, const struct shares *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (ucx_names(m, all->hca[i]))
			return true;
	return false;
}

/* ---- comments ---- */

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
		const char *why = why_unnamed(m, all->hca[i]);
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

/* Of each GPU in scope; overwrites want[]. */
static int put_each(const struct topo_view *v, bool *want, FILE *to)
{
	char bdf[PCI_STR_LEN];

	memset(want, 0, v->m->n_gpus * sizeof(*want));
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		auto_shares struct shares all = { 0 };

		if (!show_has_gpu(v, g))
			continue;
		want[g] = true;
		if (collect_shares(v, want, &all))
			return -1;
		fprintf(to, "# GPU %d, %s%s\n", v->m->gpu[g].index, show_gpu_bdf(v->m, g, bdf),
			has_named(v->m, &all) ? "" : ": no HCA is nearest to it");
		if (put_env(v, want, &all, to))
			return -1;
		want[g] = false;
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
	auto_shares struct shares all = { 0 };

	if (!want || collect_shares(v, want, &all))
		return err_nomem(e);
	bool left_out = put_unnamed(v->m, &all, to);
	if (!has_named(v->m, &all))
		put_none(v, left_out, to);
	if (each ? put_each(v, want, to) : put_env(v, want, &all, to))
		return err_nomem(e);
	return show_finish(to, e);
}
