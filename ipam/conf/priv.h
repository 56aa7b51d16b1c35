/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: shared by the files conf*.c only. */
#ifndef RAILHEAD_IPAM_CONF_PRIV_H
#define RAILHEAD_IPAM_CONF_PRIV_H

#include "ipam/conf/conf.h"

/*
 * conf_host_local, conf_whereabouts - add the sets of host-local's or whereabouts' keys to
 * out->fixed, each with this policy. ERR_CONFIG or ERR_DECODE with key and value.
 */
int conf_host_local(const struct cni_conf *conf, const struct policy *policy, struct ipam_conf *out,
		    struct err *e) must_check;
int conf_whereabouts(const struct cni_conf *conf, const struct policy *policy,
		     struct ipam_conf *out, struct err *e) must_check;

/* conf_given - the value of a key of "ipam"; NULL if it is absent, null or "". */
const struct json *conf_given(const struct json *ipam, const char *key);

#endif
