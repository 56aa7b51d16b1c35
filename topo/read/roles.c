/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c: what the operator of this machine says in /etc/railhead/topo.json: roles of HCAs, and
 * their Data Direct functions as rdma-probe shows them. */
#include "topo/read/roles.h"

#include <errno.h>
#include <string.h>

#include "lib/json/json.h"
#include "lib/sys/fs.h"
#include "topo/core/choose.h"
#include "topo/core/machine_build.h"

#define ROLES_FILE "topo.json"
#define ROLES_MAX  65536

struct said {
	const struct json *roles, *direct;
};

static const struct json_field fields[] = {
	{ "roles", J_OBJECT, J_AT(struct said, roles) },
	{ "dataDirect", J_OBJECT, J_AT(struct said, direct) },
	{ 0 },
};

static int take_role(struct topo_machine *m, const struct json *member, struct err *e)
{
	static const struct {
		const char *name;
		enum topo_role role;
	} roles[] = { { "compute", TOPO_COMPUTE },
		      { "storage", TOPO_STORAGE },
		      { "management", TOPO_MANAGEMENT } };
	const char *name = json_str(member);
	char shown[JSON_SHOW_LEN];

	for (size_t i = 0; name && i < ARRAY_SIZE(roles); i++) {
		if (strcmp(name, roles[i].name) != 0)
			continue;
		if (topo_set_role(m, json_key(member), roles[i].role))
			return 0;
		return topo_add_note(m, e, "%s: roles.%s names no HCA of this machine", ROLES_FILE,
				     json_key(member));
	}
	return err_set(e, ERR_CONFIG, 0, "roles.%s: %s is not compute, storage or management",
		       json_key(member), json_show(member, shown));
}

/* A PCI address, or null: the HCA has no such function. */
static int take_direct(struct topo_machine *m, const struct json *member, struct err *e)
{
	const char *text = json_str(member), *key = json_key(member);
	bool none = json_type(member) == JSON_NULL;
	char shown[JSON_SHOW_LEN];
	struct pci_addr addr;
	uint32_t pci = TOPO_NONE;

	if (!none && (!text || pci_parse(text, &addr)))
		return err_set(e, ERR_CONFIG, 0,
			       "dataDirect.%s: %s is not a PCI address such as 0008:01:00.0", key,
			       json_show(member, shown));
	if (!none)
		pci = topo_find_pci(m, addr);
	if (!none && pci == TOPO_NONE)
		return topo_add_note(m, e, "%s: dataDirect.%s: there is no function %s here",
				     ROLES_FILE, key, text);
	if (topo_set_direct(m, key, pci))
		return 0;
	return topo_add_note(m, e, "%s: dataDirect.%s names no HCA of this machine", ROLES_FILE,
			     key);
}

int topo_operator_roles(const struct ctx *c, struct topo_machine *m, struct err *e)
{
	struct said said = { NULL, NULL };
	auto_json struct json *tree = NULL;
	auto_free char *text = NULL;
	struct err why;

	auto_fd int dir = c->etc_dir ? fs_open_dir(c->etc_dir, false, &why) : -1;
	ssize_t n = dir < 0 ? -1 : fs_read_trusted_at(dir, ROLES_FILE, ROLES_MAX, &text, &why);
	if (n < 0 && (!c->etc_dir || why.errnum == ENOENT))
		return 0;
	/* The folder of an agent is for root alone; every user may ask for the topology. */
	if (n < 0 && (why.errnum == EACCES || why.errnum == EPERM))
		return topo_add_note(m, e,
				     "%s/%s cannot be read by this user: roles in it are unknown",
				     c->etc_dir, ROLES_FILE);
	if (n < 0)
		return err_pass(e, &why);
	if (json_parse(text, (size_t)n, ROLES_FILE, &tree, e))
		return err_wrap(e, "%s", c->etc_dir);
	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_CONFIG, 0, "%s/%s must be an object", c->etc_dir, ROLES_FILE);
	if (json_decode_known(tree, "", fields, &said, e))
		return err_wrap(e, "%s/%s", c->etc_dir, ROLES_FILE);
	json_each (member, said.roles) {
		if (take_role(m, member, e))
			return err_wrap(e, "%s/%s", c->etc_dir, ROLES_FILE);
	}
	json_each (member, said.direct) {
		if (take_direct(m, member, e))
			return err_wrap(e, "%s/%s", c->etc_dir, ROLES_FILE);
	}
	return 0;
}
