//! How the candidates stand to each other.

/// How candidates stand to each other.
///
/// Candidate `i` may be the culprit; [`State::After`]`(i)` is what one gets with it and all that it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// So many, of which each stands on all before it.
    Line(usize),
    /// The parents of each, which come before it: commits with merges.
    Graph(Vec<Vec<usize>>),
}

/// What can be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// None of the candidates: the first end.
    Before,
    /// A candidate and all that it stands on.
    After(usize),
    /// All candidates: the second end.
    All,
}

/// Candidates that cannot be searched.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// There are none.
    #[error("nothing lies between the two ends of the bisection")]
    Empty,
    /// More than the search has memory for.
    #[error(
        "{count} candidates lie between the two ends, and at most {limit} can be searched: name nearer ends"
    )]
    TooMany {
        /// Candidates.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A candidate stands on one that does not come before it.
    #[error("candidate {candidate} stands on {parent}, which does not come before it")]
    Parent {
        /// The candidate.
        candidate: usize,
        /// On what it stands.
        parent: usize,
    },
    /// The confidence is no fraction between 0 and 1.
    #[error("the confidence is {0}; it must lie between 0 and 1, such as 0.99")]
    Confidence(f64),
}

/// Candidates of a line; what is kept of each is some tens of bytes.
const LINE_LIMIT: usize = 1 << 20;

/// Candidates of a graph; the bits of all their ancestors take 64 MiB.
const GRAPH_LIMIT: usize = 1 << 15;

/// An order that was checked.
#[derive(Debug, Clone)]
pub(super) enum Axis {
    Line(usize),
    Graph {
        /// The neighbours of each: its parents and its children.
        neighbours: Vec<Vec<usize>>,
        /// A bit for each candidate up to and with itself: whether the state contains it.
        contained: Vec<Vec<u64>>,
    },
}

impl Axis {
    pub(super) fn new(order: Order) -> Result<Self, Unusable> {
        let (count, limit) = match &order {
            Order::Line(count) => (*count, LINE_LIMIT),
            Order::Graph(parents) => (parents.len(), GRAPH_LIMIT),
        };
        match order {
            _ if count == 0 => Err(Unusable::Empty),
            _ if count > limit => Err(Unusable::TooMany { count, limit }),
            Order::Line(count) => Ok(Self::Line(count)),
            Order::Graph(parents) => graph(parents),
        }
    }

    /// How many candidates there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Line(count) => *count,
            Self::Graph { contained, .. } => contained.len(),
        }
    }

    /// Whether `state` has `candidate` in it.
    pub(super) fn contains(&self, state: State, candidate: usize) -> bool {
        match (state, self) {
            (State::Before, _) => false,
            (State::All, _) => true,
            (State::After(at), Self::Line(_)) => candidate <= at,
            (State::After(at), Self::Graph { contained, .. }) => {
                contained[at].get(candidate / 64).is_some_and(|word| word >> (candidate % 64) & 1 == 1)
            }
        }
    }

    /// All that can be tested, each once: the state after a candidate that stands on all others is [`State::All`].
    pub(super) fn states(&self) -> impl Iterator<Item = State> {
        let last = self.count() - 1;
        let is_all = move |at: usize| match self {
            Self::Line(_) => at == last,
            Self::Graph { contained, .. } => {
                at == last
                    && contained[at].iter().map(|word| word.count_ones() as usize).sum::<usize>() == last + 1
            }
        };
        let after = (0..=last).filter(move |&at| !is_all(at)).map(State::After);
        [State::Before, State::All].into_iter().chain(after)
    }

    /// Calls `visit` with each candidate whose state is one candidate away.
    pub(super) fn neighbours(&self, at: usize, mut visit: impl FnMut(usize)) {
        match self {
            Self::Line(count) => {
                at.checked_sub(1).into_iter().chain((at + 1 < *count).then_some(at + 1)).for_each(visit);
            }
            Self::Graph { neighbours, .. } => neighbours[at].iter().for_each(|&next| visit(next)),
        }
    }
}

fn graph(parents: Vec<Vec<usize>>) -> Result<Axis, Unusable> {
    let mut contained: Vec<Vec<u64>> = Vec::with_capacity(parents.len());
    let mut neighbours = parents.clone();
    for (candidate, parents) in parents.into_iter().enumerate() {
        let mut row = vec![0; candidate / 64 + 1];
        row[candidate / 64] |= 1 << (candidate % 64);
        for parent in parents {
            let above = contained.get(parent).ok_or(Unusable::Parent { candidate, parent })?;
            row.iter_mut().zip(above).for_each(|(word, above)| *word |= above);
            neighbours[parent].push(candidate);
        }
        contained.push(row);
    }
    Ok(Axis::Graph { neighbours, contained })
}
