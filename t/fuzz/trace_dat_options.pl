#!/usr/bin/perl
# Make inputs of a trace.dat of version 6: with options, good and damaged, with an instance, and with
# the text of a latency trace in the place of pages.
# usage: t/fuzz/trace_dat_options.pl OUT <TRACE; writes OUT/options-NAME
use strict;
use warnings;

my $out = shift;
my $trace = do { local $/; <STDIN> };
my ($head, $tail) = $trace =~ /^(.*?options  \0)(.*)$/s or die "no options\n";

sub option { my ($id, $data) = @_; return pack('v V', $id, length $data) . $data }

sub write_file
{
	my ($name, $data) = @_;

	open(my $f, '>:raw', "$out/options-$name") or die "$out: $!\n";
	print $f $data;
	close($f) or die "$out: $!\n";
}

# The offsets of the CPUs' data are those in the file.
sub with_options
{
	my ($options, $instance) = @_;
	my $at = index($tail, "flyrecord\0") + 10;
	my $moved = length $options;
	my $rest = $tail;

	if ($instance) {
		my $i = option(3, pack('Q<', 0) . "inst\0");
		$moved += length $i;
		$options .= option(3, pack('Q<', length($head) + $at - 10 + $moved) . "inst\0");
	}
	for (my $p = $at; $p + 16 <= $at + 16 * 2; $p += 16) {
		my ($offset, $size) = unpack('Q< Q<', substr($rest, $p, 16));
		last if !$size || $offset > length $trace;
		substr($rest, $p, 8) = pack('Q<', $offset + $moved);
	}
	return $head . $options . $rest;
}

write_file('offset', with_options(option(7, "-123456\0")));
write_file('offset-bad', with_options(option(7, "x\0") . option(7, "99999999999999999999\0")));
write_file('tsc', with_options(option(14, pack('V V Q<', 1 << 20, 20, 5))));
write_file('tsc-bad', with_options(option(14, pack('V V', 0, 99))));
write_file('guest', with_options(option(13, "vm\0" . pack('Q< V V V', 77, 1, 0, 9)) . option(12, pack('Q< V', 5, 0))));
write_file('guest-bad', with_options(option(13, "vm")));
write_file('shift', with_options(option(12, pack('Q< V V', 9, 3, 2) . pack('Q<*', 1, 2, 5, 6, 1, 1))));
write_file('instance', with_options('', 1));
write_file('instance-bad', with_options(option(3, pack('Q<', 1 << 40) . "far\0") .
	option(3, pack('Q<', 16) . "none\0") . option(3, 'x')));
write_file('damaged', $head . pack('v V', 5, 0x7fffffff) . $tail);
write_file('nothing', $head . pack('v V', 5, 0x7fffffff) . substr($tail, -64));

my ($before) = $head =~ /^(.*)options  \0$/s;
my $text = "# tracer: function\n#\n" .
	"       trace-cmd-347     [001] d.h3.   117.569151: sched_stat_runtime: comm=trace-cmd\n" .
	"          <idle>-0       [000] 117.569874: sched_wakeup: comm=init pid=136\n" .
	"    [x] odd-name-9  [002] d..2.   117.569941: sched_switch: a ==> b\n" .
	"no task here [000] 1.5: x\nsh-7 [99999999999999] 1.5: x\n sh-7 [1] nothing\n" .
	'y' x 3000 . "\n  cut-1 [000] 118.0";
write_file('latency', $before . "latency  \0" . $text);
