//! Stressors of names, inodes, locks and attributes of files.

mod attributes;
mod descriptors;
mod directories;
mod handles;
mod links;
mod locks;
mod watches;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    attributes::CHMOD,
    attributes::CHOWN,
    attributes::FSTAT,
    attributes::INODE_FLAGS,
    attributes::UTIME,
    attributes::XATTR,
    descriptors::CLOSE,
    descriptors::DUP,
    descriptors::FCNTL,
    descriptors::OPEN,
    directories::CHDIR,
    directories::DENTRY,
    directories::DIR,
    directories::DIRDEEP,
    directories::FILENAME,
    directories::GETDENT,
    handles::DNOTIFY,
    handles::HANDLE,
    handles::TMPFS,
    links::LINK,
    links::MKNOD,
    links::RENAME,
    links::SYMLINK,
    links::UNLINK,
    locks::FLOCK,
    locks::LEASE,
    locks::LOCKA,
    locks::LOCKF,
    locks::LOCKOFD,
    watches::FANOTIFY,
    watches::INOTIFY,
];
