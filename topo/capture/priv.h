/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: state and helpers that the files capture*.c share. */
#ifndef RAILHEAD_TOPO_CAPTURE_PRIV_H
#define RAILHEAD_TOPO_CAPTURE_PRIV_H

#include "topo/capture/capture.h"
#include "topo/capture/tar.h"
#include "topo/read/tree.h"

#define CAPTURE_VALUE 65536 /* maximum size of a file, except the kernel's configuration */

struct capture {
	struct tar tar;
	struct tree t;         /* its functions are read */
	struct topo_machine m; /* of t */
	int proc, boot;        /* folders; -1 */
	bool raw;
	uint64_t key[2]; /* of hide_text(); random in each capture */
	struct topo_capture_sum sum;
	char value[CAPTURE_VALUE + 1];
};

/* ---- hide.c: pure; length and format stay the same ---- */

/* hide_text - replace the hexadecimal digits of a GUID, a MAC or a GID. Zeros and the prefix of a
 * GID (fe80::, ::ffff:) do not change. */
void hide_text(const uint64_t key[2], char *text);
/* hide_config - replace the serial number in a configuration space. */
void hide_config(const uint64_t key[2], uint8_t *bytes, size_t len);

/* ---- capture.c: files of a folder ---- */

enum keep { KEEP, KEEP_HIDDEN };
/* keep_file - write the file `name` of dir as <prefix>/<name>. Returns its length; -1: it does not
 * exist or cannot be read. keep_files: several, NULL at the end. */
ssize_t keep_file(struct capture *c, int dir, const char *prefix, const char *name, enum keep how);
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
