/* two threads that wait, a child that fails, a signal, files, errors */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void on_usr1(int n)
{
	(void)n;
}
static void *work(void *us)
{
	for (int i = 0; i < 2; i++)
		usleep((unsigned)(long)us);
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	char buf[16];
	int status, fd = open("/etc/hostname", O_RDONLY);
	ssize_t n = read(fd, buf, sizeof buf);
	(void)n;
	close(fd);
	open("/none, (of) \"these\" = 3", O_RDONLY);
	signal(SIGUSR1, on_usr1);
	kill(getpid(), SIGUSR1);
	n = write(1, "a\nb = 3\n", 8);
	pthread_create(&a, NULL, work, (void *)3000L);
	pthread_create(&b, NULL, work, (void *)5000L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pid_t p = fork();
	if (!p) {
		usleep(1000);
		close(99);
		_exit(3);
	}
	waitpid(p, &status, 0);
	p = fork();
	if (!p) {
		execl("/none", "none", (char *)0);
		pause();
	}
	usleep(2000);
	kill(p, SIGKILL);
	waitpid(p, &status, 0);
	return 0;
}
