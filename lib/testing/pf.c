/* SPDX-License-Identifier: Apache-2.0 */
/* pf.c: answers link requests for a PF and its VFs as a kernel would. */
#include "lib/testing/pf.h"

#include <net/if_arp.h>
#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "lib/net/link.h"
#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

#define HEAD sizeof(struct nlattr)

/* Check's own assertions allocate, which would count where a test counts allocations. */
#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond))                                                                       \
			ck_abort_msg("must hold: %s", #cond);                                      \
	} while (0)

/* The linker's --wrap sends nl_request() to __wrap_nl_request() and __real_nl_request() to it. */
int __real_nl_request(struct nl *nl, const struct nl_req *rq, struct err *e);
int __real_nl_get(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e);
int __real_nl_get_large(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e);
int __real_nl_link_by_name(struct nl *nl, const char *name, struct link_info *out, struct err *e);
int __real_nl_link_by_index(struct nl *nl, int ifindex, struct link_info *out, struct err *e);
int __real_nl_link_each(struct nl *nl, const char *kind, link_fn fn, void *arg, struct err *e);
int __real_pci_rebind(const char *root, const char *addr, const char *driver, struct err *e);
int __wrap_nl_request(struct nl *nl, const struct nl_req *rq, struct err *e);
int __wrap_nl_get(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e);
int __wrap_nl_get_large(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e);
int __wrap_nl_link_by_name(struct nl *nl, const char *name, struct link_info *out, struct err *e);
int __wrap_nl_link_by_index(struct nl *nl, int ifindex, struct link_info *out, struct err *e);
int __wrap_nl_link_each(struct nl *nl, const char *kind, link_fn fn, void *arg, struct err *e);
int __wrap_pci_rebind(const char *root, const char *addr, const char *driver, struct err *e);

/* What nl_request() calls cannot be handed a context. NULL: all goes to the real kernel. */
static struct fakepf *pf;

struct fakepf *fakepf(int pf_ifindex, uint32_t n)
{
	void *shared =
		mmap(NULL, sizeof(*pf), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	ck_assert_uint_le(n, FAKEPF_VFS);
	pf = shared;
	pf->pf_ifindex = pf_ifindex;
	pf->n = n;
	auto_netns struct netns here = net_self();
	pf->host = here.id;
	for (uint32_t i = 0; i < n; i++)
		pf->vf[i].is = (struct vf_info){ .has = VF_ETHERNET,
						 .vlan_proto = VLAN_PROTO_8021Q,
						 .spoofchk = true };
	return pf;
}

void fakepf_stop(void)
{
	pf = NULL;
}

void fakepf_link(uint32_t n, const char *addr, int ifindex, int peer)
{
	struct fakepf_vf *vf = &pf->vf[n];

	(void)snprintf(vf->addr, sizeof(vf->addr), "%s", addr);
	vf->link = ifindex;
	vf->peer = peer;
}

/* ---- requests that fail ---- */

static int refuse(int errnum, struct err *e)
{
	return err_set(e, ERR_KERNEL, errnum, "the kernel refused");
}

/* -1: this one fails. */
static int count(struct err *e)
{
	if (!pf || ++pf->requests != pf->fail_at)
		return 0;
	if (!pf->fail_errnum)
		_exit(0);
	return refuse(pf->fail_errnum, e);
}

/* ---- what is set ---- */

static bool is_zero(const uint8_t mac[MAC_LEN])
{
	static const uint8_t zero[MAC_LEN];

	return memcmp(mac, zero, MAC_LEN) == 0;
}

static void take(struct fakepf_vf *vf, enum vf_attr one, const void *data)
{
	struct vf_info *is = &vf->is;
	const struct ifla_vf_mac *mac = data;
	const struct ifla_vf_rate *rate = data;
	const struct ifla_vf_trust *on = data;
	const struct ifla_vf_vlan_info *vlan = data;
	struct ifla_vf_guid guid;

	if (one == VF_MAC) {
		memcpy(is->mac, mac->mac, MAC_LEN);
		vf->admin = !is_zero(is->mac);
	} else if (one == VF_VLAN) {
		is->vlan = vlan->vlan;
		is->qos = vlan->qos;
		is->vlan_proto = ntohs(vlan->vlan_proto);
	} else if (one == VF_RATE) {
		is->min_rate = rate->min_tx_rate;
		is->max_rate = rate->max_tx_rate;
	} else if (one == VF_SPOOFCHK) {
		is->spoofchk = on->setting;
	} else if (one == VF_TRUST) {
		is->trust = on->setting;
	} else if (one & VF_GUIDS) {
		/* The number has 8 bytes, and netlink aligns to 4. */
		memcpy(&guid, data, sizeof(guid));
		*(one == VF_NODE_GUID ? &is->node_guid : &is->port_guid) =
			guid_of_number(guid.guid);
	} else {
		is->link_state = (enum vf_link_state)on->setting;
	}
}

static enum vf_attr attr_of(int type)
{
	switch (type) {
	case IFLA_VF_MAC:
		return VF_MAC;
	case IFLA_VF_VLAN_LIST:
		return VF_VLAN;
	case IFLA_VF_RATE:
		return VF_RATE;
	case IFLA_VF_SPOOFCHK:
		return VF_SPOOFCHK;
	case IFLA_VF_TRUST:
		return VF_TRUST;
	case IFLA_VF_IB_NODE_GUID:
		return VF_NODE_GUID;
	case IFLA_VF_IB_PORT_GUID:
		return VF_PORT_GUID;
	default:
		return VF_LINK_STATE;
	}
}

static int set_vf(const struct nlattr *list, struct err *e)
{
	const struct nlattr *one = nla_data(nla_data(list));
	uint32_t vf;

	MUST(nla_type(nla_data(list)) == IFLA_VF_INFO);
	if (nla_type(one) == IFLA_VF_VLAN)
		return refuse(EINVAL, e);
	enum vf_attr what = attr_of(nla_type(one));
	if (what == VF_VLAN)
		one = nla_data(one);
	int errnum = pf->refuses[what];
	memcpy(&vf, nla_data(one), sizeof(vf));
	if (errnum || vf >= pf->n)
		return refuse(errnum ? errnum : EINVAL, e);
	if (what == VF_MAC && pf->mac_needs_trust && !pf->vf[vf].is.trust)
		return refuse(EACCES, e);
	if (!(pf->ignores & what))
		take(&pf->vf[vf], what, nla_data(one));
	return 0;
}

/* igbvf: with an administrator's MAC it takes none but that. 0: the VF's driver takes it. */
static int mac_refusal(int ifindex, const struct nlattr *mac)
{
	for (uint32_t i = 0; i < pf->n; i++) {
		struct fakepf_vf *vf = &pf->vf[i];
		bool admin = pf->tells_own_macs ? vf->admin : !is_zero(vf->is.mac);
		if (vf->link != ifindex)
			continue;
		if (pf->mac_is_the_pfs && admin && memcmp(vf->is.mac, nla_data(mac), MAC_LEN) != 0)
			return EADDRNOTAVAIL;
		if (pf->tells_own_macs)
			memcpy(vf->is.mac, nla_data(mac), MAC_LEN);
		return pf->mac_needs_trust && !pf->vf[i].is.trust ? EACCES : pf->link_refuses_mac;
	}
	return 0;
}

/* What the call itself asks for does not count. */
static void tell_that_it_moved(void)
{
	unsigned before = pf->requests, fail_at = pf->fail_at;

	pf->fail_at = 0;
	alloc_fail_pause(true);
	pf->moved();
	alloc_fail_pause(false);
	pf->fail_at = fail_at;
	pf->requests = before;
}

static int set_ipoib_addr(struct nl *nl, int ifindex, const struct nlattr *addr, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct ifinfomsg ifi = { .ifi_index = ifindex };

	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	nl_req_put(&rq, IFLA_ADDRESS, (char *)nla_data(addr) + HW_ADDR_MAX - MAC_LEN, MAC_LEN);
	return __real_nl_request(nl, &rq, e);
}

int __wrap_nl_request(struct nl *nl, const struct nl_req *rq, struct err *e)
{
	const struct nlmsghdr *h = rq->msg ? nlmsg_hdr(rq->msg) : NULL;

	if (!pf || !h)
		return __real_nl_request(nl, rq, e);
	if (count(e))
		return -1;
	const struct ifinfomsg *ifi = nlmsg_data(h);
	const struct nlattr *first = nlmsg_attrdata(h, sizeof(*ifi));
	bool any = h->nlmsg_type == RTM_SETLINK && nlmsg_attrlen(h, sizeof(*ifi)) > 0;
	if (any && nla_type(first) == IFLA_VFINFO_LIST && ifi->ifi_index == pf->pf_ifindex)
		return set_vf(first, e);
	int errnum =
		any && nla_type(first) == IFLA_ADDRESS ? mac_refusal(ifi->ifi_index, first) : 0;
	if (errnum)
		return refuse(errnum, e);
	if (pf->ipoib && any && nla_type(first) == IFLA_ADDRESS && nla_len(first) == HW_ADDR_MAX)
		return set_ipoib_addr(nl, ifi->ifi_index, first, e);
	if (__real_nl_request(nl, rq, e))
		return -1;
	if (pf->moved && h->nlmsg_type == RTM_SETLINK &&
	    nlmsg_find_attr((struct nlmsghdr *)h, sizeof(*ifi), IFLA_IFNAME))
		tell_that_it_moved();
	return 0;
}

/* ---- what is told ---- */

struct answer {
	_Alignas(4) char buf[8192];
	size_t len;
};

static size_t add(struct answer *a, int type, const void *data, size_t size)
{
	const struct nlattr head = { (uint16_t)(HEAD + size), (uint16_t)type };
	size_t at = a->len;

	MUST(at + HEAD + size + 4 <= sizeof(a->buf));
	memcpy(a->buf + at, &head, sizeof(head));
	if (size)
		memcpy(a->buf + at + HEAD, data, size);
	a->len += (HEAD + size + 3) & ~(size_t)3;
	return at;
}

static void end(struct answer *a, size_t at)
{
	uint16_t len = (uint16_t)(a->len - at);

	memcpy(a->buf + at, &len, sizeof(len));
}

static void add_vf(struct answer *a, uint32_t n, const struct vf_info *s)
{
	struct ifla_vf_mac mac = { .vf = n };
	const struct ifla_vf_vlan_info vlan = { n, s->vlan, s->qos, htons(s->vlan_proto) };
	const struct ifla_vf_vlan old_vlan = { n, s->vlan, s->qos };
	const struct ifla_vf_rate rate = { n, s->min_rate, s->max_rate };
	const struct ifla_vf_trust spoofchk = { n, s->spoofchk }, trust = { n, s->trust },
				   state = { n, (uint32_t)s->link_state };
	const struct ifla_vf_guid node = { n, guid_number(s->node_guid) },
				  port = { n, guid_number(s->port_guid) };
	size_t nest = add(a, IFLA_VF_INFO, NULL, 0), list;

	memcpy(mac.mac, s->mac, MAC_LEN);
	if (s->has & VF_MAC)
		add(a, IFLA_VF_MAC, &mac, sizeof(mac));
	if (s->has & VF_VLAN) {
		add(a, IFLA_VF_VLAN, &old_vlan, sizeof(old_vlan));
		list = add(a, IFLA_VF_VLAN_LIST, NULL, 0);
		add(a, IFLA_VF_VLAN_INFO, &vlan, sizeof(vlan));
		end(a, list);
	}
	if (s->has & VF_RATE)
		add(a, IFLA_VF_RATE, &rate, sizeof(rate));
	if (s->has & VF_SPOOFCHK)
		add(a, IFLA_VF_SPOOFCHK, &spoofchk, sizeof(spoofchk));
	if (s->has & VF_TRUST)
		add(a, IFLA_VF_TRUST, &trust, sizeof(trust));
	if (s->has & VF_LINK_STATE)
		add(a, IFLA_VF_LINK_STATE, &state, sizeof(state));
	if (s->has & VF_NODE_GUID)
		add(a, IFLA_VF_IB_NODE_GUID, &node, sizeof(node));
	if (s->has & VF_PORT_GUID)
		add(a, IFLA_VF_IB_PORT_GUID, &port, sizeof(port));
	end(a, nest);
}

static int tell_vfs(struct nl_sink sink, struct err *e)
{
	const struct ifinfomsg ifi = { .ifi_index = pf->pf_ifindex };
	struct answer a = { .len = NLMSG_HDRLEN + sizeof(ifi) };
	struct nlmsghdr *h = (void *)a.buf;
	size_t list = add(&a, IFLA_VFINFO_LIST, NULL, 0);

	memcpy(nlmsg_data(h), &ifi, sizeof(ifi));
	for (uint32_t i = 0; i < pf->n; i++)
		add_vf(&a, i, &pf->vf[i].is);
	end(&a, list);
	h->nlmsg_type = RTM_NEWLINK;
	h->nlmsg_len = (uint32_t)a.len;
	return sink.fn(h, sink.arg, e);
}

/* Only vf.c sends this request. It must not ask for statistics. */
int __wrap_nl_get_large(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e)
{
	const struct nlmsghdr *h = rq->msg ? nlmsg_hdr(rq->msg) : NULL;
	const struct ifinfomsg *ifi = h ? nlmsg_data(h) : NULL;

	if (!pf || !h || ifi->ifi_index != pf->pf_ifindex)
		return __real_nl_get_large(nl, rq, sink, e);
	MUST(nla_get_u32(nlmsg_attrdata(h, sizeof(*ifi))) ==
	     (RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS));
	return count(e) ? -1 : tell_vfs(sink, e);
}

int __wrap_nl_get(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e)
{
	return count(e) ? -1 : __real_nl_get(nl, rq, sink, e);
}

/* ---- veths that stand for hardware ---- */

static bool is_on_host(const struct nl *nl)
{
	auto_fd int fd = ioctl(nl->fd, SIOCGSKNS);
	auto_netns struct netns ns = { .fd = -1 };
	char path[32];
	struct err e;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	MUST(netns_open(path, &ns, &e) == 0);
	return netns_same(pf->host, ns.id);
}

/* The MAC of the veth that stands for it is the end of the GID. */
static void as_ipoib(const struct fakepf_vf *vf, struct link_info *li)
{
	struct hw_addr a = { HW_ADDR_MAX, { 0x80, 0, 2, 8, 0xfe, 0x80 } };

	memcpy(a.byte + HW_ADDR_MAX - MAC_LEN, li->addr.byte, MAC_LEN);
	if (pf->guids) {
		memcpy(a.byte + HW_ADDR_MAX - GUID_LEN, vf->port.byte, GUID_LEN);
		(void)snprintf(li->kind, sizeof(li->kind), "ipoib");
		li->lower_ifindex = 0;
	}
	li->type = ARPHRD_INFINIBAND;
	li->addr = li->perm_addr = a;
}

/* The other end is on the host: elsewhere, what has no number for its other end's namespace is
 * none. */
static void as_hardware(const struct nl *nl, struct link_info *li)
{
	if (pf && li->ifindex == pf->pf_ifindex && is_on_host(nl)) {
		(void)snprintf(li->parent, sizeof(li->parent), "%s", pf->addr);
		(void)snprintf(li->port, sizeof(li->port), "%s", pf->port);
	}
	for (uint32_t i = 0; pf && i < pf->n; i++) {
		if (!pf->vf[i].peer || pf->vf[i].peer != li->lower_ifindex ||
		    is_on_host(nl) != (li->lower_nsid < 0))
			continue;
		li->kind[0] = '\0';
		if (pf->ipoib)
			as_ipoib(&pf->vf[i], li);
		if (!pf->old_kernel)
			(void)snprintf(li->parent, sizeof(li->parent), "%s", pf->vf[i].addr);
	}
}

int __wrap_nl_link_by_name(struct nl *nl, const char *name, struct link_info *out, struct err *e)
{
	if (__real_nl_link_by_name(nl, name, out, e))
		return -1;
	as_hardware(nl, out);
	return 0;
}

int __wrap_nl_link_by_index(struct nl *nl, int ifindex, struct link_info *out, struct err *e)
{
	if (__real_nl_link_by_index(nl, ifindex, out, e))
		return -1;
	as_hardware(nl, out);
	return 0;
}

#define INDEX_MAX 1000 /* more than a test has links */

int __wrap_nl_link_each(struct nl *nl, const char *kind, link_fn fn, void *arg, struct err *e)
{
	struct link_info li;
	struct err none;

	if (!pf)
		return __real_nl_link_each(nl, kind, fn, arg, e);
	if (count(e))
		return -1;
	/* One request of a plugin; here it is one for each number. */
	unsigned before = pf->requests, fail_at = pf->fail_at;
	bool stop = false;

	pf->fail_at = 0;
	for (int i = 1; i < INDEX_MAX && !stop; i++) {
		if (__real_nl_link_by_index(nl, i, &li, &none))
			continue;
		as_hardware(nl, &li);
		stop = (!kind || strcmp(li.kind, kind) == 0) && fn(&li, arg);
	}
	pf->requests = before;
	pf->fail_at = fail_at;
	return 0;
}

/* ---- drivers ---- */

void fakepf_read_guids(uint32_t n)
{
	struct fakepf_vf *vf = &pf->vf[n];

	vf->node = vf->is.node_guid;
	vf->port = vf->is.port_guid;
}

int __wrap_pci_rebind(const char *root, const char *addr, const char *driver, struct err *e)
{
	uint32_t n = 0;

	if (!pf || !pf->rebound)
		return __real_pci_rebind(root, addr, driver, e);
	while (n < pf->n && strcmp(pf->vf[n].addr, addr) != 0)
		n++;
	MUST(n < pf->n);
	if (count(e))
		return -1;
	pf->unbound(n);
	if (pf->refuses_bind)
		return refuse(pf->refuses_bind, e);
	if (count(e))
		return -1;
	if (!pf->keeps_guids)
		fakepf_read_guids(n);
	pf->rebound(n);
	return 0;
}
