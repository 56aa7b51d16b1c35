# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# wrong.sh: wrong plugins for suites sriov, vfio and vfio-rails; sourced by those that prove that they are caught.
WRONG=/tmp/wrong
mkdir -p $WRONG
ln -s "$BIN"/* $WRONG

tidy()
{
	local pf
	for pf in $(ip netns list | cut -d' ' -f1); do ip netns del "$pf"; done
	for pf in $PFS; do echo 0 >"/sys/class/net/$pf/device/sriov_numvfs"; done
	rm -rf /run/railhead /var/lib/railhead /run/work /etc/railhead/tiers.json
}
# wrong WHAT PART CHECK BODY: a plugin with this body; that check of that part (of suite sriov; vfio and vfio-rails
# are suites) must fail.
# CASES: parts that are looked at.
wrong()
{
	local suite=sriov plugin=sriov
	[[ " ${CASES:-$2} " == *" $2 "* ]] || return 0
	[[ $2 != vfio* ]] || suite=$2
	[ "$2" != vfio-rails ] || plugin=rails
	rm "$WRONG/$plugin"
	cat >"$WRONG/$plugin" <<-END
		#!/bin/bash
		conf=\$(cat)
		real() { "$BIN/$plugin" <<<"\$conf"; }
		after() { real; rc=\$?; [ \$CNI_COMMAND != "\$1" ] || "\${@:2}" >/dev/null 2>&1; exit \$rc; }
		without() { conf=\$(jq -c "del(.\$1)" <<<"\$conf"); real; }
		$4
	END
	chmod +x "$WRONG/$plugin"
	BIN=$WRONG CASES=$2 bash conformance/vm/suites/$suite.sh >/tmp/said 2>&1
	check "$2: $1 is caught" grep -E "^not ok [0-9]+ - $3$" /tmp/said
	ln -sf "$BIN/$plugin" "$WRONG/$plugin"
	tidy
}
