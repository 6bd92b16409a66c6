/* links: cmd/trdecode */
/*
 * perf.c - any bytes as a perf.data, in the way of apitrace.c
 *
 * The only program that the trace can map is "/200", an ELF file in memory: code from address 0x100
 * on in a page, of which each frame is a return address. So stacks are unwound with a real module,
 * at any address.
 */
#include <elf.h>
#include <string.h>

#define DECODER decoder_perf
#define SYSROOT "/proc/self/fd"
#include "t/fuzz/apitrace.c"

enum { MODULE = 200, PAGE = 4096, TEXT = 0x100, FRAMES = 0x800, NAMES = 0x900, SECTIONS = 0x940 };

static const char section_names[] = "\0.text\0.eh_frame\0.shstrtab";

/* The CIE and the FDE of the code: the frame of a function is its return address. */
static void put_frames(uint8_t *file)
{
	static const uint8_t cie[24] = {20, 0, 0,    0,	 0, 0,	  0,	0, 1, 'z',  'R',
					0,  1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};
	int32_t fde[] = {16, 28, TEXT - (FRAMES + 32), FRAMES - TEXT, 0};

	memcpy(file + FRAMES, cie, sizeof cie);
	memcpy(file + FRAMES + 24, fde, sizeof fde);
}

__attribute__((constructor)) static void make_module(void)
{
	static uint8_t file[PAGE];
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof head,
			   .e_shoff = SECTIONS,
			   .e_ehsize = sizeof head,
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 4,
			   .e_shstrndx = 3};
	Elf64_Phdr load = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_filesz = PAGE,
			   .p_memsz = 4 * PAGE,
			   .p_align = PAGE};
	Elf64_Shdr sections[4] = {
		{.sh_type = SHT_NULL},
		{1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT, FRAMES - TEXT, 0, 0, 1, 0},
		{7, SHT_PROGBITS, SHF_ALLOC, FRAMES, FRAMES, 48, 0, 0, 8, 0},
		{17, SHT_STRTAB, 0, 0, NAMES, sizeof section_names, 0, 0, 1, 0},
	};
	int fd;

	memcpy(file, &head, sizeof head);
	memcpy(file + sizeof head, &load, sizeof load);
	put_frames(file);
	memcpy(file + NAMES, section_names, sizeof section_names);
	memcpy(file + SECTIONS, sections, sizeof sections);
	fd = memory_file(file, sizeof file);
	need(dup2(fd, MODULE) == MODULE, "no descriptor for the module");
	close(fd);
}
