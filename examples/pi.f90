! pi - a Fortran program with the module pvm: copies of it integrate 4 / (1 + x**2) from 0 to 1, each over its share.
!
! Shows   use pvm, pvmfsiblings, pvmfspawn, pvmfmcast, pvmfpack and pvmfunpack, groups: pvmfreduce with PvmSum.
! Build   pvmf90 -o pi pi.f90
! Run     ./pi
!         The virtual machine must run ("pvm" starts it) and find this program at the same path on every host.
! Prints  the result and its error. Stops with code 0 if the error is small, otherwise with 1.
program pi
  use pvm
  implicit none
  integer, parameter :: workers = 4, steps = 1000000, tag_start = 1, tag_sum = 2
  integer, parameter :: dp = kind(1d0)
  character(len=*), parameter :: group = 'pi'
  integer :: tid, parent

  call pvmfmytid(tid)
  if (tid < 0) stop 1
  call pvmfparent(parent)
  if (parent == PvmNoParent) then
    call lead
  else
    call help(parent)
  end if

contains

  subroutine lead
    character(len=4096) :: path
    integer :: tids(workers), started, rank, bufid, info
    real(dp) :: total
    call get_command_argument(0, path)
    call pvmfspawn(path, PVMTASKDEFAULT, '*', workers, tids, started)
    if (started < workers) call give_up('not all copies could be started; is this an absolute path? ' // trim(path))
    call pvmfjoingroup(group, rank)
    call pvmfinitsend(PVMDATADEFAULT, bufid)
    call pvmfpack(INTEGER4, steps, 1, 1, info)
    call pvmfmcast(workers, tids, tag_start, info)
    call pvmffreezegroup(group, workers + 1, info)
    total = 0
    call pvmfreduce(PvmSum, total, 1, REAL8, tag_sum, group, rank, info)
    if (info < 0) call give_up('the sum failed')
    print '(a, f16.13, a, es8.1)', 'pi is about ', total, ', error ', abs(total - acos(-1.0_dp))
    call finish
    if (abs(total - acos(-1.0_dp)) > 1e-10_dp) stop 1
  end subroutine

  subroutine help(parent)
    integer, intent(in) :: parent
    integer :: n, bufid, rank, me, count, sibling, root, i, info
    real(dp) :: x, part
    call pvmfrecv(parent, tag_start, bufid)
    call pvmfunpack(INTEGER4, n, 1, 1, info)
    me = 0
    do ! find our place among the siblings
      call pvmfsiblings(count, me, sibling)
      if (sibling == tid) exit
      me = me + 1
    end do
    part = 0
    do i = me + 1, n, count
      x = (i - 0.5_dp) / n
      part = part + 4 / (1 + x**2) / n
    end do
    call pvmfjoingroup(group, rank)
    call pvmffreezegroup(group, workers + 1, info)
    call pvmfgetinst(group, parent, root)
    call pvmfreduce(PvmSum, part, 1, REAL8, tag_sum, group, root, info)
    call finish
  end subroutine

  subroutine finish
    integer :: info
    call pvmfbarrier(group, workers + 1, info)
    call pvmflvgroup(group, info)
    call pvmfexit(info)
  end subroutine

  subroutine give_up(why)
    character(len=*), intent(in) :: why
    integer :: info
    print *, 'pi: ', why
    call pvmfexit(info)
    stop 1
  end subroutine
end program
