/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: a command that prints findings: `railctl rdma check`, `railctl rails check`. */
#ifndef RAILHEAD_LIB_CLI_CHECK_H
#define RAILHEAD_LIB_CLI_CHECK_H

#include "lib/cli/cmd.h"
#include "lib/cli/finding.h"

/*
 * check_report - print the findings. r->status becomes CMD_FAILED after a finding that fails, and
 * if nothing could be checked. With the option "strict" it does after a warning or an unknown one,
 * too. width, flags: as of findings_print(); JSON has what is ok, too.
 */
int check_report(struct cmd_run *r, const struct findings *all, int width, unsigned flags,
		 struct err *e) must_check;

#endif
