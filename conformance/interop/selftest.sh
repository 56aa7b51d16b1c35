#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BINDIR: each of these wrong plugins must make the case that is named with it fail.
#
# A wrong plugin is the right one behind a few lines of shell. Prints ok / not ok lines; the last line is
# "N passed, N failed, N skipped".
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] && [ -d "$1" ] || {
	echo "usage: ${0##*/} BINDIR" >&2
	exit 2
}
REAL=$(cd "$1" && pwd)
export HELPERS="${HELPERS:-$REAL/../conformance/attach}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
n=0 passed=0 failed=0

# wrong CASE PROGRAM WHAT <<'EOF' lines before the real program EOF
wrong()
{
	n=$((n + 1))
	cp "$REAL"/{macvlan,railhead-ipam,railctl} "$work"
	{
		printf '#!/bin/bash\nin=$(cat)\nreal() { "%s" "$@" <<<"$in"; }\n' "$REAL/$2"
		cat
		echo 'real "$@"'
	} >"$work/new"
	chmod +x "$work/new"
	mv "$work/new" "$work/$2"
	if CNITOOL='' "$HERE/run.sh" "$work" "$1" >"$work/log" 2>&1; then
		echo "not ok $n - $1 must notice: $3"
		failed=$((failed + 1))
	elif grep -q '^not ok' "$work/log"; then
		echo "ok $n - $1 notices: $3"
		grep -m 1 '^  # ' "$work/log" | cut -c1-160
		passed=$((passed + 1))
	else
		echo "not ok $n - $1 did not run: $(tail -n 1 "$work/log")"
		failed=$((failed + 1))
	fi
}

wrong ctr_calls macvlan 'DEL without CNI_NETNS does nothing' <<'EOF'
[ "$CNI_COMMAND${CNI_NETNS:+ netns}" != DEL ] || exit 0
EOF
wrong ctr_killed_then_gc macvlan 'GC does nothing' <<'EOF'
[ "$CNI_COMMAND" != GC ] || exit 0
EOF
wrong ctr_killed_then_gc macvlan 'GC takes what is in use' <<'EOF'
[ "$CNI_COMMAND" != GC ] || in=$(jq -c '.["cni.dev/valid-attachments"] = []' <<<"$in")
EOF
wrong ctr_detached_leak railctl 'repair does nothing' <<'EOF'
[ "${2-}" != repair ] || exit 0
EOF
wrong cri_master_missing macvlan 'CNI_ARGS with unknown keys is refused' <<'EOF'
[[ $CNI_ARGS != *K8S_* ]] || { echo '{"cniVersion":"1.0.0","code":4,"msg":"what is this?"}'; exit 1; }
EOF
wrong cri_stop_and_remove_again macvlan 'DEL without CNI_NETNS is an error' <<'EOF'
[ "$CNI_COMMAND${CNI_NETNS:+ netns}" != DEL ] || exit 1
EOF
wrong podman_calls macvlan 'VERSION wants to see real values' <<'EOF'
[ "$CNI_COMMAND $CNI_NETNS" != "VERSION dummy" ] || exit 1
EOF
wrong podman_wishes macvlan 'the MAC address that was asked for is not given' <<'EOF'
CNI_ARGS=${CNI_ARGS/MAC=/NOMAC=}
EOF
wrong multus_attach railhead-ipam 'DEL keeps the address' <<'EOF'
[ "$CNI_COMMAND" != DEL ] || exit 0
EOF
wrong multus_attach macvlan 'DEL says something' <<'EOF'
[ "$CNI_COMMAND" != DEL ] || echo '{}'
EOF
wrong multus_runtime_config railhead-ipam 'the address that was asked for is not given' <<'EOF'
in=$(jq -c 'del(.runtimeConfig.ips)' <<<"$in")
EOF
wrong multus_same_nad_twice macvlan 'DEL of one interface takes another' <<'EOF'
[ "$CNI_COMMAND" != DEL ] || CNI_IFNAME=net2 real
EOF
wrong multus_add_fails macvlan 'a failed ADD and its DEL leave the interface' <<'EOF'
[ "$CNI_COMMAND" != DEL ] || exit 0
EOF

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
