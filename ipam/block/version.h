/* SPDX-License-Identifier: Apache-2.0 */
/* version.h: which state of an object of a cluster store a record means. */
#ifndef RAILHEAD_IPAM_BLOCK_VERSION_H
#define RAILHEAD_IPAM_BLOCK_VERSION_H

#define CLUSTER_UID_LEN     40
#define CLUSTER_VERSION_LEN 48

/*
 * Which object it is, and which state of it. uid: made at the creation, never used again. version:
 * changes with each write that changes the object; Kubernetes keeps it at an equal write. Versions
 * are compared for equality only, because a restored store uses them again. The store demands uid
 * and version as preconditions of an update and of a deletion.
 */
struct cluster_version {
	char uid[CLUSTER_UID_LEN];
	char version[CLUSTER_VERSION_LEN];
};

#endif
