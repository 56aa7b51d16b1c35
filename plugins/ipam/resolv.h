/* SPDX-License-Identifier: Apache-2.0 */
/* resolv.h: resolv.conf(5) text as the "dns" object of a CNI result. Pure. */
#ifndef RAILHEAD_PLUGINS_IPAM_RESOLV_H
#define RAILHEAD_PLUGINS_IPAM_RESOLV_H

#include "lib/json/json.h"

#define RESOLV_MAX 65536 /* longest file that is read */

/*
 * resolv_parse - {"nameservers", "domain", "search", "options"}, each one only if the text has it.
 * As in the resolver, the last domain and the last search line are used, and unknown lines are
 * skipped. The caller frees *out. ERR_CONFIG: the text is not UTF-8.
 */
int resolv_parse(const char *text, size_t len, struct json **out, struct err *e) must_check;

#endif
