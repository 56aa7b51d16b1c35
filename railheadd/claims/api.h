/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h: requests to the API server of Kubernetes, one after the other. Each waits for its answer:
 * for a child.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_API_H
#define RAILHEAD_RAILHEADD_CLAIMS_API_H

#include "lib/json/json.h"
#include "railheadd/conf/agent_conf.h"

struct api;
struct kube_resource;

/*
 * api_open - with the credentials that the configuration names; it sends nothing. Errors as of
 * agent_store_open(). api_close - NULL is fine.
 */
int api_open(const struct agent_conf_kube *conf, struct api **out, struct err *e) must_check;
void api_close(struct api *a);
static inline void api_closep(struct api **a)
{
	api_close(*a);
}
#define auto_api auto_clean(api_closep)

/* Kinds of objects. */
extern const struct kube_resource api_claims, api_slices, api_nodes, api_pods;

struct api_request {
	const char *method; /* of HTTP; PATCH: a server-side apply */
	const char *verb;   /* of rights, for errors */
	const struct kube_resource *resource;
	const char *ns, *name;   /* NULL: none */
	const char *query;       /* behind '?'; NULL: none */
	const struct json *body; /* NULL: none */
};

/*
 * api_call - answer: owned by the caller; NULL: not wanted. ERR_NOTFOUND: there is no such object;
 * ERR_STATE: it has another version by now; ERR_FORBIDDEN: a right is missing; ERR_UNAVAILABLE: the
 * API server does not answer, or not usefully; else as kube_fault().
 */
int api_call(struct api *a, const struct api_request *r, struct json **answer,
	     struct err *e) must_check;

#endif
