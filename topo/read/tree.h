/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h: a tree that represents /sys; shared by its readers and by topo/capture.
 *
 * Paths are relative to that folder and contain no links, "." or "..". tree_link() resolves the
 * text of a link; no file is opened through one. So no link leads out of a captured tree, or loops.
 */
#ifndef RAILHEAD_TOPO_READ_TREE_H
#define RAILHEAD_TOPO_READ_TREE_H

#include <sys/types.h>

#include "lib/sys/fs.h"
#include "topo/core/machine_build.h"
#include "topo/read/read.h"

#define TREE_VALUE 256  /* longest value, with NUL */
#define TREE_PATH  1024 /* longest path, with NUL */

struct tree_place {
	struct pci_addr addr;
	uint32_t pci;
};

/* A function's own end of the link above it: maximum and current state. */
struct tree_ends {
	struct topo_pcie_link max, cur;
};

/* n VFs of a PF, from `first` on, `stride` apart. like: the VF that was read in full; TOPO_NONE. */
struct tree_vfs {
	struct pci_addr first;
	uint32_t n, stride, pf, like;
};

struct tree {
	int fd;
	struct topo_machine *m;
	const struct topo_read_opts *opts; /* may be NULL */
	struct tree_ends *ends;            /* by function; owned */
	struct tree_vfs *vfs;              /* from sriov_numvfs of the PFs; owned */
	size_t n_vfs;
	struct tree_place *place; /* functions by address, set by tree_index(); owned */
	size_t n_places;
	struct tree_place *physfn; /* VFs, with the addresses of their PFs; owned */
	size_t n_physfns;
	struct tree_netdev *netdev; /* interfaces by function; owned */
	size_t n_netdevs;
};

/* A path, with space for "/" and the name of a file behind it. */
struct tree_path {
	char text[TREE_PATH + 64];
	size_t len;
};
/* tree_at - the text of p with /name appended; valid until the next call. "": it is too long. */
const char *tree_at(struct tree_path *p, const char *name);

/* ---- tree.c ---- */
/* tree_open, tree_file - open a folder or a file below dir; -1 with errno. tree_text opens a file
 * below /proc or /boot; live: this machine's, where /proc/net is a link. */
int tree_open(int dir, const char *path);
int tree_file(int dir, const char *path);
int tree_text(int dir, const char *path, bool live);
/* tree_value - the value of the file `name` below dir, without its newline. -1: the file does not
 * exist, cannot be read, is empty, or has a longer value. */
int tree_value(int dir, const char *name, char out[TREE_VALUE]);
/* tree_hex, tree_number - the value as a number; "0x" is optional. -1 leaves *out unchanged. */
int tree_hex(int dir, const char *name, uint32_t max, uint32_t *out);
int tree_number(int dir, const char *name, int *out);

enum tree_link { TREE_LINK, TREE_NO_LINK, TREE_BAD_LINK };
/* tree_link - the path to which the link `name` in dir points; `at` is the path of dir.
 * TREE_NO_LINK: there is no such name, or it is not a link. TREE_BAD_LINK: the link is absolute, or
 * leads out of the tree. */
enum tree_link tree_link(int dir, const char *at, const char *name, char out[TREE_PATH]);

/* tree_names - the names in the folder dir, sorted; the caller clears *out. ERR_FIELD: there are
 * more than max. A folder that cannot be read has none. */
int tree_names(int dir, size_t max, struct fs_names *out, struct err *e) must_check;
/* tree_push - append a copy of text. */
int tree_push(struct fs_names *n, size_t max, const char *text, struct err *e) must_check;

/* ---- pci.c, walk.c: functions ---- */
/* tree_list - append the paths of all functions to *out. */
int tree_list(struct tree *t, struct fs_names *out, struct err *e) must_check;
/* tree_list_one - append the path of one function; nothing if it does not exist. */
int tree_list_one(struct tree *t, const char *bdf, struct fs_names *out, struct err *e) must_check;
/* tree_functions - read the functions at these paths, and those above them. Sorts the paths. */
int tree_functions(struct tree *t, struct fs_names *paths, struct err *e) must_check;
/* tree_index - fill t->place, and set physfn of the VFs. */
int tree_index(struct tree *t, struct err *e) must_check;
/* tree_find - the function with this address; tree_last: the last function that a path names.
 * TOPO_NONE: there is none. Both need tree_index(). */
uint32_t tree_find(const struct tree *t, struct pci_addr a);
uint32_t tree_last(const struct tree *t, const char *path);
/* tree_clear - close t->fd and free what the steps stored; t->m belongs to the caller. */
void tree_clear(struct tree *t);
#define auto_tree auto_clean(tree_clear)
/* A root complex's name, "pci0000:3a"; an address, "0000:3a:00.0"; the part behind the last '/'. */
bool tree_is_root(struct slice name);
bool tree_is_function(struct slice name, struct pci_addr *out);
struct slice tree_last_name(const char *path);
/* ---- function.c: one function; its record exists, p is its path ---- */
/* tree_function - read ids, NUMA node, kind and links of a function into its record. */
void tree_function(struct tree *t, struct tree_path *p, uint32_t pci);
/* tree_matters - it is of no known class, or a bridge, NIC, GPU or Data Direct: read it in full. */
bool tree_matters(const struct tree *t, struct tree_path *path, const struct topo_pci *p);
/* tree_asked_for - its class is in o->class_code. */
bool tree_asked_for(const struct topo_pci *p, const struct topo_read_opts *o);
/* ---- vf.c: which functions are VFs ---- */
/* tree_vf_of - the VFs, of a PF that was read before, to which the address belongs; NULL: none. */
const struct tree_vfs *tree_vf_of(const struct tree *t, struct pci_addr a);
/* tree_sriov - for a PF: store its VFs in t->vfs; for a VF: remember its PF. */
int tree_sriov(struct tree *t, struct tree_path *p, uint32_t pci, struct err *e) must_check;
/* ---- cpu.c, gpu.c, hca.c ---- */
/* tree_cpus - add NUMA nodes and the processor, and set the nodes of the root complexes. tree_roots
 * does only the latter. proc: NULL if there is none. */
int tree_cpus(struct tree *t, const char *proc, struct err *e) must_check;
int tree_roots(struct tree *t, struct err *e) must_check;
/* tree_gpus - add the GPUs among the functions that were read; tree_hcas: add the RDMA devices of
 * class/infiniband with their ports. */
int tree_gpus(struct tree *t, struct err *e) must_check;
void tree_c2c(struct tree *t, const char *proc); /* set C2C links of GPUs to their CPUs */
void tree_firmware(struct tree *t);              /* set `hyperv` of the machine */
void tree_data_direct(struct tree *t);           /* set `direct` of HCAs, after they are sorted */
int tree_hcas(struct tree *t, struct err *e) must_check;
/* ---- vpd.c: what a card says of itself ---- */
/* tree_vpd_is_nvswitch - the function whose folder is dir is a ConnectX-7 bridge by which
 * NVSwitches are managed. TOPO_UNKNOWN: its VPD cannot be read. */
enum topo_tristate tree_vpd_is_nvswitch(int dir);

/* ---- netdev.c ---- */
struct tree_netdev {
	uint32_t pci;
	char name[IFNAME_LEN];
};
/* tree_netdevs - fill t->netdev with the interfaces of all functions. */
int tree_netdevs(struct tree *t, struct err *e) must_check;
/* tree_netdev - the function of an interface; TOPO_NONE: it has none. */
uint32_t tree_netdev(const struct tree *t, const char *ifname);
/* tree_port_netdev - set p->netdev, the interface of a port; path: the RDMA device's folder. */
int tree_port_netdev(const struct tree *t, struct tree_path *path, const struct topo_hca *h,
		     struct topo_port *p, struct err *e) must_check;
/* tree_bond - if the interface is a bond or a slave: the function of another slave; TOPO_NONE. */
uint32_t tree_bond(const struct tree *t, const char *ifname, uint32_t not_this);

#endif
