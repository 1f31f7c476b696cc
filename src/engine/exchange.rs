//! What one thread found out about outlines, told to the others, so that none has to find it out again. Each thread has an
//! inbox; what lies there is taken in when a record is met that is not known, so known records cost nothing.
//!
//! It never matters who hears what, or when: whoever did not hear of an outline reads a record of it. So an inbox that is
//! full takes no more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::syntax::Pattern;

use super::memo::Memory;
use super::prototype::Prototype;
use super::scan::Process;

/// What a thread found out about the records of a process.
#[derive(Debug)]
pub struct Lesson {
    /// Whose records.
    pub process: Process,
    /// The names and the structure in their outlines.
    pub key: Box<[u8]>,
    /// What was found out about those with that key.
    pub news: News,
}

/// What was found out about records with one key.
#[derive(Debug)]
pub enum News {
    /// What those of one outline are.
    Outline {
        /// How the outline ends: what the values are.
        ending: Box<[u8]>,
        /// What the records are.
        memory: Arc<Memory>,
    },
    /// What some of them look like.
    Pattern {
        /// The line,
        line: Box<str>,
        /// its pattern,
        pattern: Box<Pattern>,
        /// and where it shows key values.
        prototype: Option<Arc<Prototype>>,
    },
}

impl Lesson {
    /// About how much of the heap it takes.
    fn bytes(&self) -> usize {
        let of_news = match &self.news {
            News::Outline { ending, memory } => ending.len() + memory.bytes(),
            News::Pattern { line, pattern, .. } => line.len() + pattern.bytes(),
        };
        size_of::<Self>() + self.key.len() + of_news
    }
}

/// So many bytes lie in an inbox at most.
const MOST_BYTES: usize = 1 << 20;

/// What was told to one thread, and how many bytes that are.
#[derive(Debug, Default)]
struct Waiting {
    lessons: Vec<Arc<Lesson>>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Inbox {
    /// Spares whoever looks the lock.
    has_news: AtomicBool,
    waiting: Mutex<Waiting>,
}

impl Inbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, lesson: &Arc<Lesson>, bytes: usize) {
        let mut waiting = self.waiting();
        if waiting.bytes + bytes <= MOST_BYTES {
            waiting.bytes += bytes;
            waiting.lessons.push(Arc::clone(lesson));
            self.has_news.store(true, Ordering::Relaxed);
        }
    }
}

/// One thread's part in it. By default there are no others.
#[derive(Debug, Default)]
pub struct Exchange {
    own: usize,
    inboxes: Arc<[Inbox]>,
}

impl Exchange {
    /// The parts of that many threads.
    pub fn among(threads: usize) -> impl Iterator<Item = Self> {
        let inboxes: Arc<[Inbox]> = (0..threads).map(|_| Inbox::default()).collect();
        (0..threads).map(move |own| Self { own, inboxes: Arc::clone(&inboxes) })
    }

    /// Tells the other threads, if there are any.
    pub fn tell(&self, lesson: impl FnOnce() -> Lesson) {
        if self.inboxes.len() < 2 {
            return;
        }
        let lesson = Arc::new(lesson());
        let bytes = lesson.bytes();
        let others = self.inboxes.iter().enumerate().filter(|(at, _)| *at != self.own);
        others.for_each(|(_, inbox)| inbox.put(&lesson, bytes));
    }

    /// What the other threads told since the last time.
    #[must_use]
    pub fn heard(&self) -> Vec<Arc<Lesson>> {
        match self.inboxes.get(self.own) {
            Some(inbox) if inbox.has_news.load(Ordering::Relaxed) => {
                let mut waiting = inbox.waiting();
                inbox.has_news.store(false, Ordering::Relaxed);
                std::mem::take(&mut *waiting).lessons
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::judge;
    use super::super::known::Kind;
    use super::super::settings::Settings;
    use crate::syntax::{Record, read_record};
    use crate::text::{RecordPos, SourceId};

    use super::*;

    fn lesson(length: usize) -> Lesson {
        let (settings, process) = (Settings::default(), Process::default());
        let text = r#"{"t":{"$date":"2026-11-30T08:17:00.824Z"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{"type":"command","ns":"shop.t","command":{"find":"t","filter":{},"$db":"shop"},"durationMillis":7}}"#;
        let Record::Slow(event) = read_record(text.as_bytes()) else { panic!("a slow query") };
        let judged = judge(&event, RecordPos { source: SourceId(0), offset: 0, line: 1 }, None, &settings);
        let memory = Memory::of(&Kind::of(&event, process, &settings), &judged);
        let news = News::Outline { ending: Box::default(), memory: Arc::new(memory) };
        Lesson { process, key: vec![b'x'; length].into(), news }
    }

    #[test]
    fn everybody_else_hears_what_is_told_and_hears_it_once() {
        let all: Vec<_> = Exchange::among(3).collect();
        all[1].tell(|| lesson(1));
        all[2].tell(|| lesson(2));
        let heard = || all.iter().map(|one| one.heard().len()).collect::<Vec<_>>();
        assert_eq!(heard(), [2, 1, 1]);
        assert_eq!(heard(), [0, 0, 0]);
    }

    #[test]
    fn whoever_is_alone_tells_nobody() {
        for alone in Exchange::among(1).chain([Exchange::default()]) {
            alone.tell(|| unreachable!("there is nobody to hear it"));
            assert!(alone.heard().is_empty());
        }
    }

    #[test]
    fn whoever_does_not_listen_is_told_no_more_than_fits() {
        let all: Vec<_> = Exchange::among(2).collect();
        all[0].tell(|| lesson(2 * MOST_BYTES));
        assert!(all[1].heard().is_empty());
        (0..100).for_each(|_| all[0].tell(|| lesson(MOST_BYTES / 10)));
        assert_eq!(all[1].heard().len(), 9);
        all[0].tell(|| lesson(MOST_BYTES / 10));
        assert_eq!(all[1].heard().len(), 1, "there is room again");
    }
}
