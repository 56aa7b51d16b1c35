/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_text.c: find the list of plugins in a text, and the entry in the list.
 *
 * A tree of JSON does not know where in the text its nodes are, and a text that is printed again
 * differs: owners compare theirs byte by byte. So the text is walked, after the parser has
 * accepted it. Keys and types that are written with escapes are not recognized.
 *
 * Multus, read in 4.2.4 and 4.3.0: thin Multus copies the first other file of the folder into
 * "delegates" of 00-multus.conf or, from protocol 1.0.0 on, 00-multus.conflist. It does so at its
 * start, and later only with --cleanup-config-on-exit. Thick Multus names that file in
 * "clusterNetwork" and reads it at each ADD.
 */
#include "install/chain_text.h"

#include <stdio.h>
#include <string.h>

#include "cni/protocol/version.h"
#include "lib/json/json.h"

#define ENTRY "{\"type\": \"" CHAIN_PROGRAM "\"}"

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Behind the value that begins here. */
static const char *skip_value(const char *at)
{
	unsigned depth = 0;

	do {
		if (*at == '"')
			for (at++; *at != '"'; at++)
				at += *at == '\\';
		else if (*at == '[' || *at == '{')
			depth++;
		else if (*at == ']' || *at == '}')
			depth--;
		else if (!depth)
			return at + strcspn(at, ",]} \t\r\n");
		at++;
	} while (depth);
	return at;
}

/* The next element of an array, or key of an object. at: its bracket, or the end of the one before.
 * NULL: there is none. */
static const char *next_of(const char *at)
{
	at = skip_space(at);
	if (*at != ']' && *at != '}')
		at = skip_space(at + 1);
	return *at == ']' || *at == '}' ? NULL : at;
}

/* The value of a key, of which the last one counts; NULL: obj is not an object, or has none. */
static const char *value_of(const char *obj, const char *key)
{
	const char *found = NULL, *value;

	for (const char *at = obj; obj && *obj == '{' && (at = next_of(at));
	     at = skip_value(value)) {
		value = skip_space(skip_space(skip_value(at)) + 1);
		if (strncmp(at + 1, key, strlen(key)) == 0 && at[1 + strlen(key)] == '"')
			found = value;
	}
	return found;
}

static bool is_type(const char *obj, const char *type)
{
	const char *value = value_of(obj, "type");

	return value && *value == '"' && strncmp(value + 1, type, strlen(type)) == 0 &&
	       value[1 + strlen(type)] == '"';
}

/* The first element of an array; NULL: it is not an array, or empty. */
static const char *first_of(const char *array)
{
	return array && *array == '[' ? next_of(array) : NULL;
}

/* Does the plugin get the result of the one before it? */
static bool has_chains(const char *net)
{
	const char *value = value_of(net, "cniVersion");
	enum cni_version version;
	char text[16] = "";
	struct err ignored;

	if (value && *value == '"')
		(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(value + 1, "\""),
			       value + 1);
	return cni_version_parse(text, &version, &ignored) == 0 && version >= CNI_030;
}

/* The list's first element, and the network that has the list. NULL: there is none. */
static const char *find_list(const char *top, enum chain_kind *kind, const char **net)
{
	const char *first = first_of(value_of(top, "plugins")), *multus = first ? first : top;

	*kind = first ? CHAIN_LIST : CHAIN_NO_CHAIN;
	*net = top;
	if (!is_type(multus, "multus") && !is_type(multus, "multus-shim"))
		return first;
	*net = first_of(value_of(multus, "delegates"));
	first = first_of(value_of(*net, "plugins"));
	*kind = first ? CHAIN_COPY : CHAIN_POINTER;
	/* Multus hands its version on. */
	if (!value_of(*net, "cniVersion"))
		*net = top;
	return first;
}

/* As the text before the last element begins: on a line of its own, or not. */
static int insert(const char *text, const char *last, char **out)
{
	const char *gap = last, *end = skip_value(last);

	while (strchr(" \t\r\n", gap[-1]))
		gap--;
	return asprintf(out, "%.*s,%.*s" ENTRY "%s", (int)(end - text), text, (int)(last - gap),
			gap, end);
}

/* With the comma before the entry, or else after it. A list of the entry alone stays. */
static int take_out(const char *text, const char *before, const char *entry, char **out)
{
	const char *from = before ? skip_value(before) : entry, *to = skip_value(entry);

	if (!before)
		to = next_of(to);
	return to ? asprintf(out, "%.*s%s", (int)(from - text), text, to) : 0;
}

int chain_edit(const char *text, bool wanted, enum chain_kind *kind, char **out, struct err *e)
{
	auto_json struct json *tree = NULL;
	const char *net, *first, *last = NULL;
	int rc = 0;

	*out = NULL;
	if (json_parse(text, strlen(text), "network configuration", &tree, e))
		return -1;
	first = find_list(skip_space(text), kind, &net);
	for (const char *at = first; at; at = next_of(skip_value(at))) {
		if (is_type(at, CHAIN_PROGRAM)) {
			if (!wanted)
				rc = take_out(text, last, at, out);
			return rc < 0 ? err_nomem(e) : 0;
		}
		last = at;
	}
	if (!wanted || !last)
		return 0;
	if (has_chains(net))
		rc = insert(text, last, out);
	else if (*kind == CHAIN_LIST)
		*kind = CHAIN_NO_CHAIN;
	return rc < 0 ? err_nomem(e) : 0;
}
