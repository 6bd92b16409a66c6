/*
 * work.c - the program of the recordings beside it: maps.txt and maps.json by bpftrace 0.17 and
 * maps.bt, offcputime.txt by offcputime -p PID 1 and runqlat.txt by runqlat -P 1 1 of bcc 0.26,
 * which has its first processes
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void spin(unsigned long n)
{
	while (n--)
		sink += n;
}

__attribute__((noinline)) void copy_some(int size)
{
	static char data[1 << 17];
	int fd = open("/dev/zero", O_RDONLY);

	sink += (unsigned long)read(fd, data, (size_t)size);
	close(fd);
}

__attribute__((noinline)) void both(int i)
{
	spin(20000);
	copy_some(1 << (i % 17));
	copy_some(700);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argc > 1 ? argv[1] : "0"); i++) {
		both(i);
		usleep(200);
	}
	return 0;
}
