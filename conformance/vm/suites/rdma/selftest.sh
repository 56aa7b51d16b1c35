# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# selftest.sh: a suite of its own: wrong builds of the plugin rdma, each of which suite rdma must catch. They are
# in $BIN/mutants, made by conformance/vm/selftest.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
WRONG=/tmp/wrong
# A short limit: the events that a wrong build omits never come.
export LAST_RESORT=60
mkdir -p $WRONG
ln -s "$BIN"/* $WRONG

# caught MUTANT CHECK: with that build, this check of suite rdma fails.
caught()
{
	ln -sf "$BIN/mutants/rdma.$1" $WRONG/rdma
	BIN=$WRONG bash conformance/vm/suites/rdma.sh >/tmp/said 2>&1
	check "$1 is caught" eval 'grep -E "^not ok [0-9]+ - $2\$" /tmp/said || { cat /tmp/said && false; }'
	ip -all netns delete
	for device in $(rdma -j link | jq -r '.[].ifname'); do rdma link delete "$device"; done
	ip link del bond0 2>/dev/null
	rdma system set netns shared
	rm -rf /run/railhead /var/lib/railhead
}
caught first-device "has the device of its own card"
caught no-wait "ADD waits for an address that comes late"
finish
