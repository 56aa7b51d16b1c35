// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * dcbcard.c: a module for the guest with one interface, dcb0, whose driver has data center bridging and the time of
 * pause storms. No card that QEMU emulates has them, nor has netdevsim. It answers as mlx5 does: a DSCP value has one
 * rule, the percentages are 0 or 100 together, sizes of buffers are rounded down to cells of 128 bytes, and the time is
 * 0 or from 80 to 8000. To load the module again is to bind a driver again: all is as at the start.
 *
 * refuse=N: what fails: 1 flow control, 2 queues, 4 buffers, 8 the time. ignore=N: what is acknowledged without effect.
 */
#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

#define PFC	1
#define QUEUES	2
#define BUFFERS 4
#define STORM	8
#define CELL	128

static unsigned int refuse, ignore;
module_param(refuse, uint, 0644);
module_param(ignore, uint, 0644);

static struct net_device *card;
static struct ieee_ets queues;
static struct ieee_pfc flow = { .pfc_cap = 8 };
static struct dcbnl_buffer buffers;
static int priority[64];
static u16 storm;

static int answer(unsigned int what)
{
	return refuse & what ? -EINVAL : 0;
}

static int get_queues(struct net_device *dev, struct ieee_ets *out)
{
	*out = queues;
	return 0;
}

static int set_queues(struct net_device *dev, struct ieee_ets *in)
{
	int i, sum = 0;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (in->prio_tc[i] >= IEEE_8021QAZ_MAX_TCS)
			return -EINVAL;
		if (in->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS)
			sum += in->tc_tx_bw[i];
	}
	if (sum != 0 && sum != 100)
		return -EINVAL;
	if (!answer(QUEUES) && !(ignore & QUEUES))
		queues = *in;
	return answer(QUEUES);
}

static int get_flow(struct net_device *dev, struct ieee_pfc *out)
{
	*out = flow;
	return 0;
}

static int set_flow(struct net_device *dev, struct ieee_pfc *in)
{
	if (!answer(PFC) && !(ignore & PFC))
		flow.pfc_en = in->pfc_en;
	return answer(PFC);
}

static int get_buffers(struct net_device *dev, struct dcbnl_buffer *out)
{
	*out = buffers;
	return 0;
}

static int set_buffers(struct net_device *dev, struct dcbnl_buffer *in)
{
	int i;

	if (answer(BUFFERS) || ignore & BUFFERS)
		return answer(BUFFERS);
	buffers = *in;
	for (i = 0; i < DCBX_MAX_BUFFERS; i++)
		buffers.buffer_size[i] -= buffers.buffer_size[i] % CELL;
	return 0;
}

static int set_rule(struct net_device *dev, struct dcb_app *app)
{
	struct dcb_app old = *app;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= ARRAY_SIZE(priority))
		return -EINVAL;
	old.priority = priority[app->protocol];
	dcb_ieee_delapp(dev, &old);
	priority[app->protocol] = app->priority;
	return dcb_ieee_setapp(dev, app);
}

static int delete_rule(struct net_device *dev, struct dcb_app *app)
{
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= ARRAY_SIZE(priority))
		return -EINVAL;
	if (app->priority != priority[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(dev, app);
	priority[app->protocol] = 0;
	return err;
}

static u8 get_dcbx(struct net_device *dev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = get_queues,
	.ieee_setets = set_queues,
	.ieee_getpfc = get_flow,
	.ieee_setpfc = set_flow,
	.ieee_setapp = set_rule,
	.ieee_delapp = delete_rule,
	.dcbnl_getbuffer = get_buffers,
	.dcbnl_setbuffer = set_buffers,
	.getdcbx = get_dcbx,
};

static int get_tunable(struct net_device *dev, const struct ethtool_tunable *t, void *out)
{
	if (t->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EINVAL;
	*(u16 *)out = storm;
	return 0;
}

static int set_tunable(struct net_device *dev, const struct ethtool_tunable *t, const void *in)
{
	u16 ms = *(const u16 *)in;

	if (t->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EINVAL;
	if (ms == PFC_STORM_PREVENTION_AUTO)
		ms = 100;
	if (ms && (ms < 80 || ms > 8000))
		return -EINVAL;
	if (!answer(STORM) && !(ignore & STORM))
		storm = ms;
	return answer(STORM);
}

static const struct ethtool_ops tool_ops = {
	.get_tunable = get_tunable,
	.set_tunable = set_tunable,
};

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops net_ops = {
	.ndo_start_xmit = drop,
};

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &net_ops;
	dev->ethtool_ops = &tool_ops;
	dev->dcbnl_ops = &dcb_ops;
	eth_hw_addr_random(dev);
}

static int __init begin(void)
{
	int i, err;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		queues.prio_tc[i] = i;
		queues.tc_tx_bw[i] = 100;
		queues.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
	}
	queues.ets_cap = IEEE_8021QAZ_MAX_TCS;
	buffers.buffer_size[0] = 262016;
	card = alloc_netdev(0, "dcb0", NET_NAME_USER, setup);
	if (!card)
		return -ENOMEM;
	err = register_netdev(card);
	if (err)
		free_netdev(card);
	return err;
}

static void __exit end(void)
{
	unregister_netdev(card);
	free_netdev(card);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("an interface with data center bridging");
MODULE_LICENSE("GPL");
