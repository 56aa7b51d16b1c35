/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: the one list of plugins.
 *
 * The build, the packages, the images and the tests read it, too: tools/plugins.sh. railhead-ipam
 * is apart, because its name has no prefix where it is installed. So are the programs of claims.
 */
#ifndef RAILHEAD_PLUGINS_NAMES_H
#define RAILHEAD_PLUGINS_NAMES_H

#define PLUGIN_NAMES "macvlan", "ipvlan", "rails", "sriov", "ib-sriov", "ipoib", "rdma"
#define CLAIM_NAMES  "railhead", "railhead-hook"

#endif
