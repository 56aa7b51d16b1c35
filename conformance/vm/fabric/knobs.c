// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * knobs.c: debugfs. fabric/faults is in faults.c. Each function has a folder fabric/ADDRESS,
 * whatever driver it is bound to.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "conformance/vm/fabric/fabric.h"

static struct dentry *top;

/* A file of a function: show prints it, set takes a word of what was written. */
struct knob {
	const char *name;
	void (*show)(struct fab_function *f, struct seq_file *m);
	int (*set)(struct fab_function *f, char *text); /* NULL: cannot be written */
};

static const char *const states[] = { "auto", "down", "init", "armed", "active" };

static void state_show(struct fab_function *f, struct seq_file *m)
{
	seq_printf(m, "%s\n", states[f->state]);
}

static int state_set(struct fab_function *f, char *text)
{
	int state = match_string(states, ARRAY_SIZE(states), text);

	if (state < 0 || (!state && !f->pf))
		return -EINVAL;
	f->state = state;
	fab_event(f, fab_state(f) == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	return 0;
}

static void lid_show(struct fab_function *f, struct seq_file *m)
{
	seq_printf(m, "%u\n", f->lid);
}

static int lid_set(struct fab_function *f, char *text)
{
	int err = kstrtou16(text, 0, &f->lid);

	if (!err)
		fab_event(f, IB_EVENT_LID_CHANGE);
	return err;
}

static void sm_lid_show(struct fab_function *f, struct seq_file *m)
{
	seq_printf(m, "%u\n", f->sm_lid);
}

static int sm_lid_set(struct fab_function *f, char *text)
{
	int err = kstrtou16(text, 0, &f->sm_lid);

	if (!err)
		fab_event(f, IB_EVENT_SM_CHANGE);
	return err;
}

static void pkeys_show(struct fab_function *f, struct seq_file *m)
{
	int i;

	for (i = 0; i < FAB_PKEYS; i++)
		seq_printf(m, "0x%04x%c", f->pkeys[i], i < FAB_PKEYS - 1 ? ' ' : '\n');
}

static int pkeys_set(struct fab_function *f, char *text)
{
	u16 keys[FAB_PKEYS] = {};
	char *word;
	int n = 0;

	while ((word = strsep(&text, " ")) && *word) {
		if (n == FAB_PKEYS || kstrtou16(word, 0, &keys[n]))
			return -EINVAL;
		n++;
	}
	memcpy(f->pkeys, keys, sizeof(keys));
	fab_event(f, IB_EVENT_PKEY_CHANGE);
	return 0;
}

static void node_guid_show(struct fab_function *f, struct seq_file *m)
{
	seq_printf(m, "0x%016llx\n", f->node_guid);
}

static int node_guid_set(struct fab_function *f, char *text)
{
	return kstrtou64(text, 0, &f->node_guid);
}

static void port_guid_show(struct fab_function *f, struct seq_file *m)
{
	seq_printf(m, "0x%016llx\n", f->port_guid);
}

static int port_guid_set(struct fab_function *f, char *text)
{
	return kstrtou64(text, 0, &f->port_guid);
}

static void counts_show(struct fab_function *f, struct seq_file *m)
{
	int i;

	for (i = 0; i < FAB_OPS; i++)
		seq_printf(m, "%s %d\n", fab_op_names[i], atomic_read(&f->counts[i]));
}

static const struct knob knobs[] = {
	{ "state", state_show, state_set },
	{ "lid", lid_show, lid_set },
	{ "sm_lid", sm_lid_show, sm_lid_set },
	{ "pkeys", pkeys_show, pkeys_set },
	{ "node_guid", node_guid_show, node_guid_set },
	{ "port_guid", port_guid_show, port_guid_set },
	{ "counts", counts_show, NULL },
};

struct knob_file {
	struct fab_function *function;
	const struct knob *knob;
};

static int knob_show(struct seq_file *m, void *unused)
{
	const struct knob_file *k = m->private;

	k->knob->show(k->function, m);
	return 0;
}

static int knob_open(struct inode *inode, struct file *file)
{
	return single_open(file, knob_show, inode->i_private);
}

static ssize_t knob_write(struct file *file, const char __user *from, size_t length, loff_t *at)
{
	const struct knob_file *k = file_inode(file)->i_private;
	char text[160];
	int err;

	if (length >= sizeof(text) || !k->knob->set)
		return -EINVAL;
	if (copy_from_user(text, from, length))
		return -EFAULT;
	text[length] = 0;
	err = k->knob->set(k->function, strim(text));
	return err ?: length;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = knob_open,
	.read = seq_read,
	.write = knob_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static struct knob_file *files;

int fab_knobs_init(void)
{
	struct knob_file *file;
	struct dentry *folder;
	int i, n;

	files = kvcalloc(fab_count, ARRAY_SIZE(knobs) * sizeof(*files), GFP_KERNEL);
	if (!files)
		return -ENOMEM;
	top = debugfs_create_dir("fabric", NULL);
	debugfs_create_file("faults", 0600, top, NULL, &fab_faults_file);
	for (i = 0, file = files; i < fab_count; i++) {
		folder = debugfs_create_dir(fab_functions[i].address, top);
		for (n = 0; n < ARRAY_SIZE(knobs); n++, file++) {
			file->function = &fab_functions[i];
			file->knob = &knobs[n];
			debugfs_create_file(knobs[n].name, knobs[n].set ? 0600 : 0400, folder, file,
					    &operations);
		}
	}
	return 0;
}

void fab_knobs_exit(void)
{
	debugfs_remove(top);
	kvfree(files);
}
