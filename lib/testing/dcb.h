/* SPDX-License-Identifier: Apache-2.0 */
/* dcb.h: what a driver with data center bridging answers, for tests: see net_fake(). */
#ifndef RAILHEAD_LIB_TESTING_DCB_H
#define RAILHEAD_LIB_TESTING_DCB_H

#include "lib/device/dcb.h"
#include "lib/testing/net.h"

/* dcb_says - to request seq of nl_dcb_get: these priorities pause; DSCP 26 has priority 3, or no
 * value has one. */
void dcb_says(const struct net_fake *k, uint32_t seq, uint8_t pfc, bool dscp);

/* dcb_says_all - the same with any values, in the form of nl_dcb_get(). */
void dcb_says_all(const struct net_fake *k, uint32_t seq, const struct dcb_info *d);

/* dcb_takes - to a change: errnum of the driver, 0: it is done. */
void dcb_takes(const struct net_fake *k, uint32_t seq, int errnum);

/* dcb_asked_rules - the DSCP rules that the next request of the code under test adds or deletes,
 * in the form of dcb_info.dscp; it must be one for that. */
void dcb_asked_rules(const struct net_fake *k, bool del, uint8_t out[DCB_DSCP]);

/* dcb_requests - how many were sent since it was asked the last time. */
unsigned dcb_requests(const struct net_fake *k);

#endif
