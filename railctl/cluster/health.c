/* SPDX-License-Identifier: Apache-2.0 */
/* health.c: findings about the node agent, from its status. */
#include <errno.h>
#include <string.h>

#include "railctl/cluster/cluster.h"

static struct finding *add(struct findings *out, const char *code, enum finding_state state,
			   const struct json *value)
{
	struct finding *f = findings_add(out, "agent", state);

	f->code = code;
	if (json_str(value))
		finding_set_value(f, "%s", json_str(value));
	return f;
}

static void add_health(const struct json *s, struct findings *out)
{
	const char *health = json_text(s, "health");
	const bool ok = strcmp(health, "ok") == 0 || strcmp(json_text(s, "store"), "none") == 0;
	struct finding *f = add(out, "agent-health", ok ? FINDING_OK : FINDING_FAIL,
				json_get(s, ok ? "version" : "health"));

	if (ok)
		return;
	finding_set_reason(f, "%s",
			   json_str(json_get(s, "why"))
				   ? json_text(s, "why")
				   : "new pods may get no address of a shared pool");
	finding_set_remedy(f, "%s", json_text_or(s, "whyDetail", "railctl cluster status"));
}

static void add_pools(const struct json *s, struct findings *out)
{
	json_each (p, json_get(s, "pools")) {
		const struct json *refused = json_get(p, "refused"), *waits = json_get(p, "waits");
		struct finding *f;

		if (!refused && !waits)
			continue;
		f = add(out, refused ? "pool-refused" : "pool-waits",
			refused ? FINDING_FAIL : FINDING_WARN, refused ? refused : waits);
		finding_set_subject(f, "pool %s", json_text(p, "name"));
		finding_set_reason(f, "this node does not use the newest definition");
		finding_set_remedy(f, "railctl cluster pool show %s", json_text(p, "name"));
	}
}

static void add_plugins(const struct json *n, struct findings *out)
{
	static const struct {
		const char *member, *what;
	} kinds[] = { { "overwritten", "another project has overwritten it" },
		      { "missing", "it is missing" },
		      { "otherBuild", "it is of another build" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		json_each (x, json_get(n, kinds[i].member)) {
			struct finding *f = add(out, "plugin", FINDING_FAIL, NULL);

			finding_set_subject(f, "%s", json_str(x));
			finding_set_value(f, "%s", kinds[i].what);
			finding_set_reason(f, "pods with its networks do not start, or not as "
					      "configured");
			finding_set_remedy(f, "install the plugins again");
		}
	}
}

static void add_rails(const struct json *rails, struct findings *out)
{
	json_each (rail, json_get(rails, "list")) {
		json_each (x, json_get(rail, "degraded")) {
			struct finding *f =
				add(out, "rail-degraded", FINDING_WARN, json_get(x, "value"));

			finding_set_subject(f, "%s:%.0f", json_text(rail, "device"),
					    json_num(json_get(rail, "port")));
			finding_set_reason(f, "the rail is degraded: %s", json_text(x, "check"));
			finding_set_remedy(f, "%s", json_text(x, "remedy"));
		}
	}
}

/* A part of the agent that has an error looks at nothing. */
static void add_errors(const struct json *s, struct findings *out)
{
	static const char *const parts[] = { "plugins", "rails", "transport", "neighbours",
					     "devicePlugin" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct json *error = json_get(json_get(s, parts[i]), "error");

		if (!error)
			continue;
		struct finding *f = add(out, "agent-error", FINDING_UNKNOWN, error);

		finding_set_subject(f, "%s", parts[i]);
		finding_set_reason(f, "the agent does not know them");
		finding_set_remedy(f, "railctl cluster status, and the log of the agent");
	}
}

int cluster_agent_status(struct cmd_run *r, struct json **out, struct err *e)
{
	if (!agent_client_call(&r->ctx, &(struct agent_call){ "status", NULL }, CLUSTER_WAIT_MS,
			       out, e))
		return 0;
	return e->errnum == ENOENT ? 1 : -1;
}

int cluster_status_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_json struct json *s = NULL;
	int rc = cluster_agent_status(r, &s, e);

	if (rc)
		return rc;
	add_health(s, out);
	add_pools(s, out);
	add_plugins(json_get(s, "plugins"), out);
	add_rails(json_get(s, "rails"), out);
	add_errors(s, out);
	return findings_check(out, e);
}
