//! Inputs as users hand them over: files, directories, globs, compressed and broken ones.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use shardlint::input::{Input, InputError, Piece, discover};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("compressed")
}

/// The text that is delivered, and the error that follows it.
fn read(path: &Path) -> (String, Option<InputError>) {
    let (mut text, mut failure) = (String::new(), None);
    match Input::file(path).chunks(64) {
        Ok(chunks) => {
            for piece in chunks {
                match piece {
                    Ok(Piece::Lines(chunk)) => text.push_str(&String::from_utf8_lossy(&chunk.bytes)),
                    Ok(Piece::Oversize { .. }) => {}
                    Err(error) => failure = Some(error),
                }
            }
        }
        Err(error) => failure = Some(error),
    }
    (text, failure)
}

fn names(arguments: &[PathBuf], base: &Path) -> Vec<String> {
    let found = discover(arguments);
    let relative = |input: &Input| {
        let path = input.path().map(|path| path.strip_prefix(base).unwrap_or(path));
        path.map_or_else(|| input.name().to_owned(), |path| path.display().to_string())
    };
    found.inputs.iter().map(relative).collect()
}

#[test]
fn gzip_members_and_zstd_frames_in_a_row_are_one_stream_whatever_the_name() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, bytes) in [
        ("a.log", b"one\ntwo\n".to_vec()),
        ("b", [gzip(b"one\n"), gzip(b"two\n")].concat()),
        ("c.txt", [zstd(b"one\n"), zstd(b"two\n")].concat()),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("written");
        let (text, failure) = read(&path);
        assert_eq!((text.as_str(), failure.is_none()), ("one\ntwo\n", true), "{name}");
        assert_eq!(Input::file(&path).read_all().expect("readable"), b"one\ntwo\n");
    }
}

#[test]
fn a_truncated_file_is_delivered_as_far_as_it_goes_and_then_fails() {
    let dir = tempfile::tempdir().expect("a directory");
    let lines: String = (0..5000).map(|i| format!("line {i} {}\n", i * 7919 % 10_007)).collect();
    for (name, bytes) in [("cut.gz", gzip(lines.as_bytes())), ("cut.zst", zstd(lines.as_bytes()))] {
        let path = dir.path().join(name);
        fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
        let (text, failure) = read(&path);
        assert!(lines.starts_with(&text), "{name}");
        let failure = failure.expect("an error").to_string();
        assert!(failure.contains(name) && failure.contains(&format!("past byte {}", text.len())), "{failure}");
    }
}

#[test]
fn a_directory_is_searched_for_logs_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("sub/deeper")).expect("made");
    for name in ["z.log", "a.log.1.gz", "m.json", "notes.txt", "sub/b.log.zst", "sub/deeper/c.jsonl", ".hidden.log"] {
        fs::write(dir.path().join(name), "").expect("written");
    }
    let expected = ["a.log.1.gz", "m.json", "sub/b.log.zst", "sub/deeper/c.jsonl", "z.log"];
    assert_eq!(names(&[dir.path().to_owned()], dir.path()), expected);
    let twice = [dir.path().join("z.log"), dir.path().to_owned()];
    assert_eq!(names(&twice, dir.path())[..2], ["z.log", "a.log.1.gz"]);
    assert_eq!(names(&twice, dir.path()).len(), 5);
}

#[test]
fn a_glob_is_expanded_without_crossing_directories_and_a_dash_is_standard_input() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("made");
    for name in ["b.log", "a.log", "sub/c.log", "d.txt"] {
        fs::write(dir.path().join(name), "").expect("written");
    }
    assert_eq!(names(&[dir.path().join("*.log")], dir.path()), ["a.log", "b.log"]);
    assert_eq!(names(&[dir.path().join("**/*.log")], dir.path()), ["a.log", "b.log", "sub/c.log"]);
    assert_eq!(names(&[PathBuf::from("-"), dir.path().join("d.txt")], dir.path()), ["-", "d.txt"]);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_back_is_passed_over_and_the_rest_is_read() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("made");
    fs::write(dir.path().join("a.log"), "").expect("written");
    fs::write(dir.path().join("sub/b.log"), "").expect("written");
    std::os::unix::fs::symlink("..", dir.path().join("sub/again")).expect("linked");
    for arguments in [[dir.path().to_owned()], [dir.path().join("**/*.log")]] {
        assert_eq!(names(&arguments, dir.path()), ["a.log", "sub/b.log"]);
        let found = discover(&arguments);
        assert!(found.errors.is_empty(), "{:?}", found.errors);
        let [(link, folder)] = &found.loops[..] else { panic!("{:?}", found.loops) };
        assert_eq!((link.strip_prefix(dir.path()).ok(), folder.as_path()), (Some(Path::new("sub/again")), dir.path()));
    }
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_still_found() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("a.log"), "").expect("written");
    fs::create_dir(dir.path().join("empty")).expect("made");
    let arguments = ["absent.log", "empty", "x*.log", "a.log"].map(|name| dir.path().join(name));
    let found = discover(&arguments);
    assert_eq!(found.inputs.len(), 1);
    let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
    assert!(errors[0].starts_with("cannot read `") && errors[0].ends_with("absent.log`: no such file or directory"));
    assert!(errors[1].contains("named like a log"), "{errors:?}");
    assert!(errors[2].starts_with("no file matches `"), "{errors:?}");
}
