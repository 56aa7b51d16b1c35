/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a VF state; state_test.c has the files themselves. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "sriov/vf/state.h"

#define BOOT     "01234567-89ab-cdef-0123-456789abcdef"
#define LONGEST  (VF_ALTNAME_LEN - 1)
#define TEXT_MAX 8192

static const char good[] =
	"{\"version\":1,\"vf\":\"0000:3b:02.5\",\"pf\":\"0000:3b:00.0\",\"index\":3,"
	"\"boot\":\"" BOOT "\",\"life\":4711,\"dirty\":17,"
	"\"owner\":{\"network\":\"net-a\",\"container\":\"c1\",\"ifname\":\"net1\","
	"\"netns\":\"/run/netns/a\",\"netnsDev\":4,\"netnsInode\":4026532008,\"ifindex\":12},"
	"\"pfSide\":{\"told\":63,\"mac\":\"02:00:00:00:00:01\",\"vlan\":100,\"qos\":5,"
	"\"proto\":34984,\"minRate\":10,\"maxRate\":1000,\"spoofchk\":true,\"trust\":true,"
	"\"linkState\":2},"
	"\"netdev\":{\"name\":\"ens3f0v3\",\"mac\":\"02:00:00:00:00:02\",\"mtu\":9000,\"up\":true,"
	"\"altnames\":[\"enp59s0f0v3\",\"second\"]}}";

/* good with one piece of it, which must be there, replaced. */
static const char *with(char text[TEXT_MAX], const char *piece, const char *by)
{
	const char *at = strstr(good, piece);

	ck_assert_msg(at != NULL, "no %s", piece);
	ck_assert_int_lt(snprintf(text, TEXT_MAX, "%.*s%s%s", (int)(at - good), good, by,
				  at + strlen(piece)),
			 TEXT_MAX);
	return text;
}

static struct vf_entry decode(const char *text)
{
	struct vf_entry x;
	struct err e = { .msg = "" };

	ck_assert_msg(vf_state_decode(text, strlen(text), &x, &e) == 0, "%s: %s", text, e.msg);
	ck_assert_str_eq(e.msg, "");
	return x;
}

/* Refused as damaged, with the key named; what was in the output stays. */
static void refuses(const char *text, const char *key)
{
	struct vf_entry x = { .life = 7 };
	struct err e;

	ck_assert_msg(vf_state_decode(text, strlen(text), &x, &e) == -1, "accepted: %s", text);
	ck_assert_int_eq((int)e.code, ERR_DECODE);
	ck_assert_msg(strstr(e.msg, key) != NULL, "%s: no word of %s", e.msg, key);
	ck_assert_uint_eq(x.life, 7);
	ck_assert_ptr_null(x.tree);
}

/* ---- what is in it ---- */

static void is_the_pf_side(const struct vf_info *s)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 1 };

	ck_assert_uint_eq(s->has, VF_ETHERNET);
	ck_assert_mem_eq(s->mac, mac, MAC_LEN);
	ck_assert_uint_eq(s->vlan, 100);
	ck_assert_uint_eq(s->qos, 5);
	ck_assert_uint_eq(s->vlan_proto, VLAN_PROTO_8021AD);
	ck_assert_uint_eq(s->min_rate, 10);
	ck_assert_uint_eq(s->max_rate, 1000);
	ck_assert(s->spoofchk);
	ck_assert(s->trust);
	ck_assert_int_eq(s->link_state, VF_LINK_DISABLE);
}

static void is_the_netdev(const struct vf_baseline *b)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 2 };

	ck_assert(b->has_netdev);
	ck_assert(hw_addr_is_mac(b->addr));
	ck_assert(b->up);
	ck_assert_mem_eq(b->addr.byte, mac, MAC_LEN);
	ck_assert_uint_eq(b->mtu, 9000);
	ck_assert_str_eq(b->name, "ens3f0v3");
	ck_assert_str_eq(b->altnames[0], "enp59s0f0v3");
	ck_assert_str_eq(b->altnames[1], "second");
	ck_assert_str_eq(b->altnames[2], "");
}

static void is_the_owner(const struct vf_entry *x)
{
	ck_assert(x->owned);
	ck_assert_str_eq(x->owner.key.network, "net-a");
	ck_assert_str_eq(x->owner.key.container, "c1");
	ck_assert_str_eq(x->owner.key.ifname, "net1");
	ck_assert_str_eq(x->owner.netns, "/run/netns/a");
	ck_assert_uint_eq(x->owner.netns_id.dev, 4);
	ck_assert_uint_eq(x->owner.netns_id.ino, 4026532008);
	ck_assert_int_eq(x->owner.ifindex, 12);
}

START_TEST(an_address_of_ipoib)
{
	static const char gid[] = "\"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57\"";
	char text[TEXT_MAX];
	auto_vf_entry struct vf_entry x = decode(with(text, "\"02:00:00:00:00:02\"", gid));
	auto_free char *printed = vf_state_print(&x);

	ck_assert_uint_eq(x.base.addr.len, 20);
	ck_assert_uint_eq(x.base.addr.byte[19], 0x57);
	ck_assert_ptr_nonnull(printed);
	ck_assert_ptr_nonnull(strstr(printed, gid));
	refuses(with(text, "\"02:00:00:00:00:02\"", "\"80:00:02:08:fe:80:00:00\""), "netdev.mac");
}
END_TEST

START_TEST(every_member_is_decoded)
{
	auto_vf_entry struct vf_entry x = decode(good);

	ck_assert_str_eq(x.vf, "0000:3b:02.5");
	ck_assert_str_eq(x.pf, "0000:3b:00.0");
	ck_assert_uint_eq(x.index, 3);
	ck_assert_str_eq(x.boot, BOOT);
	ck_assert_uint_eq(x.life, 4711);
	ck_assert_uint_eq(x.to_restore, VF_MAC | VF_TRUST);
	is_the_pf_side(&x.base.pf_side);
	is_the_netdev(&x.base);
	is_the_owner(&x);
}
END_TEST

START_TEST(printed_and_read_again)
{
	auto_vf_entry struct vf_entry x = decode(good);
	auto_free char *text = vf_state_print(&x);

	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, good); /* the same keys in the same order */
}
END_TEST

START_TEST(without_interface_and_owner)
{
	struct vf_entry bare = { .vf = "0000:3b:02.5", .pf = "0000:3b:00.0", .boot = BOOT };
	auto_free char *text = vf_state_print(&bare);

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(strstr(text, "netdev"));
	ck_assert_ptr_null(strstr(text, "owner"));
	auto_vf_entry struct vf_entry x = decode(text);
	ck_assert(!x.base.has_netdev);
	ck_assert(!x.owned);
}
END_TEST

START_TEST(a_MAC_of_its_own_is_kept)
{
	char text[TEXT_MAX];
	auto_vf_entry struct vf_entry before = decode(good),
				      x = decode(with(text, "\"mtu\"", "\"ownMac\":true,\"mtu\""));
	auto_free char *again = vf_state_print(&x);

	ck_assert(x.base.own_mac && !before.base.own_mac);
	ck_assert_ptr_nonnull(again);
	ck_assert_str_eq(again, text);
}
END_TEST

START_TEST(an_interface_without_a_MAC)
{
	char text[TEXT_MAX];
	auto_vf_entry struct vf_entry x = decode(with(text, "\"mac\":\"02:00:00:00:00:02\",", ""));
	auto_free char *again = vf_state_print(&x);

	ck_assert(x.base.has_netdev);
	ck_assert(!x.base.addr.len);
	ck_assert_ptr_nonnull(again);
	ck_assert_str_eq(again, text);
}
END_TEST

START_TEST(the_largest_numbers)
{
	struct vf_entry big = {
		.vf = "ffffffff:ff:1f.7",
		.pf = "ffffffff:ff:00.0",
		.index = 65535,
		.boot = BOOT,
		.life = (UINT64_C(1) << 53) - 1,
		.to_restore = VF_ETHERNET,
		.base.pf_side = { .has = VF_ETHERNET,
				  .vlan = 4095,
				  .qos = 7,
				  .vlan_proto = 65535,
				  .min_rate = UINT32_MAX,
				  .max_rate = UINT32_MAX },
	};
	auto_free char *text = vf_state_print(&big);

	ck_assert_ptr_nonnull(text);
	auto_vf_entry struct vf_entry x = decode(text);
	ck_assert_str_eq(x.vf, big.vf);
	ck_assert_uint_eq(x.life, big.life);
	ck_assert_uint_eq(x.index, big.index);
	ck_assert_uint_eq(x.base.pf_side.max_rate, UINT32_MAX);
}
END_TEST

/* ---- what is not an entry ---- */

START_TEST(missing_members_are_refused)
{
	static const char *const keys[] = {
		"version", "vf",      "pf",        "index",      "boot",    "life",
		"dirty",   "pfSide",  "told",      "vlan",       "qos",     "proto",
		"minRate", "maxRate", "linkState", "name",       "network", "container",
		"ifname",  "netns",   "netnsDev",  "netnsInode", "ifindex",
	};
	char text[TEXT_MAX], quoted[32], other[32];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		(void)snprintf(quoted, sizeof(quoted), "\"%s\":", keys[i]);
		(void)snprintf(other, sizeof(other), "\"_%s\":", keys[i]);
		refuses(with(text, quoted, other), keys[i]);
	}
}
END_TEST

START_TEST(optional_members_may_be_absent)
{
	static const char *const keys[] = { "spoofchk", "trust", "mtu", "up", "altnames" };
	char text[TEXT_MAX], quoted[32];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		(void)snprintf(quoted, sizeof(quoted), "\"%s\":", keys[i]);
		auto_vf_entry struct vf_entry x = decode(with(text, quoted, "\"_\":"));
		is_the_owner(&x);
	}
}
END_TEST

struct swap {
	const char *piece, *by, *key;
};

START_TEST(wrong_types_are_refused)
{
	static const struct swap swaps[] = {
		{ "\"version\":1", "\"version\":\"1\"", "version" },
		{ "\"0000:3b:02.5\"", "5", "vf" },
		{ "\"0000:3b:00.0\"", "[]", "pf" },
		{ "\"index\":3", "\"index\":3.5", "index" },
		{ "\"boot\":\"" BOOT "\"", "\"boot\":1", "boot" },
		{ "\"life\":4711", "\"life\":true", "life" },
		{ "\"dirty\":17", "\"dirty\":{}", "dirty" },
		{ "\"told\":63", "\"told\":\"all\"", "pfSide.told" },
		{ "\"02:00:00:00:00:01\"", "7", "pfSide.mac" },
		{ "\"vlan\":100", "\"vlan\":\"100\"", "pfSide.vlan" },
		{ "\"spoofchk\":true", "\"spoofchk\":1", "pfSide.spoofchk" },
		{ "\"trust\":true", "\"trust\":\"on\"", "pfSide.trust" },
		{ "\"ens3f0v3\"", "3", "netdev.name" },
		{ "\"02:00:00:00:00:02\"", "false", "netdev.mac" },
		{ "\"mtu\":9000", "\"mtu\":\"9000\"", "netdev.mtu" },
		{ "\"up\":true", "\"up\":1", "netdev.up" },
		{ "[\"enp59s0f0v3\",\"second\"]", "\"second\"", "netdev.altnames" },
		{ "\"second\"", "2", "netdev.altnames" },
		{ "\"net-a\"", "1", "owner.network" },
		{ "\"c1\"", "1", "owner.container" },
		{ "\"net1\"", "1", "owner.ifname" },
		{ "\"/run/netns/a\"", "1", "owner.netns" },
		{ "\"netnsDev\":4", "\"netnsDev\":[4]", "owner.netnsDev" },
		{ "\"ifindex\":12", "\"ifindex\":\"12\"", "owner.ifindex" },
	};
	char text[TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(swaps); i++)
		refuses(with(text, swaps[i].piece, swaps[i].by), swaps[i].key);
}
END_TEST

START_TEST(numbers_out_of_range_are_refused)
{
	static const struct swap swaps[] = {
		{ "\"version\":1", "\"version\":2", "version" },
		{ "\"version\":1", "\"version\":0", "version" },
		{ "\"0000:3b:02.5\"", "\"0000:3b:02.8\"", "vf" },
		{ "\"0000:3b:02.5\"", "\"\"", "vf" },
		{ "\"0000:3b:02.5\"", "\"0000:3b:02.5xxxxxxxxxxxxxxx\"", "vf" },
		{ "\"0000:3b:00.0\"", "\"eth0\"", "pf" },
		{ "\"index\":3", "\"index\":65536", "index" },
		{ "\"index\":3", "\"index\":-1", "index" },
		{ BOOT, BOOT "0", "boot" },
		{ "\"life\":4711", "\"life\":9007199254740992", "life" },
		{ "\"dirty\":17", "\"dirty\":512", "dirty" },
		{ "\"told\":63", "\"told\":512", "pfSide.told" },
		{ "02:00:00:00:00:01", "02:00:00:00:00", "pfSide.mac" },
		{ "\"vlan\":100", "\"vlan\":4096", "pfSide.vlan" },
		{ "\"qos\":5", "\"qos\":8", "pfSide.qos" },
		{ "\"proto\":34984", "\"proto\":65536", "pfSide.proto" },
		{ "\"minRate\":10", "\"minRate\":4294967296", "pfSide.minRate" },
		{ "\"maxRate\":1000", "\"maxRate\":-1", "pfSide.maxRate" },
		{ "\"linkState\":2", "\"linkState\":3", "pfSide.linkState" },
		{ "\"ens3f0v3\"", "\"\"", "netdev.name" },
		{ "\"ens3f0v3\"", "\"..\"", "netdev.name" },
		{ "\"ens3f0v3\"", "\"a/b\"", "netdev.name" },
		{ "\"ens3f0v3\"", "\"ens3f0v3-too-long\"", "netdev.name" },
		{ "\"mtu\":9000", "\"mtu\":4294967296", "netdev.mtu" },
		{ "\"second\"", "\"\"", "netdev.altnames" },
		{ "\"netnsDev\":4", "\"netnsDev\":-1", "owner.netnsDev" },
		{ "\"netnsInode\":4026532008", "\"netnsInode\":-1", "owner.netnsInode" },
		{ "\"ifindex\":12", "\"ifindex\":2147483648", "owner.ifindex" },
		{ "\"ifindex\":12", "\"ifindex\":-1", "owner.ifindex" },
	};
	char text[TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(swaps); i++)
		refuses(with(text, swaps[i].piece, swaps[i].by), swaps[i].key);
}
END_TEST

START_TEST(other_texts_are_refused)
{
	static const char *const texts[] = { "", "{}", "[]", "null", "garbage", "{\"version\":1}" };
	struct vf_entry x;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		refuses(texts[i], "VF state");
	for (size_t len = 0; len < strlen(good); len++) {
		ck_assert_int_eq(vf_state_decode(good, len, &x, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
	}
}
END_TEST

/* ---- alternative names ---- */

/* n names of len bytes, as the text of an array without its brackets. */
static const char *names(char out[TEXT_MAX], int n, int len)
{
	out[0] = '\0';
	for (int i = 0; i < n; i++) {
		char one[256];

		(void)snprintf(one, sizeof(one), "%s\"%0*d\"", i ? "," : "", len, i);
		testing_append(out, TEXT_MAX, one);
	}
	return out;
}

START_TEST(altnames_at_their_bounds)
{
	const char *piece = "\"enp59s0f0v3\",\"second\"";
	char text[TEXT_MAX], list[TEXT_MAX];

	with(text, piece, names(list, VF_ALTNAMES_MAX, LONGEST));
	auto_vf_entry struct vf_entry x = decode(text);
	auto_free char *again = vf_state_print(&x);
	ck_assert_uint_eq(strlen(x.base.altnames[VF_ALTNAMES_MAX - 1]), LONGEST);
	ck_assert_ptr_nonnull(again);
	ck_assert_str_eq(again, text);
	refuses(with(text, piece, names(list, VF_ALTNAMES_MAX + 1, 8)), "netdev.altnames");
	refuses(with(text, piece, names(list, 1, LONGEST + 1)), "netdev.altnames");
}
END_TEST

/* ---- memory ---- */

static int decode_and_clear(void *arg, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };

	return vf_state_decode(arg, strlen(arg), &x, e);
}

static int print_and_free(void *arg, struct err *e)
{
	auto_free char *text = vf_state_print(arg);

	return text ? 0 : err_nomem(e);
}

START_TEST(out_of_memory)
{
	char text[TEXT_MAX];
	auto_vf_entry struct vf_entry x = decode(good);

	strcpy(text, good);
	ck_assert_str_eq(alloc_fail_each(decode_and_clear, text), "ok");
	ck_assert_str_eq(alloc_fail_each(print_and_free, &x), "ok");
}
END_TEST

START_TEST(a_VF_of_InfiniBand)
{
	struct vf_entry was = {
		.vf = "0000:3b:02.5",
		.pf = "0000:3b:00.0",
		.boot = "01234567-89ab-cdef-0123-456789abcdef",
		.driver = "mlx5_core",
		.to_restore = VF_GUIDS,
		.base.pf_side = { .has = VF_GUIDS,
				  .node_guid = guid_of_number(UINT64_C(0x506b4b0300c1a2b3)),
				  .port_guid = GUID_ALL_ONE },
		.owned = true,
		.owner = { .key = { "n", "c1", "net1" },
			   .netns = "/run/netns/a",
			   .rdma = { 12, "mlx5_7", "uverbs7 231:199" } },
	};
	auto_free char *text = vf_state_print(&was);
	auto_vf_entry struct vf_entry x = { 0 };
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(vf_state_decode(text, strlen(text), &x, &e) == 0, "%s: %s", text, e.msg);
	ck_assert_str_eq(x.driver, "mlx5_core");
	ck_assert_uint_eq(x.to_restore, VF_GUIDS);
	ck_assert_uint_eq(x.base.pf_side.has, VF_GUIDS);
	ck_assert(guid_equal(x.base.pf_side.node_guid, was.base.pf_side.node_guid));
	ck_assert(guid_equal(x.base.pf_side.port_guid, GUID_ALL_ONE));
	ck_assert(x.owner.rdma.index == 12);
	ck_assert_str_eq(x.owner.rdma.name, "mlx5_7");
	ck_assert_str_eq(x.owner.rdma.uverbs, "uverbs7 231:199");
	strstr(text, "50:6b")[1] = 'x';
	refuses(text, "nodeGuid");
}
END_TEST

TEST_PROGRAM("sriov/vf/state_text", a_VF_of_InfiniBand, every_member_is_decoded,
	     an_address_of_ipoib, printed_and_read_again, without_interface_and_owner,
	     a_MAC_of_its_own_is_kept, an_interface_without_a_MAC, the_largest_numbers,
	     missing_members_are_refused, optional_members_may_be_absent, wrong_types_are_refused,
	     numbers_out_of_range_are_refused, other_texts_are_refused, altnames_at_their_bounds,
	     out_of_memory)
