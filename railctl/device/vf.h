/* SPDX-License-Identifier: Apache-2.0 */
/* vf.h: what the files of `railctl vf` share. */
#ifndef RAILHEAD_RAILCTL_DEVICE_VF_H
#define RAILHEAD_RAILCTL_DEVICE_VF_H

#include "lib/cli/cmd.h"
#include "sriov/admin/manager.h"

extern const struct cmd cmd_vf, cmd_vf_adopt, cmd_vf_apply, cmd_vf_bind, cmd_vf_create, cmd_vf_list,
	cmd_vf_repair;

/* ctl_manager - a manager that prints what it does, unless JSON is wanted. nl is borrowed. */
struct manager ctl_manager(struct cmd_run *r, struct nl *nl);

/* ctl_vf - the PCI address of a VF; word is that address or the name of its interface. */
int ctl_vf(struct cmd_run *r, const char *word, char out[PCI_STR_LEN], struct err *e) must_check;

/* ctl_count - the value of --count; a usage error if it is missing or not a number. */
int ctl_count(struct cmd_run *r, uint32_t *out, struct err *e) must_check;

/*
 * A command that changes one VF after the other. It prints a line for each VF at once, or an array
 * at the end. If one VF fails, the command goes on and ends with CMD_FAILED.
 */
struct vf_work {
	struct cmd_run *run;
	struct manager m;
	struct json *array; /* NULL: text */
	bool named;         /* the user named the VF: if it is left alone, that is a failure */
	const char *verb;   /* in lines and JSON: "repaired" */
	unsigned done, well, left, failed;
};

/* vf_work_report - report one VF: its error `why`, or, if that is NULL, the outcome in report. */
int vf_work_report(struct vf_work *w, const char *vf, const struct vf_report *report,
		   const struct err *why, struct err *e) must_check;

/* vf_work_end - a closing line, or the array. */
int vf_work_end(struct vf_work *w, struct err *e) must_check;

#endif
