// one process with threads: reads and writes with O_DIRECT and fsync, sockets, pipes, sleeps,
// pages, files
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rounds;

static void *disk(void *unused)
{
	pthread_setname_np(pthread_self(), "disk");
	void *block;
	if (posix_memalign(&block, 4096, 65536))
		abort();
	memset(block, 7, 65536);
	int fd = open("direct.bin", O_RDWR | O_CREAT | O_DIRECT | O_TRUNC, 0600);
	for (int i = 0; i < rounds; i++)
		if (pwrite(fd, block, 16384, i * 65536L) < 0)
			perror("pwrite");
	fsync(fd);
	for (int i = 0; i < rounds; i++)
		if (pread(fd, block, 8192, i * 65536L) < 0)
			perror("pread");
	close(fd);
	return unused;
}

static void *serve(void *listener)
{
	pthread_setname_np(pthread_self(), "server");
	int fd = accept(*(int *)listener, NULL, NULL);
	char text[4096];
	ssize_t n;
	while ((n = recvfrom(fd, text, sizeof(text), 0, NULL, NULL)) > 0)
		if (sendto(fd, text, n / 2, 0, NULL, 0) < 0)
			break;
	close(fd);
	return NULL;
}

static void net(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	bind(listener, (void *)&at, sizeof(at));
	listen(listener, 1);
	getsockname(listener, (void *)&at, &size);
	pthread_t server;
	pthread_create(&server, NULL, serve, &listener);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	connect(fd, (void *)&at, sizeof(at));
	char text[4096] = "";
	for (int i = 0; i < rounds; i++) {
		if (sendto(fd, text, 100 + i * 10, 0, NULL, 0) < 0 ||
		    recvfrom(fd, text, sizeof(text), 0, NULL, NULL) < 0)
			break;
	}
	shutdown(fd, SHUT_WR);
	close(fd);
	pthread_join(server, NULL);
	close(listener);
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 20;
	pthread_t thread;
	pthread_create(&thread, NULL, disk, NULL);
	net();
	int ends[2];
	if (pipe(ends))
		return 1;
	pid_t child = fork();
	if (!child) {
		close(ends[1]);
		char text[64];
		while (read(ends[0], text, sizeof(text)) > 0)
			;
		execlp("true", "true", NULL);
	}
	close(ends[0]);
	for (int i = 0; i < rounds; i++) {
		if (write(ends[1], "hello", 5) < 0)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
		char *pages = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(pages, i, 1 << 16);
		munmap(pages, 1 << 16);
		char name[32];
		snprintf(name, sizeof(name), "file-%d", i % 4);
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600), other = dup(fd);
		for (int j = 0; j < 3; j++)
			if (write(fd, name, 1 + j + i) < 0)
				perror("write");
		lseek(other, 0, SEEK_SET);
		if (read(other, name, sizeof(name)) < 0 || open("missing", O_RDONLY) >= 0)
			perror("read");
		close(fd);
		close(other);
	}
	close(ends[1]);
	waitpid(child, NULL, 0);
	sync_file_range(open("file-1", O_RDWR), 0, 10, SYNC_FILE_RANGE_WRITE);
	pthread_join(thread, NULL);
	return 0;
}
