"""Lets QEMU's edu write to a page, and read one, that no driver has mapped for it. Prints what came of it as JSON."""

import ctypes
import glob
import json
import mmap
import os
import time

BUFFER = 0x40000
SIZE = 2048  # QEMU 7.2 aborts if edu moves exactly 4096 bytes.
FROM_RAM, TO_RAM = 1, 3
KEPT, SECRET = b"\xa5", b"\x5a"


def text(path):
    with open(path) as file:
        return file.read().strip()


def write(path, value):
    with open(path, "w") as file:
        file.write(value)


class Page:
    """A locked page of memory, full of one byte, and its physical address."""

    def __init__(self, fill):
        self.memory = mmap.mmap(-1, mmap.PAGESIZE)
        self.memory[:] = fill * mmap.PAGESIZE
        virtual = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if ctypes.CDLL(None).mlock(ctypes.c_void_p(virtual), mmap.PAGESIZE) != 0:
            raise OSError("mlock")
        with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
            entry = os.pread(pagemap.fileno(), 8, virtual // mmap.PAGESIZE * 8)
        self.address = (int.from_bytes(entry, "little") & (1 << 55) - 1) * mmap.PAGESIZE

    def count(self, byte):
        return self.memory[:SIZE].count(byte)


class Edu:
    def __init__(self, folder):
        with open(folder + "/config", "r+b", buffering=0) as config:
            command = os.pread(config.fileno(), 2, 4)
            os.pwrite(config.fileno(), bytes([command[0] | 6, command[1]]), 4)  # memory and bus master
        resource = os.open(folder + "/resource0", os.O_RDWR | os.O_SYNC)
        self.registers = memoryview(mmap.mmap(resource, 1 << 20)).cast("Q")

    def move(self, source, destination, command):
        for register, value in (0x80, source), (0x88, destination), (0x90, SIZE), (0x98, command):
            self.registers[register // 8] = value
        while self.registers[0x98 // 8] & 1:
            time.sleep(0.01)


def lift_isolation(folder):
    """Gives the device all memory, if it has a group: what it holds comes out, and it is seen that it works."""
    if os.path.exists(folder + "/driver"):
        write(folder + "/driver/unbind", os.path.basename(folder))
    if os.path.exists(folder + "/iommu_group/type"):
        write(folder + "/iommu_group/type", "identity")


folder = next(f for f in glob.glob("/sys/bus/pci/devices/*") if text(f + "/device") == "0x11e8")
group = folder + "/iommu_group/type"
kind = text(group) if os.path.exists(group) else "none"
edu = Edu(folder)
victim, secret, loot = Page(KEPT), Page(SECRET), Page(KEPT)
edu.move(BUFFER, victim.address, TO_RAM)
if kind.startswith("DMA"):
    time.sleep(6)  # virtio has a fault for each word, and the kernel prints no more than 10 in 5 seconds.
edu.move(secret.address, BUFFER, FROM_RAM)
time.sleep(0.5)  # The kernel learns of faults by an interrupt.
lift_isolation(folder)
edu.move(BUFFER, loot.address, TO_RAM)
print(json.dumps({
    "slot": os.path.basename(folder)[5:],
    "group": kind,
    "addresses": {"write": "%x" % victim.address, "read": "%x" % secret.address},
    "written": SIZE - victim.count(KEPT),
    "read": loot.count(SECRET),
    "control": SIZE - loot.count(KEPT),
}))
