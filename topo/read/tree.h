/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h: a tree that stands for /sys, as its readers and captures share it.
 *
 * Paths are relative to the folder that stands for /sys and hold no links, "." and "..": a link is
 * read and its text worked out here, and nothing is opened through one. So no link of a captured
 * tree leads out of it, and none in circles.
 */
#ifndef RAILHEAD_TOPO_READ_TREE_H
#define RAILHEAD_TOPO_READ_TREE_H

#include <sys/types.h>

#include "topo/core/machine_build.h"
#include "topo/read/read.h"

#define TREE_VALUE 256  /* longest value that is taken, with NUL */
#define TREE_PATH  1024 /* longest path, with NUL */

struct tree_place {
	struct pci_addr addr;
	uint32_t pci;
};

/* What one end of a function's link can do, and does. */
struct tree_ends {
	struct aff_pcie_link max, cur;
};

/* VFs of one PF: n from first on, in steps. like: the first that was read; AFF_NONE. */
struct tree_vfs {
	struct pci_addr first;
	uint32_t n, stride, pf, like;
};

struct tree {
	int fd;
	struct aff_machine *m;
	const struct aff_read_opts *opts; /* may be NULL */
	struct tree_ends *ends;           /* of each function its own end; owned */
	struct tree_vfs *vfs;             /* what PFs tell; owned */
	size_t n_vfs;
	struct tree_place *place; /* the functions by address, once they are read; owned */
	size_t n_places;
	struct tree_place *physfn; /* VFs, with the addresses of their PFs; owned */
	size_t n_physfns;
	struct tree_netdev *netdev; /* interfaces by function; owned */
	size_t n_netdevs;
};

/* A path with room behind it for the name of a file. */
struct tree_path {
	char text[TREE_PATH + 64];
	size_t len;
};
/* tree_at - the path with /name behind; valid until the next call. */
const char *tree_at(struct tree_path *p, const char *name);

/* ---- tree.c ---- */
/* tree_open, tree_file - a folder, a file below dir; -1 with errno. tree_text: a file below /proc
 * or /boot; live: of this machine, where /proc/net is a link. */
int tree_open(int dir, const char *path);
int tree_file(int dir, const char *path);
int tree_text(int dir, const char *path, bool live);
/* tree_value - the value of the file `name` below dir without its newline: 0, or -1: there is none,
 * it cannot be read, or it is longer. */
int tree_value(int dir, const char *name, char out[TREE_VALUE]);
/* tree_hex, tree_number - the same of a number; 0x is optional. Leave *out alone when -1. */
int tree_hex(int dir, const char *name, uint32_t max, uint32_t *out);
int tree_number(int dir, const char *name, int *out);

enum tree_link { TREE_LINK, TREE_NO_LINK, TREE_BAD_LINK };
/* tree_link - where the link `name` of dir points to, which lies at the path `at`. TREE_NO_LINK:
 * there is none of that name, or it is no link. TREE_BAD_LINK: it is absolute, or leads out. */
enum tree_link tree_link(int dir, const char *at, const char *name, char out[TREE_PATH]);

/* tree_names - the names in the folder dir, in order; *names and each of them owned by the caller.
 * More than max: ERR_FIELD. A folder that cannot be read has none. */
struct tree_names {
	char **name;
	size_t n;
};
int tree_names(int dir, size_t max, struct tree_names *out, struct err *e) must_check;
void tree_names_clear(struct tree_names *n);
#define auto_tree_names auto_clean(tree_names_clear)
/* tree_push - a copy of the text behind the others. */
int tree_push(struct tree_names *n, size_t max, const char *text, struct err *e) must_check;

/* ---- read_pci.c, read_walk.c: functions ---- */

/* tree_list - the paths of all functions. */
int tree_list(struct tree *t, struct tree_names *out, struct err *e) must_check;
/* tree_list_one - that of one; nothing when there is no such function. */
int tree_list_one(struct tree *t, const char *bdf, struct tree_names *out,
		  struct err *e) must_check;
/* tree_functions - read those at the paths, with what is above them; puts the paths in order. */
int tree_functions(struct tree *t, struct tree_names *paths, struct err *e) must_check;
/* tree_index - fill in t->place, and the PFs of the VFs. */
int tree_index(struct tree *t, struct err *e) must_check;
/* tree_find, tree_last - by address; the one that a path names last. AFF_NONE: there is none. */
uint32_t tree_find(const struct tree *t, struct pci_addr a);
uint32_t tree_last(const struct tree *t, const char *path);
void tree_clear(struct tree *t);
/* "pci0000:3a"; "0000:3a:00.0"; what is behind the last slash. */
bool tree_is_root(struct slice name);
bool tree_is_function(struct slice name, struct pci_addr *out);
struct slice tree_last_name(const char *path);
#define auto_tree auto_clean(tree_clear)

/* ---- read_function.c: one function; its record is there, p is its path ---- */

/* tree_function - all of it; for those that matter, which tree_matters() tells by the class. */
void tree_function(struct tree *t, struct tree_path *p, uint32_t pci);
bool tree_matters(const struct tree *t, const struct aff_pci *p);
/* tree_asked_for - its class is among the caller's. */
bool tree_asked_for(const struct aff_pci *p, const struct aff_read_opts *o);

/* ---- read_vf.c: which functions are VFs ---- */

/* tree_vf_of - what a PF told of the function before; NULL: it is no VF, or not known yet. */
const struct tree_vfs *tree_vf_of(const struct tree *t, struct pci_addr a);
/* tree_sriov - the VFs of a PF; or, of a VF, its PF. */
int tree_sriov(struct tree *t, struct tree_path *p, uint32_t pci, struct err *e) must_check;

/* ---- the rest ---- */
/* tree_cpus - NUMA nodes and the processor, and the nodes of the root complexes; tree_roots: only
 * the last, by number. proc: NULL when there is none. */
int tree_cpus(struct tree *t, const char *proc, struct err *e) must_check;
int tree_roots(struct tree *t, struct err *e) must_check;
int tree_gpus(struct tree *t, struct err *e) must_check;
int tree_hcas(struct tree *t, struct err *e) must_check;

/* ---- read_netdev.c ---- */

struct tree_netdev {
	uint32_t pci;
	char name[IFNAME_LEN];
};
/* tree_netdevs - the interfaces of all functions; one stat each. */
int tree_netdevs(struct tree *t, struct err *e) must_check;
/* tree_netdev - the function of an interface; AFF_NONE. */
uint32_t tree_netdev(const struct tree *t, const char *ifname);
/* tree_port_netdev - the interface of a port: path is that of the RDMA device's folder. */
int tree_port_netdev(const struct tree *t, struct tree_path *path, const struct aff_hca *h,
		     struct aff_port *p, struct err *e) must_check;
/* tree_bond - the function of another slave of the bond that the interface is, or is in; AFF_NONE:
 * there is none. */
uint32_t tree_bond(const struct tree *t, const char *ifname, uint32_t not_this);

#endif
