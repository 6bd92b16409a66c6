# The calls of a recording of uftrace for which a condition is true: a model of trfilter's whole calls.
# usage: uftrace dump -d DIR | grep '\[' | sort -s -n -k 1,1 | perl uftrace_calls.pl CONDITION
# CONDITION is Perl over $c->{name tid depth caller stack dur children}, of calls that have returned also
# {self}; under(NAME) and over(NAME). Prints the begin in ns and the name of each. A call that has not
# returned lasts until the last event of its thread.
use strict;
use warnings;

my (@calls, %open, %last, $c);
sub under { my $f = shift; return grep { $_ eq $f } split /;/, $c->{stack} }
sub over { my $f = shift; return $c->{name} eq $f || $c->{inside}{$f} }
my $holds = eval "sub { no warnings 'uninitialized'; $ARGV[0] }" or die $@;

sub enter {
	my ($now, $tid, $name) = @_;
	my $stack = $open{$tid} //= [];
	my $caller = @$stack ? $stack->[-1] : undef;
	my %call = (name => $name, tid => $tid, begin => $now, depth => scalar @$stack, within => 0,
		children => 0, caller => $caller && $caller->{name},
		stack => $caller ? "$caller->{stack};$name" : $name);
	$_->{inside}{$name} = 1 for @$stack;
	$caller->{children}++ if $caller;
	push @$stack, \%call;
	push @calls, \%call;
}

sub leave {
	my ($now, $tid) = @_;
	my $call = pop @{$open{$tid}} or die "a leave too many";
	$call->{dur} = $now - $call->{begin};
	$call->{self} = $call->{dur} - $call->{within};
	$open{$tid}[-1]{within} += $call->{dur} if @{$open{$tid}};
}

while (<STDIN>) {
	my ($seconds, $ns, $tid, $what, $name) = /^(\d+)\.(\d+) +(\d+): \[(\w+) *\] (.*?)\([0-9a-f]+\)/ or next;
	my $now = $seconds * 1_000_000_000 + $ns;
	$last{$tid} = $now;
	my $top = @{$open{$tid} // []} ? $open{$tid}[-1]{name} : '';
	if ($what eq 'entry') { enter($now, $tid, $name) }
	elsif ($what eq 'exit') { leave($now, $tid) }
	elsif ($name =~ /^linux:sched-out(.*)/ && $top ne '') { enter($now, $tid, "linux:schedule$1") }
	elsif ($name eq 'linux:sched-in' && $top =~ /^linux:schedule/) { leave($now, $tid) }
}
for (@calls) {
	$c = $_;
	$c->{dur} //= $last{$c->{tid}} - $c->{begin};
	print "$c->{begin}\t$c->{name}\n" if $holds->();
}
