! The task that the session spawns: waits for the message to continue.
program worker
  use pvm
  implicit none
  integer :: tid, parent, bufid, info

  call pvmfmytid(tid)
  call pvmfparent(parent)
  call pvmfrecv(parent, 99, bufid)
  print *, 'worker done'
  call pvmfexit(info)
end program
