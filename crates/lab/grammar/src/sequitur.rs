//! Sequitur: C. G. Nevill-Manning, I. H. Witten, Identifying Hierarchical Structure in Sequences: A Linear-Time Algorithm,
//! Journal of Artificial Intelligence Research 7 (1997).
//!
//! No two symbols stand beside each other in two places: both are replaced by a rule. No rule is used only once: it is
//! replaced by what it stands for. Rules are rings of nodes, each with a guard between its end and its begin.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// What a rule is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// An element of the sequence.
    Terminal(u16),
    /// What the rule of this number stands for.
    Rule(usize),
}

/// The grammar of a sequence.
#[derive(Debug, Clone)]
pub struct Grammar {
    nodes: Vec<Node>,
    free_nodes: Vec<usize>,
    rules: Vec<Rule>,
    free_rules: Vec<usize>,
    /// Where two symbols stand beside each other: the node of the first.
    pairs: HashMap<(Symbol, Symbol), usize, RandomState>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    item: Item,
    previous: usize,
    next: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Symbol(Symbol),
    /// Where the rule of this number begins and ends.
    Guard(usize),
}

#[derive(Debug, Clone, Copy)]
struct Rule {
    guard: usize,
    uses: usize,
}

/// No node.
const NONE: usize = usize::MAX;

impl Default for Grammar {
    fn default() -> Self {
        let mut grammar = Self {
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            rules: Vec::new(),
            free_rules: Vec::new(),
            pairs: HashMap::default(),
        };
        grammar.new_rule();
        grammar
    }
}

impl Grammar {
    /// Adds an element to the end of the sequence.
    pub fn push(&mut self, element: u16) {
        let last = self.nodes[self.rules[0].guard].previous;
        self.insert_after(last, Symbol::Terminal(element));
        self.check(last);
    }

    /// How many nodes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.nodes.len() - self.free_nodes.len()
    }

    /// What the rules stand for, by their numbers. The first one is the sequence; numbers without a rule are empty.
    #[must_use]
    pub fn rules(&self) -> Vec<Vec<Symbol>> {
        self.rules.iter().map(|rule| self.symbols(rule.guard)).collect()
    }

    fn symbols(&self, guard: usize) -> Vec<Symbol> {
        let following = |at: &usize| Some(self.nodes[*at].next);
        let nodes = std::iter::successors(following(&guard), following);
        nodes.map_while(|at| self.symbol(at)).collect()
    }

    /// The symbol of a node; none for a guard.
    fn symbol(&self, node: usize) -> Option<Symbol> {
        match self.nodes[node].item {
            Item::Symbol(symbol) => Some(symbol),
            Item::Guard(_) => None,
        }
    }

    fn new_rule(&mut self) -> usize {
        if let Some(number) = self.free_rules.pop() {
            return number;
        }
        let number = self.rules.len();
        let guard = self.new_node(Item::Guard(number));
        (self.nodes[guard].previous, self.nodes[guard].next) = (guard, guard);
        self.rules.push(Rule { guard, uses: 0 });
        number
    }

    fn new_node(&mut self, item: Item) -> usize {
        let node = Node { item, previous: NONE, next: NONE };
        if let Some(place) = self.free_nodes.pop() {
            self.nodes[place] = node;
            return place;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn rule(&mut self, number: usize) -> &mut Rule {
        &mut self.rules[number]
    }

    fn insert_after(&mut self, left: usize, symbol: Symbol) {
        if let Symbol::Rule(number) = symbol {
            self.rule(number).uses += 1;
        }
        let node = self.new_node(Item::Symbol(symbol));
        self.join(node, self.nodes[left].next);
        self.join(left, node);
    }

    fn remove(&mut self, node: usize) {
        let Node { previous, next, .. } = self.nodes[node];
        self.join(previous, next);
        self.forget_pair(node);
        if let Some(Symbol::Rule(number)) = self.symbol(node) {
            self.rule(number).uses -= 1;
        }
        self.free_nodes.push(node);
    }

    /// Makes a node follow another one.
    fn join(&mut self, left: usize, right: usize) {
        if self.nodes[left].next != NONE {
            self.forget_pair(left);
            // Of three equal symbols only one pair is known. Without it, the other one is to be found.
            let Node { previous, next, .. } = self.nodes[right];
            if previous != NONE && next != NONE && self.is_triple(previous, right, next) {
                self.note_pair(right);
            }
            let Node { previous, next, .. } = self.nodes[left];
            if previous != NONE && self.is_triple(previous, left, next) {
                self.note_pair(previous);
            }
        }
        self.nodes[left].next = right;
        self.nodes[right].previous = left;
    }

    fn is_triple(&self, first: usize, second: usize, third: usize) -> bool {
        let item = |node: usize| self.nodes[node].item;
        item(first) == item(second) && item(second) == item(third)
    }

    /// The symbols of a node and the next one.
    fn pair(&self, node: usize) -> Option<(Symbol, Symbol)> {
        self.symbol(node).zip(self.symbol(self.nodes[node].next))
    }

    fn note_pair(&mut self, node: usize) {
        if let Some(pair) = self.pair(node) {
            self.pairs.insert(pair, node);
        }
    }

    fn forget_pair(&mut self, node: usize) {
        if let Some(pair) = self.pair(node)
            && self.pairs.get(&pair) == Some(&node)
        {
            self.pairs.remove(&pair);
        }
    }

    /// Replaces a node and the next one if they stand beside each other elsewhere; says whether they do.
    fn check(&mut self, node: usize) -> bool {
        let Some(pair) = self.pair(node) else { return false };
        match self.pairs.get(&pair).copied() {
            None => {
                self.pairs.insert(pair, node);
                false
            }
            // Three equal symbols are two pairs, but only one of them can be replaced.
            Some(other) if self.nodes[other].next == node || other == node => true,
            Some(other) => {
                self.replace(node, other, pair);
                true
            }
        }
    }

    /// Replaces two pairs by a rule: by that which stands for nothing else, if there is one.
    fn replace(&mut self, node: usize, other: usize, (left, right): (Symbol, Symbol)) {
        let Node { previous, next, .. } = self.nodes[other];
        let number = match (self.nodes[previous].item, self.nodes[self.nodes[next].next].item) {
            (Item::Guard(number), Item::Guard(_)) => {
                self.substitute(node, number);
                number
            }
            _ => {
                let number = self.new_rule();
                let guard = self.rule(number).guard;
                self.insert_after(guard, left);
                self.insert_after(self.nodes[guard].next, right);
                self.substitute(other, number);
                self.substitute(node, number);
                self.note_pair(self.nodes[guard].next);
                number
            }
        };
        let guard = self.rule(number).guard;
        let first = self.nodes[guard].next;
        if let Some(Symbol::Rule(used)) = self.symbol(first)
            && self.rule(used).uses == 1
        {
            self.expand(first, used);
        }
    }

    /// Replaces a node and the next one by a rule.
    fn substitute(&mut self, node: usize, number: usize) {
        let before = self.nodes[node].previous;
        self.remove(self.nodes[before].next);
        self.remove(self.nodes[before].next);
        self.insert_after(before, Symbol::Rule(number));
        if !self.check(before) {
            self.check(self.nodes[before].next);
        }
    }

    /// Replaces the only use of a rule by what it stands for.
    fn expand(&mut self, node: usize, number: usize) {
        let Node { previous, next, .. } = self.nodes[node];
        let guard = self.rule(number).guard;
        let (first, last) = (self.nodes[guard].next, self.nodes[guard].previous);
        self.remove(node);
        self.join(previous, first);
        self.join(last, next);
        self.note_pair(last);
        (self.nodes[guard].previous, self.nodes[guard].next) = (guard, guard);
        self.free_rules.push(number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grammar(elements: &[u16]) -> Grammar {
        let mut grammar = Grammar::default();
        elements.iter().for_each(|element| grammar.push(*element));
        grammar
    }

    fn expansion(rules: &[Vec<Symbol>], rule: usize, out: &mut Vec<u16>) {
        for symbol in &rules[rule] {
            match symbol {
                Symbol::Terminal(element) => out.push(*element),
                Symbol::Rule(number) => expansion(rules, *number, out),
            }
        }
    }

    fn uses(rules: &[Vec<Symbol>]) -> HashMap<usize, usize> {
        let mut uses = HashMap::new();
        for symbol in rules.iter().flatten() {
            if let Symbol::Rule(number) = symbol {
                *uses.entry(*number).or_default() += 1;
            }
        }
        uses
    }

    fn rules(text: &str) -> Vec<String> {
        let bytes: Vec<u16> = text.bytes().map(u16::from).collect();
        let rules = grammar(&bytes).rules();
        let symbol = |symbol: &Symbol| match symbol {
            Symbol::Terminal(element) => char::from(u8::try_from(*element).expect("a byte")).to_string(),
            Symbol::Rule(number) => number.to_string(),
        };
        rules.iter().map(|rule| rule.iter().map(symbol).collect()).collect()
    }

    #[test]
    fn the_grammars_of_the_paper() {
        // Its figure 1.
        assert_eq!(rules("abcdbc"), ["a1d1", "bc"]);
        assert_eq!(rules("abcdbcabcdbc"), ["22", "bc", "a1d1", ""]);
        assert_eq!(rules("aaaa"), ["11", "aa"]);
        assert_eq!(rules(""), [""]);
    }

    fn check(elements: &[u16]) {
        let rules = grammar(elements).rules();
        let mut whole = Vec::new();
        expansion(&rules, 0, &mut whole);
        assert_eq!(whole, elements);
        let uses = uses(&rules);
        assert!(uses.values().all(|count| *count >= 2), "{rules:?}");
        assert!(uses.keys().all(|number| rules[*number].len() >= 2), "{rules:?}");
        let named = rules.iter().skip(1).filter(|rule| !rule.is_empty()).count();
        assert_eq!(named, uses.len(), "a rule is not used");
        let mut pairs: HashMap<&[Symbol], usize> = HashMap::new();
        for pair in rules.iter().flat_map(|rule| rule.windows(2)).filter(|pair| pair[0] != pair[1]) {
            *pairs.entry(pair).or_default() += 1;
        }
        assert!(pairs.values().all(|count| *count == 1), "{elements:?}: {rules:?}");
    }

    proptest! {
        #[test]
        fn it_stands_for_the_sequence(elements in proptest::collection::vec(0_u16..3, 0..400)) {
            check(&elements);
        }

        #[test]
        fn it_stands_for_loops(
            parts in proptest::collection::vec((proptest::collection::vec(0_u16..6, 1..9), 1_usize..40), 0..9),
        ) {
            let elements: Vec<u16> = parts.iter().flat_map(|(part, times)| part.repeat(*times)).collect();
            check(&elements);
        }
    }

    #[test]
    fn a_loop_takes_no_room() {
        let grammar = grammar(&[1, 2, 3, 4, 5].repeat(10_000));
        assert!(grammar.size() < 200, "{}", grammar.size());
    }
}
