/*
 * kernel.c - write kernel-cpuN.dat of a uftrace recording
 */
#include "cmd/trencode/uftrace/kernel.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/stream/field.h"
#include "cmd/trencode/tracecmd/pages.h"

enum { HEADER_LIMIT = 4096, PAGE_LEAST = 256, PAGE_MOST = 1 << 20, CPUS_MOST = 8192 };

/* The file of one CPU. */
struct kernel_cpu {
	struct kernel_output *output;
	uint32_t cpu, member;
	struct tracecmd_pages pages;
};

bool kernel_output_type(const struct type *t)
{
	/* only the kernel's types have a format file */
	return t->kind != KIND_GAP && (t->flags & TYPE_KERNEL || t->declaration.size);
}

int kernel_output_header(struct kernel_output *k, const struct meta *m)
{
	size_t n =
		HEADER_LIMIT - k->header.size < m->size ? HEADER_LIMIT - k->header.size : m->size;

	return m->offset != k->header.size || !n ? 0 : buffer_append(&k->header, m->data, n);
}

/* Return the number after a key such as "PAGE_SIZE: "; 0: there is none. */
static uint32_t number_of(const struct kernel_output *k, const char *key)
{
	const char *p = memmem(k->header.data, k->header.size, key, strlen(key)),
		   *end = (const char *)k->header.data + k->header.size;
	uint32_t v = 0;

	if (!p)
		return 0;
	for (p += strlen(key); p < end && *p >= '0' && *p <= '9' && v <= PAGE_MOST; p++)
		v = 10 * v + (uint32_t)(*p - '0');
	return v;
}

static struct tracecmd_page_layout page_layout(const struct kernel_output *k)
{
	uint32_t size = number_of(k, "PAGE_SIZE: "), word = number_of(k, "LONG_SIZE: ");

	if (size < PAGE_LEAST || size > PAGE_MOST || size & (size - 1))
		size = 4096;
	return (struct tracecmd_page_layout){
		.big_endian = memmem(k->header.data, k->header.size, "ENDIAN: B", 9),
		.word = word == 4 ? 4 : 8,
		.size = size};
}

static int put_pages(void *context, const void *pages, size_t n, struct error *e)
{
	struct kernel_cpu *c = context;

	return tree_output_put(c->output->tree, c->member, pages, n, e);
}

/* Find or add the file of a CPU. NULL: e is filled. */
static struct kernel_cpu *cpu_of(struct kernel_output *k, uint32_t cpu, struct error *e)
{
	struct kernel_cpu *c;
	char name[32];
	int n;

	for (uint32_t i = 0; i < k->cpus.count; i++) {
		c = pool_at(&k->cpus, i);
		if (c->cpu == cpu)
			return c;
	}
	k->cpus.element = sizeof(*c);
	c = pool_add(&k->cpus);
	if (!c) {
		error_no_memory(e);
		return NULL;
	}
	c->output = k;
	c->cpu = cpu;
	c->pages.layout = page_layout(k);
	c->pages.put = put_pages;
	c->pages.context = c;
	n = snprintf(name, sizeof(name), "kernel-cpu%" PRIu32 ".dat", cpu);
	return tree_output_member(k->tree, name, (size_t)n, &c->member, e) ? NULL : c;
}

int kernel_output_event(struct kernel_output *k, const struct event *ev, struct error *e)
{
	const struct field *f = field_by_role(ev->type, ROLE_CPU);
	struct field_value cpu = {.form = FORM_NONE};
	struct kernel_cpu *c;

	if (f)
		field_get(ev, f, 0, &cpu);
	if (cpu.form == FORM_NONE || cpu.u >= CPUS_MOST || !ev->tail_size)
		return 1;
	c = cpu_of(k, (uint32_t)cpu.u, e);
	return c ? tracecmd_pages_record(&c->pages, ev->time, ev->tail, ev->tail_size, e) : -1;
}

int kernel_output_gap(struct kernel_output *k, const struct event *ev, uint64_t count,
		      struct error *e)
{
	const struct lane *lane = ev->lane;
	struct kernel_cpu *c;

	if (!(lane->flags & LANE_HAS_CPU) || lane->flags & LANE_HAS_TID || lane->cpu < 0 ||
	    lane->cpu >= CPUS_MOST)
		return 1;
	c = cpu_of(k, (uint32_t)lane->cpu, e);
	if (!c)
		return -1;
	if (!c->pages.time)
		c->pages.time = ev->time;
	return tracecmd_pages_lost(&c->pages, count, e);
}

int kernel_output_end(struct kernel_output *k, struct error *e)
{
	for (uint32_t i = 0; i < k->cpus.count; i++)
		if (tracecmd_pages_end(&((struct kernel_cpu *)pool_at(&k->cpus, i))->pages, e))
			return -1;
	return 0;
}

void kernel_output_free(struct kernel_output *k)
{
	for (uint32_t i = 0; i < k->cpus.count; i++)
		buffer_free(&((struct kernel_cpu *)pool_at(&k->cpus, i))->pages.data);
	pool_free(&k->cpus);
	buffer_free(&k->header);
}
