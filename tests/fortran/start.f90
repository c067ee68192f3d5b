! Starts a machine of two hosts with pvmfstartpvmd and the host file in the first argument, and halts it.
program start
  use pvm
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  integer :: info, tid, nhost, narch, dtid, speed
  character(len=200) :: file, name
  character(len=20) :: arch

  call get_command_argument(1, file)
  call pvmfstartpvmd(' -n127.0.0.1   ' // file, 1, info)
  call pvmfmytid(tid)
  nhost = -1
  call pvmfconfig(nhost, narch, dtid, name, arch, speed, info)
  print '(i0, a)', nhost, ' hosts'
  flush (output_unit)
  call pvmfhalt(info) ! which ends all tasks: this one, too, if it is still there when its turn comes
end program
