/* SPDX-License-Identifier: Apache-2.0 */
/*
 * card.h: on which card an RDMA device is. What passes between two devices of one card stays inside
 * it, and is not to be compared with what passes over a network.
 */
#ifndef RAILHEAD_RDMA_PROBE_DATA_CARD_H
#define RAILHEAD_RDMA_PROBE_DATA_CARD_H

#include "lib/base/base.h"

/*
 * card_of - a number for the card: of this boot of this machine, and of the PCI function of the PF;
 * the same for a PF, its VFs, and whoever shares either. A device without hardware is a card of its
 * own, by its name. sysfs, proc: where these are mounted. 0: not known.
 */
uint64_t card_of(const char *sysfs, const char *proc, const char *device);

/* card_is_one - whether both are known and the same. */
bool card_is_one(uint64_t a, uint64_t b);

#endif
