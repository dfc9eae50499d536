// A bay with a battery: it has no _DCK, and Linux treats it as a dock.
DefinitionBlock ("", "SSDT", 2, "KILN", "BAY", 1)
{
    External (\_SB.DOCK.HERE, IntObj)
    External (\_SB.DOCK.SAY, MethodObj)

    Device (\_SB.BAY0)
    {
        Name (_HID, EisaId ("PNP0C0A"))
        Name (_UID, 2)
        Name (_BST, Package () { 0, 0, 2000, 12000 })
        Name (_BIF, Package () { 0, 2000, 2000, 1, 12000, 200, 100, 1, 1, "Bay", "1", "Li", "kiln" })

        Method (_STA, 0)
        {
            If (\_SB.DOCK.HERE)
            {
                Return (0x1F)
            }

            Return (0)
        }

        Method (_EJ0, 1, Serialized)
        {
            \_SB.DOCK.SAY (0x42)  // B
            \_SB.DOCK.HERE = 0
        }
    }
}
