/* SPDX-License-Identifier: Apache-2.0 */
/* conf_priv.h: between conf.c and the readers of the two foreign dialects. */
#ifndef RAILHEAD_IPAM_CONF_CONF_PRIV_H
#define RAILHEAD_IPAM_CONF_CONF_PRIV_H

#include "ipam/conf/conf.h"

/* Add the sets of host-local's keys, or whereabouts', to out->fixed; policy is for all of them. */
int conf_host_local(const struct cni_conf *conf, const struct policy *policy, struct ipam_conf *out,
		    struct err *e) must_check;
int conf_whereabouts(const struct cni_conf *conf, const struct policy *policy,
		     struct ipam_conf *out, struct err *e) must_check;

/* conf_ip - text NULL leaves *out alone. ERR_CONFIG names where, key and value. */
int conf_ip(const char *text, const char *where, const char *key, struct ip *out,
	    struct err *e) must_check;

/* conf_given - the value of a key of "ipam", NULL when it is absent, null or "". */
const struct json *conf_given(const struct json *ipam, const char *key);

#endif
