/* SPDX-License-Identifier: Apache-2.0 */
/* opensm_conf.h: sm-opensm.json, railhead-sm.d(5). */
#ifndef RAILHEAD_FABRIC_OPENSM_CONF_H
#define RAILHEAD_FABRIC_OPENSM_CONF_H

#include "lib/json/json.h"

#define OPENSM_CONF_FILE  "/etc/railhead/sm-opensm.json"
#define OPENSM_PARTITIONS "/etc/opensm/partitions.conf"

struct opensm_conf {
	const char *partitions; /* the path of the file */
	const char *pid_file;   /* NULL: every process opensm of root */
	bool ipoib;             /* lines have the flag ipoib */
	struct json *tree;      /* owns the texts */
};

/*
 * opensm_conf_load - a file that only root can have written; with optional it may be absent, and
 * then all is as the defaults say. ERR_FORBIDDEN, ERR_DECODE, ERR_CONFIG.
 */
int opensm_conf_load(const char *path, bool optional, struct opensm_conf *out,
		     struct err *e) must_check;
void opensm_conf_clear(struct opensm_conf *c);
#define auto_opensm_conf auto_clean(opensm_conf_clear)

#endif
