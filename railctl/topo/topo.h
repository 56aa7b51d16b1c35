/* SPDX-License-Identifier: Apache-2.0 */
/* topo.h: the commands of `railctl topo`, and the machine that they are about. */
#ifndef RAILHEAD_RAILCTL_TOPO_TOPO_H
#define RAILHEAD_RAILCTL_TOPO_TOPO_H

#include "lib/cli/cmd.h"
#include "topo/show/show.h"

extern const struct cmd cmd_topo, topo_capture_cmd, topo_check_cmd, topo_plan_cmd;

/* Where the machine comes from; in the tables of all that look at one. */
#define TOPO_OPT_SYSFS                                                                             \
	{                                                                                          \
		"sysfs", "DIR|TAR",                                                                \
			"a captured machine: a tar file of \"railctl topo capture\", or a folder", \
			0                                                                          \
	}
#define TOPO_OPT_XML                                                                               \
	{                                                                                          \
		"nccl-xml", "FILE", "a topology file of NCCL or RCCL", 0                           \
	}
#define TOPO_OPT_CLASS                                                                             \
	{                                                                                          \
		"class", "CODE", "functions of this PCI class are GPUs too, such as 0x0b40",       \
			OPT_MANY                                                                   \
	}
#define TOPO_OPT_GPUS                                                                              \
	{                                                                                          \
		"gpus", "BDF,...", "only these GPUs, as a pod that holds no others", OPT_MANY      \
	}
#define TOPO_OPT_HCAS                                                                              \
	{                                                                                          \
		"hcas", "NAME,...", "only these HCAs may be used", OPT_MANY                        \
	}

/* A machine, and all answers about it. */
struct topo {
	struct aff_machine m;
	bool *gpu, *hca;          /* the scope's masks; owned; NULL: all */
	struct aff_choice choice; /* within the scope; of all GPUs while no HCA is out of it */
	struct aff_choice node;   /* of the whole machine */
	struct nccl_opts opts;
	struct nccl_prediction nccl;
	struct comparison differ;
	struct aff_findings findings;
	struct aff_view view; /* of all these */
};

#define TOPO_FACTS 1u /* whether GPUDirect RDMA can work is looked at too */

/* topo_load - as the options of r say. */
int topo_load(struct cmd_run *r, unsigned flags, struct topo *t, struct err *e) must_check;
void topo_clear(struct topo *t);
#define auto_topo auto_clean(topo_clear)

/* topo_scope - the masks of --gpus and --hcas; of a live machine without them, and *pid not
 * NULL, those of the pod that process *pid is of (as of struct topo_who). */
int topo_scope(struct cmd_run *r, const int *pid, struct topo *t, struct err *e) must_check;

/* topo_taken - of this machine: one bool for each PCI function, true for VFs that are no pod's to
 * take; owned by the caller. Of another machine nothing is known, and *out stays as it is. */
int topo_taken(struct cmd_run *r, const struct topo *t, bool **out, struct err *e) must_check;

/* topo_nccl_opts - of --set and --rccl. */
int topo_nccl_opts(struct cmd_run *r, struct topo *t, struct err *e) must_check;

/* topo_write - a file of this text in one step, for everybody to read; "-": standard output. */
int topo_write(const struct cmd_run *r, const char *path, const char *text,
	       struct err *e) must_check;

/* topo_check_xml, topo_write_xml - what --nccl-xml-out and the options beside it ask for. */
int topo_check_xml(struct cmd_run *r, struct err *e) must_check;
int topo_write_xml(struct cmd_run *r, const struct topo *t, const char *path,
		   struct err *e) must_check;

#endif
