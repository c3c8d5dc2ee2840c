//! Makes one item shorter without hurting its structure (9.3.3).
//!
//! The label stays, and of the content the head and the tail, by whole lines, with a mark that
//! counts what is missing. Role, task and output rules never come here.

use super::structure::render;
use super::{ContextBuilder, ContextPacket};
use crate::support::text::cut;

/// At least so many tokens of a content are shown, or none of it.
pub(super) const LEAST: usize = 50;

/// Returns the item cut to `allowed` tokens, and what it costs; none where that leaves too little
/// to be of use, or when items must stay whole.
pub(super) fn shorten(
    builder: &ContextBuilder,
    packet: &ContextPacket,
    content: &str,
    allowed: usize,
) -> Option<(String, usize)> {
    if !builder.config.enable_compression {
        return None;
    }
    let section = packet.kind.section();
    let mut room = allowed.checked_sub(builder.count_item(section, &render(packet, "")))?;
    while room >= LEAST {
        // The cut comes before the quoting, because a cut inside of a line makes a new line.
        let text = render(packet, &cut(content, room, &builder.counter, "").to_string());
        let tokens = builder.count_item(section, &text);
        if tokens <= allowed {
            return Some((text, tokens));
        }
        room = room.saturating_sub(tokens - allowed);
    }
    None
}
