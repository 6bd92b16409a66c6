/* links: cmd/trdecode */
/* task.txt of uftrace: tasks, their parents and libraries, damaged lines, loops of parents. */
#include "t/unit/uftrace_dir.h"
#include "cmd/trdecode/uftrace_session.h"

#define A "aaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbb"

static const char text[] =
	"SESS timestamp=10.000000000 pid=1 sid=" A " exename=\"/bin/first one\"\n"
	"TASK timestamp=10.000000001 tid=1 pid=1\n"
	"TASK timestamp=11.000000000 tid=2 pid=1\n"
	"FORK timestamp=12.000000000 pid=3 ppid=2\n"
	"NEWS timestamp=12.000000000 whatever\n"
	"SESS timestamp=20.000000000 pid=3 sid=" B " exename=\"/bin/qu\"ote\"\n"
	"TASK timestamp=20.000000500 tid=3 pid=3\n"
	"TASK timestamp=21.000000000 tid=4 pid=3\n"
	"DLOP timestamp=16.000000000 tid=1 sid=" A " base=7f0000001000 libname=\"./b.so\"\n"
	"DLOP timestamp=15.000000000 tid=1 sid=" A " base=7f0000000000 libname=\"a.so\"\n";

static const char *sid_at(const struct uftrace_tasks *t, int32_t tid, uint64_t time)
{
	uint64_t until;
	const struct uftrace_sess *s =
		uftrace_session_at(t, uftrace_tasks_find(t, tid), time, &until);

	if (until <= time)
		return "interval is empty";
	return s ? s->sid : "none";
}

static void test_text(void)
{
	struct uftrace_tasks *t = uftrace_tasks_new();
	const struct uftrace_sess *s;
	struct error e;
	uint64_t until;

	is_u64(uftrace_tasks_parse_text(t, text, strlen(text), "task.txt", &e), 0, "task.txt");
	is_u64(t->nr_events, 9, "lines");
	is_u64(t->events[8].base, 0x7f0000000000, "base of the last one");
	is_u64(t->nr_sess, 2, "sessions");
	is_u64(t->nr_tasks, 4, "tasks");
	s = &t->sess[1];
	is_str(s->exename, "/bin/qu\"ote", "a name ends at the last quote");
	is_u64(s->time, 20000000000, "time");
	s = &t->sess[0];
	is_u64(s->nr_dlopens, 2, "dlopens");
	ok(s->nr_dlopens == 2 && !strcmp(s->dlopens[0].path, "a.so"), "are sorted by time");
	is_str(uftrace_tasks_find(t, 1)->comm, "first one", "comm");
	is_str(uftrace_tasks_find(t, 3)->comm, "qu\"ote", "comm after exec");
	ok(uftrace_tasks_find(t, 3)->ppid == 2 && uftrace_tasks_find(t, 3)->pid == 3, "a child");
	ok(uftrace_tasks_find(t, 2)->ppid == 0 && uftrace_tasks_find(t, 2)->pid == 1, "a thread");
	ok(!uftrace_tasks_find(t, 5), "no such task");

	is_str(sid_at(t, 1, 5), "none", "before all");
	is_str(sid_at(t, 1, 10000000001), A, "the first task");
	is_str(sid_at(t, 2, 30000000000), A, "a thread");
	is_str(sid_at(t, 2, 10500000000), A, "a thread before its line: as its process");
	is_str(sid_at(t, 3, 13000000000), A, "a child before exec, by way of its parent's record");
	is_str(sid_at(t, 3, 20000000499), A, "one ns before exec");
	is_str(sid_at(t, 3, 20000000500), B, "from exec on");
	is_str(sid_at(t, 4, 21000000000), B, "a thread of it");
	uftrace_session_at(t, uftrace_tasks_find(t, 3), 13000000000, &until);
	is_u64(until, 20000000500, "until when an answer holds");
	uftrace_session_at(t, NULL, 1, &until);
	is_u64(until, UINT64_MAX, "no task: for ever");
	uftrace_tasks_free(t);
}

static void test_damage(void)
{
	static const char bad[] = "SESS timestamp=1.000000000 pid=1 sid=" A " exename=\"x\"\n"
				  "TASK timestamp=1.1000000000 tid=1 pid=1\n"
				  "TASK timestamp=99999999999999999999.0 tid=1 pid=1\n"
				  "TASK timestamp=1.5 tid= pid=1\n"
				  "FORK timestamp=1.5 pid=99999999999 ppid=1\n"
				  "SESS timestamp=1.5 pid=1 sid=../../etc exename=\"x\"\n"
				  "SESS timestamp=1.5 pid=1 sid=" A " exename=\"x\n"
				  "DLOP timestamp=1.5 tid=1 sid=" A " base=zz libname=\"x\"\n"
				  "DLOP timestamp=1.5 tid=1 sid=" B " base=1 libname=\"x\"\n"
				  "TASK timestamp=2.000000000 tid=1 pid=1\n"
				  "TASK timestamp=3.000000000 tid=12 pid=12";
	struct uftrace_tasks *t = uftrace_tasks_new();
	struct error e;

	is_u64(uftrace_tasks_parse_text(t, bad, strlen(bad), "task.txt", &e), 1, "damage");
	is_u64(t->damaged, 9, "lines that cannot be used");
	is_u64(e.offset, strchr(bad, 10) + 1 - bad, "the first one's offset");
	is_u64(t->nr_tasks, 1, "the rest goes on");
	is_str(sid_at(t, 1, 2000000000), A, "and is used");
	uftrace_tasks_free(t);
}

static void test_loop(void)
{
	static const char loop[] = "FORK timestamp=1.000000000 pid=1 ppid=2\n"
				   "FORK timestamp=1.000000000 pid=2 ppid=1\n";
	struct uftrace_tasks *t = uftrace_tasks_new();

	uftrace_tasks_parse_text(t, loop, strlen(loop), "task.txt", NULL);
	is_str(sid_at(t, 1, 5000000000), "none", "parents in a circle end");
	uftrace_tasks_free(t);
}

static size_t put(uint8_t *p, uint64_t v, size_t n, bool big)
{
	for (size_t i = 0; i < n; i++)
		p[big ? n - 1 - i : i] = v >> (8 * i);
	return n;
}

static void test_binary(bool big)
{
	const uint16_t one = 1;
	bool host_big = !*(const uint8_t *)&one;
	uint8_t b[256] = {0};
	size_t n = 0;
	struct uftrace_tasks *t = uftrace_tasks_new();
	struct error e;

	n += put(b + n, UFTRACE_MSG_MAGIC, 2, big);
	n += put(b + n, UFTRACE_MSG_SESSION, 2, big);
	n += put(b + n, 45, 4, big);
	n += put(b + n, 100, 8, big);
	n += put(b + n, 1, 4, big);
	n += put(b + n, 1, 4, big);
	memcpy(b + n, A, 16);
	n += 16 + 4;
	n += put(b + n, 5, 4, big);
	memcpy(b + n, "/b/ls", 5);
	n += 8;
	for (int fork = 0; fork < 2; fork++) {
		n += put(b + n, UFTRACE_MSG_MAGIC, 2, big);
		n += put(b + n, fork ? UFTRACE_MSG_FORK_END : UFTRACE_MSG_TASK, 2, big);
		n += put(b + n, 16, 4, big);
		n += put(b + n, 200 + fork, 8, big);
		n += put(b + n, 1, 4, big);
		n += put(b + n, 1 + fork, 4, big);
	}
	is_u64(uftrace_tasks_parse_binary(t, b, n, big != host_big, "task", &e), 0, "binary file");
	is_str(sid_at(t, 2, 201), A, "its session");
	is_str(uftrace_tasks_find(t, 2)->comm, "ls", "its comm");
	is_u64(uftrace_tasks_find(t, 2)->ppid, 1, "its fork");
	uftrace_tasks_free(t);

	for (size_t cut = 0; cut < n; cut++) {
		t = uftrace_tasks_new();
		uftrace_tasks_parse_binary(t, b, cut, big != host_big, "task", &e);
		uftrace_tasks_free(t);
	}
	t = uftrace_tasks_new();
	is_u64(uftrace_tasks_parse_binary(t, b, n - 1, big != host_big, "task", &e), 1, "cut file");
	is_u64(t->nr_tasks, 1, "with what is whole");
	uftrace_tasks_free(t);
}

int main(void)
{
	test_text();
	test_damage();
	test_loop();
	test_binary(false);
	test_binary(true);
	return done();
}
