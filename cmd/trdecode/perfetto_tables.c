/*
 * perfetto_tables.c - the names of fields and values in Perfetto's packets, and the events of
 * ftrace
 */
#include "cmd/trdecode/perfetto_tables.h"

/* clang-format off */
const char *const perfetto_messages[] = {
	[MESSAGE_PACKET] = "TracePacket ftrace_events process_tree:ProcessTree 4=inode_file_map:-"
	 " chrome_events:- clock_snapshot:ClockSnapshot sys_stats:SysStats"
	 " 9=process_stats:ProcessStats 11=track_event 33=trace_config:TraceConfig ftrace_stats:-"
	 " trace_stats:TraceStats synchronization_marker:- profile_packet:ProfilePacket battery:-"
	 " android_log:AndroidLogPacket power_rails:- 43=process_descriptor:ProcessDescriptor"
	 " thread_descriptor:ThreadDescriptor system_info:- trigger:Trigger"
	 " packages_list:PackagesList chrome_benchmark_metadata:- perfetto_metatrace:-"
	 " compressed_packets chrome_metadata:- gpu_counter_event:- gpu_render_stage_event:-"
	 " streaming_profile_packet:StreamingProfilePacket 57=graphics_frame_event:-"
	 " 60=track_descriptor:TrackDescriptor module_symbols:ModuleSymbols vulkan_memory_event:-"
	 " gpu_log:- deobfuscation_mapping:- vulkan_api_event:- perf_sample:PerfSample cpu_info:-"
	 " smaps_packet:- service_event:TracingServiceEvent initial_display_state:-"
	 " gpu_mem_total_event:- extension_descriptor:- memory_tracker_snapshot:-"
	 " streaming_allocation:- streaming_free:- frame_timeline_event"
	 " android_energy_estimation_breakdown:- ui_state:- 82=translation_table:-"
	 " android_game_intervention_list:- statsd_atom:- 86=android_system_property:-"
	 " 89=trace_uuid:- track_event_range_of_interest:- entity_state_residency:-"
	 " 95=etw_events:- 99=v8_js_code:- v8_internal_code:- v8_wasm_code:- v8_reg_exp_code:-"
	 " v8_code_move:- 107=remote_clock_sync:- 109=chrome_trigger:- pixel_modem_events:-"
	 " pixel_modem_token_database:- 113=clone_snapshot_trigger:Trigger"
	 " 115=kernel_wakelock_data:- 117=generic_kernel_task_state_event:-"
	 " generic_kernel_cpu_freq_event:- cpu_per_uid_data:- generic_kernel_task_rename_event:-"
	 " 122=generic_kernel_process_tree:- user_list:- trace_provenance:- protovms:-"
	 " trace_attributes:- android_aflags:- gpu_info:- generic_gpu_frequency_event:-"
	 " interrupt_info:- art_process_metadata:- journald_event:- zstd_compressed_packets"
	 " concurrent_session_event:- stack_sample:-",
	[MESSAGE_BUNDLE] = "FtraceEventBundle cpu event lost_events"
	 " compact_sched:FtraceEventBundle.CompactSched ftrace_clock ftrace_timestamp"
	 " boot_timestamp error:- last_read_event_timestamp:- previous_bundle_end_timestamp:-"
	 " generic_event_descriptors:FtraceEventBundle.GenericEventDescriptor",
	[MESSAGE_COMPACT_SCHED] = "FtraceEventBundle.CompactSched switch_timestamp"
	 " switch_prev_state switch_next_pid switch_next_prio intern_table switch_next_comm_index"
	 " waking_timestamp waking_pid waking_target_cpu waking_prio waking_comm_index"
	 " waking_common_flags:-",
	[MESSAGE_GENERIC_DESCRIPTOR] = "FtraceEventBundle.GenericEventDescriptor field_id"
	 " event_descriptor group_name",
	[MESSAGE_FTRACE_EVENT] = "FtraceEvent timestamp pid 5=common_flags:-",
	[MESSAGE_GRAPH_ENTRY] = "FuncgraphEntryFtraceEvent depth func",
	[MESSAGE_GRAPH_EXIT] = "FuncgraphExitFtraceEvent calltime:- depth func overrun:- rettime:-",
	[MESSAGE_TREE] = "ProcessTree processes:ProcessTree.Process threads:ProcessTree.Thread"
	 " collection_end_timestamp:-",
	[MESSAGE_TREE_PROCESS] = "ProcessTree.Process pid ppid:- cmdline 5=uid:- nspid:-"
	 " process_start_from_boot:- is_kthread:- cmdline_is_comm:-",
	[MESSAGE_TREE_THREAD] = "ProcessTree.Thread tid name tgid nstid:-",
	[MESSAGE_CLOCK_SNAPSHOT] = "ClockSnapshot clocks:ClockSnapshot.Clock primary_trace_clock",
	[MESSAGE_CLOCK] = "ClockSnapshot.Clock clock_id timestamp is_incremental"
	 " unit_multiplier_ns",
	[MESSAGE_SYS_STATS] = "SysStats meminfo:SysStats.MeminfoValue vmstat:SysStats.VmstatValue"
	 " cpu_stat:SysStats.CpuTimes num_forks num_irq_total num_irq:SysStats.InterruptCount"
	 " num_softirq_total num_softirq:SysStats.InterruptCount collection_end_timestamp:-"
	 " devfreq:SysStats.DevfreqValue cpufreq_khz buddy_info:SysStats.BuddyInfo"
	 " disk_stat:SysStats.DiskStat psi:SysStats.PsiSample thermal_zone:SysStats.ThermalZone"
	 " cpuidle_state:SysStats.CpuIdleState gpufreq_mhz slab_info:SysStats.SlabInfo",
	[MESSAGE_MEMINFO] = "SysStats.MeminfoValue key value",
	[MESSAGE_VMSTAT] = "SysStats.VmstatValue key value",
	[MESSAGE_CPU_TIMES] = "SysStats.CpuTimes cpu_id user_ns user_nice_ns system_mode_ns"
	 " idle_ns io_wait_ns irq_ns softirq_ns steal_ns",
	[MESSAGE_INTERRUPT] = "SysStats.InterruptCount irq count",
	[MESSAGE_DEVFREQ] = "SysStats.DevfreqValue key value",
	[MESSAGE_BUDDY] = "SysStats.BuddyInfo node zone order_pages",
	[MESSAGE_DISK] = "SysStats.DiskStat device_name read_sectors read_time_ms write_sectors"
	 " write_time_ms discard_sectors discard_time_ms flush_count flush_time_ms",
	[MESSAGE_PSI] = "SysStats.PsiSample resource total_ns",
	[MESSAGE_THERMAL] = "SysStats.ThermalZone name temp type",
	[MESSAGE_CPUIDLE] = "SysStats.CpuIdleState cpu_id"
	 " cpuidle_state_entry:SysStats.CpuIdleStateEntry",
	[MESSAGE_CPUIDLE_ENTRY] = "SysStats.CpuIdleStateEntry state duration_us",
	[MESSAGE_SLAB] = "SysStats.SlabInfo name pages_per_slab num_slabs",
	[MESSAGE_PROCESS_STATS] = "ProcessStats processes:ProcessStats.Process"
	 " collection_end_timestamp:-",
	[MESSAGE_PROCESS] = "ProcessStats.Process pid vm_size_kb vm_rss_kb rss_anon_kb rss_file_kb"
	 " rss_shmem_kb vm_swap_kb vm_locked_kb vm_hwm_kb oom_score_adj threads:-"
	 " is_peak_rss_resettable chrome_private_footprint_kb chrome_peak_resident_set_kb fds:-"
	 " smr_rss_kb smr_pss_kb smr_pss_anon_kb smr_pss_file_kb smr_pss_shmem_kb"
	 " runtime_user_mode runtime_kernel_mode smr_swap_pss_kb dmabuf_rss_kb",
	[MESSAGE_TRACK_EVENT] = "TrackEvent 5=task_execution:TaskExecution"
	 " 8=thread_instruction_count_delta:i 12=extra_counter_values"
	 " 20=thread_instruction_count:i 24=cc_scheduler_state:ChromeCompositorSchedulerState"
	 " chrome_user_event:ChromeUserEvent chrome_keyed_service:ChromeKeyedService"
	 " chrome_legacy_ipc:ChromeLegacyIpc chrome_histogram_sample:ChromeHistogramSample"
	 " chrome_latency_info:ChromeLatencyInfo counter_value extra_counter_track_uuids"
	 " chrome_frame_reporter:ChromeFrameReporter 35=chrome_message_pump:ChromeMessagePump"
	 " flow_ids_old 38=chrome_mojo_event_info:ChromeMojoEventInfo"
	 " chrome_application_state_info:ChromeApplicationStateInfo"
	 " chrome_renderer_scheduler_state:ChromeRendererSchedulerState"
	 " chrome_window_handle_event_info:ChromeWindowHandleEventInfo terminating_flow_ids_old"
	 " chrome_content_settings_event_info:ChromeContentSettingsEventInfo double_counter_value"
	 " extra_double_counter_track_uuids extra_double_counter_values flow_ids"
	 " terminating_flow_ids chrome_active_processes:ChromeActiveProcesses"
	 " screenshot:Screenshot 57=callstack_weight:d",
	[MESSAGE_LEGACY_EVENT] = "TrackEvent.LegacyEvent name_iid phase duration_us"
	 " thread_duration_us:- 6=unscoped_id id_scope bind_id use_async_tts:- local_id global_id"
	 " bind_to_enclosing:- flow_direction instant_event_scope thread_instruction_delta:-"
	 " 18=pid_override tid_override",
	[MESSAGE_ANNOTATION] = "DebugAnnotation name_iid bool_value uint_value int_value"
	 " double_value string_value pointer_value nested_value legacy_json_value name"
	 " dict_entries:DebugAnnotation array_values:DebugAnnotation proto_type_name_iid:-"
	 " proto_value 16=proto_type_name:- string_value_iid",
	[MESSAGE_INTERNED] = "InternedData event_categories:InternedString"
	 " event_names:InternedString debug_annotation_names:InternedString"
	 " source_locations:SourceLocation function_names:InternedString frames:Frame"
	 " callstacks:Callstack 16=build_ids:InternedString mapping_paths:InternedString"
	 " source_paths:InternedString mappings:Mapping log_message_body:InternedString"
	 " 22=vulkan_memory_keys:- graphics_contexts:- gpu_specifications:- histogram_names:-"
	 " kernel_symbols:InternedString debug_annotation_value_type_names:-"
	 " unsymbolized_source_locations:- debug_annotation_string_values:InternedString"
	 " 31=v8_js_function_name:- v8_js_function:- v8_js_script:- v8_wasm_script:- v8_isolate:-"
	 " 43=correlation_id_str:InternedString 47=gpu_counter_descriptors:-"
	 " stack_sample_task_contexts:- stack_sample_execution_contexts:-"
	 " stack_sample_counter_descriptors:- stack_sample_async_context_descriptors:-",
	[MESSAGE_INTERNED_STRING] = "InternedString iid str",
	[MESSAGE_SOURCE_LOCATION] = "SourceLocation iid file_name function_name line_number",
	[MESSAGE_FRAME] = "Frame iid function_name_id mapping_id rel_pc source_path_iid"
	 " line_number kind:- kind_str:-",
	[MESSAGE_CALLSTACK] = "Callstack iid frame_ids",
	[MESSAGE_MAPPING] = "Mapping iid build_id start_offset:- start:- end:- load_bias"
	 " path_string_ids exact_offset:-",
	[MESSAGE_TRACE_CONFIG] = "TraceConfig buffers:- data_sources:- duration_ms:-"
	 " enable_extra_guardrails:- lockdown_mode:- producers:- statsd_metadata:-"
	 " write_into_file:- file_write_period_ms:- max_file_size_bytes:- guardrail_overrides:-"
	 " deferred_start:- flush_period_ms:- flush_timeout_ms:- 16=notify_traceur:-"
	 " trigger_config:- activate_triggers:- allow_user_build_tracing:- builtin_data_sources:-"
	 " incremental_state_config:- unique_session_name data_source_stop_timeout_ms:-"
	 " compression_type:- incident_report_config:- 27=trace_uuid_msb:- trace_uuid_lsb:-"
	 " output_path:- bugreport_score:- statsd_logging:- 33=trace_filter:-"
	 " android_report_config:- cmd_trace_start_delay:- prefer_suspend_clock_for_duration:-"
	 " 38=bugreport_filename:- session_semaphores:- priority_boost:- exclusive_prio:-"
	 " 43=trace_all_machines:- write_flush_mode:- fflush_post_write:- 47=compression:-"
	 " trace_attributes:-",
	[MESSAGE_TRACE_STATS] = "TraceStats buffer_stats:TraceStats.BufferStats"
	 " producers_connected:- producers_seen:- data_sources_registered:- data_sources_seen:-"
	 " tracing_sessions:- total_buffers:- chunks_discarded:- patches_discarded:-"
	 " invalid_packets:- filter_stats:- flushes_requested:- flushes_succeeded:-"
	 " flushes_failed:- final_flush_outcome:- 17=chunk_payload_histogram_def:- writer_stats:-",
	[MESSAGE_BUFFER_STATS] = "TraceStats.BufferStats bytes_written:- chunks_written:-"
	 " chunks_overwritten write_wrap_count:- patches_succeeded:- patches_failed:-"
	 " readaheads_succeeded:- readaheads_failed:- abi_violations:- chunks_rewritten:-"
	 " chunks_committed_out_of_order:- buffer_size:- bytes_overwritten:- bytes_read:-"
	 " padding_bytes_written:- padding_bytes_cleared:- chunks_read:- chunks_discarded:-"
	 " trace_writer_packet_loss chunks_relocated:-",
	[MESSAGE_PROFILE] = "ProfilePacket strings:InternedString frames:Frame"
	 " callstacks:Callstack mappings:Mapping process_dumps:ProfilePacket.ProcessHeapSamples"
	 " continued:- index:-",
	[MESSAGE_HEAP_SAMPLES] = "ProfilePacket.ProcessHeapSamples pid"
	 " samples:ProfilePacket.HeapSample from_startup:- rejected_concurrent stats:-"
	 " disconnected:- buffer_overran buffer_corrupted:- timestamp hit_guardrail:- heap_name"
	 " sampling_interval_bytes:- orig_sampling_interval_bytes:- client_error:-"
	 " start_timestamp:-",
	[MESSAGE_HEAP_SAMPLE] = "ProfilePacket.HeapSample callstack_id self_allocated self_freed"
	 " timestamp:- alloc_count free_count 8=self_max self_max_count",
	[MESSAGE_LOG] = "AndroidLogPacket events:AndroidLogPacket.LogEvent stats:-",
	[MESSAGE_LOG_EVENT] = "AndroidLogPacket.LogEvent log_id:u pid tid uid:u timestamp tag:s"
	 " prio:u message:s args:-",
	[MESSAGE_PROCESS_DESCRIPTOR] = "ProcessDescriptor pid cmdline legacy_sort_index:-"
	 " chrome_process_type:- process_priority:- process_name start_timestamp_ns:-"
	 " process_labels:-",
	[MESSAGE_THREAD_DESCRIPTOR] = "ThreadDescriptor pid tid legacy_sort_index:-"
	 " chrome_thread_type:- thread_name reference_timestamp_us reference_thread_time_us"
	 " reference_thread_instruction_count:-",
	[MESSAGE_PACKAGES] = "PackagesList packages:PackagesList.PackageInfo parse_error:-"
	 " read_error:-",
	[MESSAGE_PACKAGE] = "PackagesList.PackageInfo name uid debuggable:-"
	 " profileable_from_shell:- version_code",
	[MESSAGE_STREAMING_PROFILE] = "StreamingProfilePacket callstack_iid timestamp_delta_us"
	 " process_priority:-",
	[MESSAGE_DEFAULTS] = "TracePacketDefaults 11=track_event_defaults:TrackEventDefaults"
	 " perf_sample_defaults:PerfSampleDefaults 58=timestamp_clock_id",
	[MESSAGE_EVENT_DEFAULTS] = "TrackEventDefaults 11=track_uuid 31=extra_counter_track_uuids"
	 " 45=extra_double_counter_track_uuids",
	[MESSAGE_SAMPLE_DEFAULTS] = "PerfSampleDefaults timebase:PerfEvents.Timebase"
	 " process_shard_count:- chosen_process_shard:- followers:FollowerEvent",
	[MESSAGE_TIMEBASE] = "PerfEvents.Timebase period frequency:-"
	 " tracepoint:PerfEvents.Tracepoint counter raw_event:- poll_period_ms:- 10=name"
	 " timestamp_clock:- modifiers:-",
	[MESSAGE_TRACEPOINT] = "PerfEvents.Tracepoint name filter:-",
	[MESSAGE_FOLLOWER] = "FollowerEvent counter tracepoint:PerfEvents.Tracepoint raw_event:-"
	 " name modifiers:-",
	[MESSAGE_TRACK] = "TrackDescriptor uuid name process:ProcessDescriptor"
	 " thread:ThreadDescriptor parent_uuid chrome_process:- chrome_thread:-"
	 " counter:CounterDescriptor disallow_merging_with_system_tracks static_name"
	 " child_ordering:- sibling_order_rank:- atrace_name description:-"
	 " sibling_merge_behavior:- sibling_merge_key:- sibling_merge_key_int:- state"
	 " process_ordering:- thread_ordering:-",
	[MESSAGE_COUNTER] = "CounterDescriptor type categories:- unit unit_multiplier"
	 " is_incremental unit_name y_axis_share_key:-",
	[MESSAGE_MODULE] = "ModuleSymbols path build_id address_symbols:AddressSymbols",
	[MESSAGE_ADDRESS_SYMBOLS] = "AddressSymbols address lines:Line",
	[MESSAGE_LINE] = "Line function_name source_file_name line_number",
	[MESSAGE_PERF_SAMPLE] = "PerfSample cpu pid tid callstack_iid cpu_mode:- timebase_count"
	 " follower_counts 16=unwind_error:- kernel_records_lost sample_skipped_reason"
	 " producer_event:-",
	[MESSAGE_FRAME_TIMELINE] = "FrameTimelineEvent"
	 " expected_display_frame_start:FrameTimelineEvent.ExpectedDisplayFrameStart"
	 " actual_display_frame_start:FrameTimelineEvent.ActualDisplayFrameStart"
	 " expected_surface_frame_start:FrameTimelineEvent.ExpectedSurfaceFrameStart"
	 " actual_surface_frame_start:FrameTimelineEvent.ActualSurfaceFrameStart"
	 " frame_end:FrameTimelineEvent.FrameEnd",
	[MESSAGE_EXPECTED_DISPLAY] = "FrameTimelineEvent.ExpectedDisplayFrameStart cookie token"
	 " pid",
	[MESSAGE_ACTUAL_DISPLAY] = "FrameTimelineEvent.ActualDisplayFrameStart cookie token:i pid"
	 " present_type:FrameTimelineEvent.PresentType on_time_finish:b gpu_composition:b"
	 " jank_type:FrameTimelineEvent.JankType prediction_type:FrameTimelineEvent.PredictionType"
	 " jank_severity_type:FrameTimelineEvent.JankSeverityType present_delay_millis:-"
	 " jank_severity_score:- jank_type_experimental:- present_type_experimental:-"
	 " jank_debug_metadata:- latched_unsignaled_count:- addressable_unsignaled_latch_count:-",
	[MESSAGE_EXPECTED_SURFACE] = "FrameTimelineEvent.ExpectedSurfaceFrameStart cookie token"
	 " display_frame_token pid layer_name",
	[MESSAGE_ACTUAL_SURFACE] = "FrameTimelineEvent.ActualSurfaceFrameStart cookie token:i"
	 " display_frame_token:i pid layer_name:s present_type:FrameTimelineEvent.PresentType"
	 " on_time_finish:b gpu_composition:b jank_type:FrameTimelineEvent.JankType"
	 " prediction_type:FrameTimelineEvent.PredictionType is_buffer:b"
	 " jank_severity_type:FrameTimelineEvent.JankSeverityType present_delay_millis:-"
	 " vsync_resynced_jitter_millis:- jank_severity_score:- jank_type_experimental:-"
	 " present_type_experimental:- jank_debug_metadata:- latched_fence_state:-"
	 " animation_time_millis:-",
	[MESSAGE_FRAME_END] = "FrameTimelineEvent.FrameEnd cookie",
	[MESSAGE_TRIGGER] = "Trigger trigger_name:s producer_name:s trusted_producer_uid:i"
	 " stop_delay_ms:u",
	[MESSAGE_SERVICE_EVENT] = "TracingServiceEvent all_data_sources_started:b"
	 " tracing_started:b all_data_sources_flushed:b read_tracing_buffers_completed:b"
	 " tracing_disabled:b seized_for_bugreport:b slow_starting_data_sources:-"
	 " last_flush_slow_data_sources:- flush_started:b clone_started:b buffer_cloned:u",
	[MESSAGE_UNKNOWN] = "Message",
	[MESSAGE_TASK_EXECUTION] = "TaskExecution posted_from:l",
	[MESSAGE_USER_EVENT] = "ChromeUserEvent action:s action_hash:u",
	[MESSAGE_KEYED_SERVICE] = "ChromeKeyedService name:s",
	[MESSAGE_LEGACY_IPC] = "ChromeLegacyIpc message_class:u message_line:u",
	[MESSAGE_HISTOGRAM_SAMPLE] = "ChromeHistogramSample name_hash:u name:s sample:i name_iid:u",
	[MESSAGE_LATENCY_COMPONENT] = "ChromeLatencyInfo.ComponentInfo component_type:u time_us:u",
	[MESSAGE_LATENCY_INFO] = "ChromeLatencyInfo trace_id:i step:u frame_tree_node_id:i"
	 " component_info:ChromeLatencyInfo.ComponentInfo is_coalesced:b gesture_scroll_id:i"
	 " touch_id:i input_type:u",
	[MESSAGE_FRAME_REPORTER] = "ChromeFrameReporter state:u reason:u frame_source:u"
	 " frame_sequence:u affects_smoothness:b scroll_state:u has_main_animation:b"
	 " has_compositor_animation:b has_smooth_input_main:b has_missing_content:b"
	 " layer_tree_host_id:u has_high_latency:b frame_type:u high_latency_contribution_stage:s"
	 " checkerboarded_needs_raster:b checkerboarded_needs_record:b surface_frame_trace_id:i"
	 " display_trace_id:i",
	[MESSAGE_APPLICATION_STATE] = "ChromeApplicationStateInfo application_state:u",
	[MESSAGE_RENDERER_STATE] = "ChromeRendererSchedulerState rail_mode:u is_backgrounded:b"
	 " is_hidden:b",
	[MESSAGE_WINDOW_HANDLE] = "ChromeWindowHandleEventInfo dpi:u message_id:u hwnd_ptr:u",
	[MESSAGE_CONTENT_SETTINGS] = "ChromeContentSettingsEventInfo number_of_exceptions:u",
	[MESSAGE_ACTIVE_PROCESSES] = "ChromeActiveProcesses pid:i",
	[MESSAGE_SCREENSHOT] = "Screenshot jpg_image:x pam_image:x ppm_image:x",
	[MESSAGE_MESSAGE_PUMP] = "ChromeMessagePump sent_messages_in_queue:b io_handler_location:l",
	[MESSAGE_MOJO_EVENT] = "ChromeMojoEventInfo watcher_notify_interface_tag:s ipc_hash:u"
	 " mojo_interface_tag:s mojo_interface_method_iid:u is_reply:b payload_size:u"
	 " data_num_bytes:u",
	[MESSAGE_SCHEDULER_STATE] = "ChromeCompositorSchedulerState state_machine:Message"
	 " observing_begin_frame_source:b begin_impl_frame_deadline_task:b"
	 " pending_begin_frame_task:b skipped_last_frame_missed_exceeded_deadline:b"
	 " 7=inside_action:u deadline_mode:u deadline_us:i deadline_scheduled_at_us:i now_us:i"
	 " now_to_deadline_delta_us:i now_to_deadline_scheduled_at_delta_us:i"
	 " begin_impl_frame_args:Message begin_frame_observer_state:Message"
	 " begin_frame_source_state:Message compositor_timing_history:Message",
	[VALUES_MEMINFO] = "MeminfoCounters MemTotal MemFree MemAvailable Buffers Cached"
	 " SwapCached Active Inactive Active(anon) Inactive(anon) Active(file) Inactive(file)"
	 " Unevictable Mlocked SwapTotal SwapFree Dirty Writeback AnonPages Mapped Shmem Slab"
	 " SReclaimable SUnreclaim KernelStack PageTables CommitLimit Committed_AS VmallocTotal"
	 " VmallocUsed VmallocChunk CmaTotal CmaFree Gpu Zram Misc ION_heap ION_heap_pool",
	[VALUES_VMSTAT] = "VmstatCounters nr_free_pages nr_alloc_batch nr_inactive_anon"
	 " nr_active_anon nr_inactive_file nr_active_file nr_unevictable nr_mlock nr_anon_pages"
	 " nr_mapped nr_file_pages nr_dirty nr_writeback nr_slab_reclaimable nr_slab_unreclaimable"
	 " nr_page_table_pages nr_kernel_stack nr_overhead nr_unstable nr_bounce nr_vmscan_write"
	 " nr_vmscan_immediate_reclaim nr_writeback_temp nr_isolated_anon nr_isolated_file"
	 " nr_shmem nr_dirtied nr_written nr_pages_scanned workingset_refault workingset_activate"
	 " workingset_nodereclaim nr_anon_transparent_hugepages nr_free_cma nr_swapcache"
	 " nr_dirty_threshold nr_dirty_background_threshold pgpgin pgpgout pgpgoutclean pswpin"
	 " pswpout pgalloc_dma pgalloc_normal pgalloc_movable pgfree pgactivate pgdeactivate"
	 " pgfault pgmajfault pgrefill_dma pgrefill_normal pgrefill_movable pgsteal_kswapd_dma"
	 " pgsteal_kswapd_normal pgsteal_kswapd_movable pgsteal_direct_dma pgsteal_direct_normal"
	 " pgsteal_direct_movable pgscan_kswapd_dma pgscan_kswapd_normal pgscan_kswapd_movable"
	 " pgscan_direct_dma pgscan_direct_normal pgscan_direct_movable pgscan_direct_throttle"
	 " pginodesteal slabs_scanned kswapd_inodesteal kswapd_low_wmark_hit_quickly"
	 " kswapd_high_wmark_hit_quickly pageoutrun allocstall pgrotated drop_pagecache drop_slab"
	 " pgmigrate_success pgmigrate_fail compact_migrate_scanned compact_free_scanned"
	 " compact_isolated compact_stall compact_fail compact_success compact_daemon_wake"
	 " unevictable_pgs_culled unevictable_pgs_scanned unevictable_pgs_rescued"
	 " unevictable_pgs_mlocked unevictable_pgs_munlocked unevictable_pgs_cleared"
	 " unevictable_pgs_stranded nr_zspages nr_ion_heap nr_gpu_heap allocstall_dma"
	 " allocstall_movable allocstall_normal compact_daemon_free_scanned"
	 " compact_daemon_migrate_scanned nr_fastrpc nr_indirectly_reclaimable nr_ion_heap_pool"
	 " nr_kernel_misc_reclaimable nr_shadow_call_stack_bytes nr_shmem_hugepages"
	 " nr_shmem_pmdmapped nr_unreclaimable_pages nr_zone_active_anon nr_zone_active_file"
	 " nr_zone_inactive_anon nr_zone_inactive_file nr_zone_unevictable nr_zone_write_pending"
	 " oom_kill pglazyfree pglazyfreed pgrefill pgscan_direct pgscan_kswapd pgskip_dma"
	 " pgskip_movable pgskip_normal pgsteal_direct pgsteal_kswapd swap_ra swap_ra_hit"
	 " workingset_restore allocstall_device allocstall_dma32 balloon_deflate balloon_inflate"
	 " balloon_migrate cma_alloc_fail cma_alloc_success nr_file_hugepages nr_file_pmdmapped"
	 " nr_foll_pin_acquired nr_foll_pin_released nr_sec_page_table_pages nr_shadow_call_stack"
	 " nr_swapcached nr_throttled_written pgalloc_device pgalloc_dma32 pgdemote_direct"
	 " pgdemote_kswapd pgreuse pgscan_anon pgscan_file pgskip_device pgskip_dma32 pgsteal_anon"
	 " pgsteal_file thp_collapse_alloc thp_collapse_alloc_failed thp_deferred_split_page"
	 " thp_fault_alloc thp_fault_fallback thp_fault_fallback_charge thp_file_alloc"
	 " thp_file_fallback thp_file_fallback_charge thp_file_mapped thp_migration_fail"
	 " thp_migration_split thp_migration_success thp_scan_exceed_none_pte"
	 " thp_scan_exceed_share_pte thp_scan_exceed_swap_pte thp_split_page thp_split_page_failed"
	 " thp_split_pmd thp_swpout thp_swpout_fallback thp_zero_page_alloc"
	 " thp_zero_page_alloc_failed vma_lock_abort vma_lock_miss vma_lock_retry vma_lock_success"
	 " workingset_activate_anon workingset_activate_file workingset_nodes"
	 " workingset_refault_anon workingset_refault_file workingset_restore_anon"
	 " workingset_restore_file",
	[VALUES_PSI] = "PsiResource cpu.some cpu.full io.some io.full memory.some memory.full",
	[VALUES_EVENT_COUNTER] = "PerfEvents.Counter cpu-clock page-faults task-clock"
	 " context-switches cpu-migrations minor-faults major-faults alignment-faults"
	 " emulation-faults cpu-cycles instructions cache-references cache-misses"
	 " branch-instructions branch-misses bus-cycles stalled-cycles-frontend"
	 " stalled-cycles-backend ref-cycles dummy",
	[VALUES_PRESENT] = "FrameTimelineEvent.PresentType 0=UNSPECIFIED ON_TIME LATE EARLY"
	 " DROPPED UNKNOWN",
	[VALUES_PREDICTION] = "FrameTimelineEvent.PredictionType 0=UNSPECIFIED VALID EXPIRED"
	 " UNKNOWN",
	[VALUES_SEVERITY] = "FrameTimelineEvent.JankSeverityType 0=UNKNOWN NONE PARTIAL FULL",
	[VALUES_JANK] = "FrameTimelineEvent.JankType 0=NONE SF_SCHEDULING PREDICTION_ERROR"
	 " DISPLAY_HAL SF_CPU_DEADLINE_MISSED SF_GPU_DEADLINE_MISSED APP_DEADLINE_MISSED"
	 " BUFFER_STUFFING UNKNOWN SF_STUFFING DROPPED NON_ANIMATING APP_RESYNCED_JITTER"
	 " DISPLAY_NOT_ON DISPLAY_MODE_CHANGE_IN_PROGRESS DISPLAY_POWER_MODE_CHANGE_IN_PROGRESS",
};
/* clang-format on */

/* --- the events of ftrace with numbers from 210 to 399 --- */

/* clang-format off */
const char *const perfetto_ftrace_210[] = {
	"210 ext4:ext4_request_blocks dev:u ino:u len:u logical:u lleft:u lright:u goal:u pleft:u"
	 " pright:u flags:u",
	"211 ext4:ext4_request_inode dev:u dir:u mode:u",
	"212 ext4:ext4_sync_fs dev:u wait:i",
	"213 ext4:ext4_trim_all_free dev_major:i dev_minor:i group:u start:i len:i",
	"214 ext4:ext4_trim_extent dev_major:i dev_minor:i group:u start:i len:i",
	"215 ext4:ext4_truncate_enter dev:u ino:u blocks:u",
	"216 ext4:ext4_truncate_exit dev:u ino:u blocks:u",
	"217 ext4:ext4_unlink_enter dev:u ino:u parent:u size:i",
	"218 ext4:ext4_unlink_exit dev:u ino:u ret:i",
	"219 ext4:ext4_write_begin dev:u ino:u pos:i len:u flags:u",
	"230 ext4:ext4_write_end dev:u ino:u pos:i len:u copied:u",
	"231 ext4:ext4_writepage dev:u ino:u index:u",
	"232 ext4:ext4_writepages dev:u ino:u nr_to_write:i pages_skipped:i range_start:i"
	 " range_end:i writeback_index:u sync_mode:i for_kupdate:u range_cyclic:u",
	"233 ext4:ext4_writepages_result dev:u ino:u ret:i pages_written:i pages_skipped:i"
	 " writeback_index:u sync_mode:i",
	"234 ext4:ext4_zero_range dev:u ino:u offset:i len:i mode:i",
	"235 task:task_newtask pid:i comm:s clone_flags:u oom_score_adj:i",
	"236 task:task_rename pid:i oldcomm:s newcomm:s oom_score_adj:i",
	"237 sched:sched_process_exec filename:s pid:i old_pid:i",
	"238 sched:sched_process_exit comm:s pid:i tgid:i prio:i",
	"239 sched:sched_process_fork parent_comm:s parent_pid:i child_comm:s child_pid:i",
	"240 sched:sched_process_free comm:s pid:i prio:i",
	"241 sched:sched_process_hang comm:s pid:i",
	"242 sched:sched_process_wait comm:s pid:i prio:i",
	"243 f2fs:f2fs_do_submit_bio dev:u btype:i sync:u sector:u size:u",
	"244 f2fs:f2fs_evict_inode dev:u ino:u pino:u mode:u size:i nlink:u blocks:u advise:u",
	"245 f2fs:f2fs_fallocate dev:u ino:u mode:i offset:i len:i size:i blocks:u ret:i",
	"246 f2fs:f2fs_get_data_block dev:u ino:u iblock:u bh_start:u bh_size:u ret:i",
	"247 f2fs:f2fs_get_victim dev:u type:i gc_type:i alloc_mode:i gc_mode:i victim:u"
	 " ofs_unit:u pre_victim:u prefree:u free:u cost:u",
	"248 f2fs:f2fs_iget dev:u ino:u pino:u mode:u size:i nlink:u blocks:u advise:u",
	"249 f2fs:f2fs_iget_exit dev:u ino:u ret:i",
	"250 f2fs:f2fs_new_inode dev:u ino:u ret:i",
	"251 f2fs:f2fs_readpage dev:u ino:u index:u blkaddr:u type:i dir:i dirty:i uptodate:i",
	"252 f2fs:f2fs_reserve_new_block dev:u nid:u ofs_in_node:u",
	"253 f2fs:f2fs_set_page_dirty dev:u ino:u type:i dir:i index:u dirty:i uptodate:i",
	"254 f2fs:f2fs_submit_write_page dev:u ino:u type:i index:u block:u",
	"255 f2fs:f2fs_sync_file_enter dev:u ino:u pino:u mode:u size:i nlink:u blocks:u advise:u",
	"256 f2fs:f2fs_sync_file_exit dev:u ino:u need_cp:u datasync:i ret:i cp_reason:i",
	"257 f2fs:f2fs_sync_fs dev:u dirty:i wait:i",
	"258 f2fs:f2fs_truncate dev:u ino:u pino:u mode:u size:i nlink:u blocks:u advise:u",
	"259 f2fs:f2fs_truncate_blocks_enter dev:u ino:u size:i blocks:u from:u",
	"260 f2fs:f2fs_truncate_blocks_exit dev:u ino:u ret:i",
	"261 f2fs:f2fs_truncate_data_blocks_range dev:u ino:u nid:u ofs:u free:i",
	"262 f2fs:f2fs_truncate_inode_blocks_enter dev:u ino:u size:i blocks:u from:u",
	"263 f2fs:f2fs_truncate_inode_blocks_exit dev:u ino:u ret:i",
	"264 f2fs:f2fs_truncate_node dev:u ino:u nid:u blk_addr:u",
	"265 f2fs:f2fs_truncate_nodes_enter dev:u ino:u nid:u blk_addr:u",
	"266 f2fs:f2fs_truncate_nodes_exit dev:u ino:u ret:i",
	"267 f2fs:f2fs_truncate_partial_nodes dev:u ino:u nid:u depth:i err:i",
	"268 f2fs:f2fs_unlink_enter dev:u ino:u size:i blocks:u name:s",
	"269 f2fs:f2fs_unlink_exit dev:u ino:u ret:i",
	"270 f2fs:f2fs_vm_page_mkwrite dev:u ino:u type:i dir:i index:u dirty:i uptodate:i",
	"271 f2fs:f2fs_write_begin dev:u ino:u pos:i len:u flags:u",
	"272 f2fs:f2fs_write_checkpoint dev:u is_umount:u msg:s reason:i phase:u",
	"273 f2fs:f2fs_write_end dev:u ino:u pos:i len:u copied:u",
	"274 kmem:alloc_pages_iommu_end gfp_flags:u order:u",
	"275 kmem:alloc_pages_iommu_fail gfp_flags:u order:u",
	"276 kmem:alloc_pages_iommu_start gfp_flags:u order:u",
	"277 kmem:alloc_pages_sys_end gfp_flags:u order:u",
	"278 kmem:alloc_pages_sys_fail gfp_flags:u order:u",
	"279 kmem:alloc_pages_sys_start gfp_flags:u order:u",
	"280 kmem:dma_alloc_contiguous_retry tries:i",
	"281 kmem:iommu_map_range chunk_size:u len:u pa:u va:u",
	"282 kmem:iommu_sec_ptbl_map_range_end len:u num:i pa:u sec_id:i va:u",
	"283 kmem:iommu_sec_ptbl_map_range_start len:u num:i pa:u sec_id:i va:u",
	"284 kmem:ion_alloc_buffer_end client_name:s flags:u heap_name:s len:u mask:u",
	"285 kmem:ion_alloc_buffer_fail client_name:s error:i flags:u heap_name:s len:u mask:u",
	"286 kmem:ion_alloc_buffer_fallback client_name:s error:i flags:u heap_name:s len:u mask:u",
	"287 kmem:ion_alloc_buffer_start client_name:s flags:u heap_name:s len:u mask:u",
	"288 kmem:ion_cp_alloc_retry tries:i",
	"289 kmem:ion_cp_secure_buffer_end align:u flags:u heap_name:s len:u",
	"290 kmem:ion_cp_secure_buffer_start align:u flags:u heap_name:s len:u",
	"291 kmem:ion_prefetching len:u",
	"292 kmem:ion_secure_cma_add_to_pool_end is_prefetch:u len:u pool_total:i",
	"293 kmem:ion_secure_cma_add_to_pool_start is_prefetch:u len:u pool_total:i",
	"294 kmem:ion_secure_cma_allocate_end align:u flags:u heap_name:s len:u",
	"295 kmem:ion_secure_cma_allocate_start align:u flags:u heap_name:s len:u",
	"296 kmem:ion_secure_cma_shrink_pool_end drained_size:u skipped_size:u",
	"297 kmem:ion_secure_cma_shrink_pool_start drained_size:u skipped_size:u",
	"298 kmem:kfree call_site:u ptr:u",
	"299 kmem:kmalloc bytes_alloc:u bytes_req:u call_site:u gfp_flags:u ptr:u",
	"300 kmem:kmalloc_node bytes_alloc:u bytes_req:u call_site:u gfp_flags:u node:i ptr:u",
	"301 kmem:kmem_cache_alloc bytes_alloc:u bytes_req:u call_site:u gfp_flags:u ptr:u",
	"302 kmem:kmem_cache_alloc_node bytes_alloc:u bytes_req:u call_site:u gfp_flags:u node:i"
	 " ptr:u",
	"303 kmem:kmem_cache_free call_site:u ptr:u",
	"304 kmem:migrate_pages_end mode:i",
	"305 kmem:migrate_pages_start mode:i",
	"306 kmem:migrate_retry tries:i",
	"307 kmem:mm_page_alloc gfp_flags:u migratetype:i order:u page:u pfn:u",
	"308 kmem:mm_page_alloc_extfrag alloc_migratetype:i alloc_order:i fallback_migratetype:i"
	 " fallback_order:i page:u change_ownership:i pfn:u",
	"309 kmem:mm_page_alloc_zone_locked migratetype:i order:u page:u pfn:u",
	"310 kmem:mm_page_free order:u page:u pfn:u",
	"311 kmem:mm_page_free_batched cold:i page:u pfn:u",
	"312 kmem:mm_page_pcpu_drain migratetype:i order:u page:u pfn:u",
	"313 kmem:rss_stat member:i size:i curr:u mm_id:u",
	"314 kmem:ion_heap_shrink heap_name:s len:u total_allocated:i",
	"315 kmem:ion_heap_grow heap_name:s len:u total_allocated:i",
	"316 fence:fence_init context:u driver:s seqno:u timeline:s",
	"317 fence:fence_destroy context:u driver:s seqno:u timeline:s",
	"318 fence:fence_enable_signal context:u driver:s seqno:u timeline:s",
	"319 fence:fence_signaled context:u driver:s seqno:u timeline:s",
	"320 clk:clk_enable name:s",
	"321 clk:clk_disable name:s",
	"322 clk:clk_set_rate name:s rate:u",
	"323 binder:binder_transaction_alloc_buf data_size:u debug_id:i offsets_size:u"
	 " extra_buffers_size:u",
	"324 signal:signal_deliver code:i sa_flags:u sig:i",
	"325 signal:signal_generate code:i comm:s group:i pid:i result:i sig:i",
	"326 oom:oom_score_adj_update comm:s oom_score_adj:i pid:i",
	"328 mm_event:mm_event_record avg_lat:u count:u max_lat:u type:u",
	"329 raw_syscalls:sys_enter id:i args:a",
	"330 raw_syscalls:sys_exit id:i ret:i",
	"331 systrace:zero flag:i name:s pid:i value:i",
	"332 power:gpu_frequency gpu_id:u state:u",
	"333 sde:sde_tracing_mark_write pid:i trace_name:s trace_type:u value:i trace_begin:u",
	"334 oom:mark_victim pid:i",
	"335 ion:ion_stat buffer_id:u len:i total_allocated:u",
	"336 kmem:ion_buffer_create addr:u len:u",
	"337 kmem:ion_buffer_destroy addr:u len:u",
	"338 scm:scm_call_start arginfo:u x0:u x5:u",
	"339 scm:scm_call_end",
	"340 gpu_mem:gpu_mem_total gpu_id:u pid:u size:u",
	"341 thermal:thermal_temperature id:i temp:i temp_prev:i thermal_zone:s",
	"342 thermal:cdev_update target:u type:s",
	"343 cpuhp:cpuhp_exit cpu:u idx:i ret:i state:i",
	"344 cpuhp:cpuhp_multi_enter cpu:u fun:u idx:i target:i",
	"345 cpuhp:cpuhp_enter cpu:u fun:u idx:i target:i",
	"346 cpuhp:cpuhp_latency cpu:u ret:i state:u time:u",
	"347 fastrpc:fastrpc_dma_stat cid:i len:i total_allocated:u",
	"348 dpu:dpu_tracing_mark_write pid:i trace_name:s trace_begin:u name:s type:u value:i",
	"349 g2d:g2d_tracing_mark_write pid:i 4=name:s type:u value:i",
	"350 mali:mali_tracing_mark_write name:s pid:i type:u value:i",
	"351 dmabuf_heap:dma_heap_stat inode:u len:i total_allocated:u",
	"352 cpuhp:cpuhp_pause active_cpus:u cpus:u pause:u time:u",
	"353 sched:sched_pi_setprio comm:s newprio:i oldprio:i pid:i",
	"354 sde:sde_sde_evtlog evtlog_tag:s pid:i tag_id:u d00:u d01:u d02:u d03:u d04:u d05:u"
	 " d06:u d07:u d08:u d09:u d10:u d11:u d12:u d13:u d14:u",
	"355 sde:sde_sde_perf_calc_crtc bw_ctl_ebi:u bw_ctl_llcc:u bw_ctl_mnoc:u core_clk_rate:u"
	 " crtc:u ib_ebi:u ib_llcc:u ib_mnoc:u",
	"356 sde:sde_sde_perf_crtc_update bw_ctl_ebi:u bw_ctl_llcc:u bw_ctl_mnoc:u core_clk_rate:u"
	 " crtc:u params:i per_pipe_ib_ebi:u per_pipe_ib_llcc:u per_pipe_ib_mnoc:u stop_req:u"
	 " update_bus:u update_clk:u",
	"357 sde:sde_sde_perf_set_qos_luts fl:u fmt:u lut:u lut_usage:u pnum:u rt:u",
	"358 sde:sde_sde_perf_update_bus ab_quota:u bus_id:u client:i ib_quota:u",
	"359 synthetic:rss_stat_throttled curr:u member:i mm_id:u size:i",
	"360 net:netif_receive_skb len:u name:s skbaddr:u",
	"361 net:net_dev_xmit len:u name:s rc:i skbaddr:u",
	"362 sock:inet_sock_set_state daddr:u dport:u family:u newstate:i oldstate:i protocol:u"
	 " saddr:u skaddr:u sport:u",
	"363 tcp:tcp_retransmit_skb daddr:u dport:u saddr:u skaddr:u skbaddr:u sport:u state:i",
	"364 cros_ec:cros_ec_sensorhub_data current_time:i current_timestamp:i delta:i"
	 " ec_fifo_timestamp:u ec_sensor_num:u fifo_timestamp:i",
	"365 net:napi_gro_receive_entry data_len:u gso_size:u gso_type:u hash:u ip_summed:u"
	 " l4_hash:u len:u mac_header:i mac_header_valid:u name:s napi_id:u nr_frags:u protocol:u"
	 " queue_mapping:u skbaddr:u truesize:u vlan_proto:u vlan_tagged:u vlan_tci:u",
	"366 net:napi_gro_receive_exit ret:i",
	"367 skb:kfree_skb location:u protocol:u skbaddr:u",
	"368 kvm:kvm_access_fault ipa:u",
	"369 kvm:kvm_ack_irq irqchip:u pin:u",
	"370 kvm:kvm_age_hva end:u start:u",
	"371 kvm:kvm_age_page gfn:u hva:u level:u referenced:u",
	"372 kvm:kvm_arm_clear_debug guest_debug:u",
	"373 kvm:kvm_arm_set_dreg32 name:s value:u",
	"374 kvm:kvm_arm_set_regset len:i name:s",
	"375 kvm:kvm_arm_setup_debug guest_debug:u vcpu:u",
	"376 kvm:kvm_entry vcpu_pc:u",
	"377 kvm:kvm_exit esr_ec:u ret:i vcpu_pc:u",
	"378 kvm:kvm_fpu load:u",
	"379 kvm:kvm_get_timer_map direct_ptimer:i direct_vtimer:i emul_ptimer:i vcpu_id:u",
	"380 kvm:kvm_guest_fault hsr:u hxfar:u ipa:u vcpu_pc:u",
	"381 kvm:kvm_handle_sys_reg hsr:u",
	"382 kvm:kvm_hvc_arm64 imm:u r0:u vcpu_pc:u",
	"383 kvm:kvm_irq_line irq_num:i level:i type:u vcpu_idx:i",
	"384 kvm:kvm_mmio gpa:u len:u type:u val:u",
	"385 kvm:kvm_mmio_emulate cpsr:u instr:u vcpu_pc:u",
	"386 kvm:kvm_set_guest_debug guest_debug:u vcpu:u",
	"387 kvm:kvm_set_irq gsi:u irq_source_id:i level:i",
	"388 kvm:kvm_set_spte_hva hva:u",
	"389 kvm:kvm_set_way_flush cache:u vcpu_pc:u",
	"390 kvm:kvm_sys_access CRm:u CRn:u Op0:u Op1:u Op2:u is_write:u name:s vcpu_pc:u",
	"391 kvm:kvm_test_age_hva hva:u",
	"392 kvm:kvm_timer_emulate should_fire:u timer_idx:i",
	"393 kvm:kvm_timer_hrtimer_expire timer_idx:i",
	"394 kvm:kvm_timer_restore_state ctl:u cval:u timer_idx:i",
	"395 kvm:kvm_timer_save_state ctl:u cval:u timer_idx:i",
	"396 kvm:kvm_timer_update_irq irq:u level:i vcpu_id:u",
	"397 kvm:kvm_toggle_cache now:u vcpu_pc:u was:u",
	"398 kvm:kvm_unmap_hva_range end:u start:u",
	"399 kvm:kvm_userspace_exit reason:u",
	NULL
};
/* clang-format on */

/* --- the events of ftrace with numbers up to 209 --- */

/* clang-format off */
const char *const perfetto_ftrace_3[] = {
	"3 ftrace:print ip:u buf:s",
	"4 sched:sched_switch prev_comm:s prev_pid:i prev_prio:i prev_state:i next_comm:s"
	 " next_pid:i next_prio:i",
	"11 power:cpu_frequency state:u cpu_id:u",
	"12 power:cpu_frequency_limits min_freq:u max_freq:u cpu_id:u",
	"13 power:cpu_idle state:u cpu_id:u",
	"14 power:clock_enable name:s state:u cpu_id:u",
	"15 power:clock_disable name:s state:u cpu_id:u",
	"16 power:clock_set_rate name:s state:u cpu_id:u",
	"17 sched:sched_wakeup comm:s pid:i prio:i success:i target_cpu:i",
	"18 sched:sched_blocked_reason pid:i caller:u io_wait:u",
	"19 sched:sched_cpu_hotplug affected_cpu:i error:i status:i",
	"20 sched:sched_waking comm:s pid:i prio:i success:i target_cpu:i",
	"21 ipi:ipi_entry reason:s",
	"22 ipi:ipi_exit reason:s",
	"23 ipi:ipi_raise target_cpus:u reason:s",
	"24 irq:softirq_entry vec:u",
	"25 irq:softirq_exit vec:u",
	"26 irq:softirq_raise vec:u",
	"27 i2c:i2c_read adapter_nr:i msg_nr:u addr:u flags:u len:u",
	"28 i2c:i2c_write adapter_nr:i msg_nr:u addr:u flags:u len:u",
	"29 i2c:i2c_result adapter_nr:i nr_msgs:u ret:i",
	"30 i2c:i2c_reply adapter_nr:i msg_nr:u addr:u flags:u len:u",
	"31 i2c:smbus_read adapter_nr:i flags:u addr:u command:u protocol:u",
	"32 i2c:smbus_write adapter_nr:i addr:u flags:u command:u len:u protocol:u",
	"33 i2c:smbus_result adapter_nr:i addr:u flags:u read_write:u command:u res:i protocol:u",
	"34 i2c:smbus_reply adapter_nr:i addr:u flags:u command:u len:u protocol:u",
	"35 lowmemorykiller:lowmemory_kill comm:s pid:i pagecache_size:i pagecache_limit:i free:i",
	"36 irq:irq_handler_entry irq:i name:s handler:u",
	"37 irq:irq_handler_exit irq:i ret:i",
	"38 sync:sync_pt timeline:s value:s",
	"39 sync:sync_timeline name:s value:s",
	"40 sync:sync_wait name:s status:i begin:u",
	"41 ext4:ext4_da_write_begin dev:u ino:u pos:i len:u flags:u",
	"42 ext4:ext4_da_write_end dev:u ino:u pos:i len:u copied:u",
	"43 ext4:ext4_sync_file_enter dev:u ino:u parent:u datasync:i",
	"44 ext4:ext4_sync_file_exit dev:u ino:u ret:i",
	"45 block:block_rq_issue dev:u sector:u nr_sector:u bytes:u rwbs:s comm:s cmd:s",
	"46 vmscan:mm_vmscan_direct_reclaim_begin order:i may_writepage:i gfp_flags:u",
	"47 vmscan:mm_vmscan_direct_reclaim_end nr_reclaimed:u",
	"48 vmscan:mm_vmscan_kswapd_wake nid:i order:i zid:i",
	"49 vmscan:mm_vmscan_kswapd_sleep nid:i",
	"50 binder:binder_transaction debug_id:i target_node:i to_proc:i to_thread:i reply:i"
	 " code:u flags:u",
	"51 binder:binder_transaction_received debug_id:i",
	"52 binder:binder_set_priority proc:i thread:i old_prio:u new_prio:u desired_prio:u",
	"53 binder:binder_lock tag:s",
	"54 binder:binder_locked tag:s",
	"55 binder:binder_unlock tag:s",
	"56 workqueue:workqueue_activate_work work:u function:u",
	"57 workqueue:workqueue_execute_end work:u function:u",
	"58 workqueue:workqueue_execute_start work:u function:u",
	"59 workqueue:workqueue_queue_work work:u function:u 4=req_cpu:i cpu:i workqueue:s",
	"60 regulator:regulator_disable name:s",
	"61 regulator:regulator_disable_complete name:s",
	"62 regulator:regulator_enable name:s",
	"63 regulator:regulator_enable_complete name:s",
	"64 regulator:regulator_enable_delay name:s",
	"65 regulator:regulator_set_voltage name:s min:i max:i",
	"66 regulator:regulator_set_voltage_complete name:s val:u",
	"67 cgroup:cgroup_attach_task dst_root:i dst_id:i pid:i comm:s cname:s dst_level:i"
	 " dst_path:s",
	"68 cgroup:cgroup_mkdir root:i id:i cname:s level:i path:s",
	"69 cgroup:cgroup_remount root:i ss_mask:u name:s",
	"70 cgroup:cgroup_rmdir root:i id:i cname:s level:i path:s",
	"71 cgroup:cgroup_transfer_tasks dst_root:i dst_id:i pid:i comm:s cname:s dst_level:i"
	 " dst_path:s",
	"72 cgroup:cgroup_destroy_root root:i ss_mask:u name:s",
	"73 cgroup:cgroup_release root:i id:i cname:s level:i path:s",
	"74 cgroup:cgroup_rename root:i id:i cname:s level:i path:s",
	"75 cgroup:cgroup_setup_root root:i ss_mask:u name:s",
	"76 mdss:mdp_cmd_kickoff ctl_num:u kickoff_cnt:i",
	"77 mdss:mdp_commit num:u play_cnt:u clk_rate:u bandwidth:u",
	"78 mdss:mdp_perf_set_ot pnum:u xin_id:u rd_lim:u is_vbif_rt:u",
	"79 mdss:mdp_sspp_change num:u play_cnt:u mixer:u stage:u flags:u format:u img_w:u img_h:u"
	 " src_x:u src_y:u src_w:u src_h:u dst_x:u dst_y:u dst_w:u dst_h:u",
	"80 mdss:tracing_mark_write pid:i trace_name:s trace_begin:u",
	"81 mdss:mdp_cmd_pingpong_done ctl_num:u intf_num:u pp_num:u koff_cnt:i",
	"82 mdss:mdp_compare_bw new_ab:u new_ib:u new_wb:u old_ab:u old_ib:u old_wb:u"
	 " params_changed:u update_bw:u",
	"83 mdss:mdp_perf_set_panic_luts pnum:u fmt:u mode:u panic_lut:u robust_lut:u",
	"84 mdss:mdp_sspp_set num:u play_cnt:u mixer:u stage:u flags:u format:u img_w:u img_h:u"
	 " src_x:u src_y:u src_w:u src_h:u dst_x:u dst_y:u dst_w:u dst_h:u",
	"85 mdss:mdp_cmd_readptr_done ctl_num:u koff_cnt:i",
	"86 mdss:mdp_misr_crc block_id:u vsync_cnt:u crc:u",
	"87 mdss:mdp_perf_set_qos_luts pnum:u fmt:u intf:u rot:u fl:u lut:u linear:u",
	"88 mdss:mdp_trace_counter pid:i counter_name:s value:i",
	"89 mdss:mdp_cmd_release_bw ctl_num:u",
	"90 mdss:mdp_mixer_update mixer_num:u",
	"91 mdss:mdp_perf_set_wm_levels pnum:u use_space:u priority_bytes:u wm0:u wm1:u wm2:u"
	 " mb_cnt:u mb_size:u",
	"92 mdss:mdp_video_underrun_done ctl_num:u underrun_cnt:u",
	"93 mdss:mdp_cmd_wait_pingpong ctl_num:u kickoff_cnt:i",
	"94 mdss:mdp_perf_prefill_calc pnum:u latency_buf:u ot:u y_buf:u y_scaler:u pp_lines:u"
	 " pp_bytes:u post_sc:u fbc_bytes:u prefill_bytes:u",
	"95 mdss:mdp_perf_update_bus client:i ab_quota:u ib_quota:u",
	"96 mdss:rotator_bw_ao_as_context state:u",
	"97 filemap:mm_filemap_add_to_page_cache pfn:u i_ino:u index:u s_dev:u page:u",
	"98 filemap:mm_filemap_delete_from_page_cache pfn:u i_ino:u index:u s_dev:u page:u",
	"99 compaction:mm_compaction_begin zone_start:u migrate_pfn:u free_pfn:u zone_end:u sync:u",
	"100 compaction:mm_compaction_defer_compaction nid:i idx:u order:i considered:u"
	 " defer_shift:u order_failed:i",
	"101 compaction:mm_compaction_deferred nid:i idx:u order:i considered:u defer_shift:u"
	 " order_failed:i",
	"102 compaction:mm_compaction_defer_reset nid:i idx:u order:i considered:u defer_shift:u"
	 " order_failed:i",
	"103 compaction:mm_compaction_end zone_start:u migrate_pfn:u free_pfn:u zone_end:u sync:u"
	 " status:i",
	"104 compaction:mm_compaction_finished nid:i idx:u order:i ret:i",
	"105 compaction:mm_compaction_isolate_freepages start_pfn:u end_pfn:u nr_scanned:u"
	 " nr_taken:u",
	"106 compaction:mm_compaction_isolate_migratepages start_pfn:u end_pfn:u nr_scanned:u"
	 " nr_taken:u",
	"107 compaction:mm_compaction_kcompactd_sleep nid:i",
	"108 compaction:mm_compaction_kcompactd_wake nid:i order:i classzone_idx:u"
	 " highest_zoneidx:u",
	"109 compaction:mm_compaction_migratepages nr_migrated:u nr_failed:u",
	"110 compaction:mm_compaction_suitable nid:i idx:u order:i ret:i",
	"111 compaction:mm_compaction_try_to_compact_pages order:i gfp_mask:u mode:u prio:i",
	"112 compaction:mm_compaction_wakeup_kcompactd nid:i order:i classzone_idx:u"
	 " highest_zoneidx:u",
	"113 power:suspend_resume action:s val:i start:u",
	"114 sched:sched_wakeup_new comm:s pid:i prio:i success:i target_cpu:i",
	"115 block:block_bio_backmerge dev:u sector:u nr_sector:u rwbs:s comm:s",
	"116 block:block_bio_bounce dev:u sector:u nr_sector:u rwbs:s comm:s",
	"117 block:block_bio_complete dev:u sector:u nr_sector:u error:i rwbs:s",
	"118 block:block_bio_frontmerge dev:u sector:u nr_sector:u rwbs:s comm:s",
	"119 block:block_bio_queue dev:u sector:u nr_sector:u rwbs:s comm:s",
	"120 block:block_bio_remap dev:u sector:u nr_sector:u old_dev:u old_sector:u rwbs:s",
	"121 block:block_dirty_buffer dev:u sector:u size:u",
	"122 block:block_getrq dev:u sector:u nr_sector:u rwbs:s comm:s",
	"123 block:block_plug comm:s",
	"124 block:block_rq_abort dev:u sector:u nr_sector:u errors:i rwbs:s cmd:s",
	"125 block:block_rq_complete dev:u sector:u nr_sector:u errors:i rwbs:s cmd:s error:i",
	"126 block:block_rq_insert dev:u sector:u nr_sector:u bytes:u rwbs:s comm:s cmd:s",
	"128 block:block_rq_remap dev:u sector:u nr_sector:u old_dev:u old_sector:u nr_bios:u"
	 " rwbs:s",
	"129 block:block_rq_requeue dev:u sector:u nr_sector:u errors:i rwbs:s cmd:s",
	"130 block:block_sleeprq dev:u sector:u nr_sector:u rwbs:s comm:s",
	"131 block:block_split dev:u sector:u new_sector:u rwbs:s comm:s",
	"132 block:block_touch_buffer dev:u sector:u size:u",
	"133 block:block_unplug nr_rq:i comm:s",
	"134 ext4:ext4_alloc_da_blocks dev:u ino:u data_blocks:u meta_blocks:u",
	"135 ext4:ext4_allocate_blocks dev:u ino:u block:u len:u logical:u lleft:u lright:u goal:u"
	 " pleft:u pright:u flags:u",
	"136 ext4:ext4_allocate_inode dev:u ino:u dir:u mode:u",
	"137 ext4:ext4_begin_ordered_truncate dev:u ino:u new_size:i",
	"138 ext4:ext4_collapse_range dev:u ino:u offset:i len:i",
	"139 ext4:ext4_da_release_space dev:u ino:u i_blocks:u freed_blocks:i"
	 " reserved_data_blocks:i reserved_meta_blocks:i allocated_meta_blocks:i mode:u",
	"140 ext4:ext4_da_reserve_space dev:u ino:u i_blocks:u reserved_data_blocks:i"
	 " reserved_meta_blocks:i mode:u md_needed:i",
	"141 ext4:ext4_da_update_reserve_space dev:u ino:u i_blocks:u used_blocks:i"
	 " reserved_data_blocks:i reserved_meta_blocks:i allocated_meta_blocks:i quota_claim:i"
	 " mode:u",
	"142 ext4:ext4_da_write_pages dev:u ino:u first_page:u nr_to_write:i sync_mode:i"
	 " b_blocknr:u b_size:u b_state:u io_done:i pages_written:i",
	"143 ext4:ext4_da_write_pages_extent dev:u ino:u lblk:u len:u flags:u",
	"144 ext4:ext4_direct_IO_enter dev:u ino:u pos:i len:u rw:i",
	"145 ext4:ext4_direct_IO_exit dev:u ino:u pos:i len:u rw:i ret:i",
	"146 ext4:ext4_discard_blocks dev:u blk:u count:u",
	"147 ext4:ext4_discard_preallocations dev:u ino:u len:u needed:u",
	"148 ext4:ext4_drop_inode dev:u ino:u drop:i",
	"149 ext4:ext4_es_cache_extent dev:u ino:u lblk:u len:u pblk:u status:u",
	"150 ext4:ext4_es_find_delayed_extent_range_enter dev:u ino:u lblk:u",
	"151 ext4:ext4_es_find_delayed_extent_range_exit dev:u ino:u lblk:u len:u pblk:u status:u",
	"152 ext4:ext4_es_insert_extent dev:u ino:u lblk:u len:u pblk:u status:u",
	"153 ext4:ext4_es_lookup_extent_enter dev:u ino:u lblk:u",
	"154 ext4:ext4_es_lookup_extent_exit dev:u ino:u lblk:u len:u pblk:u status:u found:i",
	"155 ext4:ext4_es_remove_extent dev:u ino:u lblk:i len:i",
	"156 ext4:ext4_es_shrink dev:u nr_shrunk:i scan_time:u nr_skipped:i retried:i",
	"157 ext4:ext4_es_shrink_count dev:u nr_to_scan:i cache_cnt:i",
	"158 ext4:ext4_es_shrink_scan_enter dev:u nr_to_scan:i cache_cnt:i",
	"159 ext4:ext4_es_shrink_scan_exit dev:u nr_shrunk:i cache_cnt:i",
	"160 ext4:ext4_evict_inode dev:u ino:u nlink:i",
	"161 ext4:ext4_ext_convert_to_initialized_enter dev:u ino:u m_lblk:u m_len:u u_lblk:u"
	 " u_len:u u_pblk:u",
	"162 ext4:ext4_ext_convert_to_initialized_fastpath dev:u ino:u m_lblk:u m_len:u u_lblk:u"
	 " u_len:u u_pblk:u i_lblk:u i_len:u i_pblk:u",
	"163 ext4:ext4_ext_handle_unwritten_extents dev:u ino:u flags:i lblk:u pblk:u len:u"
	 " allocated:u newblk:u",
	"164 ext4:ext4_ext_in_cache dev:u ino:u lblk:u ret:i",
	"165 ext4:ext4_ext_load_extent dev:u ino:u pblk:u lblk:u",
	"166 ext4:ext4_ext_map_blocks_enter dev:u ino:u lblk:u len:u flags:u",
	"167 ext4:ext4_ext_map_blocks_exit dev:u ino:u flags:u pblk:u lblk:u len:u mflags:u ret:i",
	"168 ext4:ext4_ext_put_in_cache dev:u ino:u lblk:u len:u start:u",
	"169 ext4:ext4_ext_remove_space dev:u ino:u start:u end:u depth:i",
	"170 ext4:ext4_ext_remove_space_done dev:u ino:u start:u end:u depth:i partial:i"
	 " eh_entries:u pc_lblk:u pc_pclu:u pc_state:i",
	"171 ext4:ext4_ext_rm_idx dev:u ino:u pblk:u",
	"172 ext4:ext4_ext_rm_leaf dev:u ino:u partial:i start:u ee_lblk:u ee_pblk:u ee_len:i"
	 " pc_lblk:u pc_pclu:u pc_state:i",
	"173 ext4:ext4_ext_show_extent dev:u ino:u pblk:u lblk:u len:u",
	"174 ext4:ext4_fallocate_enter dev:u ino:u offset:i len:i mode:i pos:i",
	"175 ext4:ext4_fallocate_exit dev:u ino:u pos:i blocks:u ret:i",
	"176 ext4:ext4_find_delalloc_range dev:u ino:u from:u to:u reverse:i found:i found_blk:u",
	"177 ext4:ext4_forget dev:u ino:u block:u is_metadata:i mode:u",
	"178 ext4:ext4_free_blocks dev:u ino:u block:u count:u flags:i mode:u",
	"179 ext4:ext4_free_inode dev:u ino:u uid:u gid:u blocks:u mode:u",
	"180 ext4:ext4_get_implied_cluster_alloc_exit dev:u flags:u lblk:u pblk:u len:u ret:i",
	"181 ext4:ext4_get_reserved_cluster_alloc dev:u ino:u lblk:u len:u",
	"182 ext4:ext4_ind_map_blocks_enter dev:u ino:u lblk:u len:u flags:u",
	"183 ext4:ext4_ind_map_blocks_exit dev:u ino:u flags:u pblk:u lblk:u len:u mflags:u ret:i",
	"184 ext4:ext4_insert_range dev:u ino:u offset:i len:i",
	"185 ext4:ext4_invalidatepage dev:u ino:u index:u offset:u length:u",
	"186 ext4:ext4_journal_start dev:u ip:u blocks:i rsv_blocks:i nblocks:i revoke_creds:i",
	"187 ext4:ext4_journal_start_reserved dev:u ip:u blocks:i",
	"188 ext4:ext4_journalled_invalidatepage dev:u ino:u index:u offset:u length:u",
	"189 ext4:ext4_journalled_write_end dev:u ino:u pos:i len:u copied:u",
	"190 ext4:ext4_load_inode dev:u ino:u",
	"191 ext4:ext4_load_inode_bitmap dev:u group:u",
	"192 ext4:ext4_mark_inode_dirty dev:u ino:u ip:u",
	"193 ext4:ext4_mb_bitmap_load dev:u group:u",
	"194 ext4:ext4_mb_buddy_bitmap_load dev:u group:u",
	"195 ext4:ext4_mb_discard_preallocations dev:u needed:i",
	"196 ext4:ext4_mb_new_group_pa dev:u ino:u pa_pstart:u pa_lstart:u pa_len:u",
	"197 ext4:ext4_mb_new_inode_pa dev:u ino:u pa_pstart:u pa_lstart:u pa_len:u",
	"198 ext4:ext4_mb_release_group_pa dev:u pa_pstart:u pa_len:u",
	"199 ext4:ext4_mb_release_inode_pa dev:u ino:u block:u count:u",
	"200 ext4:ext4_mballoc_alloc dev:u ino:u orig_logical:u orig_start:i orig_group:u"
	 " orig_len:i goal_logical:u goal_start:i goal_group:u goal_len:i result_logical:u"
	 " result_start:i result_group:u result_len:i found:u groups:u buddy:u flags:u tail:u cr:u",
	"201 ext4:ext4_mballoc_discard dev:u ino:u result_start:i result_group:u result_len:i",
	"202 ext4:ext4_mballoc_free dev:u ino:u result_start:i result_group:u result_len:i",
	"203 ext4:ext4_mballoc_prealloc dev:u ino:u orig_logical:u orig_start:i orig_group:u"
	 " orig_len:i result_logical:u result_start:i result_group:u result_len:i",
	"204 ext4:ext4_other_inode_update_time dev:u ino:u orig_ino:u uid:u gid:u mode:u",
	"205 ext4:ext4_punch_hole dev:u ino:u offset:i len:i mode:i",
	"206 ext4:ext4_read_block_bitmap_load dev:u group:u prefetch:u",
	"207 ext4:ext4_readpage dev:u ino:u index:u",
	"208 ext4:ext4_releasepage dev:u ino:u index:u",
	"209 ext4:ext4_remove_blocks dev:u ino:u from:u to:u partial:i ee_pblk:u ee_lblk:u"
	 " ee_len:u pc_lblk:u pc_pclu:u pc_state:i",
	NULL
};
/* clang-format on */

/* --- the events of ftrace with numbers from 400 on --- */

/* clang-format off */
const char *const perfetto_ftrace_400[] = {
	"400 kvm:kvm_vcpu_wakeup ns:u valid:u waited:u",
	"401 kvm:kvm_wfx_arm64 is_wfe:u vcpu_pc:u",
	"402 kvm:trap_reg fn:s is_write:u reg:i write_value:u",
	"403 kvm:vgic_update_irq_pending irq:u level:u vcpu_id:u",
	"404 power:wakeup_source_activate name:s state:u",
	"405 power:wakeup_source_deactivate name:s state:u",
	"406 ufs:ufshcd_command dev_name:s doorbell:u intr:u lba:u opcode:u str:s tag:u"
	 " transfer_len:i group_id:u str_t:u",
	"407 ufs:ufshcd_clk_gating dev_name:s state:i",
	"408 printk:console msg:s",
	"409 drm:drm_vblank_event crtc:i high_prec:u seq:u time:i",
	"410 drm:drm_vblank_event_delivered crtc:i file:u seq:u",
	"411 gpu_scheduler:drm_sched_job entity:u fence:u hw_job_count:i id:u job_count:u name:s",
	"412 gpu_scheduler:drm_run_job entity:u fence:u hw_job_count:i id:u job_count:u name:s",
	"413 gpu_scheduler:drm_sched_process_job fence:u",
	"414 dma_fence:dma_fence_init context:u driver:s seqno:u timeline:s",
	"415 dma_fence:dma_fence_emit context:u driver:s seqno:u timeline:s",
	"416 dma_fence:dma_fence_signaled context:u driver:s seqno:u timeline:s",
	"417 dma_fence:dma_fence_wait_start context:u driver:s seqno:u timeline:s",
	"418 dma_fence:dma_fence_wait_end context:u driver:s seqno:u timeline:s",
	"419 f2fs:f2fs_iostat app_bio:u app_brio:u app_dio:u app_drio:u app_mio:u app_mrio:u"
	 " app_rio:u app_wio:u dev:u fs_cdrio:u fs_cp_dio:u fs_cp_mio:u fs_cp_nio:u fs_dio:u"
	 " fs_discard:u fs_drio:u fs_gc_dio:u fs_gc_nio:u fs_gdrio:u fs_mio:u fs_mrio:u fs_nio:u"
	 " fs_nrio:u",
	"420 f2fs:f2fs_iostat_latency d_rd_avg:u d_rd_cnt:u d_rd_peak:u d_wr_as_avg:u"
	 " d_wr_as_cnt:u d_wr_as_peak:u d_wr_s_avg:u d_wr_s_cnt:u d_wr_s_peak:u dev:u m_rd_avg:u"
	 " m_rd_cnt:u m_rd_peak:u m_wr_as_avg:u m_wr_as_cnt:u m_wr_as_peak:u m_wr_s_avg:u"
	 " m_wr_s_cnt:u m_wr_s_peak:u n_rd_avg:u n_rd_cnt:u n_rd_peak:u n_wr_as_avg:u"
	 " n_wr_as_cnt:u n_wr_as_peak:u n_wr_s_avg:u n_wr_s_cnt:u n_wr_s_peak:u",
	"421 sched:sched_cpu_util_cfs active:i capacity:u capacity_orig:u cpu:u cpu_importance:u"
	 " cpu_util:u exit_lat:u group_capacity:u grp_overutilized:u idle_cpu:u nr_running:u"
	 " spare_cap:i task_fits:u wake_group_util:u wake_util:u",
	"422 v4l2:v4l2_qbuf bytesused:u field:u flags:u index:u minor:i sequence:u"
	 " timecode_flags:u timecode_frames:u timecode_hours:u timecode_minutes:u"
	 " timecode_seconds:u timecode_type:u timecode_userbits0:u timecode_userbits1:u"
	 " timecode_userbits2:u timecode_userbits3:u timestamp:i type:u",
	"423 v4l2:v4l2_dqbuf bytesused:u field:u flags:u index:u minor:i sequence:u"
	 " timecode_flags:u timecode_frames:u timecode_hours:u timecode_minutes:u"
	 " timecode_seconds:u timecode_type:u timecode_userbits0:u timecode_userbits1:u"
	 " timecode_userbits2:u timecode_userbits3:u timestamp:i type:u",
	"424 v4l2:vb2_v4l2_buf_queue field:u flags:u minor:i sequence:u timecode_flags:u"
	 " timecode_frames:u timecode_hours:u timecode_minutes:u timecode_seconds:u"
	 " timecode_type:u timecode_userbits0:u timecode_userbits1:u timecode_userbits2:u"
	 " timecode_userbits3:u timestamp:i",
	"425 v4l2:vb2_v4l2_buf_done field:u flags:u minor:i sequence:u timecode_flags:u"
	 " timecode_frames:u timecode_hours:u timecode_minutes:u timecode_seconds:u"
	 " timecode_type:u timecode_userbits0:u timecode_userbits1:u timecode_userbits2:u"
	 " timecode_userbits3:u timestamp:i",
	"426 v4l2:vb2_v4l2_qbuf field:u flags:u minor:i sequence:u timecode_flags:u"
	 " timecode_frames:u timecode_hours:u timecode_minutes:u timecode_seconds:u"
	 " timecode_type:u timecode_userbits0:u timecode_userbits1:u timecode_userbits2:u"
	 " timecode_userbits3:u timestamp:i",
	"427 v4l2:vb2_v4l2_dqbuf field:u flags:u minor:i sequence:u timecode_flags:u"
	 " timecode_frames:u timecode_hours:u timecode_minutes:u timecode_seconds:u"
	 " timecode_type:u timecode_userbits0:u timecode_userbits1:u timecode_userbits2:u"
	 " timecode_userbits3:u timestamp:i",
	"428 panel:dsi_cmd_fifo_status header:u payload:u",
	"429 panel:dsi_rx cmd:u",
	"430 panel:dsi_tx last:u 3=type:u",
	"431 android_fs:android_fs_dataread_end bytes:i ino:u offset:i",
	"432 android_fs:android_fs_dataread_start bytes:i cmdline:s i_size:i ino:u offset:i"
	 " pathbuf:s pid:i",
	"433 android_fs:android_fs_datawrite_end bytes:i ino:u offset:i",
	"434 android_fs:android_fs_datawrite_start bytes:i cmdline:s i_size:i ino:u offset:i"
	 " pathbuf:s pid:i",
	"435 android_fs:android_fs_fsync_end bytes:i ino:u offset:i",
	"436 android_fs:android_fs_fsync_start cmdline:s i_size:i ino:u pathbuf:s pid:i",
	"437 ftrace:funcgraph_entry depth:i func:u",
	"438 ftrace:funcgraph_exit calltime:u depth:i func:u overrun:u rettime:u",
	"439 virtio_video:virtio_video_cmd stream_id:u type:u",
	"440 virtio_video:virtio_video_cmd_done stream_id:u type:u",
	"441 virtio_video:virtio_video_resource_queue data_size0:u data_size1:u data_size2:u"
	 " data_size3:u queue_type:u resource_id:i stream_id:i timestamp:u",
	"442 virtio_video:virtio_video_resource_queue_done data_size0:u data_size1:u data_size2:u"
	 " data_size3:u queue_type:u resource_id:i stream_id:i timestamp:u",
	"443 vmscan:mm_shrink_slab_start cache_items:u delta:u gfp_flags:u lru_pgs:u"
	 " nr_objects_to_shrink:i pgs_scanned:u shr:u shrink:u total_scan:u nid:i priority:i",
	"444 vmscan:mm_shrink_slab_end new_scan:i retval:i shr:u shrink:u total_scan:i"
	 " unused_scan:i nid:i",
	"445 trusty:trusty_smc r0:u r1:u r2:u r3:u",
	"446 trusty:trusty_smc_done ret:u",
	"447 trusty:trusty_std_call32 r0:u r1:u r2:u r3:u",
	"448 trusty:trusty_std_call32_done ret:i",
	"449 trusty:trusty_share_memory len:u lend:u nents:u",
	"450 trusty:trusty_share_memory_done handle:u len:u lend:u nents:u ret:i",
	"451 trusty:trusty_reclaim_memory id:u",
	"452 trusty:trusty_reclaim_memory_done id:u ret:i",
	"453 trusty:trusty_irq irq:i",
	"454 trusty:trusty_ipc_handle_event chan:u event_id:u srv_name:s",
	"455 trusty:trusty_ipc_connect chan:u port:s state:i",
	"456 trusty:trusty_ipc_connect_end chan:u err:i state:i",
	"457 trusty:trusty_ipc_write buf_id:u chan:u kind_shm:i len_or_err:i shm_cnt:u srv_name:s",
	"458 trusty:trusty_ipc_poll chan:u poll_mask:u srv_name:s",
	"460 trusty:trusty_ipc_read chan:u srv_name:s",
	"461 trusty:trusty_ipc_read_end buf_id:u chan:u len_or_err:i shm_cnt:u srv_name:s",
	"462 trusty:trusty_ipc_rx buf_id:u chan:u srv_name:s",
	"464 trusty:trusty_enqueue_nop arg1:u arg2:u arg3:u",
	"465 cma:cma_alloc_start align:u count:u name:s",
	"466 cma:cma_alloc_info align:u count:u err_iso:u err_mig:u err_test:u name:s nr_mapped:u"
	 " nr_migrated:u nr_reclaimed:u pfn:u",
	"467 lwis:lwis_tracing_mark_write lwis_name:s type:u pid:i func_name:s value:i",
	"468 virtio_gpu:virtio_gpu_cmd_queue ctx_id:u dev:i fence_id:u flags:u name:s num_free:u"
	 " seqno:u type:u vq:u",
	"469 virtio_gpu:virtio_gpu_cmd_response ctx_id:u dev:i fence_id:u flags:u name:s"
	 " num_free:u seqno:u type:u vq:u",
	"470 mali:mali_mali_KCPU_CQS_SET id:u info_val1:u info_val2:u kctx_id:u kctx_tgid:i",
	"471 mali:mali_mali_KCPU_CQS_WAIT_START id:u info_val1:u info_val2:u kctx_id:u kctx_tgid:i",
	"472 mali:mali_mali_KCPU_CQS_WAIT_END id:u info_val1:u info_val2:u kctx_id:u kctx_tgid:i",
	"473 mali:mali_mali_KCPU_FENCE_SIGNAL info_val1:u info_val2:u kctx_tgid:i kctx_id:u id:u",
	"474 mali:mali_mali_KCPU_FENCE_WAIT_START info_val1:u info_val2:u kctx_tgid:i kctx_id:u"
	 " id:u",
	"475 mali:mali_mali_KCPU_FENCE_WAIT_END info_val1:u info_val2:u kctx_tgid:i kctx_id:u id:u",
	"476 hyp:hyp_enter",
	"477 hyp:hyp_exit",
	"478 hyp:host_hcall id:u invalid:u",
	"479 hyp:host_smc id:u forwarded:u",
	"480 hyp:host_mem_abort esr:u addr:u",
	"481 synthetic:suspend_resume_minimal start:u",
	"482 mali:mali_mali_CSF_INTERRUPT_START kctx_tgid:i kctx_id:u info_val:u",
	"483 mali:mali_mali_CSF_INTERRUPT_END kctx_tgid:i kctx_id:u info_val:u",
	"484 samsung:samsung_tracing_mark_write pid:i trace_name:s trace_begin:u trace_type:u"
	 " value:i",
	"485 binder:binder_command cmd:u",
	"486 binder:binder_return cmd:u",
	"487 perf_trace_counters:sched_switch_with_ctrs old_pid:i new_pid:i cctr:u ctr0:u ctr1:u"
	 " ctr2:u ctr3:u lctr0:u lctr1:u ctr4:u ctr5:u prev_comm:s prev_pid:i cyc:u inst:u"
	 " stallbm:u l3dm:u next_pid:i next_comm:s prev_state:i amu0:u amu1:u amu2:u",
	"488 power:gpu_work_period gpu_id:u uid:u start_time_ns:u end_time_ns:u"
	 " total_active_duration_ns:u",
	"489 rpm:rpm_status name:s status:i",
	"490 panel:panel_write_generic pid:i trace_name:s trace_begin:u name:s type:u value:i",
	"491 sched:sched_migrate_task comm:s pid:i prio:i orig_cpu:i dest_cpu:i running:i load:u",
	"492 dpu:dpu_dsi_cmd_fifo_status header:u payload:u",
	"493 dpu:dpu_dsi_rx cmd:u",
	"494 dpu:dpu_dsi_tx type:u 3=last:u delay_ms:u",
	"495 f2fs:f2fs_background_gc dev:u wait_ms:u prefree:u free:u",
	"496 f2fs:f2fs_gc_begin dev:u sync:u background:u dirty_nodes:i dirty_dents:i"
	 " dirty_imeta:i free_sec:u free_seg:u reserved_seg:i prefree_seg:u gc_type:i no_bg_gc:u"
	 " nr_free_secs:u",
	"497 f2fs:f2fs_gc_end dev:u ret:i seg_freed:i sec_freed:i dirty_nodes:i dirty_dents:i"
	 " dirty_imeta:i free_sec:u free_seg:u reserved_seg:i prefree_seg:u",
	"498 fastrpc:fastrpc_dma_free cid:i phys:u size:u",
	"499 fastrpc:fastrpc_dma_alloc cid:i phys:u size:u attr:u mflags:i",
	"500 fastrpc:fastrpc_dma_unmap cid:i phys:u size:u",
	"501 fastrpc:fastrpc_dma_map cid:i fd:i phys:u size:u len:u attr:u mflags:i",
	"502 google_icc_trace:google_icc_event event:s timestamp:u",
	"503 google_irm_trace:google_irm_event event:s timestamp:u",
	"504 power:device_pm_callback_start device:s driver:s parent:s pm_ops:s event:i",
	"505 power:device_pm_callback_end device:s driver:s error:i",
	"506 thermal_exynos:thermal_exynos_acpm_bulk tz_id:u current_temp:u ctrl_temp:u"
	 " cdev_state:u pid_et_p:i pid_power_range:i pid_p:i pid_i:i k_p:i k_i:i timestamp:u",
	"507 thermal_exynos:thermal_exynos_acpm_high_overhead tz_id:i current_temp:u ctrl_temp:u"
	 " cdev_state:u pid_et_p:i k_p:i k_i:i",
	"508 dcvsh:dcvsh_freq cpu:u freq:u",
	"509 kgsl:kgsl_gpu_frequency gpu_freq:u gpu_id:u",
	"510 mali:mali_mali_PM_MCU_HCTL_CORES_DOWN_SCALE_NOTIFY_PEND kctx_tgid:i kctx_id:u"
	 " info_val:u",
	"511 mali:mali_mali_PM_MCU_HCTL_CORES_NOTIFY_PEND kctx_tgid:i kctx_id:u info_val:u",
	"512 mali:mali_mali_PM_MCU_HCTL_CORE_INACTIVE_PEND kctx_tgid:i kctx_id:u info_val:u",
	"513 mali:mali_mali_PM_MCU_HCTL_MCU_ON_RECHECK kctx_tgid:i kctx_id:u info_val:u",
	"514 mali:mali_mali_PM_MCU_HCTL_SHADERS_CORE_OFF_PEND kctx_tgid:i kctx_id:u info_val:u",
	"515 mali:mali_mali_PM_MCU_HCTL_SHADERS_PEND_OFF kctx_tgid:i kctx_id:u info_val:u",
	"516 mali:mali_mali_PM_MCU_HCTL_SHADERS_PEND_ON kctx_tgid:i kctx_id:u info_val:u",
	"517 mali:mali_mali_PM_MCU_HCTL_SHADERS_READY_OFF kctx_tgid:i kctx_id:u info_val:u",
	"518 mali:mali_mali_PM_MCU_IN_SLEEP kctx_tgid:i kctx_id:u info_val:u",
	"519 mali:mali_mali_PM_MCU_OFF kctx_tgid:i kctx_id:u info_val:u",
	"520 mali:mali_mali_PM_MCU_ON kctx_tgid:i kctx_id:u info_val:u",
	"521 mali:mali_mali_PM_MCU_ON_CORE_ATTR_UPDATE_PEND kctx_tgid:i kctx_id:u info_val:u",
	"522 mali:mali_mali_PM_MCU_ON_GLB_REINIT_PEND kctx_tgid:i kctx_id:u info_val:u",
	"523 mali:mali_mali_PM_MCU_ON_HALT kctx_tgid:i kctx_id:u info_val:u",
	"524 mali:mali_mali_PM_MCU_ON_HWCNT_DISABLE kctx_tgid:i kctx_id:u info_val:u",
	"525 mali:mali_mali_PM_MCU_ON_HWCNT_ENABLE kctx_tgid:i kctx_id:u info_val:u",
	"526 mali:mali_mali_PM_MCU_ON_PEND_HALT kctx_tgid:i kctx_id:u info_val:u",
	"527 mali:mali_mali_PM_MCU_ON_PEND_SLEEP kctx_tgid:i kctx_id:u info_val:u",
	"528 mali:mali_mali_PM_MCU_ON_SLEEP_INITIATE kctx_tgid:i kctx_id:u info_val:u",
	"529 mali:mali_mali_PM_MCU_PEND_OFF kctx_tgid:i kctx_id:u info_val:u",
	"530 mali:mali_mali_PM_MCU_PEND_ON_RELOAD kctx_tgid:i kctx_id:u info_val:u",
	"531 mali:mali_mali_PM_MCU_POWER_DOWN kctx_tgid:i kctx_id:u info_val:u",
	"532 mali:mali_mali_PM_MCU_RESET_WAIT kctx_tgid:i kctx_id:u info_val:u",
	"533 bcl_exynos:bcl_irq_trigger id:i throttle:i cpu0_limit:i cpu1_limit:i cpu2_limit:i"
	 " tpu_limit:i gpu_limit:i voltage:i capacity:i",
	"534 kgsl:kgsl_adreno_cmdbatch_queued id:u timestamp:u queued:u flags:u prio:u",
	"535 kgsl:kgsl_adreno_cmdbatch_submitted id:u timestamp:u inflight:i flags:u ticks:u"
	 " secs:u usecs:u prio:i rb_id:i rptr:u wptr:u q_inflight:i dispatch_queue:i",
	"536 kgsl:kgsl_adreno_cmdbatch_sync id:u timestamp:u ticks:u prio:i",
	"537 kgsl:kgsl_adreno_cmdbatch_retired id:u timestamp:u inflight:i recovery:u flags:u"
	 " start:u retire:u prio:i rb_id:i rptr:u wptr:u q_inflight:i fault_recovery:u"
	 " dispatch_queue:u submitted_to_rb:u retired_on_gmu:u active:u",
	"538 pixel_mm:pixel_mm_kswapd_wake whatever:i",
	"539 pixel_mm:pixel_mm_kswapd_done delta_nr_scanned:u delta_nr_reclaimed:u"
	 " delta_nr_allocated:u duration_ns:u",
	"540 sched:sched_wakeup_task_attr pid:i cpu_affinity:u task_util:u uclamp_min:u vruntime:u",
	"541 devfreq:devfreq_frequency dev_name:s freq:u prev_freq:u busy_time:u total_time:u",
	"542 kprobe_event name:s type:i",
	"543 cpm_trace:param_set_value_cpm body:s value:u timestamp:i",
	"544 fs:do_sys_open filename:s flags:i mode:i",
	"545 fs:open_exec filename:s",
	"546 block:block_io_start dev:u sector:u nr_sector:u bytes:u ioprio:u rwbs:s comm:s cmd:s",
	"547 block:block_io_done dev:u sector:u nr_sector:u bytes:u ioprio:u rwbs:s comm:s cmd:s",
	"548 mali:mali_gpu_power_state change_ns:u from_state:i to_state:i",
	"549 dpu:dpu_disp_dpu_underrun id:i frames_pending:i vsync_count:i",
	"550 dpu:dpu_disp_vblank_irq_enable id:i output_id:i enable:i",
	"551 timer:hrtimer_start hrtimer:u function:u expires:i softexpires:i mode:u",
	"552 timer:hrtimer_cancel hrtimer:u",
	"553 timer:hrtimer_expire_entry hrtimer:u now:i function:u",
	"554 timer:hrtimer_expire_exit hrtimer:u",
	"555 timer:timer_start timer:u function:u expires:u now:u deferrable:u flags:u"
	 " bucket_expiry:u",
	"556 timer:timer_cancel timer:u",
	"557 timer:timer_expire_entry timer:u now:u function:u baseclk:u",
	"558 timer:timer_expire_exit timer:u",
	"559 irq_vectors:local_timer_entry vector:i",
	"560 irq_vectors:local_timer_exit vector:i",
	"561 dwc3:dwc3_alloc_request name:s req:u actual:u length:u status:i zero:i short_not_ok:i"
	 " no_interrupt:i",
	"562 dwc3:dwc3_complete_trb name:s trb:u allocated:u queued:u bpl:u bph:u size:u ctrl:u"
	 " type:u enqueue:u dequeue:u",
	"563 dwc3:dwc3_ctrl_req bRequestType:u bRequest:u wValue:u wIndex:u wLength:u str:s",
	"564 dwc3:dwc3_ep_dequeue name:s req:u actual:u length:u status:i zero:i short_not_ok:i"
	 " no_interrupt:i",
	"565 dwc3:dwc3_ep_queue name:s req:u actual:u length:u status:i zero:i short_not_ok:i"
	 " no_interrupt:i",
	"566 dwc3:dwc3_event event:u ep0state:u str:s",
	"567 dwc3:dwc3_free_request name:s req:u actual:u length:u status:i zero:i short_not_ok:i"
	 " no_interrupt:i",
	"568 dwc3:dwc3_gadget_ep_cmd name:s cmd:u param0:u param1:u param2:u cmd_status:i",
	"569 dwc3:dwc3_gadget_ep_disable name:s maxpacket:u maxpacket_limit:u max_streams:u"
	 " maxburst:u flags:u direction:u trb_enqueue:u trb_dequeue:u",
	"570 dwc3:dwc3_gadget_ep_enable name:s maxpacket:u maxpacket_limit:u max_streams:u"
	 " maxburst:u flags:u direction:u trb_enqueue:u trb_dequeue:u",
	"571 dwc3:dwc3_gadget_generic_cmd cmd:u param:u status:i",
	"572 dwc3:dwc3_gadget_giveback name:s req:u actual:u length:u status:i zero:i"
	 " short_not_ok:i no_interrupt:i",
	"573 dwc3:dwc3_prepare_trb name:s trb:u allocated:u queued:u bpl:u bph:u size:u ctrl:u"
	 " type:u enqueue:u dequeue:u",
	"574 dwc3:dwc3_readl base:u offset:u value:u msg:s",
	"575 dwc3:dwc3_writel base:u offset:u value:u msg:s",
	"576 cma:cma_alloc_finish name:s pfn:u page:u count:u align:u errorno:i",
	"577 kmem:mm_alloc_contig_migrate_range_info start:u end:u nr_migrated:u nr_reclaimed:u"
	 " nr_mapped:u migratetype:i",
	"578 hyp:host_ffa_call func_id:u res_a1:u res_a2:u res_a3:u res_a4:u handled:i err:i",
	"579 kmem:dmabuf_rss_stat rss:u rss_delta:i i_ino:u",
	"580 hyp:iommu_idmap from:u to:u prot:i",
	"581 hyp:psci_mem_protect count:u was:u",
	"582 hypervisor:hypervisor_host_hcall id:u invalid:u",
	"583 hypervisor:hypervisor_host_smc id:u forwarded:u",
	"584 hypervisor:hypervisor_hyp_exit",
	"585 hypervisor:hypervisor_iommu_idmap from:u to:u prot:i",
	"586 hypervisor:hypervisor_psci_mem_protect count:u was:u",
	"587 hypervisor:hypervisor_host_mem_abort esr:u addr:u",
	"588 hypervisor:hypervisor_hyp_enter",
	"589 hypervisor:hypervisor_iommu_idmap_complete map:u",
	"590 hypervisor:hypervisor_vcpu_illegal_trap esr:u",
	"591 gpu_scheduler:drm_sched_job_add_dep fence_context:u fence_seqno:u ctx:u seqno:u",
	"592 gpu_scheduler:drm_sched_job_done fence_context:u fence_seqno:u",
	"593 gpu_scheduler:drm_sched_job_queue name:s job_count:u hw_job_count:i dev:s"
	 " fence_context:u fence_seqno:u client_id:u",
	"594 gpu_scheduler:drm_sched_job_run name:s job_count:u hw_job_count:i dev:s"
	 " fence_context:u fence_seqno:u client_id:u",
	"595 gpu_scheduler:drm_sched_job_unschedulable fence_context:u fence_seqno:u ctx:u seqno:u",
	"596 fwtp_ftrace:fwtp_perfetto_counter timestamp:u track_id:u category:s name:s value:u",
	"597 scsi:scsi_dispatch_cmd_error host_no:u channel:u id:u lun:u rtn:i opcode:u cmd_len:u"
	 " data_sglen:u prot_sglen:u prot_op:u 12=driver_tag:i scheduler_tag:i",
	"598 scsi:scsi_dispatch_cmd_timeout host_no:u channel:u id:u lun:u result:i opcode:u"
	 " cmd_len:u data_sglen:u prot_sglen:u prot_op:u 12=driver_tag:i scheduler_tag:i"
	 " sense_key:u asc:u ascq:u",
	"599 scsi:scsi_eh_wakeup host_no:u",
	"600 fwtp_ftrace:fwtp_perfetto_slice timestamp:u track_id:u category:s name:s begin:u",
	"601 power:gpu_power_state old_state:i new_state:i",
	"602 panel:gram_collision panel_index:i collision_cnt:u",
	"603 f2fs:f2fs_lock_elapsed_time dev:u comm:s pid:i prio:i ioprio_class:i ioprio_data:i"
	 " lock_name:u is_write:u total_time:u running_time:u runnable_time:u io_sleep_time:u"
	 " other_time:u",
	"604 sched:sched_group_tracker comm:s pid:i group:s group_num:i",
	"605 dpu:dpu_disp_frame_done_timeout display_id:i output_id:u frames_pending:i te_count:i"
	 " during_disable:u",
	"606 dpu:dpu_disp_frame_start_timeout display_id:i output_id:u frames_pending:i te_count:i",
	"607 vmscan:mm_vmscan_memcg_reclaim_begin order:i may_writepage:i gfp_flags:u",
	"608 vmscan:mm_vmscan_memcg_reclaim_end nr_reclaimed:u",
	"609 dpu:dpu_disp_frame_done_missing display_id:i output_id:u frames_pending:i te_count:i",
	"610 dpu:dpu_disp_frame_start_missing display_id:i output_id:u frames_pending:i te_count:i",
	"611 panel:panel_settings_full panel_index:i hbm:u irc:u h_pwm:u fi_auto:u fi_manual:u"
	 " early_exit:u min_rr:u max_rr:u te_freq:u",
	"612 panel:panel_settings_lite panel_index:i vrr:u min_rr:u max_rr:u te_freq:u",
	"613 dpu:dpu_disp_dpu_line_underrun id:i frames_pending:i vsync_count:i",
	"614 power:psci_domain_idle_exit cpu_id:u state:u s2idle:u",
	"615 power:psci_domain_idle_enter cpu_id:u state:u s2idle:u",
	"616 pixel_metrics:long_irq irq:i latency:u count:u",
	"617 pixel_metrics:long_softirq vec_nr:i latency:u count:u",
	NULL
};
/* clang-format on */
