/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of all forms of output: scope, addresses, names, NCCL's HCAs, CPU lists. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"

#include "topo/output/show_priv.h"

bool show_has_gpu(const struct topo_view *v, size_t gpu)
{
	return !v->scope.gpu || v->scope.gpu[gpu];
}

bool show_has_hca(const struct topo_view *v, size_t hca)
{
	return !v->scope.hca || v->scope.hca[hca];
}

size_t show_count_gpus(const struct topo_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->m->n_gpus; i++)
		n += show_has_gpu(v, i);
	return n;
}

size_t show_count_hcas(const struct topo_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->m->n_hcas; i++)
		n += show_has_hca(v, i);
	return n;
}

char *show_gpu_bdf(const struct topo_machine *m, size_t gpu, char out[PCI_STR_LEN])
{
	return pci_format(m->pci[m->gpu[gpu].pci].addr, out);
}

char *show_hca_bdf(const struct topo_machine *m, size_t hca, char out[PCI_STR_LEN])
{
	uint32_t pci = m->hca[hca].pci;

	return pci == TOPO_NONE ? NULL : pci_format(m->pci[pci].addr, out);
}

int show_finish(FILE *to, struct err *e)
{
	errno = 0;
	if (fflush(to) == 0 && !ferror(to))
		return 0;
	return err_set(e, ERR_IO, errno ? errno : EIO, "write what was asked for");
}

char *show_names(const struct topo_machine *m, const uint32_t *hca, size_t n)
{
	size_t size = 1;
	char *text, *end;

	for (size_t i = 0; i < n; i++)
		size += strlen(m->hca[hca[i]].name) + 1;
	text = end = malloc(size);
	if (!text)
		return NULL;
	*end = '\0';
	for (size_t i = 0; i < n; i++)
		end = stpcpy(stpcpy(end, i ? "," : ""), m->hca[hca[i]].name);
	return text;
}

char *show_foreign_hcas(const struct topo_view *v)
{
	auto_free uint32_t *list = calloc(v->m->n_hcas + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return NULL;
	for (uint32_t h = 0; h < v->m->n_hcas; h++)
		if (!show_has_hca(v, h))
			list[n++] = h;
	return show_names(v->m, list, n);
}

uint32_t *show_takes(const struct nccl_prediction *a, size_t gpu, size_t *n)
{
	const struct nccl_gpu *g = &a->gpu[gpu];
	uint32_t *hca = malloc((NCCL_FUSED_MAX * g->n_channels + 1) * sizeof(*hca));

	*n = 0;
	for (size_t i = 0; hca && i < NCCL_FUSED_MAX * g->n_channels; i++) {
		const struct nccl_net *net = &a->net[g->channel[i / NCCL_FUSED_MAX]];
		uint32_t part = (uint32_t)(i % NCCL_FUSED_MAX);
		size_t seen = 0;

		if (part >= nccl_net_parts(net))
			continue;
		while (seen < *n && hca[seen] != nccl_net_part(net, part).hca)
			seen++;
		if (seen == *n)
			hca[(*n)++] = nccl_net_part(net, part).hca;
	}
	return hca;
}

bool show_unavailable(const struct topo_view *v, size_t gpu)
{
	const struct compare_gpu *d = &v->differ->gpu[gpu];

	return d->verdict == COMPARE_FARTHER || d->cause == COMPARE_GDR_OFF;
}

const char *show_why_uncertain(const struct nccl_prediction *a)
{
	return a->ranks_differ ? "the ranks do not see the same NICs (docs/topology.md, limits)"
			       : "without GPUDirect RDMA, NCCL's search may take other HCAs "
				 "(docs/topology.md, limits)";
}

/* ---- CPUs ---- */

#define CPUS_MAX 2048

/* The last digit of the mask has the lowest CPUs. Returns the number of its bits; 0: no mask. */
static unsigned take_mask(const char *mask, bool cpu[CPUS_MAX])
{
	unsigned n = 0;

	for (size_t i = strlen(mask); i-- > 0;) {
		int digit = hex_digit(mask[i]);

		if (mask[i] == ',')
			continue;
		if (digit < 0 || n + 4 > CPUS_MAX)
			return 0;
		for (unsigned bit = 0; bit < 4; bit++)
			cpu[n++] = digit >> bit & 1;
	}
	return n;
}

char *show_cpus(const char *mask, char *buf, size_t size)
{
	bool cpu[CPUS_MAX];
	unsigned n = take_mask(mask, cpu);
	size_t len = 0;

	*buf = '\0';
	for (unsigned first = 0, end; first < n; first = end + 1) {
		for (end = first; end < n && cpu[end];)
			end++;
		if (end == first)
			continue;
		int more = snprintf(buf + len, size - len, end - first > 1 ? "%s%u-%u" : "%s%u",
				    len ? "," : "", first, end - 1);
		if (more < 0 || (size_t)more >= size - len) {
			*buf = '\0';
			break;
		}
		len += (size_t)more;
	}
	return buf;
}
