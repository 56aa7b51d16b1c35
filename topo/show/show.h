/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h: the answers about one machine as people and programs read them. Changes nothing.
 *
 * The same view gives the same bytes. What is not known is "-" or "N/A" in text and null in JSON.
 * Names from files are shown with control characters escaped; in SVG everything is escaped.
 */
#ifndef RAILHEAD_TOPO_SHOW_SHOW_H
#define RAILHEAD_TOPO_SHOW_SHOW_H

#include "lib/cli/out.h"
#include "topo/compare/compare.h"
#include "topo/gdr/ready.h"

/* What one reader wants to know; all borrowed. */
struct aff_view {
	const struct aff_machine *m;
	struct aff_scope scope; /* GPUs and HCAs that count */
	bool pod;               /* others are other pods', and still visible here */
	const struct aff_choice *choice;
	const struct nccl_prediction *nccl;
	const struct aff_findings *findings; /* NULL: nobody looked */
	const struct comparison *differ;
};

/* ---- for people ---- */

/*
 * show_matrix - as `nvidia-smi topo -m` prints it, for scripts that read that: cells between tabs,
 * the header underlined where colours are, a legend, and the names behind NIC0, NIC1, ...
 */
int show_matrix(const struct aff_view *v, const struct out *o, struct err *e) must_check;

/* show_lines - a line for each GPU: what is nearest, what it should take, what NCCL will take. No
 * line begins with GPU or NIC: the matrix above is read by scripts. */
int show_lines(const struct aff_view *v, const struct out *o, struct err *e) must_check;

/* show_foreign_hcas - the names of the HCAs that are visible and do not count, "mlx5_1,mlx5_2";
 * owned by the caller; "" for none; NULL: no memory. */
char *show_foreign_hcas(const struct aff_view *v);

/* show_svg - a picture that needs nothing beside it, light and dark. */
int show_svg(const struct aff_view *v, FILE *to, struct err *e) must_check;

/* ---- for programs ---- */

/* show_json - docs/topo.schema.json; NULL: no memory. */
struct json *show_json(const struct aff_view *v);
/* show_findings_json - an array, worst first; NULL: no memory. */
struct json *show_findings_json(const struct aff_view *v);

/*
 * show_env - variables for NCCL, UCX and NVSHMEM that lead to the GPUs' own HCAs: "export" lines
 * for all GPUs of the view together, or with each a comment and lines for each of them.
 * show_env_json: {"env": [...], "gpus": [{"bdf", "env"}]}; NULL: no memory. Never a GID index.
 */
int show_env(const struct aff_view *v, bool each, FILE *to, struct err *e) must_check;
struct json *show_env_json(const struct aff_view *v);

/* show_map - for vLLM, GPU=HCA pairs of PCI addresses as "export" lines; show_map_json: for
 * Mooncake, {"cuda:0": [[preferred], [others]], ...}; NULL: no memory. */
int show_map(const struct aff_view *v, FILE *to, struct err *e) must_check;
struct json *show_map_json(const struct aff_view *v);

/* show_labels - lines name=value for a feature file of Node Feature Discovery. */
int show_labels(const struct aff_view *v, FILE *to, struct err *e) must_check;

/* show_shape - 16 hex digits that are equal on machines of one shape, whatever their bus numbers,
 * VFs, ports and names; of all GPUs and HCAs in view. */
#define SHOW_SHAPE_LEN 17
char *show_shape(const struct aff_view *v, char out[SHOW_SHAPE_LEN]);

#endif
