/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every program: by this text `make install` and `make uninstall` tell our own files
 * from other people's programs of the same name. It survives strip. tools/install.sh looks for it.
 */
#include "lib/base/version.h"

extern const char railhead_ident[];
const char railhead_ident[] = "railhead-ident: program, version " RAILHEAD_VERSION;
