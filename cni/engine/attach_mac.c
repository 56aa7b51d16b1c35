/* SPDX-License-Identifier: Apache-2.0 */
/* attach_mac.c: which MAC address the pod's interface shall have. Pure. */
#include <string.h>

#include "cni/engine/attach.h"

#define FROM_ARGS "CNI_ARGS: MAC"

static int parse_unicast_mac(const char *where, const char *text, uint8_t out[MAC_LEN],
			     struct err *e)
{
	static const uint8_t zero[MAC_LEN];
	enum err_code code = strcmp(where, FROM_ARGS) == 0 ? ERR_ENV : ERR_CONFIG;

	if (parse_mac(text, out))
		return err_set(e, code, 0, "%s: \"%.64s\" is not a MAC address", where, text);
	if ((out[0] & 1) || memcmp(out, zero, MAC_LEN) == 0)
		return err_set(e, code, 0, "%s: \"%.64s\" is not a unicast address", where, text);
	return 1;
}

int attach_choose_mac(const struct attach *a, const char *configured, uint8_t out[MAC_LEN],
		      struct err *e)
{
	const struct json *runtime = json_get(a->call->conf.runtime, "mac");
	uint8_t mac[MAC_LEN];
	char from_args[64];
	int found = 0;

	if (configured && *configured && (found = parse_unicast_mac("mac", configured, mac, e)) < 0)
		return -1;
	int in_args = cni_args_get(a->call->env.args, "MAC", from_args, sizeof(from_args), e);
	if (in_args < 0)
		return -1;
	if (in_args > 0 && *from_args &&
	    (found = parse_unicast_mac(FROM_ARGS, from_args, mac, e)) < 0)
		return -1;
	if (runtime && json_type(runtime) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "runtimeConfig.mac: must be a string, got %s",
			       json_type_name(runtime));
	if (runtime && *json_str(runtime) &&
	    (found = parse_unicast_mac("runtimeConfig.mac", json_str(runtime), mac, e)) < 0)
		return -1;
	if (found)
		memcpy(out, mac, MAC_LEN);
	return found;
}
