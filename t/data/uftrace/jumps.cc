// The program of t/data/uftrace/jumps: what leaves functions other than by their end. Longjmp through
// several calls and out of a signal handler, exceptions, vfork.
//     g++ -O0 -pg -o jumps jumps.cc; uftrace record --no-sched -d jumps.data ./jumps
#include <setjmp.h>
#include <signal.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf outer, inner;
static sigjmp_buf handler_left;
static volatile int sink;

__attribute__((noinline)) void leaf(int n)
{
	sink += n;
}

__attribute__((noinline)) void deep(int n, jmp_buf to)
{
	leaf(n);
	if (n)
		deep(n - 1, to);
	else
		longjmp(to, 1);
	leaf(n);
}

__attribute__((noinline)) void nested(int n)
{
	if (!setjmp(inner))
		deep(n, inner);
	leaf(n);
	deep(n, outer);
}

__attribute__((noinline)) void jumps(int n)
{
	if (!setjmp(outer))
		nested(n);
	leaf(n);
}

__attribute__((noinline)) void on_signal(int)
{
	leaf(1);
	siglongjmp(handler_left, 1);
}

__attribute__((noinline)) void signals()
{
	signal(SIGUSR1, on_signal);
	if (!sigsetjmp(handler_left, 1))
		raise(SIGUSR1);
	leaf(2);
}

__attribute__((noinline)) void throws(int n)
{
	leaf(n);
	if (!n)
		throw std::runtime_error("enough");
	throws(n - 1);
}

__attribute__((noinline)) void catches(int n)
{
	try {
		throws(n);
	} catch (std::exception &) {
		leaf(n);
	}
}

__attribute__((noinline)) void children()
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, nullptr, 0);
}

int main()
{
	for (int i = 0; i < 3; i++) {
		jumps(i);
		catches(i + 1);
		leaf(i);
	}
	signals();
	children();
	jumps(1);
	return 0;
}
