//! Data to bytes. A reporter is pure: the same [`Report`] and options give the same bytes.

mod data;

pub use data::{
    ClassCount, Diagnostic, Example, ExampleLabel, Location, NotChecked, Report, ShapeRow, Summary, UnreadLine,
};
