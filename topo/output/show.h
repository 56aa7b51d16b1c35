/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h: prints the answers about one machine for people and for programs.
 *
 * The same view gives the same bytes. An unknown value is "-" or "N/A" in text, and null in JSON.
 * Text escapes the control characters of names; SVG escapes every special character.
 */
#ifndef RAILHEAD_TOPO_OUTPUT_SHOW_H
#define RAILHEAD_TOPO_OUTPUT_SHOW_H

#include "lib/cli/out.h"
#include "topo/nccl/compare.h"
#include "topo/gdr/gdr.h"

/* The input of all functions below; it owns nothing. */
struct topo_view {
	const struct topo_machine *m;
	struct topo_scope scope; /* the GPUs and HCAs that are shown */
	bool pod;                /* HCAs out of scope belong to other pods, but are visible here */
	const struct topo_choice *choice;
	const struct nccl_prediction *nccl;
	const struct gdr_findings *findings; /* NULL: the checks did not run */
	const struct comparison *differ;
	unsigned named; /* rails that rails.json of this machine names; 0: it names none */
};

/* ---- for people ---- */

/*
 * show_matrix - print the format of `nvidia-smi topo -m`, which scripts read: cells with tabs
 * between them, a legend, and the names of NIC0, NIC1, ... With colours the header is underlined.
 */
int show_matrix(const struct topo_view *v, const struct out *o, struct err *e) must_check;

/* show_lines - print a line for each GPU: its nearest HCAs, the HCA that it should use, and the
 * HCAs that NCCL will use. No line begins with GPU or NIC, because scripts read the matrix. */
int show_lines(const struct topo_view *v, const struct out *o, struct err *e) must_check;

/* show_foreign_hcas - the names of the visible HCAs out of scope, "mlx5_1,mlx5_2"; owned by the
 * caller; "" for none; NULL: no memory. */
char *show_foreign_hcas(const struct topo_view *v);

/* show_svg - write a picture without external files. Its colours follow the setting of the viewer,
 * and those of print are light. */
int show_svg(const struct topo_view *v, FILE *to, struct err *e) must_check;

/* ---- for programs ---- */

/* show_json - an object of docs/topo.schema.json; owned by the caller; NULL: no memory. */
struct json *show_json(const struct topo_view *v);
/* show_findings_json - an array of findings, worst first; owned by the caller; NULL: no memory. */
struct json *show_findings_json(const struct topo_view *v);

/*
 * show_env - print "export" lines with variables that make NCCL, UCX and NVSHMEM use the GPUs' own
 * HCAs: for all GPUs together, or for each GPU. They never have a GID index.
 */
int show_env(const struct topo_view *v, bool each, FILE *to, struct err *e) must_check;

/* show_labels - print lines name=value for a feature file of Node Feature Discovery. */
int show_labels(const struct topo_view *v, FILE *to, struct err *e) must_check;

/* show_shape - a hash of 16 hex digits of the GPUs and HCAs in scope and their distances. Bus
 * numbers, VFs, ports and names do not change it. Returns out. */
#define SHOW_SHAPE_LEN 17
char *show_shape(const struct topo_view *v, char out[SHOW_SHAPE_LEN]);

#endif
