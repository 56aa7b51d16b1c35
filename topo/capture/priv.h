/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: state and helpers that the files capture*.c share. */
#ifndef RAILHEAD_TOPO_CAPTURE_PRIV_H
#define RAILHEAD_TOPO_CAPTURE_PRIV_H

#include "topo/capture/capture.h"
#include "topo/capture/tar.h"
#include "topo/read/tree.h"

#define CAPTURE_GUIDS 16384 /* two for each HCA of the largest machine */
#define CAPTURE_VALUE 65536 /* maximum size of a file, except the kernel's configuration */

struct capture {
	struct tar tar;
	struct tree t;                /* its functions are read */
	struct topo_machine m;        /* of t */
	int proc, boot;               /* folders; -1 */
	uint64_t guid[CAPTURE_GUIDS]; /* those of the machine, each once */
	size_t n_guids;
	struct topo_capture_sum sum;
	char value[CAPTURE_VALUE + 1];
};

/* ---- capture.c: files of a folder ---- */

/* keep_files - write each of these files of dir, NULL at the end, as <prefix>/<name>, if it exists
 * and can be read. */
void keep_files(struct capture *c, int dir, const char *prefix, const char *const *names);
/* keep_link - write a link unchanged; an absolute link is omitted. */
void keep_link(struct capture *c, int dir, const char *prefix, const char *name);

/* ---- the parts of a capture ---- */

int capture_functions(struct capture *c, struct err *e) must_check; /* pci.c */
int capture_hcas(struct capture *c, struct err *e) must_check;      /* net.c */
int capture_netdevs(struct capture *c, struct err *e) must_check;
int capture_nodes(struct capture *c, struct err *e) must_check; /* host.c */
void capture_firmware(struct capture *c);
int capture_modules(struct capture *c, struct err *e) must_check;
int capture_proc(struct capture *c, struct err *e) must_check;

#endif
