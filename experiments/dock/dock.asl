// A docking station that a script plays, through a serial port that Linux does not use.
//
// Linux evaluates _TMP twice a second, which reads one byte: '0' to '9' are notifications, 'i' puts the hardware in,
// 'x' pulls it out without a word, 's' sends twenty notifications at once. _DCK says D or U and waits for a digit:
// bit 0 is what it returns, bit 1 what _STA says from then on. _EJ0 says E, that of a bay B.
DefinitionBlock ("", "SSDT", 2, "KILN", "DOCK", 1)
{
    External (\_SB.BAY0, DeviceObj)
    External (\_SB.DOCK.PULL, MethodObj)

    Device (\_SB.DOCK)
    {
        Name (_HID, "PNP0C15")
        Name (_UID, 1)

        OperationRegion (PORT, SystemIO, 0x2C0, 8)
        Field (PORT, ByteAcc, NoLock, Preserve)
        {
            BYTE, 8,
            Offset (5),
            FULL, 1,
            , 4,
            FREE, 1
        }

        Name (HERE, 0)

        // While a method waits for its answer, the thermal zone must not read it.
        Name (BUSY, 0)

        Method (SAY, 1, Serialized)
        {
            For (Local0 = 0, !FREE && Local0 < 100, Local0++)
            {
                Sleep (1)
            }

            BYTE = Arg0
        }

        Method (HEAR, 0, Serialized)
        {
            If (FULL)
            {
                Return (BYTE)
            }

            Return (0)
        }

        Method (ASK, 1, Serialized)
        {
            BUSY = 1
            SAY (Arg0)
            Local0 = 0
            For (Local1 = 0, !Local0 && Local1 < 1000, Local1++)
            {
                Sleep (10)
                Local0 = HEAR ()
            }

            BUSY = 0
            Return (Local0)
        }

        Method (_STA, 0)
        {
            If (HERE)
            {
                Return (0x0F)
            }

            Return (0)
        }

        Method (_DCK, 1, Serialized)
        {
            If (Arg0)
            {
                Local0 = ASK (0x44)  // D
            }
            Else
            {
                Local0 = ASK (0x55)  // U
            }

            HERE = ((Local0 >> 1) & 1)
            Return (Local0 & 1)
        }

        Method (_EJ0, 1, Serialized)
        {
            SAY (0x45)  // E
        }

        Method (POLL, 0, Serialized)
        {
            If (BUSY)
            {
                Return
            }

            Local0 = HEAR ()
            Switch (ToInteger (Local0))
            {
                Case (0x69)  // i
                {
                    HERE = 1
                }
                Case (0x78)  // x
                {
                    HERE = 0
                    If (CondRefOf (\_SB.DOCK.PULL))
                    {
                        \_SB.DOCK.PULL ()
                    }
                }
                Case (0x73)  // s
                {
                    For (Local1 = 0, Local1 < 20, Local1++)
                    {
                        Notify (\_SB.DOCK, 0)
                    }
                }
                Default
                {
                    If (Local0 < 0x30 || Local0 > 0x39)
                    {
                        Return
                    }

                    If (CondRefOf (\_SB.BAY0))
                    {
                        Notify (\_SB.BAY0, Local0 - 0x30)
                    }
                    Else
                    {
                        Notify (\_SB.DOCK, Local0 - 0x30)
                    }
                }
            }
        }
    }

    // What no bus can enumerate.
    Device (\_SB.GADG)
    {
        Name (_HID, "KILN0001")
        Name (_EJD, "\\_SB.DOCK")

        Method (_STA, 0)
        {
            Return (\_SB.DOCK._STA ())
        }

        Method (_EJ0, 1, Serialized)
        {
            \_SB.DOCK.SAY (0x65)  // e
        }
    }

    ThermalZone (\_TZ.POLL)
    {
        Name (_TZP, 5)
        Name (_CRT, 4000)

        Method (_TMP, 0, Serialized)
        {
            \_SB.DOCK.POLL ()
            Return (3000)
        }
    }
}
