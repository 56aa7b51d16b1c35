// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * faults.c: rules by which operations fail, are slow, or are held until somebody releases them.
 * debugfs: fabric/faults.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "conformance/vm/fabric/fabric.h"

const char *const fab_op_names[FAB_OPS] = {
	[FAB_PROBE] = "probe",
	[FAB_REMOVE] = "remove",
	[FAB_NUMVFS] = "numvfs",
	[FAB_REGISTER] = "register",
	[FAB_SET_NODE_GUID] = "set_node_guid",
	[FAB_SET_PORT_GUID] = "set_port_guid",
	[FAB_GET_VF_GUID] = "get_vf_guid",
	[FAB_GET_VF_CONFIG] = "get_vf_config",
	[FAB_SET_VF_LINK] = "set_vf_link",
	[FAB_QUERY_PORT] = "query_port",
	[FAB_QUERY_GID] = "query_gid",
	[FAB_QUERY_PKEY] = "query_pkey",
	[FAB_INTERFACE] = "interface",
	[FAB_UCONTEXT] = "ucontext",
	[FAB_SA_JOIN] = "sa_join",
	[FAB_SA_PATH] = "sa_path",
};

struct rule {
	struct list_head list;
	enum fab_op op;
	char address[16]; /* "*": of all functions */
	int error;        /* positive, 0: none */
	unsigned int delay, skip, times;
	bool hold;
	unsigned int hits, held;
	bool gone; /* no longer in the list; the last user frees it */
	unsigned int users;
};

static LIST_HEAD(rules);
static DEFINE_MUTEX(mutex); /* of the list and the rules */
static DECLARE_WAIT_QUEUE_HEAD(released);

static bool applies(struct rule *r, const struct fab_function *f, enum fab_op op)
{
	if (r->op != op || (strcmp(r->address, "*") && strcmp(r->address, f->address)))
		return false;
	if (r->skip) {
		r->skip--;
		return false;
	}
	return !r->times || r->hits < r->times;
}

static void put(struct rule *r)
{
	r->users--;
	if (r->gone && !r->users)
		kfree(r);
}

static void drop(struct rule *r)
{
	list_del(&r->list);
	r->gone = true;
	r->users++;
	put(r);
}

static int obey(struct rule *r)
{
	unsigned int delay = r->delay;
	bool hold = r->hold;
	int error = -r->error;

	r->users++;
	r->hits++;
	r->held += hold;
	mutex_unlock(&mutex);
	if (delay)
		msleep(delay);
	if (hold)
		wait_event_idle(released, READ_ONCE(r->gone));
	mutex_lock(&mutex);
	r->held -= hold;
	put(r);
	return error;
}

int fab_fault(struct fab_function *f, enum fab_op op)
{
	struct rule *r;
	int error = 0;

	atomic_inc(&f->counts[op]);
	mutex_lock(&mutex);
	list_for_each_entry(r, &rules, list)
		if (applies(r, f, op)) {
			error = obey(r);
			break;
		}
	mutex_unlock(&mutex);
	return error;
}

/* drop_all: those of the operation (FAB_OPS: of all) and address. */
static void drop_all(enum fab_op op, const char *address)
{
	struct rule *r, *next;

	mutex_lock(&mutex);
	list_for_each_entry_safe(r, next, &rules, list)
		if (op == FAB_OPS || (r->op == op && !strcmp(r->address, address)))
			drop(r);
	mutex_unlock(&mutex);
	wake_up_all(&released);
}

static int number(char **words, unsigned int *into)
{
	char *word = strsep(words, " ");

	return word ? kstrtouint(word, 0, into) : -EINVAL;
}

static int options(struct rule *r, char *words)
{
	unsigned int error = 0;
	char *word;
	int err = 0;

	while (!err && (word = strsep(&words, " ")) && *word) {
		if (!strcmp(word, "error"))
			err = number(&words, &error);
		else if (!strcmp(word, "delay"))
			err = number(&words, &r->delay);
		else if (!strcmp(word, "skip"))
			err = number(&words, &r->skip);
		else if (!strcmp(word, "times"))
			err = number(&words, &r->times);
		else if (!strcmp(word, "hold"))
			r->hold = true;
		else
			err = -EINVAL;
	}
	r->error = error;
	return err;
}

/* command: "clear", "release OP ADDRESS", or a rule "OP ADDRESS [error N] [delay MS] [hold] [skip
 * N] [times N]". */
static int command(char *words)
{
	char *word = strsep(&words, " "), *address;
	bool release = word && !strcmp(word, "release");
	struct rule *r;
	int op, err;

	if (!strcmp(word, "clear")) {
		drop_all(FAB_OPS, NULL);
		return 0;
	}
	if (release)
		word = strsep(&words, " ");
	op = word ? match_string(fab_op_names, FAB_OPS, word) : -EINVAL;
	address = strsep(&words, " ");
	if (op < 0 || !address || strlen(address) >= sizeof(r->address))
		return -EINVAL;
	if (release) {
		drop_all(op, address);
		return 0;
	}
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	r->op = op;
	strscpy(r->address, address, sizeof(r->address));
	err = options(r, words);
	if (err) {
		kfree(r);
		return err;
	}
	mutex_lock(&mutex);
	list_add_tail(&r->list, &rules);
	mutex_unlock(&mutex);
	return 0;
}

static ssize_t faults_write(struct file *file, const char __user *from, size_t length, loff_t *at)
{
	char text[128];
	int err;

	if (length >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, length))
		return -EFAULT;
	text[length] = 0;
	err = command(strim(text));
	return err ?: length;
}

static int faults_show(struct seq_file *m, void *unused)
{
	struct rule *r;

	mutex_lock(&mutex);
	list_for_each_entry(r, &rules, list)
		seq_printf(m, "%s %s error %d delay %u%s skip %u times %u hits %u held %u\n",
			   fab_op_names[r->op], r->address, r->error, r->delay,
			   r->hold ? " hold" : "", r->skip, r->times, r->hits, r->held);
	mutex_unlock(&mutex);
	return 0;
}

static int faults_open(struct inode *inode, struct file *file)
{
	return single_open(file, faults_show, NULL);
}

const struct file_operations fab_faults_file = {
	.owner = THIS_MODULE,
	.open = faults_open,
	.read = seq_read,
	.write = faults_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void fab_faults_clear(void)
{
	drop_all(FAB_OPS, NULL);
}
