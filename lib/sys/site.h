/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h: what the administrator of this host allows the writers of network configurations, and
 * where the kubelet of this host listens: <etc_dir>/railhead.json, railhead.json(5).
 *
 * A list that the file does not have is the built-in one. The file counts only when root alone may
 * write it.
 */
#ifndef RAILHEAD_LIB_SYS_SITE_H
#define RAILHEAD_LIB_SYS_SITE_H

#include "lib/base/ctx.h"

#define SITE_FILE "railhead.json"
#define SITE_DIRS 64 /* in one list */

#define SITE_POD_RESOURCES "/var/lib/kubelet/pod-resources/kubelet.sock"

struct json;

/* Lists of folders have NULL at their end. The strings belong to tree or are constants. */
struct site {
	struct json *tree;                    /* NULL: there is no file */
	const char *data_dirs[SITE_DIRS + 1]; /* for ipam.dataDir */
	const char *log_dirs[SITE_DIRS + 1];  /* for logFile and ipam.auditLog */
	const char *pod_resources; /* the kubelet's socket that lists the devices of pods; if the
				    * file does not have it, SITE_POD_RESOURCES */
};

/* site_load - ERR_CONFIG, ERR_DECODE or ERR_FORBIDDEN naming the file when it is bad. */
int site_load(const struct ctx *ctx, struct site *out, struct err *e) must_check;

void site_clear(struct site *s);
#define auto_site auto_clean(site_clear)

#endif
