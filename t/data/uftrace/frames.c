/*
 * frames.c - 60 frames of about 10 ms; the frames that load a level take longer
 *
 *     gcc -O1 -pg -fno-inline -o frames frames.c && uftrace record -F main -d frames.data ./frames
 */
#include <unistd.h>

void load_level(int level)
{
	usleep(12000 + 6000 * level);
}

void update(int frame)
{
	if (frame % 20 == 13)
		load_level(frame / 20);
	usleep(2000);
}

void draw(int frame)
{
	usleep(5000 + 50 * (frame % 7));
}

void present(void)
{
	usleep(3000);
}

int main(void)
{
	for (int frame = 0; frame < 60; frame++) {
		update(frame);
		draw(frame);
		present();
	}
	return 0;
}
