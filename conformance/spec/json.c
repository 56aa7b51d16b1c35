/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: read, set and delete values of a JSON tree by their path. */
#include "conformance/spec/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Cut the next step off *path into step. False: none left. */
static bool next_step(const char **path, char *step, size_t size)
{
	size_t len = strcspn(*path, ">");

	if (!len || len >= size)
		return false;
	memcpy(step, *path, len);
	step[len] = '\0';
	*path += len + ((*path)[len] == '>');
	return true;
}

static cJSON *child(const cJSON *at, const char *step)
{
	if (cJSON_IsArray(at) && isdigit((unsigned char)*step))
		return cJSON_GetArrayItem(at, atoi(step)); /* NOLINT(cert-err34-c): checked */
	return cJSON_GetObjectItemCaseSensitive(at, step);
}

cJSON *jget(const cJSON *tree, const char *path)
{
	cJSON *at = NULL;
	char step[64];

	while (next_step(&path, step, sizeof(step))) {
		at = child(at ? at : tree, step);
		if (!at)
			return NULL;
	}
	return at;
}

const char *jstr(const cJSON *tree, const char *path)
{
	const cJSON *n = jget(tree, path);

	return cJSON_IsString(n) ? n->valuestring : "";
}

double jnum(const cJSON *tree, const char *path)
{
	const cJSON *n = jget(tree, path);

	return cJSON_IsNumber(n) ? n->valuedouble : -1;
}

int jlen(const cJSON *tree, const char *path)
{
	return cJSON_GetArraySize(jget(tree, path));
}

static void put(cJSON *at, const char *step, cJSON *value)
{
	if (cJSON_IsArray(at)) {
		if (child(at, step))
			cJSON_ReplaceItemInArray(at, atoi(step), value); /* NOLINT(cert-err34-c) */
		else
			cJSON_AddItemToArray(at, value);
		return;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(at, step);
	cJSON_AddItemToObject(at, step, value);
}

void jset(cJSON *tree, const char *path, cJSON *value)
{
	cJSON *at = tree;
	char step[64];

	while (next_step(&path, step, sizeof(step))) {
		if (!*path) {
			put(at, step, value);
			return;
		}
		cJSON *next = child(at, step);
		if (!next) {
			next = cJSON_CreateObject();
			put(at, step, next);
		}
		at = next;
	}
}

void jdel(cJSON *tree, const char *path)
{
	const char *last = strrchr(path, '>');
	cJSON *at = tree;

	if (last) {
		char *parent = strndup(path, (size_t)(last - path));
		at = parent ? jget(tree, parent) : NULL;
		free(parent);
	}
	path = last ? last + 1 : path;
	if (cJSON_IsArray(at))
		cJSON_DeleteItemFromArray(at, atoi(path)); /* NOLINT(cert-err34-c) */
	else if (at)
		cJSON_DeleteItemFromObjectCaseSensitive(at, path);
}

cJSON *jparse(const char *text)
{
	const char *end = NULL;
	cJSON *tree = text ? cJSON_ParseWithOpts(text, &end, 0) : NULL;

	if (!tree)
		return NULL;
	if (end[strspn(end, " \t\r\n")]) {
		cJSON_Delete(tree);
		return NULL;
	}
	return tree;
}

char *jtext(const cJSON *tree)
{
	return tree ? cJSON_PrintUnformatted(tree) : NULL;
}
