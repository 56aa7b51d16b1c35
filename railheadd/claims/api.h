/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h: requests to the API server of Kubernetes. A child waits for each answer.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_API_H
#define RAILHEAD_RAILHEADD_CLAIMS_API_H

#include "lib/json/json.h"
#include "railheadd/conf/agent_conf.h"

struct api;
struct kube_resource;

/*
 * api_open - with the credentials that the configuration names; it sends nothing. base: a loop that
 * the caller runs, for api_send(); NULL: it has its own, for api_call(). Errors as of
 * agent_store_open(). api_close - no request must be under way. NULL is fine.
 */
struct event_base;
int api_open(const struct agent_conf_kube *conf, struct event_base *base, struct api **out,
	     struct err *e) must_check;
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
	unsigned timeout_ms;     /* 0: the usual time */
};
#define API_GET(resource_, ns_, name_)                                                             \
	{                                                                                          \
		.method = "GET", .verb = "get", .resource = (resource_), .ns = (ns_),              \
		.name = (name_)                                                                    \
	}

/*
 * api_call - answer: owned by the caller; NULL: not wanted. ERR_NOTFOUND: there is no such object;
 * ERR_STATE: it has another version by now; ERR_FORBIDDEN: a right is missing; ERR_UNAVAILABLE: the
 * API server does not answer, or not usefully; else as kube_fault().
 */
int api_call(struct api *a, const struct api_request *r, struct json **answer,
	     struct err *e) must_check;

/*
 * api_send - done is called once from the loop, with an answer that it owns, or with why as above.
 * Texts of r are borrowed until then. NULL: it is not sent. api_cancel - done is not called any
 * more. NULL is fine.
 */
struct api_sent;
typedef void (*api_fn)(void *arg, struct json *answer, const struct err *why);
struct api_sent *api_send(struct api *a, const struct api_request *r, api_fn done, void *arg,
			  struct err *e) must_check;
void api_cancel(struct api_sent *s);

#endif
