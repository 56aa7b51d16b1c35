/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: writes the elements of a topology file; shared by write.c and guest.c.
 */
#ifndef RAILHEAD_TOPO_NCCL_TEXT_H
#define RAILHEAD_TOPO_NCCL_TEXT_H

#include "lib/base/text.h"
#include "topo/nccl/system.h"

/* Limits of NCCL's parser: elements, including those that NCCL adds, and the length of a value. */
#define XML_MAX_ELEMENTS 256
#define XML_MAX_VALUE    254

struct xml_text {
	struct text text;
	unsigned int elements; /* including those that NCCL will add */
	unsigned int depth;
	bool open; /* the start tag of the last element is not closed yet */
	bool rccl, skeleton;
	char what[96]; /* the first value that cannot be written; "": none */
};

/* xml_text_clear - free all that t owns. */
void xml_text_clear(struct xml_text *t);
#define auto_xml_text auto_clean(xml_text_clear)

/* xml_open - start an element; xml_close - end it. Failures show
 * in xml_text_done(). xml_comment - write a comment. */
void xml_open(struct xml_text *t, const char *name);
void xml_close(struct xml_text *t, const char *name);
void xml_comment(struct xml_text *t, const char *text);

/* xml_text_done - hand over the text, owned by the caller. ERR_FIELD: too many elements, or a value
 * that NCCL's parser cannot read. */
int xml_text_done(struct xml_text *t, char **out, struct err *e) must_check;

/* Start an element; the caller closes it. _cpu: c is NULL if it is not known. _pci: a function with
 * another address and link; ids: also write its ids. */
void xml_write_system(struct xml_text *t);
void xml_write_cpu(struct xml_text *t, int numa, const struct topo_cpu *c);
void xml_write_pci(struct xml_text *t, const struct topo_pci *p, struct topo_pcie_link l,
		   struct pci_addr a, bool ids);
/* Write a whole gpu element with its NVLinks, or a net element; dev: its number. */
void xml_write_gpu(struct xml_text *t, const struct topo_gpu *g, int dev);
void xml_write_net(struct xml_text *t, const struct topo_machine *m, const struct nccl_xml_net *p,
		   uint32_t dev);

#endif
