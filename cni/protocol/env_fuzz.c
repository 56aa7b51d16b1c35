/* SPDX-License-Identifier: Apache-2.0 */
/* env_fuzz.c: feeds any variables to cni_env_load(), and checks the rules of their values. */
#include "cni/protocol/env.h"
#include "lib/testing/fuzz.h"

/* A line each: the verb, then CNI_ARGS, CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS, CNI_PATH. */
static char *line[6];

static char *get(const char *name)
{
	static const char initials[] = "VACINP";
	const char *at = strstr(name, "OVERRIDE") ? NULL : strchr(initials, name[4]);

	return at ? line[at - initials] : NULL;
}

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct cni_env, env);
	FUZZ_OUT(struct err, e);
	enum cni_command cmd = CNI_ADD;

	for (size_t i = 0; i < 6; i++)
		line[i] = fuzz_cut(&data, &size);
	if (fuzz_ok(cni_command_parse(line[0], &cmd, &e), &e, NULL, 0) &&
	    fuzz_ok(cni_env_load(cmd, get, &env, &e), &e, &env, sizeof(env)) && cmd == CNI_ADD)
		MUST(id_valid(env.container) && !ifname_problem(env.ifname) && *env.netns &&
		     *env.path);
	for (size_t i = 0; i < 6; i++)
		free(line[i]);
	return 0;
}
