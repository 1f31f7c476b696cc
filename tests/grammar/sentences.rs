//! Sentences from a grammar: a random walk over its rules that remembers which alternatives it took, and mutations.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use pest_meta::ast::{Expr, Rule};

/// Deeper than this the walk takes the shortest way out.
const DEPTH: usize = 12;

/// Characters that mean something in one of the languages, and a few that do not.
const ALPHABET: &str = "ab1x$_\"'`/\\{}()[]:,;.=+-*<> \t\n\r#é日“\u{a0}";

/// A rule, or one alternative of a choice, by its place in the grammar.
pub type Part = (String, usize);

pub struct Generator {
    rules: BTreeMap<String, Expr>,
    /// How many rule references the shortest sentence of a rule is deep.
    heights: BTreeMap<String, usize>,
}

impl Generator {
    pub fn new(rules: Vec<Rule>) -> Self {
        let rules: BTreeMap<String, Expr> = rules.into_iter().map(|rule| (rule.name, rule.expr)).collect();
        let mut generator = Self { rules, heights: BTreeMap::new() };
        generator.measure();
        generator
    }

    /// The rules that `start` leads to, and their alternatives.
    pub fn parts(&self, start: &str) -> BTreeSet<Part> {
        let mut parts = BTreeSet::new();
        let mut open = vec![start.to_owned()];
        while let Some(name) = open.pop() {
            let Some(expr) = self.rules.get(&name) else { continue };
            if parts.insert((name.clone(), 0)) {
                collect(expr, &name, &mut parts, &mut open);
            }
        }
        parts
    }

    /// A sentence of `start`, and the parts of the grammar that it was made of.
    pub fn sentence(&self, start: &str, rng: &mut Rng) -> (String, BTreeSet<Part>) {
        let mut walk = Walk { generator: self, rng, text: String::new(), parts: BTreeSet::new() };
        walk.rule(start, 0);
        (walk.text, walk.parts)
    }

    fn measure(&mut self) {
        loop {
            let measured: BTreeMap<String, usize> =
                self.rules.iter().filter_map(|(name, expr)| Some((name.clone(), self.height(expr)? + 1))).collect();
            if measured == self.heights {
                return;
            }
            self.heights = measured;
        }
    }

    /// `None` while nothing finite is known.
    fn height(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Ident(name) if self.rules.contains_key(name) => self.heights.get(name).copied(),
            Expr::Seq(left, right) => Some(self.height(left)?.max(self.height(right)?)),
            Expr::Choice(left, right) => match (self.height(left), self.height(right)) {
                (Some(left), Some(right)) => Some(left.min(right)),
                (left, right) => left.or(right),
            },
            Expr::RepOnce(inner) | Expr::RepExact(inner, _) | Expr::RepMinMax(inner, ..) => self.height(inner),
            _ => Some(0),
        }
    }
}

/// The alternatives of a choice, in order.
fn alternatives(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Choice(left, right) => {
            let mut all = alternatives(left);
            all.extend(alternatives(right));
            all
        }
        other => vec![other],
    }
}

/// Whether nothing may follow.
fn is_end(expr: &Expr) -> bool {
    matches!(expr, Expr::Ident(name) if name == "EOI")
}

/// The place of an alternative within the grammar that is loaded.
fn place(expr: &Expr) -> usize {
    std::ptr::from_ref(expr) as usize
}

fn collect(expr: &Expr, rule: &str, parts: &mut BTreeSet<Part>, open: &mut Vec<String>) {
    match expr {
        Expr::Ident(name) => open.push(name.clone()),
        Expr::Seq(left, right) => {
            collect(left, rule, parts, open);
            collect(right, rule, parts, open);
        }
        Expr::Choice(..) => {
            for one in alternatives(expr) {
                parts.insert((rule.to_owned(), place(one)));
                collect(one, rule, parts, open);
            }
        }
        Expr::Opt(inner)
        | Expr::Rep(inner)
        | Expr::RepOnce(inner)
        | Expr::RepExact(inner, _)
        | Expr::RepMinMax(inner, ..) => collect(inner, rule, parts, open),
        _ => {}
    }
}

struct Walk<'a> {
    generator: &'a Generator,
    rng: &'a mut Rng,
    text: String,
    parts: BTreeSet<Part>,
}

impl<'a> Walk<'a> {
    fn rule(&mut self, name: &str, depth: usize) {
        match name {
            "SOI" | "EOI" => {}
            "ANY" => self.one_of(ALPHABET),
            "ASCII_DIGIT" => self.one_of("0123456789"),
            "ASCII_HEX_DIGIT" => self.one_of("0123456789abcdefABCDEF"),
            "ASCII_ALPHA" => self.one_of("abgimsxyz"),
            "ALPHABETIC" => self.one_of("abcdefnuxé日"),
            _ => {
                let expr = self.generator.rules.get(name).unwrap_or_else(|| panic!("unknown rule {name}"));
                self.parts.insert((name.to_owned(), 0));
                self.expr(expr, name, depth + 1);
            }
        }
    }

    fn one_of(&mut self, characters: &str) {
        self.text.push(any_of(characters, self.rng));
    }

    fn expr(&mut self, expr: &'a Expr, rule: &str, depth: usize) {
        match expr {
            Expr::Str(text) | Expr::Insens(text) => self.text.push_str(text),
            Expr::Range(from, _) => self.text.push_str(from),
            Expr::Ident(name) => self.rule(name, depth),
            Expr::Seq(left, right) => match &**left {
                Expr::NegPred(excluded) => self.excluding(excluded, right, rule, depth),
                _ => {
                    self.expr(left, rule, depth);
                    self.expr(right, rule, depth);
                }
            },
            Expr::Choice(..) => self.choice(expr, rule, depth),
            Expr::Opt(inner) => self.repeat(inner, 0, 1, rule, depth),
            Expr::Rep(inner) => self.repeat(inner, 0, 3, rule, depth),
            Expr::RepOnce(inner) => self.repeat(inner, 1, 4, rule, depth),
            Expr::RepExact(inner, count) => self.repeat(inner, *count, *count, rule, depth),
            Expr::RepMinMax(inner, least, most) => self.repeat(inner, *least, *most, rule, depth),
            Expr::PosPred(_) | Expr::NegPred(_) => {}
            other => panic!("the generator does not know {other:?}"),
        }
    }

    fn choice(&mut self, expr: &'a Expr, rule: &str, depth: usize) {
        let all = alternatives(expr);
        let height = |one: &&Expr| self.generator.height(one).unwrap_or(usize::MAX);
        let chosen = if depth > DEPTH {
            let least = all.iter().map(height).min().unwrap_or(0);
            let short: Vec<&Expr> = all.iter().copied().filter(|one| height(one) == least).collect();
            short[self.rng.usize(..short.len())]
        } else {
            // What has to be last is rarely wanted: nearly always something follows.
            let usual: Vec<&Expr> = all.iter().copied().filter(|one| !is_end(one)).collect();
            let from = if usual.is_empty() || self.rng.u8(..20) == 0 { &all } else { &usual };
            from[self.rng.usize(..from.len())]
        };
        self.parts.insert((rule.to_owned(), place(chosen)));
        self.expr(chosen, rule, depth);
    }

    fn repeat(&mut self, inner: &'a Expr, least: u32, most: u32, rule: &str, depth: usize) {
        let mut done = 0;
        while done < least || (done < most && depth <= DEPTH && self.rng.u8(..5) < 2) {
            self.expr(inner, rule, depth);
            done += 1;
        }
    }

    /// `!excluded ~ following`: tries a few times to honour the lookahead.
    fn excluding(&mut self, excluded: &Expr, following: &'a Expr, rule: &str, depth: usize) {
        let start = self.text.len();
        for _ in 0..20 {
            self.text.truncate(start);
            self.expr(following, rule, depth);
            if !self.begins(excluded, &self.text[start..]) {
                return;
            }
        }
    }

    /// Whether `text` begins with something that `expr` begins with; enough for the lookaheads of leaf rules.
    fn begins(&self, expr: &Expr, text: &str) -> bool {
        match expr {
            Expr::Str(prefix) => text.starts_with(prefix.as_str()),
            Expr::Choice(left, right) => self.begins(left, text) || self.begins(right, text),
            Expr::Seq(left, _) => self.begins(left, text),
            Expr::Ident(name) => match (self.generator.rules.get(name), text.chars().next()) {
                (Some(expr), _) => self.begins(expr, text),
                (None, Some(c)) if name == "ALPHABETIC" => c.is_alphabetic(),
                (None, Some(c)) if name == "ASCII_DIGIT" => c.is_ascii_digit(),
                _ => false,
            },
            _ => false,
        }
    }
}

fn any_of(characters: &str, rng: &mut Rng) -> char {
    let all: Vec<char> = characters.chars().collect();
    all[rng.usize(..all.len())]
}

/// Changes a text in one place.
pub fn mutated(text: &str, rng: &mut Rng) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = rng.usize(..=characters.len().saturating_sub(1));
    let any = any_of(ALPHABET, rng);
    match rng.u8(..5) {
        0 if !characters.is_empty() => drop(characters.remove(at)),
        1 => characters.insert(at, any),
        2 if !characters.is_empty() => characters[at] = any,
        3 if at + 1 < characters.len() => characters.swap(at, at + 1),
        _ => characters.truncate(at),
    }
    characters.into_iter().collect()
}
