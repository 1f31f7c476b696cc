//! Puts it together: chunks, rayon, ordered merge, grouping, summary.
