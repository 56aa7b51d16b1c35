/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h: a ResourceClaim of Kubernetes (resource.k8s.io/v1) as a prepared claim, or why it is
 * refused. Pure.
 *
 * Parameters for our driver are objects of the kind RailConfig, see railhead-devices(8). That of
 * the device class is a configuration of the plugin rails. The claim may change the keys that the
 * class allows.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_CLAIM_H
#define RAILHEAD_RAILHEADD_CLAIMS_CLAIM_H

#include "lib/json/json.h"
#include "plugins/prepared/prepared.h"
#include "railheadd/conf/agent_conf.h"

#define CLAIM_DRIVER      "railhead.io"
#define CLAIM_VERSION     "railhead.io/v1alpha1"
#define CLAIM_DEVICES_MAX 32               /* of one claim; Kubernetes allows no more */
#define CLAIM_DEVICE_LEN  64               /* a DNS label */
#define CLAIM_NETWORK     PREPARED_NETWORK /* in records */

/* Names of devices: "rails", "rails-GROUP-2", "rail3", "rail3-vf5", "set5", "rails-GROUP-vf5". */
#define CLAIM_SET    "rails"
#define CLAIM_CARD   "rail"
#define CLAIM_VF     "-vf"
#define CLAIM_VF_SET "set"

/* claim_part - what a device is, by its name. "rails-2" is as "rails", and "rail3-2" as "rail3".
 * The rails of a group are those that it has now. */
struct claim_part {
	uint64_t rails; /* as bits; UINT64_MAX: all of the node; 0: our driver has no such device */
	int vf;         /* this VF of each rail; -1: the device is not of VFs */
};
struct claim_part claim_part(const char *device, const struct agent_conf_groups *groups);

/* claim_rails_text - "rail 3", of the first of them, or "all rails". Returns out. */
#define CLAIM_RAILS_LEN 16
char *claim_rails_text(uint64_t rails, char out[CLAIM_RAILS_LEN]);

/* The claim that the kubelet asks for, and the node. */
struct claim_asked {
	const char *ns, *name, *uid;
	const char *node;
	const struct agent_conf_groups *groups;
};

/* A device of the claim. Texts are borrowed from the tree; share may be "". */
struct claim_device {
	const char *request, *device, *share;
	struct claim_part part;
	size_t network;                     /* its place in prepared.networks */
	const struct json *runtime_classes; /* that its class allows; NULL: none */
};

struct claim {
	struct prepared prepared;
	struct claim_device device[CLAIM_DEVICES_MAX];
	size_t n;
};

/*
 * claim_decode - the object of the API server. ERR_DECODE: it is malformed. ERR_STATE: another
 * claim has this name by now, or it is not allocated. ERR_FORBIDDEN: neither the class nor a rule
 * allows it. ERR_CONFIG: a RailConfig is wrong; the message names request, key and value. Networks
 * of VFs have no addresses of devices yet: vfs_give() adds them.
 */
int claim_decode(const struct json *tree, const struct claim_asked *asked, struct claim *out,
		 struct err *e) must_check;

#endif
