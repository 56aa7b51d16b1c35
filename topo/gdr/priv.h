/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: state and helpers that the checks share. */
#ifndef RAILHEAD_TOPO_GDR_PRIV_H
#define RAILHEAD_TOPO_GDR_PRIV_H

#include <sys/types.h>

#include "topo/read/pcicap.h"
#include "topo/gdr/gdr.h"

enum gdr_dir { GDR_SYS, GDR_PROC, GDR_BOOT, GDR_DIRS };

struct gdr {
	const struct topo_machine *m;
	const struct topo_choice *c;
	const struct topo_scope *scope; /* NULL: all */
	bool others_seen;
	const struct lib_version *nccl; /* NULL: not known */
	bool tree;                      /* else a topology file */
	int dir[GDR_DIRS];              /* -1: there is no such folder */
	struct gdr_findings out;
	bool failed;     /* out of memory */
	bool *near;      /* [GPU][HCA]: the HCA is among the GPU's nearest */
	bool *near_card; /* [GPU][function]: so is its HCA, or the HCA of one of its VFs */
	bool *checked;   /* by function: gdr_once() */
};

/* ---- findings ---- */

/* gdr_add - append a finding and set its subject; never NULL. gpu, hca: TOPO_NONE means all. */
struct finding *gdr_add(struct gdr *r, const char *id, enum finding_state state, uint32_t gpu,
			uint32_t hca);

/* gdr_path - set the file from which the finding comes; path is below dir. */
void gdr_path(const struct gdr *r, struct finding *f, enum gdr_dir dir, const char *path);

/* gdr_unread - make the finding unknown because its file cannot be read; why: -errno. */
void gdr_unread(struct finding *f, int why);

/* ---- reading: no link leads out of the folder ---- */

#define GDR_PATH_LEN 128

/* gdr_read - read up to size bytes; returns their number, or -errno. */
ssize_t gdr_read(const struct gdr *r, enum gdr_dir dir, const char *path, void *buf, size_t size);
/* gdr_text - read the first line as a string, cut to size; 0 or -errno. */
int gdr_text(const struct gdr *r, enum gdr_dir dir, const char *path, char *buf, size_t size);
/* gdr_there - the file or folder exists. */
bool gdr_there(const struct gdr *r, enum gdr_dir dir, const char *path);
/* gdr_link - read the last component of the target of a link; 0 or -errno. */
int gdr_link(const struct gdr *r, enum gdr_dir dir, const char *path, char *buf, size_t size);

/* gdr_pci_path - "bus/pci/devices/<address>/<name>". Returns out. */
char *gdr_pci_path(const struct gdr *r, uint32_t pci, const char *name, char out[GDR_PATH_LEN]);
/* gdr_bdf - the address of a function, "0000:3a:00.0". Returns out. */
char *gdr_bdf(const struct gdr *r, uint32_t pci, char out[PCI_STR_LEN]);

/* The configuration space of a function; if it cannot be read, len is 0 and error is -errno. */
struct gdr_config {
	uint8_t byte[PCI_CONFIG_MAX];
	size_t len;
	int error;
};
/* gdr_config - read it; the result points into *out. */
struct pci_config gdr_config(const struct gdr *r, uint32_t pci, struct gdr_config *out);

/* gdr_config_unknown - make the finding unknown because c is missing or too short. */
void gdr_config_unknown(struct gdr *r, struct finding *f, uint32_t pci, const struct gdr_config *c);

/* ---- the devices of a finding ---- */

/* gdr_owner - the function whose link and settings an HCA uses: for a VF, its PF. TOPO_NONE: the
 * PF is not visible, or the HCA has no function. */
uint32_t gdr_owner(const struct topo_machine *m, uint32_t hca);

/* gdr_has_gpu, gdr_has_hca - the device is in scope. */
bool gdr_has_gpu(const struct gdr *r, size_t gpu);
bool gdr_has_hca(const struct gdr *r, size_t hca);

/* gdr_is_near_any - the HCA is among the nearest of at least one GPU. */
bool gdr_is_near_any(const struct gdr *r, uint32_t hca);
/* gdr_once - true at the first call for this function, false afterwards. */
bool gdr_once(struct gdr *r, uint32_t pci);

enum gdr_mode { GDR_IOMMU_UNKNOWN, GDR_IOMMU_OFF, GDR_IOMMU_PASS, GDR_IOMMU_TRANSLATES };

struct gdr_group {
	enum gdr_mode mode;
	char name[16]; /* the number of the group; "": not known */
	char type[32]; /* the kernel's text, "DMA-FQ"; "": not known */
	int error;     /* if the mode is unknown: -errno of the file */
};
/* gdr_group - read the IOMMU group of a function. */
void gdr_group(const struct gdr *r, uint32_t pci, struct gdr_group *out);

/* gdr_c2c - GPU and CPU are one package, with coherent links (Grace). */
bool gdr_c2c(const struct gdr *r, uint32_t gpu);

/* ---- the checks, each in the file of its name ---- */

void gdr_host(struct gdr *r);                             /* host.c: the machine */
void gdr_driver(struct gdr *r);                           /* driver.c: peer memory, DMA-BUF */
void gdr_gpu(struct gdr *r, uint32_t gpu);                /* gpu.c */
void gdr_hca(struct gdr *r, uint32_t hca);                /* hca.c: once for each that is near */
void gdr_ports(struct gdr *r, uint32_t gpu);              /* hca.c: nearer ones that are down */
void gdr_port(struct gdr *r, struct gdr_rail which);      /* hca.c: one port, whatever its state */
void gdr_pair(struct gdr *r, uint32_t gpu, uint32_t hca); /* pair.c */
/* function.c: checks of a function of a GPU or an HCA; the other of the two is TOPO_NONE. */
void gdr_iommu(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void gdr_link_state(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void gdr_payload(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void gdr_numa(struct gdr *r, uint32_t pci, uint32_t gpu, uint32_t hca);

#endif
