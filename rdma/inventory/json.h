/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: an inventory for programs; the members are described in railctl(8). Pure. */
#ifndef RAILHEAD_RDMA_INVENTORY_JSON_H
#define RAILHEAD_RDMA_INVENTORY_JSON_H

#include "lib/json/json.h"
#include "rdma/inventory/inventory.h"

/* inventory_json - an array of devices. NULL: no memory. Free with json_free(). */
struct json *inventory_json(const struct rdma_inventory *v);

#endif
