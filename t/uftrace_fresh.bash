# Programs that are recorded with the uftrace that is installed: load uftrace_fresh

# fresh_forks: children that return from calls of their parent, exec, exit in mid-call
fresh_forks() {
	cat >forks.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>

		int leaf(int n)
		{
			volatile int i = n;

			return i;
		}

		int forking(void)
		{
			pid_t child = fork();

			leaf(1);
			if (child)
				waitpid(child, NULL, 0);
			return child != 0;
		}

		int dying(int n)
		{
			if (!n)
				exit(leaf(0));
			return dying(n - 1) + 1;
		}

		void *sleeping(void *arg)
		{
			usleep(3000000);
			return arg;
		}

		int main(int argc, char **argv)
		{
			char *const again[] = {argv[0], "again", NULL};
			pthread_t thread;

			if (argc > 1)
				return leaf(2);
			if (!forking())
				return 0;
			if (!fork())
				execv(argv[0], again);
			wait(NULL);
			pthread_create(&thread, NULL, sleeping, NULL);
			usleep(20000);
			return dying(5);
		}
	END
	gcc -O0 -g -pg -o forks forks.c -lpthread
}

# fresh_calls: longjmp, threads, arguments with enums and negative numbers
fresh_calls() {
	cat >calls.c <<-'END'
		#include <pthread.h>
		#include <setjmp.h>
		#include <stdlib.h>
		#include <string.h>

		enum sign { MINUS = -5, NONE = -1, PLUS = 3 };
		enum big { BIG = 0x80000000u, SMALL = 1 };
		enum mask { HIGH = 0xffff0000u, LOW = 1 };

		static jmp_buf back;

		int leaf(int n)
		{
			return n + 1;
		}

		void jumping(int n)
		{
			if (!n)
				longjmp(back, 1);
			jumping(n - 1);
			leaf(n);
		}

		enum sign turned(int n, enum sign sign)
		{
			return n < 0 ? PLUS : sign;
		}

		unsigned named(enum big big, enum mask mask, short s, signed char c, unsigned char u, long l)
		{
			return leaf(s) + c + u + l + big + mask;
		}

		double real(float f, double d)
		{
			return f * d;
		}

		void *working(void *arg)
		{
			for (int i = 0; i < 20; i++)
				leaf(i);
			return arg;
		}

		int main(void)
		{
			pthread_t thread[2];

			for (int i = 0; i < 2; i++)
				pthread_create(&thread[i], NULL, working, NULL);
			turned(-1, MINUS);
			turned(-32768, NONE);
			turned(70000, MINUS);
			named(BIG, HIGH, -3, -9, 200, -7);
			named(SMALL, LOW, 3, 9, 20, 700000000000);
			real(-1.5f, 2.25);
			strlen("text");
			if (!setjmp(back))
				jumping(3);
			leaf(7);
			for (int i = 0; i < 2; i++)
				pthread_join(thread[i], NULL);
			return 0;
		}
	END
	gcc -O0 -g -pg -o calls calls.c -lpthread
}

# fresh_values: values of all kinds as arguments and returned
fresh_values() {
	cat >values.c <<-'END'
		enum flags { F_A = 1, F_B = 2, F_C = 4, F_D = 16 };

		int ints(int n)
		{
			return n;
		}

		long longs(long n)
		{
			return n;
		}

		enum flags flags(int n, enum flags flags)
		{
			return n ? flags : 0;
		}

		double real(float f, double d)
		{
			return f < 1 ? d : f;
		}

		int main(void)
		{
			ints(-1);
			ints(-65535);
			ints(70);
			ints(-30000);
			ints(0);
			longs(-1);
			longs(-5000000000);
			longs(-704963005);
			longs(0xd5fb2a43);
			flags(1, F_A | F_C);
			flags(2, F_A | F_B | F_D);
			flags(3, F_C | 8);
			flags(4, 0);
			flags(5, F_D);
			real(0.1f, -2.5);
			return 0;
		}
	END
	gcc -O0 -g -pg -o values values.c
}
