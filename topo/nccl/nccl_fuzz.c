// SPDX-License-Identifier: Apache-2.0
/* Feeds a topology file: it gets a prediction, and the same one after it is written and read. */
#include "lib/testing/fuzz.h"
#include "topo/read/read.h"
#include "topo/nccl/nccl.h"
#include "topo/nccl/write.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size), *out = NULL;
	auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
	struct nccl_opts o = { .gdr_level = -1, .rccl = size & 1 };
	struct err e;

	/* NCCL itself takes fewer */
	if (topo_read_xml(text, size, &m, &e) || m.n_pci > 256 || m.n_hcas > 256 || m.n_gpus > 64)
		return 0;
	MUST(!nccl_predict(&m, NULL, &o, &a, &e));
	struct topo_xml_opts w = { .rccl = m.source == TOPO_RCCL_XML };
	if (m.skeleton || topo_xml_write(&m, &w, &out, &e))
		return 0;
	MUST(!topo_read_xml(out, strlen(out), &again, &e));
	MUST(again.skeleton || !nccl_predict(&again, NULL, &o, &b, &e));
	for (size_t g = 0, k = 0; g < a.n_gpus && k < b.n_gpus; g++) {
		const struct nccl_gpu *x = &a.gpu[g], *y = &b.gpu[k];
		k += x->in; /* others are not written */
		MUST(!x->in || (x->type == y->type && x->bw == y->bw && x->gdr == y->gdr));
		MUST(!x->in || x->n_channels == y->n_channels);
	}
	return 0;
}
