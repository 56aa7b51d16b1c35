/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: elements and attributes, shared by the parser and the builder of a machine. */
#ifndef RAILHEAD_TOPO_NCCL_PRIV_H
#define RAILHEAD_TOPO_NCCL_PRIV_H

#include "topo/core/machine_build.h"

#define XML_DEPTH_MAX 64
#define XML_VALUE_MAX 255 /* NCCL's MAX_STR_LEN */

/* The start of an element. atts: name, value, name, value, ..., NULL. */
struct xml_elem {
	const char *name;
	const char **atts;
	unsigned long line;
};

/* Read an attribute; a missing or empty one leaves *out unchanged. ERR_FIELD names line, element,
 * attribute and value. xml_int: decimal, or hexadecimal with 0x. xml_hex: "0x" is optional.
 * xml_busid: a PCI address. xml_text: size includes the NUL. */
struct xml_range {
	int64_t min, max;
};
#define XML_RANGE(min, max) ((struct xml_range){ min, max })
int xml_int(const struct xml_elem *x, const char *name, struct xml_range range, int64_t *out,
	    struct err *e) must_check;
int xml_hex(const struct xml_elem *x, const char *name, uint64_t max, uint64_t *out,
	    struct err *e) must_check;
int xml_busid(const struct xml_elem *x, const char *name, struct pci_addr *out,
	      struct err *e) must_check;
int xml_double(const struct xml_elem *x, const char *name, double *out, struct err *e) must_check;
int xml_text(const struct xml_elem *x, const char *name, char *out, size_t size,
	     struct err *e) must_check;
/* xml_value - the text of an attribute; NULL: it is missing. */
const char *xml_value(const struct xml_elem *x, const char *name);
/* xml_bad - set ERR_FIELD: "line 3, pci: busid "x": <what>". Returns -1. */
int xml_bad(const struct xml_elem *x, const char *name, const char *what, struct err *e);

enum xml_kind { XML_SKIP, XML_SYSTEM, XML_CPU, XML_PCI, XML_GPU, XML_NIC, XML_NET, XML_LINK };

/* An open element, and the records of the machine above it; TOPO_NONE: none. */
struct xml_level {
	enum xml_kind kind;
	uint32_t cpu, root, pci, gpu;
};

struct xml_build {
	struct topo_machine *m;
	size_t depth;
	struct xml_level open[XML_DEPTH_MAX];
};

/* xml_begin, xml_end - start and end of an element, in the order of the file; stop at an error. */
int xml_begin(struct xml_build *b, const struct xml_elem *x, struct err *e) must_check;
void xml_end(struct xml_build *b);
/* xml_finish - complete the machine after the last element. */
int xml_finish(struct xml_build *b, struct err *e) must_check;

/* Add a gpu, net or nvlink element to the machine; at: the element above it. */
int xml_gpu(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
	    struct err *e) must_check;
int xml_net(struct topo_machine *m, const struct xml_level *at, const struct xml_elem *x,
	    struct err *e) must_check;
int xml_nvlink(struct topo_machine *m, const struct xml_level *at, const struct xml_elem *x,
	       struct err *e) must_check;

/* xml_complete - add the GPUs and NICs that NCCL would find to a skeleton. */
int xml_complete(struct topo_machine *m, struct err *e) must_check;

#endif
