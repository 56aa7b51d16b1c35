/* SPDX-License-Identifier: Apache-2.0 */
/* sm_ufm.c: sm-ufm, a hook of railhead-sm.d(5) for UFM. */
#include "fabric/hook_conf.h"
#include "fabric/ufm_exchange.h"
#include "fabric/ufm_request.h"
#include "lib/sys/safe_path.h"

#define CA_MAX (256 * 1024)

struct session {
	struct ufm_conf conf;
	char *authorization, *ca;
};

static void session_clear(struct session *s)
{
	ufm_conf_clear(&s->conf);
	free(s->authorization);
	free(s->ca);
}

static int session_load(struct session *s, const char *path, struct err *e)
{
	auto_free char *secret = NULL;

	if (ufm_conf_load(path, &s->conf, e) ||
	    hook_secret_load(s->conf.token_file ? s->conf.token_file : s->conf.password_file,
			     &secret, e) ||
	    (s->conf.ca && safe_read(s->conf.ca, CA_MAX, &s->ca, e) < 0))
		return -1;
	s->authorization = ufm_authorization(&s->conf, secret);
	return s->authorization ? 0 : err_nomem(e);
}

/* UFM has no such partition: then no GUID is a member of it. */
static int sm_ufm_check_list(const struct session *s, uint16_t pkey, struct err *e)
{
	auto_free char *url = ufm_list_url(&s->conf), *answer = NULL;
	const struct ufm_exchange x = { url, s->authorization, s->ca, NULL };
	int status = 0;

	if (!url)
		return err_nomem(e);
	return ufm_ask(&x, &status, &answer, e) || ufm_list_judge(status, answer, pkey, e) ? -1 : 0;
}

static int change_members(const struct session *s, const struct sm_message *m, struct err *e)
{
	auto_free char *url = ufm_url(&s->conf, m->action), *body = ufm_body(&s->conf, m);
	auto_free char *answer = NULL;
	const struct ufm_exchange x = { url, s->authorization, s->ca, body };
	int status = 0;

	if (!url || !body)
		return err_nomem(e);
	if (ufm_ask(&x, &status, &answer, e))
		return -1;
	int rc = ufm_judge(m->action, status, answer, e);
	return rc > 0 ? sm_ufm_check_list(s, m->pkey, e) : rc;
}

static int sm_ufm_run(struct cmd_run *r, struct err *e)
{
	auto_clean(session_clear) struct session s = { .ca = NULL };
	auto_sm_message struct sm_message m = { .n = 0 };
	const char *path = opt_get(&r->opts, "config");

	return session_load(&s, path ? path : UFM_CONF_FILE, e) || hook_message_read(&m, e) ||
			       change_members(&s, &m, e)
		       ? -1
		       : 0;
}

static const struct opt options[] = {
	{ .name = "config", .value = "FILE", .help = "instead of " UFM_CONF_FILE },
	{ 0 },
};

static const struct cmd root = {
	.name = "sm-ufm",
	.summary = "give pods their partitions through UFM",
	.about = "A hook for /etc/railhead/sm.d. It reads a message of railhead from standard "
		 "input and asks UFM's REST interface. See railhead-sm.d(5).",
	.opts = { options },
	.run = sm_ufm_run,
};

int main(int argc, char **argv)
{
	(void)argc;
	return hook_main(&root, argv);
}
