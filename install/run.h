/* SPDX-License-Identifier: Apache-2.0 */
/* run.h: put the plugins of an image into the CNI folder of a host, or remove them again. */
#ifndef RAILHEAD_INSTALL_RUN_H
#define RAILHEAD_INSTALL_RUN_H

#include "lib/base/ctx.h"
#include "lib/cli/out.h"

/* Strings are borrowed. */
struct install {
	const struct ctx *ctx; /* run_dir, proc, cni_dir */
	const struct out *out; /* a line for each program */
	const char *source;    /* folder with the programs */
	const char *target;    /* the CNI folder */
	const char *list;      /* plugins, separated by commas; NULL: all */
	const char *prefix;    /* before the names of plugins; "": none */
	const char *chain; /* folder of network configurations: chain railhead there; NULL: no */
	const char *build; /* the ID that the programs must have (railhead_build) */
	bool force, remove, dry_run;
};

#define SUMMARY_LEN 320

/*
 * install_run - do it, or with dry_run only print the actions. summary: one sentence about the
 * result, without a full stop. One run at a time works on a host; ERR_AGAIN if another one does not
 * end. After a failure or a kill every name has the old program or the new one, whole, and the next
 * run completes the work. Names of programs that were to be removed may be missing until then. The
 * lock is in run_dir: runs with different ones do not wait for each other.
 */
int install_run(const struct install *in, char summary[SUMMARY_LEN], struct err *e) must_check;

#endif
