/* SPDX-License-Identifier: Apache-2.0 */
/* types.c: the tables of all plugins. */
#include "plugins/types.h"

#include "plugins/ether/ipoib.h"
#include "plugins/ether/links.h"
#include "plugins/ether/rails.h"
#include "plugins/rdma/attach.h"
#include "plugins/sriov/attach.h"
#include "plugins/sriov/ib_attach.h"

const struct attach_type *const plugin_types[] = {
	&link_macvlan,  &link_ipvlan, &rails_type, &sriov_type,
	&ib_sriov_type, &ipoib_type,  &rdma_type,  NULL,
};
