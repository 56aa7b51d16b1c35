/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: one call of a program, as a runtime makes it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "conformance/differential/diff.h"
#include "conformance/harness/cni.h"
#include "conformance/harness/process.h"

enum { LIMIT_MS = 10000 };

static void judge(struct answer *out, const char *text, int status)
{
	const cJSON *msg, *details;

	out->tree = cJSON_Parse(text);
	out->ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (out->ok)
		return;
	msg = cJSON_GetObjectItemCaseSensitive(out->tree, "msg");
	details = cJSON_GetObjectItemCaseSensitive(out->tree, "details");
	if (cJSON_IsString(msg))
		(void)snprintf(out->msg, sizeof(out->msg), "%s %s", msg->valuestring,
			       cJSON_IsString(details) ? details->valuestring : "");
	else
		(void)snprintf(out->msg, sizeof(out->msg), "no error object, status %x: %.200s",
			       (unsigned)status, text);
}

void ask(const char *program, const char *cmd, const char *id, const struct generated *g,
	 struct answer *out)
{
	char **env = cni_env(&(struct cni_call){ .cmd = cmd,
						 .container = id,
						 .netns = "/run/netns/none",
						 .ifname = "net1",
						 .args = g->args,
						 .path = "/usr/lib/cni" });
	auto_exited e;

	*out = (struct answer){ .ok = false };
	command_run(&(struct command){ .program = program, .env = env, .input = g->conf }, LIMIT_MS,
		    &e);
	free(env);
	judge(out, e.out, e.status);
}

void answer_clear(struct answer *a)
{
	cJSON_Delete(a->tree);
	*a = (struct answer){ .ok = false };
}
