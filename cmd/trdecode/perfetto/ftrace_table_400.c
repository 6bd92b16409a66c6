/*
 * ftrace_table_400.c - the events of ftrace with numbers from 400 on
 */
#include "cmd/trdecode/perfetto/ftrace_table.h"

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
