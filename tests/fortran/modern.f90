! Tests dpvm's extensions of the reference with the module: lists of the mailbox, contexts, headers, nested messages,
! long names, full INTEGER*8, array sections; and the lists of a machine of three hosts. Stops with 1 on any fault.
program modern
  use pvm
  use, intrinsic :: iso_fortran_env, only: int8, int64
  implicit none
  integer :: tid, info, wrong = 0

  call pvmfsetopt(PVMAUTOERR, 0, info)
  call pvmfmytid(tid)
  call check('enrolled', tid > 0)
  call hosts
  call mailbox
  call messages
  call contexts
  call groups
  call pvmfexit(info)
  if (wrong > 0) stop 1

contains

  subroutine check(what, good)
    character(len=*), intent(in) :: what
    logical, intent(in) :: good
    if (good) return
    print *, 'FAILED: ', what
    wrong = wrong + 1
  end subroutine

  subroutine hosts
    integer :: nhost, narch, dtid(4), speed, info, k
    character(len=64) :: name(4)
    character(len=3) :: arch
    nhost = -1
    do k = 1, 4
      call pvmfconfig(nhost, narch, dtid(k), name(k), arch, speed, info)
      call check('one of three hosts', nhost == 3 .and. info == 1 .and. speed == 1000)
    end do
    call check('three hosts', dtid(1) /= dtid(2) .and. dtid(2) /= dtid(3) .and. dtid(3) /= dtid(1))
    call check('round again', dtid(4) == dtid(1) .and. name(4) == name(1))
    nhost = -1
    call pvmfconfig(nhost, narch, dtid(2), name(2), arch, speed, info)
    call check('from the start', dtid(2) == dtid(1))
    call check('cut name', arch == 'LIN' .or. len_trim(arch) > 0)
  end subroutine

  subroutine put(name, flags)
    character(len=*), intent(in) :: name
    integer, intent(in) :: flags
    integer :: buf, k
    call pvmfmkbuf(PVMDATADEFAULT, buf)
    call pvmfputinfo(name, buf, flags, k)
    call check('put ' // name, k >= 0)
  end subroutine

  subroutine mailbox
    character(len=400) :: long
    character(len=20) :: name, found(9)
    integer :: nclass, nent, ix, owner, flags, info, k, places(9)
    call put('fm.one', PVMMBOXDEFAULT)
    do k = 1, 3
      call put('fm.three', PVMMBOXMULTIINSTANCE)
    end do
    call put('fm.two', PVMMBOXOVERWRITABLE)
    nclass = -1
    do k = 1, 6
      info = 0
      call pvmfgetmboxinfo('fm.*', name, nclass, nent, ix, owner, flags, info)
      if (k == 6) exit
      call check('an entry', info == PvmOk .and. nclass == 3 .and. owner == tid)
      call check('entries of a name', nent == merge(3, 1, name == 'fm.three'))
      call check('flags', flags == merge(PVMMBOXMULTIINSTANCE, flags, name == 'fm.three'))
      found(k) = name
      places(k) = ix
    end do
    call check('the end', info == PvmNotFound)
    call check('all names', count(found(1:5) == 'fm.three') == 3 .and. count(found(1:5) == 'fm.one') == 1)
    call check('all places', sum(places(1:5)) == 3)
    call pvmfgetmboxinfo('fm.*', name, nclass, nent, ix, owner, flags, info)
    call check('again', info == PvmOk .and. name == found(1))
    info = -1
    call pvmfgetmboxinfo('fm.two', name, nclass, nent, ix, owner, flags, info)
    call check('a new pattern', info == PvmOk .and. name == 'fm.two' .and. nclass == 1)
    nclass = -1
    call pvmfgetmboxinfo('no such', name, nclass, nent, ix, owner, flags, info)
    call check('nothing', info == PvmNotFound)
    long = repeat('x', 400)
    call put(long, PVMMBOXDEFAULT)
    call pvmfdelinfo(long, 0, 0, info)
    call check('a long name', info == PvmOk)
  end subroutine

  subroutine messages
    integer :: buf, inner, old, n, ctx, tag, wid, enc, crc, src, dst, info, k
    integer(int64) :: big(2), got(2)
    complex :: c(3), d(3)
    character(len=5) :: text
    big = [huge(big), -huge(big)]
    c = [(cmplx(k, -k), k = 1, 3)]
    call pvmfinitsend(PVMDATADEFAULT, buf)
    call pvmfpack(INTEGER8, big, 2, 1, info)
    call pvmfpack(STRING, 'hello', 5, 1, info)
    call pvmfpack(COMPLEX8, c, 3, 1, info)
    call pvmfsend(tid, 5, info)
    call pvmfrecv(tid, 5, inner)
    call pvmfgetminfo(inner, n, ctx, tag, wid, enc, crc, src, dst, info)
    call check('a header', info == PvmOk .and. n == 45 .and. tag == 5 .and. src == tid)
    call pvmfsetminfo(inner, ctx, tag, 4711, src, dst, info)
    call pvmfgetminfo(inner, n, ctx, tag, wid, enc, crc, src, dst, info)
    call check('a changed header', info == PvmOk .and. wid == 4711)
    call pvmfgetminfo(999, n, ctx, tag, wid, enc, crc, src, dst, info)
    call check('no header', info == PvmNoSuchBuf)
    call pvmfinitsend(PVMDATADEFAULT, buf)
    call pvmfpkmesg(inner, info)
    call check('a message in a message', info == PvmOk)
    call pvmfsend(tid, 6, info)
    call pvmfrecv(tid, 6, buf)
    call pvmfupkmesg(buf, inner)
    call check('the message out of it', inner > 0 .and. inner /= buf)
    call pvmfsetrbuf(inner, old)
    call pvmfunpack(INTEGER8, got, 2, 1, info)
    call check('long integers', all(got == big) .and. info == PvmOk)
    call pvmfunpack(STRING, text, 5, 1, info)
    call check('a string', text == 'hello')
    call pvmfunpack(COMPLEX8, d, 3, 1, info)
    call check('complex numbers', all(c == d))
    call pvmfupkmesg(999, inner)
    call check('not out of nothing', inner == PvmNoSuchBuf)
    call pvmfserror(1, old)
    call check('errors were off', old == 0)
    call pvmfserror(0, old)
    call pvmfadvise(PVMDONTROUTE, old)
    call pvmfgetopt(PVMROUTE, k)
    call check('advice was taken', k == PVMDONTROUTE)
  end subroutine

  subroutine contexts
    integer :: ctx, now, info
    call pvmfnewcontext(ctx)
    call pvmffreecontext(ctx, info)
    call pvmfgetcontext(now)
    call check('a context is given up', info == PvmOk .and. now == 0)
  end subroutine

  subroutine groups
    integer(int8) :: mine(4), all_of_it(4)
    integer :: inst, info
    mine = [1_int8, -2_int8, 3_int8, 127_int8]
    all_of_it = 0
    call pvmfjoingroup('fm', inst)
    call pvmfgather(all_of_it, mine, 4, BYTE1, 8, 'fm', inst, info)
    call check('bytes gathered', info == PvmOk .and. all(all_of_it == mine))
    all_of_it = 0
    call pvmfscatter(all_of_it, mine(4:1:-1), 4, BYTE1, 9, 'fm', inst, info)
    call check('bytes scattered', info == PvmOk .and. all(all_of_it == mine(4:1:-1)))
    call pvmflvgroup('fm', info)
  end subroutine
end program
