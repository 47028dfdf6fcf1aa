"""What is around us: full, read-only, frozen disks, clocks, process ids, stopped lock holders."""
