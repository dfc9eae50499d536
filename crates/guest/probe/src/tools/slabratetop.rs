//! What is allocated from each cache of the slab allocator.

use aya::Pod;
use bpf::{Object, Watch, programs};
use harness::instrument::skip;
use harness::tracefs::field;
use protocol::Report;
use protocol::probe::{Found, Slab};

use super::{Tool, largest, name};

/// `struct cache` of `bpf/slabs.bpf.c`.
type Cache = [u8; 32];

/// `struct allocated`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Allocated {
    objects: u64,
    bytes: u64,
}

// SAFETY: two numbers, without anything between them.
unsafe impl Pod for Allocated {}

pub(super) struct Slabratetop(Object);

impl Slabratetop {
    pub(super) fn begin(watch: &Watch) -> Result<Self, Report> {
        // Until Linux 5.19 its events did not say whether memory is accounted to a group, for which they know the cache.
        field("kmem", "kmem_cache_alloc", "accounted").map_err(|why| {
            skip(format!(
                "the events of this kernel do not name the cache: {why}; trace kprobe:kmem_cache_alloc"
            ))
        })?;
        let bytes = field("kmem", "kmalloc", "bytes_alloc").map_err(skip)?;
        let mut object = Object::load(programs::SLABS, watch, &[("kmalloc_bytes", bytes)])?;
        object.attach_raw("allocate", "kmem_cache_alloc")?;
        object.attach_to("allocate_bytes", "kmem:kmalloc")?;
        Ok(Self(object))
    }
}

impl Tool for Slabratetop {
    fn found(&mut self) -> Result<Found, Report> {
        let slab = |(cache, all): (Cache, Vec<Allocated>)| Slab {
            cache: cache_name(&cache),
            objects: all.iter().map(|one| one.objects).sum(),
            bytes: all.iter().map(|one| one.bytes).sum(),
        };
        let slabs = self.0.elements("caches")?.into_iter().map(slab).collect();
        Ok(Found::Slabs(largest(slabs, |slab: &Slab| (slab.objects, slab.cache.clone()))))
    }

    fn lost(&self) -> Result<u64, Report> {
        self.0.lost()
    }
}

/// Its name; without one it is what kmalloc gave, with the size behind it.
fn cache_name(cache: &Cache) -> String {
    let size = cache[8..16].try_into().map_or(0, u64::from_ne_bytes);
    if cache[0] == 0 { format!("kmalloc-{size}") } else { name(cache) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_has_its_name_or_its_size() {
        let mut cache = [0; 32];
        cache[..6].copy_from_slice(b"dentry");
        assert_eq!(cache_name(&cache), "dentry");
        let mut cache = [0; 32];
        cache[8..16].copy_from_slice(&64_u64.to_ne_bytes());
        assert_eq!(cache_name(&cache), "kmalloc-64");
    }
}
