//! Addresses that pages of the site load.

/// Address of the style sheet.
pub const STYLE: &str = "/style.css";
/// Address of the script.
pub const SCRIPT: &str = "/script.js";
/// Address of the icon.
pub const ICON: &str = "/icon.svg";
