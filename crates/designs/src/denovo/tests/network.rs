//! Networks, by the order that they keep.

use super::world::Letter;

/// Which letters may overtake which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// None: all arrive in the order sent.
    InOrder,
    /// Those of another sender or another receiver: what one network promises.
    PairsInOrder,
    /// Those too that travel in another of the simulator's three networks: requests, what the registry says, and what owners
    /// say.
    NetworksInOrder,
    /// All. The protocol does not claim to live with it.
    Unordered,
}

impl Network {
    /// Puts a letter among those on their way.
    pub fn send(self, mail: &mut Vec<Letter>, letter: Letter) {
        let key = |letter: &Letter| self.key(letter);
        let place = match self {
            Network::InOrder => mail.len(),
            Network::PairsInOrder | Network::NetworksInOrder => {
                mail.partition_point(|other| key(other) <= key(&letter))
            }
            Network::Unordered => mail.partition_point(|other| *other <= letter),
        };
        mail.insert(place, letter);
    }

    /// Letters of the same key stay in order.
    fn key(self, letter: &Letter) -> (u8, u8, bool) {
        (letter.from, letter.to, self == Network::NetworksInOrder && letter.message.is_request())
    }

    /// Whether the letter at `place` may arrive now. Of equal letters only the first.
    pub fn may_arrive(self, mail: &[Letter], place: usize) -> bool {
        let Some(before) = place.checked_sub(1).map(|before| &mail[before]) else { return true };
        match self {
            Network::InOrder => false,
            Network::PairsInOrder | Network::NetworksInOrder => self.key(before) != self.key(&mail[place]),
            Network::Unordered => *before != mail[place],
        }
    }
}
