/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h: the jobs of the device plugin that may take long, each in a child of its own. Their
 * input is a question of ask.h.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_CHILD_H
#define RAILHEAD_RAILHEADD_DEVICES_CHILD_H

#define CHILD_REGISTER_MS 20000 /* the kubelet connects to us for up to 10 s before it answers */

/*
 * child_look - read the configurations and look at the devices. child_publish - write the files
 * about devices. child_allocate - what containers get. child_register - call the kubelet. Functions
 * for job_conf.run; they return the exit status.
 */
int child_look(void);
int child_publish(void);
int child_allocate(void);
int child_register(void);

#endif
