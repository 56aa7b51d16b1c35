/* SPDX-License-Identifier: Apache-2.0 */
/* rail_network.c: what an administrator says of rails that pods get, as a network of rails. */
#include "railheadd/devices/rail_network.h"

#include <string.h>

#include "plugins/prepared/prepared.h"
#include "topo/read/rail_list.h"

#define CNI_VERSION "1.1.0"
#define IFNAME      "rail{n}"
#define LIST_MAX    64 /* of each list */

uint64_t rails_of_networks(const struct json *networks)
{
	uint64_t all = 0;

	json_each (network, networks) {
		const struct json *rails = json_get(network, "rails");

		if (!rails || json_type(rails) != JSON_ARRAY)
			return UINT64_MAX;
		json_each (rail, rails) {
			double number = json_num(rail);

			if (number >= 0 && number <= RAIL_NUMBER_MAX)
				all |= UINT64_C(1) << (unsigned)number;
		}
	}
	return all;
}

const struct json_enum rail_network_memlock[] = { { "unlimited", true }, { NULL, 0 } };

/* Keys of a network that the driver writes, and those by which another would name devices. */
static const char *const rail_network_own_keys[] = {
	"cniVersion", "name",          "type",       "rails",    "prevResult",
	"args",       "runtimeConfig", "deviceIDs",  "deviceID", "pciBusID",
	"resource",   "resourceName",  "renumbered",
};

/* A list of texts, none of them empty. */
int rail_network_texts(const struct json *list, const char *where, struct err *e)
{
	char shown[JSON_SHOW_LEN];

	if (json_len(list) > LIST_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s: more than %d", where, LIST_MAX);
	json_each (item, list) {
		if (!json_str(item) || !*json_str(item))
			return err_set(e, ERR_CONFIG, 0, "%s: %s is not a name", where,
				       json_show(item, shown));
	}
	return 0;
}

const char *const rail_variables[RAIL_VARIABLES] = {
	"NCCL_CONF_FILE=" PREPARED_AT "/nccl.conf",
	"UCX_CONFIG_DIR=" PREPARED_AT,
};

/* As bits, in the order above. */
int rail_network_variables(const struct json *list, unsigned *out, struct err *e)
{
	json_each (item, list) {
		const char *name = json_str(item);
		const size_t len = strlen(name);
		size_t i = 0;

		while (i < RAIL_VARIABLES && (strncmp(rail_variables[i], name, len) != 0 ||
					      rail_variables[i][len] != '='))
			i++;
		if (i == RAIL_VARIABLES)
			return err_set(e, ERR_CONFIG, 0,
				       "variables: %.80s is neither NCCL_CONF_FILE nor "
				       "UCX_CONFIG_DIR",
				       name);
		*out |= 1u << i;
	}
	return 0;
}

int rail_network_keys(const struct json *network, struct err *e)
{
	json_each (key, network) {
		for (size_t i = 0; i < ARRAY_SIZE(rail_network_own_keys); i++) {
			if (strcmp(json_key(key), rail_network_own_keys[i]) == 0)
				return err_set(e, ERR_CONFIG, 0,
					       "network.%s: railhead sets this key itself",
					       rail_network_own_keys[i]);
		}
	}
	return 0;
}

int rail_network_kind(const struct json *network, bool of_vfs, struct err *e)
{
	const char *kind = json_text(network, "kind");
	const bool is_vf = strcmp(kind, "sriov") == 0 || strcmp(kind, "ib-sriov") == 0;

	if (!is_vf && strcmp(kind, "macvlan") != 0 && strcmp(kind, "ipvlan") != 0 &&
	    strcmp(kind, "ipoib") != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "network.kind: \"%s\" is not macvlan, ipvlan, sriov, ib-sriov or "
			       "ipoib",
			       kind);
	if (is_vf == of_vfs)
		return 0;
	err_set(e, ERR_CONFIG, 0, "network.kind: \"%s\", but the device is %s", kind,
		is_vf ? "a card, not a VF" : "of VFs");
	return err_hint(e, "its device class selects another kind of device than its RailConfig "
			   "is for");
}

bool rail_network_moves_rdma(const struct json *network)
{
	return strcmp(json_text(network, "rdma"), "exclusive") == 0;
}

int rail_network_print(struct json *list, const struct json *network, uint64_t rails)
{
	struct json *o = json_push_object(list), *numbers;

	if (!o || json_add_str(o, "cniVersion", CNI_VERSION) ||
	    json_add_str(o, "name", PREPARED_NETWORK) || json_add_str(o, "type", "rails") ||
	    json_add_str(o, "ifname", IFNAME))
		return -1;
	json_each (key, network) {
		if (json_put(o, json_key(key), json_dup(key)))
			return -1;
	}
	/* A container has the files of all numbers: edits.h. */
	if (rail_network_moves_rdma(network) && json_add_str(o, "renumbered", "report"))
		return -1;
	if (rails == UINT64_MAX)
		return json_add_str(o, "rails", "all");
	numbers = json_add_array(o, "rails");
	for (unsigned i = 0; numbers && i <= RAIL_NUMBER_MAX; i++) {
		if (rails >> i & 1 && json_push_int(numbers, i))
			return -1;
	}
	return numbers ? 0 : -1;
}
