# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# agree.sh: help, manual page and completion say the same, and their examples work.
# shellcheck disable=SC2154

PAGE=$ROOT/docs/man/railctl.8
COMPLETION=$ROOT/packaging/bash-completion/railctl

# What the program says: "command: --option ..." a line, sorted; options with values end in "=".
program_table()
{
	"$BIN/railctl" help --json | jq -r '
		def opts: map("--" + .name + if .value then "=" else "" end) | sort | join(" ");
		(.[] | select(.group | not) | .command + ": " + (.options | opts)),
		"global: " + (.[0].globalOptions | opts)' | sort
}

# The same from the manual page: .Ss railctl COMMAND ..., and .It Fl -option [Ar VALUE] below it.
page_table()
{
	awk '
	function flush(   i, line, list, n) {
		if (command == "")
			return
		n = 0
		for (i in found)
			list[++n] = i
		line = command ":"
		for (i = 1; i <= n; i++)
			line = line " " list[i]
		print line
		all[command] = line
		delete found
	}
	/^\.Sh DESCRIPTION/ { command = "global"; next }
	/^\.S[hs]/ { flush(); command = "" }
	/^\.Ss railctl / {
		command = "railctl"
		for (i = 3; i <= NF && $i ~ /^[a-z][a-z-]*$/; i++)
			command = command " " $i
	}
	/^\.\\" options-of: / {
		from = $0
		sub(/.*options-of: /, "", from)
		without = from
		sub(/.*, without /, "", without)
		sub(/, without.*/, "", from)
		n = split(all[from], words, " ")
		for (i = 1; i <= n; i++)
			if (words[i] ~ /^--/ && words[i] != "--" without "=")
				found[words[i]] = 1
	}
	/^\.It Fl -/ { found["-" $3 (NF > 3 ? "=" : "")] = 1 }
	END { flush() }' "$PAGE" | while IFS=: read -r command options; do
		# shellcheck disable=SC2086 # words
		echo "$command: $(printf '%s\n' $options | sort | paste -sd ' ')"
	done | sort
}

test_the_manual_page_has_every_command_and_option()
{
	program_table >"$W/program"
	page_table >"$W/page"
	grep -q -- '--network=' "$W/page" || fail "test error: no options read from $PAGE"
	diff "$W/program" "$W/page" >"$W/diff" ||
		fail "program (<) and manual page (>) differ: $(<"$W/diff")"
}

test_the_manual_page_names_the_words_of_each_command()
{
	"$BIN/railctl" help --json | jq -r '.[] | select(.group | not) | .command + " " + .words' |
		sed 's/ $//' | sort >"$W/program"
	sed -n 's/^\.Ss //p' "$PAGE" | sed 's/\\&//; s/ Op \(.*[^ ]\) *$/ [\1]/; s/ \.\.\.]/...]/' | sort >"$W/page"
	diff "$W/program" "$W/page" >"$W/diff" || fail "program (<) and manual page (>) differ: $(<"$W/diff")"
}

test_the_manual_page_is_clean()
{
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	eq "mandoc -Tlint" "$(mandoc -Tlint "$PAGE" | grep -v 'referenced manual not found')" ""
}

test_the_completion_has_every_command_and_option()
{
	# shellcheck disable=SC1090
	(. "$COMPLETION" && {
		printf '%s\n' "$_railctl_table" | grep : | while IFS=: read -r command options; do
			case $options in
			-* | '')
				# shellcheck disable=SC2086
				echo "railctl $command: $(printf '%s\n' $options | sort | paste -sd ' ')"
				;;
			esac
		done
		# shellcheck disable=SC2086
		echo "global: $(printf '%s\n' $_railctl_global | sort | paste -sd ' ')"
	} | sort) >"$W/completion"
	program_table >"$W/program"
	diff "$W/program" "$W/completion" >"$W/diff" ||
		fail "program (<) and completion (>) differ: $(<"$W/diff")"
}

# complete WORD...: what the completion offers for the last word.
complete_line()
{
	# shellcheck disable=SC1090,SC2034
	(
		. "$COMPLETION"
		COMP_WORDS=(railctl "$@") COMP_CWORD=$#
		_railctl
		printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
	)
}

test_completion_of_a_line()
{
	eq "groups" "$(complete_line a)" "attachments"
	eq "commands" "$(complete_line attachments '')" "list repair show"
	eq "after a global option" "$(complete_line --run-dir /x attachments re)" "repair"
	eq "options" "$(complete_line attachments repair --d)" "--data-dir --dry-run"
	eq "options of the word before last" "$(complete_line attachments list --network x --n)" \
		"--network --no-color"
	eq "help" "$(complete_line help attachments s)" "show"
	eq "values" "$(complete_line rdma env --for n)" "nccl nixl nvshmem"
	eq "each group" "$(for group in '' cluster 'cluster pool' ipam 'ipam pool' 'ipam lease' attachments vf rdma topo; do
		# shellcheck disable=SC2086
		complete_line $group ''
	done)" "$("$BIN/railctl" help --json | jq -r '
		def below($p): map(.command | select(startswith($p + " ")) | .[$p | length + 1:] |
			select(contains(" ") | not)) | sort | join(" ");
		below("railctl"), below("railctl cluster"), below("railctl cluster pool"), below("railctl ipam"), below("railctl ipam pool"),
		below("railctl ipam lease"), below("railctl attachments"), below("railctl vf"),
		below("railctl rdma"), below("railctl topo")')"
}

# "WHAT: add, list" in the summary of a group are its commands. A list without any command is about something else.
test_the_summary_of_a_group_has_its_commands()
{
	eq "summaries" "$("$BIN/railctl" help --json | jq -r '. as $all | .[] | select(.group) | .command as $p | .summary as $s |
		([$all[].command | select(startswith($p + " ")) | .[$p | length + 1:] | select(contains(" ") | not)] | sort) as $are |
		($s | split(": ") | .[1] // "" | split(", ") | sort) as $said |
		select(any($said[]; . as $w | any($are[]; . == $w)) and $said != $are) | "\($p) has \($are | join(", ")): \($s)"')" ""
}

test_completion_offers_what_there_is()
{
	need macvlan
	attach green-net c-one pod1
	eq "networks" "$(complete_line attachments list --network g)" "green-net"
	eq "networks behind =" "$(complete_line attachments list --network = g)" "green-net"
	eq "containers" "$(complete_line attachments show green-net c)" "c-one"
	eq "interfaces" "$(complete_line attachments show green-net c-one '')" "net1"
	fake_sys
	echo 2 >/sys/bus/pci/devices/$PF0/sriov_numvfs
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	eq "pools" "$(complete_line ipam usage '')" "p"
	lease net-a c1 '{"pool":"p"}'
	eq "addresses" "$(complete_line ipam who '')" "10.1.0.1"
	eq "cards" "$(complete_line vf create --pf '')" "ens3f0 ens3f1"
	eq "VFs" "$(complete_line vf repair '')" "ens3f0v0 ens3f0v1"
	eq "VFs behind an option" "$(complete_line vf bind --driver default ens3f0v1 e)" "ens3f0v0 ens3f0v1"
}

# Captures and documents of this machine, under the names that the examples have.
for_diff()
{
	local node
	ok topo capture "$W/good-node.tar"
	for node in good-node odd-node; do mkdir "$W/$node" && tar -xf "$W/good-node.tar" -C "$W/$node" || fail "the capture"; done
	ok topo --json
	cp "$W/out" "$W/good-node.json"
}

# for_example LINE: state in which the example can work.
for_example()
{
	if [[ $1 == "railctl vf "* ]]; then
		fake_sys
		ok vf create --pf ens3f0 --count 4
		sys_driver 0000:3b:00.3 vfio-pci
		return
	fi
	if [[ $1 == *"railctl rdma "* ]]; then
		ip netns add pod1
		return
	fi
	if [[ $1 == "railctl topo"* ]]; then
		cp "$ROOT/topo/testdata/nccl-xml/dgx-a100.xml" "$W"
		nccl_log 7000 mlx5_0 0 >"$W/job.log"
		[[ $1 != *" diff "* ]] || for_diff
		return
	fi
	if [[ $1 == *" ipam slices "* ]]; then
		ok ipam pool add rail0 --subnet 10.1.0.0/16 --slice /28
		return
	fi
	ok ipam pool add rail0 --subnet 10.1.0.0/16 --this-node-only
	attach rail0-net 4f5e6d7c8b9a pod1 '{"type":"railhead-ipam","pool":"rail0"}'
	echo '{"subnet":"10.9.0.0/24","thisNodeOnly":true}' >"$W/pool.json"
	echo '[]' >"$W/node2.json"
	echo '[{"name":"rail1","subnet":"10.2.0.0/16","slice":{"prefix":28}}]' >"$W/rails.json"
	mkdir -p /var/lib/cni/networks/rail0-net /var/lib/cni/results
	printf 'c-1\r\nnet1' >/var/lib/cni/networks/rail0-net/10.1.0.77
	echo '{"items":[]}' >"$W/ippools.json"
	objects | tee "$W/spiderippools.yaml" | sed -n '/^---/,$p' >"$W/networks.yaml"
	sed -i '/^---/,$d' "$W/spiderippools.yaml"
	echo '{"cniVersion":"1.0.0","name":"rail0-net","plugins":[{"type":"macvlan","ipam":{"type":"railhead-ipam","pool":"rail0"}}]}' \
		>"$W/10-rail0.conflist"
}

# without_rdma LINE: where the kernel has no RDMA device, these fail and say so. In the guest of
# conformance/vm it has some. A check of rails fails where there are none.
without_rdma()
{
	[[ $1 != "railctl "@(check|status)* ]] || { grep -q "no RDMA" "$W/out"; return; }
	[[ $1 != *"rails check"* ]] || { grep -q namespace-empty "$W/out"; return; }
	[[ $1 == *"railctl rdma "@(env|check)* ]] && grep -qE "no RDMA" "$W/out" "$W/err" &&
		[ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]
}

# run_example LINE: what it asks of another node is asked of another store. The host name has a number.
run_example()
{
	local line=$1 ssh="ssh() { shift; bash -c \"\${*//railctl/railctl --data-dir $W/node2}\"; };"
	(cd "$W" && unshare --uts bash -c "hostname gpu-17; $ssh $line") >"$W/out" 2>"$W/err" </dev/null || without_rdma "$line" ||
		fail "the example fails: $line: $(<"$W/out")$(<"$W/err")"
}

test_the_examples_of_help_work()
{
	local line
	need macvlan
	need railhead-ipam
	# those of the cluster need a node agent: conformance/agent
	"$BIN/railctl" help --json | jq -r '.[].examples[] | select(contains("railctl cluster") | not)' >"$W/examples"
	[ -s "$W/examples" ] || fail "no examples"
	while IFS= read -r line <&8; do
		fresh
		for_example "$line"
		run_example "$line"
	done 8<"$W/examples"
}

test_the_examples_of_the_manual_page_work()
{
	local line
	need railhead-ipam
	fake_sys
	awk '/^\.Sh/ { on = /EXAMPLES/ } on && /^\.Bd/ { lit = 1; next } /^\.Ed/ { lit = 0 } on && lit' \
		"$PAGE" >"$W/examples"
	[ -s "$W/examples" ] || fail "no examples"
	while IFS= read -r line <&8; do
		run_example "$line"
	done 8<"$W/examples"
}
