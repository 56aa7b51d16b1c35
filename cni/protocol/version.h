/* SPDX-License-Identifier: Apache-2.0 */
/* version.h: the seven protocol versions and what each of them can do. Pure. */
#ifndef RAILHEAD_CNI_PROTOCOL_VERSION_H
#define RAILHEAD_CNI_PROTOCOL_VERSION_H

#include "lib/base/err.h"

enum cni_version {
	CNI_010,
	CNI_020,
	CNI_030,
	CNI_031,
	CNI_040,
	CNI_100,
	CNI_110,
	CNI_VERSIONS, /* how many */
};

#define CNI_CURRENT CNI_110

/* cni_version_name - the version as text: "1.1.0". */
const char *cni_version_name(enum cni_version v);

/* cni_version_parse - exact match; NULL or "" is 0.1.0 (CNI-026). ERR_VERSION otherwise (CNI-027).
 */
int cni_version_parse(const char *s, enum cni_version *out, struct err *e) must_check;

#endif
