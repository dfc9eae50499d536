// What hangs on the root port 00:10.0. QEMU's own table describes the port and its slot; this makes the slot part of
// the dock.
DefinitionBlock ("", "SSDT", 2, "KILN", "CARD", 1)
{
    External (\_SB.DOCK, DeviceObj)
    External (\_SB.PCI0.S80.S00, DeviceObj)
    External (\_SB.PCI0.S80.S00._EJ0, MethodObj)

    Scope (\_SB.PCI0.S80.S00)
    {
        Name (_EJD, "\\_SB.DOCK")
    }

    Scope (\_SB.DOCK)
    {
        // The _EJ0 of QEMU takes the card out of the machine, whether or not Linux has let it go.
        Method (PULL, 0, Serialized)
        {
            \_SB.PCI0.S80.S00._EJ0 (1)
        }
    }
}
