/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c: codes and texts of etcd's api/v3rpc/rpctypes/error.go, which are the same from 3.4
 * to 3.6. Code 8 is both a full database and too much at once, and code 3 is many things, so texts
 * are compared, too.
 */
#include "cluster/etcd/fault.h"

#include <string.h>

/* The meaning of a code, if the error has this text in it. NULL: any text. */
struct meaning {
	int code;
	const char *text;
	struct etcd_fault fault;
	enum err_code err;
	const char *hint; /* what to do; NULL: the text says it */
};

static const struct meaning meanings[] = {
	{ 8,
	  "space exceeded",
	  { ETCD_REPORT, CLUSTER_REFUSED, 0 },
	  ERR_EXHAUSTED,
	  "etcd's database is full: compact it, run `etcdctl defrag` on each member, then "
	  "`etcdctl alarm disarm`; a larger --quota-backend-bytes gives more space" },
	{ 8, "too many requests", { ETCD_REPORT, CLUSTER_REFUSED, 1000 }, ERR_AGAIN, NULL },
	{ 11, "compacted", { ETCD_REPORT, CLUSTER_EXPIRED, 0 }, ERR_AGAIN, NULL },
	{ 11,
	  "future revision",
	  { ETCD_REPORT, CLUSTER_EXPIRED, 0 },
	  ERR_AGAIN,
	  "etcd is older than this node has seen it: it was restored from a snapshot" },
	{ 16, "invalid auth token", { ETCD_NEW_TOKEN, CLUSTER_REFUSED, 0 }, ERR_LOGIN, NULL },
	{ 3,
	  "revision of auth store is old",
	  { ETCD_NEW_TOKEN, CLUSTER_REFUSED, 0 },
	  ERR_FORBIDDEN,
	  NULL },
	{ 9,
	  "authentication is not enabled",
	  { ETCD_NO_TOKEN, CLUSTER_REFUSED, 0 },
	  ERR_CONFIG,
	  NULL },
	{ 3,
	  "authentication failed",
	  { ETCD_REPORT, CLUSTER_REFUSED, 0 },
	  ERR_LOGIN,
	  "check user and password that are configured for etcd" },
	{ 3,
	  "user name is empty",
	  { ETCD_NEW_TOKEN, CLUSTER_REFUSED, 0 },
	  ERR_LOGIN,
	  "etcd wants a user: configure user and password; its gateway ignores the CN of a "
	  "client certificate" },
	{ 3,
	  "request is too large",
	  { ETCD_REPORT, CLUSTER_REFUSED, 0 },
	  ERR_CONFIG,
	  "a larger --max-request-bytes of etcd allows it" },
	{ 7,
	  NULL,
	  { ETCD_REPORT, CLUSTER_REFUSED, 0 },
	  ERR_FORBIDDEN,
	  "give the user's role the right readwrite for all keys with railhead's prefix" },
	{ 3, NULL, { ETCD_REPORT, CLUSTER_REFUSED, 0 }, ERR_CONFIG, NULL },
	{ 5,
	  NULL,
	  { ETCD_ELSEWHERE, CLUSTER_AWAY, 0 },
	  ERR_UNAVAILABLE,
	  "the endpoint is not an etcd with its JSON gateway (--enable-grpc-gateway)" },
};

/* Everything else: no leader, a time limit, a member that stops. */
static const struct meaning away = {
	0, NULL, { ETCD_ELSEWHERE, CLUSTER_AWAY, 0 }, ERR_UNAVAILABLE, NULL
};

static const struct meaning *meaning_of(const struct etcd_problem *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (meanings[i].code == p->code &&
		    (!meanings[i].text || strstr(p->text, meanings[i].text)))
			return &meanings[i];
	return &away;
}

struct etcd_fault etcd_fault(const struct etcd_problem *p, const struct etcd_asked *asked,
			     struct err *e)
{
	const struct meaning *m = meaning_of(p);

	(void)err_set(e, m->err, 0, "etcd refused to %s %s as user \"%s\" with code %d: %s",
		      asked->verb, asked->key, asked->user ? asked->user : "", p->code,
		      *p->text ? p->text : "no reason given");
	if (m->hint)
		(void)err_hint(e, "%s", m->hint);
	return m->fault;
}
