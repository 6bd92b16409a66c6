/* links: cmd/trdecode */
/* Sessions of uftrace: maps, modules, libraries that are loaded later, symbols of addresses. */
#include "t/unit/uftrace_dir.h"

#define SID "1111111111111111"

static void test_map(void)
{
	static const char text[] = "1000-2000 r-xp 00000000 00:00 0    /bin/a build-id:abc\n"
				   "2000-3000 rw-p 00000000 00:00 0    /bin/a build-id:abc\n"
				   "4000-5000 rw-p 00000000 00:00 0 \n"
				   "garbage\n"
				   "6000-7000 r-xp 00000000 00:00 0    /lib/b\n"
				   "7000-8000 r-xp 00000000 00:00 0    [vdso]\n"
				   "7ffdeaa89000-7ffdeaaaa000 rw-p 00000000 00:00 0 [stack]\n"
				   "9000-8000 r-xp 00000000 00:00 0    /lib/c";
	struct uftrace_map m;

	is_u64(uftrace_map_parse(&m, text_copy(text), strlen(text)), 0, "a map");
	is_u64(m.nr, 2, "mappings");
	is_u64(m.maps[0].start, 0x1000, "start");
	is_u64(m.maps[0].end, 0x3000, "lines of one path are one mapping");
	is_str(m.maps[0].build_id, "abc", "build-id");
	is_str(m.maps[1].path, "/lib/b", "path");
	is_str(m.maps[1].build_id, "", "no build-id");
	is_u64(m.kernel_base, 0xffff800000000000, "the kernel's base is found by the stack");
	is_u64(m.damaged, 2, "lines that cannot be read");
	uftrace_map_free(&m);
}

static void make(const char *dir)
{
	dir_write(
		dir, "task.txt",
		"SESS timestamp=1.000000000 pid=1 sid=" SID " exename=\"/bin/main\"\n"
		"TASK timestamp=1.000000001 tid=1 pid=1\n"
		"DLOP timestamp=2.000000000 tid=1 sid=" SID " base=900000 libname=\"./plug_a.so\"\n"
		"DLOP timestamp=3.000000000 tid=1 sid=" SID
		" base=900000 libname=\"/x/plug_b.so\"\n"
		"DLOP timestamp=4.000000000 tid=1 sid=" SID " base=900000 libname=\"./plug_a.so\"\n"
		"SESS timestamp=9.000000000 pid=1 sid=2222222222222222 exename=\"/bin/main\"\n"
		"SESS timestamp=9.000000000 pid=7 sid=" SID " exename=\"/bin/main\"\n");
	dir_write(dir, "sid-" SID ".map",
		  "100000-200000 r-xp 00000000 00:00 0 /bin/main build-id:aaaa1111\n"
		  "200000-300000 r-xp 00000000 00:00 0 /lib/l.so build-id:bbbb2222\n"
		  "300000-400000 r-xp 00000000 00:00 0 /other/l.so build-id:cccc3333\n"
		  "400000-500000 r-xp 00000000 00:00 0 /third/l.so\n"
		  "500000-600000 r-xp 00000000 00:00 0 /lib/none.so\n"
		  "900000-901000 r-xp 00000000 00:00 0 /lib/shadow.so\n"
		  "7ff000000000-7ff000001000 rw-p 00000000 00:00 0 [stack]\n");
	dir_write(dir, "main.sym",
		  "# path name: /bin/main\n# build-id: aaaa1111\n"
		  "0000000000001000 T main\n0000000000001100 T _ZN1A1fEi\n"
		  "0000000000001200 ? __sym_end\n");
	dir_write(dir, "l.so.sym",
		  "# path name: /lib/l.so\n# build-id: bbbb2222\n"
		  "0000000000001000 00000100 T in_lib\n");
	dir_write(dir, "l.so-cccc.sym",
		  "# path name: /other/l.so\n# build-id: cccc3333\n"
		  "0000000000001000 00000100 T in_other\n");
	/* the bytes of "/third/l.so" add up to 0x03f5 */
	dir_write(dir, "l.so-03f5.sym",
		  "# path name: /third/l.so\n"
		  "0000000000001000 00000100 T in_third\n");
	dir_write(dir, "plug_a.so.sym",
		  "# path name: /home/u/plug_a.so\n# build-id: dddd\n"
		  "0000000000000100 00000100 T plug_a\n");
	dir_write(dir, "plug_b.so.sym",
		  "# path name: /x/plug_b.so\n# build-id: eeee\n"
		  "0000000000000100 00000040 T plug_b\n");
	dir_write(dir, "kallsyms", "ffffffff81000000 T k_first\nffffffff81001000 T k_second\n");
}

static const char *name_at(struct uftrace_session *s, uint32_t epoch, uint64_t address)
{
	struct uftrace_where w;
	bool found = uftrace_session_resolve(s, epoch, address, &w);

	if (found != !!w.symbol)
		return "contradiction";
	return w.symbol ? w.symbol->name : "none";
}

int main(void)
{
	char *path = dir_new();
	struct uftrace_session *s;
	struct uftrace_where w;
	struct error e;
	uint64_t until;
	struct dir d;

	test_map();
	make(path);
	dir_open(&d, path, UFTRACE_FEAT_SYM_REL_ADDR, 0, "");
	s = uftrace_session_get(d.sessions, &d.tasks->sess[0]);
	ok(s && s == uftrace_session_get(d.sessions, &d.tasks->sess[0]), "a session is made once");
	is_str(name_at(s, 0, 0x101000), "main", "a symbol of the program");
	is_str(name_at(s, 0, 0x1010ff), "main", "its last byte");
	is_str(name_at(s, 0, 0x101180), "_ZN1A1fEi", "the next one, its size from the end marker");
	is_str(name_at(s, 0, 0x101200), "none", "after the last");
	is_str(name_at(s, 0, 0x201000), "in_lib", "a library");
	is_str(name_at(s, 0, 0x301000), "in_other", "another of its name, by build-id");
	is_str(name_at(s, 0, 0x401000), "in_third", "a third, by the sum of its path");
	is_str(name_at(s, 0, 0x501000), "none", "a module without symbols");
	ok(!uftrace_session_resolve(s, 0, 0x501000, &w) && w.module &&
		   !strcmp(w.module->path, "/lib/none.so") && w.base == 0x500000,
	   "still is a module");
	is_str(name_at(s, 0, 0xffffffff81000010), "k_first", "the kernel");
	is_str(name_at(s, 0, 0x50), "none", "no module");

	is_str(name_at(s, 0, 0x900110), "none", "before dlopen");
	is_str(name_at(s, 1, 0x900110), "plug_a", "after it, in spite of a mapping there");
	is_str(name_at(s, 2, 0x900110), "plug_b", "another library at the same base");
	is_str(name_at(s, 2, 0x900180), "plug_a", "where it has no symbol the earlier one shows");
	is_str(name_at(s, 3, 0x900110), "plug_a", "the first one again");
	is_u64(uftrace_session_epoch_at(s, 1999999999, &until), 0, "epoch 0");
	is_u64(until, 2000000000, "until the first dlopen");
	is_u64(uftrace_session_epoch_at(s, 2000000000, NULL), 1,
	       "a dlopen counts from its time on");
	is_u64(uftrace_session_epoch_at(s, UINT64_MAX, &until), 3, "the last epoch");
	is_u64(until, UINT64_MAX, "never ends");

	is_str(s->map_modules[2]->sym_name, "l.so-cccc.sym", "file of a mapping");
	ok(!s->map_modules[4]->sym_name, "there may be none");
	is_str(s->dlopen_modules[0]->sym_name, "plug_a.so.sym",
	       "a relative name fits the end of a path");
	ok(s->dlopen_modules[0] == s->dlopen_modules[2], "a library is one module");
	ok(!uftrace_sessions_damage(d.sessions, &e), "no damage");
	s = uftrace_session_get(d.sessions, &d.tasks->sess[1]);
	is_str(name_at(s, 0, 0x101000), "none", "a session without map");
	ok(uftrace_sessions_damage(d.sessions, &e) && !uftrace_sessions_damage(d.sessions, &e),
	   "is damage, reported once");
	s = uftrace_session_get(d.sessions, &d.tasks->sess[2]);
	ok(s == uftrace_session_get(d.sessions, &d.tasks->sess[0]),
	   "one sid is one address space, whatever number of processes have it");
	dir_close(&d);
	dir_remove(path);
	return done();
}
