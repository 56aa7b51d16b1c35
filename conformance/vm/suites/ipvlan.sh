# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 180
# ipvlan: its black-box tests, and the rules of the protocol. CASES: which of the black-box tests.
# FULL=1: also what says more of the protocol than of ipvlan, and takes an emulated machine minutes.
ITEMS="013 014 037 038 042 044 045 047 048 050 051 052 054 058 059 060 063 071 100 101 102 103 104 106 107 120 121 126 141
	143 144 147 148 149 150 151 159 160 161 162 171 172 173 176"
CASES=${CASES:-ipvlan_[!k]*}
if [ -n "${FULL-}" ]; then
	ITEMS=$(seq -f %03.0f 178)
elif [ "$CASES" = 'ipvlan_[!k]*' ]; then
	CASES='ipvlan_[!ke]* ipvlan_every_mode ipvlan_every_flag inuse_an_address_of_ipvlan check_behind_vrf'
fi
passed=0 failed=0 skipped=0

# told COMMAND...: run it, show what it prints, add up its closing line.
told()
{
	local p=0 f=1 s=0 rc
	"$@" 2>&1 | tee /tmp/said | grep -vE '^([0-9]+ passed, |pass  )'
	rc=${PIPESTATUS[0]}
	read -r p f s < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' /tmp/said)
	[ "$rc" = 0 ] || [ "${f:-0}" != 0 ] || f=1
	# A rule that does not apply to this kind of plugin is not a skip.
	s=$((${s:-0} - $(grep -cE "^ +(for plugins of the kind|a duty of the runtime|the profile does not say|this kind of link|needs failing system calls)" /tmp/said)))
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + s))
}
attach() { HELPERS=$HELPERS/attach told conformance/attach/run.sh "$BIN" "$@"; }

# One case is about a kernel that has no ipvlan.
modprobe -r ipvlan 2>/dev/null
echo 'install ipvlan /bin/false' >/etc/modprobe.d/no-ipvlan.conf
attach ipvlan_kernel_without_it_says_so
rm /etc/modprobe.d/no-ipvlan.conf
modprobe -a ipvlan macvlan vrf
# shellcheck disable=SC2086 # words
attach $CASES
# shellcheck disable=SC2046,SC2086 # words
told "$HELPERS/spec/cni-conformance" --plugin "$BIN/ipvlan" --jobs "${JOBS:-4}" --slower 40 --items "$(printf 'CNI-%s,' $ITEMS)" \
	--profile conformance/spec/profiles/railhead-ipvlan.json
echo "$passed passed, $failed failed, $skipped skipped"
[ $((failed + skipped)) = 0 ]
