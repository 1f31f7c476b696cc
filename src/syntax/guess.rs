//! What an input looks like of which nothing was understood, so that the error can say more than "nothing understood".

use memchr::memmem;

/// What `sample`, the beginning of a (decompressed) input, looks like, and what to do about it: a phrase that continues
/// "looks like …".
#[must_use]
pub fn looks_like(sample: &[u8]) -> String {
    binary(sample).or_else(|| text(sample)).unwrap_or("plain text; expected a MongoDB log").to_owned()
}

fn binary(sample: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (&[0x1f, 0x8b], "gzip data inside other compressed data; decompress it once more"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd data inside other compressed data; decompress it once more"),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"BZh", "bzip2 data; decompress it first"),
        (b"\xfd7zXZ", "xz data; decompress it first"),
        (&[0xff, 0xfe], "UTF-16 text; convert it with `iconv -f UTF-16 -t UTF-8`"),
        (&[0xfe, 0xff], "UTF-16 text; convert it with `iconv -f UTF-16 -t UTF-8`"),
        (b"%PDF", "a PDF document; expected a MongoDB log"),
    ];
    if sample.iter().all(u8::is_ascii_whitespace) {
        return Some("an empty file");
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| sample.starts_with(magic)) {
        return Some(what);
    }
    if sample.get(257..262) == Some(b"ustar") {
        return Some("a tar archive; unpack it first");
    }
    if is_bson(sample) {
        let is_diagnostic = memmem::find(&sample[4..sample.len().min(64)], b"\x10type\0").is_some();
        return Some(if is_diagnostic {
            "diagnostic data of mongod (FTDC), which holds no queries; expected its log"
        } else {
            "BSON, as `mongodump` writes it; convert it with `bsondump`"
        });
    }
    match sample {
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] if *a != 0 && *b != 0 => {
            Some("UTF-16 text; convert it with `iconv -f UTF-16 -t UTF-8`")
        }
        _ if sample.iter().take(1024).filter(|byte| **byte == 0).count() > 8 => {
            Some("a binary file; expected a MongoDB log")
        }
        _ => None,
    }
}

/// A BSON document begins with its length and the type of its first member.
fn is_bson(sample: &[u8]) -> bool {
    let [a, b, c, d, kind, name, ..] = sample else { return false };
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    (5..=48 * 1024 * 1024).contains(&length) && matches!(kind, 1..=19) && name.is_ascii_graphic()
}

fn text(sample: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(sample);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let lower = first.to_ascii_lowercase();
    if first.starts_with(['{', '[']) {
        return Some(json(first));
    }
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        return Some("an HTML page; expected a MongoDB log");
    }
    if lower.starts_with("<?xml") {
        return Some("XML; expected a MongoDB log");
    }
    if lower.starts_with("insert query update delete getmore") {
        return Some("the output of mongostat; expected a MongoDB log");
    }
    let commas = |line: &str| line.matches([',', '\t', ';']).count();
    let is_table = commas(first) > 1 && lines.take(5).all(|line| commas(line) >= commas(first));
    is_table.then_some("CSV; expected a MongoDB log, profiler documents as JSON, or explain output")
}

fn json(line: &str) -> &'static str {
    if line.contains("\"atype\"") {
        "MongoDB's audit log, which holds no plans or durations; expected the log of mongod or mongos"
    } else if line.starts_with("{\"log\":") || line.contains("\"stream\":\"stdout\"") {
        "a container's log, but what it wraps is no log of MongoDB"
    } else {
        "JSON, but neither a log of MongoDB, profiler documents nor explain output"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_foreign_input_is_named() {
        let bson = b"\x20\x00\x00\x00\x02a\0\x02\0\0\0b\0";
        let diagnostic = b"\x20\x00\x00\x00\x09_id\0\x01\x02\x03\x04\x05\x06\x07\x08\x10type\0\x00\x00\x00\x00";
        let cases: [(&[u8], &str); 14] = [
            (b"", "empty"),
            (b" \n\n", "empty"),
            (b"\x1f\x8b\x08\0", "gzip"),
            (b"\xff\xfe{\0", "UTF-16"),
            (b"{\0\"\0t\0", "UTF-16"),
            (bson, "bsondump"),
            (diagnostic, "FTDC"),
            (b"\x7fELF\0\0\0\0\0\0\0\0\0\0\0\0\0", "binary"),
            (br#"{"atype":"authenticate","ts":{"$date":"2024-01-01T00:00:00Z"}}"#, "audit"),
            (br#"{"log":"{\"t\":1}\n","stream":"stdout"}"#, "container"),
            (br#"{"level":"info"}"#, "JSON, but neither"),
            (b"<!DOCTYPE html>\n<html>", "HTML"),
            (b"name,ns,millis\na,b,3\n", "CSV"),
            (b"hello there\n", "plain text"),
        ];
        for (sample, expected) in cases {
            assert!(looks_like(sample).contains(expected), "{expected}: {}", looks_like(sample));
        }
    }
}
