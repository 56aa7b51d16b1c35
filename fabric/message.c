/* SPDX-License-Identifier: Apache-2.0 */
/* message.c: prints the message for a hook; the hooks that railhead ships read it here, too. */
#include "fabric/message.h"

#include <string.h>

static const struct json_enum actions[] = {
	{ "add", SM_ADD },
	{ "remove", SM_REMOVE },
	{ NULL, 0 },
};

static const struct json_enum memberships[] = {
	{ "full", PKEY_FULL_MEMBER },
	{ "limited", 0 },
	{ NULL, 0 },
};

const struct json_field sm_who_fields[] = {
	{ "network", J_STRING, J_AT(struct sm_who, network), .max = 512 },
	{ "container", J_STRING, J_AT(struct sm_who, container), .max = 512 },
	{ "ifname", J_STRING, J_AT(struct sm_who, ifname), .max = 512 },
	{ "podNamespace", J_STRING, J_AT(struct sm_who, pod_namespace), .max = 512 },
	{ "podName", J_STRING, J_AT(struct sm_who, pod_name), .max = 512 },
	{ 0 },
};

struct fields {
	int action, membership;
	uint16_t pkey;
	const char *node;
	const struct json *guids;
	struct sm_who who;
};

static const struct json_field keys[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = SM_MESSAGE_VERSION,
	  .max = SM_MESSAGE_VERSION },
	{ "action", J_ENUM, J_AT(struct fields, action), .flags = J_REQUIRED, .names = actions },
	{ "pkey", J_PKEY, J_AT(struct fields, pkey), .flags = J_REQUIRED },
	{ "membership", J_ENUM, J_AT(struct fields, membership), .flags = J_REQUIRED,
	  .names = memberships },
	{ "guids", J_ARRAY, J_AT(struct fields, guids), .flags = J_REQUIRED },
	{ "node", J_STRING, J_AT(struct fields, node), .flags = J_OMIT, .max = 255 },
	{ "who", J_NESTED, J_AT(struct fields, who), .of = sm_who_fields },
	{ 0 },
};

/* ---- printing ---- */

char *sm_message_print(enum sm_action a, const struct sm_member *m, const char *node)
{
	auto_json struct json *guids = json_new_array();
	const struct fields f = { (int)a, (int)(m->pkey & PKEY_FULL_MEMBER), m->pkey, node, guids,
				  m->who };
	char guid[GUID_STR_LEN];

	if (!guids || json_push_str(guids, guid_format(m->guid, guid)))
		return NULL;
	return json_print_fields(keys, &f, false);
}

/* ---- parsing ---- */

static int take_guids(const struct json *list, struct sm_message *m, struct err *e)
{
	char shown[JSON_SHOW_LEN];

	if (!json_len(list) || json_len(list) > SM_MESSAGE_GUIDS)
		return err_set(e, ERR_CONFIG, 0, "guids: must have 1 to %d GUIDs, got %zu",
			       SM_MESSAGE_GUIDS, json_len(list));
	json_each (item, list) {
		const char *text = json_str(item);
		struct guid *g = &m->guid[m->n];

		if (!text || guid_parse(text, g) || !guid_is_usable(*g))
			return err_set(e, ERR_CONFIG, 0, "guids[%zu]: %s is not a GUID", m->n,
				       json_show(item, shown));
		m->n++;
	}
	return 0;
}

int sm_message_parse(const char *text, size_t len, struct sm_message *out, struct err *e)
{
	auto_json struct json *root = NULL;
	struct fields f = { .node = "" };
	struct sm_message m = { .n = 0 };

	if (json_parse(text, len, "message", &root, e))
		return -1;
	if (json_type(root) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "the message must be an object, got %s",
			       json_type_name(root));
	if (json_decode(root, "", keys, &f, e) || take_guids(f.guids, &m, e))
		return -1;
	if (!f.pkey)
		return err_set(e, ERR_CONFIG, 0, "pkey: is empty");
	m.who = f.who;
	m.action = (enum sm_action)f.action;
	m.pkey = (uint16_t)(pkey_partition(f.pkey) | (unsigned)f.membership);
	m.node = f.node;
	m.tree = TAKE_PTR(root);
	*out = m;
	return 0;
}

void sm_message_clear(struct sm_message *m)
{
	json_free(m->tree);
	*m = (struct sm_message){ .n = 0 };
}
