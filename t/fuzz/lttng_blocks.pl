#!/usr/bin/perl
# Make LTTng 2.6 traces of several blocks, sound and damaged, of a trace of one block.
# usage: t/fuzz/lttng_blocks.pl DIR FILE OUT, DIR/FILE having one block of a page, the rest of DIR
# being copied; each OUT/NAME is a trace
use strict;
use warnings;

my ($dir, $file, $out) = @ARGV;
local $/;

sub content { my ($path) = @_; open my $f, '<:raw', $path or die "$path: $!"; return scalar <$f> }

my $page = content("$dir/$file");
my $metadata = content("$dir/metadata_0");
my ($begin, $end) = unpack 'Q<2', $page;
my $used = unpack 'V', substr $page, 52, 4;

# The block n seconds later: events have the low 27 bits of their time
sub block {
	my ($n) = @_;
	my $b = $page;
	substr($b, 0, 16) = pack 'Q<2', $begin + ($n << 30), $end + ($n << 30);
	return $b;
}

# trace NAME MINOR BLOCK...: the bytes of the file; before 2.5 a header has the bytes that are left
sub trace {
	my ($name, $minor, @blocks) = @_;
	mkdir "$out/$name" or die "$out/$name: $!";
	my %file = ($file => join('', @blocks), metadata_0 => $metadata);
	for my $member (keys %file) {
		my $bytes = $file{$member};
		for (my $at = 0; $at + 68 <= length $bytes && $minor != 6; $at += 4096) {
			next if "\xed\xb7\xd6\0\2" ne substr $bytes, $at + 16, 5;
			my ($used, $size) = unpack 'V2', substr $bytes, $at + 52, 8;
			substr($bytes, $at + 21, 1) = chr $minor;
			substr($bytes, $at + 52, 4) = pack 'V', $size - $used if $used <= $size;
		}
		open my $f, '>:raw', "$out/$name/$member" or die "$out/$name/$member: $!";
		print $f $bytes;
		close $f;
	}
}

# with BLOCK OFFSET BYTES...: a block with other bytes there
sub with {
	my ($b, %change) = @_;
	substr($b, $_, length $change{$_}) = $change{$_} for keys %change;
	return $b;
}

for my $minor (6, 4) {
	trace("good-$minor", $minor, map { block($_) } 0 .. 3);
	trace("cut-$minor", $minor, block(0), substr(block(1), 0, 200));
	trace("size-$minor", $minor, block(0), with(block(1), 56 => pack 'V', 8192), block(2), block(3));
	trace("beyond-$minor", $minor, with(block(0), 52 => pack 'V2', 40000, 40960), block(1));
	trace("unfinished-$minor", $minor, block(0), with(block(1), 52 => pack 'V', 0xffffffff), block(2));
	trace("magic-$minor", $minor, block(0), with(block(1), 16 => 'none'), block(2));
	trace("lost-$minor", $minor, block(0), with(block(1), 60 => pack 'V2', 7, 1), block(2));
}
trace('version', 6, block(0), with(block(1), 21 => "\3"), block(2));
trace('version-0', 6, block(0), with(block(1), 16 => "\0" x 4, 40 => "\xed\xb7\xd6\0", 57 => "\0"));
trace('large', 6, with(block(0), 56 => pack 'V', 12288) . "\0" x 8192, block(1));
# a text that is larger than the window
my $long = substr(block(0), 0, 100) . 'x' x 200000 . "\0" x 16;
trace('long', 6, with($long, 52 => pack 'V2', length $long, 204800) . "\0" x (204800 - length $long), block(1));
