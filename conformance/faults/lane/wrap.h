/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h: the questions that wrap.c asks: the first argument of getpriority(2), which has 0 to 2.
 */
#ifndef CONFORMANCE_FAULTS_LANE_WRAP_H
#define CONFORMANCE_FAULTS_LANE_WRAP_H

#define ASK_MALLOC 0x7268616c
#define ASK_CLOCK  0x7268636c
/* An answer is the day since 1970 plus this, so that it is never negative. */
#define CLOCK_ZERO 1000000L

#endif
