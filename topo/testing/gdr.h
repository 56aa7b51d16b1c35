/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdr.h: a machine on which GPUDirect RDMA works, for tests that break one thing.
 *
 * A root port, a switch of two ports, below one an NVIDIA GPU, below the other mlx5_0; as files
 * too, in a folder of the test. Everything fails the test if it cannot. For test programs only.
 */
#ifndef RAILHEAD_TOPO_TESTING_GDR_H
#define RAILHEAD_TOPO_TESTING_GDR_H

#include "topo/read/pcicap.h"
#include "topo/gdr/gdr.h"

struct gdr_test {
	struct topo_machine m;
	struct topo_choice c;
	struct topo_tree_dirs dirs;
	uint32_t root_port, upstream, gpu_port, nic_port, gpu, nic; /* functions */
	struct topo_gpu_choice choice;
	uint32_t nearest[4];
};

/* gdr_test_make - pass it by a static: the machine is the test's, and goes with its process. */
void gdr_test_make(struct gdr_test *w);

/* gdr_test_file - make, replace or, with NULL, remove a file below the folder: "sys/class/x". */
void gdr_test_file(const char *path, const char *text);
/* gdr_test_link - a link there. */
void gdr_test_link(const char *path, const char *target);

/* gdr_test_config - the configuration space of a function: len bytes of it, 4096 for all. */
struct gdr_test_config {
	uint8_t type;   /* of the PCI Express capability */
	uint16_t acs;   /* what is on; 0xffff: it has no ACS */
	bool ats;       /* switched on */
	uint8_t mps;    /* code; 1: 256 bytes; it can do 256 */
	uint8_t mrrs;   /* code; 5: 4096 */
	bool unordered; /* relaxed ordering is switched off */
};
void gdr_test_config(const struct gdr_test *w, uint32_t pci, struct gdr_test_config k, size_t len);

/* gdr_test_path - of a function's file below the folder, for gdr_test_file. Static text. */
const char *gdr_test_path(const struct gdr_test *w, uint32_t pci, const char *name);

/* gdr_test_state - check the machine; the state of the first finding with this id, which must
 * exist. gdr_test_has: there is one. */
enum finding_state gdr_test_state(const struct gdr_test *w, const char *id);
bool gdr_test_has(const struct gdr_test *w, const char *id);
/* gdr_test_look - check the machine, and return the first finding with this id in *f; NULL: there
 * is none. w NULL: search *f without another check. */
const struct finding *gdr_test_look(const struct gdr_test *w, const char *id,
				    struct gdr_findings *f);
const struct finding *gdr_test_find(const struct gdr_findings *f, const char *id, uint32_t gpu,
				    uint32_t hca);

#endif
