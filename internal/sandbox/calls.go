package sandbox

// architectures gives the numbers of the calls the filter names. A call that an architecture does not have is left out.
func architectures() map[string]architecture {
	return map[string]architecture{
		"amd64": {audit: 0xc000003e, foreign: 0x40000000, last: 466, calls: map[string]uint32{
			"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "move_mount": 429, "open_tree": 428,
			"open_tree_attr": 467,
			"fsopen":         430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
			"setns": 308, "unshare": 272,
			"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440, "kcmp": 312,
			"pidfd_getfd": 438,
			"bpf":         321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
			"io_uring_register": 427,
			"add_key":           248, "request_key": 249, "keyctl": 250, "kexec_load": 246, "kexec_file_load": 320,
			"init_module":  175,
			"finit_module": 313, "delete_module": 176, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "syslog": 103,
			"quotactl": 179, "quotactl_fd": 443, "nfsservctl": 180, "lookup_dcookie": 212, "settimeofday": 164,
			"clock_settime": 227,
			"clock_adjtime": 305, "adjtimex": 159, "vhangup": 153, "personality": 135, "open_by_handle_at": 304,
			"name_to_handle_at": 303,
			"fanotify_init":     300, "fanotify_mark": 301, "move_pages": 279, "migrate_pages": 256, "iopl": 172, "ioperm": 173,
			"modify_ldt": 154, "uselib": 134, "ustat": 136, "sysfs": 139, "_sysctl": 156, "clone": 56, "clone3": 435,
			"fallocate": 285, "ioctl": 16,
			"socket": 41,
		}},
		"arm64": {audit: 0xc00000b7, foreign: 0, last: 466, calls: map[string]uint32{
			"mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "move_mount": 429, "open_tree": 428,
			"open_tree_attr": 467,
			"fsopen":         430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
			"setns": 268, "unshare": 97,
			"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "process_madvise": 440, "kcmp": 272,
			"pidfd_getfd": 438,
			"bpf":         280, "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425, "io_uring_enter": 426,
			"io_uring_register": 427,
			"add_key":           217, "request_key": 218, "keyctl": 219, "kexec_load": 104, "kexec_file_load": 294,
			"init_module":  105,
			"finit_module": 273, "delete_module": 106, "reboot": 142, "swapon": 224, "swapoff": 225, "acct": 89, "syslog": 116,
			"quotactl": 60, "quotactl_fd": 443, "nfsservctl": 42, "lookup_dcookie": 18, "settimeofday": 170, "clock_settime": 112,
			"clock_adjtime": 266, "adjtimex": 171, "vhangup": 58, "personality": 92, "open_by_handle_at": 265,
			"name_to_handle_at": 264,
			"fanotify_init":     262, "fanotify_mark": 263, "move_pages": 239, "migrate_pages": 238, "clone": 220, "clone3": 435,
			"fallocate": 47, "ioctl": 29, "socket": 198,
		}},
	}
}
