/* the program of callgrind.out: gcc -O1 -g -static -o work work.c; valgrind --tool=callgrind ./work
 */
static volatile unsigned long sink;
#define KEEP __attribute__((noinline, noclone))
KEEP static void checksum(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}
KEEP static void read_block(void)
{
	checksum(300);
}
KEEP static void write_block(void)
{
	checksum(600);
	checksum(10);
}
KEEP static unsigned walk(unsigned n)
{
	for (unsigned i = 0; i < 200; i++)
		sink += n;
	return n < 2 ? n : walk(n - 1) + walk(n - 2);
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		read_block();
	for (int i = 0; i < 30; i++)
		write_block();
	return walk(12) == 1;
}
