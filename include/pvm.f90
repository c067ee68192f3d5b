! pvm.f90 - the module pvm: constants and interfaces of PVM 3.4 for Fortran, as dpvm provides them.
! Generated from src/fortran/routines.txt and constants.txt by src/fortran/generate.
!
! Compile it before programs that say "use pvm" instead of including fpvm3.h. It contains no code: link with
! -lfpvm3 -lgpvm3 -lpvm3. The compiler then checks the arguments of all calls, and data of any type can be packed without
! -fallow-argument-mismatch.
module pvm
  implicit none
  public

  ! flags of pvmfspawn
  integer, parameter :: PVMTASKDEFAULT = 0
  integer, parameter :: PVMTASKHOST = 1
  integer, parameter :: PVMTASKARCH = 2
  integer, parameter :: PVMTASKDEBUG = 4
  integer, parameter :: PVMTASKTRACE = 8
  integer, parameter :: PVMMPPFRONT = 16
  integer, parameter :: PVMHOSTCOMPL = 32
  integer, parameter :: PVMNOSPAWNPARENT = 64

  ! older names of these
  integer, parameter :: PVMHOST = 1
  integer, parameter :: PVMARCH = 2
  integer, parameter :: PVMDEBUG = 4
  integer, parameter :: PVMTRACE = 8

  ! encodings of pvmfinitsend and pvmfmkbuf
  integer, parameter :: PVMDATADEFAULT = 0
  integer, parameter :: PVMDATARAW = 1
  integer, parameter :: PVMDATAINPLACE = 2
  integer, parameter :: PVMDATATRACE = 4

  ! older names of these
  integer, parameter :: PVMDEFAULT = 0
  integer, parameter :: PVMRAW = 1
  integer, parameter :: PVMINPLACE = 2

  ! kinds of data: pvmfpack, pvmfunpack, pvmfpsend, pvmfprecv, pvmfreduce, pvmfscatter, pvmfgather
  integer, parameter :: STRING = 0
  integer, parameter :: BYTE1 = 1
  integer, parameter :: INTEGER2 = 2
  integer, parameter :: INTEGER4 = 3
  integer, parameter :: REAL4 = 4
  integer, parameter :: COMPLEX8 = 5
  integer, parameter :: REAL8 = 6
  integer, parameter :: COMPLEX16 = 7
  integer, parameter :: INTEGER8 = 8

  ! events of pvmfnotify
  integer, parameter :: PVMTASKEXIT = 1
  integer, parameter :: PVMHOSTDELETE = 2
  integer, parameter :: PVMHOSTADD = 3
  integer, parameter :: PVMROUTEADD = 4
  integer, parameter :: PVMROUTEDELETE = 5
  integer, parameter :: PVMNOTIFYCANCEL = 256

  ! options of pvmfsetopt and pvmfgetopt
  integer, parameter :: PVMROUTE = 1
  integer, parameter :: PVMDEBUGMASK = 2
  integer, parameter :: PVMAUTOERR = 3
  integer, parameter :: PVMOUTPUTTID = 4
  integer, parameter :: PVMOUTPUTCODE = 5
  integer, parameter :: PVMTRACETID = 6
  integer, parameter :: PVMTRACECODE = 7
  integer, parameter :: PVMTRACEBUFFER = 8
  integer, parameter :: PVMTRACEOPTIONS = 9
  integer, parameter :: PVMFRAGSIZE = 10
  integer, parameter :: PVMRESVTIDS = 11
  integer, parameter :: PVMSOUTPUTTID = 12
  integer, parameter :: PVMSOUTPUTCODE = 13
  integer, parameter :: PVMSTRACETID = 14
  integer, parameter :: PVMSTRACECODE = 15
  integer, parameter :: PVMSTRACEBUFFER = 16
  integer, parameter :: PVMSTRACEOPTIONS = 17
  integer, parameter :: PVMSHOWTIDS = 18
  integer, parameter :: PVMPOLLTYPE = 19
  integer, parameter :: PVMPOLLTIME = 20
  integer, parameter :: PVMOUTPUTCTX = 21
  integer, parameter :: PVMTRACECTX = 22
  integer, parameter :: PVMSOUTPUTCTX = 23
  integer, parameter :: PVMSTRACECTX = 24
  integer, parameter :: PVMNORESET = 25

  ! values of PVMROUTE
  integer, parameter :: PVMDONTROUTE = 1
  integer, parameter :: PVMALLOWDIRECT = 2
  integer, parameter :: PVMROUTEDIRECT = 3

  ! values of PVMTRACEOPTIONS
  integer, parameter :: PVMTRACEFULL = 1
  integer, parameter :: PVMTRACETIME = 2
  integer, parameter :: PVMTRACECOUNT = 3

  ! values of PVMPOLLTYPE
  integer, parameter :: PVMPOLLCONSTANT = 1
  integer, parameter :: PVMPOLLSLEEP = 2

  ! flags of the mailbox: pvmfputinfo, pvmfrecvinfo, pvmfdelinfo
  integer, parameter :: PVMMBOXDEFAULT = 0
  integer, parameter :: PVMMBOXPERSISTENT = 1
  integer, parameter :: PVMMBOXMULTIINSTANCE = 2
  integer, parameter :: PVMMBOXOVERWRITABLE = 4
  integer, parameter :: PVMMBOXFIRSTAVAIL = 8
  integer, parameter :: PVMMBOXREADANDDELETE = 16
  integer, parameter :: PVMMBOXWAITFORINFO = 32

  ! errors
  integer, parameter :: PvmOk = 0
  integer, parameter :: PvmBadParam = -2
  integer, parameter :: PvmMismatch = -3
  integer, parameter :: PvmOverflow = -4
  integer, parameter :: PvmNoData = -5
  integer, parameter :: PvmNoHost = -6
  integer, parameter :: PvmNoFile = -7
  integer, parameter :: PvmDenied = -8
  integer, parameter :: PvmNoMem = -10
  integer, parameter :: PvmBadMsg = -12
  integer, parameter :: PvmSysErr = -14
  integer, parameter :: PvmNoBuf = -15
  integer, parameter :: PvmNoSuchBuf = -16
  integer, parameter :: PvmNullGroup = -17
  integer, parameter :: PvmDupGroup = -18
  integer, parameter :: PvmNoGroup = -19
  integer, parameter :: PvmNotInGroup = -20
  integer, parameter :: PvmNoInst = -21
  integer, parameter :: PvmHostFail = -22
  integer, parameter :: PvmNoParent = -23
  integer, parameter :: PvmNotImpl = -24
  integer, parameter :: PvmDSysErr = -25
  integer, parameter :: PvmBadVersion = -26
  integer, parameter :: PvmOutOfRes = -27
  integer, parameter :: PvmDupHost = -28
  integer, parameter :: PvmCantStart = -29
  integer, parameter :: PvmAlready = -30
  integer, parameter :: PvmNoTask = -31
  integer, parameter :: PvmNotFound = -32
  integer, parameter :: PvmExists = -33
  integer, parameter :: PvmHostrNMstr = -34
  integer, parameter :: PvmParentNotSet = -35
  integer, parameter :: PvmIPLoopback = -36

  ! older names of errors; in C, PvmDupEntry is PvmDenied
  integer, parameter :: PvmNoEntry = -32
  integer, parameter :: PvmDupEntry = -33

  abstract interface
    ! A handler for pvmfaddmhf.
    integer function pvm_handler(mid)
      integer, value :: mid
    end function
  end interface

  ! ---- Tasks ----
  interface
    ! enrols the calling process in PVM and returns its task id
    subroutine pvmfmytid(tid)
      integer, intent(out) :: tid
    end subroutine
    ! returns the task id of the task that spawned this one
    subroutine pvmfparent(tid)
      integer, intent(out) :: tid
    end subroutine
    ! returns the task id of the daemon of a task's host
    subroutine pvmftidtohost(tid, dtid)
      integer, intent(in) :: tid
      integer, intent(out) :: dtid
    end subroutine
    ! returns the task id of the daemon of a task's host
    subroutine pvmftidtoh(tid, dtid)
      integer, intent(in) :: tid
      integer, intent(out) :: dtid
    end subroutine
    ! tests whether a task runs
    subroutine pvmfpstat(tid, status)
      integer, intent(in) :: tid
      integer, intent(out) :: status
    end subroutine
    ! returns one of the tasks that were spawned together with this one
    subroutine pvmfsiblings(ntids, index, sibling)
      integer, intent(out) :: ntids
      integer, intent(in) :: index
      integer, intent(out) :: sibling
    end subroutine
    ! starts or stops collecting the output of tasks spawned from now on
    subroutine pvmfcatchout(onoff, info)
      integer, intent(in) :: onoff
      integer, intent(out) :: info
    end subroutine
    ! starts copies of a program
    subroutine pvmfspawn(task, flag, where, ntask, tids, numt)
      character(len=*), intent(in) :: task
      integer, intent(in) :: flag
      character(len=*), intent(in) :: where
      integer, intent(in) :: ntask
      integer, intent(out) :: tids(*)
      integer, intent(out) :: numt
    end subroutine
    ! sends a signal to a task
    subroutine pvmfsendsig(tid, signum, info)
      integer, intent(in) :: tid
      integer, intent(in) :: signum
      integer, intent(out) :: info
    end subroutine
    ! kills a task
    subroutine pvmfkill(tid, info)
      integer, intent(in) :: tid
      integer, intent(out) :: info
    end subroutine
    ! requests a message when a task or host ends or hosts join
    subroutine pvmfnotify(what, msgtag, cnt, tids, info)
      integer, intent(in) :: what
      integer, intent(in) :: msgtag
      integer, intent(in) :: cnt
      integer, intent(in) :: tids(*)
      integer, intent(out) :: info
    end subroutine
    ! waits for some seconds
    subroutine pvmfsleep(seconds)
      integer, intent(in) :: seconds
    end subroutine
  end interface

  ! ---- The machine ----
  interface
    ! describes the virtual machine, one host per call
    subroutine pvmfconfig(nhost, narch, dtid, name, arch, speed, info)
      integer, intent(inout) :: nhost
      integer, intent(out) :: narch
      integer, intent(out) :: dtid
      character(len=*), intent(out) :: name
      character(len=*), intent(out) :: arch
      integer, intent(out) :: speed
      integer, intent(out) :: info
    end subroutine
    ! lists the tasks of the machine, one per call
    subroutine pvmftasks(where, ntask, tid, ptid, dtid, flag, aout, info)
      integer, intent(in) :: where
      integer, intent(inout) :: ntask
      integer, intent(out) :: tid
      integer, intent(out) :: ptid
      integer, intent(out) :: dtid
      integer, intent(out) :: flag
      character(len=*), intent(out) :: aout
      integer, intent(out) :: info
    end subroutine
    ! tests whether a host is in the machine and answers
    subroutine pvmfmstat(host, mstat)
      character(len=*), intent(in) :: host
      integer, intent(out) :: mstat
    end subroutine
    ! returns the data format of an architecture
    subroutine pvmfarchcode(arch, cod)
      character(len=*), intent(in) :: arch
      integer, intent(out) :: cod
    end subroutine
    ! returns the time on a host and how much this host's clock is ahead of it
    subroutine pvmfhostsync(host, clksec, clkusec, deltasec, deltausec, info)
      integer, intent(in) :: host
      integer, intent(out) :: clksec
      integer, intent(out) :: clkusec
      integer, intent(out) :: deltasec
      integer, intent(out) :: deltausec
      integer, intent(out) :: info
    end subroutine
    ! adds a host to the machine
    subroutine pvmfaddhost(host, info)
      character(len=*), intent(in) :: host
      integer, intent(out) :: info
    end subroutine
    ! deletes a host from the machine
    subroutine pvmfdelhost(host, info)
      character(len=*), intent(in) :: host
      integer, intent(out) :: info
    end subroutine
  end interface

  ! ---- Options and errors ----
  interface
    ! sets an option of the library
    subroutine pvmfsetopt(what, val, oldval)
      integer, intent(in) :: what
      integer, intent(in) :: val
      integer, intent(out) :: oldval
    end subroutine
    ! returns an option of the library
    subroutine pvmfgetopt(what, val)
      integer, intent(in) :: what
      integer, intent(out) :: val
    end subroutine
    ! chooses the route of messages
    subroutine pvmfadvise(route, info)
      integer, intent(in) :: route
      integer, intent(out) :: info
    end subroutine
    ! switches automatic error messages on or off
    subroutine pvmfserror(set, oldset)
      integer, intent(in) :: set
      integer, intent(out) :: oldset
    end subroutine
    ! prints a text and the last error
    subroutine pvmfperror(msg, info)
      character(len=*), intent(in) :: msg
      integer, intent(out) :: info
    end subroutine
  end interface

  ! ---- Message buffers ----
  interface
    ! clears the send buffer for a new message
    subroutine pvmfinitsend(encoding, bufid)
      integer, intent(in) :: encoding
      integer, intent(out) :: bufid
    end subroutine
    ! clears the send buffer for a new message, which leaves while it is packed
    subroutine pvmfinitsendto(encoding, tid, msgtag, bufid)
      integer, intent(in) :: encoding
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      integer, intent(out) :: bufid
    end subroutine
    ! adds data to the send buffer
    subroutine pvmfpack(what, xp, nitem, stride, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: xp
!DIR$ IGNORE_TKR xp
      integer, intent(in) :: what
      type(*), intent(in) :: xp(*)
      integer, intent(in) :: nitem
      integer, intent(in) :: stride
      integer, intent(out) :: info
    end subroutine
    ! returns length, tag and sender of a message
    subroutine pvmfbufinfo(bufid, bytes, msgtag, tid, info)
      integer, intent(in) :: bufid
      integer, intent(out) :: bytes
      integer, intent(out) :: msgtag
      integer, intent(out) :: tid
      integer, intent(out) :: info
    end subroutine
    ! returns all fields of a message's header
    subroutine pvmfgetminfo(bufid, len, ctx, tag, wid, enc, crc, src, dst, info)
      integer, intent(in) :: bufid
      integer, intent(out) :: len
      integer, intent(out) :: ctx
      integer, intent(out) :: tag
      integer, intent(out) :: wid
      integer, intent(out) :: enc
      integer, intent(out) :: crc
      integer, intent(out) :: src
      integer, intent(out) :: dst
      integer, intent(out) :: info
    end subroutine
    ! sets context, tag, wait id, sender and destination in a message's header
    subroutine pvmfsetminfo(bufid, ctx, tag, wid, src, dst, info)
      integer, intent(in) :: bufid
      integer, intent(in) :: ctx
      integer, intent(in) :: tag
      integer, intent(in) :: wid
      integer, intent(in) :: src
      integer, intent(in) :: dst
      integer, intent(out) :: info
    end subroutine
    ! sends the message in the send buffer
    subroutine pvmfsend(tid, msgtag, info)
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      integer, intent(out) :: info
    end subroutine
    ! tests whether a message has arrived
    subroutine pvmfprobe(tid, msgtag, bufid)
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      integer, intent(out) :: bufid
    end subroutine
    ! waits for a message
    subroutine pvmfrecv(tid, msgtag, bufid)
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      integer, intent(out) :: bufid
    end subroutine
    ! unpacks data from the received message
    subroutine pvmfunpack(what, xp, nitem, stride, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: xp
!DIR$ IGNORE_TKR xp
      integer, intent(in) :: what
      type(*), intent(inout) :: xp(*)
      integer, intent(in) :: nitem
      integer, intent(in) :: stride
      integer, intent(out) :: info
    end subroutine
    ! receives a message if there is one
    subroutine pvmfnrecv(tid, msgtag, bufid)
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      integer, intent(out) :: bufid
    end subroutine
    ! waits for a message for a limited time
    subroutine pvmftrecv(tid, msgtag, sec, usec, bufid)
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      integer, intent(in) :: sec
      integer, intent(in) :: usec
      integer, intent(out) :: bufid
    end subroutine
    ! sends the message in the send buffer to many tasks
    subroutine pvmfmcast(ntask, tids, msgtag, info)
      integer, intent(in) :: ntask
      integer, intent(in) :: tids(*)
      integer, intent(in) :: msgtag
      integer, intent(out) :: info
    end subroutine
    ! packs and sends an array
    subroutine pvmfpsend(tid, msgtag, buf, len, datatype, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      type(*), intent(in) :: buf(*)
      integer, intent(in) :: len
      integer, intent(in) :: datatype
      integer, intent(out) :: info
    end subroutine
    ! receives and unpacks an array
    subroutine pvmfprecv(tid, msgtag, buf, len, datatype, atid, atag, alen, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
      integer, intent(in) :: tid
      integer, intent(in) :: msgtag
      type(*), intent(inout) :: buf(*)
      integer, intent(in) :: len
      integer, intent(in) :: datatype
      integer, intent(out) :: atid
      integer, intent(out) :: atag
      integer, intent(out) :: alen
      integer, intent(out) :: info
    end subroutine
    ! creates a message buffer
    subroutine pvmfmkbuf(encoding, bufid)
      integer, intent(in) :: encoding
      integer, intent(out) :: bufid
    end subroutine
    ! returns the active send buffer
    subroutine pvmfgetsbuf(bufid)
      integer, intent(out) :: bufid
    end subroutine
    ! makes another buffer the active send buffer
    subroutine pvmfsetsbuf(bufid, oldbuf)
      integer, intent(in) :: bufid
      integer, intent(out) :: oldbuf
    end subroutine
    ! packs a whole message into the send buffer
    subroutine pvmfpkmesg(bufid, info)
      integer, intent(in) :: bufid
      integer, intent(out) :: info
    end subroutine
    ! packs the body of a message into the send buffer
    subroutine pvmfpkmesgbody(bufid, info)
      integer, intent(in) :: bufid
      integer, intent(out) :: info
    end subroutine
    ! unpacks a message that pvmfpkmesg packed
    subroutine pvmfupkmesg(bufid, newbuf)
      integer, intent(in) :: bufid
      integer, intent(out) :: newbuf
    end subroutine
    ! returns the active receive buffer
    subroutine pvmfgetrbuf(bufid)
      integer, intent(out) :: bufid
    end subroutine
    ! makes another buffer the active receive buffer
    subroutine pvmfsetrbuf(bufid, oldbuf)
      integer, intent(in) :: bufid
      integer, intent(out) :: oldbuf
    end subroutine
    ! frees a message buffer
    subroutine pvmffreebuf(bufid, info)
      integer, intent(in) :: bufid
      integer, intent(out) :: info
    end subroutine
  end interface

  ! ---- Contexts and message handlers ----
  interface
    ! returns the active context
    subroutine pvmfgetcontext(ctx)
      integer, intent(out) :: ctx
    end subroutine
    ! creates a new context
    subroutine pvmfnewcontext(ctx)
      integer, intent(out) :: ctx
    end subroutine
    ! makes another context the active one
    subroutine pvmfsetcontext(new_ctx, old_ctx)
      integer, intent(in) :: new_ctx
      integer, intent(out) :: old_ctx
    end subroutine
    ! frees a context
    subroutine pvmffreecontext(ctx, info)
      integer, intent(in) :: ctx
      integer, intent(out) :: info
    end subroutine
    ! adds a function that is called for each matching message
    subroutine pvmfaddmhf(src, tag, ctx, unused, func, mhid)
      import :: pvm_handler
      integer, intent(in) :: src
      integer, intent(in) :: tag
      integer, intent(in) :: ctx
      integer, intent(in) :: unused
      procedure(pvm_handler) :: func
      integer, intent(out) :: mhid
    end subroutine
    ! removes a function that pvmfaddmhf added
    subroutine pvmfdelmhf(mhid, info)
      integer, intent(in) :: mhid
      integer, intent(out) :: info
    end subroutine
  end interface

  ! ---- Mailbox ----
  interface
    ! puts a message into the mailbox
    subroutine pvmfputinfo(name, bufid, flags, index)
      character(len=*), intent(in) :: name
      integer, intent(in) :: bufid
      integer, intent(in) :: flags
      integer, intent(out) :: index
    end subroutine
    ! lists the mailbox, one entry per call
    subroutine pvmfgetmboxinfo(pattern, name, nclasses, nentries, index, owner, flags, info)
      character(len=*), intent(in) :: pattern
      character(len=*), intent(out) :: name
      integer, intent(inout) :: nclasses
      integer, intent(out) :: nentries
      integer, intent(out) :: index
      integer, intent(out) :: owner
      integer, intent(out) :: flags
      integer, intent(inout) :: info
    end subroutine
    ! receives a message from the mailbox
    subroutine pvmfrecvinfo(name, index, flags, bufid)
      character(len=*), intent(in) :: name
      integer, intent(in) :: index
      integer, intent(in) :: flags
      integer, intent(out) :: bufid
    end subroutine
    ! deletes a message from the mailbox
    subroutine pvmfdelinfo(name, index, flags, info)
      character(len=*), intent(in) :: name
      integer, intent(in) :: index
      integer, intent(in) :: flags
      integer, intent(out) :: info
    end subroutine
  end interface

  ! ---- Groups ----
  interface
    ! joins a group
    subroutine pvmfjoingroup(group, inum)
      character(len=*), intent(in) :: group
      integer, intent(out) :: inum
    end subroutine
    ! returns the number of a group's members
    subroutine pvmfgsize(group, size)
      character(len=*), intent(in) :: group
      integer, intent(out) :: size
    end subroutine
    ! returns the task id of a member
    subroutine pvmfgettid(group, inum, tid)
      character(len=*), intent(in) :: group
      integer, intent(in) :: inum
      integer, intent(out) :: tid
    end subroutine
    ! returns the instance number of a task
    subroutine pvmfgetinst(group, tid, inum)
      character(len=*), intent(in) :: group
      integer, intent(in) :: tid
      integer, intent(out) :: inum
    end subroutine
    ! makes a group static as soon as it has the given number of members
    subroutine pvmffreezegroup(group, size, info)
      character(len=*), intent(in) :: group
      integer, intent(in) :: size
      integer, intent(out) :: info
    end subroutine
    ! waits until the given number of members of a group have called it
    subroutine pvmfbarrier(group, count, info)
      character(len=*), intent(in) :: group
      integer, intent(in) :: count
      integer, intent(out) :: info
    end subroutine
    ! sends the message in the send buffer to the other members of a group
    subroutine pvmfbcast(group, msgtag, info)
      character(len=*), intent(in) :: group
      integer, intent(in) :: msgtag
      integer, intent(out) :: info
    end subroutine
    ! combines the arrays of all members with a function; the root gets the result
    subroutine pvmfreduce(func, data, count, datatype, msgtag, group, rootginst, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: data
!DIR$ IGNORE_TKR data
      external :: func
      type(*), intent(inout) :: data(*)
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: msgtag
      character(len=*), intent(in) :: group
      integer, intent(in) :: rootginst
      integer, intent(out) :: info
    end subroutine
    ! distributes the root's array to the members
    subroutine pvmfscatter(result, data, count, datatype, msgtag, group, rootginst, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: result, data
!DIR$ IGNORE_TKR result, data
      type(*), intent(inout) :: result(*)
      type(*), intent(in) :: data(*)
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: msgtag
      character(len=*), intent(in) :: group
      integer, intent(in) :: rootginst
      integer, intent(out) :: info
    end subroutine
    ! collects the members' arrays in an array of the root
    subroutine pvmfgather(result, data, count, datatype, msgtag, group, rootginst, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: result, data
!DIR$ IGNORE_TKR result, data
      type(*), intent(inout) :: result(*)
      type(*), intent(in) :: data(*)
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: msgtag
      character(len=*), intent(in) :: group
      integer, intent(in) :: rootginst
      integer, intent(out) :: info
    end subroutine
    ! sets each element of x to the larger of the elements of x and y; for pvmfreduce
    subroutine pvmmax(datatype, x, y, num, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: x, y
!DIR$ IGNORE_TKR x, y
      integer, intent(in) :: datatype
      type(*), intent(inout) :: x(*)
      type(*), intent(in) :: y(*)
      integer, intent(in) :: num
      integer, intent(out) :: info
    end subroutine
    ! sets each element of x to the smaller of the elements of x and y; for pvmfreduce
    subroutine pvmmin(datatype, x, y, num, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: x, y
!DIR$ IGNORE_TKR x, y
      integer, intent(in) :: datatype
      type(*), intent(inout) :: x(*)
      type(*), intent(in) :: y(*)
      integer, intent(in) :: num
      integer, intent(out) :: info
    end subroutine
    ! adds each element of y to the element of x; for pvmfreduce
    subroutine pvmsum(datatype, x, y, num, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: x, y
!DIR$ IGNORE_TKR x, y
      integer, intent(in) :: datatype
      type(*), intent(inout) :: x(*)
      type(*), intent(in) :: y(*)
      integer, intent(in) :: num
      integer, intent(out) :: info
    end subroutine
    ! multiplies each element of x by the element of y; for pvmfreduce
    subroutine pvmproduct(datatype, x, y, num, info)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: x, y
!DIR$ IGNORE_TKR x, y
      integer, intent(in) :: datatype
      type(*), intent(inout) :: x(*)
      type(*), intent(in) :: y(*)
      integer, intent(in) :: num
      integer, intent(out) :: info
    end subroutine
    ! leaves a group
    subroutine pvmflvgroup(group, info)
      character(len=*), intent(in) :: group
      integer, intent(out) :: info
    end subroutine
  end interface

  ! ---- Beginning and end ----
  interface
    ! leaves PVM
    subroutine pvmfexit(info)
      integer, intent(out) :: info
    end subroutine
    ! starts a daemon on this host
    subroutine pvmfstartpvmd(args, block, info)
      character(len=*), intent(in) :: args
      integer, intent(in) :: block
      integer, intent(out) :: info
    end subroutine
    ! halts the virtual machine
    subroutine pvmfhalt(info)
      integer, intent(out) :: info
    end subroutine
  end interface
end module pvm
