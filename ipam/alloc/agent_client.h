/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_client.h: ask the node agent, and wait for its answer.
 *
 * The socket is <run_dir>/agent.sock. The program behind it must be root's: another user could have
 * made the socket, if the folder was open by mistake.
 */
#ifndef RAILHEAD_IPAM_ALLOC_AGENT_CLIENT_H
#define RAILHEAD_IPAM_ALLOC_AGENT_CLIENT_H

#include "ipam/alloc/agent_wire.h"
#include "ipam/alloc/agent_need.h"
#include "ipam/alloc/hint.h"
#include "lib/base/ip.h"

/*
 * agent_client_call - send a request, and wait for the answer at most wait_ms. *result becomes the
 * object of the answer; the caller frees it. Errors: the agent's own; ERR_AGAIN if no agent runs on
 * this node, or it gives no answer in time, with a hint; ERR_FORBIDDEN: the socket is not the
 * agent's.
 */
int agent_client_call(const struct ctx *ctx, const struct agent_call *call, int64_t wait_ms,
		      struct json **result, struct err *e) must_check;

/*
 * agent_client_need - so many addresses of a shared pool are needed on this node. 0: the node has
 * got addresses since; try again. ERR_EXHAUSTED: the pool is full. ERR_AGAIN: the cluster store is
 * away, the pod of the identity lives elsewhere, or as above.
 */
int agent_client_need(const struct ctx *ctx, const struct agent_need *need,
		      struct err *e) must_check;

/*
 * agent_client_need_address - the block of this address is needed. 0: this node has it, try again.
 * ERR_BUSY: another node has it. ERR_AGAIN: as above. ERR_FIELD: an older agent.
 */
int agent_client_need_address(const struct ctx *ctx, const char *pool, struct ip ip,
			      int64_t wait_ms, struct err *e) must_check;

/*
 * agent_client_pools - all pools of the cluster and their blocks; *answer is what
 * `railctl cluster pool list --json` prints, and the caller frees it. The agent reads two lists of
 * the cluster store, each with a time of its own.
 */
int agent_client_pools(const struct ctx *ctx, struct json **answer, struct err *e) must_check;

/*
 * agent_client_find - which node may have assigned an address of a shared pool; *answer is what
 * `cluster` of `railctl ipam who --json` has, and the caller frees it.
 */
int agent_client_find(const struct ctx *ctx, const char *address, struct json **answer,
		      struct err *e) must_check;

/*
 * agent_client_repair - a GC has run: the agent may look for what else dead pods left. Nothing is
 * reported; without an agent, or with a busy one, it costs at most 200 ms.
 */
void agent_client_repair(const struct ctx *ctx);

/*
 * agent_client_tell - an ADD or a DEL has ended, which began its work in the store at `since` (as
 * ctx_since_boot() has it); failed NULL: it succeeded. See hint_send().
 */
void agent_client_tell(const struct ctx *ctx, enum hint_after after, int64_t since,
		       const struct err *failed);

#endif
