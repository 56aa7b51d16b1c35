#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD [ENGINE [CASE]]: the contract of a cluster store against the real engines, each in a sandbox of its own.
#
# Engines, of Debian's packages in $ENGINES (build/engines): etcd-3.4 and etcd-3.5. etcd-3.4-tls and etcd-3.5-tls have TLS with
# client certificates, user and password. etcd-3.5-three has three members, which are killed in turn. CASE is the name of a test of the contract. Without the packages, nothing is
# tested, and the last line is "skipped: reason". kubernetes is a real API server over etcd-3.5, built by
# ../cluster/programs/build.sh in $CLUSTER (build/cluster); where Go modules are not available it counts as one skip. etcd-3.6 is built
# in the same way, and runs only if it is named (make cluster-store-3.6).
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=conformance/cluster-store/certificates.sh
. "$HERE/certificates.sh"
ALL='etcd-3.4 etcd-3.4-tls etcd-3.5 etcd-3.5-tls etcd-3.5-three kubernetes'

# users: root, and agent with all rights below /contract/, guest with none.
users()
{
	local ask=(curl -sf "${curl[@]}") to=$url/v3/auth end
	end=$(printf /contract0 | base64)
	"${ask[@]}" "$to/user/add" -d '{"name":"root","password":"root"}' &&
		"${ask[@]}" "$to/user/add" -d '{"name":"agent","password":"secret \"1\""}' &&
		"${ask[@]}" "$to/user/add" -d '{"name":"guest","password":"guest"}' &&
		"${ask[@]}" "$to/role/add" -d '{"name":"root"}' && "${ask[@]}" "$to/role/add" -d '{"name":"agent"}' &&
		"${ask[@]}" "$to/role/grant" -d "{\"name\":\"agent\",\"perm\":{\"permType\":\"READWRITE\",
			\"key\":\"$(printf /contract/ | base64)\",\"range_end\":\"$end\"}}" &&
		"${ask[@]}" "$to/user/grant" -d '{"user":"root","role":"root"}' &&
		"${ask[@]}" "$to/user/grant" -d '{"user":"agent","role":"agent"}' &&
		"${ask[@]}" "$to/enable" -d '{}' && touch "$W/root"
}

# kubernetes: an API server with TLS, RBAC and tokens of ServiceAccounts.
kubernetes()
{
	export KUBE_FOLDER=$W CLUSTER_CONTROL=$HERE/kube.sh KUBE=$CLUSTER/bin
	certificates && certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth' &&
		"$HERE/kube.sh" setup && "$HERE/kube.sh" contract
}

prepare() # ENGINE: the files that etcd.sh reads, and the variables of the test program
{
	local program=$ENGINES/${1%-tls} url=http://127.0.0.1:2379 curl=(--max-time 10) options=()
	export ETCD_ENDPOINT ETCD_CA='' ETCD_CERT='' ETCD_KEY='' ETCD_USER='' ETCD_PASSWORD=''
	if [[ $1 == *-tls ]]; then
		certificates || return
		url=https://127.0.0.1:2379
		curl+=(--cacert "$W/ca.pem" --cert "$W/client.pem" --key "$W/client.key")
		options=(--cert-file "$W/server.pem" --key-file "$W/server.key" --trusted-ca-file "$W/ca.pem" --client-cert-auth
			--bcrypt-cost 4)
		ETCD_CA=$W/ca.pem ETCD_CERT=$W/client.pem ETCD_KEY=$W/client.key ETCD_USER=agent ETCD_PASSWORD='secret "1"'
	fi
	ETCD_ENDPOINT=$url
	# the data is in memory, so nothing waits for a disk
	printf '%s\n' env -u ETCD_ENDPOINT -u ETCD_CA -u ETCD_CERT -u ETCD_KEY -u ETCD_USER -u ETCD_PASSWORD "$program" \
		--data-dir "$W/data" --listen-client-urls "$url" --advertise-client-urls "$url" \
		--listen-peer-urls http://127.0.0.1:2380 --log-level warn --experimental-watch-progress-notify-interval 1s "${options[@]}" >"$W/command"
	printf '%s\n' "${curl[@]}" >"$W/curl"
	echo "$url" >"$W/url"
	"$HERE/etcd.sh" start || return
	[[ $1 != *-tls ]] || users >"$W/users" || { echo "no users: $(tail -n 3 "$W/users")"; return 1; }
}

# three PROGRAM: three members; ETCD_MEMBERS has their addresses.
three()
{
	local n url peer all=1=http://127.0.0.1:2380,2=http://127.0.0.1:2480,3=http://127.0.0.1:2580
	export ETCD_MEMBERS='http://127.0.0.1:2379 http://127.0.0.1:2479 http://127.0.0.1:2579'
	printf '%s\n' --max-time 10 >"$W/curl"
	for n in 1 2 3; do
		url=http://127.0.0.1:2$((n + 2))79 peer=http://127.0.0.1:2$((n + 2))80
		printf '%s\n' env -u ETCD_MEMBERS "$1" --name $n --data-dir "$W/data.$n" --listen-client-urls "$url" \
			--advertise-client-urls "$url" --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
			--initial-cluster "$all" --log-level warn >"$W/command.$n"
		echo "$url" >"$W/url.$n"
		"$HERE/etcd.sh" spawn $n
	done
	for n in 1 2 3; do "$HERE/etcd.sh" ready $n || return; done
}

one() # ENGINE BUILD [CASE]: inside a sandbox
{
	local program programs=(etcd/etcd etcd/copies) rc=0
	export W=/run/work/$1 CLUSTER_CONTROL=$HERE/etcd.sh
	mkdir -p "$W"
	case $1 in
	kubernetes) kubernetes ;;
	*-three) programs=(etcd/etcd) && three "$ENGINES/${1%-three}" ;;
	*) prepare "$1" ;;
	esac || { echo "not ok $1: it does not start"; return 1; }
	[ -z "${3-}" ] || export CK_RUN_CASE=$3
	[ "$1" != kubernetes ] || programs=(kube/kube kube/list)
	for program in "${programs[@]}"; do program "$1" "$2/test/cluster/${program}_engine_test" || rc=1; done
	return $rc
}

program() # ENGINE PROGRAM
{
	local reported
	rm -f "$W/tap"
	CK_TAP_LOG_FILE_NAME=$W/tap CK_VERBOSITY=silent "$2" >"$W/out" 2>&1
	[ -s "$W/tap" ] || { echo "not ok $1: the test program printed nothing"; tail -n 20 "$W/out"; return 1; }
	sed -n "s/^ok [0-9]* - [^:]*:[^:]*:\([a-z0-9_]*\): .*/ok $1 \1/p; s/^not ok [0-9]* - \([^:]*:\)\([^:]*:\)\([a-z0-9_]*\): /not ok $1 \3: /p" "$W/tap"
	reported=$(grep -cE '^(not )?ok ' "$W/tap")
	[ "1..$reported" = "$(grep -m 1 '^1\.\.' "$W/tap")" ] || echo "not ok $1: $reported cases of $(grep -m 1 '^1\.\.' "$W/tap")"
	grep -q '^not ok' "$W/tap" || return 0
	sed 's/^/# /' "$W/out" | tail -n 20
	cat "$W"/log* | sed 's/^/# engine: /' | tail -n 10
	return 1
}

if [ "${1-}" = --one ]; then
	shift
	one "$@"
	exit
fi
BUILD=$(cd "${1:?usage: run.sh BUILD [ENGINE [CASE]]}" && pwd)
export ENGINES=${ENGINES:-build/engines}
"$HERE/fetch.sh" "$ENGINES"
case $? in
0) ;;
3)
	echo "0 passed, 0 failed, 0 skipped"
	echo "skipped: Debian's packages of etcd are not available here"
	exit
	;;
*) exit 1 ;;
esac
ENGINES=$(cd "$ENGINES" && pwd)
CASE=${3-} skipped=0
# shellcheck disable=SC2086 # words on purpose
set -- ${2:-$ALL}
export CLUSTER=${CLUSTER:-build/cluster}
if [[ " $* " == *" etcd-3.6 "* ]]; then
	"$HERE/../cluster/programs/build.sh" "$CLUSTER" etcd
	case $? in
	0) ln -sf "$(cd "$CLUSTER" && pwd)/bin/server" "$ENGINES/etcd-3.6" ;;
	3)
		echo "0 passed, 0 failed, 0 skipped"
		echo "skipped: Go modules are not available here"
		exit
		;;
	*) exit 1 ;;
	esac
fi
if [[ " $* " == *" kubernetes "* ]]; then
	"$HERE/../cluster/programs/build.sh" "$CLUSTER" kubernetes
	case $? in
	0) CLUSTER=$(cd "$CLUSTER" && pwd) ;;
	3)
		echo "NO KUBERNETES: its programs are Go modules, and those are not available here"
		echo "ok kubernetes # SKIP Go modules are not available here"
		skipped=1
		mapfile -t left < <(printf '%s\n' "$@" | grep -vx kubernetes)
		set -- "${left[@]}"
		[ $# -gt 0 ] || { echo "skipped: Go modules are not available here" && exit; }
		;;
	*) exit 1 ;;
	esac
fi
LOGS=$(mktemp -d) log=$(mktemp)
trap 'rm -rf "$LOGS" "$log"' EXIT
# Two at a time: much of a run waits for an engine that was stopped.
several() # ENGINE...
{
	local engine
	for engine; do
		"$HERE/../sandbox.sh" "$HERE/run.sh" --one "$engine" "$BUILD" "$CASE" >"$LOGS/$engine" 2>&1 ||
			grep -q '^not ok' "$LOGS/$engine" || echo "not ok $engine: ended with an error" >>"$LOGS/$engine"
	done
}
several "${@:1:($# + 1) / 2}" &
several "${@:($# + 1) / 2 + 1}"
wait
cat "$LOGS"/* | tee "$log"
passed=$(grep -c '^ok ' "$log")
failed=$(grep -c '^not ok ' "$log")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
