/* SPDX-License-Identifier: Apache-2.0 */
/* manager_conf.c: decodes a file of /etc/railhead/vf.d. Pure. */
#include <stdlib.h>
#include <string.h>

#include "lib/json/json.h"
#include "sriov/admin/manager.h"

#define VFS_MAX 65535

static const struct json_field fields[] = {
	{ "pf", J_STRING, J_AT(struct vf_file, pf), .flags = J_REQUIRED },
	{ "count", J_U32, J_AT(struct vf_file, count), .flags = J_REQUIRED, .min = 1,
	  .max = VFS_MAX },
	{ "driver", J_STRING, J_AT(struct vf_file, driver) },
	{ "guids", J_ARRAY, J_AT(struct vf_file, list) },
	{ "firstGuid", J_STRING, J_AT(struct vf_file, first) },
	{ 0 },
};

void vf_file_clear(struct vf_file *f)
{
	free(f->guid);
	json_free(f->tree);
	*f = (struct vf_file){ 0 };
}

static int manager_conf_check_names(const struct vf_file *f, struct err *e)
{
	struct pci_addr a;
	const char *problem = ifname_problem(f->pf);

	if (problem && pci_parse(f->pf, &a)) {
		err_set(e, ERR_CONFIG, 0, "pf: \"%.64s\" is neither an interface nor a PCI address",
			f->pf);
		return err_hint(e, "\"railctl vf list\" shows the PFs of this host");
	}
	if (f->driver && (!*f->driver || strchr(f->driver, '/') || f->driver[0] == '.' ||
			  strlen(f->driver) >= PCI_DRIVER_LEN))
		return err_set(e, ERR_CONFIG, 0,
			       "driver: \"%.64s\" is not a driver's name such as vfio-pci",
			       f->driver);
	return 0;
}

static int manager_conf_decode_guid(const char *key, const char *text, struct guid *out,
				    struct err *e)
{
	if (text && guid_parse(text, out) == 0)
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: \"%.64s\" is not a GUID such as %s", key,
		       text ? text : "", "02:00:00:00:00:00:00:01");
}

static int decode_guids(struct vf_file *f, struct err *e)
{
	size_t n = json_len(f->list);

	if (f->first && manager_conf_decode_guid("firstGuid", f->first, &f->guids.first, e))
		return -1;
	if (f->list && (n == 0 || n > VFS_MAX))
		return err_set(e, ERR_CONFIG, 0, "guids: %zu is not a number of VFs", n);
	f->guid = f->list ? calloc(n, sizeof(*f->guid)) : NULL;
	if (f->list && !f->guid)
		return err_nomem(e);
	json_each (it, f->list) {
		if (manager_conf_decode_guid("guids", json_str(it), &f->guid[f->guids.n], e))
			return -1;
		f->guids.n++;
	}
	f->guids.list = f->guid;
	return guid_source_check(&f->guids, f->count, e);
}

static int decode_fields(const char *text, size_t len, struct vf_file *f, struct err *e)
{
	if (json_parse(text, len, "the file", &f->tree, e) ||
	    json_decode(f->tree, "", fields, f, e))
		return -1;
	if (json_refuse_unknown(f->tree, "", fields, e))
		return err_hint(e, "the keys are pf, count, driver, guids and firstGuid: "
				   "railhead-vf.d(5)");
	if (manager_conf_check_names(f, e) || decode_guids(f, e))
		return -1;
	if (f->driver && strcmp(f->driver, "default") == 0)
		f->driver = NULL;
	return 0;
}

int vf_file_decode(const char *text, size_t len, const char *name, struct vf_file *out,
		   struct err *e)
{
	auto_vf_file struct vf_file f = { 0 };

	if (decode_fields(text, len, &f, e))
		return err_wrap(e, "%s", name);
	*out = f;
	f = (struct vf_file){ 0 };
	return 0;
}
