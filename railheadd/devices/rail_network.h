/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_network.h: what an administrator says of rails that pods get: a RailConfig of a device
 * class, or a resource of the device plugin. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_RAIL_NETWORK_H
#define RAILHEAD_RAILHEADD_DEVICES_RAIL_NETWORK_H

#include "lib/json/json.h"

/* "NAME=VALUE": variables that containers may get, so that they find their settings. Those of a
 * prepared claim are bits in this order. */
#define RAIL_VARIABLES 2
extern const char *const rail_variables[RAIL_VARIABLES];

/* The values of the key memlock: true. */
extern const struct json_enum rail_network_memlock[];

/* rail_network_texts - ERR_CONFIG unless the list has only texts, none of them empty.
 * rail_network_variables - the key variables, such a list, as bits; ERR_CONFIG. */
int rail_network_texts(const struct json *list, const char *where, struct err *e) must_check;
int rail_network_variables(const struct json *list, unsigned *out, struct err *e) must_check;

/*
 * rail_network_keys - ERR_CONFIG: the network has a key that railhead sets itself.
 * rail_network_kind - ERR_CONFIG: its kind is not one that devices of VFs, or others, can have.
 * rail_network_moves_rdma - the RDMA devices of its VFs move into the pod.
 */
int rail_network_keys(const struct json *network, struct err *e) must_check;
int rail_network_kind(const struct json *network, bool of_vfs, struct err *e) must_check;
bool rail_network_moves_rdma(const struct json *network);

/*
 * rail_network_print - add the configuration of the plugin rails to a list. rails: as bits;
 * UINT64_MAX: all of the node. -1: no memory. rails_of_networks - the rails of such a list.
 */
int rail_network_print(struct json *list, const struct json *network, uint64_t rails) must_check;
uint64_t rails_of_networks(const struct json *networks);

#endif
