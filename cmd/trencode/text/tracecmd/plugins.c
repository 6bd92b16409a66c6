/* plugins.c - the plug-ins by system and event, and their access to fields */
#include "cmd/trencode/text/tracecmd/plugin_event.h"

struct plugin {
	const char *system, *name;
	bool (*text)(const struct plugin_event *e, struct line *out);
	const char *fields[PLUGIN_FIELDS + 1];
};

#define TASK	  "comm", "pid", "prio", "success", "target_cpu"
#define TIMER	  "timer", "hrtimer", "function"
#define EXIT_INFO "isa", "exit_info1", "exit_info2", "exit_int_info", "exit_int_info_err"
#define PAGE	  "role", "root_count", "unsync"

static const struct plugin plugins[] = {
	{"sched",
	 "sched_switch",
	 plugin_switch,
	 {"prev_comm", "prev_pid", "prev_prio", "next_comm", "next_pid", "next_prio",
	  "prev_state"}},
	{"sched", "sched_wakeup", plugin_wakeup, {TASK}},
	{"sched", "sched_wakeup_new", plugin_wakeup, {TASK}},
	{"timer", "hrtimer_start", plugin_timer_start, {TIMER, "expires", "softexpires"}},
	{"timer", "hrtimer_expire_entry", plugin_timer_expire, {TIMER, "now"}},
	{"ftrace", "function", plugin_function, {"ip", "parent_ip"}},
	{"ftrace",
	 "func_repeats",
	 plugin_repeats,
	 {"ip", "parent_ip", "count", "top_delta_ts", "bottom_delta_ts"}},
	{"ftrace", "kernel_stack", plugin_stack, {"caller"}},
	{"ftrace", "raw_data", plugin_raw, {"id", "buf"}},
	{"kmem", "kmalloc", plugin_call_site, {"call_site"}},
	{"kmem", "kmalloc_node", plugin_call_site, {"call_site"}},
	{"kmem", "kfree", plugin_call_site, {"call_site"}},
	{"kmem", "kmem_cache_alloc", plugin_call_site, {"call_site"}},
	{"kmem", "kmem_cache_alloc_node", plugin_call_site, {"call_site"}},
	{"kmem", "kmem_cache_free", plugin_call_site, {"call_site"}},
	{"tlb", "tlb_flush", plugin_flush, {"reason", "pages"}},
	{"syscalls",
	 "sys_enter_futex",
	 plugin_futex,
	 {"uaddr", "op", "val", "utime", "uaddr2", "val3"}},
	{"kvm", "kvm_entry", plugin_kvm_entry, {"vcpu_id", "rip"}},
	{"kvm", "kvm_exit", plugin_kvm_exit, {"exit_reason", "isa", "guest_rip", "info1", "info2"}},
	{"kvm",
	 "kvm_emulate_insn",
	 plugin_kvm_instruction,
	 {"rip", "csbase", "len", "flags", "failed", "insn"}},
	{"kvm", "kvm_nested_vmexit", plugin_kvm_nested, {"exit_code", EXIT_INFO, "rip"}},
	{"kvm", "kvm_nested_vmexit_inject", plugin_kvm_inject, {"exit_code", EXIT_INFO}},
	{"kvmmmu", "kvm_mmu_get_page", plugin_kvm_get_page, {PAGE, "created", "gfn"}},
	{"kvmmmu", "kvm_mmu_sync_page", plugin_kvm_page, {PAGE}},
	{"kvmmmu", "kvm_mmu_unsync_page", plugin_kvm_page, {PAGE}},
	{"kvmmmu", "kvm_mmu_zap_page", plugin_kvm_page, {PAGE}},
	{"kvmmmu", "kvm_mmu_prepare_zap_page", plugin_kvm_page, {PAGE}},
	{"mac80211",
	 "drv_bss_info_changed",
	 plugin_bss_info,
	 {"wiphy_name", "vif_name", "vif_type", "assoc", "aid", "cts", "shortpre", "shortslot",
	  "dtimper", "bcnint", "assoc_cap", "basic_rates", "enable_beacon", "ht_operation_mode"}},
};

bool plugin_number(const struct plugin_event *e, unsigned field, uint64_t *v)
{
	const struct event_field *f = e->type->field[field];

	return f && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) &&
	       record_number(f, e->ev, v);
}

const char *plugin_field_name(const struct plugin_event *e, unsigned field)
{
	return e->type->plugin->fields[field];
}

void plugin_put_missing(const struct plugin_event *e, unsigned field, struct line *out)
{
	line_puts(out, "<CANT FIND FIELD ");
	line_puts(out, plugin_field_name(e, field));
	line_char(out, '>');
}

bool plugin_require(const struct plugin_event *e, unsigned field, uint64_t *v, struct line *out)
{
	if (plugin_number(e, field, v))
		return true;
	if (!e->type->field[field]) {
		plugin_put_missing(e, field, out);
		return false;
	}
	line_char(out, ' ');
	line_puts(out, plugin_field_name(e, field));
	line_puts(out, "=INVALID");
	return false;
}

void plugin_put(const struct plugin_event *e, unsigned field, const char *before, char conversion,
		struct line *out)
{
	uint64_t v;

	if (!plugin_number(e, field, &v)) {
		line_puts(out, "CAN'T FIND FIELD \"");
		line_puts(out, plugin_field_name(e, field));
		line_char(out, '"');
		return;
	}
	line_puts(out, before);
	switch (conversion) {
	case 'u': line_u64(out, (uint32_t)v); break;
	case 'd': line_i64(out, (int32_t)v); break;
	case 'U': line_u64(out, v); break;
	case 'D': line_i64(out, (int64_t)v); break;
	case 'X': line_hex(out, v, 1); break;
	}
}

void plugin_put_text(const struct plugin_event *e, const struct event_field *f, struct line *out)
{
	size_t offset, size;

	if (!event_field_range(f, e->ev->tail, e->ev->tail_size,
			       e->ev->type->flags & TYPE_BIG_ENDIAN, &offset, &size))
		return;
	line_put(out, (const char *)e->ev->tail + offset,
		 strnlen((const char *)e->ev->tail + offset, size));
}

const char *plugin_symbol(const struct plugin_event *e, uint64_t address, size_t *size,
			  uint64_t *offset)
{
	return e->context->names->symbol(e->context->names->context, address, size, offset);
}

void plugin_find(struct plugin_type *p, const struct type *type, const struct event_format *fields)
{
	*p = (struct plugin_type){0};
	for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
		const struct plugin *plugin = &plugins[i];

		if (strcmp(plugin->name, type->name.text) != 0 ||
		    strcmp(plugin->system, type->group.text) != 0)
			continue;
		for (unsigned k = 0; plugin->fields[k]; k++)
			p->field[k] = event_format_find(fields, plugin->fields[k],
							strlen(plugin->fields[k]));
		p->plugin = plugin;
	}
}

bool plugin_text(const struct plugin_type *p, const struct event *ev,
		 const struct plugin_context *context, struct line *out)
{
	struct plugin_event e = {p, ev, context};

	return p->plugin->text(&e, out);
}
