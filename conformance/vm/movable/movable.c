// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * movable.c: a module for the guest that lets software RDMA devices move between network namespaces, like
 * devices of real cards. rxe itself allows this since Linux 7.3. The kernel moves a device only if its driver
 * can disassociate it from its users (disassociate_ucontext); rxe needs no code for that.
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static void nothing(struct ib_ucontext *context)
{
}

static int add(struct ib_device *device)
{
	if (!device->ops.disassociate_ucontext)
		device->ops.disassociate_ucontext = nothing;
	return 0;
}

static void leave(struct ib_device *device, void *data)
{
}

static struct ib_client client = { .name = "movable", .add = add, .remove = leave };

static int __init begin(void)
{
	return ib_register_client(&client);
}

static void __exit end(void)
{
	ib_unregister_client(&client);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("RDMA devices of software move between network namespaces");
MODULE_LICENSE("GPL");
