//! A run as a space-time diagram: a lane for each contender, each server, and the resource; holds as bars; messages as
//! arrows; and what happened as marks.
//!
//! The three truths have a track each: what a contender believes, what the service says, and what the resource takes.
//! The diagram has places and times, but no colours: [`svg`] and [`png`](mod@png) draw one for a page, and the page of
//! [`html`](crate::html) draws the same in a browser.

mod axis;
mod bars;
mod build;
mod causes;
mod lanes;
mod marks;
mod messages;
mod notches;
#[cfg(feature = "charts")]
pub mod png;
mod range;
mod roles;
mod shapes;
mod spans;
mod strips;
pub mod svg;
mod traffic;
mod writes;

pub use axis::Axis;
pub use bars::{Bar, Origin, Track};
pub use build::{Diagram, Scope};
pub use lanes::{Lane, LaneKind};
pub use marks::{Mark, Weight};
pub use messages::{Arrow, ArrowEnd, ArrowKind};
pub use notches::Notch;
pub use spans::{Breach, Span};
pub use strips::{Strip, StripForm, TurningMark};
pub use traffic::{MessageEvent, MessageState, Traffic};
