/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h: long options by table: "--name value", "--name=value", "--flag", "--" and words, mixed.
 *
 * Names are never abbreviated: a script keeps its meaning when an option is added. Pure.
 */
#ifndef RAILHEAD_LIB_CLI_OPT_H
#define RAILHEAD_LIB_CLI_OPT_H

#include "lib/base/err.h"

#define OPT_MANY  1u /* may be given more than once */
#define OPT_SHORT 2u /* a flag that "-" and its first letter name, too: "-m" */

struct opt {
	const char *name;  /* without dashes; NULL ends a table */
	const char *value; /* what help calls its value: "CIDR"; NULL: a flag */
	const char *help;  /* one sentence, lower case, no full stop */
	unsigned flags;
};

struct opt_value {
	const struct opt *opt;
	const char *text; /* "" for a flag; borrowed from argv */
};

struct opts {
	struct opt_value *values; /* in the order given */
	size_t n_values;
	const char **words; /* what is not an option; borrowed from argv */
	size_t n_words;
};

/*
 * opt_parse - parse the arguments up to a NULL. An option is looked for in every table of the
 * NULL-terminated list. Adds to what *o holds (start with zeroes). stop: end at the first word, do
 * not take it. Returns how many arguments were taken, or -1: ERR_FIELD for an unknown option (the
 * nearest one is suggested), ERR_CONFIG for a missing, superfluous or repeated value, ERR_NOMEM.
 */
int opt_parse(char *const *argv, const struct opt *const *tables, bool stop, struct opts *o,
	      struct err *e) must_check;

/* opts_clear - free both lists; *o is empty then. */
void opts_clear(struct opts *o);
#define auto_opts auto_clean(opts_clear)

/* opt_get - value of an option, "" for a flag that is set, NULL when it was not given. */
const char *opt_get(const struct opts *o, const char *name);
/* opt_is_set - the option was given, with whatever value. */
bool opt_is_set(const struct opts *o, const char *name);

/* opt_next - the next value of an option that may be given often; *i starts at 0. NULL: no more. */
const char *opt_next(const struct opts *o, const char *name, size_t *i);

#endif
