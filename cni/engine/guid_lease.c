/* SPDX-License-Identifier: Apache-2.0 */
/* guid_lease.c: calls the IPAM for the GUID of the pod's port. */
#include "cni/engine/guid_lease.h"

#include <stdio.h>

#include "cni/engine/attach_priv.h"

static int run_add(const struct attach *a, const char *lease, struct cni_result *out, struct err *e)
{
	const struct delegate_call add = { .cmd = CNI_ADD, .lease = lease };
	struct delegate ipam = { .child = { .out_fd = -1 } };
	auto_free char *text = NULL;
	size_t len;

	if (delegate_start(a->call, &add, attach_ipam_add_ms(a), &ipam, e) ||
	    delegate_finish(&ipam, &text, &len, e))
		return -1;
	return attach_parse_ipam_result(a, (struct slice){ text, len }, out, e);
}

/* An IPAM that does not know the variable gives an address once more. */
static int read_guid(const struct attach *a, const struct cni_result *r, struct guid *out,
		     struct err *e)
{
	char text[IP_STR_LEN] = "nothing";
	const struct ip *ip = r->n_ips ? &r->ips[0].address.addr : NULL;
	const struct guid guid = ip ? guid_of_gid(*ip) : GUID_ZERO;

	if (ip && guid_is_network((struct ip_prefix){ *ip, 128 }) && guid_is_usable(guid)) {
		*out = guid;
		return 0;
	}
	err_set(e, ERR_DELEGATE, 0, "ipam.type: \"%.64s\" gave %s instead of a GUID",
		a->call->conf.ipam_type, ip ? ip_format(*ip, text) : text);
	return err_hint(e, "only railhead-ipam has pools of GUIDs");
}

int guid_lease_add(const struct attach *a, const struct guid *want, struct guid *out, struct err *e)
{
	auto_result struct cni_result r = { .n_ips = 0 };
	char lease[sizeof(DELEGATE_LEASE_GUID) + GUID_STR_LEN] = DELEGATE_LEASE_GUID;
	char text[GUID_STR_LEN];

	if (want)
		(void)snprintf(lease, sizeof(lease), DELEGATE_LEASE_GUID "=%s",
			       guid_format(*want, text));
	if (run_add(a, lease, &r, e) == 0 && read_guid(a, &r, out, e) == 0)
		return 0;
	return err_wrap(e, "ipam." CNI_CONF_GUID_POOL ": \"%.64s\"%s%s",
			cni_conf_guid_pool(a->call->conf.ipam), want ? ": GUID " : "",
			want ? text : "");
}

int guid_lease_check(const struct attach *a, struct err *e)
{
	const struct delegate_call check = { .cmd = CNI_CHECK, .lease = DELEGATE_LEASE_GUID };

	return delegate_run(a->call, &check, attach_timeout_ms(a), e)
		       ? err_wrap(e, "ipam." CNI_CONF_GUID_POOL)
		       : 0;
}
