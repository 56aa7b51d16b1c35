/* SPDX-License-Identifier: Apache-2.0 */
/* help.h: the layout of --help: paragraphs of 80 columns, terms with their meaning beside them. */
#ifndef RAILHEAD_LIB_CLI_HELP_H
#define RAILHEAD_LIB_CLI_HELP_H

#include <stdio.h>

#include "lib/cli/opt.h"

/* help_wrap - a paragraph; a line break in text is one in the output. */
void help_wrap(FILE *to, const char *text);

/* help_entry - a term, indented, and its meaning in a column of its own. */
void help_entry(FILE *to, const char *term, const char *meaning);

/* help_options - an empty line, "title:", and an entry for each option; nothing for no options. */
void help_options(FILE *to, const char *title, const struct opt *opts);

#endif
