//! Times and counts as text.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Local};

/// Now, by the host's calendar.
pub fn now() -> String {
    time(SystemTime::now())
}

/// A time by the host's calendar.
pub fn time(at: SystemTime) -> String {
    DateTime::<Local>::from(at).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// A span in its two largest units.
pub fn span(of: Duration) -> String {
    let seconds = of.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match () {
        () if days > 0 => format!("{days} d {} h", hours % 24),
        () if hours > 0 => format!("{hours} h {} min", minutes % 60),
        () if minutes > 0 => format!("{minutes} min {} s", seconds % 60),
        () => format!("{seconds} s"),
    }
}

/// A count of things: `1 job`, `2 jobs`.
pub fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// How many jobs end in a time, in the unit that gives a number above 1 where there is one; empty where none has ended.
pub fn rate(ended: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if ended == 0 || seconds <= 0.0 {
        return String::new();
    }
    let a_second = ended as f64 / seconds;
    let (value, unit) = match a_second {
        _ if a_second >= 1.0 => (a_second, "s"),
        _ if a_second * 60.0 >= 1.0 => (a_second * 60.0, "min"),
        _ => (a_second * 3600.0, "h"),
    };
    format!("{value:.1} jobs/{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_rates_have_the_unit_that_fits() {
        for (seconds, expected) in
            [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3661, "1 h 1 min"), (90_000, "1 d 1 h")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
        for (ended, seconds, expected) in
            [(0, 9, ""), (1, 0, ""), (20, 10, "2.0 jobs/s"), (3, 60, "3.0 jobs/min"), (1, 7200, "0.5 jobs/h")]
        {
            assert_eq!(rate(ended, Duration::from_secs(seconds)), expected);
        }
    }
}
