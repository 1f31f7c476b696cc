//! Looking for the configuration: in the working directory and above it, up to the root of the repository.

use std::path::{Path, PathBuf};

use super::NAME;

/// The nearest configuration in `folder` or above it. The folder that has a `.git` is the last one looked at; without a
/// repository only `folder` itself is.
#[must_use]
pub fn discover(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder).to_owned();
    let mut relative = PathBuf::new();
    for above in folder.ancestors() {
        let candidate = relative.join(NAME);
        if above.join(NAME).is_file() {
            return Some(candidate);
        }
        if above == root {
            return None;
        }
        relative.push("..");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_upward_as_far_as_the_repository_reaches() {
        let outside = tempfile::tempdir().expect("a folder");
        let root = outside.path().join("repository");
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).expect("folders");
        std::fs::write(outside.path().join(NAME), "").expect("a file");
        assert_eq!(discover(&inner), None, "without a repository only the folder itself counts");
        std::fs::create_dir(root.join(".git")).expect("a folder");
        assert_eq!(discover(&inner), None, "what lies above the repository is not its configuration");
        std::fs::write(root.join(NAME), "").expect("a file");
        assert_eq!(discover(&inner), Some("../../shardlint.toml".into()));
        assert_eq!(discover(&root), Some("shardlint.toml".into()));
    }
}
