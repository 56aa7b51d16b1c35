/* SPDX-License-Identifier: Apache-2.0 */
/*
 * card.h: on which card an RDMA device is. Data between two devices of one card stay inside the
 * card, so their rates must not be compared with rates over a network.
 */
#ifndef RAILHEAD_RDMA_PROBE_CARD_H
#define RAILHEAD_RDMA_PROBE_CARD_H

#include "lib/base/base.h"

/*
 * card_of - a number for the card, made of the boot id and the PCI function of the PF. It is the
 * same for a PF and its VFs, in all pods that share them. A software device is a card by itself,
 * with a number made of its name. sysfs, proc: where these are mounted. 0: not known.
 */
uint64_t card_of(const char *sysfs, const char *proc, const char *device);

/* card_is_one - true if both numbers are known and equal. */
bool card_is_one(uint64_t a, uint64_t b);

#endif
