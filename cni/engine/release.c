/* SPDX-License-Identifier: Apache-2.0 */
/* release.c: the IPAM releases the addresses of an attachment that has ended. */
#include <string.h>

#include "cni/engine/attach_priv.h"

bool attach_same_ipam(const struct cni_call *call, const struct record *r)
{
	return !r->config || json_same(json_get(r->config, "ipam"), call->conf.ipam);
}

/* Keys of a changed or damaged configuration must not keep a pod from going (CNI-089). */
int attach_ipam_timeout_ms(const struct json *config)
{
	uint32_t seconds = ATTACH_IPAM_TIMEOUT_S;
	const struct json_field field[] = {
		{ .key = "ipamTimeout", .kind = J_U32, .min = 1, .max = ATTACH_IPAM_TIMEOUT_MAX_S },
		{ 0 },
	};
	struct err ignored;

	(void)!json_decode(config, "", field, &seconds, &ignored);
	return (int)seconds * 1000;
}

/*
 * If ADD could not run the IPAM, there is no address. The runtime repeats DEL until it succeeds, so
 * a missing IPAM is then not an error. If the IPAM may have run, for instance in an ADD that was
 * killed, DEL fails until the program is there again.
 */
static int run_del(const struct cni_call *call, const struct delegate_call *del, bool leased,
		   struct err *e)
{
	struct delegate ipam;
	struct err why;

	if (delegate_start(call, del, attach_ipam_timeout_ms(call->conf.tree), &ipam, &why) == 0)
		return delegate_finish(&ipam, NULL, NULL, e);
	if (leased || why.code != ERR_DELEGATE)
		return err_pass(e, &why);
	log_warn(&call->ctx.log, "%s; there is no record of this attachment, and so no address",
		 why.msg);
	return 0;
}

int attach_release(const struct cni_call *call, const struct record *r,
		   const struct delegate_call *del, bool leased, struct err *e)
{
	struct cni_call recorded = *call;

	if (attach_same_ipam(call, r))
		return call->data && *attach_ipam_type(call) ? run_del(call, del, leased, e) : 0;

	char *text = json_print(r->config, false);

	if (!text)
		return err_nomem(e);
	int rc = cni_conf_parse(text, strlen(text), CNI_DEL, &recorded.conf, e);

	if (rc == 0 && *recorded.conf.ipam_type)
		rc = run_del(&recorded, del, leased, e);
	cni_conf_clear(&recorded.conf);
	return rc;
}
