! Starts a machine of two hosts by pvmfstartpvmd, with the host file that the first argument names, and ends it.
program start
  use pvm
  implicit none
  integer :: info, tid, nhost, narch, dtid, speed
  character(len=200) :: file, name
  character(len=20) :: arch

  call get_command_argument(1, file)
  call pvmfstartpvmd(' -n127.0.0.1   ' // file, 1, info)
  call pvmfmytid(tid)
  nhost = -1
  call pvmfconfig(nhost, narch, dtid, name, arch, speed, info)
  print *, nhost, ' hosts'
  call pvmfhalt(info)
  if (nhost /= 2) stop 1
end program
