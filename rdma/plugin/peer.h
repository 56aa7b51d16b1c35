/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h: RDMA devices that rdma-cni moved into pods, by what it keeps in /var/lib/cni/rdma: a file
 * NETWORK-CONTAINER-IFNAME for each.
 */
#ifndef RAILHEAD_RDMA_PLUGIN_PEER_H
#define RAILHEAD_RDMA_PLUGIN_PEER_H

#include "rdma/plugin/taken.h"

#define RDMA_PEER_LEN 512

struct rdma_peer {
	char file[RDMA_PEER_LEN];
	char network[RDMA_PEER_LEN], container[RDMA_PEER_LEN], ifname[IFNAME_LEN];
	char bus[BUS_ADDR_LEN];
	char name[RDMA_NAME_LEN], pod_name[RDMA_NAME_LEN]; /* on the host, in the pod */
};

/* rdma_peer_decode - the text of a file, into bus and names of out. ERR_DECODE. Pure. */
int rdma_peer_decode(const char *text, size_t len, struct rdma_peer *out, struct err *e) must_check;

/* rdma_peer_split - network, container and interface of out->file, as far as can be told. Pure. */
void rdma_peer_split(struct rdma_peer *p);

/* rdma_peer_each - all that can be read, in the order of names; non-zero from fn ends the walk. */
typedef int (*rdma_peer_fn)(const struct rdma_peer *p, void *arg);
int rdma_peer_each(const struct ctx *ctx, rdma_peer_fn fn, void *arg, struct err *e) must_check;

/*
 * rdma_peer_release - what DEL does about an attachment of the peer, where there is one: its device
 * returns to the host with its name, unless it is another attachment's of ours by now, and the file
 * is removed. netns: of the pod, may be "" or gone. ERR_AGAIN: the kernel has not brought it yet.
 * rdma_peer_forget - the file alone, of one that was imported, when the device of bus is home.
 */
int rdma_peer_release(const struct ctx *ctx, const struct record_key *key, const char *netns,
		      struct err *e) must_check;

int rdma_peer_forget(const struct ctx *ctx, const struct record_key *key, const char *bus,
		     struct err *e) must_check;

/* rdma_peer_import - make it an attachment of ours: a record, by which DEL, GC and repair go.
 * ERR_STATE: its device is not in that namespace. */
int rdma_peer_import(const struct ctx *ctx, const struct rdma_peer *p, const char *netns,
		     struct err *e) must_check;

#endif
