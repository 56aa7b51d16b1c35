/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_change.c: renames RDMA devices, moves them to another network namespace, and sets the
 * mode of the system (shared or exclusive).
 */
#include <errno.h>
#include <string.h>

#include "lib/net/nl_msg.h"
#include "lib/device/rdma.h"
#include "lib/device/rdma_compat.h"

static void begin_set(struct nl_req *rq, uint32_t index)
{
	nl_req_begin(rq, (int)RDMA_NLMSG(RDMA_NLDEV_CMD_SET), 0, "", 0);
	nl_req_put_u32(rq, RDMA_NLDEV_ATTR_DEV_INDEX, index);
}

/* The kernel cuts a longer one, and takes "mlx5_%d" for a pattern in some of its functions. */
static int rdma_change_check_name(const char *name, struct err *e)
{
	size_t len = strlen(name);

	if (len && len < RDMA_NAME_LEN && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	    !strpbrk(name, "/%:") && strcspn(name, " \t\n\r\f\v") == len)
		return 0;
	return err_set(e, ERR_FIELD, 0, "\"%.80s\" is not a name for an RDMA device", name);
}

int nl_rdma_rename(struct nl *nl, uint32_t index, const char *name, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };

	if (rdma_change_check_name(name, e))
		return -1;
	begin_set(&rq, index);
	nl_req_put_str(&rq, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return nl_request(nl, &rq, e)
		       ? err_wrap(e, "rename RDMA device number %u to %s", index, name)
		       : 0;
}

static void hint_move(struct err *e)
{
	if (e->errnum == EOPNOTSUPP)
		(void)err_hint(e, "RDMA devices can be moved only in mode exclusive. Their driver "
				  "must support it: mlx4, mlx5, bnxt_re, irdma, hns, erdma, mana; "
				  "rxe since Linux 7.3; siw does not");
	else if (e->errnum == EEXIST)
		(void)err_hint(e, "the network namespace has an RDMA device of that name");
	else if (e->errnum == EINVAL || e->errnum == ENODEV)
		(void)err_hint(e, "the device is no longer in the network namespace it was in");
}

int nl_rdma_move(struct nl *nl, uint32_t index, const struct netns *target, const char *name,
		 struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };

	if (name && rdma_change_check_name(name, e))
		return -1;
	begin_set(&rq, index);
	nl_req_put_u32(&rq, RDMA_NLDEV_NET_NS_FD, (uint32_t)target->fd);
	if (name)
		nl_req_put_str(&rq, RDMA_NLDEV_ATTR_DEV_NAME, name);
	if (nl_request(nl, &rq, e) == 0)
		return 0;
	if (e->code == ERR_KERNEL)
		hint_move(e);
	return err_wrap(e, "move RDMA device number %u", index);
}

int nl_rdma_sys_set(struct nl *nl, enum rdma_mode mode, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	uint8_t value = (uint8_t)mode;

	nl_req_begin(&rq, (int)RDMA_NLMSG(RDMA_NLDEV_CMD_SYS_SET), 0, "", 0);
	nl_req_put(&rq, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &value, sizeof(value));
	if (nl_request(nl, &rq, e) == 0)
		return 0;
	if (e->errnum == EBUSY)
		(void)err_hint(e, "the kernel changes it only while there is no network namespace "
				  "beside the first one: not on a host that runs containers, but "
				  "at boot");
	return err_wrap(e, "set the mode of the RDMA subsystem to %s", rdma_mode_name(mode));
}
