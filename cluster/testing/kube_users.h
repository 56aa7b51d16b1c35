/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_users.h: stores of a real API server, by the kubeconfigs in the folder KUBE_FOLDER; see
 * conformance/cluster-store/. For test programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_KUBE_USERS_H
#define RAILHEAD_CLUSTER_TESTING_KUBE_USERS_H

#include <stdio.h>

#include "cluster/kube/kube.h"
#include "cluster/testing/calls.h"
#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"

/* kube_open_as - a store of the kubeconfig of this user. like NULL: with time for a busy machine.
 */
static inline struct calls kube_open_as(const char *user, const struct kube_conf *like)
{
	struct kube_conf conf = like ? *like : (struct kube_conf){ .timeout_ms = 30000 };
	struct calls c = { .base = loop_new() };
	char path[512];
	struct err e;

	(void)snprintf(path, sizeof(path), "%s/%s.kubeconfig", getenv("KUBE_FOLDER"), user);
	ck_assert_msg(!kube_login_file(path, NULL, &conf.login, &e), "%s", e.msg);
	ck_assert_msg(!kube_open(c.base, &conf, &c.store, &e), "%s", e.msg);
	kube_login_clear(&conf.login);
	return c;
}

/* kube_open_agent - the store of the agent, for struct contract_engine. */
static inline int kube_open_agent(struct event_base *base, unsigned timeout_ms,
				  struct cluster_store **out, struct err *e)
{
	struct kube_conf conf = { .timeout_ms = timeout_ms };
	char path[512];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/agent.kubeconfig", getenv("KUBE_FOLDER"));
	if (kube_login_file(path, NULL, &conf.login, e))
		return -1;
	rc = kube_open(base, &conf, out, e);
	kube_login_clear(&conf.login);
	return rc;
}

/* must_say - an error has this text. */
static inline void must_say(const char *why, const char *what)
{
	ck_assert_msg(strstr(why, what), "%s", why);
}

#endif
