/* SPDX-License-Identifier: Apache-2.0 */
/* gdr_priv.h: state and helpers that the checks share. */
#ifndef RAILHEAD_TOPO_GDR_GDR_PRIV_H
#define RAILHEAD_TOPO_GDR_GDR_PRIV_H

#include <sys/types.h>

#include "topo/read/pcicap.h"
#include "topo/gdr/gdr.h"

enum ready_dir { READY_SYS, READY_PROC, READY_BOOT, READY_DIRS };

struct ready {
	const struct aff_machine *m;
	const struct aff_choice *c;
	const struct aff_scope *scope; /* NULL: all */
	bool others_seen;
	bool tree;           /* else a topology file */
	int dir[READY_DIRS]; /* -1: there is no such folder */
	struct aff_findings out;
	bool failed;     /* out of memory */
	bool *near;      /* [GPU][HCA]: the HCA is among the GPU's nearest */
	bool *near_card; /* [GPU][function]: so is its HCA, or the HCA of one of its VFs */
	bool *checked;   /* by function: ready_once() */
};

/* ---- findings ---- */

/* ready_add - append a finding and set its subject; never NULL. gpu, hca: AFF_NONE means all. */
struct finding *ready_add(struct ready *r, const char *id, enum finding_state state, uint32_t gpu,
			  uint32_t hca);

/* ready_path - set the file from which the finding comes; path is below dir. */
void ready_path(const struct ready *r, struct finding *f, enum ready_dir dir, const char *path);

/* ready_unread - make the finding unknown because its file cannot be read; why: -errno. */
void ready_unread(struct finding *f, int why);

/* ---- reading: no link leads out of the folder ---- */

#define READY_PATH_LEN 128

/* ready_read - read up to size bytes; returns their number, or -errno. */
ssize_t ready_read(const struct ready *r, enum ready_dir dir, const char *path, void *buf,
		   size_t size);
/* ready_text - read the first line as a string, cut to size; 0 or -errno. */
int ready_text(const struct ready *r, enum ready_dir dir, const char *path, char *buf, size_t size);
/* ready_there - the file or folder exists. */
bool ready_there(const struct ready *r, enum ready_dir dir, const char *path);
/* ready_link - read the last component of the target of a link; 0 or -errno. */
int ready_link(const struct ready *r, enum ready_dir dir, const char *path, char *buf, size_t size);

/* ready_pci_path - "bus/pci/devices/<address>/<name>". Returns out. */
char *ready_pci_path(const struct ready *r, uint32_t pci, const char *name,
		     char out[READY_PATH_LEN]);
/* ready_bdf - the address of a function, "0000:3a:00.0". Returns out. */
char *ready_bdf(const struct ready *r, uint32_t pci, char out[PCI_STR_LEN]);

/* The configuration space of a function; if it cannot be read, len is 0 and error is -errno. */
struct ready_config {
	uint8_t byte[PCI_CONFIG_MAX];
	size_t len;
	int error;
};
/* ready_config - read it; the result points into *out. */
struct pci_config ready_config(const struct ready *r, uint32_t pci, struct ready_config *out);

/* ready_config_unknown - make the finding unknown because c is missing or too short. */
void ready_config_unknown(struct ready *r, struct finding *f, uint32_t pci,
			  const struct ready_config *c);

/* ---- the devices of a finding ---- */

/* ready_owner - the function whose link and settings an HCA uses: for a VF, its PF. AFF_NONE: the
 * PF is not visible, or the HCA has no function. */
uint32_t ready_owner(const struct aff_machine *m, uint32_t hca);

/* ready_has_gpu, ready_has_hca - the device is in scope. */
bool ready_has_gpu(const struct ready *r, size_t gpu);
bool ready_has_hca(const struct ready *r, size_t hca);

/* ready_is_near_any - the HCA is among the nearest of at least one GPU. */
bool ready_is_near_any(const struct ready *r, uint32_t hca);
/* ready_once - true at the first call for this function, false afterwards. */
bool ready_once(struct ready *r, uint32_t pci);

enum ready_mode { READY_IOMMU_UNKNOWN, READY_IOMMU_OFF, READY_IOMMU_PASS, READY_IOMMU_TRANSLATES };

struct ready_group {
	enum ready_mode mode;
	char name[16]; /* the number of the group; "": not known */
	char type[32]; /* the kernel's text, "DMA-FQ"; "": not known */
	int error;     /* if the mode is unknown: -errno of the file */
};
/* ready_group - read the IOMMU group of a function. */
void ready_group(const struct ready *r, uint32_t pci, struct ready_group *out);

/* ready_c2c - GPU and CPU are probably one module (Grace); no file shows the C2C link itself. */
bool ready_c2c(const struct ready *r, uint32_t gpu);

/* ---- the checks, each in the file of its name ---- */

void ready_host(struct ready *r);                /* ready_host.c: the machine */
void ready_driver(struct ready *r);              /* ready_driver.c: peer memory, DMA-BUF */
void ready_gpu(struct ready *r, uint32_t gpu);   /* ready_gpu.c */
void ready_hca(struct ready *r, uint32_t hca);   /* ready_hca.c: once for each that is near */
void ready_ports(struct ready *r, uint32_t gpu); /* ready_hca.c: nearer ones that are down */
void ready_pair(struct ready *r, uint32_t gpu, uint32_t hca); /* ready_pair.c */
/* ready_function.c: checks of a function of a GPU or an HCA; the other of the two is AFF_NONE. */
void ready_iommu(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void ready_link_state(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void ready_payload(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void ready_numa(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);

#endif
