/* SPDX-License-Identifier: Apache-2.0 */
/* dropin.h: drop-in folders with settings for boot: /etc/railhead/vf.d and qos.d. */
#ifndef RAILHEAD_LIB_CLI_DROPIN_H
#define RAILHEAD_LIB_CLI_DROPIN_H

#include "lib/cli/cmd.h"

#define DROPIN_MAX    65536 /* bytes of a file */
#define DROPIN_SUFFIX ".json"

struct dropin {
	const char *dir;
	int fd;           /* -1: the usual folder does not exist, which is not an error */
	int64_t deadline; /* end of --wait, until which cards may appear; ctx_mono_ms() */
};

/* Options for the tables of commands; usual: the folder without --dir. */
#define DROPIN_OPT_DIR(usual)                                                                      \
	{                                                                                          \
		"dir", "DIR", "the folder of the files (default: " usual ")", 0                    \
	}
#define DROPIN_OPT_WAIT                                                                            \
	{                                                                                          \
		"wait", "SECONDS", "wait that long for cards whose driver is not there yet", 0     \
	}

/* dropin_dir - the folder of --dir, else usual. A usage error if it is not an absolute path. */
int dropin_dir(struct cmd_run *r, const char *usual, const char **out, struct err *e) must_check;

/* dropin_each - call fn with the name of each file, in their order, until it returns an error. */
typedef int (*dropin_fn)(const char *name, void *arg, struct err *e);
int dropin_each(const struct dropin *d, dropin_fn fn, void *arg, struct err *e) must_check;

/* dropin_read - the text of a file, which only root may have written (fs_read_trusted_at). */
ssize_t dropin_read(const struct dropin *d, const char *name, char **out, struct err *e) must_check;

/* A run over all files of a folder, and its results. */
struct dropin_work {
	struct cmd_run *run;
	struct dropin d;
	struct json *array; /* a report for each file; owned; NULL: text */
	struct json *pfs;   /* PF: the name of its file; owned */
	unsigned done, failed;
	bool check; /* nothing is changed, and without a file it fails */
};
/* dropin_begin - open the folder of --dir, and start the time of --wait. */
int dropin_begin(struct cmd_run *r, const char *usual, struct dropin_work *out,
		 struct err *e) must_check;
void dropin_work_clear(struct dropin_work *w);
#define auto_dropin_work auto_clean(dropin_work_clear)
/* dropin_claim - this file sets the PF. ERR_CONFIG if another file has already set it. */
int dropin_claim(const struct dropin_work *w, const char *pf, const char *name,
		 struct err *e) must_check;
/* dropin_end - print the array, or a closing line. CMD_FAILED if a file failed, or a
 * check had none. */
int dropin_end(const struct dropin_work *w, struct err *e) must_check;

/* dropin_nap - sleep 100 ms before the next look for a card. False: the deadline has passed. */
bool dropin_nap(const struct dropin *d);

#endif
