/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h: RDMA devices that rdma-cni moved into pods. It keeps a file NETWORK-CONTAINER-IFNAME for
 * each in /var/lib/cni/rdma.
 */
#ifndef RAILHEAD_PLUGINS_RDMA_PEER_H
#define RAILHEAD_PLUGINS_RDMA_PEER_H

#include "plugins/rdma/taken.h"

#define RDMA_PEER_LEN 512

struct rdma_peer {
	char file[RDMA_PEER_LEN];
	char bus[BUS_ADDR_LEN];
	char name[RDMA_NAME_LEN], pod_name[RDMA_NAME_LEN]; /* on the host, in the pod */
};

/* rdma_peer_decode - set bus and the names of *out from the text of a file. ERR_DECODE. Pure. */
int rdma_peer_decode(const char *text, size_t len, struct rdma_peer *out, struct err *e) must_check;

/*
 * rdma_peer_release - DEL of an attachment of rdma-cni, if there is one. Its device returns to the
 * host with its old name, unless another attachment has it now. Then the file is removed. netns:
 * path of the pod's namespace; it may be "" or gone. ERR_AGAIN: the kernel has not returned the
 * device yet.
 */
int rdma_peer_release(const struct ctx *ctx, const struct record_key *key, const char *netns,
		      struct err *e) must_check;

#endif
