/*
 * trace.c - one trace of an input: its metadata, clock and environment
 */
#include "cmd/trdecode/ctf/ctf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { METADATA_MOST = 64 << 20 };

size_t ctf_prefix_size(const char *member)
{
	const char *slash = strrchr(member, '/');

	return slash ? (size_t)(slash - member) + 1 : 0;
}

/* Traces of drafts and of later versions would be misread. */
static int check_version(const struct ctf_metadata *m, const char *path, struct error *e)
{
	if ((m->major == 1 && m->minor == 8) || m->major == 2)
		return 0;
	return error_set(e, path, NO_OFFSET,
			 "the version is CTF %" PRIu64 ".%" PRIu64 ": only 1.8 and 2 can be read",
			 m->major, m->minor);
}

static int read_metadata(struct ctf_trace *t, const char *member, struct error *e)
{
	struct input *in = t->ctf->input;
	char path[512], *text;
	void *data;
	size_t size, n;
	int failed;

	tree_path(in->tree, member, path, sizeof path);
	if (tree_read(in->tree, member, METADATA_MOST, &data, &size, e))
		return -1;
	e->what[0] = '\0';
	if (ctf_metadata_text(data, size, path, &text, &n, e) && text)
		input_damage_error(in, e);
	free(data);
	if (!text)
		return -1;
	if (ctf_metadata_is_json(text, n)) {
		failed = ctf_metadata_fragments(&t->metadata, text, n, path, e);
		/* of another version, or with an extension */
		if (failed && t->metadata.major != 2) {
			free(text);
			return -1;
		}
	} else {
		failed = ctf_metadata_parse(&t->metadata, text, n, path, e);
	}
	if (failed)
		input_damage_error(in, e);
	free(text);
	return check_version(&t->metadata, path, e);
}

bool ctf_trace_wall(const struct ctf_clock *c, int64_t *wall)
{
	__int128 ns = (__int128)c->offset * 1000000000, f = (__int128)c->frequency;

	ns = ns / f - (ns % f < 0) + (__int128)c->offset_s * 1000000000;
	*wall = (int64_t)ns;
	return ns < (__int128)TIME_LIMIT && ns > -(__int128)TIME_LIMIT;
}

void ctf_trace_set_offset(struct ctf_stream *s)
{
	const struct ctf_clock *c = s->clock;
	struct input *in = s->trace->ctf->input;
	char path[512], member[300];
	int64_t wall;

	s->frequency = c ? c->frequency : 1000000000;
	if (!c)
		return;
	if (ctf_trace_wall(c, &wall)) {
		s->offset_s = c->offset_s;
		s->offset = c->offset;
		return;
	}
	snprintf(member, sizeof member, "%.280smetadata", s->trace->prefix);
	input_damage(in, tree_path(in->tree, member, path, sizeof path), NO_OFFSET,
		     "the offset of the clock '%.100s' is impossible: times are without it",
		     c->name);
}

const struct ctf_clock *ctf_trace_clock(const struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].clock)
			return t->streams[i].clock;
	return NULL;
}

bool ctf_trace_has_time(const struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].has_time)
			return true;
	return false;
}

void ctf_trace_free(struct ctf_trace *t)
{
	ctf_classes_free(t);
	ctf_metadata_free(&t->metadata);
	free(t->own_prefix);
	free(t->cpus);
}

int ctf_trace_open(struct ctf *ctf, const char *member, struct error *e)
{
	struct ctf_trace *t;
	const struct ctf_env *domain, *tracer;

	if (ARRAY_GROW(ctf->traces, ctf->traces_capacity, ctf->ntraces))
		return error_no_memory(e);
	t = ctf->traces;
	t = &t[ctf->ntraces];
	*t = (struct ctf_trace){.ctf = ctf};
	t->prefix = t->own_prefix = strndup(member, ctf_prefix_size(member));
	if (!t->prefix ? error_no_memory(e) : read_metadata(t, member, e)) {
		ctf_trace_free(t);
		return -1;
	}
	ctf->ntraces++;
	tracer = ctf_env_find(&t->metadata, "tracer_name");
	t->own = tracer && tracer->text && !strcmp(tracer->text, "trencode");
	domain = ctf_env_find(&t->metadata, "domain");
	t->kernel = domain && domain->text && !strcmp(domain->text, "kernel");
	return 0;
}

int ctf_trace_declare(struct ctf_trace *t)
{
	struct ctf *ctf = t->ctf;
	struct writer *w = ctf->w;
	struct buffer text = {0};
	int failed = 0;

	t->source = writer_source(w, &(struct source_entry){writer_text(w, "ctf"),
							    writer_text(w, ctf->input->name), 8,
							    t->metadata.big});
	for (const struct ctf_env *v = t->metadata.env; v && !failed; v = v->next)
		if (t->own && v->text && !strncmp(v->name, CTF_ARGUMENTS, sizeof CTF_ARGUMENTS - 1))
			failed = ctf_arguments_declare(ctf, v->text);
		else
			failed = v->text ? buffer_printf(&text, "%s %s\n", v->name, v->text)
					 : buffer_printf(&text, "%s %" PRId64 "\n", v->name,
							 v->number);
	if (!failed && text.size)
		failed = writer_meta(w, t->source, "ctf.env", text.data, text.size);
	buffer_free(&text);
	return failed || !t->source ? -1 : 0;
}

void ctf_trace_info(struct ctf_trace *t, struct trace_info *info)
{
	static const char *const variables[] = {"domain", "hostname", "tracer_name", "trace_name"};
	const struct ctf_clock *c = ctf_trace_clock(t);
	char text[64], uuid[40];
	const uint8_t *u = t->metadata.uuid;

	if (t->ctf->ntraces > 1)
		fact_text(info, "trace", t->prefix);
	snprintf(text, sizeof text, t->metadata.major == 2 ? "%" PRIu64 : "%" PRIu64 ".%" PRIu64,
		 t->metadata.major, t->metadata.minor);
	fact_text(info, "version", text);
	fact_text(info, "byte order", t->metadata.big ? "big-endian" : "little-endian");
	if (t->metadata.has_uuid) {
		snprintf(uuid, sizeof uuid,
			 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x",
			 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
			 u[12], u[13], u[14], u[15]);
		fact_text(info, "uuid", uuid);
	}
	for (size_t k = 0; k < sizeof variables / sizeof *variables; k++) {
		const struct ctf_env *v = ctf_env_find(&t->metadata, variables[k]);

		if (v && v->text)
			fact_text(info, variables[k], v->text);
	}
	if (c) {
		fact_text(info, "clock", c->name);
		fact_number(info, "clock rate", c->frequency);
		if (c->origin)
			fact_text(info, "clock origin", c->origin);
		if (c->has_precision)
			fact_number(info, "clock precision", c->precision);
		if (c->has_accuracy)
			fact_number(info, "clock accuracy", c->accuracy);
	}
	fact_number(info, "streams", t->nstreams);
	fact_number(info, "event types", t->nclasses);
}
