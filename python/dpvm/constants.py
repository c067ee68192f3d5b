"""The constants of pvm3.h, under the same names."""

# encodings
PvmDataDefault, PvmDataRaw, PvmDataInPlace = 0, 1, 2

# pvm_spawn
PvmTaskDefault, PvmTaskHost, PvmTaskArch, PvmTaskDebug, PvmTaskTrace = 0, 1, 2, 4, 8
PvmMppFront, PvmHostCompl, PvmNoSpawnParent = 16, 32, 64

# pvm_notify
PvmTaskExit, PvmHostDelete, PvmHostAdd, PvmRouteAdd, PvmRouteDelete = 1, 2, 3, 4, 5
PvmNotifyCancel = 256

# values of options
PvmDontRoute, PvmAllowDirect, PvmRouteDirect = 1, 2, 3
PvmTraceFull, PvmTraceTime, PvmTraceCount = 1, 2, 3
PvmPollConstant, PvmPollSleep = 1, 2

# mailbox
PvmMboxDefault, PvmMboxPersistent, PvmMboxMultiInstance, PvmMboxOverWritable = 0, 1, 2, 4
PvmMboxFirstAvail, PvmMboxReadAndDelete, PvmMboxWaitForInfo = 8, 16, 32
PvmMboxDirectIndexShift = 10
PvmMboxMaxDirectIndex = 1 << 21

# data types
PVM_STR, PVM_BYTE, PVM_SHORT, PVM_INT, PVM_FLOAT, PVM_CPLX = 0, 1, 2, 3, 4, 5
PVM_DOUBLE, PVM_DCPLX, PVM_LONG, PVM_USHORT, PVM_UINT, PVM_ULONG = 6, 7, 8, 9, 10, 11

PvmBaseContext = 0

ANY = -1
"""Any task, or any tag."""
