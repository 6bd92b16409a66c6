/* Names as `uftrace report` and c++filt print them; names that no compiler makes */
#include "common/symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "t/unit/tap.h"

struct pair {
	const char *mangled, *readable;
};

static void check(enum demangle_style style, const struct pair *pairs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		char *got = demangle(pairs[i].mangled, style);

		is_str(got, pairs[i].readable, pairs[i].readable);
		free(got);
	}
}

static const struct pair simple[] = {
	{"main", "main"},
	{"_start", "_start"},
	{"", ""},
	{"_ZN3ABC3fooEv", "ABC::foo"},
	{"_ZN3ABCC1Ei", "ABC::ABC"},
	{"_ZN3ABCD0Ev", "ABC::~ABC"},
	{"_ZN3FooIiEC2ERKS0_", "Foo::Foo"},
	{"_ZNSsC1EPKcRKSaIcE", "std::basic_string::basic_string"},
	{"_Znwm", "operator new"},
	{"_ZdaPv", "operator delete[]"},
	{"_ZN1AltERKS_", "A::operator<"},
	{"_ZN1AclEv", "A::operator()"},
	{"_ZN1AptEv", "A::operator->"},
	{"_ZN1AcvT_IiEEv", "A::operator(cast)"},
	{"_ZNK1AcvbEv", "A::operator(cast)"},
	{"_Zli3_kme", "operator\"\""},
	{"_ZNK1AssERKS_", "A::operator<=>"},
	{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std::operator<<"},
	{"_ZNSolsEi", "std::basic_ostream::operator<<"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
	{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1Ev",
	 "std::__cxx11::basic_string::basic_string"},
	{"_ZNSt8ios_base7failureB5cxx11D1Ev", "std::ios_base::failure::cxx11::~failure"},
	{"_ZN12_GLOBAL__N_11fEv", "_GLOBAL__N_1::f"},
	{"_ZL6staticv", "static"},
	{"_ZZ4mainENKUlvE_clEv", "main::$_0::operator()"},
	{"_ZZ4mainENKUliiE1_clEii", "main::$_2::operator()"},
	{"_ZZ4mainENKUlTyT_E_clIiEEDaS_", "main::$_0::operator()"},
	{"_ZZN1A1fEvENK3$_0clEv", "A::f::$_0::operator()"},
	{"_ZZ1fvENUt_D1Ev", "f::~f"},
	{"_ZZ1fvE1x_0", "f::x"},
	{"_ZThn8_N7ServiceD0Ev", "Service::~Service"},
	{"_ZTv0_n24_NSoD1Ev", "std::basic_ostream::~basic_ostream"},
	{"_ZTch0_h16_N1A1fEv", "A::f"},
	{"_ZGTtNSt11range_errorD1Ev", "std::range_error::~range_error"},
	{"_ZTV1A", "__vtable__A"},
	{"_ZTI1A", "__typeinfo_name__A"},
	{"_ZTSSt12system_error", "__typeinfo__std::system_error"},
	{"_ZTT1A", "__VTT__A"},
	{"_ZTC1B0_1A", "__construction_vtable__B"},
	{"_ZGVZ1fvE1x", "__guard_variable__f::x"},
	{"_ZTW1x", "TLS_wrap::x"},
	{"_ZTHN1a1bE", "TLS_init::a::b"},
	{"_ZN4node8Watchdog7DestroyEv.part.0", "node::Watchdog::Destroy"},
	{"_Z1fi.constprop.17.isra.3", "f"},
	{"_Z1fi.llvm.1234567", "f"},
	{"_ZNSi6ignoreEl@@GLIBCXX_3.4.5", "std::basic_istream::ignore"},
	{"_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main"},
	{"_GLOBAL__sub_I__ZN1A1xE", "_GLOBAL__sub_I_A::x"},
	{"__device_stub__Z3mulPfi", "__device_stub_mul"},
	{"_Z1fIiEDTclL_Z1gEfp_EET_", "f"},
	{"_ZN4base8internal15OptionalStorageImLb1ELb1EECI2NS0_19OptionalStorageBaseImLb1EEEIJRKmEEE"
	 "NS_10in_place_tEDpOT_",
	 /* a constructor that is inherited */
	 "base::internal::OptionalStorage::OptionalStorage"},
	{"_ZL5tableILi3EEvPK3CtxRDv4_fS4_S4_S3_Dv4_jS5_", "table"},
	{"_ZSt12construct_atIcJcEEDTgsnwcvPvLi0E_T_pispcl7declvalIT0_EEEEPS1_DpOS2_",
	 "std::construct_at"},
	{"_Z4diviIiiEDTdvfp_fp0_ET_T0_", "divi"},
	/* "sr": an expression that depends on a template, and a part of an identifier */
	{"_ZSt4swapIN4llvm15FunctionSummary11ParamAccess4CallEENSt9enable_ifIXsr6__and_ISt6__not_"
	 "ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS7_ESt18is_move_assignableIS7_"
	 "EEE5value"
	 "EvE4typeERS7_SG_",
	 "std::swap"},
	{"_ZN6usrlib3srxIiEENSt9enable_ifIXsr3isaIT_EE5valueEvE4typeES1_.isra.0", "usrlib::srx"},
	/* an expression in the function around: what c++filt -p prints */
	{"_ZZNSt8__detail13__to_chars_16IjEENSt9enable_ifIXsrSt5__or_IJSt7is_sameIT_jEEE5valueES3_"
	 "E4"
	 "typeEPcE8__digits",
	 "std::__detail::__to_chars_16<unsigned int>(char*)::__digits"},
	/* Rust, as rustc named things before 2025 */
	{"_ZN3foo3bar17h05af221e174051e9E", "foo::bar"},
	{"_ZN8$BP$test3foo17h05af221e174051e9E", "*test::foo"},
	{"_ZN35Bar$LT$$u5b$u32$u3b$$u20$4$u5d$$GT$17h05af221e174051e9E", "Bar<[u32; 4]>"},
	{"_ZN61_$LT$$RF$std..io..stdio..Stdout$u20$as$u20$std..io..Write$GT$9write_fmt"
	 "17h75c561f414a62159E",
	 "<&std::io::stdio::Stdout as std::io::Write>::write_fmt"},
	{"_ZN43_$LT$fmt..P$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
	 "<fmt::P as core::fmt::Debug>::fmt"},
	{"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$"
	 "17h0123456789abcdefE",
	 "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
	/* and v0: what c++filt prints, without hashes of crates and types of constants */
	{"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
	{"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
	 "<std::path::PathBuf>::new"},
	{"_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
	 "<mycrate::Example as mycrate::Trait>::foo"},
	{"_RNvYNtCs15kBYyAo9fc_7mycrate7ExampleNtB4_5Trait7exampleB4_",
	 "<mycrate::Example as mycrate::Trait>::example"},
	{"_RNCNvCsgStHSCytQ6I_7mycrate4mains_0B3_", "mycrate::main::{closure#1}"},
	{"_RINvCs7qp2U7fqm6G_7mycrate7exampleAtj8_EB2_", "mycrate::example::<[u16; 8]>"},
	{"_RINvCs7qp2U7fqm6G_7mycrate7exampleNtB2_7ExampleBw_EB2_",
	 "mycrate::example::<mycrate::Example, mycrate::Example>"},
	{"_RNvNvNvCs7qp2U7fqm6G_7mycrate7EXAMPLE7___getit5___KEY$tlv$init",
	 "mycrate::EXAMPLE::__getit::__KEY"},
	{"_RNvXs1g_NtCs8NwYtU1Mohg_4core3fmtReNtB6_5Debug3fmt", "<&str as core::fmt::Debug>::fmt"},
	/* RFC 2603 */
	{"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	 "utf8_idents::საჭმელად_გემრიელი_სადილი"},
	{"_RNvNCNvC1a1b012STATE_OBJECT", "a::b::{closure#0}::STATE_OBJECT"},
	/* types that differ have names that differ */
	{"_RNvXC1aFhEhNtB2_2Tr1m", "<fn(u8) -> u8 as a::Tr>::m"},
	{"_RNvXC1aFhEtNtB2_2Tr1m", "<fn(u8) -> u16 as a::Tr>::m"},
	{"_RNvXC1aFhEuNtB2_2Tr1m", "<fn(u8) as a::Tr>::m"},
	{"_RNvXC1aFUhEuNtB2_2Tr1m", "<unsafe fn(u8) as a::Tr>::m"},
	{"_RNvXC1aFKChEuNtB2_2Tr1m", "<extern \"C\" fn(u8) as a::Tr>::m"},
	{"_RNvXC1aFUKChEuNtB2_2Tr1m", "<unsafe extern \"C\" fn(u8) as a::Tr>::m"},
	{"_RNvXC1aFK8fastcallhEuNtB2_2Tr1m", "<extern \"fastcall\" fn(u8) as a::Tr>::m"},
	{"_RNvXC1aFG_RL0_hEuNtB2_2Tr1m", "<for<'a> fn(&'a u8) as a::Tr>::m"},
	{"_RNvXC1aFRhEuNtB2_2Tr1m", "<fn(&u8) as a::Tr>::m"},
	{"_RNvXC1aFG0_RL0_hRL1_tEuNtB2_2Tr1m", "<for<'a, 'b> fn(&'b u8, &'a u16) as a::Tr>::m"},
	{"_RNvXC1aDNtB2_1PEL_NtB2_2Tr1m", "<dyn a::P as a::Tr>::m"},
	{"_RNvXC1aDNtB2_1PNtB2_4SendEL_NtB2_2Tr1m", "<dyn a::P + a::Send as a::Tr>::m"},
	{"_RNvXC1aDINtB2_1QtEp1NhEL_NtB2_2Tr1m", "<dyn a::Q<u16, N = u8> as a::Tr>::m"},
	{"_RNvXC1aDNtB2_1Qp1NhEL_NtB2_2Tr1m", "<dyn a::Q<N = u8> as a::Tr>::m"},
	{"_RNvXC1aINtB2_1OFhEhENtB2_2Tr1m", "<a::O<fn(u8) -> u8> as a::Tr>::m"},
	{"_RNvXC1aINtB2_1OFhEtENtB2_2Tr1m", "<a::O<fn(u8) -> u16> as a::Tr>::m"},
	{"_RNvXC1aPhNtB2_2Tr1m", "<*const u8 as a::Tr>::m"},
	{"_RNvXC1aOhNtB2_2Tr1m", "<*mut u8 as a::Tr>::m"},
	{"_RNvXC1aQhNtB2_2Tr1m", "<&mut u8 as a::Tr>::m"},
	{"_RNvXC1aRhNtB2_2Tr1m", "<&u8 as a::Tr>::m"},
	{"_RNvXC1aINtB2_1GKan5_ENtB2_2Tr1m", "<a::G<-5> as a::Tr>::m"},
	{"_RNvXC1aINtB2_1GKa5_ENtB2_2Tr1m", "<a::G<5> as a::Tr>::m"},
	{"_RNvXC1aINtB2_1GKb1_ENtB2_2Tr1m", "<a::G<true> as a::Tr>::m"},
	{"_RNvXC1aINtB2_1GL_tENtB2_2Tr1m", "<a::G<'_, u16> as a::Tr>::m"},
	{"_RNvXC1aTNtB2_1ANtB2_1BENtB2_2Tr1m", "<(a::A, a::B) as a::Tr>::m"},
};

static const struct pair full[] = {
	{"main", "main"},
	{"_ZN3ABC3fooEv", "ABC::foo()"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi",
	 "std::vector<int, std::allocator<int> >::push_back(int&&)"},
	{"_Z1fi.constprop.0", "f(int) [clone .constprop.0]"},
	{"_Z1fi.llvm.1234567", "f(int)"},
	{"_ZNSi6ignoreEl@@GLIBCXX_3.4.5", "std::istream::ignore(long)@@GLIBCXX_3.4.5"},
	{"_Z4diviIiiEDTdvfp_fp0_ET_T0_", "decltype ({parm#1}/{parm#2}) divi<int, int>(int, int)"},
	{"_ZN1AI1BIXsr1CIT_E5valueEEE1fEv", "_ZN1AI1BIXsr1CIT_E5valueEEE1fEv"},
	{"_ZN3foo3bar17h05af221e174051e9E", "foo::bar"},
	{"_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
	 "<mycrate::Example as mycrate::Trait>::foo"},
};

/* Names that are broken after what the simple form shows: it does not read the parameters. */
static const struct pair broken_after[] = {
	{"_Z1fIiE_", "f"}, {"_Z1fDv", "f"},  {"_Z1f\x80", "f"},
	{"_Z1f1", "f"},	   {"_Z1fLi0", "f"}, {"_ZN1aE1", "a"},
};

static const struct pair broken_full[] = {
	{"_Z1fIiE_", "_Z1fIiE_"},
	{"_Z1f\x80", "_Z1f\x80"},
	{"_Z1fLi0", "_Z1fLi0"},
};

static const struct pair no[] = {{"_ZN3ABC3fooEv", "_ZN3ABC3fooEv"}};

static const char *const broken[] = {
	"_",
	"_Z",
	"_R",
	"_ZN",
	"_Z3ab",
	"_ZC1v",
	"_ZN3ABC",
	"_Z1fI",
	"_ZZ",
	"_ZUl",
	"_ZNKUlvE",
	"_ZTV",
	"_ZN1aC1",
	"_R5",
	"_RNvC",
	"_RNfC00",
	"_RNvC1a9b",
	"_RNvB_1a",
	"_RINvC1a1b",
	"_RNvC1a1bX",
	"_Z999999999999999999999a",
	"_Z1fIXE",
	"_Z1fIXplE",
	"_GLOBAL__sub_I__Z",
	"__device_stub_",
};

/* The mangled name comes back, and nothing bad happens. */
static void test_broken(void)
{
	size_t i, wrong = 0;
	int style;

	for (i = 0; i < sizeof broken / sizeof *broken; i++)
		for (style = DEMANGLE_NO; style <= DEMANGLE_FULL; style++) {
			char *got = demangle(broken[i], (enum demangle_style)style);

			if (strcmp(got, broken[i]) != 0) {
				printf("# %s -> %s\n", broken[i], got);
				wrong++;
			}
			free(got);
		}
	is_u64(wrong, 0, "broken names stay as they are");
}

static char *repeat(const char *before, const char *part, unsigned n, const char *after)
{
	size_t length = strlen(part);
	char *s = malloc(strlen(before) + length * n + strlen(after) + 1), *p = s;

	p = stpcpy(p, before);
	while (n--)
		p = stpcpy(p, part);
	strcpy(p, after);
	return s;
}

static void survive(char *name, const char *what)
{
	char *a = demangle(name, DEMANGLE_SIMPLE), *b = demangle(name, DEMANGLE_FULL);

	ok(a && b && strlen(a) < 1 << 17 && strlen(b) < 1 << 17, what);
	free(a);
	free(b);
	free(name);
}

static void test_hostile(void)
{
	char doubled[4096], *p = doubled;
	int i;

	survive(repeat("_Z1f", "P", 16000, "i"), "16000 pointers");
	survive(repeat("_Z1f", "PFvi", 4000, ""), "4000 nested functions");
	survive(repeat("_Z", "Z", 16000, ""), "16000 local names");
	survive(repeat("_ZN1acv", "T_I", 500, "iEv"), "templates in a conversion");
	survive(repeat("_ZN1a", "C1", 8000, "Ev"), "8000 constructors");
	survive(repeat("_Z1f", "R1a", 3000, ""), "3000 references");
	survive(repeat("_Z1f", "DTcv", 4000, ""), "4000 expressions in types");
	survive(repeat("_ZN1acv", "T_I", 5000, "iEv"), "5000 templates in a conversion");
	survive(repeat("_ZTIF", "vFv", 5000, ""), "5000 nested functions in an object's name");
	survive(repeat("_R", "N", 16000, ""), "16000 Rust paths");
	survive(repeat("_RNvXINvC1a1bFG", "z", 9, "_uEuEuNtC1a1T1m"), "62^9 lifetimes");
	survive(repeat("_RNvC1au15000", "9", 15000, ""), "15000 letters of Unicode");
	survive(repeat("_Z1f", "1a", 8000, ""), "8000 parameters");
	survive(repeat("_ZN", "1a", 8000, "E"), "8000 scopes");
	survive(repeat("_Z1f", "P", 60000, "i"), "more than 16 KiB");

	/* each type refers twice to the one before it */
	p += sprintf(p, "_Z1f1aPFvS_S_E");
	for (i = 0; i < 40; i++) {
		int n = i * 2 + 1;

		if (n <= 36)
			p += sprintf(p, "PFvS%c_S%c_E",
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n - 1],
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n - 1]);
		else
			p += sprintf(p, "PFvS%c%c_S%c%c_E",
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(n - 1) / 36],
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(n - 1) % 36],
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(n - 1) / 36],
				     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(n - 1) % 36]);
	}
	survive(strdup(doubled), "a type of 2^40 parts");
}

static void test_styles(void)
{
	enum demangle_style style = DEMANGLE_NO;

	ok(demangle_style_parse("full", &style) == 0 && style == DEMANGLE_FULL, "full");
	ok(demangle_style_parse("simple", &style) == 0 && style == DEMANGLE_SIMPLE, "simple");
	ok(demangle_style_parse("no", &style) == 0 && style == DEMANGLE_NO, "no");
	ok(demangle_style_parse("ful", &style) < 0 && style == DEMANGLE_NO, "no such style");
}

int main(void)
{
	check(DEMANGLE_SIMPLE, simple, sizeof simple / sizeof *simple);
	check(DEMANGLE_FULL, full, sizeof full / sizeof *full);
	check(DEMANGLE_NO, no, 1);
	check(DEMANGLE_SIMPLE, broken_after, sizeof broken_after / sizeof *broken_after);
	check(DEMANGLE_FULL, broken_full, sizeof broken_full / sizeof *broken_full);
	test_broken();
	test_hostile();
	test_styles();
	return done();
}
