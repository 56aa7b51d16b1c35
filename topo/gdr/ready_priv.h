/* SPDX-License-Identifier: Apache-2.0 */
/* ready_priv.h: what the files ready*.c share. */
#ifndef RAILHEAD_TOPO_GDR_READY_PRIV_H
#define RAILHEAD_TOPO_GDR_READY_PRIV_H

#include <sys/types.h>

#include "topo/read/pcicap.h"
#include "topo/gdr/ready.h"

enum ready_dir { READY_SYS, READY_PROC, READY_BOOT, READY_DIRS };

struct ready {
	const struct aff_machine *m;
	const struct aff_choice *c;
	const struct aff_scope *scope; /* NULL: all */
	bool others_seen;
	bool tree;           /* else a topology file */
	int dir[READY_DIRS]; /* -1: there is no such folder */
	struct aff_findings out;
	bool failed;     /* no memory */
	bool *near;      /* by GPU and HCA: among its nearest */
	bool *near_card; /* by GPU and function: it, or a VF of it, is */
	bool *said;      /* by function: ready_once() */
};

/* ---- saying ---- */

/* ready_add - a finding; never NULL. gpu, hca: AFF_NONE as in AFF_OF_GPU. */
struct finding *ready_add(struct ready *r, const char *id, enum finding_state state, uint32_t gpu,
			  uint32_t hca);

/* ready_path - set the file that it was read from; path is below dir. A topology file has none. */
void ready_path(const struct ready *r, struct finding *f, enum ready_dir dir, const char *path);

/* ready_unread - why a file that was not read (-errno) makes the finding unknown. */
void ready_unread(struct finding *f, int why);

/* ---- reading: links lead nowhere outside the folder ---- */

#define READY_PATH_LEN 128

/* ready_read - up to size bytes; how many, or -errno. */
ssize_t ready_read(const struct ready *r, enum ready_dir dir, const char *path, void *buf,
		   size_t size);
/* ready_text - the first line as a string, cut to size; 0 or -errno. */
int ready_text(const struct ready *r, enum ready_dir dir, const char *path, char *buf, size_t size);
/* ready_there - whether there is such a file or folder. */
bool ready_there(const struct ready *r, enum ready_dir dir, const char *path);
/* ready_link - the last component of where a link leads; 0 or -errno. */
int ready_link(const struct ready *r, enum ready_dir dir, const char *path, char *buf, size_t size);

/* ready_pci_path - "bus/pci/devices/<address>/<name>". Returns out. */
char *ready_pci_path(const struct ready *r, uint32_t pci, const char *name,
		     char out[READY_PATH_LEN]);
char *ready_bdf(const struct ready *r, uint32_t pci, char out[PCI_STR_LEN]);

/* A function's configuration space; len 0 and error -errno when it cannot be read. */
struct ready_config {
	uint8_t byte[PCI_CONFIG_MAX];
	size_t len;
	int error;
};
struct pci_config ready_config(const struct ready *r, uint32_t pci, struct ready_config *out);

/* ready_config_unknown - say of a finding that the configuration space did not tell it. */
void ready_config_unknown(struct ready *r, struct finding *f, uint32_t pci,
			  const struct ready_config *c);

/* ---- whom it is about ---- */

/* ready_owner - the function whose link and settings count for an HCA: of a VF its PF's; AFF_NONE:
 * of a VF whose PF is not seen, or there is none. */
uint32_t ready_owner(const struct aff_machine *m, uint32_t hca);

/* ready_has_gpu, ready_has_hca - in scope. */
bool ready_has_gpu(const struct ready *r, size_t gpu);
bool ready_has_hca(const struct ready *r, size_t hca);

/* ready_is_near_any - whether it is among the nearest of any GPU. */
bool ready_is_near_any(const struct ready *r, uint32_t hca);
/* ready_once - false when it was asked of this function before. */
bool ready_once(struct ready *r, uint32_t pci);

enum ready_mode { READY_IOMMU_UNKNOWN, READY_IOMMU_OFF, READY_IOMMU_PASS, READY_IOMMU_TRANSLATES };

struct ready_group {
	enum ready_mode mode;
	char name[16]; /* the group's number */
	char type[32]; /* as the kernel says it */
	int error;     /* -errno of the file that would have told */
};
/* ready_group - the IOMMU group of a function. */
void ready_group(const struct ready *r, uint32_t pci, struct ready_group *out);

/* ready_c2c - that GPU and CPU are one module (Grace) is likely: no file tells the link itself. */
bool ready_c2c(const struct ready *r, uint32_t gpu);

/* ---- the checks, each in the file of its name ---- */

void ready_host(struct ready *r);                /* ready_host.c: the machine */
void ready_driver(struct ready *r);              /* ready_driver.c: peer memory, DMA-BUF */
void ready_gpu(struct ready *r, uint32_t gpu);   /* ready_gpu.c */
void ready_hca(struct ready *r, uint32_t hca);   /* ready_hca.c: once for each that is near */
void ready_ports(struct ready *r, uint32_t gpu); /* ready_hca.c: nearer ones that are down */
void ready_pair(struct ready *r, uint32_t gpu, uint32_t hca); /* ready_pair.c */
/* ready_function.c: of a function of a GPU or an HCA; the other is AFF_NONE. */
void ready_iommu(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void ready_link_state(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void ready_payload(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);
void ready_numa(struct ready *r, uint32_t pci, uint32_t gpu, uint32_t hca);

#endif
