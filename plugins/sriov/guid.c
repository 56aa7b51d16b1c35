/* SPDX-License-Identifier: Apache-2.0 */
/* guid.c: the GUID of an attachment: the first one that is given. Pure. */
#include <string.h>

#include "lib/base/sha256.h"
#include "plugins/sriov/ib_conf.h"

/* Locally administered, as the second bit of an EUI-64 says. */
#define LOCAL_PREFIX 0x02

#define POD_NAME_LEN 254 /* names of namespaces have 63 bytes, of pods 253 */

/* Empty text counts as not given. */
static int parse_given(const struct json *n, const char *key, struct guid *out, struct err *e)
{
	const char *text = json_str(n);
	char shown[JSON_SHOW_LEN];
	struct guid g;

	if (!n || json_type(n) == JSON_NULL || (text && !*text))
		return 0;
	if (!text)
		return err_set(e, ERR_DECODE, 0, "%s: must be a string, got %s", key,
			       json_show(n, shown));
	if (guid_parse(text, &g))
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%.64s\" is not a GUID such as 02:00:00:00:00:00:00:0b", key,
			       text);
	if (!guid_is_usable(g))
		return err_set(e, ERR_CONFIG, 0, "%s: \"%.64s\" is not a GUID that a port can have",
			       key, text);
	*out = g;
	return 1;
}

/* Each part is hashed by itself, so that no two lists of parts are one text. */
struct guid ib_guid_of_pod(const struct ib_pod_identity *who)
{
	const char *const parts[] = { who->domain, who->namespace, who->pod, who->ifname };
	uint8_t digests[ARRAY_SIZE(parts) * SHA256_LEN], digest[SHA256_LEN];
	struct guid g = { { LOCAL_PREFIX } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		sha256(parts[i], strlen(parts[i]), digests + i * SHA256_LEN);
	sha256(digests, sizeof(digests), digest);
	memcpy(g.byte + 1, digest, GUID_LEN - 1);
	return g;
}

static int of_pod(const struct attach *a, const struct ib_conf *c, struct guid *out, struct err *e)
{
	const struct cni_env *env = &a->call->env;
	char namespace[POD_NAME_LEN], pod[POD_NAME_LEN];
	int has_namespace =
		cni_args_get(env->args, "K8S_POD_NAMESPACE", namespace, sizeof(namespace), e);
	int has_pod = has_namespace < 0
			      ? -1
			      : cni_args_get(env->args, "K8S_POD_NAME", pod, sizeof(pod), e);

	if (has_namespace < 0 || has_pod < 0)
		return -1;
	if (!has_namespace || !has_pod || !*namespace || !*pod) {
		err_set(e, ERR_ENV, 0,
			"CNI_ARGS: guidFrom \"pod\" needs K8S_POD_NAMESPACE and K8S_POD_NAME");
		return err_hint(e,
				"runtimes of Kubernetes and Multus give both; elsewhere give the "
				"GUID in runtimeConfig.infinibandGUID");
	}
	*out = ib_guid_of_pod(&(struct ib_pod_identity){ c->guid_domain ? c->guid_domain : "",
							 namespace, pod, env->ifname });
	return 1;
}

int ib_guid_choose(const struct attach *a, const struct ib_conf *c, struct guid *out, struct err *e)
{
	const struct cni_conf *conf = &a->call->conf;
	int rc = parse_given(json_get(conf->runtime, "infinibandGUID"),
			     "runtimeConfig.infinibandGUID", out, e);

	if (rc == 0)
		rc = parse_given(json_get(conf->args_cni, "guid"), "args.cni.guid", out, e);
	if (rc == 0 && c->guid_from == IB_GUID_FROM_POD)
		rc = of_pod(a, c, out, e);
	return rc;
}
