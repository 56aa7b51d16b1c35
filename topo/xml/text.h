/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: text that grows, and the elements of a topology file in it: between the writers.
 */
#ifndef RAILHEAD_TOPO_XML_TEXT_H
#define RAILHEAD_TOPO_XML_TEXT_H

#include "lib/base/text.h"
#include "topo/nccl/system.h"

/* What NCCL's parser takes, its own additions counted. */
#define XML_MAX_ELEMENTS 256
#define XML_MAX_VALUE    254

struct xml_text {
	struct text text;
	unsigned int elements; /* those that NCCL will have */
	unsigned int depth;
	bool open; /* the last element's tag has no end yet */
	bool rccl, skeleton;
	char what[96]; /* the first value that cannot be written; "" when there is none */
};

void xml_text_clear(struct xml_text *t);
#define auto_xml_text auto_clean(xml_text_clear)

/* xml_open - the beginning of an element; xml_attr - of the last one opened; xml_close - its end.
 * Failures are kept until xml_text_done(). */
void xml_open(struct xml_text *t, const char *name);
void xml_attr(struct xml_text *t, const char *name, const char *fmt, ...) printf_like(3, 4);
void xml_close(struct xml_text *t, const char *name);
void xml_comment(struct xml_text *t, const char *text);

/* xml_text_done - hand over the text, or say what was wrong: too many elements, no memory. */
int xml_text_done(struct xml_text *t, char **out, struct err *e) must_check;

/* Elements. _cpu: record NULL, not told. _pci: a function, under this address, with
 * this link; ids: its own too.
 * They are left open. */
void xml_write_system(struct xml_text *t);
void xml_write_cpu(struct xml_text *t, int numa, const struct aff_cpu *c);
void xml_write_pci(struct xml_text *t, const struct aff_pci *p, struct aff_pcie_link l,
		   struct pci_addr a, bool ids);
/* _gpu: numbered dev, with its links. _net: numbered dev. */
void xml_write_gpu(struct xml_text *t, const struct aff_gpu *g, int dev);
void xml_write_net(struct xml_text *t, const struct aff_machine *m, const struct nccl_xml_net *p,
		   uint32_t dev);

#endif
