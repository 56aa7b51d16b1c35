/* SPDX-License-Identifier: Apache-2.0 */
/* opt.c: parses long options by a table. */
#include "lib/cli/opt.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/near.h"

#define ARGS_MAX (1u << 20)

static const struct opt *find_option(const struct opt *const *tables, const char *name, size_t len)
{
	for (; *tables; tables++) {
		for (const struct opt *o = *tables; o->name; o++) {
			if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
				return o;
		}
	}
	return NULL;
}

/* "-m" */
static const struct opt *find_short(const struct opt *const *tables, const char *arg)
{
	for (; arg[1] && !arg[2] && *tables; tables++)
		for (const struct opt *o = *tables; o->name; o++)
			if (o->flags & OPT_SHORT && o->name[0] == arg[1])
				return o;
	return NULL;
}

static int opt_refuse_unknown(const struct opt *const *tables, const char *arg, struct err *e)
{
	const char *word = arg + strspn(arg, "-"), *best = NULL;
	char name[64];

	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	/* As other programs call it. */
	if (strcmp(name, "o") == 0 || strcmp(name, "output") == 0)
		(void)strcpy(name, "json");
	for (; *tables; tables++) {
		for (const struct opt *o = *tables; o->name; o++)
			(void)near_word(name, o->name, &best);
	}
	err_set(e, ERR_FIELD, 0, "unknown option %.64s", arg);
	return best ? err_hint(e, "did you mean --%s?", best) : -1;
}

static int opt_add_value(struct opts *o, const struct opt *opt, const char *text, struct err *e)
{
	if (!(opt->flags & OPT_MANY) && opt->value && opt_get(o, opt->name))
		return err_set(e, ERR_CONFIG, 0, "option --%s is given twice", opt->name);
	if (ARRAY_GROW(o->values, o->n_values, ARGS_MAX, "options", e))
		return -1;
	o->values[o->n_values++] = (struct opt_value){ opt, text };
	return 0;
}

/* One option; next is the argument behind it. Returns how many arguments it took. */
static int take_option(const char *arg, const char *next, const struct opt *const *tables,
		       struct opts *o, struct err *e)
{
	const char *equals = strchr(arg, '=');
	size_t len = strcspn(arg + 2, "=");
	const struct opt *opt =
		arg[1] == '-' ? find_option(tables, arg + 2, len) : find_short(tables, arg);

	if (strcmp(arg, "-h") == 0)
		opt = find_option(tables, "help", 4);
	if (!opt)
		return opt_refuse_unknown(tables, arg, e);
	if (!opt->value && equals)
		return err_set(e, ERR_CONFIG, 0, "option --%s takes no value", opt->name);
	if (!opt->value)
		return opt_add_value(o, opt, "", e) ? -1 : 1;
	if (equals)
		return opt_add_value(o, opt, equals + 1, e) ? -1 : 1;
	if (!next || strncmp(next, "--", 2) == 0)
		return err_set(e, ERR_CONFIG, 0, "option --%s needs a value: --%s %s", opt->name,
			       opt->name, opt->value);
	return opt_add_value(o, opt, next, e) ? -1 : 2;
}

int opt_parse(char *const *argv, const struct opt *const *tables, bool stop, struct opts *o,
	      struct err *e)
{
	bool only_words = false;
	int i = 0;

	while (argv[i]) {
		const char *arg = argv[i];
		bool is_option = !only_words && arg[0] == '-' && arg[1];

		if (is_option && strcmp(arg, "--") == 0) {
			only_words = true;
			i++;
		} else if (is_option) {
			int n = take_option(arg, argv[i + 1], tables, o, e);
			if (n < 0)
				return -1;
			i += n;
		} else if (stop) {
			break;
		} else {
			if (ARRAY_GROW(o->words, o->n_words, ARGS_MAX, "words", e))
				return -1;
			o->words[o->n_words++] = arg;
			i++;
		}
	}
	return i;
}

void opts_clear(struct opts *o)
{
	free(o->values);
	free(o->words);
	*o = (struct opts){ 0 };
}

const char *opt_next(const struct opts *o, const char *name, size_t *i)
{
	while (*i < o->n_values) {
		const struct opt_value *v = &o->values[(*i)++];
		if (strcmp(v->opt->name, name) == 0)
			return v->text;
	}
	return NULL;
}

const char *opt_get(const struct opts *o, const char *name)
{
	size_t i = 0;

	return opt_next(o, name, &i);
}

bool opt_is_set(const struct opts *o, const char *name)
{
	return opt_get(o, name);
}
