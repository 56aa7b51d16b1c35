# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ipvlan: its black-box tests, and the rules of the protocol. CASES: which of the black-box tests.
passed=0 failed=0 skipped=0

# told COMMAND...: run it, show what it prints, add up its closing line.
told()
{
	local p=0 f=1 s=0 rc
	"$@" 2>&1 | tee /tmp/said | grep -vE '^([0-9]+ passed, |pass  )'
	rc=${PIPESTATUS[0]}
	read -r p f s < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' /tmp/said)
	[ "$rc" = 0 ] || [ "${f:-0}" != 0 ] || f=1
	# What is no business of such a plugin, or of any, does not count as skipped.
	s=$((${s:-0} - $(grep -cE "^ +(for plugins of the kind|a duty of the runtime|the profile does not say|this kind of link|needs failing system calls)" /tmp/said)))
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + s))
}
attach() { HELPERS=$HELPERS/attach told conformance/attach/run.sh "$BIN" "$@"; }

# One case is about a kernel that has no ipvlan; it is the first, before the kernel has loaded it.
echo 'install ipvlan /bin/false' >/etc/modprobe.d/no-ipvlan.conf
attach ipvlan_kernel_without_it_says_so
rm /etc/modprobe.d/no-ipvlan.conf
modprobe -a ipvlan macvlan
# shellcheck disable=SC2086 # words
attach ${CASES:-ipvlan_[!k]*}
told "$HELPERS/spec/cni-conformance" --plugin "$BIN/ipvlan" --jobs "${JOBS:-4}" --slower 40 \
	--profile conformance/spec/profiles/railhead-ipvlan.json
echo "$passed passed, $failed failed, $skipped skipped"
[ $((failed + skipped)) = 0 ]
