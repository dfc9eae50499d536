//! The tree of samples with the names of its functions.

use std::collections::HashMap;
use std::path::Path;

use protocol::sample::{FUNCTIONS_MAX, Function, NODES_MAX, Node, Part, TEXT_MAX, totals};
use unwind::Names;

use crate::kallsyms::{self, Symbol};
use crate::tree::{File, Place, Tree};

/// What is said of the samples.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) functions: Vec<Function>,
    pub(crate) nodes: Vec<Node>,
    /// Why some have no names.
    pub(crate) missing: Option<String>,
}

/// Names the functions of a tree. Ways of coming to the same functions become one, and the rarest are put together where there are too many.
pub(crate) fn name(tree: &Tree) -> Named {
    let (kernel, missing) = match kallsyms::read(&kernel_addresses(tree)) {
        Ok(kernel) => (kernel, None),
        Err(why) => (HashMap::new(), Some(why)),
    };
    let mut names = Names::default();
    let functions: Vec<Vec<Function>> =
        tree.places.iter().map(|place| functions(place, &tree.files, &kernel, &mut names)).collect();
    let merged = merge(tree, &functions);
    Named { missing, ..merged.within(NODES_MAX / 2, FUNCTIONS_MAX - 1) }
}

fn kernel_addresses(tree: &Tree) -> Vec<u64> {
    let address = |place: &Place| match place {
        Place::Kernel(address) => Some(*address),
        _ => None,
    };
    tree.places.iter().filter_map(address).collect()
}

/// The functions at a place, the outermost first.
fn functions(
    place: &Place,
    files: &[File],
    kernel: &HashMap<u64, Symbol>,
    names: &mut Names,
) -> Vec<Function> {
    let function = |name: &str, file: &str, part, is_inlined| Function {
        name: cut(name),
        file: cut(file),
        part,
        is_inlined,
    };
    match place {
        Place::Thread(name) => vec![function(name, "", Part::Thread, false)],
        Place::Unknown => vec![function("[unknown]", "", Part::User, false)],
        Place::Kernel(address) => {
            let symbol = kernel.get(address);
            let name = symbol.map_or("[kernel]", |symbol| symbol.name.as_str());
            let module = symbol.and_then(|symbol| symbol.module.as_deref());
            vec![function(name, module.unwrap_or("kernel"), Part::Kernel, false)]
        }
        Place::File(file, address) => {
            let Some((file, code)) = files.get(*file) else { return Vec::new() };
            let base =
                || format!("[{}]", Path::new(&**file).file_name().unwrap_or_default().to_string_lossy());
            let frames = names.of_code(code, *address).into_iter().rev();
            frames
                .map(|frame| {
                    function(&frame.function.unwrap_or_else(base), file, Part::User, frame.is_inlined)
                })
                .collect()
        }
    }
}

/// As much of a text as a report may have.
fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_MAX)].to_owned()
}

/// The tree by functions instead of addresses.
fn merge(tree: &Tree, functions: &[Vec<Function>]) -> Named {
    let mut out = Growing::default();
    let mut places: Vec<Option<u32>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let mut at = node.caller.and_then(|caller| places[caller as usize]);
        for function in &functions[node.place] {
            at = Some(out.node(at, function));
        }
        if let Some(at) = at {
            out.named.nodes[at as usize].own += node.own;
        }
        places.push(at);
    }
    out.named
}

/// A tree of functions that grows.
#[derive(Default)]
struct Growing {
    named: Named,
    by_caller: HashMap<(Option<u32>, u32), u32>,
    by_function: HashMap<Function, u32>,
}

impl Growing {
    fn node(&mut self, caller: Option<u32>, function: &Function) -> u32 {
        let known = self.by_function.get(function).copied();
        let function = known.unwrap_or_else(|| {
            self.named.functions.push(function.clone());
            let number = number(self.named.functions.len() - 1);
            self.by_function.insert(function.clone(), number);
            number
        });
        let nodes = &mut self.named.nodes;
        *self.by_caller.entry((caller, function)).or_insert_with(|| {
            nodes.push(Node { caller, function, own: 0 });
            number(nodes.len() - 1)
        })
    }
}

/// Nodes and functions are counted in 32 bits: the tree has far fewer.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Named {
    /// The same with so many nodes and functions at most: those with the fewest samples are put together under their caller.
    fn within(self, nodes_max: usize, functions_max: usize) -> Self {
        let totals = totals(&self.nodes);
        let mut least = 1;
        loop {
            let kept = |at: &usize| totals[*at] >= least;
            let nodes = (0..self.nodes.len()).filter(kept).count();
            let mut functions: Vec<u32> =
                (0..self.nodes.len()).filter(kept).map(|at| self.nodes[at].function).collect();
            functions.sort_unstable();
            functions.dedup();
            if nodes <= nodes_max && functions.len() <= functions_max {
                return self.without(&totals, least);
            }
            least *= 2;
        }
    }

    /// The same without nodes that have fewer samples than these.
    fn without(self, totals: &[u64], least: u64) -> Self {
        if totals.iter().all(|total| *total >= least) {
            return self;
        }
        let omitted = Function {
            name: "[rare]".to_owned(),
            file: String::new(),
            part: Part::Omitted,
            is_inlined: false,
        };
        let mut out = Growing::default();
        let mut places: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        for (node, total) in self.nodes.iter().zip(totals) {
            let caller = node.caller.and_then(|caller| places[caller as usize]);
            let is_kept = *total >= least;
            let function = if is_kept { &self.functions[node.function as usize] } else { &omitted };
            // What is below one that is left out goes where that went.
            let is_below = node.caller.is_some_and(|caller| totals[caller as usize] < least);
            let at = match caller {
                Some(caller) if is_below => caller,
                caller => out.node(caller, function),
            };
            out.named.nodes[at as usize].own += node.own;
            places.push(Some(at));
        }
        Self { missing: self.missing, ..out.named }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn function(name: &str) -> Function {
        Function { name: name.to_owned(), file: "load".to_owned(), part: Part::User, is_inlined: false }
    }

    fn lines(named: &Named) -> Vec<String> {
        let line = |node: &Node| {
            let caller = node.caller.map_or("-".to_owned(), |caller| caller.to_string());
            format!("{caller} {} {}", named.functions[node.function as usize].name, node.own)
        };
        named.nodes.iter().map(line).collect()
    }

    #[test]
    fn addresses_of_one_function_are_one_node() {
        let mut tree = Tree::default();
        let thread = || Place::Thread("load".to_owned());
        for (outer, inner) in [(1, 2), (1, 3), (4, 2)] {
            tree.add([thread(), Place::Kernel(outer), Place::Kernel(inner)]);
        }
        let functions: Vec<Vec<Function>> = tree
            .places
            .iter()
            .map(|place| match place {
                Place::Kernel(1 | 4) => vec![function("outer"), function("inlined")],
                Place::Kernel(_) => vec![function("inner")],
                _ => vec![function("load")],
            })
            .collect();
        assert_eq!(lines(&merge(&tree, &functions)), ["- load 0", "0 outer 0", "1 inlined 0", "2 inner 3"]);
    }

    #[test]
    fn the_rarest_are_put_together() {
        let mut out = Growing::default();
        let load = out.node(None, &function("load"));
        for (name, own) in [("often", 100), ("rare", 1), ("rarer", 2)] {
            let at = out.node(Some(load), &function(name));
            out.named.nodes[at as usize].own = own;
            let below = out.node(Some(at), &function("below"));
            out.named.nodes[below as usize].own = 1;
        }
        assert_eq!(lines(&out.named.within(2, 10)), ["- load 0", "0 often 100", "1 [rare] 1", "0 [rare] 5"]);
    }

    #[test]
    fn a_way_to_this_very_function_is_named() {
        let mut tree = Tree::default();
        let mut space = unwind::AddressSpace::of_process(
            std::process::id().cast_signed(),
            &mut unwind::Library::default(),
        );
        let here = a_way_to_this_very_function_is_named as fn() as usize as u64;
        let registers = unwind::Registers { rip: here, rsp: 0, rbp: 0 };
        let call = space.calls(registers, &mut |_| None).calls.remove(0);
        let image = space.image(&call).expect("it is in this program");
        let file = tree.file(image.name(), image.code());
        tree.add([Place::Thread("load".to_owned()), Place::File(file, call.file_address)]);
        let named = name(&tree);
        let found =
            named.functions.iter().find(|one| one.name.contains("a_way_to_this_very_function_is_named"));
        let found = found.unwrap_or_else(|| panic!("{named:?}"));
        assert!(found.file.contains("sample") && found.part == Part::User, "{found:?}");
    }

    proptest! {
        #[test]
        fn no_sample_is_lost(
            ways in prop::collection::vec((prop::collection::vec(0_u64..9, 0..6), 1_u64..40), 0..40),
            nodes in 1_usize..9, functions in 1_usize..9,
        ) {
            let mut out = Growing::default();
            let mut all = 0;
            for (way, own) in ways {
                let mut at = out.node(None, &function("load"));
                for step in way {
                    at = out.node(Some(at), &function(&step.to_string()));
                }
                out.named.nodes[at as usize].own += own;
                all += own;
            }
            let kept = out.named.within(nodes, functions);
            prop_assert_eq!(kept.nodes.iter().map(|node| node.own).sum::<u64>(), all);
            prop_assert!(kept.nodes.len() <= 2 * nodes && kept.functions.len() <= functions + 1);
            for (at, node) in kept.nodes.iter().enumerate() {
                prop_assert!(node.caller.is_none_or(|caller| (caller as usize) < at));
            }
        }
    }
}
