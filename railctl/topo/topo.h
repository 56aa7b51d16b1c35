/* SPDX-License-Identifier: Apache-2.0 */
/* topo.h: the commands of `railctl topo`, and the machine that they are about. */
#ifndef RAILHEAD_RAILCTL_TOPO_TOPO_H
#define RAILHEAD_RAILCTL_TOPO_TOPO_H

#include "lib/cli/cmd.h"
#include "topo/output/show.h"

extern const struct cmd cmd_topo, topo_capture_cmd, topo_check_cmd, topo_diff_cmd, topo_rack_cmd,
	topo_verify_cmd;

/* Options that say where the machine comes from, for the tables of all commands here. */
#define TOPO_OPT_SYSFS                                                                             \
	{                                                                                          \
		"sysfs", "DIR",                                                                    \
			"a captured machine: the extracted tar of \"railctl topo capture\"", 0     \
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

#define TOPO_OPT_SET                                                                               \
	{                                                                                          \
		"set", "NAME=VALUE",                                                               \
			"assume this setting of NCCL, such as NCCL_NETDEVS_POLICY=MAX:1", OPT_MANY \
	}

#define TOPO_OPT_RCCL                                                                              \
	{                                                                                          \
		"rccl", NULL, "RCCL's rules", 0                                                    \
	}

/* A machine, and all answers about it. */
struct topo {
	struct topo_machine m;
	bool *gpu, *hca;           /* the scope's masks; owned; NULL: all */
	struct topo_choice choice; /* within the scope; of all GPUs while no HCA is out of it */
	struct topo_choice node;   /* of the whole machine */
	struct nccl_opts opts;
	struct lib_version nccl_version; /* of the jobs */
	bool has_version;                /* it is known */
	struct nccl_prediction nccl;
	struct comparison differ;
	struct gdr_findings findings;
	struct topo_view view; /* of all these */
};

#define TOPO_FINDINGS 1u /* also check whether GPUDirect RDMA can work */

/*
 * topo_load - read the machine that the options of r name, and compute all answers about it. Start
 * with *t zeroed, except a version of NCCL that is known: see topo_nccl_opts(). topo_clear() frees
 * it, also after an error.
 */
int topo_load(struct cmd_run *r, unsigned flags, struct topo *t, struct err *e) must_check;
/* topo_load_path - the same with TOPO_FINDINGS, for a machine in a file: a tree, or with xml a
 * topology file. path NULL: this machine. Options that name a machine are not read. */
int topo_load_path(struct cmd_run *r, const char *path, bool xml, struct topo *t,
		   struct err *e) must_check;
/* topo_first_char - *out is the first character of a file that is not a blank: '<' of a topology
 * file,
 * '{' of a document. 0: a folder, or nothing but blanks. */
int topo_first_char(const char *path, char *out, struct err *e) must_check;
void topo_clear(struct topo *t);
#define auto_topo auto_clean(topo_clear)

/*
 * topo_select - fill t->gpu and t->hca from --gpus and --hcas. Without these options they are the
 * devices of the pod of process *pid (see struct topo_who). pid is NULL for a captured machine.
 */
int topo_select(struct cmd_run *r, const int *pid, struct topo *t, struct err *e) must_check;

/*
 * topo_nccl_opts - fill t->opts from --set, --rccl and --nccl-version. If the caller set
 * t->nccl_version, or t->opts.rccl, they hold without these options.
 */
int topo_nccl_opts(struct cmd_run *r, struct topo *t, struct err *e) must_check;

/* topo_check_find - the findings of `railctl topo check`. 1: this machine has no GPU, as e says. */
int topo_check_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;

/* topo_show_findings - print findings; those that differ only in their subject are one entry,
 * unless --all is set. topo_status - the exit status of the commands with findings. */
void topo_show_findings(const struct cmd_run *r, const struct findings *all);
int topo_status(const struct cmd_run *r, enum finding_state worst);

/*
 * topo_write - make or replace the file at path in one step. The umask limits its mode 0666. "-" is
 * standard output.
 */
int topo_write(const struct cmd_run *r, const char *path, const char *text,
	       struct err *e) must_check;

/*
 * topo_check_xml - a usage error if --nccl-xml-out and the options for it contradict each other.
 * topo_write_xml - write the file of --nccl-xml-out to path, for this machine or for a guest.
 */
int topo_check_xml(struct cmd_run *r, struct err *e) must_check;
int topo_write_xml(struct cmd_run *r, const struct topo *t, const char *path,
		   struct err *e) must_check;

#endif
