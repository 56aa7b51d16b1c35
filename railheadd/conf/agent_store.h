/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_store.h: opens the cluster store that agent.json names.
 */
#ifndef RAILHEAD_RAILHEADD_CONF_AGENT_STORE_H
#define RAILHEAD_RAILHEADD_CONF_AGENT_STORE_H

#include "lib/base/log.h"
#include "railheadd/conf/agent_files.h"

struct event_base;
struct kube_login;

/* agent_store_name - "etcd", "kubernetes" or "none". */
const char *agent_store_name(const struct agent_conf *conf);

/*
 * agent_store_open - *out is NULL if agent.json names none. log and f must live as long as the
 * store. log gets what is not a result of a call; f, which more stores may share, is read again
 * when its files change. ERR_CONFIG, ERR_FORBIDDEN, ERR_IO, ERR_DECODE. Without a kubeconfig the
 * environment says where the API server is (KUBERNETES_SERVICE_HOST and _PORT).
 */
int agent_store_open(struct event_base *base, const struct log *log, struct agent_files *f,
		     struct cluster_store **out, struct err *e) must_check;

/* agent_store_login - the same without a store: of the kubeconfig, or of the ServiceAccount. */
int agent_store_login(const struct agent_conf_kube *c, struct kube_login *l,
		      struct err *e) must_check;

#endif
