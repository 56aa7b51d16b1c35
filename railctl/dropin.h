/* SPDX-License-Identifier: Apache-2.0 */
/* dropin.h: folders of files that say what shall be at boot: /etc/railhead/vf.d, qos.d. */
#ifndef RAILHEAD_RAILCTL_DROPIN_H
#define RAILHEAD_RAILCTL_DROPIN_H

#include "railctl/cmd.h"

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
int dropin_dir(struct rail *r, const char *usual, const char **out, struct err *e) must_check;

/* dropin_open - by --dir and --wait. */
int dropin_open(struct rail *r, const char *usual, struct dropin *out, struct err *e) must_check;
void dropin_close(struct dropin *d);
#define auto_dropin auto_clean(dropin_close)

/* dropin_each - call fn with the name of each file, in their order, until it returns an error. */
typedef int (*dropin_fn)(const char *name, void *arg, struct err *e);
int dropin_each(const struct dropin *d, dropin_fn fn, void *arg, struct err *e) must_check;

/* dropin_nap - before looking again for a card. False: the deadline has passed. */
bool dropin_nap(const struct dropin *d);

#endif
