# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# gpus.sh: a device plugin of the node, in the guest. Sourced there by calls.sh.
#
# It needs a Python that the node does not have, so it is a process of the guest beside the node.

GPUS_LOG=$W/gpus
gpus_begin() # RESOURCE ID...
{
	/usr/bin/python3 "$HERE/gpu_plugin.py" "$W/n1/disk/kubelet/device-plugins" "$@" >"$GPUS_LOG" 2>&1 </dev/null &
	echo $! >"$W/gpus.pid"
	eventually grep -q registered "$GPUS_LOG"
}
gpus_end()
{
	[ ! -e "$W/gpus.pid" ] || kill "$(<"$W/gpus.pid")"
	rm -f "$W/gpus.pid"
}
