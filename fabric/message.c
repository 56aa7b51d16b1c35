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

#define WHO(name, member)                                                                          \
	{                                                                                          \
		.key = (name), .kind = J_STRING, .offset = offsetof(struct sm_who, member),        \
		.max = 512                                                                         \
	}

static const struct json_field who_keys[] = {
	WHO("network", network),  WHO("container", container),
	WHO("ifname", ifname),    WHO("podNamespace", pod_namespace),
	WHO("podName", pod_name), { .key = NULL },
};

struct fields {
	uint32_t version;
	int action, membership;
	const char *pkey, *node;
	const struct json *guids, *who;
};

static const struct json_field keys[] = {
	{ .key = "version",
	  .kind = J_U32,
	  .offset = offsetof(struct fields, version),
	  .flags = J_REQUIRED,
	  .min = SM_MESSAGE_VERSION,
	  .max = SM_MESSAGE_VERSION },
	{ .key = "action",
	  .kind = J_ENUM,
	  .offset = offsetof(struct fields, action),
	  .flags = J_REQUIRED,
	  .names = actions },
	{ .key = "pkey",
	  .kind = J_STRING,
	  .offset = offsetof(struct fields, pkey),
	  .flags = J_REQUIRED },
	{ .key = "membership",
	  .kind = J_ENUM,
	  .offset = offsetof(struct fields, membership),
	  .flags = J_REQUIRED,
	  .names = memberships },
	{ .key = "guids",
	  .kind = J_ARRAY,
	  .offset = offsetof(struct fields, guids),
	  .flags = J_REQUIRED },
	{ .key = "node", .kind = J_STRING, .offset = offsetof(struct fields, node), .max = 255 },
	{ .key = "who", .kind = J_OBJECT, .offset = offsetof(struct fields, who) },
	{ .key = NULL },
};

static const char *action_name(enum sm_action a)
{
	return actions[a].name;
}

/* ---- printing ---- */

int sm_who_add(struct json *o, const struct sm_who *who)
{
	return json_add_str(o, "network", who->network) ||
			       json_add_str(o, "container", who->container) ||
			       json_add_str(o, "ifname", who->ifname) ||
			       json_add_str(o, "podNamespace", who->pod_namespace) ||
			       json_add_str(o, "podName", who->pod_name)
		       ? -1
		       : 0;
}

char *sm_message_print(enum sm_action a, const struct sm_member *m, const char *node)
{
	auto_json struct json *o = json_new_object();
	const bool full = m->pkey & PKEY_FULL_MEMBER;
	struct json *guids, *who;
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN];

	if (!o || json_add_int(o, "version", SM_MESSAGE_VERSION) ||
	    json_add_str(o, "action", action_name(a)) ||
	    json_add_str(o, "pkey", pkey_format(m->pkey, pkey)) ||
	    json_add_str(o, "membership", memberships[full ? 0 : 1].name) ||
	    !(guids = json_add_array(o, "guids")) ||
	    json_push_str(guids, guid_format(m->guid, guid)) || json_add_known(o, "node", node) ||
	    !(who = json_add_object(o, "who")) || sm_who_add(who, &m->who))
		return NULL;
	return json_print(o, false);
}

/* ---- parsing ---- */

int sm_who_decode(const struct json *obj, struct sm_who *out, struct err *e)
{
	struct sm_who who = { .network = NULL };

	if (json_decode(obj, "who", who_keys, &who, e))
		return -1;
	*out = who;
	return 0;
}

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
	if (json_decode(root, "", keys, &f, e) || take_guids(f.guids, &m, e) ||
	    sm_who_decode(f.who, &m.who, e))
		return -1;
	if (pkey_parse(f.pkey, &m.pkey))
		return err_set(e, ERR_CONFIG, 0, "pkey: \"%.64s\" is not a partition key", f.pkey);
	m.action = (enum sm_action)f.action;
	m.pkey = (uint16_t)(pkey_partition(m.pkey) | (unsigned)f.membership);
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
