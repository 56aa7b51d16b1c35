/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdi.h: the CDI file of a prepared claim (Container Device Interface 0.5.0). By it the runtime
 * gives a container with the claim four things: the hook without which it does not start, the
 * folder of the pod at /run/railhead, railctl in there, and the files of RDMA devices.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_CDI_H
#define RAILHEAD_RAILHEADD_CLAIMS_CDI_H

#include "lib/base/ctx.h"
#include "railheadd/claims/claim.h"

#define CDI_CLAIM_KIND "railhead.io/claim"
#define CDI_ID_LEN     96

/*
 * claim_cdi_id - the CDI device of a device with these rails, by the first of them:
 * "railhead.io/claim=UID-3", and "railhead.io/claim=UID" for all rails. The kubelet shows the
 * health of one device for each. Returns out. Pure.
 */
char *claim_cdi_id(const char *claim_uid, uint64_t rails, char out[CDI_ID_LEN]);

/*
 * claim_cdi - the file as text, owned by the caller. bin: the folder of CNI plugins. ERR_NOTFOUND:
 * the node lacks a rail; ERR_STATE: a rail has no RDMA device, which the network asks for.
 */
int claim_cdi(const struct ctx *ctx, const struct prepared *p, const char *bin, char **out,
	      struct err *e) must_check;

/* claim_cdi_stands - the file of the claim has this text. claim_cdi_put - write it;
 * prepared_put() has made the folder of the pod. claim_cdi_remove - no file is success. */
bool claim_cdi_stands(const struct ctx *ctx, const struct prepared *p, const char *text);
int claim_cdi_put(const struct ctx *ctx, const struct prepared *p, const char *text,
		  struct err *e) must_check;
int claim_cdi_remove(const struct ctx *ctx, const char *claim_uid, struct err *e) must_check;

#endif
