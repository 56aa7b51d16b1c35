/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_name.c: no name has '/', '%' or a byte above ASCII, so a name needs no escapes in a key
 * or in an address.
 */
#include "cluster/store/cluster_name.h"

#include <stdio.h>
#include <string.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789.-"
#define DIGITS     32 /* of a block's name */

bool cluster_name_part(const char *text)
{
	return text[strspn(text, NAME_CHARS)] == '\0' && strlen(text) < CLUSTER_NAME_LEN;
}

bool cluster_name_valid(const char *name)
{
	size_t len = strlen(name);

	return len && cluster_name_part(name) && !strchr(".-", name[0]) &&
	       !strchr(".-", name[len - 1]);
}

bool cluster_prefix_pool(const char *prefix, char pool[CLUSTER_NAME_LEN])
{
	const char *dash = strrchr(prefix, '-');
	size_t digits = dash ? strspn(dash + 1, "0123456789abcdef") : 0;

	if (!dash || dash[1 + digits] || digits > DIGITS)
		return false;
	(void)snprintf(pool, CLUSTER_NAME_LEN, "%.*s", (int)(dash - prefix), prefix);
	return cluster_name_valid(pool);
}

bool cluster_selector_valid(const struct cluster_selector *which, const char **bad)
{
	*bad = which->node && !cluster_name_valid(which->node)      ? which->node
	       : which->prefix && !cluster_name_part(which->prefix) ? which->prefix
								    : NULL;
	return !*bad;
}
