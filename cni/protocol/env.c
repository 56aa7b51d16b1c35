/* SPDX-License-Identifier: Apache-2.0 */
/* env.c: reads and checks the CNI_* variables and the keys of CNI_ARGS. */
#include "cni/protocol/env.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const verbs[] = {
	[CNI_ADD] = "ADD", [CNI_DEL] = "DEL",       [CNI_CHECK] = "CHECK",
	[CNI_GC] = "GC",   [CNI_STATUS] = "STATUS", [CNI_VERSION] = "VERSION",
};

const char *cni_command_name(enum cni_command v)
{
	return verbs[v];
}

int cni_command_parse(const char *s, enum cni_command *out, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(s, verbs[i]) == 0) {
			*out = (enum cni_command)i;
			return 0;
		}
	}
	return err_set(e, ERR_ENV, 0, "unknown CNI_COMMAND: %.64s", s);
}

/* Bits of the table below: which commands need a variable (CNI-008, CNI-009). */
#define NEED(v)      (1u << (v))
#define OF_CONTAINER (NEED(CNI_ADD) | NEED(CNI_DEL) | NEED(CNI_CHECK))

struct variable {
	const char *name;
	size_t offset;
	unsigned needed_by;
};

static const struct variable variables[] = {
	{ "CNI_CONTAINERID", offsetof(struct cni_env, container), OF_CONTAINER },
	{ "CNI_NETNS", offsetof(struct cni_env, netns), NEED(CNI_ADD) | NEED(CNI_CHECK) },
	{ "CNI_IFNAME", offsetof(struct cni_env, ifname), OF_CONTAINER },
	{ "CNI_PATH", offsetof(struct cni_env, path),
	  OF_CONTAINER | NEED(CNI_GC) | NEED(CNI_STATUS) },
	{ "CNI_ARGS", offsetof(struct cni_env, args), 0 },
};

static int read_variables(char *(*get)(const char *), struct cni_env *env, struct err *e)
{
	char missing[128] = "";

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const struct variable *v = &variables[i];
		const char *value = get(v->name);

		if ((!value || !*value) && (v->needed_by & NEED(env->cmd))) {
			if (*missing)
				strcat(missing, ",");
			strcat(missing, v->name);
		}
		if (value && !utf8_valid(value, strlen(value)))
			return err_set(e, ERR_ENV, 0, "%s is not valid UTF-8", v->name);
		*(const char **)(void *)((char *)env + v->offset) = value ? value : "";
	}
	if (*missing)
		return err_set(e, ERR_ENV, 0, "required env variables [%s] missing", missing);
	return 0;
}

static int check_container(const struct cni_env *env, struct err *e)
{
	if (!id_valid(env->container)) {
		err_set(e, ERR_ENV, 0, "invalid characters in containerID");
		return err_hint(e, "CNI_CONTAINERID is \"%.256s\"", env->container);
	}
	if (strlen(env->container) > CNI_ID_MAX && env->cmd != CNI_DEL)
		return err_set(e, ERR_ENV, 0,
			       "CNI_CONTAINERID has %zu bytes, at most %d can be served",
			       strlen(env->container), CNI_ID_MAX);
	return 0;
}

/* ADD refuses more than the protocol does; a DEL of what it refused must succeed (CNI-120). */
static const char *protocol_problem(const char *ifname)
{
	char name[IFNAME_LEN + 1];
	size_t len = strnlen(ifname, IFNAME_LEN);

	memcpy(name, ifname, len);
	name[len] = '\0';
	for (char *c = name; *c; c++) {
		if (*c == '%' || (iscntrl((unsigned char)*c) && !isspace((unsigned char)*c)))
			*c = '_';
	}
	return ifname_problem(name);
}

static int env_check_ifname(const struct cni_env *env, struct err *e)
{
	const char *problem =
		env->cmd == CNI_DEL ? protocol_problem(env->ifname) : ifname_problem(env->ifname);

	if (!problem)
		return 0;
	err_set(e, ERR_ENV, 0, "%s", problem);
	return err_hint(e, "CNI_IFNAME is \"%.64s\"", env->ifname);
}

int cni_env_load(enum cni_command cmd, char *(*get)(const char *), struct cni_env *out,
		 struct err *e)
{
	struct cni_env env = { .cmd = cmd };
	const char *override = get("CNI_NETNS_OVERRIDE");

	env.netns_override =
		override && (strcmp(override, "1") == 0 || strcasecmp(override, "true") == 0);
	if (read_variables(get, &env, e))
		return -1;
	if (OF_CONTAINER & NEED(cmd)) {
		if (check_container(&env, e) || env_check_ifname(&env, e))
			return -1;
	}
	*out = env;
	return 0;
}

int cni_args_get(const char *args, const char *key, char *buf, size_t size, struct err *e)
{
	struct slice rest = { args, strlen(args) }, pair, found = { NULL, 0 };
	size_t key_len = strlen(key);

	while (slice_next(&rest, ';', &pair)) {
		if (pair.len > key_len && pair.p[key_len] == '=' &&
		    memcmp(pair.p, key, key_len) == 0)
			found = (struct slice){ pair.p + key_len + 1, pair.len - key_len - 1 };
	}
	if (!found.p)
		return 0;
	if (slice_copy(found, buf, size))
		return err_set(e, ERR_ENV, 0, "CNI_ARGS: the value of %s has more than %zu bytes",
			       key, size - 1);
	return 1;
}

struct cni_pod cni_args_pod(const char *args)
{
	struct cni_pod p = { .ns = "" };
	struct err ignored;

	if (cni_args_get(args, "K8S_POD_NAMESPACE", p.ns, sizeof(p.ns), &ignored) != 1 ||
	    cni_args_get(args, "K8S_POD_NAME", p.name, sizeof(p.name), &ignored) != 1)
		return (struct cni_pod){ .ns = "" };
	return p;
}

const char *cni_env_pod(const struct cni_env *env, char uid[CNI_POD_UID_LEN])
{
	struct err ignored;

	if (cni_args_get(env->args, "K8S_POD_UID", uid, CNI_POD_UID_LEN, &ignored) == 1 && *uid)
		return uid;
	return env->container;
}
