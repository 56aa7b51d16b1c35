/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h: the machines of testdata/ for tests. Everything fails the test if it cannot.
 */
#ifndef RAILHEAD_TOPO_TESTING_TOPO_H
#define RAILHEAD_TOPO_TESTING_TOPO_H

#include "topo/core/machine.h"

/* topo_text - a file below testdata/, "nccl-xml/dgx-a100.xml"; owned by the caller. */
char *topo_text(const char *file);

/* topo_xml - the machine of testdata/nccl-xml/<name>.xml; the caller clears it. */
void topo_xml(const char *name, struct topo_machine *out);

/* topo_names - the names of all of testdata/nccl-xml in order, NULL at the end; static. */
const char *const *topo_names(void);

#endif
