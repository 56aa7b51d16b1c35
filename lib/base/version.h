/* SPDX-License-Identifier: Apache-2.0 */
/* version.h: the version of this suite, in one place (the Makefile and packages read it here). */
#ifndef RAILHEAD_LIB_BASE_VERSION_H
#define RAILHEAD_LIB_BASE_VERSION_H

#define RAILHEAD_VERSION "0.1.0"

#endif
