/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/cli/help.h"

#include <string.h>

#define HELP_WIDTH 80
#define OPT_INDENT 24

/* Words of text, broken at HELP_WIDTH; the cursor stands in column `at`, new lines start at indent.
 */
static void wrap_text(FILE *to, const char *text, size_t at, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t len = strcspn(text, " \n");
		if (!first && at + 1 + len > HELP_WIDTH) {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(to, "%s%.*s", first ? "" : " ", (int)len, text);
		at += len + !first;
		first = false;
		text += len;
		while (*text == ' ')
			text++;
		if (*text == '\n') {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
			text++;
		}
	}
	fputc('\n', to);
}

/* Term, then its meaning in a column of its own. */
void help_entry(FILE *to, const char *term, const char *meaning)
{
	size_t at = strlen(term) + 2;

	fprintf(to, "  %s", term);
	if (at + 2 > OPT_INDENT)
		fprintf(to, "\n%*s", OPT_INDENT, "");
	else
		fprintf(to, "%*s", (int)(OPT_INDENT - at), "");
	wrap_text(to, meaning, OPT_INDENT, OPT_INDENT);
}

void help_options(FILE *to, const char *title, const struct opt *opts)
{
	char term[64];

	if (!opts || !opts->name)
		return;
	fprintf(to, "\n%s:\n", title);
	for (; opts->name; opts++) {
		(void)snprintf(term, sizeof(term), "--%s%s%s", opts->name, opts->value ? " " : "",
			       opts->value ? opts->value : "");
		help_entry(to, term, opts->help);
	}
}

void help_wrap(FILE *to, const char *text)
{
	wrap_text(to, text, 0, 0);
}
