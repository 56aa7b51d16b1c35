/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label_db.h: the labels of this node's Node in Kubernetes, as the node agent saw them last.
 *
 * An ADD reads them here, so it decides without the agent as the agent does.
 */
#ifndef RAILHEAD_IPAM_LEASE_LABEL_DB_H
#define RAILHEAD_IPAM_LEASE_LABEL_DB_H

#include "ipam/lease/db.h"

/* label_db_load - *out: to be freed; NULL: there are none. ERR_STORE: the record is damaged. */
int label_db_load(struct lease_db *l, struct json **out, struct err *e) must_check;

/* label_db_put - replace them; NULL: remove them. Durable. ERR_STORE: they are too long. */
int label_db_put(struct lease_db *l, const struct json *labels, struct err *e) must_check;

#endif
