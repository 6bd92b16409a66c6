/* Requests, every fiftieth of which waits for the disk. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) void parse(int n)
{
	for (int i = 0; i < 2000 + n % 7 * 300; i++)
		sink += i;
}
__attribute__((noinline)) void append(int fd, int n)
{
	if (write(fd, "request\n", 8) < 0)
		_exit(1);
	sink += n;
}
__attribute__((noinline)) void audit(int n)
{
	sink += n;
}
__attribute__((noinline)) void flush(int fd)
{
	if (fsync(fd))
		_exit(1);
}
__attribute__((noinline)) void request(int fd, int n)
{
	parse(n);
	append(fd, n);
	if (n % 50 == 0)
		flush(fd);
	if (n % 50 == 0 || n % 23 == 0)
		audit(n);
}
int main(int argc, char **argv)
{
	int fd = open("requests.log", O_CREAT | O_WRONLY | O_APPEND, 0600),
	    count = argc > 1 ? atoi(argv[1]) : 1000;
	for (int n = 1; n <= count; n++)
		request(fd, n);
	return 0;
}
