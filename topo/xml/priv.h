/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: between the parser of topology files and what makes a machine of their elements. */
#ifndef RAILHEAD_TOPO_XML_PRIV_H
#define RAILHEAD_TOPO_XML_PRIV_H

#include "topo/core/machine_build.h"

#define XML_DEPTH_MAX 64
#define XML_VALUE_MAX 255 /* NCCL's own bound */

/* An element as it begins. atts: names and values in turn, then NULL. */
struct xml_elem {
	const char *name;
	const char **atts;
	unsigned long line;
};

/* Each leaves *out alone when the attribute is missing or empty; ERR_FIELD names line, element,
 * attribute and value. */
struct xml_range {
	int64_t min, max;
};
#define XML_RANGE(min, max) ((struct xml_range){ min, max })
int xml_int(const struct xml_elem *x, const char *name, struct xml_range range, int64_t *out,
	    struct err *e) must_check; /* decimal, or hexadecimal with 0x */
int xml_hex(const struct xml_elem *x, const char *name, uint64_t max, uint64_t *out,
	    struct err *e) must_check; /* 0x or not */
int xml_busid(const struct xml_elem *x, const char *name, struct pci_addr *out,
	      struct err *e) must_check;
int xml_double(const struct xml_elem *x, const char *name, double *out, struct err *e) must_check;
/* size with the NUL */
int xml_text(const struct xml_elem *x, const char *name, char *out, size_t size,
	     struct err *e) must_check;
/* xml_value - NULL when it is missing. */
const char *xml_value(const struct xml_elem *x, const char *name);
/* xml_bad - ERR_FIELD: "line 3, pci: busid "x": <what>". Returns -1. */
int xml_bad(const struct xml_elem *x, const char *name, const char *what, struct err *e);

enum xml_kind { XML_SKIP, XML_SYSTEM, XML_CPU, XML_PCI, XML_GPU, XML_NIC, XML_NET, XML_LINK };

/* What is open, from the top of the file down. AFF_NONE: not below such a thing. */
struct xml_level {
	enum xml_kind kind;
	uint32_t cpu, root, pci, gpu;
};

struct xml_build {
	struct aff_machine *m;
	size_t depth;
	struct xml_level open[XML_DEPTH_MAX];
};

/* xml_begin, xml_end - in the order of the file; after an error not again. */
int xml_begin(struct xml_build *b, const struct xml_elem *x, struct err *e) must_check;
void xml_end(struct xml_build *b);
/* xml_finish - when the whole file is read. */
int xml_finish(struct xml_build *b, struct err *e) must_check;

/* The elements below a pci element; at: where they are. */
int xml_gpu(struct aff_machine *m, struct xml_level *at, const struct xml_elem *x,
	    struct err *e) must_check;
int xml_net(struct aff_machine *m, const struct xml_level *at, const struct xml_elem *x,
	    struct err *e) must_check;
int xml_nvlink(struct aff_machine *m, const struct xml_level *at, const struct xml_elem *x,
	       struct err *e) must_check;

/* xml_complete - give a skeleton the GPUs and NICs that NCCL would find. */
int xml_complete(struct aff_machine *m, struct err *e) must_check;

#endif
