# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: what the cases share. Sourced by run.sh inside the sandbox.
#
# A case is a function test_X: see ../harness/cases.sh. Globals that a case sets to shape a call: PLUGIN CID NS IFN CARGS CPATH XENV (see cni()).
# shellcheck disable=SC2034

VERSIONS=(0.1.0 0.2.0 0.3.0 0.3.1 0.4.0 1.0.0 1.1.0)
PEER_DIR=${PEER_DIR:-/usr/lib/cni}
MASTER=mst0
WIRE=wire0
STATE=/var/lib/railhead
RUN=/run/railhead

# Standard IPAM sections. IPAM is railhead-ipam, or host-local when the suite is pointed at the peers.
v4_ipam() { printf '{"type":"%s","subnet":"10.77.0.0/24"}' "$IPAM"; }
v6_ipam() { printf '{"type":"%s","subnet":"fd00:77::/64"}' "$IPAM"; }
dual_ipam()
{
	printf '{"type":"%s","ranges":[[{"subnet":"10.77.0.0/24"}],[{"subnet":"fd00:77::/64"}]]}' "$IPAM"
}

# --- what a case needs -------------------------------------------------------------------------

need_peer() { [ -x "$PEER_DIR/$1" ] || skip "the reference plugin $1 is not in $PEER_DIR"; }
need_railhead() { [ -n "$RAILCTL" ] || skip "railctl is not in the folder of programs"; }
need_kind()
{
	kernel_has "$1" || skip "this kernel has no $1 (CONFIG_${1^^})"
}

kernel_has()
{
	ip link add link "$MASTER" name probe0 type "$1" 2>/dev/null || return 1
	ip link del probe0
}

# --- one CNI call ------------------------------------------------------------------------------

# conf FILTER [JQ-ARG...]: write the configuration: the base object, changed by a jq filter.
conf()
{
	local filter=$1
	shift
	jq -cn "$@" "{cniVersion:\"$TOP\",name:\"testnet\",type:\"$PLUGIN\",master:\"$MASTER\"} | $filter" \
		>"$W/conf" || fail "test error: jq filter $filter"
}

# conf_ipam JSON [FILTER]: configuration with this ipam section.
conf_ipam()
{
	local i=$1 f=${2:-.}
	shift $(($# > 1 ? 2 : 1))
	conf ".ipam=\$i | $f" --argjson i "$i" "$@"
}

# A sanitizer's options must get through.
SANITIZER_ENV=()
for o in ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS; do
	[ -z "${!o+x}" ] || SANITIZER_ENV+=("$o=${!o}")
done

# cni VERB: run $PLUGIN with $W/conf on stdin. Sets RC, OUT (stdout), ERR (stderr).
# Unset (not merely empty) variables are left out of the environment.
cni_env()
{
	E=("CNI_COMMAND=$1" "PATH=$PATH")
	[ -z "${CID+x}" ] || E+=("CNI_CONTAINERID=$CID")
	[ -z "${NS+x}" ] || E+=("CNI_NETNS=$NS")
	[ -z "${IFN+x}" ] || E+=("CNI_IFNAME=$IFN")
	[ -z "${CARGS+x}" ] || E+=("CNI_ARGS=$CARGS")
	[ -z "${CPATH+x}" ] || E+=("CNI_PATH=$CPATH")
	E+=("${SANITIZER_ENV[@]}" "${XENV[@]}")
}

cni()
{
	local E begin=$SECONDS
	cni_env "$1"
	timeout -s KILL "$LIMIT" env -i "${E[@]}" "$BIN/$PLUGIN" <"${STDIN:-$W/conf}" \
		>"$W/out" 2>"$W/err"
	RC=$?
	[ "$RC" != 137 ] || [ $((SECONDS - begin)) -lt "$LIMIT" ] || fail "$PLUGIN $1 did not end within $LIMIT s"
	take_output
	[ "$1 $RC" != "ADD 0" ] || cp "$W/out" "$W/result"
}

# Bash drops NUL bytes, and says so.
take_output()
{
	OUT=$(<"$W/out")
	ERR=$(<"$W/err")
} 2>/dev/null

# The same for GC and STATUS, which have no container.
cni_net()
{
	local CID NS IFN
	unset CID NS IFN
	cni "$1"
}

said() { printf "exit %s, stdout: %.400s, stderr: %.200s" "$RC" "$(tr -s " \n" " " <<<"$OUT")" "$ERR"; }

# want_ok COMMAND...: run it, it must succeed; all commands except ADD print nothing.
want_ok()
{
	local verb
	for verb; do
		case $verb in
		GC | STATUS) cni_net "$verb" ;;
		*) cni "$verb" ;;
		esac
		[ "$RC" = 0 ] || fail "$verb must succeed: $(said)" || return 1
		[ "$verb" = ADD ] || [ -z "$OUT" ] || fail "$verb must print nothing: $(said)"
		[ "$verb" != ADD ] || [[ $OUT == "{"*"}" ]] || fail "$verb printed no object: $(said)"
	done
}

# is_err CODES [TEXT...]: the last call must have failed with one error object. Its code is one of CODES
# (separated by |), and its msg and details contain each TEXT (case ignored).
is_err()
{
	local codes=$1 text code version all
	shift
	[ "$RC" = 1 ] || fail "must fail with exit 1: $(said)" || return 1
	{
		read -r code
		read -r version
		all=$(cat)
	} < <(jq -rs 'if length == 1 and (.[0] | type == "object" and (.code | type == "number") and
		(.msg | type == "string" and length > 0)) then .[0] | .code, (.cniVersion | type), .msg,
		(.details // "") else empty end' "$W/out" 2>/dev/null)
	[ -n "$code" ] || fail "stdout must hold exactly one error object: $(said)" || return 1
	[[ "|$codes|" == *"|$code|"* ]] || fail "code must be $codes: $(said)" || return 1
	[ -n "$PEERS" ] || [ "$version" = string ] || fail "the error object must have cniVersion: $(said)"
	for text; do
		[[ ${all,,} == *"${text,,}"* ]] || fail "the error must name '$text': $(said)"
	done
	stderr_is_log
}

# Nothing on stderr but log lines (delegates' noise is checked apart).
stderr_is_log()
{
	local line
	[ -z "$PEERS" ] || return 0
	while IFS= read -r line; do
		[[ $line =~ ^level=[a-z]+\ program=[a-z-]+\ .*msg= ]] ||
			fail "stderr must hold only log lines, has: $line"
	done <"$W/err"
}

# want_err VERB CODES [TEXT...]
want_err()
{
	local verb=$1
	shift
	case $verb in
	GC | STATUS) cni_net "$verb" ;;
	*) cni "$verb" ;;
	esac
	is_err "$@"
}

# res FILTER: a value from the result of the last good ADD, raw and compact.
res() { jq -rc "$1" "$W/result"; }
# want WHAT FILTER: a jq test on the last output.
want() { jq -e "$2" "$W/out" >/dev/null 2>&1 || fail "$1: not ($2): $(said)"; }
addr4() { res '[.ips[].address|select(contains(":")|not)][0] // ""'; }
addr6() { res '[.ips[].address|select(contains(":"))][0] // ""'; }

# prev [FILTER]: put the result of the last good ADD into the configuration as prevResult.
prev()
{
	jq -c --slurpfile p "$W/result" ".prevResult=(\$p[0] | ${1:-.})" "$W/conf" >"$W/conf.new" &&
		mv "$W/conf.new" "$W/conf"
}
# edit FILTER: change the current configuration.
edit() { jq -c "$1" "$W/conf" >"$W/conf.new" && mv "$W/conf.new" "$W/conf"; }

# --- pods and links ----------------------------------------------------------------------------

# pod NAME: a network namespace; NS and CID point at it. They are removed after the case, which must
# have left them empty.
pod()
{
	ip netns add "$1" || fail "test error: ip netns add $1"
	echo "$1" >>"$W/pods"
	use "$1"
}
use()
{
	NS=/run/netns/$1
	CID=cid-$1
}
unpod()
{
	ip netns del "$1"
	sed -i "/^$1\$/d" "$W/pods"
}
link_json() { ip -n "$1" -j -d link show dev "$2" 2>/dev/null | jq -c '.[0]'; }
link_get() { link_json "$1" "$2" | jq -rc "$3"; }
no_link()
{
	isnt "link $2 must not exist in $1" ip -n "$1" link show dev "$2" || ip -n "$1" link del dev "$2"
}
addrs() { ip -n "$1" -j addr show dev "$2" 2>/dev/null | jq -r '.[0].addr_info[]|select(.scope!="link")|"\(.local)/\(.prefixlen)"'; }
has_addr() { addrs "$1" "$2" | grep -qxF "$3" || fail "$1/$2 must have $3, has: $(addrs "$1" "$2" | tr '\n' ' ')"; }
pings() { is "$1 must reach $2" ip netns exec "$1" "$HELPERS/ping" "$2"; }

# chosen_number: kernels before 6.14 look for the new name in the namespace of the socket. The workaround is
# an interface number of our choice, far above the kernel's own numbers.
chosen_number()
{
	local number old=0
	number=$(link_get p1 "$IFN" .ifindex)
	printf '%s\n6.14\n' "$(uname -r)" | sort -VC && old=1
	eq "number $number is chosen" "$((number >= 0x1000000))" "$old"
}

# --- the IPAM's leases -------------------------------------------------------------------------

# leases: one address a line, of all networks.
leases()
{
	if [ -n "$RAILCTL" ]; then
		"$RAILCTL" ipam lease list --json 2>"$W/railctl.err" | jq -r '
			(if type == "object" then .leases else . end)[]? | .address' | sort
	else
		find /var/lib/cni/networks -type f -name '[0-9a-f]*[.:]*' -printf '%f\n' 2>/dev/null | sort
	fi
}
lease_count() { leases | grep -c . || :; }
has_lease() { leases | sed 's,/.*,,' | grep -qxF "${1%%/*}" || fail "${1%%/*} must be leased; leased: $(leases | tr '\n' ' ')"; }
no_lease() { ! leases | sed 's,/.*,,' | grep -qxF "${1%%/*}" || fail "${1%%/*} must be free"; }

# --- fake IPAM plugins -------------------------------------------------------------------------

# fake NAME <<'EOF' ... EOF: an IPAM as a shell script. Each call appends its verb to NAME.log and leaves
# stdin and environment in NAME.VERB.stdin and NAME.VERB.env; then the script runs.
fake()
{
	{
		echo '#!/bin/bash'
		# shellcheck disable=SC2016
		echo 'log='"$FAKE/$1"'; echo "$CNI_COMMAND $CNI_CONTAINERID" >>"$log.log"'
		# shellcheck disable=SC2016
		echo 'cat >"$log.$CNI_COMMAND.stdin"; env >"$log.$CNI_COMMAND.env"'
		cat
	} >"$FAKE/$1"
	chmod +x "$FAKE/$1"
}
fake_log() { cut -d' ' -f1 "$FAKE/$1.log" 2>/dev/null | tr '\n' ' '; }
# A good fake: one fixed address.
fake_good()
{
	fake "$1" <<-'EOF'
		case $CNI_COMMAND in
		ADD) echo '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.5/24","gateway":"10.9.0.1"}]}' ;;
		esac
	EOF
}

# --- before and after --------------------------------------------------------------------------

# Folders, locks, counters and the store's own files are the fixed furniture of the state folders.
snapshot()
{
	"$HELPERS/snapshot" --root /run --root /var/lib --ignore "$W" --ignore lock --ignore '*.mdb*' \
		--ignore 'last_reserved_ip.*' --opaque '*/ipam/*' --program "$BIN" --program "$FAKE" || fail "test error: snapshot"
	leases | sed 's/^/lease: /'
}

# Pods must be empty again; they are removed here.
pods_clean()
{
	local p left
	while read -r p; do
		left=$(ip -n "$p" -o link 2>/dev/null | grep -v ' lo: ' | cut -d: -f2 | tr '\n' ' ')
		[ -z "$left" ] || fail "left in pod $p: $left"
		left=$({ ip -n "$p" rule; ip -n "$p" -6 rule; } 2>/dev/null | awk '($1 == "1000:" || $1 == "990:") && $5 >= 1000' | tr '\n' ' ')
		[ -z "$left" ] || fail "rules left in pod $p: $left"
		ip netns del "$p" 2>/dev/null
	done <"$W/pods"
	: >"$W/pods"
}

# clean_state: forget everything, so that one failing case does not spoil the next.
clean_state()
{
	local l
	for l in $(ip -o link | awk -F'[:@] *' '{print $2}'); do
		case $l in lo | "$MASTER" | "$WIRE") ;; *) ip link del "$l" 2>/dev/null ;; esac
	done
	ip route flush scope global 2>/dev/null
	find $RUN $STATE /var/lib/cni -mindepth 1 -delete 2>/dev/null
}

# cni_to N VERB: a call of its own output files, for parallel calls.
cni_to()
{
	local E
	cni_env "$2"
	timeout -s KILL "$LIMIT" env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >"$W/par.$1" 2>"$W/par.$1.err"
	echo $? >"$W/par.$1.rc"
}

# seed_random: $RANDOM gives the same numbers every time; RAILHEAD_SEED for others.
seed_random()
{
	RANDOM=${RAILHEAD_SEED:-1}
	echo "# seed ${RAILHEAD_SEED:-1}"
}

# evidence: how much there is against the running case so far.
evidence() { stat -c %s "$W/evidence" 2>/dev/null || echo 0; }
