/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ufm_request.h: requests of UFM's REST interface for the members of a partition. Pure.
 *
 * With user and password the paths begin with /ufmRest, with a token with /ufmRestV3.
 */
#ifndef RAILHEAD_FABRIC_UFM_REQUEST_H
#define RAILHEAD_FABRIC_UFM_REQUEST_H

#include "fabric/message.h"
#include "fabric/ufm_conf.h"

/* ufm_url - of the request for the message, or of the list of partitions. NULL: no memory. */
char *ufm_url(const struct ufm_conf *c, enum sm_action action);
char *ufm_list_url(const struct ufm_conf *c);

/* ufm_body - the document of the request; the caller frees it. NULL: no memory. */
char *ufm_body(const struct ufm_conf *c, const struct sm_message *m);

/* ufm_authorization - the header; secret is the password or the token. NULL: no memory. */
char *ufm_authorization(const struct ufm_conf *c, const char *secret);

/*
 * ufm_judge - 0: done; 1: UFM knows no such partition, so the list decides about a removal; -1:
 * refused. ERR_UNAVAILABLE with the beginning of the answer; ERR_FORBIDDEN for a wrong secret.
 */
int ufm_judge(enum sm_action action, int status, const char *body, struct err *e) must_check;

/*
 * ufm_list_judge - 0: the list is one, and lacks the partition: nobody is a member. ERR_UNAVAILABLE
 * else, because a proxy answers 404 to everything, too.
 */
int ufm_list_judge(int status, const char *body, uint16_t pkey, struct err *e) must_check;

#endif
