//! What the host's operating system reports about this process.

use std::time::Duration;

/// How long the calling thread has run; on a host that does not report it, how long the process has.
pub(crate) fn thread_time() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        use std::sync::LazyLock;
        use std::time::Instant;
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGIN.elapsed()
    }
}

/// Peak memory of this process in bytes; 0 if the operating system does not report it.
pub fn peak_memory_bytes() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|kilobytes| kilobytes.trim().parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes * 1024)
}
