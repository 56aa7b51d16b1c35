/* SPDX-License-Identifier: Apache-2.0 */
/* cni.c: build the environment of a CNI call from its variables. */
#include "conformance/harness/cni.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/harness/process.h"
#include "conformance/harness/text.h"

enum { VARIABLES = 6 };

/* The variables as one string, each followed by a NUL. Returns how many there are. */
static size_t join(const struct cni_call *c, struct text *out)
{
	const char *const values[VARIABLES] = { c->cmd,    c->container, c->netns,
						c->ifname, c->args,      c->path };
	static const char *const names[VARIABLES] = {
		"CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"
	};
	size_t n = 1;

	for (size_t i = 0; i < VARIABLES; i++) {
		if (!values[i])
			continue;
		text_add(out, "%s=%s%c", names[i], values[i], '\0');
		n++;
	}
	text_add(out, PATH_VARIABLE "%c", '\0');
	for (const char *const *m = c->more; m && *m; m++, n++)
		text_add(out, "%s%c", *m, '\0');
	return n;
}

char **cni_env(const struct cni_call *c)
{
	auto_text all = { .p = NULL };
	size_t n = join(c, &all);
	char **list = malloc((n + 1) * sizeof(*list) + all.len);

	if (!list)
		die("out of memory");
	char *at = (char *)(list + n + 1);
	memcpy(at, all.p, all.len);
	for (size_t i = 0; i < n; i++) {
		list[i] = at;
		at += strlen(at) + 1;
	}
	list[n] = NULL;
	return list;
}
