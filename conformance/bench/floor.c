/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.c: the netlink work of an ADD or DEL and nothing else, as the floor to measure against: no
 * JSON, no other process, no store, no record. Of macvlan, or of moving a device in and out.
 *
 * CNI_COMMAND=ADD|DEL, CNI_NETNS and CNI_IFNAME as for a plugin; FLOOR_MASTER: the master, or
 * FLOOR_DEVICE: the device; FLOOR_V4, FLOOR_V6: address/length, either may be missing; FLOOR_GW4:
 * gateway of an IPv4 default route. FLOOR_DEVICE may name several devices with spaces between them.
 * All but the first get CNI_IFNAME with r1, r2 and so on as name in the pod.
 */
#include "conformance/bench/bench.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>

#define DEVICES_MAX 16

struct device {
	char host[IFNAMSIZ], pod[IFNAMSIZ]; /* its names */
};

struct request {
	struct nlmsghdr h;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg addr;
		struct rtmsg route;
	} u;
	char attrs[512];
};

static const char *env(const char *name)
{
	const char *v = getenv(name);

	if (!v) {
		fprintf(stderr, "floor: %s is not set\n", name);
		exit(2);
	}
	return v;
}

static struct rtattr *put(struct request *r, unsigned short type, const void *data, size_t len)
{
	void *end = (char *)r + NLMSG_ALIGN(r->h.nlmsg_len);
	struct rtattr *a = end;

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	r->h.nlmsg_len = NLMSG_ALIGN(r->h.nlmsg_len) + (unsigned)RTA_ALIGN(a->rta_len);
	return a;
}

static void put_int(struct request *r, unsigned short type, int v)
{
	put(r, type, &v, sizeof(v));
}

static void put_text(struct request *r, unsigned short type, const char *s)
{
	put(r, type, s, strlen(s) + 1);
}

static void end_nest(const struct request *r, struct rtattr *nest)
{
	nest->rta_len = (unsigned short)((const char *)r + r->h.nlmsg_len - (char *)nest);
}

static struct request start(unsigned short type, unsigned short flags, size_t body)
{
	struct request r = { .h = { .nlmsg_type = type,
				    .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags) } };

	r.h.nlmsg_len = (unsigned)NLMSG_LENGTH(body);
	return r;
}

static int open_socket(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) != 0)
		fail("netlink socket");
	return fd;
}

/* Send, and return the answer: the index of a link, or 0 for an acknowledgement. */
static int talk(int fd, const struct request *r, const char *what)
{
	union {
		struct nlmsghdr h;
		char bytes[16384];
	} answer;
	struct ifinfomsg link;

	if (send(fd, r, r->h.nlmsg_len, 0) < 0)
		fail(what);
	ssize_t n = recv(fd, &answer, sizeof(answer), 0);
	if (n < (ssize_t)sizeof(answer.h))
		fail(what);
	if (answer.h.nlmsg_type == NLMSG_ERROR) {
		memcpy(&errno, NLMSG_DATA(&answer.h), sizeof(errno));
		errno = -errno;
		if (errno)
			fail(what);
		return 0;
	}
	memcpy(&link, NLMSG_DATA(&answer.h), sizeof(link));
	return link.ifi_index;
}

static int link_index(int fd, const char *name)
{
	struct request r = start(RTM_GETLINK, 0, sizeof(r.u.link));

	put_text(&r, IFLA_IFNAME, name);
	return talk(fd, &r, name);
}

static void create(int fd, int pod)
{
	struct request r =
		start(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sizeof(r.u.link));

	put_int(&r, IFLA_LINK, link_index(fd, env("FLOOR_MASTER")));
	put_int(&r, IFLA_NET_NS_FD, pod);
	put_text(&r, IFLA_IFNAME, env("CNI_IFNAME"));
	struct rtattr *info = put(&r, IFLA_LINKINFO, NULL, 0);
	put_text(&r, IFLA_INFO_KIND, "macvlan");
	struct rtattr *data = put(&r, IFLA_INFO_DATA, NULL, 0);
	put_int(&r, IFLA_MACVLAN_MODE, MACVLAN_MODE_BRIDGE);
	end_nest(&r, data);
	end_nest(&r, info);
	talk(fd, &r, "create the macvlan");
}

/* One request that moves and renames. */
static void move(int fd, const char *from, int netns, const char *to)
{
	struct request r = start(RTM_SETLINK, NLM_F_ACK, sizeof(r.u.link));

	r.u.link.ifi_index = link_index(fd, from);
	put_int(&r, IFLA_NET_NS_FD, netns);
	put_text(&r, IFLA_IFNAME, to);
	talk(fd, &r, "move the device");
}

/* address/length in text; returns the length of the address in bytes. */
static size_t parse(const char *text, unsigned char family, void *out, unsigned char *len)
{
	char copy[64];
	char *slash;

	snprintf(copy, sizeof(copy), "%s", text);
	slash = strchr(copy, '/');
	if (slash)
		*slash = '\0';
	*len = (unsigned char)(slash ? strtoul(slash + 1, NULL, 10) : 0);
	if (inet_pton(family, copy, out) != 1) {
		fprintf(stderr, "floor: bad address %s\n", text);
		exit(2);
	}
	return family == AF_INET ? 4 : 16;
}

static void add_address(int fd, int index, unsigned char family, const char *text)
{
	struct request r =
		start(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sizeof(r.u.addr));
	unsigned char bytes[16], len;
	size_t n = parse(text, family, bytes, &len);

	r.u.addr = (struct ifaddrmsg){ .ifa_family = family,
				       .ifa_prefixlen = len,
				       .ifa_index = (unsigned)index,
				       .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0 };
	put(&r, IFA_LOCAL, bytes, n);
	put(&r, IFA_ADDRESS, bytes, n);
	talk(fd, &r, text);
}

static void set_up(int fd, int index, bool up)
{
	struct request r = start(RTM_NEWLINK, NLM_F_ACK, sizeof(r.u.link));

	r.u.link.ifi_index = index;
	r.u.link.ifi_flags = up ? IFF_UP : 0;
	r.u.link.ifi_change = IFF_UP;
	talk(fd, &r, "set the link up or down");
}

static void add_default_route(int fd, int index, const char *gateway)
{
	struct request r =
		start(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sizeof(r.u.route));
	unsigned char bytes[16], len;

	r.u.route = (struct rtmsg){ .rtm_family = AF_INET,
				    .rtm_table = RT_TABLE_MAIN,
				    .rtm_protocol = RTPROT_BOOT,
				    .rtm_type = RTN_UNICAST };
	size_t n = parse(gateway, AF_INET, bytes, &len);
	put(&r, RTA_GATEWAY, bytes, n);
	put_int(&r, RTA_OIF, index);
	talk(fd, &r, "add the default route");
}

/* None: a macvlan is made. */
static size_t list_devices(struct device out[DEVICES_MAX])
{
	const char *names = getenv("FLOOR_DEVICE");
	size_t n = 0;
	int len = 0;

	for (; names && n < DEVICES_MAX && sscanf(names, "%15s%n", out[n].host, &len) == 1; n++) {
		names += len;
		if (n)
			snprintf(out[n].pod, IFNAMSIZ, "%.9sr%zu", env("CNI_IFNAME"), n);
		else
			snprintf(out[n].pod, IFNAMSIZ, "%s", env("CNI_IFNAME"));
	}
	return n;
}

static void configure(int fd, int index)
{
	const char *v4 = getenv("FLOOR_V4"), *v6 = getenv("FLOOR_V6"), *gw = getenv("FLOOR_GW4");

	if (v4)
		add_address(fd, index, AF_INET, v4);
	if (v6)
		add_address(fd, index, AF_INET6, v6);
	set_up(fd, index, true);
	if (gw)
		add_default_route(fd, index, gw);
}

static void add(int pod)
{
	struct device d[DEVICES_MAX];
	size_t n = list_devices(d);
	int fd = open_socket();

	for (size_t i = 0; i < n; i++)
		move(fd, d[i].host, pod, d[i].pod);
	if (!n)
		create(fd, pod);
	if (setns(pod, CLONE_NEWNET) != 0)
		fail("setns");
	fd = open_socket();
	configure(fd, link_index(fd, env("CNI_IFNAME")));
	for (size_t i = 1; i < n; i++)
		set_up(fd, link_index(fd, d[i].pod), true);
}

static void del(int pod)
{
	struct request r = start(RTM_DELLINK, NLM_F_ACK, sizeof(r.u.link));
	struct device d[DEVICES_MAX];
	size_t n = list_devices(d);
	int host = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (host < 0 || setns(pod, CLONE_NEWNET) != 0)
		fail("setns");
	int fd = open_socket();
	for (size_t i = 0; i < n; i++) {
		set_up(fd, link_index(fd, d[i].pod), false);
		move(fd, d[i].pod, host, d[i].host);
	}
	if (n)
		return;
	put_text(&r, IFLA_IFNAME, env("CNI_IFNAME"));
	talk(fd, &r, "delete the link");
}

int main(void)
{
	int pod = open(env("CNI_NETNS"), O_RDONLY | O_CLOEXEC);

	if (pod < 0)
		fail(env("CNI_NETNS"));
	if (strcmp(env("CNI_COMMAND"), "ADD") == 0)
		add(pod);
	else
		del(pod);
	return 0;
}
