# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# halt.sh: a process that stands still. Sourced by etcd.sh and kube.sh.

# halt PID: SIGSTOP, and until each of its threads has stopped. The kernel tells one thread, which stops the others; on a busy machine they
# may answer a request before.
halt()
{
	kill -STOP "$1" || return
	while grep -qvE '^[0-9]+ \(.*\) [TtZX] ' "/proc/$1/task"/*/stat 2>/dev/null; do sleep 0.005; done
}
