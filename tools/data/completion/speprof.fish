# fish completion for speprof
# SPDX-License-Identifier: LGPL-2.1-or-later
# Verbs and options are those of "speprof help", with its descriptions.

# Print the verb of the command line; fails if there is none yet.
function __speprof_verb
	set -l words (commandline -opc)
	set -e words[1]
	set -l skip 0
	for word in $words
		if test $skip = 1
			set skip 0
		else if test "$word" = --bus
			set skip 1
		else if not string match -q -- '-*' $word
			echo $word
			return 0
		end
	end
	return 1
end

function __speprof_verbs
	speprof help 2>/dev/null | string match -rg '^  ([a-z]+  +.*)' | string replace -r '  +' \t
end

# Print the options of the verb, one a line. An option with two names has two lines.
function __speprof_options
	speprof help (__speprof_verb) 2>/dev/null | awk '/^  -/ {
		sub(/^  /, "")
		at = match($0, /   *[^ ]/)
		text = substr($0, at)
		sub(/^ */, "", text)
		count = split(substr($0, 1, at - 1), names, ", ")
		for (i = 1; i <= count; i++) {
			sub(/ .*/, "", names[i])
			print names[i] "\t" text
		}
	}'
	printf -- '--bus\taddress of the bus of the daemon\n'
	printf -- '--help\tshow usage, options and examples\n'
end

# Any user can choose these names: offer only names without characters that are special to a shell.
function __speprof_containers
	speprof report -G container -n 1000 2>/dev/null | env LC_ALL=C awk '
		rows && $3 ~ /^[A-Za-z0-9_\/][A-Za-z0-9_.\/@%+:-]*$/ && $4 ~ /^([0-9]+|-)$/ { print $3 }
		$1 == "SHARE" { rows = 1 }'
end

# Complete the last key of a list that is separated by commas.
function __speprof_keys
	set -l typed (string replace -r '[^,]*$' '' -- (commandline -ct))
	for key in function line process container program binary build_id instruction mode op event level comm pid cpu node type field
		echo "$typed$key"
	end
end

function __speprof_measures
	if test (__speprof_verb) = container
		string split ' ' -- 'samples latency memory dram remote branches mispredicted p99'
	else
		string split ' ' -- 'operations samples latency mean p50 dram remote memory loads stores branches mispredicted simd snooped peer modified l1 l2 l3 system_cache llc issue translation p99 issue_p99 translation_p99'
	end
end

# Print the values that the option in the previous word accepts.
function __speprof_values
	switch (commandline -opc)[-1]
		case -G --group
			__speprof_keys
		case -s --sort
			__speprof_measures
		case --format
			if test (__speprof_verb) = export
				string split ' ' -- 'folded csv pprof damo'
			else if test (__speprof_verb) = pgo
				string split ' ' -- 'bolt pre-aggregated brstack autofdo'
			else
				string split ' ' -- 'speprof perf'
			end
		case --last
			if contains (__speprof_verb) report diff save export
				string split ' ' -- '10s 1m 10m start 1h 12h 1d 7d'
			else if test (__speprof_verb) = timeline
				string split ' ' -- '10m 1h 12h 1d 7d'
			else
				string split ' ' -- '10s 1m 10m start'
			end
		case -c --container
			__speprof_containers
		case --session
			speprof session 2>/dev/null | awk -F: '/^[A-Za-z]/ { print $1 }'
		case -p --pid
			__fish_complete_pids
		case --root --cgroup --symfs --debug-dir
			__fish_complete_directories (commandline -ct)
		case -i --input -o --output -t --html --kallsyms --token
			__fish_complete_path (commandline -ct)
	end
end

function __speprof_wants_value
	string match -qr -- '^(-[iotGscpnCdF]|--(input|output|html|kallsyms|token|root|cgroup|symfs|debug-dir|debuginfod|group|format|last|sort|container|session|pid|number|cpu|delay|frequency|filter|function|annotate|binary|program|interval|buffer|midr|models|threads|truth|bus|seconds|since|until|step))$' (commandline -opc)[-1]
end

function __speprof_words
	switch (__speprof_verb)
		case session
			string split ' ' -- 'list create set snapshot start stop reset remove'
		case module
			echo reload
		case pgo
			string split ' ' -- 'check merge'
			__fish_complete_path (commandline -ct)
		case help
			__speprof_verbs
		case summary report diff save dump emulate
			__fish_complete_path (commandline -ct)
	end
end

complete -c speprof -f
complete -c speprof -n __speprof_wants_value -a '(__speprof_values)'
complete -c speprof -n 'not __speprof_wants_value; and not __speprof_verb' -a '(__speprof_verbs) --bus --version --help'
complete -c speprof -n 'not __speprof_wants_value; and __speprof_verb >/dev/null; and string match -q -- "-*" (commandline -ct)' -a '(__speprof_options)'
complete -c speprof -n 'not __speprof_wants_value; and __speprof_verb >/dev/null; and not string match -q -- "-*" (commandline -ct)' -a '(__speprof_words)'
