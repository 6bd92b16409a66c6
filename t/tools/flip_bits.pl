#!/usr/bin/perl
# Run programs on a file with one bit flipped: the exit status must be 1 or 2.
# usage: t/tools/flip_bits.pl FILE STEP WORKERS PROGRAM..., STEP 1 being every bit
use strict;
use warnings;

my ($file, $step, $workers, @programs) = @ARGV;
open(my $in, '<:raw', $file) or die "$file: $!\n";
my $bytes = do { local $/; <$in> };
my $bits = 8 * length $bytes;

# Bits FIRST, FIRST + $step * $workers and so on; returns how many runs went wrong.
sub flip_bits
{
	my $first = shift;
	my $copy = "$file.$first";
	my $wrong = 0;

	open(STDOUT, '>', '/dev/null');
	for (my $bit = $first * $step; $bit < $bits; $bit += $step * $workers) {
		my $flipped = $bytes;
		vec($flipped, $bit, 1) ^= 1;
		open(my $out, '>:raw', $copy) or die "$copy: $!\n";
		print $out $flipped;
		close($out) or die "$copy: $!\n";
		for my $program (@programs) {
			my $pid = fork // die "fork: $!\n";
			if (!$pid) {
				open(my $stderr, '>&', \*STDERR);
				open(STDERR, '>', '/dev/null');
				exec(split(' ', $program), $copy) or print $stderr "$program: $!\n";
				exit 127;
			}
			waitpid($pid, 0);
			next if $? == 1 << 8 || $? == 2 << 8;
			printf STDERR "bit %d of byte %d: %s: status %d, signal %d\n", $bit % 8,
				$bit / 8, $program, $? >> 8, $? & 127;
			$wrong++;
		}
	}
	unlink $copy;
	return $wrong;
}

my @children;
for my $first (0 .. $workers - 1) {
	my $pid = fork // die "fork: $!\n";
	exit(flip_bits($first) ? 1 : 0) if !$pid;
	push @children, $pid;
}
my $failed = 0;
for my $pid (@children) {
	waitpid($pid, 0);
	$failed = 1 if $?;
}
exit $failed;
