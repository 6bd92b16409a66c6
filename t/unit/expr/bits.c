/* links: cmd/trfilter */
/* Bits of a field have names in conditions, as those of a value have. */
#include "t/unit/filter_run.h"

static void make_bits(const char *path)
{
	struct output output;
	struct writer w;
	struct error e;
	struct ids ids;
	struct field_entry f = {.kind = FIELD_BITMASK, .size = 4};
	struct type_entry t = {.kind = KIND_INSTANT, .fixed_size = 4, .nfields = 1, .fields = &f};
	uint32_t type;

	output_open(&output, path, OUTPUT_BINARY, &e);
	writer_init(&w, &output, 0);
	writer_begin(&w, 1);
	declare(&w, &ids);
	struct member_entry members[] = {{writer_text(&w, "A"), 1, 1},
					 {writer_text(&w, "B"), 2, 2}};

	f.name = writer_text(&w, "mask");
	f.definition = writer_definition(&w, &(struct definition_entry){.kind = DEFINITION_BITMASK,
									.nmembers = 2,
									.members = members});
	t.name = writer_text(&w, "event");
	type = writer_type(&w, &t);
	for (uint32_t bits = 0; bits < 8; bits++) {
		uint8_t fixed[4] = {(uint8_t)bits};

		writer_row_data(&w, (struct new_row){.time = bits,
						     .lane = ids.lane[0],
						     .type = type,
						     .fixed = fixed,
						     .fixed_size = 4});
	}
	writer_finish(&w);
	writer_free(&w);
	output_close(&output, 0, &e);
}

int main(void)
{
	struct how how = {.memory = NEVER};

	alarm(60);
	if (!mkdtemp(dir))
		return 1;
	make_bits(in_dir("bits"));
	is_u64(run(in_dir("bits"), "mask == 'A'", how, in_dir("out")), 4, "one of several bits");
	is_u64(run(in_dir("bits"), "mask == 'A | B'", how, in_dir("out")), 1, "two of them");
	is_u64(run(in_dir("bits"), "mask =~ 'B'", how, in_dir("out")), 4, "a pattern");
	is_u64(run(in_dir("bits"), "mask == 3", how, in_dir("out")), 1, "the number itself");
	unlink("bits.trs");
	unlink(in_dir("out"));
	return done();
}
