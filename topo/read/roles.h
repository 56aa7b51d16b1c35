/* SPDX-License-Identifier: Apache-2.0 */
/* roles.h: roles and Data Direct functions of HCAs that the operator of this machine gives. */
#ifndef RAILHEAD_TOPO_READ_ROLES_H
#define RAILHEAD_TOPO_READ_ROLES_H

#include "lib/base/ctx.h"
#include "topo/core/machine.h"

/*
 * topo_operator_roles - set the roles and Data Direct functions of topo.json in c->etc_dir; without
 * this file nothing changes. ERR_CONFIG names the key.
 */
int topo_operator_roles(const struct ctx *c, struct topo_machine *m, struct err *e) must_check;

#endif
