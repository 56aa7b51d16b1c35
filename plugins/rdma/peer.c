/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c: reads the files of rdma-cni, finds their devices, and releases an attachment.
 */
#include "plugins/rdma/peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/record/peer_files.h"
#include "lib/sys/fs.h"
#include "lib/rdma/return.h"

#define FOLDER   "rdma"
#define FILE_MAX 65536

/* ---- its files ---- */

static int peer_copy_member(const struct json *o, const char *key, char *out, size_t size,
			    struct err *e)
{
	const char *s = json_str(json_get(o, key));

	if (!s || !*s || strlen(s) >= size)
		return err_set(e, ERR_DECODE, 0, "%s: missing: not written by rdma-cni", key);
	(void)snprintf(out, size, "%s", s);
	return 0;
}

int rdma_peer_decode(const char *text, size_t len, struct rdma_peer *out, struct err *e)
{
	auto_json struct json *o = NULL;
	struct rdma_peer p = *out;

	if (json_parse(text, len, "the file", &o, e) ||
	    peer_copy_member(o, "deviceID", p.bus, sizeof(p.bus), e) ||
	    peer_copy_member(o, "sandboxRdmaDevName", p.name, sizeof(p.name), e) ||
	    peer_copy_member(o, "containerRdmaDevName", p.pod_name, sizeof(p.pod_name), e))
		return -1;
	if (!bus_addr_valid(p.bus))
		return err_set(e, ERR_DECODE, 0, "deviceID: \"%.64s\" is not a bus address", p.bus);
	*out = p;
	return 0;
}

static int peer_read_file(int dir, const char *file, struct rdma_peer *p, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_at(dir, file, FILE_MAX, &text, e);

	if (len < 0)
		return -1;
	(void)snprintf(p->file, sizeof(p->file), "%.*s", RDMA_PEER_LEN - 1, file);
	return rdma_peer_decode(text, (size_t)len, p, e);
}

/* ---- where its device is ---- */

struct sought {
	struct nl *rdma;
	int ifindex;
	struct rdma_link *out;
	bool found;
};

static int is_of_interface(const struct rdma_port *port, void *arg)
{
	struct sought *s = arg;

	s->found = port->ifindex == s->ifindex;
	return s->found;
}

static int is_it(const struct rdma_link *d, void *arg)
{
	struct sought *s = arg;
	struct err ignored;

	if (nl_rdma_ports(s->rdma, d->index, is_of_interface, s, &ignored) == 0 && s->found)
		*s->out = *d;
	return s->found;
}

/* Search by name; if the pod renamed it, by its interface. Returns 1 if it was found. */
static int find_in_pod(const struct rdma_peer *p, const struct record *r, const struct netns *pod,
		       struct rdma_link *out, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_nl struct nl *rdma = NULL, *nl = NULL;
	struct link_info link;
	struct err why;

	if (netns_open_self(&host, e) || nl_rdma_open_in(pod, &host, &rdma, e))
		return -1;
	if (nl_rdma_by_name(rdma, p->pod_name, out, &why) == 0)
		return 1;
	if (nl_open_in(pod, &host, &nl, e))
		return -1;
	if (nl_link_by_name(nl, r->key.ifname, &link, &why))
		return 0;
	struct sought s = { rdma, link.ifindex, out, false };
	return nl_rdma_list(rdma, is_it, &s, e) ? -1 : s.found;
}

/* Returns 1 if it was found. r has the namespace if it was found in the pod. */
static int peer_find_device(const struct ctx *ctx, const struct rdma_peer *p, struct record *r,
			    struct rdma_link *out, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct err why;

	if (nl_rdma_open(&nl, &why))
		return why.errnum == EPROTONOSUPPORT ? 0 : err_pass(e, &why);
	if (rdma_of_bus(ctx->sysfs, nl, p->bus, out, &why) == 0)
		return 1;
	if (!*r->netns || netns_open(r->netns, &pod, &why))
		return 0;
	r->netns_id = pod.id;
	return find_in_pod(p, r, &pod, out, e);
}

/* ---- another pod that has the device ---- */

struct device_user {
	const struct record_key * not ;
	const char *bus;
	bool found;
};

static bool peer_is_key(const struct record_key *a, const struct record_key *b)
{
	return strcmp(a->network, b->network) == 0 && strcmp(a->container, b->container) == 0 &&
	       strcmp(a->ifname, b->ifname) == 0;
}

static int is_device_user(const struct record *r, void *arg)
{
	struct device_user *u = arg;
	struct rdma_taken t;
	struct err ignored;

	if (!r->tree || peer_is_key(&r->key, u->not ) || rdma_taken_read(r, &t, &ignored))
		return 0;
	u->found = t.moved && strcmp(t.bus, u->bus) == 0;
	return u->found;
}

/* Returns 1 if the kernel returned the device to the host and another pod has it now. */
static int is_anothers(const struct ctx *ctx, const struct rdma_peer *p,
		       const struct record_key *key, struct err *e)
{
	struct device_user u = { key, p->bus, false };
	struct record_place place;

	if (rdma_place(ctx, &place, e))
		return -1;
	int rc = record_each(&place.ctx, NULL, is_device_user, &u, e);
	return u.found ? 1 : rc;
}

/* ---- released ---- */

static int return_to_host(const struct ctx *ctx, const struct rdma_peer *p, struct record *r,
			  struct err *e)
{
	struct rdma_link d;
	int rc = peer_find_device(ctx, p, r, &d, e);

	if (rc < 0)
		return -1;
	if (rc > 0) {
		const struct netns_on_record pod = record_netns(r);
		const struct rdma_away away = { p->bus, d.index, p->name, "" };
		return rdma_return(ctx, &pod, &away, false, e);
	}
	if (!rdma_bus_verbs(ctx->sysfs, p->bus, NULL))
		return 0;
	rc = is_anothers(ctx, p, &r->key, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	return err_set(e, ERR_AGAIN, 0,
		       "RDMA device %s of %s, which rdma-cni moved, is neither in the pod nor back",
		       p->name, p->bus);
}

/* Returns the open folder and sets *out from the file; -1: there is no readable file. */
static int peer_open_file(const struct ctx *ctx, const struct record_key *key,
			  struct rdma_peer *out)
{
	char file[RDMA_PEER_LEN];
	struct err why;
	auto_fd int dir = -1;
	int n = snprintf(file, sizeof(file), "%s-%s-%s", key->network, key->container, key->ifname);
	int rc = peer_files_open(ctx, FOLDER, &dir, &why);

	if (rc == 0 || (rc > 0 && n >= (int)sizeof(file)))
		return -1;
	if (rc > 0 && peer_read_file(dir, file, out, &why) == 0)
		return TAKE_FD(dir);
	if (rc < 0 || !fs_is_gone(dir, file, &why))
		log_warn(&ctx->log, "%s/" FOLDER "/%s: %s", ctx->cni_dir, file, why.msg);
	return -1;
}

static int remove_file(const struct ctx *ctx, int dir, const struct rdma_peer *p, struct err *e)
{
	return fs_unlink_at(dir, p->file, e) ? err_wrap(e, "%s/" FOLDER, ctx->cni_dir) : 0;
}

int rdma_peer_release(const struct ctx *ctx, const struct record_key *key, const char *netns,
		      struct err *e)
{
	struct record r = { .key = *key, .plugin = "rdma", .kind = "", .netns = netns };
	struct rdma_peer p = { .file = "" };
	auto_fd int dir = peer_open_file(ctx, key, &p);

	if (dir < 0)
		return 0;
	log_info(&ctx->log, "RDMA device %s of %s: back on the host as rdma-cni found it", p.name,
		 p.bus);
	return return_to_host(ctx, &p, &r, e) || remove_file(ctx, dir, &p, e) ? -1 : 0;
}
