/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_store.c: one store of both, or none. The files of a kubeconfig must be root's, like
 * agent.json. The kubelet writes those of a pod's ServiceAccount, so they are not checked.
 */
#include "railheadd/conf/agent_store.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/kube/kube.h"

const char *agent_store_name(const struct agent_conf *conf)
{
	if (conf->has_kube)
		return "kubernetes";
	return conf->has_etcd ? "etcd" : "none";
}

static void log_stray(void *arg, const struct err *why)
{
	log_warn(arg, "the cluster store has an object that is not railhead's: %s", why->msg);
}

/* It costs much in a large cluster, so an operator learns of it. */
static void log_unselected(void *arg, const struct err *why)
{
	log_warn(arg, "%s (%s); all objects of the type are read instead", why->msg, why->detail);
}

static void log_renewed(void *arg, const struct err *why)
{
	if (why)
		log_warn(arg, "the old credentials stay, the new ones cannot be read: %s",
			 why->msg);
	else
		log_info(arg, "the credentials on disk have changed and are used from now on");
}

static int check_files(const struct kube_login *l, struct err *e)
{
	for (size_t i = 0; i < KUBE_LOGIN_FILES; i++)
		if (l->files[i].path && agent_files_trusted(l->files[i].path, e))
			return -1;
	return l->token_file ? agent_files_trusted(l->token_file, e) : 0;
}

int agent_store_login(const struct agent_conf_kube *c, struct kube_login *l, struct err *e)
{
	char *namespace;

	if (!c->kubeconfig) {
		if (kube_login_account(KUBE_ACCOUNT_DIR, getenv("KUBERNETES_SERVICE_HOST"),
				       getenv("KUBERNETES_SERVICE_PORT"), l, e))
			return -1;
	} else if (agent_files_trusted(c->kubeconfig, e) ||
		   kube_login_file(c->kubeconfig, c->context, l, e) || check_files(l, e)) {
		return -1;
	}
	if (!c->namespace)
		return 0;
	namespace = strdup(c->namespace);
	if (!namespace)
		return err_nomem(e);
	free(l->namespace);
	l->namespace = namespace;
	return 0;
}

static int open_kube(struct event_base *base, const struct log *log, const struct agent_files *f,
		     struct cluster_store **out, struct err *e)
{
	auto_kube_login struct kube_login l = { 0 };
	struct kube_conf conf = { .stray = log_stray,
				  .unselected = log_unselected,
				  .renewed = log_renewed };

	if (agent_store_login(&f->conf.kube, &l, e))
		return -1;
	conf.login = l;
	conf.arg = (void *)log;
	return kube_open(base, &conf, out, e);
}

/* The two stores of an agent share the files: whichever asks first reads them. */
static unsigned etcd_login(void *arg, struct etcd_login *out)
{
	struct agent_files *f = arg;
	struct err why;
	int rc = agent_files_renew(f, &why);

	if (rc)
		log_renewed((void *)f->log, rc < 0 ? &why : NULL);
	*out = (struct etcd_login){ { f->ca, f->cert, f->key }, f->password };
	return f->renewals;
}

int agent_store_open(struct event_base *base, const struct log *log, struct agent_files *f,
		     struct cluster_store **out, struct err *e)
{
	struct etcd_conf etcd;

	*out = NULL;
	if (f->conf.has_kube)
		return open_kube(base, log, f, out, e) ? err_wrap(e, "kubernetes") : 0;
	if (!f->conf.has_etcd)
		return 0;
	etcd = agent_files_etcd(f);
	etcd.stray = log_stray;
	etcd.stray_arg = (void *)log;
	etcd.login = etcd_login;
	etcd.login_arg = f;
	f->log = log;
	return etcd_open(base, &etcd, out, e) ? err_wrap(e, "etcd") : 0;
}
