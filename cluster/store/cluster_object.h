/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_object.h: the objects of a cluster store: what they are called, and which state of one is
 * meant.
 */
#ifndef RAILHEAD_CLUSTER_STORE_CLUSTER_OBJECT_H
#define RAILHEAD_CLUSTER_STORE_CLUSTER_OBJECT_H

#include "ipam/block/version.h"
#include "lib/json/json.h"

/* The kinds of objects. In Kubernetes each is a resource, in etcd a prefix of keys. */
enum cluster_kind {
	CLUSTER_POOL,      /* RailPool, pools/NAME */
	CLUSTER_BLOCK,     /* RailBlock, blocks/NAME; NAME is POOL-HEX */
	CLUSTER_NODE,      /* RailNode, nodes/NAME */
	CLUSTER_HEARTBEAT, /* Lease in the agents' namespace, heartbeats/NAME */
	CLUSTER_RESERVED,  /* RailReserved, reserved/NAME: see CLUSTER_RESERVED_NAME */
	/*
	 * Node of Kubernetes, of the kubelet: only listed and watched, by its node. The value is
	 * its labels. Only for a store that has_nodes.
	 */
	CLUSTER_KUBE_NODE,
	/*
	 * Pod of Kubernetes: only read one by one. Its name is POD.NAMESPACE, the value has its
	 * "labels" and "annotations". Only for a store that has_nodes.
	 */
	CLUSTER_KUBE_POD,
	CLUSTER_KINDS,
};

#define CLUSTER_RESERVED_NAME "cluster" /* of the one object of CLUSTER_RESERVED */

/* A name is a DNS subdomain, as Kubernetes demands: at most 253 bytes. */
#define CLUSTER_NAME_LEN    254
#define CLUSTER_CREATED_LEN 32

struct cluster_object {
	enum cluster_kind kind;
	char name[CLUSTER_NAME_LEN];
	/* The node that has the object, which selects it in lists and watches; "": none. */
	char node[CLUSTER_NAME_LEN];
	struct cluster_version at;
	/* When it was created, in the order of strcmp(); "": not known, as after an update. */
	char created[CLUSTER_CREATED_LEN];
	/*
	 * Grows with each change of the value, and begins again with a new uid. 0: not known, as
	 * after a write. A restored store uses it again, so it is compared for equality only.
	 */
	int64_t generation;
	bool ending;              /* is being deleted; a finalizer holds it */
	const struct json *value; /* an object: what the protocol keeps in it */
	/*
	 * Of a pool: what an agent has reported for people (see report()); NULL: nothing. It is not
	 * a part of the value. It changes the version, and never the generation.
	 */
	const struct json *status;
	/*
	 * For an update or a removal of a block or a heartbeat: its value at this version, as far
	 * as the caller knows; NULL: not known. A store whose versions can come again, because it
	 * was restored, demands more: of a block owner, token, `touched` and asker, of a heartbeat
	 * holder, boot, machine and count. Else: CLUSTER_CONFLICT.
	 */
	const struct json *was;
	const struct cluster_beside *beside; /* of a creation or an update; NULL: nothing */
};

/*
 * The caller of a write may ask for more with it. A store that reads and writes in one step
 * answers that without another request; other stores say nothing, and the caller asks.
 */
struct cluster_beside {
	/* Of a creation: an object that is read after it, without a write between. NULL: none. */
	enum cluster_kind kind;
	const char *name;
	/* Of a creation: if the name exists, the names of this kind that begin so. NULL: none. */
	const char *names;
	/*
	 * A number that few other objects of the kind have, as far as it is cheap. Those that are
	 * created one after the other get one number after the other; updates may go by names.
	 */
	bool rank;
};

/* The answer to that, valid until the callback returns. */
struct cluster_also {
	const struct cluster_object *object;   /* CLUSTER_OK; NULL: it does not exist */
	const char (*names)[CLUSTER_NAME_LEN]; /* CLUSTER_EXISTS */
	size_t n_names;
	bool ranked;
	uint64_t rank;
};

#endif
