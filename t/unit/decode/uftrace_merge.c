/* links: cmd/trdecode */
/* A recording of tasks that run two at a time, and the rows that come of it: all, and in order. */
#include "t/unit/uftrace_dir.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "cmd/trdecode/formats.h"
#include "common/formats/uftrace.h"
#include "common/stream/reader.h"

enum { TASKS = 4, RECORDS = 60000, FIRST_TID = 100, LOST_WORD = 3 };

static uint64_t records[TASKS][RECORDS][2]; /* time, word */
static size_t counts[TASKS];

static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

static void put(unsigned task, uint64_t time, uint64_t word)
{
	uint64_t *r = records[task][counts[task]++];

	r[0] = time;
	r[1] = word | UFTRACE_RECORD_MAGIC << 3;
}

/* For a while two of the tasks run, then two others, or the same; coarse times, so that many are
 * equal. */
static void make(uint32_t seed)
{
	unsigned depth[TASKS] = {0}, a = 0, b = 1;
	uint64_t time = 1000000000;

	memset(counts, 0, sizeof counts);
	for (int i = 0, left = 0; i < RECORDS; i++, left--) {
		uint32_t x = next(&seed);
		unsigned task = x & 1 ? a : b;
		bool leave = depth[task] && (depth[task] > 40 || x & 2);

		if (left <= 0) {
			left = 1 << (x >> 20 & 15);
			a = x >> 8 & 3;
			b = x >> 10 & 3;
			time += x >> 12 & 0xfff;
		}
		time += (x >> 4 & 15) * 8;
		if (!(x >> 16 & 0x3ff)) {
			put(task, 0, LOST_WORD | 7 << 16);
			continue;
		}
		depth[task] -= leave;
		put(task, time,
		    leave | (uint64_t)depth[task] << 6 | (0x1000 + (uint64_t)(x >> 24)) << 16);
		depth[task] += !leave;
	}
}

static char *write_directory(void)
{
	char *dir = dir_new(), name[40], text[400] = "", *end = text;
	size_t size;
	void *info = info_bytes(0, 1ull << UFTRACE_INFO_TASKINFO,
				"taskinfo:lines=2\ntaskinfo:nr_tid=4\ntaskinfo:tids=100,101,102,"
				"103\n",
				&size);

	dir_write_bytes(dir, "info", info, size);
	free(info);
	end += sprintf(end, "SESS timestamp=0.5 pid=100 sid=1234567890abcdef exename=\"/x\"\n");
	for (int i = 0; i < TASKS; i++)
		end += sprintf(end, "TASK timestamp=0.5 tid=%d pid=100\n", FIRST_TID + i);
	dir_write(dir, "task.txt", text);
	for (int i = 0; i < TASKS; i++) {
		snprintf(name, sizeof name, "%d.dat", FIRST_TID + i);
		dir_write_bytes(dir, name, records[i], counts[i] * sizeof **records);
	}
	return dir;
}

static bool decode(const char *dir, int fd)
{
	struct writer writer;
	struct output out;
	struct error e = {.what = ""};
	struct decoding d = {.writer = &writer, .quiet = true};
	struct input in = {.name = dir,
			   .decoder = &decoder_uftrace,
			   .decoding = &d,
			   .next = UINT64_MAX,
			   .fd = -1,
			   .clock_name = "",
			   .faults.nkinds = FAULT_KINDS};
	char path[32];
	bool good;

	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	in.tree = tree_open_near(dir, &e);
	good = in.tree && !output_open(&out, path, OUTPUT_BINARY, &e) &&
	       !writer_init(&writer, &out, 0) && in.decoder->probe(&in) &&
	       !in.decoder->open(&in, &e) && !writer_begin(&writer, 1) &&
	       !in.decoder->begin(&in, &e) && !in.decoder->run(&in, UINT64_MAX, &e) &&
	       !writer_finish(&writer) && !output_close(&out, 0, &e);
	if (!good)
		printf("# %s\n", e.what);
	in.decoder->close(&in);
	writer_free(&writer);
	tree_close(in.tree);
	return good;
}

/* Each task's rows are its records, and all are in order of time, then of tasks. */
static bool read_rows(int fd)
{
	size_t at[TASKS] = {0};
	uint64_t last = 0, last_task = 0;
	struct reader r;
	struct block b;
	struct events it;
	struct event e;
	bool good = true;
	int got;

	lseek(fd, 0, SEEK_SET);
	reader_open_fd(&r, fd, "stream", NULL, 0);
	while ((got = reader_next(&r, &b))) {
		good &= got > 0;
		if (got < 0 || b.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &b); good && event_next(&it, &e);) {
			uint64_t task = (uint64_t)(e.lane->tid - FIRST_TID), *want;

			want = task < TASKS && at[task] < counts[task] ? records[task][at[task]++]
								       : NULL;
			if (!want || e.type->kind == KIND_GAP) {
				good = want && (want[1] & 3) == LOST_WORD;
				continue;
			}
			good = want[0] == e.time && (want[1] & 3) == (e.type->kind == KIND_LEAVE) &&
			       (want[1] >> 6 & 0x3ff) == e.depth &&
			       (e.time > last || (e.time == last && task >= last_task));
			last = e.time;
			last_task = task;
		}
	}
	for (int i = 0; i < TASKS; i++)
		good &= at[i] == counts[i];
	reader_close(&r);
	return good;
}

int main(void)
{
	for (uint32_t seed = 1; seed <= 12; seed++) {
		int fd = memfd_create("stream", MFD_CLOEXEC);
		char title[60], *dir;

		make(seed * 77777);
		dir = write_directory();
		snprintf(title, sizeof title, "tasks two at a time, seed %" PRIu32, seed);
		ok(decode(dir, fd) && read_rows(fd), title);
		dir_remove(dir);
	}
	return done();
}
