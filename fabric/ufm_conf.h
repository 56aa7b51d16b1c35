/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_conf.h: sm-ufm.json, railhead-sm.d(5). */
#ifndef RAILHEAD_FABRIC_UFM_CONF_H
#define RAILHEAD_FABRIC_UFM_CONF_H

#include "lib/json/json.h"

#define UFM_CONF_FILE "/etc/railhead/sm-ufm.json"

struct ufm_conf {
	const char *url;                  /* "https://ufm.example", without a slash at the end */
	const char *user, *password_file; /* both, or token_file */
	const char *token_file;
	const char *ca; /* a file; NULL: the certificates that the system trusts */
	bool index0;    /* the partition comes first in the table of a port */
	bool ip_over_ib;
	struct json *tree; /* owns the texts */
};

/* ufm_conf_check - ERR_CONFIG naming the key. Pure. */
int ufm_conf_check(const struct ufm_conf *c, struct err *e) must_check;

/* ufm_conf_load - a file that only root can have written. ERR_FORBIDDEN, ERR_DECODE, ERR_CONFIG. */
int ufm_conf_load(const char *path, struct ufm_conf *out, struct err *e) must_check;
void ufm_conf_clear(struct ufm_conf *c);
#define auto_ufm_conf auto_clean(ufm_conf_clear)

#endif
