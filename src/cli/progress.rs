//! The progress bar: on standard error, only if that is a terminal, only once a run takes longer than half a second.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::Progress;
use crate::text::SourceId;

const PATIENCE: Duration = Duration::from_millis(500);

/// Shows how much has been read.
pub struct Bar {
    started: Instant,
    bytes: u64,
    bar: Option<ProgressBar>,
    wanted: bool,
}

impl Bar {
    /// A bar that appears only if `wanted` and there is somebody to see it.
    #[must_use]
    pub fn new(wanted: bool) -> Self {
        Self { started: Instant::now(), bytes: 0, bar: None, wanted: wanted && stderr().is_terminal() }
    }

    /// Takes the bar off the screen.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn advanced(&mut self, _source: SourceId, bytes: u64) {
        self.bytes += bytes;
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {bytes} read, {bytes_per_sec}");
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        bar.set_position(self.bytes);
    }
}
