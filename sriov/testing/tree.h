/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h: which function of a testhost is below which bridges. */
#ifndef RAILHEAD_SRIOV_TESTING_TREE_H
#define RAILHEAD_SRIOV_TESTING_TREE_H

/*
 * testhost_switch - a root port, and below it a switch with one downstream port. testhost_below -
 * move a function below a path such as "0000:01:00.0/0000:02:00.0/0000:03:00.0". Links to its
 * folder, and in it to its VFs, go on to work.
 */
void testhost_switch(const char *port, const char *up, const char *down);
void testhost_below(const char *addr, const char *above);

#endif
