/* SPDX-License-Identifier: Apache-2.0 */
/* request.h: the owner of a request, and the addresses that it asks for. Pure. */
#ifndef RAILHEAD_IPAM_ALLOC_REQUEST_H
#define RAILHEAD_IPAM_ALLOC_REQUEST_H

#include "cni/protocol/conf.h"
#include "ipam/lease/lease.h"
#include "ipam/conf/source.h"

#define REQUEST_NAME_MAX 254 /* of a Kubernetes object's name, with NUL */

struct request {
	struct owner owner;           /* borrows from the call and from the buffers below */
	bool guid;                    /* it asks for a GUID, not for addresses */
	char ifname[OWNER_NAME_SIZE]; /* of the owner of a GUID */
	char ns[REQUEST_NAME_MAX], pod[REQUEST_NAME_MAX], uid[REQUEST_NAME_MAX];
	struct ip want[SOURCE_SETS_MAX]; /* requested addresses, each once; or the GID of a GUID */
	size_t n_want;
};

/*
 * request_owner - set only network, container and interface of the owner, as DEL needs it. The
 * environment tells whether it is the owner of a GUID (DELEGATE_LEASE).
 */
void request_owner(const struct cni_env *env, const struct cni_conf *conf, struct request *out);

/*
 * request_load - set also the pod, from CNI_ARGS K8S_POD_NAMESPACE, K8S_POD_NAME and K8S_POD_UID,
 * and the requested addresses, with or without "/len". They come from runtimeConfig.ips,
 * args.cni.ips, and, unless args.cni.ips is given, from CNI_ARGS IP, separated by commas (CNI-083,
 * CNI-134). A GUID is requested in the environment. ERR_ENV, ERR_CONFIG or ERR_DECODE name key and
 * value. Do not copy *out: its owner points into it.
 */
int request_load(const struct cni_env *env, const struct cni_conf *conf, struct request *out,
		 struct err *e) must_check;

/*
 * request_conflicts - for the DEL after an ADD that found an address conflict: the addresses that
 * another host uses, from the environment (cni/protocol/delegate.h). Fills at most cap elements of
 * out, and returns their number.
 */
size_t request_conflicts(struct ip *out, size_t cap);

/* request_probes - the environment has this value of DELEGATE_PROBE (cni/protocol/delegate.h). */
bool request_probes(const char *value);

#endif
