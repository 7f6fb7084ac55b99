//! Streams: lines one after the other, whoever asks for them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{PrefetchPolicy, Prefetcher, Wishes};
use crate::address::LineAddress;
use crate::touch::Touch;

/// After misses to neighbouring lines in one direction, fetches two lines, four ahead of the stream (Srinath et al., HPCA
/// 2007: the stream prefetcher. ASSUMED: 16 streams, a window of 8 lines, distance 4, degree 2).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streams {}

impl PrefetchPolicy for Streams {
    fn build(&self) -> Option<Box<dyn Prefetcher>> {
        Some(Box::new(Table { streams: [Stream::default(); STREAMS], clock: 0 }))
    }
}

const STREAMS: usize = 16;
/// Lines around a stream's last miss in which the next belongs to it.
const WINDOW: i64 = 8;
const DISTANCE: i64 = 4;
const DEGREE: i64 = 2;

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    line: LineAddress,
    /// 1 or -1; 0 while only one miss is known.
    direction: i64,
    is_confirmed: bool,
    /// When it was last used; 0 for a place without a stream.
    used: u64,
}

struct Table {
    streams: [Stream; STREAMS],
    clock: u64,
}

impl Prefetcher for Table {
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes) {
        if hit {
            return;
        }
        self.clock += 1;
        let away = |stream: &Stream| touch.line.0.wrapping_sub(stream.line.0) as i64;
        let near = |stream: &&mut Stream| stream.used > 0 && away(stream).abs() <= WINDOW;
        let Some(stream) = self.streams.iter_mut().find(near) else {
            let oldest = self.streams.iter_mut().min_by_key(|stream| stream.used).expect("there are streams");
            *oldest = Stream { line: touch.line, used: self.clock, ..Stream::default() };
            return;
        };
        stream.used = self.clock;
        let direction = away(stream).signum();
        if direction == 0 {
            return;
        }
        stream.is_confirmed = direction == stream.direction;
        (stream.line, stream.direction) = (touch.line, direction);
        if stream.is_confirmed {
            (0..DEGREE).for_each(|n| wishes.add_behind(touch.line, direction * (DISTANCE + n)));
        }
    }
}
