/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: railheadd: options, signals, and the order of begin and end. */
#include <event2/event.h>
#include <signal.h>
#include <unistd.h>

#include "ipam/lease/session.h"
#include "lib/cli/cmd.h"
#include "railheadd/conf/agent_store.h"
#include "railheadd/pools/kubenode.h"
#include "railheadd/metrics/metrics.h"
#include "railheadd/pools/nodes.h"
#include "railheadd/pools/reclaim.h"
#include "railheadd/calls.h"
#include "railheadd/socket.h"
#include "railheadd/watch/transport_look.h"

/* Before a request is repeated; it grows. */
#define RETRY INT64_C(100000000)
/* A look at the rails reads some files of sysfs. */
#define RAILS_MS         30000
#define RAILS_CONFIRM_MS 60000

struct agent_program {
	struct event_base *base;
	int lock; /* of this node's agent; -1: not taken */
	struct agent_files files;
	struct ipam ipam;
	struct driver *driver;
	struct nodes *nodes;
	struct kubenode *kubenode; /* NULL: the cluster store has no Nodes */
	struct reserved *reserved; /* NULL: no cluster store */
	struct repairer *repairer;
	struct plugin_watch *plugins;
	struct rail_watch *rails;
	struct transport_watch *transports;
	struct neighbour_watch *neighbours;
	struct calls_to calls;
	struct reclaim *reclaim; /* NULL: it does not take blocks of dead nodes */
	struct server *server;
	struct hints *hints;
	struct histogram latency[HINT_OUTCOMES];
	struct metrics *metrics;
	struct event *signals[2];
};

static void asked_to_end(evutil_socket_t number, short what, void *arg)
{
	(void)number;
	(void)what;
	(void)event_base_loopbreak(arg);
}

static int wait_for_signals(struct agent_program *p, struct err *e)
{
	static const int numbers[] = { SIGTERM, SIGINT };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		p->signals[i] = evsignal_new(p->base, numbers[i], asked_to_end, p->base);
		if (!p->signals[i] || event_add(p->signals[i], NULL))
			return err_nomem(e);
	}
	/* A peer that has gone is seen where it is written to. */
	(void)signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int start_repairer(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct agent_conf_repair *c = &p->files.conf.repair;
	const struct repairer_conf conf = {
		.base = p->base,
		.ctx = ctx,
		.every = c->every,
		.grace = c->grace,
		.events = driver_events(p->driver),
	};

	return c->every ? repairer_new(&conf, &p->repairer, e) : 0;
}

static int start_plugins(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct agent_conf_plugins *c = &p->files.conf.plugins;
	const struct plugin_watch_conf conf = {
		.base = p->base,
		.ctx = ctx,
		.events = driver_events(p->driver),
		.folder = c->folder,
		.restore_from = c->restore_from,
		.chain = c->chain,
		.every = c->every,
	};

	return c->folder ? plugin_watch_new(&conf, &p->plugins, e) : 0;
}

static int start_rails(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct agent_conf_rails *c = &p->files.conf.rails;
	const struct rail_watch_conf conf = {
		.base = p->base,
		.ctx = ctx,
		.events = driver_events(p->driver),
		.except = c->except,
		.repairer = p->repairer,
		.every = c->every,
		.confirm = RAILS_CONFIRM_MS,
		.deadline_ms = RAILS_MS,
	};

	return c->every ? rail_watch_new(&conf, &p->rails, e) : 0;
}

static int start_transports(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct transport_watch_conf conf = {
		.base = p->base,
		.ctx = ctx,
		.events = driver_events(p->driver),
		.every = p->files.conf.transport.every,
		.limit = p->files.conf.transport.limit,
		.run = transport_look_main,
		.deadline_ms = RAILS_MS,
	};

	return conf.every ? transport_watch_new(&conf, &p->transports, e) : 0;
}

static void report_rails(void *program, struct json *rails)
{
	const struct agent_program *p = program;
	struct err e;

	/* Without memory what stands there stays. */
	if (rails && rail_watch_mark(p->rails, rails, &e)) {
		json_free(rails);
		return;
	}
	driver_rails(p->driver, rails);
}

static int start_neighbours(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct neighbour_watch_conf conf = {
		.base = p->base,
		.ctx = ctx,
		.report = report_rails,
		.arg = p,
		.every = p->files.conf.fabric_every,
		.deadline_ms = RAILS_MS,
	};

	if (conf.every)
		return neighbour_watch_new(&conf, &p->neighbours, e);
	/* An earlier agent may have written some. */
	driver_rails(p->driver, json_new_array());
	return 0;
}

/* With a connection of its own: the requests of the node must not wait for it. */
static int start_reclaim(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct agent_conf *c = &p->files.conf;
	struct reclaim_conf conf = { .ctx = ctx,
				     .base = p->base,
				     .node = p->files.node,
				     .hold = c->hold,
				     .look = c->renew,
				     .state = driver_pool_report,
				     .arg = p->driver };

	if (agent_store_open(p->base, &ctx->log, &p->files, &conf.store, e))
		return -1;
	if (conf.store)
		return reclaim_new(&conf, &p->reclaim, e);
	err_set(e, ERR_CONFIG, 0, "--reclaim: this agent has no cluster store");
	return err_hint(e, "name it in /etc/railhead/agent.json");
}

static int start_metrics(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct metrics_conf conf = {
		.base = p->base,
		.ctx = ctx,
		.port = p->files.conf.metrics_listen,
		.from = { .driver = p->driver,
			  .repairer = p->repairer,
			  .plugins = p->plugins,
			  .rails = p->rails,
			  .transports = p->transports,
			  .devices = &p->calls.devices,
			  .ipam = &p->ipam,
			  .latency = p->latency },
	};

	return p->files.conf.metrics ? metrics_new(&conf, &p->metrics, e) : 0;
}

static int start_kubenode(struct agent_program *p, const struct ctx *ctx,
			  struct cluster_store *store, struct err *e)
{
	const struct kubenode_conf conf = { ctx, p->base, store, p->driver, p->files.node };

	return store && store->ops->has_nodes ? kubenode_new(&conf, &p->kubenode, e) : 0;
}

static int start_reserved(struct agent_program *p, const struct ctx *ctx,
			  struct cluster_store *store, struct err *e)
{
	const struct reserved_conf conf = { ctx,       p->base,       store,           &p->ipam,
					    p->driver, p->files.node, RESERVED_LOOK_MS };

	return store ? reserved_new(&conf, &p->reserved, e) : 0;
}

static int main_start(struct agent_program *p, const struct ctx *ctx, bool reclaims, struct err *e)
{
	const struct agent_conf *c = &p->files.conf;
	struct driver_conf conf = { .ctx = ctx,
				    .base = p->base,
				    .ipam = &p->ipam,
				    .node = p->files.node,
				    .hold = c->hold,
				    .renew = c->renew,
				    .retry = RETRY,
				    .strict = c->strict,
				    .reserves = true };

	/* First: an agent that runs beside another one must not even read the store of the node. */
	p->lock = socket_lock(ctx, e);
	if (p->lock < 0 || ipam_open(ctx, NULL, true, &p->ipam, e) ||
	    agent_store_open(p->base, &ctx->log, &p->files, &conf.store, e) ||
	    driver_new(&conf, &p->driver, e) || (reclaims && start_reclaim(p, ctx, e)) ||
	    wait_for_signals(p, e))
		return -1;
	if (nodes_new(&(struct nodes_conf){ ctx, p->base, conf.store, p->files.node, conf.renew },
		      &p->nodes, e) ||
	    start_reserved(p, ctx, conf.store, e) || start_kubenode(p, ctx, conf.store, e) ||
	    start_repairer(p, ctx, e) || start_plugins(p, ctx, e) || start_rails(p, ctx, e) ||
	    start_transports(p, ctx, e) || start_neighbours(p, ctx, e))
		return -1;
	p->calls =
		(struct calls_to){ p->driver,     p->base,
				   conf.store,    p->nodes,
				   p->repairer,   p->plugins,
				   p->rails,      p->transports,
				   p->neighbours, { ctx, c->devices.resources, c->devices.kubelet },
				   p->reserved,   p->latency,
				   p->files.node };
	/* Late: who finds the socket is answered. Its lock is that of the agent. */
	if (server_new(&(struct server_conf){ p->base, ctx, calls_answer, &p->calls }, &p->server,
		       e) ||
	    hints_new(&(struct hints_conf){ p->base, ctx, calls_hint, &p->calls }, &p->hints, e))
		return -1;
	return start_metrics(p, ctx, e);
}

static void main_stop(struct agent_program *p)
{
	metrics_free(p->metrics);
	hints_free(p->hints);
	server_free(p->server);
	repairer_free(p->repairer);
	plugin_watch_free(p->plugins);
	rail_watch_free(p->rails);
	transport_watch_free(p->transports);
	neighbour_watch_free(p->neighbours);
	reclaim_free(p->reclaim);
	/* The driver closes the cluster store. */
	nodes_free(p->nodes);
	kubenode_free(p->kubenode);
	reserved_free(p->reserved);
	driver_free(p->driver);
	if (p->ipam.store)
		ipam_close(&p->ipam);
	for (size_t i = 0; i < ARRAY_SIZE(p->signals); i++) {
		if (p->signals[i])
			event_free(p->signals[i]);
	}
	agent_files_clear(&p->files);
	if (p->base)
		event_base_free(p->base);
	if (p->lock >= 0)
		(void)close(p->lock);
}

static int main_serve(struct agent_program *p, const struct ctx *ctx, struct err *e)
{
	const struct err *why;

	log_info(&ctx->log, "node %s, cluster store: %s", p->files.node,
		 agent_store_name(&p->files.conf));
	if (event_base_dispatch(p->base) < 0)
		return err_set(e, ERR_IO, 0, "the event loop ended");
	why = driver_failed(p->driver);
	if (!why)
		return 0;
	return err_pass(e, why);
}

static int railheadd_main_run(struct cmd_run *r, struct err *e)
{
	struct agent_program p = { .base = event_base_new(), .lock = -1 };
	int rc = -1;

	r->ctx.log.level = opt_is_set(&r->opts, "debug") ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
	if (!p.base)
		(void)err_nomem(e);
	else if (agent_files_load(&r->ctx, opt_get(&r->opts, "config"), true, &p.files, e) == 0 &&
		 main_start(&p, &r->ctx, opt_is_set(&r->opts, "reclaim"), e) == 0)
		rc = main_serve(&p, &r->ctx, e);
	main_stop(&p);
	return rc;
}

static const struct opt options[] = {
	{ "config", "FILE", "read this file, not /etc/railhead/agent.json", 0 },
	{ "debug", NULL, "log more", 0 },
	{ "reclaim", NULL, "also free the blocks of forgotten nodes, and report how full pools are",
	  0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railheadd",
	"railheadd --config /etc/railhead/agent.json",
	"railheadd --reclaim",
	NULL,
};

static const struct cmd root = {
	.name = "railheadd",
	.summary = "give this node blocks of the shared pools",
	.about =
		"railheadd is the node agent. It runs until SIGTERM. It claims blocks of addresses "
		"in the cluster store and returns them when they are idle. Pods start without it "
		"as "
		"long as their node has free addresses.",
	.examples = examples,
	.opts = { options },
	.run = railheadd_main_run,
};

static const struct opt globals[] = {
	CMD_OPT_JSON, CMD_OPT_NO_COLOR, CMD_OPT_HELP, CMD_OPT_VERSION, { NULL, NULL, NULL, 0 },
};

int main(int argc, char **argv)
{
	static const struct cmd_program program = { &root, globals, NULL, NULL, true };

	(void)argc;
	return cmd_main(&program, argv, NULL);
}
