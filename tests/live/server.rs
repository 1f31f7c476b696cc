//! A real mongod for the time of a test: started on a free loopback port with a folder of its own and `slowms` 0, so that it
//! logs every operation, and stopped with the value. Where the binary comes from: `SHARDLINT_MONGOD`, else `target/mongod`
//! as `tests/live/install-mongod` leaves it.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mongodb::bson::{Document, doc};
use mongodb::sync::Client;
use tempfile::TempDir;

/// The installed mongod. Without one a notice says that the test was skipped; a path that was named must exist.
pub fn installed(test: &str) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("SHARDLINT_MONGOD") {
        let path = PathBuf::from(named);
        assert!(path.exists(), "SHARDLINT_MONGOD names {}, which is not there", path.display());
        return Some(path);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/mongod/mongod");
    if path.exists() {
        return Some(path);
    }
    // Straight to the terminal: the test runner would keep a passing test's words to itself.
    let _ = writeln!(std::io::stderr(), "{test}: skipped, there is no mongod; tests/live/install-mongod fetches one");
    None
}

/// A running mongod.
pub struct Server {
    process: Child,
    folder: TempDir,
    port: u16,
    /// Connected to it alone.
    pub client: Client,
}

impl Server {
    /// Starts it and waits until it answers.
    pub fn start(mongod: &Path, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let process = Command::new(mongod)
            .arg("--dbpath")
            .arg(folder.path())
            .arg("--logpath")
            .arg(folder.path().join("mongod.log"))
            .args(["--port", &port.to_string(), "--bind_ip", "127.0.0.1", "--nounixsocket", "--slowms", "0"])
            .args(["--wiredTigerCacheSizeGB", "0.25", "--setParameter", "diagnosticDataCollectionEnabled=false"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = format!("mongodb://127.0.0.1:{port}/?directConnection=true&serverSelectionTimeoutMS=500");
        let client = Client::with_uri_str(format!("{address}&appName=shardlint-live")).unwrap();
        let mut server = Self { process, folder, port, client };
        server.wait_for("an answer", |server| server.admin(doc! { "ping": 1 }).is_ok());
        server
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Runs a command on the `admin` database.
    pub fn admin(&self, command: Document) -> mongodb::error::Result<Document> {
        self.client.database("admin").run_command(command).run()
    }

    /// Makes it a replica set of one and waits until it is primary.
    pub fn initiate(&mut self, set: &str, config_server: bool) {
        let member = doc! { "_id": 0, "host": self.address() };
        let mut config = doc! { "_id": set, "members": [member] };
        if config_server {
            config.insert("configsvr", true);
        }
        self.admin(doc! { "replSetInitiate": config }).unwrap();
        self.wait_for("a primary", |server| {
            server.admin(doc! { "hello": 1 }).is_ok_and(|hello| hello.get_bool("isWritablePrimary").unwrap_or(false))
        });
    }

    /// Everything logged so far, as a copy that does not grow any more.
    pub fn log(&self, copy: &str) -> PathBuf {
        let target = self.folder.path().join(copy);
        fs::copy(self.folder.path().join("mongod.log"), &target).unwrap();
        target
    }

    fn wait_for(&mut self, what: &str, mut there: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !there(self) {
            if let Ok(Some(status)) = self.process.try_wait() {
                panic!("mongod ended with {status} while waiting for {what}:\n{}", self.last_words());
            }
            assert!(Instant::now() < end, "mongod at {}: no {what} in a minute", self.address());
            sleep(Duration::from_millis(100));
        }
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("mongod.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        lines.join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its data goes with the folder, so there is nothing to close in an orderly way.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap().port()
}
