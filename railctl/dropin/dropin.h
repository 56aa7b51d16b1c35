/* SPDX-License-Identifier: Apache-2.0 */
/* dropin.h: folders of files that say what shall be at boot: /etc/railhead/vf.d, qos.d. */
#ifndef RAILHEAD_RAILCTL_DROPIN_DROPIN_H
#define RAILHEAD_RAILCTL_DROPIN_DROPIN_H

#include "lib/cli/cmd.h"

#define DROPIN_MAX    65536 /* bytes of a file */
#define DROPIN_SUFFIX ".json"

struct dropin {
	const char *dir;
	int fd;           /* -1: there is no such folder, and nobody said that there is one */
	int64_t deadline; /* of --wait, for cards to appear; ctx_mono_ms() */
};

/* For the tables of commands; usual is the folder without --dir. */
#define DROPIN_OPT_DIR(usual)                                                                      \
	{                                                                                          \
		"dir", "DIR", "the folder of the files (default: " usual ")", 0                    \
	}
#define DROPIN_OPT_WAIT                                                                            \
	{                                                                                          \
		"wait", "SECONDS", "wait that long for cards whose driver is not there yet", 0     \
	}

/* dropin_dir - the folder by --dir, or usual; a usage error unless it is absolute. */
int dropin_dir(struct cmd_run *r, const char *usual, const char **out, struct err *e) must_check;

/* dropin_each - call fn with the name of each file, in their order, until it returns an error. */
typedef int (*dropin_fn)(const char *name, void *arg, struct err *e);
int dropin_each(const struct dropin *d, dropin_fn fn, void *arg, struct err *e) must_check;

/* dropin_read - the text of a file, which only root may have written (fs_read_trusted_at). */
ssize_t dropin_read(const struct dropin *d, const char *name, char **out, struct err *e) must_check;

/* What is done for each file of such a folder, and what became of it. */
struct dropin_work {
	struct cmd_run *run;
	struct dropin d;
	struct json *array; /* what is told of each; owned; NULL: in words */
	struct json *pfs;   /* PF: the file that was about it; owned */
	unsigned done, failed;
};
/* dropin_begin - in the folder that --dir and --wait tell of. */
int dropin_begin(struct cmd_run *r, const char *usual, struct dropin_work *out,
		 struct err *e) must_check;
void dropin_work_clear(struct dropin_work *w);
#define auto_dropin_work auto_clean(dropin_work_clear)
/* dropin_claim - from now on the PF is this file's; ERR_CONFIG when it is another's. */
int dropin_claim(const struct dropin_work *w, const char *pf, const char *name,
		 struct err *e) must_check;
/* dropin_end - the array, or a closing line; CMD_FAILED when one failed. */
int dropin_end(const struct dropin_work *w, struct err *e) must_check;

/* dropin_nap - before looking again for a card. False: the deadline has passed. */
bool dropin_nap(const struct dropin *d);

#endif
