/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_result.c: reads the result of the IPAM, and builds that of ADD from prevResult, the
 * interface and its addresses. Pure.
 */
#include "cni/engine/attach_priv.h"
#include "cni/protocol/result_rdma.h"
#include "lib/json/case.h"

static int add_our_interface(const struct attach *a, char mac[HW_ADDR_STR_LEN],
			     struct cni_result *r, struct err *e)
{
	struct cni_interface x = { .name = a->call->env.ifname,
				   .sandbox = a->call->env.netns,
				   .pci_id = a->pci_id,
				   .mtu = a->link.mtu,
				   .moved = a->type->role == ATTACH_MOVES };

	if (a->link.addr.len)
		x.mac = hw_addr_format(a->link.addr, mac);
	return cni_result_add_interface(r, &x, e);
}

/* What the IPAM marks is for us: no specification of a result has these keys. */
static bool is_marked(const struct json *src)
{
	return json_get(src, "group") || json_get(src, "probe");
}

static int take_items(struct cni_result *r, const struct cni_result *from, int interface,
		      struct err *e)
{
	for (size_t i = 0; i < from->n_ips; i++) {
		struct cni_ip x = from->ips[i];
		if (interface >= 0)
			x.interface = interface;
		if (interface >= 0 && (x.probe || is_marked(x.src))) {
			x.probe = false;
			x.src = NULL;
		}
		if (cni_result_add_ip(r, &x, e))
			return -1;
	}
	for (size_t i = 0; i < from->n_routes; i++) {
		struct cni_route x = from->routes[i];

		if (interface >= 0 && is_marked(x.src))
			x.src = NULL;
		if (cni_result_add_route(r, &x, e))
			return -1;
	}
	return 0;
}

const struct cni_result *attach_ips(const struct attach *a, const struct cni_result *from_ipam)
{
	static const struct cni_result none;

	if (*attach_ipam_type(a->call))
		return from_ipam;
	return a->type->adopts_prev_ips ? &a->prev : &none;
}

/* The result prints the members of its source that it does not know. */
int attach_name_in_result(struct cni_result *r, const char *key, const struct json *n,
			  struct err *e)
{
	auto_json struct json *tree = r->src ? json_dup(r->src) : json_new_object();

	if (!tree || json_put(tree, key, json_dup(n)))
		return err_nomem(e);
	json_free(r->tree);
	r->src = r->tree = TAKE_PTR(tree);
	return 0;
}

int attach_add_to_result(const struct attach *a, const struct cni_result *ips,
			 char mac[HW_ADDR_STR_LEN], struct cni_result *r, struct err *e)
{
	int index = (int)r->n_interfaces;

	return add_our_interface(a, mac, r, e) || take_items(r, ips, index, e) ? -1 : 0;
}

int attach_push_rdma(const struct attach *part, struct json *list, struct err *e)
{
	struct json *x = part->rdma ? json_dup(part->rdma) : NULL;

	if (!part->rdma)
		return 0;
	return !x || json_push(list, x) || json_add_str(x, "interface", part->call->env.ifname)
		       ? err_nomem(e)
		       : 0;
}

static bool is_of_group(const struct json *src, unsigned group)
{
	double n = json_num(json_get(src, "group"));

	return n >= 1 ? n == (double)group : group == 1;
}

int attach_share_ips(const struct cni_result *all, unsigned group, struct cni_result *out,
		     struct err *e)
{
	for (size_t i = 0; i < all->n_ips; i++) {
		struct cni_ip x = all->ips[i];

		if (!is_of_group(x.src, group))
			continue;
		x.src = NULL;
		if (cni_result_add_ip(out, &x, e))
			return -1;
	}
	for (size_t i = 0; i < all->n_routes; i++) {
		struct cni_route x = all->routes[i];

		if (!is_of_group(x.src, group))
			continue;
		x.src = NULL;
		if (cni_result_add_route(out, &x, e))
			return -1;
	}
	if (group == 1) {
		out->src = all->src;
		out->dns = all->dns;
	}
	return 0;
}

int attach_parse_ipam_result(const struct attach *a, struct slice text, struct cni_result *out,
			     struct err *e)
{
	const struct cni_conf *c = &a->call->conf;
	auto_json struct json *tree = NULL;

	int rc = json_parse(text.p, text.len, "its result", &tree, e);
	json_fold_case(tree);
	if (rc || cni_result_parse(tree, "its result", c->version, out, e)) {
		/* not our configuration is at fault, nor its version */
		if (e->code != ERR_NOMEM)
			e->code = ERR_DELEGATE;
		return err_wrap(e, "ipam.type: \"%.64s\"", c->ipam_type);
	}
	out->tree = TAKE_PTR(tree);
	return 0;
}

int attach_build_result(const struct attach *a, const struct cni_result *ips,
			char mac[HW_ADDR_STR_LEN], struct cni_result *r, struct err *e)
{
	const struct cni_result *prev = &a->prev;
	const struct json *dns = a->call->conf.dns;

	if (a->type->result)
		return a->type->result(a, r, e);
	r->src = prev->src ? prev->src : ips->src;
	r->dns = json_len(dns) ? dns : json_len(ips->dns) ? ips->dns : prev->dns;
	for (size_t i = 0; i < prev->n_interfaces; i++) {
		if (cni_result_add_interface(r, &prev->interfaces[i], e))
			return -1;
	}
	if (ips != prev && take_items(r, prev, -1, e))
		return -1;
	return attach_add_to_result(a, ips, mac, r, e) ||
			       (a->rdma && attach_name_in_result(r, RESULT_RDMA_KEY, a->rdma, e))
		       ? -1
		       : 0;
}

/*
 * Results below 0.3.0 name no interface, and Multus makes an entry of its network status of each
 * interface. A newer result than was asked for is no way out: the specification forbids it, and
 * callers with a libcni before 1.0 read it as an empty one of their own version.
 */
void attach_warn_of_version(const struct cni_call *call)
{
	struct err ignored;
	char pod[8];

	if (call->conf.version < CNI_030 &&
	    cni_args_get(call->env.args, "K8S_POD_NAME", pod, sizeof(pod), &ignored) != 0)
		log_warn(&call->ctx.log,
			 "cniVersion: \"%s\" or none: its results name no interface, and the pod's "
			 "network-status annotation will lack this network; write 0.3.1 or later",
			 cni_version_name(call->conf.version));
}
