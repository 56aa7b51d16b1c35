/* SPDX-License-Identifier: Apache-2.0 */
/* near_holders.h: who has the VFs of some PFs, as words for an error. */
#ifndef RAILHEAD_SRIOV_CHOOSE_NEAR_HOLDERS_H
#define RAILHEAD_SRIOV_CHOOSE_NEAR_HOLDERS_H

#include "sriov/claim/claim.h"

#define NEAR_HOLDERS_LEN 512

/*
 * near_holders - "0000:3b:02.0 has pod default/a (net1), 0000:3b:02.1 has container c2 (net1)"; the
 * end says how many more there are. A pod has a name if the record of its attachment has one. "":
 * no VF has an owner, or none can be read.
 */
void near_holders(const struct claimant *who, struct pf_list pfs, char out[NEAR_HOLDERS_LEN]);

#endif
