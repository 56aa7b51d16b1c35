/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ident.c: linked into every program; the Makefile gives PROGRAM, the program's name, and BUILD,
 * the checksum of all that the programs of this build consist of.
 */
#include "lib/base/version.h"
#include "lib/sys/build_mark.h"

#ifdef __clang_analyzer__ /* clang-tidy does not know them; no build goes without */
#define PROGRAM "analysed"
#define BUILD   "analysed"
#endif

/* By this text `make install` and `make uninstall` tell our own files from other people's programs
 * of the same name. It survives strip. tools/install.sh looks for it. */
extern const char railhead_ident[];
const char railhead_ident[] = "railhead-ident: program, version " RAILHEAD_VERSION;

#define MARK(name) "railhead-build: " BUILD " " name

/* What a plugin looks for in the program railhead-ipam: plugins/ipam/ipam.h. */
extern const char railhead_ipam_mark[];
const char railhead_ipam_mark[] = MARK("railhead-ipam") "\n";

const char railhead_build[] = BUILD;

/* The note: lib/sys/build_mark.h. Sizes of name and text, type 1; both are padded to four bytes. */
__asm__(".pushsection .note.railhead, \"a\", %note\n"
	".balign 4\n"
	".long 2f - 1f, 4f - 3f, 1\n"
	"1: .asciz \"railhead\"\n"
	"2: .balign 4\n"
	"3: .ascii \"" MARK(PROGRAM) "\\n\"\n"
				     "4: .balign 4\n"
				     ".popsection\n");
