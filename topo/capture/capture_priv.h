/* SPDX-License-Identifier: Apache-2.0 */
/* capture_priv.h: what the files capture*.c share. */
#ifndef RAILHEAD_TOPO_CAPTURE_CAPTURE_PRIV_H
#define RAILHEAD_TOPO_CAPTURE_CAPTURE_PRIV_H

#include <stdio.h>

#include "topo/capture/capture.h"
#include "topo/read/tree.h"

#define CAPTURE_VALUE 65536 /* no file is kept with more, but a configuration of the kernel */

struct capture {
	FILE *to;
	struct tree t;        /* its functions are read */
	struct aff_machine m; /* of t */
	int proc, boot;       /* folders; -1 */
	bool raw;
	uint64_t key[2]; /* of what is hidden: new in each capture */
	struct aff_capture_sum sum;
	char value[CAPTURE_VALUE + 1];
};

/* ---- capture_tar.c: what is written; a failure is seen at the stream's end ---- */

void tar_dir(struct capture *c, const char *path);
void tar_file(struct capture *c, const char *path, const void *data, size_t len);
void tar_link(struct capture *c, const char *path, const char *target);
void tar_end(struct capture *c);

/* ---- capture_hide.c: pure; all of one length and kind stay so ---- */

/* hide_text - a GUID, a MAC or a GID as text: runs of hexadecimal digits become others. Zeros stay
 * zeros, and so does the prefix of a GID (fe80::, ::ffff:). */
void hide_text(const uint64_t key[2], char *text);
/* hide_config - the serial number in a configuration space. */
void hide_config(const uint64_t key[2], uint8_t *bytes, size_t len);

/* ---- capture.c: files of a folder ---- */

enum keep { KEEP, KEEP_HIDDEN };
/* keep_file - as <prefix>/<name>; nothing when it is not there. Its length, -1. */
ssize_t keep_file(struct capture *c, int dir, const char *prefix, const char *name, enum keep how);
void keep_files(struct capture *c, int dir, const char *prefix, const char *const *names);
/* keep_link - the link as it is, unless it is absolute. */
void keep_link(struct capture *c, int dir, const char *prefix, const char *name);

/* ---- what is kept ---- */

int capture_functions(struct capture *c, struct err *e) must_check; /* capture_pci.c */
int capture_hcas(struct capture *c, struct err *e) must_check;      /* capture_net.c */
int capture_netdevs(struct capture *c, struct err *e) must_check;
int capture_nodes(struct capture *c, struct err *e) must_check; /* capture_host.c */
int capture_modules(struct capture *c, struct err *e) must_check;
int capture_proc(struct capture *c, struct err *e) must_check;

#endif
