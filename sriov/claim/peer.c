/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c: finds, reads and removes the files that sriov-cni keeps about its attachments. */
#include "sriov/claim/peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/record/peer_files.h"
#include "lib/sys/fs.h"

#define FOLDER   "sriov"
#define BY_PCI   "pci"
#define FILE_MAX (1024 * 1024)

void peer_clear(struct peer *p)
{
	json_free(p->conf);
	*p = (struct peer){ .file = "" };
}

/* ---- one file ---- */

static bool peer_has_key(const struct json *o, const char *key)
{
	return json_get(o, key) != NULL;
}

static bool json_bool(const struct json *o, const char *key)
{
	const char *s = json_str(json_get(o, key));

	return s && *s;
}

static uint32_t json_u32(const struct json *o, const char *key)
{
	double n = json_num(json_get(o, key));

	return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static bool take_mac(const struct json *o, const char *key, uint8_t out[MAC_LEN])
{
	const char *s = json_str(json_get(o, key));

	return s && parse_mac(s, out) == 0;
}

/* Earlier versions of sriov-cni recorded fewer attributes. */
static void take_pf_side(const struct json *o, struct vf_info *s)
{
	uint32_t link = json_u32(o, "LinkState");

	*s = (struct vf_info){ .vlan = json_u32(o, "Vlan") & 4095,
			       .qos = json_u32(o, "VlanQoS") & 7,
			       .vlan_proto = (uint16_t)json_u32(o, "VlanProto"),
			       .min_rate = json_u32(o, "MinTxRate"),
			       .max_rate = json_u32(o, "MaxTxRate"),
			       .spoofchk = json_true(json_get(o, "SpoofChk")),
			       .trust = json_true(json_get(o, "Trust")),
			       .link_state = link <= VF_LINK_DISABLE ? (enum vf_link_state)link
								     : VF_LINK_AUTO };
	s->has = (take_mac(o, "AdminMAC", s->mac) ? VF_MAC : 0) |
		 (peer_has_key(o, "Vlan") ? VF_VLAN : 0) |
		 (peer_has_key(o, "MaxTxRate") ? VF_RATE : 0) |
		 (peer_has_key(o, "SpoofChk") ? VF_SPOOFCHK : 0) |
		 (peer_has_key(o, "Trust") ? VF_TRUST : 0) |
		 (peer_has_key(o, "LinkState") ? VF_LINK_STATE : 0);
}

static unsigned configured_attrs(const struct json *conf)
{
	return (json_bool(conf, "MAC") || json_bool(conf, "mac") ||
				json_bool(json_get(conf, "runtimeConfig"), "mac")
			? VF_MAC
			: 0) |
	       (peer_has_key(conf, "vlan") ? VF_VLAN : 0) |
	       (peer_has_key(conf, "min_tx_rate") || peer_has_key(conf, "max_tx_rate") ? VF_RATE
										       : 0) |
	       (json_bool(conf, "spoofchk") ? VF_SPOOFCHK : 0) |
	       (json_bool(conf, "trust") ? VF_TRUST : 0) |
	       (json_bool(conf, "link_state") ? VF_LINK_STATE : 0);
}

static void peer_take_name(const struct json *o, const char *key, struct vf_baseline *b)
{
	const char *name = json_str(json_get(o, key));

	b->has_netdev = name && !ifname_problem(name);
	if (b->has_netdev)
		(void)snprintf(b->name, sizeof(b->name), "%s", name);
}

static void take_addr(const struct json *o, const char *key, struct hw_addr *out)
{
	const char *addr = json_str(json_get(o, key));

	if (addr && hw_addr_parse(addr, out))
		*out = (struct hw_addr){ 0 };
}

static void take_netdev(const struct json *o, struct vf_baseline *b)
{
	peer_take_name(o, "HostIFName", b);
	if (!b->has_netdev)
		return;
	take_addr(o, "EffectiveMAC", &b->addr);
	b->mtu = json_u32(o, "MTU");
}

int peer_decode(const char *text, size_t len, struct peer *out, struct err *e)
{
	auto_json struct json *conf = NULL;
	struct peer p = { .has_base = true };
	struct pci_addr a;

	if (json_parse(text, len, "the file", &conf, e))
		return -1;
	const char *vf = json_str(json_get(conf, "deviceID"));
	const char *network = json_str(json_get(conf, "name"));
	const struct json *was = json_get(conf, "OrigVfState");
	/* Up to version 2.1 sriov-cni recorded only the name, and set only a VLAN; 0 meant none. */
	bool early = !was && json_str(json_get(conf, "HostIFNames"));
	if (!vf || pci_parse(vf, &a) || (!early && json_type(was) != JSON_OBJECT))
		return err_set(e, ERR_DECODE, 0,
			       "deviceID or OrigVfState: missing: it is not a file of sriov-cni");
	pci_format(a, p.vf);
	p.network = network ? network : "";
	if (early) {
		peer_take_name(conf, "HostIFNames", &p.base);
		p.to_restore = json_u32(conf, "vlan") ? VF_VLAN : 0;
	} else {
		p.to_restore = configured_attrs(conf);
		take_pf_side(was, &p.base.pf_side);
		take_netdev(was, &p.base);
	}
	p.conf = TAKE_PTR(conf);
	*out = p;
	return 0;
}

/* ---- the folder ---- */

/* 1: p->netns is set; 0: there is no such file. */
static int peer_read_netns(int dir, struct peer *p, struct err *e)
{
	char name[sizeof(BY_PCI) + PCI_STR_LEN];
	auto_free char *text = NULL;
	struct err why;

	(void)snprintf(name, sizeof(name), BY_PCI "/%s", p->vf);
	if (fs_read_at(dir, name, PATH_MAX - 1, &text, &why) < 0)
		return fs_is_gone(dir, name, &why) ? 0 : err_pass(e, &why);
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(p->netns, sizeof(p->netns), "%s", text);
	return 1;
}

static int claim_peer_read_file(int dir, const char *file, struct peer *p, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_at(dir, file, FILE_MAX, &text, e);

	if (len < 0 || peer_decode(text, (size_t)len, p, e))
		return -1;
	(void)snprintf(p->file, sizeof(p->file), "%s", file);
	if (peer_read_netns(dir, p, e) >= 0)
		return 0;
	peer_clear(p);
	return -1;
}

int peer_find(const struct ctx *ctx, const char *container, const char *ifname, struct peer *out,
	      struct err *e)
{
	char file[PEER_FILE_LEN];
	struct peer p = { .file = "" };
	int n = snprintf(file, sizeof(file), "%s-%s", container, ifname);
	auto_fd int dir = -1;
	int rc = peer_files_open(ctx, FOLDER, &dir, e);

	if (rc == 0 || (rc > 0 && n >= (int)sizeof(file)))
		return err_set(e, ERR_NOTFOUND, rc ? ENAMETOOLONG : ENOENT,
			       "%s/" FOLDER " has no file of %.64s", ctx->cni_dir, container);
	if (rc < 0 || claim_peer_read_file(dir, file, &p, e)) {
		if (rc > 0 && fs_is_gone(dir, file, e))
			e->code = ERR_NOTFOUND;
		return err_wrap(e, "read %s/" FOLDER "/%.128s", ctx->cni_dir, file);
	}
	(void)snprintf(p.container, sizeof(p.container), "%s", container);
	(void)snprintf(p.ifname, sizeof(p.ifname), "%s", ifname);
	*out = p;
	return 0;
}

static void split_file_name(struct peer *p)
{
	struct peer_file f;

	peer_file_split(p->file, &f);
	peer_file_copy(f.container, p->container, sizeof(p->container));
	peer_file_copy(f.ifname, p->ifname, sizeof(p->ifname));
}

struct each {
	const struct ctx *ctx;
	peer_fn fn;
	void *arg;
};

static int claim_peer_visit_file(int dir, const char *file, void *arg)
{
	const struct each *each = arg;
	auto_peer struct peer p = { .file = "" };
	struct err why;

	if (strcmp(file, BY_PCI) == 0)
		return 0;
	if (claim_peer_read_file(dir, file, &p, &why)) {
		if (fs_is_gone(dir, file, &why))
			return 0;
		log_debug(&each->ctx->log, "%s/" FOLDER "/%s: %s", each->ctx->cni_dir, file,
			  why.msg);
		(void)snprintf(p.file, sizeof(p.file), "%s", file);
		p.network = "";
	}
	split_file_name(&p);
	return each->fn(&p, each->arg);
}

int peer_each(const struct ctx *ctx, peer_fn fn, void *arg, struct err *e)
{
	struct each each = { ctx, fn, arg };

	return peer_files_each(ctx, FOLDER, claim_peer_visit_file, &each, e);
}

/* ---- the owner of a VF ---- */

struct search {
	struct peer *out;
	const char *vf;
	bool found;
};

static int peer_is_of_vf(const struct peer *p, void *arg)
{
	struct search *s = arg;

	if (strcmp(p->vf, s->vf) != 0)
		return 0;
	*s->out = *p;
	s->out->conf = p->conf ? json_dup(p->conf) : NULL;
	const char *network = json_str(json_get(s->out->conf, "name"));
	s->out->network = network ? network : "";
	s->found = true;
	return 1;
}

/* True if the VF has vfio-pci or no driver, and so no interface. */
static bool has_no_netdev_driver(const struct ctx *ctx, const char *vf)
{
	char driver[PCI_DRIVER_LEN];
	struct err ignored;

	return pci_driver(ctx->sysfs, vf, driver, &ignored) == 0 &&
	       (!*driver || strncmp(driver, "vfio", 4) == 0);
}

/*
 * When a namespace ends, the kernel moves the interface to the host. If the path of the namespace
 * is missing here, but the interface is not back, the pod may still live.
 */
static enum peer_state peer_state_of(const struct ctx *ctx, const struct peer *p)
{
	auto_netns struct netns ns = { .fd = -1 };
	char name[IFNAME_LEN];
	struct err why;

	if (*p->netns && (netns_open(p->netns, &ns, &why) == 0 ||
			  (why.errnum != ENOENT && why.errnum != EINVAL)))
		return PEER_LIVES;
	if ((*p->netns || p->base.has_netdev) && pci_vf_netdev(ctx->sysfs, p->vf, name, &why) == 0)
		return PEER_GONE;
	return *p->netns && has_no_netdev_driver(ctx, p->vf) ? PEER_GONE : PEER_LIVES;
}

int peer_of_vf(const struct ctx *ctx, const char *vf, struct peer *out, struct err *e)
{
	auto_peer struct peer p = { .network = "" };
	struct search s = { &p, vf, false };

	if (peer_each(ctx, peer_is_of_vf, &s, e))
		return -1;
	if (!s.found) {
		auto_fd int dir = -1;
		int rc = peer_files_open(ctx, FOLDER, &dir, e);
		(void)snprintf(p.vf, sizeof(p.vf), "%s", vf);
		if (rc > 0)
			rc = peer_read_netns(dir, &p, e);
		if (rc <= 0)
			return rc < 0 ? -1 : (int)PEER_NONE;
	}
	enum peer_state state = peer_state_of(ctx, &p);
	*out = p;
	p = (struct peer){ .file = "" };
	return (int)state;
}

int peer_forget(const struct ctx *ctx, const struct peer *p, struct err *e)
{
	char name[sizeof(BY_PCI) + PCI_STR_LEN];
	auto_fd int dir = -1;
	int rc = peer_files_open(ctx, FOLDER, &dir, e);

	if (rc <= 0)
		return rc;
	(void)snprintf(name, sizeof(name), BY_PCI "/%s", p->vf);
	return (*p->vf && fs_unlink_at(dir, name, e)) || (*p->file && fs_unlink_at(dir, p->file, e))
		       ? err_wrap(e, "%s/" FOLDER, ctx->cni_dir)
		       : 0;
}
