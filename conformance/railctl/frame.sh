# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# frame.sh: the command line, help, errors, output.
# shellcheck disable=SC2154

test_version()
{
	ok version
	[[ $OUT =~ ^railctl\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$(said)"
	eq "--version" "$OUT" "$("$BIN/railctl" --version)"
	ok version --json
	want '.name == "railctl" and (.version | test("^[0-9.]+$"))'
}

test_wrong_command_lines()
{
	refused 2 'needs a command'
	refused 2 'did you mean "railctl attachments"' atachments
	refused 2 '"railctl --help" lists them' fnord
	refused 2 'did you mean "railctl attachments list"' attachments lst
	refused 2 'did you mean --network' attachments list --netwrk x
	refused 2 'unknown option -x' attachments list -x
	refused 2 'needs NETWORK CONTAINER IFNAME' attachments show a b
	refused 2 'one word too many' attachments list a
	refused 2 'needs a value' attachments list --network
	refused 2 'takes no value' attachments list --json=yes
	refused 2 'given twice' attachments list --network a --network b
	refused 2 'absolute path' attachments list --run-dir here
	refused 2 'is not a command' help nothing
	refused 2 'cannot be the name of a network' attachments list --network ../x
}

test_guesses_at_commands()
{
	local words meant
	while IFS=: read -r words meant <&8; do
		# shellcheck disable=SC2086 # words
		refused 2 "did you mean $meant?" $words
	done 8<<-'END'
		doctor:"railctl check"
		health:"railctl status"
		pods:"railctl rails"
		leases:"railctl ipam lease"
		pool list:"railctl cluster pool" or "railctl ipam pool"
		pol:"railctl cluster pool" or "railctl ipam pool"
		lldp:"railctl cluster fabric"
		ips:"railctl ipam lease list"
		gpus:"railctl topo"
		topo chekc:"railctl topo check"
		rails -o json:--json
		rails check --al:--all
	END
	# Each alias is a command.
	sed -n '/^static const struct cmd_alias/,/^};/p' "$ROOT/railctl/main.c" | grep -o '{ "[^"]*", "[^"]*"' | cut -d '"' -f 4 >"$W/meant"
	[ -s "$W/meant" ] || fail "no aliases in railctl/main.c"
	ok help --json
	jq -r '.[].command | sub("^railctl "; "")' "$W/out" >"$W/commands"
	eq "aliases of no command" "$(grep -vxFf "$W/commands" "$W/meant")" ""
}

test_options_stand_anywhere()
{
	ok --json attachments list
	want '. == []'
	ok attachments --json list
	want '. == []'
	ok attachments list --json
	want '. == []'
}

test_help_of_everything()
{
	local path
	ok help --json
	jq -r '.[].command' "$W/out" >"$W/commands"
	[ "$(wc -l <"$W/commands")" -ge 8 ] || fail "too few commands: $(said)"
	while read -r path; do
		# shellcheck disable=SC2086 # words
		ok ${path#railctl} --help
		[[ $OUT == "usage: $path"* ]] || fail "help must begin with its usage: $(said)"
		[ "$(longest)" -le 80 ] || fail "help must fit 80 columns: $(said)"
		cp "$W/out" "$W/help.out"
		# shellcheck disable=SC2086
		ok help ${path#railctl}
		cmp -s "$W/out" "$W/help.out" || fail "railctl help $path differs from $path --help"
		# shellcheck disable=SC2086
		ok ${path#railctl} -h
	done <"$W/commands"
}

test_help_of_each_command_has_an_example()
{
	ok help --json
	eq "commands without examples" "$(jq -r '.[] | select(.group | not) |
		select(.examples == []) | .command' "$W/out")" ""
}

test_a_full_disk_is_an_error()
{
	"$BIN/railctl" version >/dev/full 2>"$W/err"
	eq "status" $? 1
	grep -q '^railctl: write to standard output: ' "$W/err" || fail "stderr: $(<"$W/err")"
}

test_a_closed_pager_is_no_noise()
{
	# The reader has gone before the first line is written.
	{
		"$BIN/railctl" help --json 2>"$W/err"
		echo $? >"$W/status"
	} | true
	until [ -s "$W/status" ]; do :; done
	[ ! -s "$W/err" ] || fail "stderr: $(<"$W/err")"
}

test_errors_cannot_steer_the_terminal()
{
	refused 2 'is not a command' $'\033[31mred'
	[[ $ERR != *$'\033'* ]] || fail "an escape character got through: $(said)"
}

test_colours()
{
	terminal 80 attachments nonsense
	attach_one
	terminal 80 attachments list
	has $'\033['
	terminal 80 attachments list --no-color
	hasnt $'\033['
	NO_COLOR=1 terminal 80 attachments list
	hasnt $'\033['
	ok attachments list
	hasnt $'\033['
}
attach_one()
{
	need macvlan
	attach colour-net c1 pod1
}

# A check that looks at nothing fails, and an empty list says if its folder is absent.
test_frame_nothing_to_look_at_fails()
{
	local who out
	mkdir -p "$W/empty/sys/bus/pci/devices" && chmod 755 /etc/railhead $RUN $STATE
	for who in "" "setpriv --reuid=65534 --regid=65534 --clear-groups"; do
		while IFS='|' read -r words text; do
			# shellcheck disable=SC2086
			out=$($who "$BIN/railctl" $words 2>&1)
			[ "$?" = 1 ] && [[ $out == *"$text"* ]] || fail "${who%% *} $words must exit 1 with '$text': $out"
		done <<-EOF
			rails check|no living attachment is on record in /run/railhead/attachments
			ipam verify|nothing was checked: there is no store in /var/lib/railhead/ipam
			ipam conflicts|nothing was checked: there is no store in /var/lib/railhead/ipam
			rdma qos check|nothing was checked
			topo check --sysfs $W/empty|nothing was checked
		EOF
		while IFS='|' read -r words text; do
			# shellcheck disable=SC2086
			out=$($who "$BIN/railctl" $words 2>&1) || fail "$words: $out"
			[[ $out == *"$text"* ]] || fail "${who%% *} $words must say '$text': $out"
		done <<-EOF
			rails|No rails: there is no /run/railhead/attachments here.
			attachments list|No attachments: there is no /run/railhead/attachments here.
			attachments repair --dry-run|No attachments: there is no /run/railhead/attachments here.
			ipam pool list|No pools: there is no /var/lib/railhead/ipam here.
			ipam lease list|No leases: there is no /var/lib/railhead/ipam here.
			ipam usage|there is no /var/lib/railhead/ipam here.
			ipam blocks|This node has no blocks: there is no /var/lib/railhead/ipam here.
		EOF
	done
	# Folders that only root reads are an error, and never an empty list.
	mkdir -p $RUN/attachments/n $STATE/ipam && chmod 700 $RUN $STATE
	for words in "rails" "rails check" "attachments list" "attachments repair --dry-run" "ipam pool list" "ipam lease list" "ipam usage" \
		"ipam blocks" "ipam verify" "ipam conflicts" "ipam who 10.1.0.1" "rdma partitions show"; do
		# shellcheck disable=SC2086
		out=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$BIN/railctl" $words 2>&1)
		[ "$?" = 1 ] && [[ $out == *"Permission denied"* ]] || fail "$words as nobody must be refused: $out"
	done
	chmod 755 $RUN $STATE
}

test_netconf_check()
{
	local conf='{"cniVersion":"1.1.0","name":"n","type":"rh-macvlan","master":"nosuch","ipam":{"type":"railhead-ipam","pool":"nosuch"}'
	echo "$conf}" >"$W/good.conf"
	ok netconf check "$W/good.conf"
	has '0 warned, 0 failed'
	echo "$conf,\"rooting\":\"rail\",\"foo\":1}" >"$W/bad.conf"
	r netconf check "$W/bad.conf"
	[ "$RC" = 1 ] || fail "an error must be exit 1: $(said)"
	has 'fail     key  network n, type rh-macvlan: rooting: there is no such key'
	has 'warn     key  network n, type rh-macvlan: foo: there is no such key; it is ignored'
	echo "$conf,\"foo\":1}" | "$BIN/railctl" netconf check - >"$W/out" || fail 'a warning is not a failure'
	refused 2 FILE netconf check
	refused 1 'No such file' netconf check "$W/absent"
}
